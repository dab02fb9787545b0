/** Stored logins by name, and what the command says if it reaches no service. */
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, rmSync, statSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
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

const hasOpenssl = spawnSync('openssl', ['version']).status === 0
const CERTIFICATE = join(folder, 'certificate.pem')

function newCertificate(): { key: Buffer; cert: Buffer } {
  const key = join(folder, 'key.pem')
  const options = ['-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=x']
  const names = ['-addext', 'subjectAltName=DNS:api.example.com']
  expect(spawnSync('openssl', ['req', ...options, ...names, '-keyout', key, '-out', CERTIFICATE]).status).toBe(0)
  return { key: readFileSync(key), cert: readFileSync(CERTIFICATE) }
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

  it.runIf(hasOpenssl)('says what is wrong with a certificate, and tries once', async () => {
    let connections = 0
    const server = createTlsServer(newCertificate())
    server.on('connection', () => connections++)
    const url = `https://127.0.0.1:${await portOf(server)}`
    expect(await whoami(url)).toMatchObject({
      status: 1,
      printed: `No answer from ${url}: its certificate is self-signed; NODE_EXTRA_CA_CERTS names a file of further certificates to trust (DEPTH_ZERO_SELF_SIGNED_CERT).\n`,
    })
    expect(connections).toBe(1)
  })
})

describe.runIf(hasOpenssl)('a proxy of the environment', () => {
  const ID = '0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60'
  const SERVICE = 'https://api.example.com'
  /** What the proxy and the service got. */
  const seen: string[] = []
  let status = 200
  let proxy: string
  let trusted: Record<string, string>

  beforeAll(async () => {
    const answer = (name: string) => async (request: IncomingMessage, response: ServerResponse) => {
      const { method, url, headers } = request
      seen.push(`${name}: ${method} ${url} ${headers['content-length'] ?? ''} ${await text(request)}`.trim())
      const me = { organization: { id: 'o', name: 'Acme' }, user: null, apiKey: { id: ID, name: 'laptop', scopes: [] } }
      response.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify(me))
    }
    const port = await portOf(createTlsServer(newCertificate(), answer('service')))
    const server = createServer(answer('proxy')).on('connect', ({ url, headers }, socket: Duplex) => {
      seen.push(`proxy: CONNECT ${url} ${headers['proxy-authorization'] ?? ''}`.trim())
      if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`)
      const upstream = connect(port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
      for (const [from, to] of [
        [socket, upstream],
        [upstream, socket],
      ] as const) {
        from.pipe(to)
        from.on('error', () => to.destroy())
      }
    })
    proxy = `127.0.0.1:${await portOf(server)}`
    trusted = { SSL_CERT_FILE: CERTIFICATE }
  })

  async function run(args: string[], variables: Record<string, string>, url = SERVICE) {
    seen.length = 0
    return runWorkspace(args, { url, apiKey: 'wsk_x' }, variables, folder)
  }

  it('is used for https, as a tunnel, with its credentials and the certificates of SSL_CERT_FILE', async () => {
    const variables = {
      HTTPS_PROXY: `http://ada:p%40ss@${proxy}`,
      NO_PROXY: 'example.org,api.example.com:8443',
      ...trusted,
    }
    writeFiles(folder, { 'report.txt': 'A report.\n' })
    const tunnel = `proxy: CONNECT api.example.com:443 Basic ${Buffer.from('ada:p@ss').toString('base64')}`
    expect(await run(['whoami'], variables)).toMatchObject({ status: 0, stderr: '' })
    expect(seen).toEqual([tunnel, 'service: GET /v1/me'])
    expect(await run(['files', 'put', ID, 'report.txt'], variables)).toMatchObject({ status: 0, stderr: '' })
    expect(seen).toEqual([tunnel, `service: PUT /v1/sessions/${ID}/files?path=report.txt 10 A report.`])
  })

  it('is used for http without a tunnel, and not for this machine', async () => {
    const variables = { http_proxy: proxy, HTTP_PROXY: 'http://127.0.0.1:1', no_proxy: '' }
    expect(await run(['whoami'], variables, 'http://api.example.com:8080')).toMatchObject({ status: 0, stderr: '' })
    expect(seen).toEqual(['proxy: GET http://api.example.com:8080/v1/me'])
    expect(await run(['whoami'], { HTTP_PROXY: 'http://127.0.0.1:1' }, `http://${proxy}`)).toMatchObject({ status: 0 })
    expect(seen).toEqual(['proxy: GET /v1/me'])
  })

  it.each(['*', '.example.com', 'x.org, EXAMPLE.com', 'api.example.com:443'])(
    'is not used with NO_PROXY=%s',
    async (no) => {
      const { printed } = await run(['whoami'], { HTTPS_PROXY: proxy, NO_PROXY: no })
      expect([seen, printed]).toEqual([[], expect.stringContaining(`No answer from ${SERVICE}: `)])
    },
  )

  it.each([
    ['refuses', 403, 'the proxy refuses the connection (403).'],
    ['wants credentials', 407, 'the proxy refuses the connection (407).'],
    ['is trusted no further than the service', 200, expect.stringMatching(/^its certificate is self-signed; /)],
  ])('that %s is named, and asked once', async (_, answered, reason) => {
    status = answered
    const { printed } = await run(['whoami'], { HTTPS_PROXY: `http://ada:secret@${proxy}` })
    status = 200
    const start = `No answer from ${SERVICE} through the proxy http://${proxy}: `
    expect([printed.slice(0, start.length), printed.slice(start.length, -1)]).toEqual([start, reason])
    expect(seen).toHaveLength(1)
  })

  it.each(['socks5://ada:secret@127.0.0.1', 'http://ada:%zz@127.0.0.1', 'http://ada:secret@:1'])(
    'is not %s',
    async (address) => {
      expect(await run(['whoami'], { HTTPS_PROXY: address })).toMatchObject({
        status: 2,
        printed: expect.stringMatching(/^HTTPS_PROXY is not the address of an HTTP proxy; example: \S+\. For help: /),
      })
    },
  )
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

it('a test keeps no connection, because a server may end one while the next request is sent', async () => {
  const port = await portOf(createServer(({ headers }, response) => response.end(headers.connection)))
  expect(await (await fetch(`http://127.0.0.1:${port}`)).text()).toBe('close')
})
