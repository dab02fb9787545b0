import { afterEach, describe, expect, it, vi } from 'vitest'
import { apiKeys } from '../../src/db/schema.ts'
import { request } from '../support/api.ts'
import { databaseWith } from '../support/bindings.ts'
import { env } from '../support/env.ts'
import { tick } from '../support/tick.ts'
import { Workspace } from '../support/workspace.ts'

const DAY_MS = 86_400_000
const END = '2026-01-01T00:00:00.000Z'
const afterEnd = (days: number, ms = 0) => new Date(Date.parse(END) + days * DAY_MS + ms)
/** Every key that ended at `END` is removed by then. */
const LATER = afterEnd(31)

afterEach(() => {
  vi.restoreAllMocks()
})

const idsIn = async (workspace: Workspace) => (await workspace.dump('apiKeys')).map(({ id }) => id).sort()

/** The key that created each key. */
async function creatorsIn(workspace: Workspace) {
  return Object.fromEntries((await workspace.dump('apiKeys')).map(({ id, createdByKeyId }) => [id, createdByKeyId]))
}

/** Keys of which each created the next. @returns their IDs. */
async function chain(workspace: Workspace, length: number): Promise<string[]> {
  const ids: string[] = []
  for (let index = 0; index < length; index++) {
    const createdByKeyId = ids.at(-1)
    ids.push((await workspace.addKeyWithId({ ...(createdByKeyId && { createdByKeyId }) })).id)
  }
  return ids
}

const revoke = (workspace: Workspace, id = '') => workspace.change(apiKeys, id, { revokedAt: END })

describe('an API key that ended', () => {
  it('is removed after 30 days, a session after one day', async () => {
    const workspace = await Workspace.create()
    const live = [
      await workspace.addKeyWithId(),
      await workspace.addKeyWithId({ expiresAt: '2999-01-01T00:00:00.000Z' }),
    ]
    const revoked = await workspace.addKeyWithId({ expiresAt: '2999-01-01T00:00:00.000Z' })
    await revoke(workspace, revoked.id)
    const rotated = await workspace.addKeyWithId({ expiresAt: END })
    await workspace.change(apiKeys, rotated.id, { rotatedAt: '2025-12-31T00:00:00.000Z' })
    const keys = [revoked, rotated, await workspace.addKeyWithId({ expiresAt: END })]
    const sessions = [
      await workspace.addKeyWithId({ kind: 'session', expiresAt: END }),
      await workspace.addKeyWithId({ kind: 'session', expiresAt: '2026-01-01T09:00:00.000Z' }),
    ]
    await revoke(workspace, sessions[1]?.id)
    const leftBy = async (instant: Date, ...left: { id: string }[][]) => {
      await tick(env, instant)
      expect(await idsIn(workspace)).toEqual(
        left
          .flat()
          .map(({ id }) => id)
          .sort(),
      )
    }
    await leftBy(afterEnd(1, -1), live, keys, sessions)
    await leftBy(afterEnd(1), live, keys)
    await leftBy(afterEnd(30, -1), live, keys)
    await leftBy(afterEnd(30), live)
  })

  it('leaves its name in the audit events, and is unknown from then on', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKeyWithId()
    await request('PUT', '/v1/projects/website', { key: key.token, json: { name: 'Website' } })
    await revoke(workspace, key.id)
    const codeOf = async () => (await request('GET', '/v1/me', { key: key.token })).headers.get('Error-Code')
    expect(await codeOf()).toBe('api_key_revoked')
    await tick(env, LATER)
    expect(await codeOf()).toBe('api_key_invalid')
    const { body } = await request('GET', `/v1/audit-events?apiKeyId=${key.id}`, {
      key: await workspace.addKey(),
    })
    expect(body.items).toMatchObject([{ type: 'project.created', actor: { apiKeyId: key.id, apiKeyName: 'test' } }])
  })

  it('takes its feeds with it', async () => {
    const workspace = await Workspace.create()
    const ended = await workspace.addKeyWithId()
    const kept = await workspace.addSkillFeed((await workspace.addKeyWithId()).id)
    await workspace.addSkillFeed(ended.id)
    await revoke(workspace, ended.id)
    await tick(env, LATER)
    expect((await workspace.dump('skillFeeds')).map(({ id }) => id)).toEqual([kept])
  })

  it('prevents a second key for its Idempotency-Key until it is removed', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const create = () =>
      request('POST', '/v1/api-keys', {
        key,
        json: { name: 'laptop', scopes: [] },
        headers: { 'Idempotency-Key': 'laptop' },
      })
    const { body } = await create()
    await revoke(workspace, body.id)
    await tick(env, afterEnd(30, -1))
    expect((await create()).status).toBe(409)
    await tick(env, afterEnd(30))
    expect((await create()).status).toBe(201)
  })
})

describe('the keys that a removed key created', () => {
  it('become those of its creator, so that the deletion of descendants finds them', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKey()
    const ids = await chain(workspace, 6)
    const [root = '', second, third, fourth, fifth, last = ''] = ids
    for (const id of [second, third, fifth]) await revoke(workspace, id)
    await tick(env, LATER)
    expect(await creatorsIn(workspace)).toMatchObject({
      [root]: null,
      [String(fourth)]: root,
      [last]: fourth,
    })
    expect(await idsIn(workspace)).toHaveLength(4)
    const { body } = await request('DELETE', `/v1/api-keys/${root}?descendants=true`, { key: admin })
    expect(body).toEqual({ deleted: true, id: root, descendants: 2 })
  })

  it('become nobody’s if an operator created it', async () => {
    const workspace = await Workspace.create()
    const [root, child = ''] = await chain(workspace, 2)
    await revoke(workspace, root)
    await tick(env, LATER)
    expect(await creatorsIn(workspace)).toEqual({ [child]: null })
  })

  it('stay those of the organization, whatever IDs another has', async () => {
    const [one, other] = [await Workspace.create(), await Workspace.create()]
    const [root, ended] = await chain(one, 2)
    await revoke(one, ended)
    const theirs = await other.addKeyWithId({ createdByKeyId: String(ended) })
    await tick(env, LATER)
    expect(await idsIn(one)).toEqual([root])
    expect(await creatorsIn(other)).toEqual({ [theirs.id]: ended })
  })

  it('are passed on in pages', async () => {
    const workspace = await Workspace.create()
    const [root, ended] = await chain(workspace, 2)
    await env.DB.prepare(
      `INSERT INTO "apiKeys" ("organizationId", "id", "name", "hash", "scopes", "createdAt", "createdByKeyId")
       WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 2500)
       SELECT ?1, 'child-' || i, 'x', ?1 || i, '[]', ?2, ?3 FROM n`,
    )
      .bind(workspace.organizationId, END, String(ended))
      .run()
    await revoke(workspace, ended)
    await tick(env, LATER)
    const creators = Object.entries(await creatorsIn(workspace)).filter(([id]) => id.startsWith('child-'))
    expect(creators).toHaveLength(2500)
    expect(new Set(creators.map(([, creator]) => creator))).toEqual(new Set([root]))
    expect(await idsIn(workspace)).not.toContain(ended)
  })
})

describe('the removal', () => {
  /** A chain of eight keys, of which the first and the last are live. */
  async function withEnded() {
    const workspace = await Workspace.create()
    const ids = await chain(workspace, 8)
    for (const id of ids.slice(1, -1)) await revoke(workspace, id)
    return { workspace, expected: { [String(ids[0])]: null, [String(ids[7])]: ids[0] } }
  }

  it('has the same result if ticks run at the same time', async () => {
    const { workspace, expected } = await withEnded()
    await Promise.all([tick(env, LATER), tick(env, LATER), tick(env, LATER)])
    expect(await creatorsIn(workspace)).toEqual(expected)
  })

  it('has the same result if ticks are interrupted at any call', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    for (const when of ['before', 'after']) {
      const { workspace, expected } = await withEnded()
      for (let number = 1, calls = number; number <= calls; number++) {
        calls = 0
        const DB = databaseWith(async (statements) => {
          const isInterrupted = ++calls >= number
          if (isInterrupted && when === 'before') throw new Error('D1_ERROR: Network connection lost.')
          const results = await env.DB.batch(statements)
          if (isInterrupted) throw new Error('D1_ERROR: Network connection lost.')
          return results
        })
        await tick({ ...env, DB }, LATER)
      }
      await tick(env, LATER)
      expect(await creatorsIn(workspace)).toEqual(expected)
    }
  })
})

describe('the rules and roles of an API key that ended', () => {
  it('count as made by its creator, and end with the descendants of that one', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const [root = '', middle = '', maker = ''] = await chain(workspace, 3)
    const rule = await workspace.addSignInRule({ createdByKeyId: maker })
    const identity = await workspace.addIdentity({ roleByKeyId: maker, ruleIds: null })
    await revoke(workspace, maker)
    await revoke(workspace, middle)
    await tick(env, afterEnd(30))
    expect(await idsIn(workspace)).not.toContain(maker)
    const { body } = await request('GET', `/v1/sign-in-rules/${rule}`, { key })
    expect(body.createdByKeyId).toBe(root)
    await request('DELETE', `/v1/api-keys/${root}?descendants=true`, { key })
    expect((await request('GET', `/v1/sign-in-rules/${rule}`, { key })).status).toBe(404)
    expect((await request('GET', `/v1/identities/${identity}`, { key })).body.ruleIds).toEqual([])
  })

  it('have no maker once a first key of the organization is removed', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const [maker = ''] = await chain(workspace, 1)
    const rule = await workspace.addSignInRule({ createdByKeyId: maker })
    await revoke(workspace, maker)
    await tick(env, afterEnd(30))
    expect((await request('GET', `/v1/sign-in-rules/${rule}`, { key })).body.createdByKeyId).toBeNull()
  })
})
