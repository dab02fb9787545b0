/** Stored logins by name, and what the command says if it reaches no service. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { runWorkspace } from '../../test/support/commands.ts'
import { freePort, newFolder } from '../../test/support/dev-server.ts'
import { writeFiles } from './support/skill-folders.ts'

const folder = newFolder()
const servers: Server[] = []
afterAll(() => {
  for (const server of servers) server.close()
  rmSync(folder, { recursive: true })
})

async function portOf(server: Server): Promise<number> {
  servers.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

describe('no answer', () => {
  const whoami = (url: string) => runWorkspace(['whoami'], { url, apiKey: 'wsk_x' })

  it('says what failed, and where', async () => {
    const closed = `http://127.0.0.1:${await freePort()}`
    const unknown = 'https://no-such-host.invalid'
    const plain = `https://127.0.0.1:${await portOf(createServer())}`
    for (const [url, reason] of [
      [closed, 'the connection was refused (ECONNREFUSED).'],
      [unknown, expect.stringMatching(/^(the host is unknown|.*cannot be resolved now) \((ENOTFOUND|EAI_AGAIN)\)\.$/)],
      [plain, expect.stringMatching(/^it does not speak HTTPS; http:\/\/ may be right \(ERR_SSL_.*\)\.$/)],
    ]) {
      const { status, printed } = await whoami(url)
      const start = `No answer from ${url}: `
      expect([status, printed.slice(0, start.length)]).toEqual([1, start])
      expect(printed.slice(start.length, -1)).toEqual(reason)
    }
  })

  it('is tried again if the connection was closed', async () => {
    let connections = 0
    const port = await portOf(
      createTcpServer((socket) => {
        connections++
        // The first is closed without a response.
        if (connections === 1) return void socket.destroy()
        const body = '{"error":"The API key is not valid."}'
        socket.end(`HTTP/1.1 401 Unauthorized\r\nContent-Type: application/json\r\nContent-Length: 37\r\n\r\n${body}`)
      }),
    )
    expect(await whoami(`http://127.0.0.1:${port}`)).toMatchObject({ printed: 'The API key is not valid.\n' })
    expect(connections).toBe(2)
  })

  const hasOpenssl = spawnSync('openssl', ['version']).status === 0
  it.runIf(hasOpenssl)('says what is wrong with a certificate, and tries once', async () => {
    const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')]
    const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=x']
    expect(spawnSync('openssl', ['req', ...options, '-keyout', key, '-out', cert]).status).toBe(0)
    let connections = 0
    const server = createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) })
    server.on('connection', () => connections++)
    const url = `https://127.0.0.1:${await portOf(server)}`
    expect(await whoami(url)).toMatchObject({
      status: 1,
      printed: `No answer from ${url}: its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file of further certificates to trust (DEPTH_ZERO_SELF_SIGNED_CERT).\n`,
    })
    expect(connections).toBe(1)
  })
})

describe('stored logins', () => {
  const home = join(folder, 'home')
  const NOBODY = { url: '', apiKey: '' }
  const tokens: string[] = []
  const server = createServer((request, response) => {
    tokens.push(request.headers.authorization?.split(' ')[1] ?? '')
    const me = { organization: { id: 'o', name: 'Acme' }, user: null, apiKey: { id: 'k', name: 'laptop', scopes: [] } }
    response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(me))
  })

  const run = (args: string[], variables: Record<string, string> = {}, input?: string) =>
    runWorkspace(args, NOBODY, { XDG_CONFIG_HOME: home, ...variables }, folder, input)
  /** The API key that a command used. */
  async function tokenOf(args: string[], variables: Record<string, string> = {}): Promise<string | undefined> {
    tokens.length = 0
    const { status, printed } = await run(['whoami', ...args], variables)
    return status === 0 ? tokens[0] : printed
  }

  it('have names, and the option selects one before the variables do', async () => {
    const url = `http://127.0.0.1:${await portOf(server)}`
    for (const [name, token] of [
      [undefined, 'wsk_default'],
      ['work', 'wsk_work'],
      ['home', 'wsk_home'],
    ] as const) {
      const options = name === undefined ? [] : ['--profile', name]
      expect(await run(['login', '--url', url, ...options], {}, token)).toMatchObject({ status: 0, stderr: '' })
    }
    expect(statSync(join(home, 'workspace', 'login.work.json')).mode & 0o777).toBe(0o600)
    expect(await tokenOf([])).toBe('wsk_default')
    expect(await tokenOf(['--profile', 'work'])).toBe('wsk_work')
    expect(await tokenOf([], { WORKSPACE_PROFILE: 'home' })).toBe('wsk_home')
    expect(await tokenOf(['--profile', 'work'], { WORKSPACE_PROFILE: 'home' })).toBe('wsk_work')
    const variables = { WORKSPACE_URL: url, WORKSPACE_API_KEY: 'wsk_variable' }
    expect(await tokenOf([], { ...variables, WORKSPACE_PROFILE: 'home' })).toBe('wsk_variable')
    expect(await tokenOf(['--profile', 'work'], variables)).toBe('wsk_work')

    const listed = (await run(['profiles', '--json'], { WORKSPACE_PROFILE: 'work' })).stdout.trim().split('\n')
    expect(listed.map((line) => JSON.parse(line))).toEqual([
      { name: 'default', url, isCurrent: false },
      { name: 'home', url, isCurrent: false },
      { name: 'work', url, isCurrent: true },
    ])
    const file = join(home, 'workspace', 'login.home.json')
    expect(await run(['logout', '--profile', 'home'])).toMatchObject({
      printed: `Removed ${file}. Its API key stays valid.\n`,
    })
    expect(await tokenOf(['--profile', 'home'])).toBe(
      'There is no login "home". Run `workspace login --profile home`. For help: workspace whoami --help\n',
    )
    expect(await tokenOf([])).toBe('wsk_default')
  })

  it('have names that are no path', async () => {
    for (const name of ['../x', 'a/b', '.', 'a'.repeat(65), 'é']) {
      const { status, printed } = await run(['logout', '--profile', name])
      expect([status, printed]).toEqual([2, expect.stringMatching(/^--profile is not a name; got /)])
      expect((await run(['profiles'], { WORKSPACE_PROFILE: name })).printed).toMatch(
        /^WORKSPACE_PROFILE is not a name; /,
      )
    }
  })

  it('are listed even if one is damaged', async () => {
    const other = join(folder, 'other')
    expect(await run(['profiles'], { XDG_CONFIG_HOME: other })).toMatchObject({
      status: 0,
      printed: 'PROFILE  SERVICE  CURRENT\n',
    })
    writeFiles(other, { 'workspace/login.work.json': '{', 'workspace/notes.txt': '' })
    expect((await run(['profiles'], { XDG_CONFIG_HOME: other })).printed).toMatch(/\nwork +- +-\n$/)
  })
})
