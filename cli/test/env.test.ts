/** `workspace env set`, `delete` and `pull`, with the service. */
import { chmodSync, existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWorkspace, typeInto } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'

const folder = newFolder()
let service: SharedService
let login: { url: string; apiKey: string }
let leasing: typeof login

beforeAll(async () => {
  service = await sharedService()
  login = { url: service.url, apiKey: (await service.addOrganization()).apiKey }
  expect((await run(['projects', 'put', 'website', '--name', 'The website'])).status).toBe(0)
  const scope = ['--scope', 'environment-variables:lease', '--project', 'website']
  leasing = { url: service.url, apiKey: (await run(['keys', 'create', 'lease', ...scope])).stdout.trim() }
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
})

const run = (args: readonly string[], input?: string | Buffer, as = login) => runWorkspace(args, as, {}, folder, input)
const set = (key: string, input: string, ...more: string[]) =>
  run(['env', 'set', key, '--project', 'website', ...more], input)
const pull = (...more: string[]) => run(['env', 'pull', '--project', 'website', ...more], undefined, leasing)

/** What the service has, as a command gets it. */
async function storedValue(key: string): Promise<string> {
  const print = ['--', process.execPath, '-e', `process.stdout.write(process.env.${key})`]
  return (await run(['env', 'run', '--project', 'website', '--only', key, ...print], undefined, leasing)).stdout
}

describe('workspace env set', () => {
  it('stores standard input without one line break at its end, and prints no value', async () => {
    expect(await set('TOKEN', 'secret 1\n')).toMatchObject({ status: 0, printed: 'created   TOKEN\n' })
    expect(await storedValue('TOKEN')).toBe('secret 1')
    expect(await set('TOKEN', ' secret 2\n\r\n', '--json')).toMatchObject({
      status: 0,
      printed: expect.stringMatching(/^\{"outcome":"updated","key":"TOKEN",/),
    })
    expect(await storedValue('TOKEN')).toBe(' secret 2\n')
  })

  it('stores a file with all of its line breaks', async () => {
    writeFileSync(join(folder, 'key.pem'), '-----BEGIN\n-----END\n')
    expect(await set('CERTIFICATE', 'unread', '--from-file', 'key.pem')).toMatchObject({ status: 0 })
    expect(await storedValue('CERTIFICATE')).toBe('-----BEGIN\n-----END\n')
    writeFileSync(join(folder, 'binary'), Buffer.from([0xff, 0xfe]))
    expect(await set('BINARY', '', '--from-file', 'binary')).toMatchObject({
      status: 1,
      printed: 'binary is not UTF-8 text.\n',
    })
  })

  it('takes no value as an argument, and does not repeat it', async () => {
    for (const args of [['TOKEN=secret'], ['TOKEN', 'secret']]) {
      const { status, printed } = await run(['env', 'set', ...args, '--project', 'website'], '')
      expect([status, printed]).toEqual([2, expect.not.stringContaining('secret')])
    }
  })

  it.runIf(process.platform === 'linux')('asks on a terminal, and does not show what is typed', async () => {
    const { status, shown } = await typeInto(['env', 'set', 'TYPED', '--project', 'website'], login, [
      ['Value of TYPED: ', ' typed secret '],
    ])
    expect([status, shown]).toEqual([0, expect.stringContaining('created   TYPED')])
    expect(shown).not.toContain('secret')
    expect(await storedValue('TYPED')).toBe(' typed secret ')
  })
})

describe('workspace env delete', () => {
  it('deletes variables by name', async () => {
    await set('FIRST', '1')
    await set('SECOND', '2')
    const remove = ['env', 'delete', 'FIRST', 'SECOND', '--project', 'The Website']
    expect(await run(remove)).toMatchObject({ status: 0, printed: 'Deleted FIRST.\nDeleted SECOND.\n' })
    expect(await run(remove)).toMatchObject({ status: 1, printed: expect.stringContaining('no environment variable') })
  })
})

describe('workspace env pull', () => {
  const VALUES = {
    PLAIN: 'postgres://shop:x@db:5432/shop',
    EMPTY: '',
    SPACES: ' a b ',
    LINES: '-----BEGIN\nabc\n-----END\n',
    CARRIAGE: 'a\r\nb',
    HASH: 'a # b',
    QUOTE: "it's",
    QUOTES: 'it\'s "quoted"',
    BACKTICK: '`ls`',
    BACKSLASH: 'C:\\new\\',
    REFERENCE: '\u0024{HOME}',
    JSON: '{"a":["b"]}',
    UNICODE: 'é \u{1f511}',
  }

  it('writes what dotenv reads as the same values, for this user only', async () => {
    for (const [key, value] of Object.entries(VALUES)) {
      writeFileSync(join(folder, 'value'), value)
      expect((await set(key, '', '--from-file', 'value')).status).toBe(0)
    }
    const only = Object.keys(VALUES)
    expect(await pull('--only', only.join(','))).toMatchObject({
      status: 0,
      printed: `Wrote ${only.length} variables to .env.\n`,
    })
    const file = join(folder, '.env')
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(parse(readFileSync(file))).toEqual(VALUES)
    // And so does the command.
    expect((await run(['projects', 'put', 'copy', '--name', 'Copy'])).status).toBe(0)
    expect((await run(['env', 'push', '.env', '--project', 'copy'])).stdout).toContain(
      `${only.length} variables pushed`,
    )
  })

  it('replaces a file only with --force, and then its mode too', async () => {
    const file = join(folder, 'other.env')
    writeFileSync(file, 'MINE=1\n')
    chmodSync(file, 0o644)
    expect(await pull('other.env')).toMatchObject({ status: 1, printed: 'other.env exists; --force replaces it.\n' })
    expect(readFileSync(file, 'utf8')).toBe('MINE=1\n')
    expect(await pull('other.env', '--only', 'PLAIN', '--force')).toMatchObject({ status: 0 })
    expect(readFileSync(file, 'utf8')).toBe(`PLAIN=${VALUES.PLAIN}\n`)
    expect(statSync(file).mode & 0o777).toBe(0o600)
  })

  it('writes nothing if a value has no form, or if the key may not lease', async () => {
    await set('ODD', "'\n\\")
    expect(await pull('odd.env')).toMatchObject({
      status: 1,
      printed: expect.stringMatching(/^A \.env file cannot have the values of ODD, .* --only names\.\n$/),
    })
    const advice = 'workspace keys create sandbox --scope environment-variables:lease --project website'
    expect(await run(['env', 'pull', 'odd.env', '--project', 'The website'])).toMatchObject({
      status: 1,
      printed: `This needs an API key that is restricted to projects. To create one: ${advice}\n`,
    })
    expect(existsSync(join(folder, 'odd.env'))).toBe(false)
  })
})
