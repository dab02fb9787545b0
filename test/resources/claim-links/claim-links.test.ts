import { afterEach, describe, expect, it, vi } from 'vitest'
import { insertApiKey, mintApiKey } from '../../../operate/provisioning.ts'
import { SCOPES, type Scope } from '../../../src/access/scopes.ts'
import { bind } from '../../../src/db/statement.ts'
import worker from '../../../src/index.ts'
import { ORIGIN, PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase } from '../../support/bindings.ts'
import { databaseNumber, deployed, env } from '../../support/env.ts'
import { eventsOf } from '../../support/events.ts'
import { dumpStores } from '../../support/examples.ts'
import { write } from '../../support/set-up.ts'
import { newToken } from '../../support/tokens.ts'
import { Workspace } from '../../support/workspace.ts'

const HOUR_MS = 3_600_000

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

interface LinkOptions {
  readonly scopes?: readonly Scope[]
  /** The key acts as the workspace's user. */
  readonly isOfUser?: boolean
  readonly expiresAt?: string
}

/** A claim link, as `npm run deploy` and `npm run operate -- bootstrap --claim` make it. */
async function withLink({ scopes = SCOPES, isOfUser = false, expiresAt }: LinkOptions = {}) {
  const workspace = await Workspace.create()
  const now = Date.now()
  const { token, row } = await mintApiKey(
    {
      organizationId: workspace.organizationId,
      name: 'Claim link',
      scopes,
      createdAt: new Date(now).toISOString(),
      expiresAt: expiresAt ?? new Date(now + HOUR_MS).toISOString(),
      ...(isOfUser && { userId: workspace.userId }),
    },
    databaseNumber(),
    'wsc',
  )
  await write(bind(env.DB, insertApiKey, row))
  return { workspace, token, id: row.id, expiresAt: row.expiresAt }
}

const claim = (token: string, options: RequestOptions = {}) => request('POST', '/claim', { key: token, ...options })

const refusalOf = ({ status, headers, body }: Awaited<ReturnType<typeof claim>>) => [
  status,
  headers.get('Error-Code'),
  body.error,
]

/** The API keys of the organization that `POST /claim` made. */
const madeBy = async (workspace: Workspace, linkId: string) =>
  (await workspace.dump('apiKeys')).filter(({ createdByKeyId }) => createdByKeyId === linkId)

describe.each(['', PREFIX])('a claim link under "%s"', (basePath) => {
  it('gives an API key, once', async () => {
    const { workspace, token, id } = await withLink()
    const first = await request('POST', `${basePath}/claim`, { key: token })
    expect(first.status).toBe(200)
    const { apiKey, apiKeyId, ...rest } = first.body
    expect(rest).toEqual({ organizationId: workspace.organizationId, userId: null })
    expect(first.headers.get('Cache-Control')).toBe('no-store')
    expect(first.headers.get('Referrer-Policy')).toBe('no-referrer')
    const me = await request('GET', '/v1/me', { key: apiKey })
    expect([me.status, me.body.apiKey.id, me.body.apiKey.expiresAt]).toEqual([200, apiKeyId, null])
    expect([...me.body.apiKey.scopes].sort()).toEqual([...SCOPES].sort())

    const link = (await workspace.dump('apiKeys')).find((row) => row.id === id)
    const second = refusalOf(await request('POST', `${basePath}/claim`, { key: token }))
    expect(second.slice(0, 2)).toEqual([410, 'claim_link_used'])
    expect(second[2]).toContain(`was used at ${link?.rotatedAt}.`)
    expect(second[2]).toContain(`DELETE /v1/api-keys/${apiKeyId}?descendants=true`)
    expect(second[2]).toContain(
      `npm run operate -- bootstrap --organization-id ${workspace.organizationId} --service --remote`,
    )
    expect(await madeBy(workspace, id)).toHaveLength(1)
    expect((await request('GET', '/v1/me', { key: apiKey })).status).toBe(200)
  })

  it('says how to make another one at the same address', async () => {
    const { token } = await withLink({ expiresAt: new Date(Date.now() - HOUR_MS).toISOString() })
    const { body } = await request('POST', `${basePath}/claim`, { key: token })
    expect(body.error).toMatch(new RegExp(`--claim --url ${ORIGIN}${basePath}$`))
  })
})

describe('a claim link', () => {
  it('gives one key to requests at the same time', async () => {
    const { workspace, token, id } = await withLink()
    const answers = await Promise.all(Array.from({ length: 8 }, () => claim(token)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(410)])
    expect(await madeBy(workspace, id)).toHaveLength(1)
  })

  it('gives the scopes and the user that it was made for', async () => {
    const { workspace, token } = await withLink({ scopes: ['pins:read'], isOfUser: true })
    const { body } = await claim(token)
    expect(body.userId).toBe(workspace.userId)
    const { body: me } = await request('GET', '/v1/me', { key: body.apiKey })
    expect([me.apiKey.scopes, me.user.id]).toEqual([['pins:read'], workspace.userId])
  })

  it('works until its end', async () => {
    vi.useFakeTimers({ toFake: ['Date'] })
    const { workspace, token, id, expiresAt } = await withLink()
    vi.setSystemTime(Date.now() + HOUR_MS)
    const [status, code, message] = refusalOf(await claim(token))
    expect([status, code]).toEqual([410, 'claim_link_expired'])
    expect(message).toContain(`expired at ${expiresAt}`)
    expect(message).toContain(`--claim --url ${ORIGIN}`)
    expect(await madeBy(workspace, id)).toEqual([])
    vi.setSystemTime(Date.now() - 1)
    expect((await claim(token)).status).toBe(200)
  })

  it('ends when it is revoked, as an API key is', async () => {
    const { workspace, token, id } = await withLink()
    const key = await workspace.addKey({ userId: null })
    expect((await request('DELETE', `/v1/api-keys/${id}`, { key })).status).toBe(200)
    const [status, code, message] = refusalOf(await claim(token))
    expect([status, code]).toEqual([410, 'claim_link_expired'])
    expect(message).toContain('was revoked at ')
    expect(await madeBy(workspace, id)).toEqual([])
  })

  it('gives no key while the organization is suspended', async () => {
    const { workspace, token, id } = await withLink()
    await write(
      env.DB.prepare(`INSERT INTO "halts" ("organizationId", "kind") VALUES (?, 'suspended')`).bind(
        workspace.organizationId,
      ),
    )
    expect(refusalOf(await claim(token)).slice(0, 2)).toEqual([503, 'unavailable'])
    expect(await madeBy(workspace, id)).toEqual([])
    await write(env.DB.prepare('DELETE FROM "halts" WHERE "organizationId" = ?').bind(workspace.organizationId))
    expect((await claim(token)).status).toBe(200)
  })

  it('ends when its organization moves to another database', async () => {
    const { workspace, token } = await withLink()
    await write(
      env.DB.prepare('UPDATE "apiKeys" SET "movedTo" = 1 WHERE "organizationId" = ?').bind(workspace.organizationId),
    )
    const [status, code, message] = refusalOf(await claim(token))
    expect([status, code]).toEqual([410, 'claim_link_expired'])
    expect(message).toContain('its organization moved to another database')
  })

  it('stays usable if the database fails', async () => {
    const { token } = await withLink()
    const DB = failingDatabase(new Error('D1_ERROR: Network connection lost.'))
    expect((await claim(token, { environment: { DB } })).status).toBe(503)
    expect((await claim(token)).status).toBe(200)
  })

  it('ends its key with itself, if it is revoked with its descendants', async () => {
    const { workspace, token, id } = await withLink()
    const { body } = await claim(token)
    const key = await workspace.addKey({ userId: null })
    expect((await request('DELETE', `/v1/api-keys/${id}?descendants=true`, { key })).status).toBe(200)
    expect((await request('GET', '/v1/me', { key: body.apiKey })).status).toBe(401)
  })

  it('records an event of its key', async () => {
    const { workspace, token, id } = await withLink()
    const { body } = await claim(token)
    const [event] = (await eventsOf(workspace)).slice(-1)
    expect(event).toMatchObject({ type: 'api-key.created', resource: { path: `/v1/api-keys/${body.apiKeyId}` } })
    expect(event?.actor).toMatchObject({ apiKeyId: id })
  })

  it('is used by neither GET, HEAD nor OPTIONS', async () => {
    const { workspace, token, id } = await withLink()
    for (const method of ['GET', 'HEAD', 'OPTIONS']) {
      const headers = { Authorization: `Bearer ${token}` }
      const sent = new Request(`${ORIGIN}/claim`, { method, headers })
      const context = { waitUntil: () => undefined, passThroughOnException: () => undefined, props: {} }
      const response = await worker.fetch(sent, deployed(env), context as never)
      expect([method, response.status]).toEqual([method, method === 'OPTIONS' ? 405 : 200])
      expect(response.headers.get('Cache-Control')).toBe('no-store')
    }
    expect(await madeBy(workspace, id)).toEqual([])
  })

  it('is in no log and no row, and neither is its key', async () => {
    const logs = [vi.spyOn(console, 'log'), vi.spyOn(console, 'error')].map((log) => log.mockImplementation(() => {}))
    const { token } = await withLink()
    const { body } = await claim(token, { environment: { REQUEST_LOG: 'on' } })
    await claim(token, { environment: { REQUEST_LOG: 'on' } })
    const written = JSON.stringify([logs.map(({ mock }) => mock.calls), await dumpStores()])
    expect(written).toContain('claim_link_used')
    for (const secret of [token, String(body.apiKey)]) {
      expect(written).not.toContain(secret.slice(secret.indexOf('_') + 1, -6))
    }
  })
})

describe('the token of a claim link', () => {
  it('is no API key', async () => {
    const { token } = await withLink()
    const { status, headers } = await request('GET', '/v1/me', { key: token })
    expect([status, headers.get('Error-Code')]).toEqual([401, 'api_key_invalid'])
    expect((await claim(token)).status).toBe(200)
  })

  it('is refused in one way if it is unknown, malformed, missing or another token', async () => {
    const { workspace, token } = await withLink()
    const wrong = [newToken('wsc'), `${token}x`, token.slice(0, -1), '', newToken('wsf'), await workspace.addKey()]
    const answers = []
    for (const each of wrong) answers.push(refusalOf(await claim(each)))
    answers.push(refusalOf(await request('POST', '/claim', { json: { token } })))
    expect(new Set(answers.map((each) => JSON.stringify(each))).size).toBe(1)
    expect(answers[0]).toEqual([404, 'claim_link_not_found', 'There is no such claim link.'])
    expect((await claim(token)).status).toBe(200)
  })

  it('can be tried 60 times in a minute from an address', async () => {
    const { token } = await withLink()
    const counted: string[] = []
    const limit = async ({ key }: RateLimitOptions) => ({ success: counted.push(key) <= 60 })
    const environment = { RATE_LIMIT: 'on', REFUSAL_RATE_LIMIT: { limit } as RateLimit }
    const options = { environment, headers: { 'CF-Connecting-IP': '192.0.2.7' } }
    for (let count = 0; count < 60; count++) expect((await claim(newToken('wsc'), options)).status).toBe(404)
    expect((await claim(token, options)).status).toBe(429)
    expect(new Set(counted)).toEqual(new Set(['claim 192.0.2.7']))
  })
})
