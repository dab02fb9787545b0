import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { localDatabaseFile, openLocalFile } from '../../../operate/database.ts'
import { type Console, startConsole } from '../console.ts'

let running: Console

beforeAll(async () => {
  running = await startConsole()
})
afterAll(() => running.stop())

/** What a page of the console sends, with a cookie if there is a session. */
function send(path: string, { cookie, headers, ...init }: RequestInit & { cookie?: string | undefined } = {}) {
  return fetch(`${running.url}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { 'Sec-Fetch-Site': 'same-origin', ...(cookie && { Cookie: cookie }), ...headers },
  })
}

function signIn(apiKey: unknown, headers: HeadersInit = {}) {
  return send('/session', { method: 'POST', body: JSON.stringify({ apiKey }), headers })
}

/** @returns the cookie of a new session. */
async function session(apiKey = running.demo.apiKey): Promise<string> {
  const [cookie = ''] = (await signIn(apiKey)).headers.getSetCookie()
  return cookie.split(';')[0] ?? ''
}

const tokenOf = (cookie: string) => cookie.replace('__Host-session=', '')

/** A request to the API itself. */
function api(path: string, token: string, init: RequestInit = {}) {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' }
  return fetch(`${running.demo.baseUrl}${path}`, { ...init, headers })
}

describe('sign-in', () => {
  it('makes a session key in a cookie that no script reads and no other site sends', async () => {
    const response = await signIn(running.demo.apiKey)
    expect(response.status).toBe(204)
    expect(await response.text()).toBe('')
    const [cookie = '', ...others] = response.headers.getSetCookie()
    expect(others).toEqual([])
    expect(cookie).toMatch(/^__Host-session=wsk_[\w-]+; Path=\/; Expires=[^;]+; HttpOnly; Secure; SameSite=Strict$/)
    const me = await (await api('/v1/me', tokenOf(cookie.split(';')[0] ?? ''))).json()
    expect(me).toMatchObject({ user: { id: running.demo.userId }, apiKey: { kind: 'session', name: 'demo' } })
    const lasts = Date.parse(/Expires=([^;]+)/.exec(cookie)?.[1] ?? '') - Date.now()
    expect(Math.abs(lasts - 12 * 3_600_000)).toBeLessThan(60_000)
  })

  it.each([
    ['an unknown key', 'wsk_IktcosBrZzZ5r5q8CnOS6OU6uNDdXahrg0FDhXDicM81tEmHu', 401, /API key/],
    ['another text', 'hello', 401, /API key/],
    ['text with a line break', 'wsk_\nX-Header: 1', 400, /^apiKey is not an API key/],
    ['no text', 5, 400, /^apiKey is not an API key/],
    ['nothing', undefined, 400, /^apiKey is not an API key/],
  ])('refuses %s, without a cookie', async (_, apiKey, status, error) => {
    const response = await signIn(apiKey)
    expect(response.status).toBe(status)
    expect(response.headers.getSetCookie()).toEqual([])
    expect(await response.json()).toEqual({ error: expect.stringMatching(error) })
  })

  it('refuses a body that is no JSON, or too long', async () => {
    expect((await send('/session', { method: 'POST', body: '{' })).status).toBe(400)
    expect((await signIn('w'.repeat(5000))).status).toBe(413)
  })
})

describe('/api', () => {
  it('calls the API with the token of the cookie, and with no other', async () => {
    const cookie = await session()
    const headers = { Authorization: `Bearer ${running.demo.otherOrganization.apiKey}` }
    const response = await send('/api/v1/me', { cookie, headers })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ organization: { name: 'Acme' }, apiKey: { kind: 'session' } })
    expect((await send('/api/v1/me', { headers })).status).toBe(401)
  })

  it('creates a key that outlives the session only with an API key that is entered for it', async () => {
    const cookie = await session()
    const body = JSON.stringify({ name: 'laptop', scopes: [], expiresAt: null })
    const headersOf = (apiKey: string) => ({ Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' })
    const create = (path: string, apiKey: string) =>
      send(path, { cookie, method: 'POST', body, headers: headersOf(apiKey) })
    const bySession = await create('/api/v1/api-keys', running.demo.apiKey)
    expect([bySession.status, bySession.headers.get('Error-Code')]).toEqual([403, 'exceeds_own_key'])
    const wrong = await create('/api/entered/v1/api-keys', 'wsk_IktcosBrZzZ5r5q8CnOS6OU6uNDdXahrg0FDhXDicM81tEmHu')
    expect([wrong.status, wrong.headers.getSetCookie()]).toEqual([401, []])
    expect((await create('/api/entered/v1/api-keys', '')).status).toBe(401)
    const created = await create('/api/entered/v1/api-keys', running.demo.apiKey)
    expect([created.status, await created.json()]).toMatchObject([201, { expiresAt: null }])
    // Nothing else takes an entered key.
    const others = await send('/api/entered/v1/projects', { cookie, headers: headersOf(running.demo.apiKey) })
    expect(others.status).toBe(404)
    const foreign = await send('/api/entered/v1/me', {
      headers: { ...headersOf(running.demo.apiKey), 'Sec-Fetch-Site': 'cross-site' },
    })
    expect(foreign.status).toBe(403)
  })

  it('passes the query, the body and the headers of the protocol, both ways', async () => {
    const cookie = await session()
    const put = await send('/api/v1/projects/console-test', {
      cookie,
      method: 'PUT',
      body: JSON.stringify({ name: 'Console' }),
      headers: { 'Content-Type': 'application/json', 'If-None-Match': '*' },
    })
    expect(put.status).toBe(201)
    const again = await send('/api/v1/projects/console-test', {
      cookie,
      method: 'PUT',
      body: '{"name":"x"}',
      headers: { 'Content-Type': 'application/json', 'If-None-Match': '*' },
    })
    expect([again.status, again.headers.get('Error-Code')]).toEqual([412, 'already_exists'])
    const found = await send('/api/v1/projects?query=Consol&limit=1', { cookie })
    expect(((await found.json()) as { items: { name: string }[] }).items.map(({ name }) => name)).toEqual(['Console'])
    expect(found.headers.get('X-Request-Id')).toMatch(/^[\w-]{36}$/)
  })

  it.each(['cross-site', 'same-site', 'none', undefined])('refuses what a browser says is %s', async (site) => {
    const cookie = await session()
    const headers = { Cookie: cookie, ...(site && { 'Sec-Fetch-Site': site }) }
    const paths = [
      ['/api/v1/me', 'GET'],
      ['/api/v1/projects/website', 'DELETE'],
      ['/api/render/v1/sessions/s/files/f/content', 'GET'],
      ['/api/picture/v1/users/u/profile-picture', 'GET'],
      ['/session', 'DELETE'],
      ['/session', 'POST'],
    ] as const
    for (const [path, method] of paths) {
      const response = await fetch(`${running.url}${path}`, { method, headers })
      expect([path, method, response.status, response.headers.getSetCookie()]).toEqual([path, method, 403, []])
    }
    expect((await send('/api/v1/me', { cookie })).status).toBe(200)
  })

  it('forwards nothing but the API under /v1', async () => {
    const cookie = await session()
    for (const path of [
      '/api',
      '/api/',
      '/api/health',
      '/api/mcp',
      '/api/docs',
      '/api/openapi.json',
      '/api/v1/../health',
    ]) {
      expect([path, (await send(path, { cookie })).status]).toEqual([path, 404])
    }
  })

  it('says with 204 that there is no picture, and passes pictures and other errors', async () => {
    const cookie = await session()
    const path = (userId: string) => `/api/picture/v1/users/${userId}/profile-picture`
    const picture = await send(path(running.demo.userId), { cookie })
    expect([picture.status, picture.headers.get('Content-Type')]).toEqual([200, 'image/png'])
    expect((await picture.arrayBuffer()).byteLength).toBeGreaterThan(0)
    // The list may still show somebody who was deleted.
    for (const userId of ['katherine', 'nobody']) {
      const none = await send(path(userId), { cookie })
      expect([none.status, await none.text()]).toEqual([204, ''])
    }
    expect((await send(path('x'.repeat(256)), { cookie })).status).toBe(400)
    expect((await send(path(running.demo.userId))).status).toBe(401)
    expect((await send(path(running.demo.userId), { cookie, method: 'DELETE' })).status).toBe(405)
    expect((await send('/api/picture/v1/me', { cookie })).status).toBe(404)
  })

  it('ends with the session: sign-out, a revoked session, a revoked key', async () => {
    const cookie = await session()
    const out = await send('/session', { cookie, method: 'DELETE' })
    expect(out.status).toBe(204)
    expect(out.headers.getSetCookie()).toEqual([
      expect.stringMatching(/^__Host-session=; Max-Age=0; Path=\/; HttpOnly; Secure/),
    ])
    expect((await api('/v1/me', tokenOf(cookie))).status).toBe(401)
    const refused = await send('/api/v1/me', { cookie })
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([401, 'api_key_revoked'])
    // The browser forgets a cookie that is worth nothing.
    expect(refused.headers.getSetCookie()).toEqual([expect.stringMatching(/^__Host-session=; Max-Age=0/)])
    expect((await send('/session', { cookie, method: 'DELETE' })).status).toBe(204)

    const created = await api('/v1/api-keys', running.demo.apiKey, {
      method: 'POST',
      body: JSON.stringify({ name: 'for a moment', scopes: ['projects:read'] }),
    })
    const { id, token } = (await created.json()) as { id: string; token: string }
    const other = await session(token)
    expect((await send('/api/v1/projects', { cookie: other })).status).toBe(200)
    expect((await api(`/v1/api-keys/${id}`, running.demo.apiKey, { method: 'DELETE' })).status).toBe(200)
    expect((await send('/api/v1/projects', { cookie: other })).status).toBe(401)
  })
})

it('keeps the cookie of a session that the service could not revoke, for another attempt', async () => {
  const cookie = await session()
  const database = openLocalFile(localDatabaseFile({ remote: false, persistTo: running.state }))
  database.exec(
    `CREATE TRIGGER "refusesRevocations" BEFORE UPDATE OF "revokedAt" ON "apiKeys" BEGIN SELECT raise(abort, 'no'); END`,
  )
  try {
    const out = await send('/session', { cookie, method: 'DELETE' })
    expect([out.status, out.headers.getSetCookie()]).toEqual([502, []])
    expect(await out.json()).toEqual({
      error: expect.stringMatching(/^You are still signed in, because the session could not be revoked: ./),
    })
    expect((await send('/api/v1/me', { cookie })).status).toBe(200)
  } finally {
    database.exec('DROP TRIGGER "refusesRevocations"')
    database.close()
  }
  const again = await send('/session', { cookie, method: 'DELETE' })
  expect([again.status, again.headers.getSetCookie()]).toEqual([204, [expect.stringMatching(/Max-Age=0/)]])
  expect((await send('/api/v1/me', { cookie })).status).toBe(401)
})

describe('the pages', () => {
  it.each(['/', '/schedules', '/sign-in', '/runs/x?y=z', '/people/users/grace@example.com'])(
    'are one file with a policy and a nonce of its own: %s',
    async (path) => {
      const [one, other] = [await send(path), await send(path)]
      const policy = one.headers.get('Content-Security-Policy') ?? ''
      const [, nonce = ''] = /script-src 'self' 'nonce-([\w-]{36})'/.exec(policy) ?? []
      const html = await one.text()
      expect(html).toContain(`nonce="${nonce}"`)
      expect(html).not.toContain('nonce-of-the-response')
      expect(other.headers.get('Content-Security-Policy')).not.toContain(nonce)
      for (const rule of ["default-src 'none'", "frame-ancestors 'none'", "require-trusted-types-for 'script'"]) {
        expect(policy).toContain(rule)
      }
      expect(policy).not.toMatch(/unsafe|https?:|\*/)
      expect(one.headers.get('Cache-Control')).toBe('no-store')
    },
  )

  it('have files whose names change with their content, for good', async () => {
    const html = await (await send('/')).text()
    const [, script = ''] = /src="(\/assets\/[^"]+\.js)"/.exec(html) ?? []
    const response = await send(script)
    expect(response.status).toBe(200)
    expect(response.headers.get('Content-Type')).toContain('javascript')
    expect(response.headers.get('Cache-Control')).toBe('public, max-age=31536000, immutable')
    const etag = response.headers.get('ETag') ?? ''
    const known = await send(script, { headers: { 'If-None-Match': etag } })
    expect([known.status, known.headers.get('Cache-Control')]).toEqual([304, 'public, max-age=31536000, immutable'])
    for (const path of ['/assets/missing.js', '/assets/missing', '/missing.svg']) {
      const missing = await send(path)
      expect([path, missing.headers.get('Cache-Control')]).toEqual([path, 'no-store'])
    }
    expect((await send('/assets/missing.js')).status).toBe(404)
    expect((await send('/icon.svg')).headers.get('Content-Type')).toContain('image/svg+xml')
  })

  it('load one script of at most 136 KB, which has the first page, and say whose it is', async () => {
    const html = await (await send('/')).text()
    const scripts = Array.from(
      html.matchAll(/(?:src|modulepreload" crossorigin href)="([^"]+)"/g),
      ([, path = '']) => path,
    )
    expect(scripts).toHaveLength(1)
    const script = Buffer.from(await (await send(scripts.join())).arrayBuffer())
    expect(script.includes('Needs attention')).toBe(true)
    expect(gzipSync(script).length).toBeLessThan(136_000)
    const licences = await (await send('/licenses.md')).text()
    for (const name of ['react-dom', '@tanstack/react-router', '@codemirror/view', 'lucide-react']) {
      expect(licences).toContain(name)
    }
  })

  it('have no other methods', async () => {
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) expect((await send('/', { method })).status).toBe(405)
  })

  it('name no token', async () => {
    const cookie = await session()
    for (const path of ['/', '/session', '/api/v1/me']) {
      expect(await (await send(path, { cookie })).text()).not.toContain(tokenOf(cookie))
    }
  })
})

describe('an HTML file of an agent', () => {
  it('is shown without scripts, without requests and in an origin of its own', async () => {
    const cookie = await session()
    const content = '<script>parent.stolen = document.cookie</script><h1>Report</h1>'
    const path = `/v1/sessions/${running.demo.sessionId}/files`
    const put = await api(`${path}?path=report.html`, running.demo.apiKey, { method: 'PUT', body: content })
    const { id } = (await put.json()) as { id: string }
    const response = await send(`/api/render${path}/${id}/content`, { cookie })
    expect(await response.text()).toBe(content)
    expect(response.headers.get('Content-Type')).toBe('text/html; charset=utf-8')
    expect(response.headers.get('Content-Security-Policy')).toBe(
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'self'",
    )
    const source = await send(`/api${path}/${id}/content`, { cookie })
    expect(source.headers.get('Content-Type')).toBe('application/octet-stream')
  })

  it('is read as UTF-8, also with the byte order mark of UTF-16', async () => {
    const cookie = await session()
    const content = Buffer.from('\ufeff<link rel="preconnect" href="https://elsewhere.example">', 'utf16le')
    const path = `/v1/sessions/${running.demo.sessionId}/files`
    const put = await api(`${path}?path=utf-16.html`, running.demo.apiKey, { method: 'PUT', body: content })
    const { id } = (await put.json()) as { id: string }
    const response = await send(`/api/render${path}/${id}/content`, { cookie })
    const bytes = Buffer.from(await response.arrayBuffer())
    expect([...bytes.subarray(0, 2)]).not.toEqual([0xff, 0xfe])
    expect(bytes.toString('utf8')).toMatch(/^\ufffd\ufffd/)
  })
})
