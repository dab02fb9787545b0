/** Official clients connect from nothing to a call of a tool, and the conformance suite asks the authorization server. */
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { Client, type OAuthClientProvider, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { COMMAND } from '../../../mcp/test/support/conformance.ts'
import { EXAMPLE_IDS } from '../../../src/http/example-ids.ts'
import { freePort, newFolder } from '../../../test/support/dev-server.ts'
import type { Decision } from '../../src/oauth/consent.ts'
import { type Console, startConsole } from '../console.ts'

let running: Console
let url: URL

beforeAll(async () => {
  running = await startConsole()
  url = new URL('/mcp', running.demo.baseUrl)
})
afterAll(() => running.stop())

const REDIRECT = 'http://127.0.0.1:4123/callback'

/** What a person does in the browser. @returns where they are sent. */
async function consent(authorize: URL, decision: Partial<Decision> = {}): Promise<URL> {
  const cookies = new Map<string, string>()
  const send = async (path: string, body?: object) => {
    const response = await fetch(`${running.url}${path}`, {
      method: body ? 'POST' : 'GET',
      headers: {
        'Sec-Fetch-Site': 'same-origin',
        'Content-Type': 'application/json',
        Cookie: Array.from(cookies, ([name, value]) => `${name}=${value}`).join('; '),
      },
      ...(body && { body: JSON.stringify(body) }),
    })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? []
      cookies.set(name, value)
    }
    return response
  }
  await send('/session', { apiKey: running.demo.apiKey })
  const { handle } = (await (await send(`/oauth/consent${authorize.search}`)).json()) as { handle: string }
  const allowed = { isAllowed: true, bundles: ['skills'], projectIds: null, days: 30 }
  const decided = await send('/oauth/consent', { handle, ...allowed, ...decision })
  const { redirectTo } = (await decided.json()) as { redirectTo: string }
  return new URL(redirectTo)
}

/** An app that keeps everything in memory. */
function newProvider() {
  const kept: Record<string, unknown> = {}
  const keep = (name: string) => (value: unknown) => {
    kept[name] = value
  }
  const provider = {
    kept,
    redirectUrl: REDIRECT,
    clientMetadata: {
      client_name: 'Test',
      redirect_uris: [REDIRECT],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    },
    clientInformation: () => kept.client as never,
    saveClientInformation: keep('client'),
    tokens: () => kept.tokens as never,
    saveTokens: keep('tokens'),
    redirectToAuthorization: keep('address'),
    saveCodeVerifier: keep('verifier'),
    codeVerifier: () => kept.verifier as string,
    discoveryState: () => kept.discovery as never,
    saveDiscoveryState: keep('discovery'),
  }
  return provider
}

/** What both generations have. */
interface Session {
  connect(): Promise<unknown>
  finish(answer: URLSearchParams): Promise<void>
  call(name: string, input?: Record<string, unknown>): Promise<{ structuredContent?: unknown; isError?: boolean }>
  tools(): Promise<string[]>
  close(): Promise<void>
}

type Provider = ReturnType<typeof newProvider>

function newer(provider: Provider): Session {
  const client = new Client({ name: 'test', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  const transport = () =>
    new StreamableHTTPClientTransport(url, { authProvider: provider as unknown as OAuthClientProvider })
  return {
    connect: () => client.connect(transport()),
    finish: (answer) => transport().finishAuth(answer),
    call: (name, input = {}) => client.callTool({ name, arguments: input }) as never,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  }
}

function older(provider: Provider): Session {
  const client = new OlderClient({ name: 'test', version: '1.0.0' })
  const transport = () => new OlderTransport(url, { authProvider: provider as never })
  return {
    connect: () => client.connect(transport() as Parameters<OlderClient['connect']>[0]),
    finish: (answer) => transport().finishAuth(answer.get('code') ?? ''),
    call: (name, input = {}) => client.callTool({ name, arguments: input }) as never,
    tools: async () => (await client.listTools()).tools.map(({ name }) => name),
    close: () => client.close(),
  }
}

describe.each([
  ['the official client', newer, true],
  // With a refresh token, it never asks its person for more.
  ['its older generation', older, false],
])('%s', (_, open, asksForMore) => {
  it('connects from nothing, calls, refreshes, may ask for more, and is disconnected', async () => {
    const provider = newProvider()
    const first = open(provider)
    await expect(first.connect()).rejects.toThrow()
    const address = provider.kept.address as URL
    expect(`${address.origin}${address.pathname}`).toBe(`${running.url}/authorize`)
    expect(address.searchParams.get('resource')).toBe(url.href)
    await first.finish((await consent(address)).searchParams)

    const session = open(provider)
    await session.connect()
    expect(await session.tools()).toEqual(expect.arrayContaining(['who_am_i', 'list_skills', 'load_skill']))
    expect(await session.tools()).not.toContain('list_pins')
    const me = await session.call('who_am_i')
    expect(me.structuredContent).toMatchObject({
      user: { id: running.demo.userId },
      apiKey: { kind: 'grant', scopes: ['skills:read'] },
    })

    // An access token that has expired is refreshed without the person.
    const { access_token: before } = provider.kept.tokens as { access_token: string }
    provider.kept.tokens = { ...(provider.kept.tokens as object), access_token: `${before}x` }
    expect((await session.call('list_skills')).isError ?? false).toBe(false)
    expect((provider.kept.tokens as { access_token: string }).access_token).not.toBe(before)

    // A scope is missing.
    await expect(session.call('list_pins')).rejects.toThrow()
    let last = session
    if (asksForMore) {
      const more = provider.kept.address as URL
      expect(more.searchParams.get('scope')?.split(' ')).toContain('pins')
      await session.finish((await consent(more, { bundles: ['skills', 'pins'] })).searchParams)
      last = open(provider)
      await last.connect()
      expect((await last.call('list_pins')).isError ?? false).toBe(false)
    }

    const headers = { Authorization: `Bearer ${running.demo.apiKey}` }
    const listed = await fetch(`${running.demo.baseUrl}/v1/api-keys?kind=grant`, { headers })
    const { items: all } = (await listed.json()) as { items: { id: string }[] }
    // The demo has one, too.
    const items = all.filter(({ id }) => id !== EXAMPLE_IDS.grantId)
    expect(items).toHaveLength(asksForMore ? 2 : 1)
    for (const { id } of items) {
      await fetch(`${running.demo.baseUrl}/v1/api-keys/${id}`, { method: 'DELETE', headers })
    }
    await expect(last.call('list_skills')).rejects.toThrow()
    await session.close()
    await last.close()
  })
})

describe('the conformance suite', () => {
  it.each(['2025-06-18', '2025-11-25', '2026-07-28'])('passes for the authorization server of %s', async (version) => {
    const port = await freePort()
    const registered = await fetch(`${running.url}/oauth/register`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({
        ...newProvider().clientMetadata,
        redirect_uris: [`http://127.0.0.1:${port}/callback`],
      }),
    })
    const { client_id } = (await registered.json()) as { client_id: string }
    const output = newFolder()
    const args = ['--url', running.url, '--client-id', client_id, '--resource', url.href, '-p', String(port)]
    const suite = spawn(process.execPath, [COMMAND, 'authorization', ...args, '--spec-version', version, '-o', output])
    let printed = ''
    suite.stdout.on('data', async (text) => {
      printed += text
      const [address] = /http:\S+\/authorize\?\S+(?=\s)/.exec(printed) ?? []
      if (address === undefined) return
      printed = ''
      await fetch(await consent(new URL(address)))
    })
    await new Promise((resolve) => suite.on('close', resolve))
    const checks = readdirSync(output).flatMap((folder) => {
      const found: { id: string; status: string }[] = JSON.parse(
        readFileSync(join(output, folder, 'checks.json'), 'utf8'),
      )
      return found.map(({ id, status }) => `${id} ${status}`)
    })
    rmSync(output, { recursive: true })
    expect(checks).toEqual(
      expect.arrayContaining(['authorization-server-metadata SUCCESS', 'authorization-code-grant SUCCESS']),
    )
    expect(checks.filter((check) => !check.endsWith(' SUCCESS'))).toEqual([])
  })
})
