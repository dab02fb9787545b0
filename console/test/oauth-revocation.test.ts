/** A key that is revoked ends its app at once, whatever KV has kept of it; and what a call costs. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { message, postMcp } from '../../mcp/test/support/mcp.ts'
import { apiKeys } from '../../src/db/schema.ts'
import { request } from '../../test/support/api.ts'
import { failingDatabase, watchedDatabase } from '../../test/support/bindings.ts'
import { sized } from '../../test/support/long-form.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { Browser, call, connected, kv, newClient, redeem, refresh, send, type Tokens } from './support/oauth.ts'

/**
 * KV as its documentation allows it to be: each read may have any value that the key had since the test began.
 * @param draw a number from 0 to 3: how many changes ago.
 */
function staleKv(draw: () => number): KVNamespace {
  const values = new Map<string, (string | null)[]>()
  const remember = async (name: string) => {
    const known = values.get(name) ?? [await kv.get(name)]
    values.set(name, known)
    return known
  }
  return new Proxy(kv, {
    get(target, method: keyof KVNamespace) {
      if (method === 'get')
        return async (name: string, options?: { type?: string } | string) => {
          const known = await remember(name)
          const value = known.at(-1 - Math.min(draw(), known.length - 1)) ?? null
          const type = typeof options === 'object' ? options.type : options
          return value !== null && type === 'json' ? JSON.parse(value) : value
        }
      if (method === 'put')
        return async (name: string, value: string, options?: KVNamespacePutOptions) => {
          const known = await remember(name)
          known.push(value)
          await target.put(name, value, options)
        }
      if (method === 'delete')
        return async (name: string) => {
          const known = await remember(name)
          known.push(null)
          await target.delete(name)
        }
      return (target[method] as (...args: unknown[]) => unknown).bind(target)
    },
  })
}

/** The ways in which an app loses its key. */
const ENDS: Readonly<Record<string, (person: Person, grantId: string) => Promise<{ status: number }>>> = {
  'the app is disconnected': ({ key }, grantId) => request('DELETE', `/v1/me/apps/${grantId}`, { key }),
  'the key of the app is deleted': ({ key }, grantId) => request('DELETE', `/v1/api-keys/${grantId}`, { key }),
  'the key that the person signed in with is deleted': ({ key }) => request('DELETE', '/v1/me/api-key', { key }),
  'that key is rotated at once': ({ key, keyId }) =>
    request('POST', `/v1/api-keys/${keyId}/rotate`, { key, json: { overlapSeconds: 0 } }),
  'the user is deleted': ({ key, workspace }) => request('DELETE', `/v1/users/${workspace.userId}`, { key }),
}

interface Person {
  readonly workspace: Workspace
  readonly key: string
  readonly keyId: string
  readonly browser: Browser
}

async function newPerson(): Promise<Person> {
  const workspace = await Workspace.create()
  const { token: key, id: keyId } = await workspace.addKeyWithId()
  return { workspace, key, keyId, browser: await Browser.of(key) }
}

const grantOf = async ({ workspace }: Person) =>
  String((await workspace.dump('apiKeys')).find(({ kind }) => kind === 'grant')?.id)

describe.each(Object.entries(ENDS))('when %s', (_, end) => {
  it('the next call is refused, and so is the next refresh', async () => {
    const person = await newPerson()
    const { client, tokens } = await connected(person.browser)
    expect((await call(tokens.access_token)).status).toBe(200)
    expect((await end(person, await grantOf(person))).status).toBeLessThan(300)
    const refused = await call(tokens.access_token)
    expect([refused.status, refused.headers.get('Error-Code')]).toEqual([401, expect.stringMatching(/^api_key_/)])
    const again = await refresh(client, tokens.refresh_token)
    expect([again.status, await again.json()]).toMatchObject([400, { error: 'invalid_grant' }])
    const types = (await person.workspace.dump('auditEvents')).map(({ type }) => type)
    for (const type of ['api-key.app-connected', 'api-key.app-disconnected']) {
      expect([type, types.filter((each) => each === type).length]).toEqual([type, 1])
    }
  })
})

type Action = 'refresh' | 'call' | 'redeem'
const actions = fc.array(
  fc.array(fc.record({ action: fc.constantFrom<Action>('refresh', 'call', 'redeem'), which: fc.nat(9) }), {
    minLength: 1,
    maxLength: 3,
  }),
  { maxLength: 6 },
)

it('in no order of refreshes, calls and stale reads does a call succeed after the end was acknowledged', async () => {
  let callsBefore = 0
  const property = fc.asyncProperty(
    actions,
    actions,
    fc.constantFrom(...Object.keys(ENDS)),
    fc.array(fc.nat(3), { minLength: 1, maxLength: 40 }),
    async (before, after, name, draws) => {
      let drawn = 0
      const setting = { kv: staleKv(() => draws[drawn++ % draws.length] ?? 0) }
      const person = await newPerson()
      const client = await newClient()
      const code = (await person.browser.connect(client)).get('code')
      const known: Tokens[] = [await (await redeem(client, code)).json<Tokens>()]
      const act = async ({ action, which }: { action: Action; which: number }): Promise<boolean> => {
        const tokens = known[which % known.length] as Tokens
        if (action === 'call') return (await call(tokens.access_token, 'who_am_i', {}, setting)).status === 200
        const response =
          action === 'redeem'
            ? await redeem(client, code, {}, setting)
            : await refresh(client, tokens.refresh_token, {}, setting)
        if (response.ok) known.push(await response.json<Tokens>())
        return response.ok
      }
      for (const together of before) callsBefore += (await Promise.all(together.map(act))).filter(Boolean).length
      const ended = await ENDS[name]?.(person, await grantOf(person))
      expect(ended?.status).toBeLessThan(300)
      for (const together of after) expect(await Promise.all(together.map(act))).toEqual(together.map(() => false))
      // Each token that was ever issued, with the latest state of the store and with an older one.
      for (const { access_token, refresh_token } of known) {
        for (const each of [setting, {}]) {
          expect((await call(access_token, 'who_am_i', {}, each)).status).toBe(401)
          expect((await refresh(client, refresh_token, {}, each)).ok).toBe(false)
        }
      }
    },
  )
  await fc.assert(property, { numRuns: sized(25, 300) })
  // Otherwise the test would prove nothing.
  expect(callsBefore).toBeGreaterThan(10)
})

describe('a call', () => {
  /** The store, with a count of its calls. */
  function countedKv() {
    const calls: string[] = []
    const store = new Proxy(kv, {
      get:
        (target, method: keyof KVNamespace) =>
        (...args: unknown[]) => {
          calls.push(method)
          return (target[method] as (...args: unknown[]) => unknown).apply(target, args)
        },
    })
    return { calls, store }
  }

  it('costs one read of KV more with an access token, and none with an API key', async () => {
    const person = await newPerson()
    const { tokens } = await connected(person.browser)
    const costs: unknown[] = []
    for (const credential of [person.key, tokens.access_token]) {
      await call(credential)
      const { calls, store } = countedKv()
      const use = watchedDatabase()
      expect((await call(credential, 'list_skills', {}, { kv: store, environment: { DB: use.DB } })).status).toBe(200)
      costs.push({ kv: calls, calls: use.calls, read: use.rowsRead, written: use.rowsWritten })
    }
    const plain = watchedDatabase()
    const sent = { key: person.key, environment: { DB: plain.DB } }
    await postMcp(message('tools/call', { name: 'list_skills', arguments: {} }), sent)
    const cost = { calls: plain.calls, read: plain.rowsRead, written: plain.rowsWritten }
    expect(cost.calls).toBe(1)
    expect(costs).toEqual([
      { kv: [], ...cost },
      { kv: ['get'], ...cost },
    ])
  })

  it('of the authorization server asks the database once', async () => {
    const person = await newPerson()
    const client = await newClient()
    const code = (await person.browser.connect(client)).get('code')
    const use = watchedDatabase()
    const setting = { environment: { DB: use.DB } }
    const tokens = await (await redeem(client, code, {}, setting)).json<Tokens>()
    // The second one, after the response, records that the key was used.
    expect(use.calls).toBe(2)
    expect((await refresh(client, tokens.refresh_token, {}, setting)).status).toBe(200)
    expect(use.calls).toBe(3)
  })

  it('gets 503 while the store cannot be read, and keeps its grant', async () => {
    const person = await newPerson()
    const { client, tokens } = await connected(person.browser)
    const broken = new Proxy(kv, { get: () => () => Promise.reject(new Error('KV GET failed: 500')) })
    const failed = await call(tokens.access_token, 'who_am_i', {}, { kv: broken })
    expect([failed.status, failed.headers.get('Error-Code')]).toEqual([503, 'unavailable'])
    const environment = { DB: failingDatabase(new Error('D1_ERROR: D1 DB is overloaded.')) }
    const unavailable = await refresh(client, tokens.refresh_token, {}, { environment })
    expect(unavailable.status).toBe(503)
    expect((await refresh(client, tokens.refresh_token)).status).toBe(200)
  })

  it('gets 503 while its key is over its rate limit, and keeps its grant', async () => {
    const person = await newPerson()
    const { client, tokens } = await connected(person.browser)
    const KEY_RATE_LIMIT = { limit: async () => ({ success: false }) } as RateLimit
    const limited = { environment: { RATE_LIMIT: 'on', KEY_RATE_LIMIT } }
    const refused = await refresh(client, tokens.refresh_token, {}, limited)
    expect([refused.status, await refused.json()]).toMatchObject([503, { error: 'temporarily_unavailable' }])
    expect((await refresh(client, tokens.refresh_token)).status).toBe(200)
  })

  it('is refused while the organization is suspended, and works again afterwards', async () => {
    const person = await newPerson()
    const { client, tokens } = await connected(person.browser)
    const id = await grantOf(person)
    await person.workspace.change(apiKeys, id, { suspendedAt: new Date().toISOString() })
    expect((await call(tokens.access_token)).status).toBe(401)
    expect((await refresh(client, tokens.refresh_token)).status).toBe(503)
    await person.workspace.change(apiKeys, id, { suspendedAt: null })
    expect((await call(tokens.access_token)).status).toBe(200)
    expect((await refresh(client, tokens.refresh_token)).status).toBe(200)
  })
})

it('the page of the console answers at /authorize', async () => {
  const page = await send('/authorize?client_id=x')
  expect([page.status, page.headers.get('Content-Type')]).toEqual([200, 'text/html; charset=utf-8'])
})
