import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, runWorkspace } from '../../test/support/commands.ts'
import { freePort, newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'

interface Listed {
  readonly items: readonly { readonly key: string; readonly createdAt: string; readonly updatedAt: string }[]
}

describe('workspace env push', () => {
  const folder = newFolder()
  let service: SharedService
  let url: string
  let apiKey: string
  let projects = 0

  beforeAll(async () => {
    service = await sharedService()
    url = service.url
    apiKey = (await service.addOrganization()).apiKey
  })
  afterAll(async () => {
    rmSync(folder, { recursive: true })
  })

  async function call<Answer = Listed>(method: string, path: string, body?: object) {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
    const response = await fetch(url + path, { method, headers, ...(body && { body: JSON.stringify(body) }) })
    return (await response.json()) as Answer
  }

  async function newProject(): Promise<string> {
    const id = `web shop/${++projects}`
    await call('PUT', `/v1/projects/${encodeURIComponent(id)}`, { name: 'Web shop' })
    return id
  }

  async function list(projectId: string) {
    const path = `/v1/projects/${encodeURIComponent(projectId)}/environment-variables?limit=1000`
    return (await call('GET', path)).items
  }

  async function names(projectId: string): Promise<string[]> {
    return (await list(projectId)).map(({ key }) => key)
  }

  function fileOf(content: string | Buffer): string {
    const file = join(folder, 'example.env')
    writeFileSync(file, content)
    return file
  }

  const run = (args: readonly string[], login = {}) => runWorkspace(['env', 'push', ...args], { url, apiKey, ...login })

  const push = (content: string | Buffer, project: string) => run([fileOf(content), '--project', project])

  it('puts the variables of a file into a project, and says which are new, without their values', async () => {
    const project = await newProject()
    const file = [
      '# a comment',
      'export TOKEN = "secret-1" # another',
      "EMPTY=\nQUOTED='secret-2 # $TOKEN'",
      'LINES="-----BEGIN\nsecret-3\n-----END"',
      'UNICODE=secret-4 \u{1f511}',
      'TOKEN=secret-5',
    ].join('\n')
    const expected = ['EMPTY', 'LINES', 'QUOTED', 'TOKEN', 'UNICODE']
    const first = await push(file, project)
    expect([first.status, first.stderr]).toEqual([
      0,
      `Warning: ${join(folder, 'example.env')}, line 9: TOKEN is also on line 2; the last value is stored.\n`,
    ])
    expect(first.stdout.trim().split('\n').sort()).toEqual([
      '5 variables pushed',
      ...expected.map((name) => `created   ${name}`),
    ])
    expect(await names(project)).toEqual(expected)
    expect((await push('TOKEN=secret-6\nNEW=secret-7\n', project)).stdout).toBe(
      'created   NEW\nupdated   TOKEN\n2 variables pushed\n',
    )
    expect(await names(project)).toEqual([...expected, 'NEW'].sort())
  })

  it('warns of what may not be as intended, by line and without values', async () => {
    const content = [
      'A=1',
      'secret-1',
      '',
      'URL="https://\u0024{secret-2}/"',
      "LITERAL='\u0024{secret-3}'",
      'LINES="-----BEGIN',
      'secret-4',
      '# secret-5',
      '-----END" # a comment',
      'B C=secret-6',
      '  # a comment',
      'A: secret-7',
      'PRICE=$5',
      'LAST=\u0024{secret-8}',
    ]
    const { status, stdout, stderr } = await push(content.join('\r\n'), await newProject())
    expect([status, stdout]).toEqual([0, expect.stringMatching(/\n6 variables pushed\n$/)])
    const warnings = [
      'line 2: the line has no KEY=value; it is left out.',
      'line 4: the value of URL refers to a variable; the reference is stored as text.',
      'line 10: the line has no KEY=value; it is left out.',
      'line 12: A is also on line 1; the last value is stored.',
      'line 14: the value of LAST refers to a variable; the reference is stored as text.',
    ]
    expect(stderr).toBe(warnings.map((warning) => `Warning: ${join(folder, 'example.env')}, ${warning}\n`).join(''))
  })

  it('reads standard input', async () => {
    const project = await newProject()
    const ended = await runWorkspace(['env', 'push', '-', '--project', project], { url, apiKey }, {}, ROOT, 'A=1\nB\n')
    expect(ended).toMatchObject({
      status: 0,
      stdout: 'created   A\n1 variable pushed\n',
      stderr: 'Warning: Standard input, line 2: the line has no KEY=value; it is left out.\n',
    })
  })

  it('leaves out what the service would refuse, if it is told to', async () => {
    const project = await newProject()
    const content = `GOOD=1\n2ND=secret\nBAD="a\0secret"\n# a comment\nALSO=2\nLONG=${'x'.repeat(65_537)}\n`
    const { status, stdout, stderr } = await run([fileOf(content), '--project', project, '--skip-invalid'])
    expect([status, stdout]).toEqual([0, 'created   ALSO\ncreated   GOOD\n2 variables pushed\n'])
    const name = join(folder, 'example.env')
    expect(stderr.trim().split('\n')).toEqual([
      expect.stringMatching(`^Warning: ${name}, line 2: 2ND has the wrong format; .* It is left out\\.$`),
      expect.stringMatching(`^Warning: ${name}, line 3: BAD has a NUL character; .* It is left out\\.$`),
      expect.stringMatching(`^Warning: ${name}, line 6: LONG is too large; .* It is left out\\.$`),
    ])
    expect(stderr).not.toContain('secret')
    expect(await names(project)).toEqual(['ALSO', 'GOOD'])
    const none = await run([fileOf('2ND=secret\n'), '--project', project, '--skip-invalid'])
    expect([none.status, none.stderr]).toEqual([1, expect.stringMatching(/has no variables that are valid\.\n$/)])
  })

  it('sends as many requests as the variables need', async () => {
    const project = await newProject()
    const many = Array.from({ length: 200 }, (_, index) => `MANY_${index}=${index}`)
    expect((await push(many.join('\n'), project)).stdout).toContain('200 variables pushed')
    // In JSON, each of these bytes is six.
    const large = Array.from({ length: 30 }, (_, index) => `LARGE_${index}="${'\u0001'.repeat(65_536)}"`)
    expect((await push(large.join('\n'), project)).stdout).toContain('30 variables pushed')
    expect(await names(project)).toHaveLength(230)
    const batches = new Set((await list(project)).map(({ createdAt }) => createdAt))
    expect(batches.size).toBe(2 + 2)
  })

  it.each<[string, string | Buffer, RegExp]>([
    [
      'a wrong name',
      'GOOD=secret\n2ND=secret\nA.B=secret\n',
      /^\S+example\.env, line 2: 2ND has the wrong format; .* \S+, line 3: A\.B has the wrong format; /,
    ],
    ['a name of 256 characters', `GOOD=secret\n${'x'.repeat(256)}=secret\n`, /, line 2: x{256} is too long; .*255/],
    [
      'a value of 64 KiB and one byte',
      `GOOD=secret\nLONG=${'x'.repeat(65_537)}\n`,
      /, line 2: LONG is too large; got 65537 bytes/,
    ],
    ['NUL', 'GOOD=secret\nBAD="a\0b"\n', /, line 2: BAD has a NUL character/],
    ['bytes that are not UTF-8', Buffer.from('GOOD=secret\xff', 'latin1'), /is not UTF-8 text/],
    ['no variables', '# nothing\n', /no variables/],
    ['a wrong name after the first hundred', manyAndWrong(), /, line 101: A-B has the wrong format/],
  ])('refuses a file with %s, and pushes nothing', async (_, content, message) => {
    const project = await newProject()
    const { status, stdout, stderr } = await push(content, project)
    expect([status, stdout]).toEqual([1, ''])
    expect(stderr).toMatch(message)
    expect(stderr).not.toMatch(/secret|\n.*\n/)
    expect(await names(project)).toEqual([])
  })

  it('refuses what it can not use, with a word', async () => {
    const project = await newProject()
    const file = fileOf('TOKEN=secret\n')
    const cases: [args: string[], message: RegExp, login?: object][] = [
      [[join(folder, 'missing.env'), '--project', project], /missing\.env cannot be read: it does not exist\.$/m],
      [[folder, '--project', project], / cannot be read: it is a folder\.$/m],
      [[file, '--project', '..'], /^"\.\." is not an ID or a name\./],
      [[file, '--project', 'nobodys'], /^There is no project with the ID or the name "nobodys"\.$/m],
      [[file, '--project', project], /API key is not valid/, { apiKey: 'wsk_wrong' }],
      [[file, '--project', project], /^WORKSPACE_URL is not /, { url: 'ftp://x' }],
      [[file, '--project', project], /No answer from/, { url: `http://localhost:${await freePort()}` }],
    ]
    for (const [args, message, login] of cases) {
      const { status, stdout, stderr } = await run(args, login)
      expect([status, stdout]).toEqual([/^("|WORKSPACE_URL)/.test(stderr) ? 2 : 1, ''])
      expect(stderr).toMatch(message)
      expect(stderr).not.toContain('secret')
    }
    expect(await names(project)).toEqual([])
  })

  it('run refuses variables that change which programs are loaded, unless they are allowed', async () => {
    const project = await newProject()
    const loaders = [
      'NODE_OPTIONS',
      'PATH',
      'npm_config_script_shell',
      'LD_PRELOAD',
      'GIT_SSH_COMMAND',
      'BASH_ENV',
      'MAKEFILES',
      'GNUMAKEFLAGS',
      'RUSTC_WORKSPACE_WRAPPER',
      'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_RUNNER',
      'CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER',
      'CARGO_ENCODED_RUSTFLAGS',
      'LESSCLOSE',
      'MANPAGER',
      'PIP_INDEX_URL',
      'YARN_YARN_PATH',
      'KUBECONFIG',
      'AWS_CONFIG_FILE',
      'VIMINIT',
      'CC',
      'GRADLE_USER_HOME',
      'PSModulePath',
    ]
    const content = [...loaders.map((name) => `${name}=secret`), 'PATH_PREFIX=1', 'NODE_ENV=test'].join('\n')
    expect((await push(content, project)).status).toBe(0)
    const body = { name: 'sandbox', scopes: ['environment-variables:lease'], projectIds: [project] }
    const { token } = await call<{ token: string }>('POST', '/v1/api-keys', body)
    const start = (...more: string[]) =>
      runWorkspace(['env', 'run', '--project', project, ...more], { url, apiKey: token })
    const print = ['--', process.execPath, '-p', 'process.env.NODE_ENV + process.env.GIT_SSH_COMMAND']
    expect(await start(...print)).toMatchObject({
      status: 1,
      printed: `The project has variables that change which programs are loaded or started; got ${loaders.sort().join(', ')}; allowed: other variables, which --only names, or these too with --allow-loader-variables.\n`,
    })
    expect(await start('--only', 'PATH,NODE_ENV', ...print)).toMatchObject({
      status: 1,
      printed: expect.stringContaining('; got PATH; '),
    })
    expect((await start('--only', 'NODE_ENV,PATH_PREFIX', ...print)).printed).toBe('testundefined\n')
    const allowed = ['--only', 'NODE_ENV,GIT_SSH_COMMAND', '--allow-loader-variables']
    expect((await start(...allowed, ...print)).printed).toBe('testsecret\n')
  })
})

function manyAndWrong(): string {
  const good = Array.from({ length: 100 }, (_, index) => `GOOD_${index}=secret`)
  return [...good, 'A-B=secret'].join('\n')
}
