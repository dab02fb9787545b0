/** The command `workspace` with a server, an address and a key that it cannot trust. */
import { existsSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Workspace } from '../../client/src/index.ts'
import { Service } from '../../scripts/service.ts'
import { runWorkspace, startWorkspace } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { entry, writeFiles } from './support/skill-folders.ts'

const folder = newFolder()
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})
writeFiles(folder, {
  'example.env': 'TOKEN=secret\n',
  'report.txt': 'x',
  'schedules/nightly.yaml': 'project: website\ncron: 0 6 * * *\ntimezone: UTC\n',
  'notes/SKILL.md': entry('notes'),
})

async function serve(answer: (request: IncomingMessage, response: ServerResponse) => void): Promise<string> {
  const server = createServer(answer)
  servers.push(server)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

const ID = '0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60'
/** The name of the second thing in the lists. */
const HOSTILE_NAME = 'notes'
/** Each command that sends requests. */
const COMMANDS: readonly (readonly [string, ...string[]])[] = [
  ['whoami'],
  ['events'],
  ['events', '--after', 'now'],
  ['events', 'endpoints', 'list'],
  ['events', 'endpoints', 'create', 'https://hooks.example.com/events'],
  ['events', 'endpoints', 'update', ID, '--enable'],
  ['events', 'endpoints', 'rotate', ID],
  ['events', 'endpoints', 'test', ID],
  ['events', 'endpoints', 'rewind', ID, '--after', 'now'],
  ['events', 'endpoints', 'delete', ID],
  ['deletions', 'list', '-o', 'wide'],
  ['deletions', 'restore', HOSTILE_NAME],
  ['deletions', 'purge', HOSTILE_NAME, '--yes'],
  ['env', 'push', 'example.env', '--project', 'website'],
  ['env', 'list', '--project', 'website'],
  ['env', 'set', 'TOKEN', '--project', 'website', '--from-file', 'report.txt'],
  ['env', 'delete', 'TOKEN', '--project', 'website'],
  ['env', 'pull', 'pulled.env', '--project', 'website'],
  ['env', 'run', '--project', 'website', '--', 'true'],
  ['files', 'put', ID, 'report.txt'],
  ['files', 'get', ID, 'nothing.txt'],
  ['files', 'list', ID],
  ['files', 'delete', ID, 'nothing.txt'],
  ['keys', 'create', 'laptop', '--scope', 'skills:read'],
  ['keys', 'list'],
  ['keys', 'revoke', ID],
  ['keys', 'rotate', ID],
  ['keys', 'rotate', 'nobody'],
  ['keys', 'list', '--apps', '-o', 'wide'],
  ['people', 'list', '-o', 'wide'],
  ['people', 'rules', '-o', 'wide'],
  ['people', 'add-rule', '--issuer', 'https://x', '--claim', 'groups', '--value', 'x', '--role', 'viewer'],
  ['people', 'remove-rule', ID],
  ['people', 'try', '--issuer', 'https://x', '--claim', 'groups=x'],
  ['people', 'invite', 'x@example.com', '--issuer', 'https://x', '--role', 'viewer'],
  ['people', 'invitations', '-o', 'wide'],
  ['people', 'uninvite', ID],
  ['people', 'role', HOSTILE_NAME, 'viewer'],
  ['people', 'role', 'nobody', 'rules'],
  ['people', 'block', HOSTILE_NAME],
  ['people', 'unblock', HOSTILE_NAME],
  ['people', 'remove', HOSTILE_NAME],
  ['pins', 'list'],
  ['pins', 'add', `session/${ID}`],
  ['pins', 'move', 'nothing', '--before', 'nothing'],
  ['pins', 'remove', 'nothing'],
  ['projects', 'list', '-o', 'wide'],
  ['projects', 'put', 'website', '--name', 'Website'],
  ['projects', 'archive', 'website'],
  ['projects', 'unarchive', 'website'],
  ['projects', 'delete', 'website'],
  ['sessions', 'list', '--utc'],
  ['sessions', 'put', '--name', 'Review', '--project', 'website'],
  ['sessions', 'delete', 'nothing'],
  ['run-endpoint', 'show'],
  ['run-endpoint', 'set', 'https://hooks.example.com/runs'],
  ['run-endpoint', 'rotate'],
  ['run-endpoint', 'test', ID, '--project', 'website'],
  ['run-endpoint', 'delete'],
  ['runs', 'list'],
  ['runs', 'show', ID],
  ['runs', 'redeliver', ID],
  ['runs', 'complete', ID, 'succeeded'],
  ['runs', 'work', '--once', '--', 'true'],
  ['schedules', 'apply', 'schedules'],
  ['schedules', 'apply', 'schedules', '--prune', '--yes'],
  ['schedules', 'list'],
  ['schedules', 'list', '-o', 'wide'],
  ['schedules', 'show', ID, '--project', 'website'],
  ['schedules', 'run', ID, '--agent', ID],
  ['schedules', 'pause', ID, '--project', 'website'],
  ['schedules', 'resume', ID, '--project', 'website'],
  ['schedules', 'delete', ID, '--project', 'website'],
  ['schedules', 'delete', 'nothing'],
  ['schedules', 'preview', '0 6 * * *'],
  ['skills', 'push', 'notes'],
  ['skills', 'pull', 'pulled', '--all'],
  ['skills', 'diff', 'notes'],
  ['skills', 'list'],
  ['skills', 'show', 'notes'],
  ['skills', 'versions', 'notes'],
  ['skills', 'publish', 'notes', '1'],
  ['skills', 'delete', 'notes'],
  ['skills', 'feed', 'create', 'CI'],
  ['skills', 'feed', 'list'],
  ['skills', 'feed', 'delete', ID],
]
/** They print sentences and bytes only. */
const WITHOUT_JSON = ['env run', 'files get']

/** Clears the screen, changes the title, begins a line with a forged outcome, and reverses what follows. */
const HOSTILE = 'x\u001b[2J\u001b]0;t\u0007\r\nforged\u0085\u009b31m\u007f\u2028\u2029\u061c\u200e\u202e\u2066y'
/** Whatever a response has to have. */
const THING = {
  ...Object.fromEntries(
    'id name path key projectId agentId status failure scheduledAt finishedAt message lastError cron runAt timezone nextRunAt enabledAt pausedReason createdAt updatedAt type apiKeyId userId lastUsedAt expiresAt token url version latestVersion at localTime sizeBytes claimId enc ciphertext organizationId filename sha256 resourceType resourceId secret lastRunAt deletedAt finalAt issuer claim value role subject userName email blockedAt lastSignInAt createdByKeyId acceptedAt identityId'
      .split(' ')
      .map((name) => [name, HOSTILE]),
  ),
  scopes: [HOSTILE],
  projectIds: [HOSTILE],
  ruleIds: [HOSTILE],
  app: { clientId: HOSTILE, name: HOSTILE, redirectHost: HOSTILE, endsAt: HOSTILE },
  keys: [HOSTILE],
  isCurrent: true,
  resource: { type: HOSTILE, id: HOSTILE, path: HOSTILE, name: HOSTILE },
  actor: { apiKeyId: HOSTILE, apiKeyName: HOSTILE, userId: HOSTILE },
  hasMore: false,
  scheduleName: HOSTILE,
  statistics: { since: HOSTILE, runs: HOSTILE, succeeded: HOSTILE, failed: HOSTILE, medianSeconds: HOSTILE },
  lastOutcomes: [HOSTILE],
  lastAttempts: [{ startedAt: HOSTILE, status: HOSTILE, milliseconds: HOSTILE, error: HOSTILE }],
  claim: { apiKeyId: HOSTILE, apiKeyName: HOSTILE, leaseExpiresAt: HOSTILE },
  leaseExpiresAt: new Date(Date.now() + 3_600_000).toISOString(),
  nextCursor: null,
  error: HOSTILE,
}
const ANSWER = {
  ...THING,
  organization: THING,
  user: THING,
  apiKey: THING,
  files: [{ ...THING, filename: 'a\u202e.md', content: HOSTILE, encoding: 'utf-8' }],
  items: [THING, { ...THING, name: HOSTILE_NAME, userName: HOSTILE_NAME }],
}
const CHARACTERS = /[^\P{Cc}\n]|[\p{Zl}\p{Zp}\p{Bidi_Control}]/u

describe('text of a server is printed without control and bidirectional characters', () => {
  const urls = new Map<number, string>()
  beforeAll(async () => {
    for (const status of [200, 400]) {
      const url = await serve((request, response) => {
        request.resume().on('end', () => {
          const type = { 'Content-Type': 'application/json', ETag: '"1"' }
          response.writeHead(status, type).end(JSON.stringify(ANSWER))
        })
      })
      urls.set(status, url)
    }
  })

  async function run(status: number, args: readonly string[]) {
    const ended = await runWorkspace(args, { url: urls.get(status) ?? '', apiKey: 'wsk_x' }, {}, folder)
    expect(ended.printed).not.toMatch(CHARACTERS)
    // A line break of the server begins no line.
    expect(ended.printed).not.toMatch(/^forged/m)
    expect(ended.printed).not.toMatch(/^\n?$|Unexpected error/)
    return ended
  }

  it.each(COMMANDS.map((args) => [args.join(' '), args] as const))('%s', async (name, args) => {
    await Promise.all([run(200, args), run(400, args)])
    if (WITHOUT_JSON.some((each) => name.startsWith(each))) return
    const end = args.indexOf('--')
    const options = end < 0 ? [...args, '--json'] : [...args.slice(0, end), '--json', ...args.slice(end)]
    const { stdout } = await run(200, options)
    for (const line of stdout.split('\n').slice(0, -1)) expect(() => JSON.parse(line)).not.toThrow()
  })

  it.each([
    [200, /^Logged in to .*\n$/],
    [400, /^x.*y\n$/],
  ])('login, and status %i', async (status, message) => {
    const { printed } = await login(urls.get(status) ?? '', 'wsk_x')
    expect(printed).not.toMatch(CHARACTERS)
    expect(printed).toMatch(message)
  })
})

/** Runs `workspace login` with a key on standard input. */
function login(url: string, apiKey: string): Promise<{ status: number | null; printed: string }> {
  const env = { XDG_CONFIG_HOME: folder }
  const child = startWorkspace(['login', '--url', url], { url: '', apiKey: '' }, { env, stdio: 'pipe' })
  child.stdin?.end(apiKey)
  const printed = Promise.all([child.stdout, child.stderr].map((each) => text(each as NodeJS.ReadableStream)))
  return new Promise((resolve) => {
    child.on('close', async (status) => resolve({ status, printed: (await printed).join('') }))
  })
}

describe('a redirect is an error, and nothing is sent to its target', () => {
  const received: string[] = []
  let other: string
  let url: string
  beforeAll(async () => {
    other = await serve(async (request, response) => {
      received.push(`${request.method} ${await text(request)}`)
      response.end('{}')
    })
    // Its first path segment is the status.
    url = await serve((request, response) => {
      request.resume()
      const [, status, path = ''] = /^\/(\d+)(.*)$/.exec(request.url ?? '') ?? []
      response.writeHead(Number(status), { Location: `${other}${path}` }).end()
    })
  })

  const PUSH = ['env', 'push', 'example.env', '--project', 'website'] as const
  const redirects = [301, 302, 303, 308].map((status) => [status, PUSH] as const)
  const commands = COMMANDS.map((args) => [307, args] as const)

  it.each([...redirects, ...commands])('%i: %j', async (status, args) => {
    const login = { url: `${url}/${status}`, apiKey: 'wsk_x' }
    const { status: code, stdout, stderr } = await runWorkspace(args, login, {}, folder)
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`${url} redirects to ${other}; redirects are not followed`)
    expect(received).toEqual([])
  })

  it.each([301, 302, 303, 307, 308])("%i: the scripts' client", async (status) => {
    const sent = new Service(`${url}/${status}`, 'wsk_x').send('PUT', '/v1/pins', { secret: 1 })
    await expect(sent).rejects.toThrow(/unexpected redirect/)
    expect(received).toEqual([])
  })
})

describe('a secret that cannot be sent', () => {
  const SECRET = 'topsecret'
  const SERVICE = { url: 'http://127.0.0.1:1', apiKey: 'wsk_x' }
  const URLS = [
    `https://ada:${SECRET}@api.example.com`,
    `https://${SECRET}@api.example.com`,
    `ada:${SECRET}@api.example.com`,
    `https://ada:${SECRET}@api.example.com:port`,
  ]
  const KEYS = [`wsk_x\n${SECRET}`, `wsk_x\r${SECRET}`, `wsk_x ${SECRET}`, `wsk_\u00e9${SECRET}`]

  const refused = async (ended: Promise<{ status: number | null; printed: string }>, name: string, code = 2) => {
    const { status, printed } = await ended
    expect([status, printed]).toEqual([
      code,
      expect.stringMatching(new RegExp(`^${name} .*; allowed|^${name} .*; example`)),
    ])
    expect(printed).not.toContain(SECRET)
  }

  it('is refused in the environment, and not repeated', async () => {
    for (const url of URLS) await refused(runWorkspace(['whoami'], { ...SERVICE, url }), 'WORKSPACE_URL')
    for (const apiKey of KEYS) await refused(runWorkspace(['whoami'], { ...SERVICE, apiKey }), 'WORKSPACE_API_KEY')
  })

  it('is refused by login, and in the file of login', async () => {
    for (const url of URLS) await refused(login(url, 'wsk_x'), '--url')
    for (const key of KEYS) await refused(login(SERVICE.url, key), 'The API key')
    for (const stored of [
      ...URLS.map((url) => ({ ...SERVICE, url })),
      ...KEYS.map((apiKey) => ({ ...SERVICE, apiKey })),
    ]) {
      writeFiles(join(folder, 'config'), { 'workspace/login.json': JSON.stringify(stored) })
      const variables = { XDG_CONFIG_HOME: join(folder, 'config') }
      await refused(runWorkspace(['whoami'], { url: '', apiKey: '' }, variables), 'The (url|apiKey) in .*login.json', 1)
    }
  })
})

it('the client refuses an address that it cannot send to and that may have a secret', () => {
  for (const address of ['https://ada:topsecret@api.example.com:port', '_ada:topsecret@api', 'https:a:topsecret@b']) {
    const create = () => new Workspace({ url: address, apiKey: 'wsk_x' })
    expect(create).toThrow(/^url (has credentials|is not an http or https address; got text with "@")/)
    expect(create).not.toThrow(/topsecret/)
  }
  for (const address of ['/api/public-api', 'https://api.example.com/@ada'])
    expect(() => new Workspace({ url: address, apiKey: 'wsk_x' })).not.toThrow()
})

describe('logout', () => {
  const NOBODY = { url: '', apiKey: '' }
  const variables = { XDG_CONFIG_HOME: join(folder, 'logout') }
  const file = join(folder, 'logout', 'workspace', 'login.json')
  const store = (content: string) => writeFiles(folder, { 'logout/workspace/login.json': content })
  const logout = (...options: string[]) => runWorkspace(['logout', ...options], NOBODY, variables)

  it('removes a damaged file', async () => {
    for (const content of ['{', 'null', '{"url":"x","apiKey":"wsk_x"}', '{"url":"https://x.example","apiKey":"é"}']) {
      store(content)
      expect(await logout()).toMatchObject({
        status: 0,
        printed: `Removed ${file}. Its API key stays valid.\n`,
      })
      expect(existsSync(file)).toBe(false)
    }
    expect((await logout()).printed).toBe('There is no stored login.\n')
  })

  it('--revoke removes the file only if the service says that the key is not valid', async () => {
    const answers: (readonly [status: number, code: string | undefined, printed: string, isRemoved: boolean])[] = [
      [204, undefined, `Revoked the API key. Removed ${file}.\n`, true],
      ...['api_key_invalid', 'api_key_expired', 'api_key_revoked'].map(
        (code) => [401, code, `The API key was no longer valid. Removed ${file}.\n`, true] as const,
      ),
      [401, undefined, 'The response has the status 401 and no error message.\n', false],
      [401, 'api_key_missing', 'The response has the status 401 and no error message.\n', false],
    ]
    for (const [status, code, printed, isRemoved] of answers) {
      const url = await serve((_, response) => {
        response.writeHead(status, code === undefined ? {} : { 'Error-Code': code }).end()
      })
      store(JSON.stringify({ url, apiKey: 'wsk_x' }))
      const ended = await logout('--revoke')
      expect([status, code, ended.status, ended.printed]).toEqual([status, code, isRemoved ? 0 : 1, printed])
      expect(existsSync(file)).toBe(!isRemoved)
    }
  })
})

describe('a file of a schedule', () => {
  const bomb = () => {
    const levels = Array.from({ length: 12 }, (_, level) => {
      const items = Array.from({ length: 8 }, () => (level === 0 ? 'x' : `*a${level - 1}`))
      return `  a${level}: &a${level} [${items.join(',')}]`
    })
    return ['project: website', 'cron: 0 6 * * *', 'timezone: UTC', 'payload:', ...levels].join('\n')
  }
  const nested = `project: website\npayload: ${'['.repeat(40)}${']'.repeat(40)}\n`

  it.each([
    ['aliases of aliases', bomb(), /has too many values, with those that aliases repeat; allowed: up to 32768$/],
    ['more than 100 aliases', `a: &a 1\nb: [${'*a,'.repeat(101)}]\n`, /line 2: is not YAML: .*aliases/],
    ['an alias of itself', 'project: website\npayload: &a [*a]\n', /has an alias inside of what it refers to$/],
    ['40 levels', nested, /line 2: is not YAML: nesting exceeded maxDepth \(32\)$/],
    ['more than 64 KiB', `# ${'x'.repeat(2 ** 16)}\n`, /is too large; got 65539 bytes; allowed: up to 64 KiB$/],
  ])('is refused before the first request if it has %s', async (name, content, message) => {
    const wrong = writeFiles(join(folder, name), { 'wrong.yaml': content })
    const login = { url: 'http://127.0.0.1:1', apiKey: 'wsk_x' }
    const { status, printed } = await runWorkspace(['schedules', 'apply', wrong], login)
    expect([status, printed.trimEnd()]).toEqual([1, expect.stringMatching(message)])
    expect(printed.startsWith(`${join(wrong, 'wrong.yaml')}: `)).toBe(true)
  })
})
