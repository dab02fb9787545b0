import { getTableColumns, getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { afterEach, describe, expect, it, vi } from 'vitest'
import guide from '../../../docs/events.md?raw'
import { EVENT_TYPES, resourceOf } from '../../../src/access/event-types.ts'
import * as schema from '../../../src/db/schema.ts'
import { loadOperations } from '../../../src/operations.ts'
import { request } from '../../support/api.ts'
import { databaseWith, failingDatabase } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { type ApiEvent, eventsOf, summariesOf, summaryOf } from '../../support/events.ts'
import { type Example, exampleList, type Row, send, successOf, type Variation } from '../../support/examples.ts'
import { sized } from '../../support/long-form.ts'
import { Workspace } from '../../support/workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

/** The renewal of a claim changes nothing that others see, and a preview nothing at all. */
const UNRECORDED = ['renewRun', 'previewSignIn']
/** A lease only gives values away, and a test only sends something. The table of pictures notes uploads that are under way. */
const CHANGES_NO_TABLE = ['leaseEnvironmentVariables', 'testEventEndpoint', 'putProfilePicture', 'deleteProfilePicture']

const recorded = exampleList.filter(({ row }) => row.events)
const AS_IT_IS: Variation = { apply: async (_, example) => example }

/** The example as it is, and with each variation after which it still succeeds. */
function situationsOf({ variations }: Row): [name: string, variation: Variation][] {
  return [
    ['as it is', AS_IT_IS],
    ...Object.entries(variations).filter(([, { status = 200 }]) => status < 400 && status !== 304),
  ]
}

/** The example in this situation with a key whose use is recorded already. */
async function prepared(row: Row, { apply }: Variation) {
  const workspace = await Workspace.create()
  const example = await apply(workspace, await row.prepare(workspace))
  const { id: keyId, token } = await workspace.addKeyWithId(example.keyOptions)
  await request('GET', '/v1/me', { key: token })
  return { workspace, example, keyId, token }
}

/** The events that `act` adds, in order. */
async function eventsSince(workspace: Workspace, act: () => Promise<unknown>): Promise<ApiEvent[]> {
  const before = (await eventsOf(workspace)).length
  await act()
  return (await eventsOf(workspace)).slice(before)
}

interface Sent {
  readonly workspace: Workspace
  readonly example: Example
  readonly keyId: string
}

/** The events of a request, as the row of its operation says. */
function expectedEvents(
  row: Row,
  variation: Variation,
  { workspace, example, keyId }: Sent,
  created: string,
  requestId: unknown,
) {
  const { userId = workspace.userId } = example.keyOptions ?? {}
  const events = (variation.events ?? row.events)?.(example, { created, keyId }) ?? []
  return events.map(({ type, path, id, name = null, projectId = null, isByService }) => ({
    id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
    type,
    resource: {
      type: resourceOf(type),
      id: id ?? (typeof path === 'string' ? path.slice(path.lastIndexOf('/') + 1) : expect.any(String)),
      path,
      name,
    },
    projectId,
    actor: isByService ? null : { apiKeyId: keyId, apiKeyName: 'test', userId },
    requestId,
    createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
  }))
}

describe('the table of events', () => {
  it('has every operation that changes something, and no other', async () => {
    const changing = (await loadOperations()).filter(({ contract }) => contract.method !== 'GET')
    expect(recorded.map(({ operationId }) => operationId).sort()).toEqual(
      changing
        .map(({ contract }) => contract.operationId)
        .filter((operationId) => !UNRECORDED.includes(operationId))
        .sort(),
    )
  })

  it('has every type', () => {
    const example: Example = { path: '/v1/a/b', ids: ['id'], projectIds: ['website'] }
    const types = recorded.flatMap(({ row }) =>
      situationsOf(row).flatMap(([, { events = row.events }]) =>
        (events?.(example, { created: 'new', keyId: 'key' }) ?? []).map(({ type }) => type),
      ),
    )
    // No operation records these: a sign-in (test/sign-in/), and apps (console/test/oauth-revocation.test.ts).
    const ofConsole = ['identity.created', 'invitation.accepted', 'api-key.app-connected']
    expect([...new Set(types), ...ofConsole].sort()).toEqual(Object.keys(EVENT_TYPES).sort())
  })
})

describe('docs/events.md', () => {
  it('lists every type with what it means, in order', () => {
    const rows = Array.from(guide.matchAll(/^\| `([a-z.-]+)` +\| (.*?) *\|$/gm), ([, type, meaning]) => [type, meaning])
    expect(rows).toEqual(Object.entries(EVENT_TYPES))
  })
})

/** test/counters.test.ts finds that a refusal writes nothing; test/access.test.ts, that no refused key does. */
describe.each(recorded)('the events of $operationId', ({ operationId, contract, row }) => {
  it.each(situationsOf(row))('are those of its change: %s', async (name, variation) => {
    const sent = await prepared(row, variation)
    let answer = await request('GET', '/v1/me', { key: sent.token })
    const events = await eventsSince(sent.workspace, async () => {
      answer = await send(operationId, sent.example, sent.token)
    })
    expect(answer.status).toBe(successOf(contract, [variation]))
    const created = answer.headers.get('Location')?.split('/').at(-1) ?? answer.body?.id
    const requestId = answer.headers.get('X-Request-Id')
    expect([name, events]).toEqual([name, expectedEvents(row, variation, sent, created, requestId)])
  })

  /** Each batch of the request fails in each way: once, and in the long form as often as it is attempted. */
  const failures = Array.from({ length: row.calls ?? 1 }, (_, index) => index + 1).flatMap((call) =>
    (['before', 'in', 'after'] as const).flatMap((when) => sized([1], [1, 3]).map((times) => ({ call, when, times }))),
  )
  it.each(failures)(
    'are there if and only if the change is, if D1 fails $when batch $call, $times times',
    async ({ call, when, times }) => {
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const sent = await prepared(row, AS_IT_IS)
      const { workspace, example, token } = sent
      const before = await rowsOf(workspace)
      const { DB, use } = databaseFailingIn(call, when, times)
      let answer = await request('GET', '/v1/me', { key: token })
      const events = await eventsSince(workspace, async () => {
        answer = await send(operationId, { ...example, environment: { ...example.environment, DB } }, token)
      })
      expect(use.failed).toBeGreaterThan(0)
      const after = await rowsOf(workspace)
      const isCommitted = use.committed >= (row.calls ?? 1)
      if (answer.status < 400) expect(isCommitted).toBe(true)
      if (!CHANGES_NO_TABLE.includes(operationId)) expect(isEqual(before, after)).toBe(!isCommitted)
      const found = events.map(({ type }) => type)
      const expected = expectedEvents(row, AS_IT_IS, sent, '', '').map(({ type }) => type)
      expect(found).toEqual(isCommitted ? expected : [])
      expect(new Set(events.map(({ requestId }) => requestId)).size).toBe(isCommitted ? 1 : 0)
    },
  )
})

/** What it does not change, or notes before the change. */
const BESIDE = ['auditEvents', 'orphanedObjects', 'profilePictures']
const TABLES = Object.values(schema)
  .filter((table) => is(table, SQLiteTable) && 'organizationId' in getTableColumns(table))
  .map((table) => getTableName(table as SQLiteTable))
  .filter((name) => !BESIDE.includes(name))

/** The rows of the organization, without the keys that the tests add. */
async function rowsOf(workspace: Workspace): Promise<string[]> {
  const tables = await workspace.dumpAll(TABLES)
  return tables.map((rows, index) => {
    const isReader = ({ scopes }: Record<string, unknown>) =>
      TABLES[index] === 'apiKeys' && scopes === '["audit-events:read"]'
    return JSON.stringify(rows.filter((each) => !isReader(each)).map((each) => ({ ...each, lastUsedAt: null })))
  })
}

const isEqual = (before: readonly string[], after: readonly string[]) =>
  before.every((rows, index) => rows === after[index])

/** A database whose batches fail, from this number on and so many: before, in or after their transaction. */
function databaseFailingIn(call: number, when: 'before' | 'in' | 'after', times: number) {
  const use = { calls: 0, failed: 0, committed: 0 }
  const DB = databaseWith(async (statements) => {
    const isFailing = ++use.calls >= call && use.failed < times
    if (isFailing) use.failed++
    if (isFailing && when === 'in') {
      const failing = env.DB.prepare('SELECT json(?)').bind('{')
      await expect(env.DB.batch([...statements, failing])).rejects.toThrow()
    }
    if (isFailing && when !== 'after') throw new Error('D1_ERROR: Network connection lost.')
    const results = await env.DB.batch(statements)
    use.committed++
    if (isFailing) throw new Error('D1_ERROR: Network connection lost.')
    return results
  })
  return { DB, use }
}

describe('events', () => {
  it('are not recorded if the database does not answer', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const workspace = await Workspace.create()
    const environment = { DB: failingDatabase(new Error('D1_ERROR: Network connection lost.')) }
    const key = await workspace.addKey()
    await request('PUT', '/v1/projects/website', { key, json: { name: 'Website' }, environment })
    expect(await eventsOf(workspace)).toEqual([])
  })

  it('have no value and no content of a request', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const secret = 'tr0ub4dor'
    const project = await workspace.addProject()
    const session = await workspace.addSession(project)
    const schedules = `/v1/projects/${project}/schedules`
    const changes: readonly [method: string, path: string, json: unknown][] = [
      ['PUT', `/v1/projects/${project}/environment-variables/TOKEN`, { value: secret }],
      ['POST', `/v1/projects/${project}/environment-variables`, { variables: [{ key: 'OTHER', value: secret }] }],
      ['POST', schedules, { cron: '@daily', timezone: 'UTC' }],
      [
        'PUT',
        `${schedules}/${crypto.randomUUID()}`,
        { cron: '@daily', timezone: 'UTC', payload: secret, note: secret },
      ],
      ['POST', '/v1/skills', { files: [{ filename: 'SKILL.md', content: entry('notes', secret) }], message: secret }],
      ['PUT', '/v1/run-endpoint', { url: `https://hooks.example.com/${secret}` }],
      ['PUT', `/v1/sessions/${session}/files?path=notes.md`, secret],
    ]
    for (const [method, path, json] of changes) {
      const { status } = await request(method, path, {
        key,
        ...(path.includes('files?') ? { body: secret, headers: { 'Content-Length': '9' } } : { json }),
      })
      expect([path, status < 300]).toEqual([path, true])
    }
    const rows = await workspace.dump('auditEvents')
    expect(rows).toHaveLength(changes.length)
    expect(JSON.stringify(rows)).not.toContain(secret)
    const { body: created } = await request('POST', '/v1/api-keys', { key, json: { name: 'a', scopes: [] } })
    expect(JSON.stringify(await workspace.dump('auditEvents'))).not.toContain(created.token)
  })

  it('are recorded for changes that revoke the API key that makes them', async () => {
    const workspace = await Workspace.create()
    const own = await workspace.addKeyWithId()
    await request('DELETE', `/v1/api-keys/${own.id}`, { key: own.token })
    const rotated = await workspace.addKeyWithId()
    const json = { overlapSeconds: 0 }
    await request('POST', `/v1/api-keys/${rotated.id}/rotate`, { key: rotated.token, json })
    const last = await workspace.addKeyWithId()
    await request('DELETE', `/v1/users/${workspace.userId}`, { key: last.token })
    const events = await eventsOf(workspace)
    expect(events.map(summaryOf).slice(0, 3)).toEqual([
      `api-key.revoked /v1/api-keys/${own.id}`,
      `api-key.rotated /v1/api-keys/${rotated.id}`,
      `user.deleted /v1/users/${workspace.userId}`,
    ])
    expect(events.map(({ actor }) => actor?.apiKeyId).slice(0, 2)).toEqual([own.id, rotated.id])
    const ofLast = events.slice(2)
    for (const { actor } of ofLast) expect(actor?.apiKeyId).toBe(last.id)
    expect(ofLast.map(summaryOf)).toContain(`api-key.revoked /v1/api-keys/${last.id}`)
  })

  it('are one for each API key that the deletion of a user revoked, with the request that revoked it', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const userId = await workspace.addUser()
    const revoked = [
      await workspace.addKeyWithId({ userId }),
      await workspace.addKeyWithId({ userId, projectIds: [] }),
      await workspace.addKeyWithId({ userId, expiresAt: '2020-01-01T00:00:00.000Z' }),
    ]
    const expiresAt = '2999-01-01T00:00:00.000Z'
    const session = await workspace.addKeyWithId({ userId, expiresAt, kind: 'session' })
    await workspace.addKeyWithId()
    const gone = await workspace.addKeyWithId({ userId })
    await workspace.revokeKey(gone.id)
    const { status, headers } = await request('DELETE', `/v1/users/${userId}`, { key: admin.token })
    expect(status).toBe(200)
    const events = await eventsOf(workspace)
    expect(events.map(summaryOf).sort()).toEqual(
      [
        `user.deleted /v1/users/${userId}`,
        `api-key.session-ended /v1/api-keys/${session.id}`,
        ...revoked.map(({ id }) => `api-key.revoked /v1/api-keys/${id}`),
      ].sort(),
    )
    for (const { actor, requestId } of events) {
      expect([actor?.apiKeyId, requestId]).toEqual([admin.id, headers.get('X-Request-Id')])
    }
    expect(new Set(events.map(({ id }) => id)).size).toBe(events.length)
  })

  it('are one for each descendant that the deletion of an API key revoked', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const stolen = await workspace.addKeyWithId()
    const child = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    const gone = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    await workspace.revokeKey(gone.id)
    const grandchild = await workspace.addKeyWithId({ createdByKeyId: gone.id })
    await workspace.addKeyWithId({ createdByKeyId: admin.id })
    const path = `/v1/api-keys/${stolen.id}?descendants=true`
    const { headers } = await request('DELETE', path, { key: admin.token })
    const events = await eventsOf(workspace)
    expect(events.map(summaryOf).sort()).toEqual(
      [stolen, child, grandchild].map(({ id }) => `api-key.revoked /v1/api-keys/${id}`).sort(),
    )
    for (const { actor, requestId } of events) {
      expect([actor?.apiKeyId, requestId]).toEqual([admin.id, headers.get('X-Request-Id')])
    }
    expect((await request('DELETE', path, { key: admin.token })).status).toBe(200)
    expect(await eventsOf(workspace)).toHaveLength(3)
  })

  it('are one for a request that sets many variables, with the first of the names', async () => {
    const workspace = await Workspace.create()
    const project = await workspace.addProject()
    const variables = Array.from({ length: 100 }, (_, index) => ({ key: `THE_KEY_${index}`, value: 'x'.repeat(1000) }))
    const path = `/v1/projects/${project}/environment-variables`
    const { status } = await request('POST', path, { key: await workspace.addKey(), json: { variables } })
    expect(status).toBe(201)
    const events = await eventsOf(workspace)
    expect(events.map(summaryOf)).toEqual([`environment-variables.set ${path}`])
    const names = variables
      .map(({ key }) => key)
      .sort()
      .join(', ')
    expect(events[0]?.resource.name).toBe(`${names.slice(0, 1000)}…`)
  })

  it('are one for a PUT of a schedule that changes something, and none for its repetition', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const path = `/v1/agents/${await workspace.addAgent()}/schedules/${crypto.randomUUID()}`
    const put = async (json: object) => (await request('PUT', path, { key, json })).headers.get('X-Request-Id')
    const changes: (string | null)[] = []
    const bodies = [
      { cron: '@daily' },
      { cron: '@daily', payload: 'text' },
      { cron: '@daily', enabled: false },
      { cron: '@daily' },
    ]
    for (const json of bodies) {
      changes.push(await put(json))
      await put(json)
      await put({ runAt: '2020-01-01T00:00:00Z' })
    }
    const events = await eventsOf(workspace)
    expect(events.map(({ requestId }) => requestId)).toEqual(changes)
    expect(events.map(summaryOf)).toEqual(
      ['created', 'updated', 'paused', 'resumed'].map((verb) => `schedule.${verb} ${path}`),
    )
  })

  it('are not recorded for a variable, a key or a pin that another request deletes first', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const project = await workspace.addProject()
    await workspace.addVariable(project, 'TOKEN')
    const path = `/v1/projects/${project}/environment-variables/TOKEN`
    const answers = await Promise.all(Array.from({ length: 10 }, () => request('DELETE', path, { key })))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await summariesOf(workspace)).toEqual([`environment-variable.deleted ${path}`])
  })
})

const entry = (name: string, text: string) => `---\nname: ${name}\ndescription: Writes notes.\n---\n${text}`
