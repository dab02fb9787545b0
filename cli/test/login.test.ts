/** `workspace login` with a service and a console that are played here, and a program in the place of the browser. */
import type { ChildProcess } from 'node:child_process'
import { createHash } from 'node:crypto'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingHttpHeaders, request, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { runWorkspace, startWorkspace, typeInto } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { consoleUrl } from '../src/browser-login.ts'
import { listenForCode } from '../src/loopback.ts'

const NOBODY = { url: '', apiKey: '' }
const KEY = `wsk_${'k'.repeat(43)}`
const DAY_MS = 86_400_000

let server: Server
let url: string
/** What the service answers. Each test begins with what is usual. */
let answers: Record<string, { status?: number; headers?: Record<string, string>; body?: object }>
/** The bodies that the command sent to exchange a code. */
let exchanged: { code: string; verifier: string }[]
let folder: string
let bin: string
let children: ChildProcess[]

beforeAll(async () => {
  server = createServer(async (incoming, response) => {
    const body = await text(incoming)
    if (incoming.url === '/login/token') exchanged.push(JSON.parse(body))
    const { status = 200, headers, body: answer } = answers[incoming.url ?? ''] ?? { status: 404 }
    response.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(JSON.stringify(answer ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.close()
})

beforeEach(() => {
  exchanged = []
  children = []
  folder = newFolder()
  bin = join(folder, 'bin')
  mkdirSync(bin)
  // In the place of the browser's opener: writes down what it is asked to open.
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s\\n' "$@" > '${folder}/opened'\n`)
  chmodSync(join(bin, 'xdg-open'), 0o755)
  const apiKey = { id: 'x', name: 'workspace on laptop', kind: 'grant', scopes: ['skills:read'], projectIds: null }
  const expiresAt = new Date(Date.now() + 7.5 * DAY_MS).toISOString()
  const organization = { id: 'acme', name: 'Acme' }
  answers = {
    '/console': { status: 302, headers: { Location: `${url}/` } },
    '/login/token': { body: { apiKey: KEY } },
    '/v1/me': { body: { organization, user: null, apiKey: { ...apiKey, expiresAt } } },
  }
})
afterEach(() => {
  for (const child of children) child.kill()
  rmSync(folder, { recursive: true })
})

const DESKTOP = { DISPLAY: ':0', WAYLAND_DISPLAY: '', SSH_CONNECTION: '', SSH_TTY: '' }
const environment = (more = {}) => ({
  ...DESKTOP,
  PATH: `${bin}:${process.env.PATH}`,
  XDG_CONFIG_HOME: folder,
  ...more,
})

const loginFile = () => join(folder, 'workspace', 'login.json')
const stored = () => JSON.parse(readFileSync(loginFile(), 'utf8'))

/** The command, which was told its console, so that it needs no terminal. */
function start(args: readonly string[] = [], more = {}) {
  const all = ['login', '--url', url, '--console-url', url, ...args]
  const child = startWorkspace(all, NOBODY, { env: environment(more), stdio: 'pipe' })
  children.push(child)
  let printed = ''
  child.stdout?.on('data', (chunk) => {
    printed += chunk
  })
  child.stderr?.on('data', (chunk) => {
    printed += chunk
  })
  const ended = new Promise<{ status: number | null; printed: string }>((resolve) => {
    child.on('close', (status) => resolve({ status, printed }))
  })
  const until = (pattern: RegExp) =>
    vi.waitFor(() => pattern.exec(printed) ?? Promise.reject(new Error(printed)), { timeout: 30_000, interval: 20 })
  const address = async () => new URL((await until(/^https?:\S+$/m))[0])
  return { child, ended, until, address }
}

/** What the browser asks of the command in the end. @returns the response. */
function bring(port: string | null, path: string, options: { method?: string; headers?: IncomingHttpHeaders } = {}) {
  return new Promise<{ status?: number | undefined; body: string; headers: IncomingHttpHeaders }>((resolve, reject) => {
    const asked = request({ host: '127.0.0.1', port, path, ...options }, async (response) => {
      resolve({ status: response.statusCode, body: await text(response), headers: response.headers })
    })
    asked.on('error', reject).end()
  })
}

const codeOf = (address: string | URL) => `code-of-the-person@${new URL(address).host}`

describe('with the browser', () => {
  it('keeps the key that the person allowed', async () => {
    const { address: opened, ended } = start()
    const address = await opened()
    const { port, state, code_challenge, machine, resource, ...more } = Object.fromEntries(address.searchParams)
    expect([address.origin, address.pathname, more, resource]).toEqual([url, '/login', {}, url])
    expect(state).toMatch(/^[\w-]{43}$/)
    expect(machine).toMatch(/^[\w.-]{1,64}$/)
    const seen = await bring(
      port as string,
      `/callback?${new URLSearchParams({ code: codeOf(url), state: `${state}` })}`,
    )
    expect([seen.status, seen.body]).toEqual([200, expect.stringContaining('You can close this window')])
    expect(seen.headers['content-security-policy']).toContain("default-src 'none'")
    expect(seen.headers['cache-control']).toBe('no-store')
    const { status, printed } = await ended
    expect([status, printed]).toEqual([0, expect.stringContaining('Logged in to')])
    expect(printed).toMatch(/ of Acme, which expires in 7 days\. Stored in .*login\.json\.$/m)
    expect(exchanged).toEqual([{ code: codeOf(url), verifier: expect.stringMatching(/^[\w-]{43}$/) }])
    const [{ verifier } = { verifier: '' }] = exchanged
    expect(createHash('sha256').update(verifier).digest('base64url')).toBe(code_challenge)
    // Other users of the machine see the arguments of the opener.
    expect(readFileSync(join(folder, 'opened'), 'utf8')).toBe(`${address.href}\n`)
    for (const secret of [KEY, verifier]) expect(address.href + printed + seen.body).not.toContain(secret)
    expect(stored()).toEqual({ url, apiKey: KEY })
    expect(statSync(loginFile()).mode & 0o777).toBe(0o600)
    await expect(bring(port as string, '/callback')).rejects.toThrow('ECONNREFUSED')
  })

  it('ends if the person denies it', async () => {
    const { address: opened, ended } = start()
    const { searchParams } = await opened()
    const denial = new URLSearchParams({ error: 'access_denied', state: searchParams.get('state') ?? '' })
    expect((await bring(searchParams.get('port'), `/callback?${denial}`)).status).toBe(200)
    const { status, printed } = await ended
    expect([status, printed]).toEqual([1, expect.stringMatching(/\nThe login was denied in the browser\.\n$/)])
    expect([exchanged, existsSync(loginFile())]).toEqual([[], false])
  })

  it('ignores every other request, and waits on', async () => {
    const { address: opened, ended } = start()
    const { searchParams } = await opened()
    const port = searchParams.get('port')
    const state = searchParams.get('state') ?? ''
    const right = `/callback?${new URLSearchParams({ code: codeOf(url), state })}`
    const wrong: [path: string, options?: { method?: string; headers?: IncomingHttpHeaders }][] = [
      ['/'],
      ['/favicon.ico'],
      ['//'],
      ['/callback'],
      [`/callback?state=${state}`],
      [right.replace(state, state.toUpperCase())],
      [right.replace(/&state.*/, '')],
      [right.replace(state, '')],
      [`/callback?error=access_denied&state=x`],
      [right.replace('/callback', '/other')],
      [right, { method: 'POST' }],
      // A website whose name leads to this computer.
      [right, { headers: { host: `evil.example:${port}` } }],
      [right, { headers: { host: '127.0.0.1' } }],
    ]
    for (const [path, options] of wrong) {
      expect([path, options, (await bring(port, path, options)).status]).toEqual([path, options, 404])
    }
    expect(exchanged).toEqual([])
    await bring(port, right)
    expect((await ended).status).toBe(0)
    expect(exchanged).toHaveLength(1)
  })

  it('sends no code of another console to the one that it opened', async () => {
    for (const other of ['code@console.example', 'code', `code@${new URL(url).host}.evil.example`]) {
      const { address: opened, ended } = start()
      const { searchParams } = await opened()
      const answer = new URLSearchParams({ code: other, state: searchParams.get('state') ?? '' })
      await bring(searchParams.get('port'), `/callback?${answer}`)
      const { status, printed } = await ended
      expect([status, printed]).toEqual([1, expect.stringContaining(`The code is not one of ${url}`)])
    }
    expect([exchanged, existsSync(loginFile())]).toEqual([[], false])
  })

  it.each([
    [{ status: 400, body: { error: 'The code is not valid\u001b[2J.' } }, 'The code is not valid.[2J.\n'],
    [{ status: 500 }, 'responded with the status 500.\n'],
    [{ body: {} }, 'responded with the status 200.\n'],
    [{ body: { apiKey: 5 } }, 'responded with the status 200.\n'],
    [{ body: { apiKey: 'a\nb' } }, 'The API key has a space, a line break'],
    [{ status: 307, headers: { Location: 'http://127.0.0.1:1/' } }, 'No answer from'],
  ])('shows what the console says instead of a key: %o', async (answer, expected) => {
    answers['/login/token'] = answer
    const { address: opened, ended } = start()
    const { searchParams } = await opened()
    const code = new URLSearchParams({ code: codeOf(url), state: searchParams.get('state') ?? '' })
    await bring(searchParams.get('port'), `/callback?${code}`)
    const { status, printed } = await ended
    expect(status).not.toBe(0)
    expect(printed.replaceAll(/[\ufffd\u241b]/g, '.')).toContain(expected)
    expect(existsSync(loginFile())).toBe(false)
  })

  it('says so if there is no program that opens it', async () => {
    const { address: opened, until, ended } = start([], { PATH: '/nonexistent' })
    const { searchParams } = await opened()
    await until(/^The browser could not be opened\. Open the address yourself\.$/m)
    const code = new URLSearchParams({ code: codeOf(url), state: searchParams.get('state') ?? '' })
    await bring(searchParams.get('port'), `/callback?${code}`)
    expect((await ended).status).toBe(0)
  })

  it('waits for ten minutes', async () => {
    const { port, code } = await listenForCode('state', 50)
    await expect(code).rejects.toThrow('Nobody allowed the login within ten minutes. Run `workspace login` again.')
    await expect(bring(String(port), '/callback')).rejects.toThrow('ECONNREFUSED')
  })

  it('listens on this computer only', async () => {
    const { port, code } = await listenForCode('state')
    // All of 127/8 leads to this computer, but only one address is listened on.
    await expect(fetch(`http://127.0.0.2:${port}/callback`)).rejects.toThrow()
    await bring(String(port), '/callback?code=x&state=state')
    expect(await code).toBe('x')
  })
})

describe('without a browser', () => {
  it.each([
    ['--no-browser', ['--no-browser'], {}],
    ['over SSH', [], { SSH_CONNECTION: '192.0.2.1 1 192.0.2.2 22' }],
    ['without a display', [], { DISPLAY: '' }],
  ])('prints an address and takes the code: %s', async (_, args, variables) => {
    const { child, address: opened, ended } = start(args, variables)
    const address = await opened()
    expect(address.searchParams.has('port')).toBe(false)
    child.stdin?.write(` ${codeOf(url)} \n`)
    // Standard input stays open.
    expect((await ended).status).toBe(0)
    expect(exchanged).toMatchObject([{ code: codeOf(url) }])
    expect(existsSync(join(folder, 'opened'))).toBe(false)
    expect(stored()).toEqual({ url, apiKey: KEY })
  })

  it('takes no empty code', async () => {
    const { child, ended } = start(['--no-browser'])
    child.stdin?.end()
    expect(await ended).toMatchObject({ status: 2, printed: expect.stringContaining('The code is empty.') })
  })
})

describe('on a terminal', () => {
  const onTerminal = (args: readonly string[], ...answers: [question: string, answer: string][]) =>
    typeInto(['login', '--url', url, ...args], NOBODY, answers, { env: environment() })

  it('asks the service for its console', async () => {
    const { status, shown } = await onTerminal(['--no-browser'], ['console shows: ', codeOf(url)])
    expect([status, shown]).toEqual([0, expect.stringContaining('Logged in')])
    expect(exchanged).toHaveLength(1)
  })

  it.each([
    ['of a service without a console', { status: 404 }, []],
    ['with --api-key', undefined, ['--api-key']],
  ])('asks for a key %s', async (_, answer, args) => {
    if (answer) answers['/console'] = answer
    const { status, shown } = await onTerminal(args, ['API key: ', KEY])
    expect([status, shown]).toEqual([0, expect.stringContaining('Logged in')])
    expect([exchanged, stored()]).toEqual([[], { url, apiKey: KEY }])
    expect(shown).not.toContain(KEY)
  })

  it('says that there is no console to open', async () => {
    answers['/console'] = { status: 404 }
    const { status, shown } = await onTerminal(['--no-browser'])
    expect([status, shown]).toEqual([1, expect.stringContaining('names no console. Run `workspace login --api-key`.')])
  })

  it('opens no console in the clear', async () => {
    for (const address of ['http://localhost:1', 'http://127.0.0.1:1', 'http://[::1]:1', 'https://console.example']) {
      expect(consoleUrl(`${address}/path/`, '--console-url')).toBe(address)
    }
    for (const address of ['http://localhost.evil.example', 'http://127.0.0.1.evil.example', 'javascript:alert(1)']) {
      expect(() => consoleUrl(address, '--console-url')).toThrow('--console-url is not an http')
    }
    expect(() => consoleUrl('https://user:secret@x.example', '--console-url')).toThrow('has credentials')
    answers['/console'] = { status: 302, headers: { Location: 'http://console.example/' } }
    const { status, shown } = await onTerminal([])
    expect([status, shown]).toEqual([
      2,
      expect.stringContaining('The console of the service is not an https address; got "http://console.example"'),
    ])
  })
})

describe('a login that has ended', () => {
  it('says what to do, if it is a stored one', async () => {
    const piped = (...args: readonly string[]) =>
      runWorkspace(['login', '--url', url, ...args], NOBODY, environment(), folder, KEY)
    expect((await piped()).status).toBe(0)
    expect((await piped('--profile', 'work')).status).toBe(0)
    expect(exchanged).toEqual([])
    const headers = { 'Error-Code': 'api_key_expired' }
    answers['/v1/me'] = { status: 401, headers, body: { error: 'The API key has expired.' } }
    const whoami = async (login: typeof NOBODY, ...args: readonly string[]) =>
      (await runWorkspace(['whoami', ...args], login, environment())).printed
    expect(await whoami(NOBODY)).toBe('The API key has expired. Run `workspace login`.\n')
    const other = 'The API key has expired. Run `workspace login --profile work`.\n'
    expect(await whoami(NOBODY, '--profile', 'work')).toBe(other)
    expect(await whoami({ url, apiKey: 'wsk_other' })).toBe('The API key has expired.\n')
    answers['/v1/me'] = { status: 401, body: { error: 'Sign in to the proxy.' } }
    expect(await whoami(NOBODY)).toBe('Sign in to the proxy.\n')
  })
})
