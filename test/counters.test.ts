import { describe, expect, it, vi } from 'vitest'
import { recordUse } from '../src/access/guard.ts'
import { request } from './support/api.ts'
import { watchedDatabase } from './support/bindings.ts'
import { stopClock } from './support/clock.ts'
import { env } from './support/env.ts'
import { ifMatchVariations } from './support/example.ts'
import {
  deadKeys,
  type Example,
  exampleList,
  impossibleKeys,
  insufficientKeys,
  keyFor,
  type Row,
  send,
  withIds,
} from './support/examples.ts'
import { isLong } from './support/long-form.ts'
import { inOneBatch } from './support/set-up.ts'
import { Workspace } from './support/workspace.ts'

const AS_IT_IS = 'as it is'

/** The example, after the variation and what it needs, and a key that succeeds. */
function prepared(row: Row, name = AS_IT_IS) {
  return inOneBatch(async () => {
    const workspace = await Workspace.create()
    const variation = row.variations[name]
    const needed = row.variations[variation?.needs ?? '']
    let example = await row.prepare(workspace)
    for (const each of [needed, variation]) if (each) example = await each.apply(workspace, example)
    return { workspace, example, key: await keyFor(workspace, example) }
  })
}

/** Uses the key, so that its next use within the hour is not recorded. */
async function used(key: string): Promise<string> {
  await send('retrieveSkill', { path: `/v1/skills/${crypto.randomUUID()}`, ids: [] }, key)
  return key
}

/** Sends the request and counts what it asks of the database. */
async function counted(operationId: string, example: Example, key: string | undefined) {
  // No two requests have the same time.
  vi.setSystemTime(Date.now() + 1)
  const use = watchedDatabase()
  const environment = { ...example.environment, DB: use.DB }
  const { status } = await send(operationId, { ...example, environment }, key)
  return { status, use }
}

stopClock()

/** A body and ids that are wrong. */
function spoiled(example: Example): Example {
  return {
    ...withIds(
      example,
      example.ids.map(() => '%00'),
    ),
    ...(example.json !== undefined && { json: {} }),
  }
}

/**
 * The rows that a success writes besides its events, one row each, by situation; none where none is listed. D1 counts
 * a new row once for itself and once for each of its indexes, a row that is changed once and once for each
 * index whose value changes, a deleted one once. What is added or removed of a resource that has a quota
 * changes the usage of the organization, which is one row more.
 */
const ROWS_WRITTEN: Record<string, Record<string, number>> = {
  updatePin: {
    [AS_IT_IS]: 1,
    'the resource is not pinned yet': 2,
    // The four pins that are spread again, and the move.
    'the gap is full': 5,
  },
  // The schedule with its two indexes.
  createProjectSchedule: { [AS_IT_IS]: 4, 'it has an Idempotency-Key': 5 },
  createAgentSchedule: { [AS_IT_IS]: 4, 'it has an Idempotency-Key': 5 },
  putProjectSchedule: { [AS_IT_IS]: 4, 'it exists already': 2, 'the request is repeated': 0 },
  putAgentSchedule: { [AS_IT_IS]: 4, 'it exists already': 2, 'the request is repeated': 0 },
  // The orphaned object with its index, and the picture.
  deleteProfilePicture: { [AS_IT_IS]: 3, 'an upload has failed': 3 },
  deleteEnvironmentVariable: { [AS_IT_IS]: 2 },
  // The key with its six indexes, as it expires, and one more for the Idempotency-Key.
  createApiKey: { [AS_IT_IS]: 7, 'it has an Idempotency-Key': 8 },
  // The session with its six indexes. The oldest leaves one of them, and has an event of its own.
  createApiKeySession: { [AS_IT_IS]: 7, 'the key has the most sessions allowed': 10 },
  deleteOwnApiKey: { [AS_IT_IS]: 2, 'the key is a session': 2 },
  // The key leaves the indexes of live keys.
  deleteOwnApp: { [AS_IT_IS]: 2, 'the key is a session': 2 },
  // Each descendant and each session has an event of its own.
  deleteApiKey: {
    [AS_IT_IS]: 2,
    'it includes a descendant': 4,
    // The rule and the role go to the key, and end.
    'it includes a descendant that made a rule and gave a role': 10,
    // The invitations go to the key, and end; the identity ends.
    'it includes a descendant that invited people': 10,
    'it has a session': 5,
  },
  // The successor, and the rotated key with the index by end.
  rotateApiKey: {
    [AS_IT_IS]: 9,
    'it has an Idempotency-Key': 10,
    'it has a session': 12,
    'it has a session, which ends at once': 12,
    'it has a feed of skills': 11,
  },
  putProject: { [AS_IT_IS]: 2, 'it is there': 1 },
  updateProject: { [AS_IT_IS]: 1, 'it is unarchived': 1 },
  // The deletion with its three indexes, and what is deleted; the usage changes twice.
  deleteProject: { [AS_IT_IS]: 7 },
  putAgent: { [AS_IT_IS]: 2, 'it is there': 1 },
  updateAgent: { [AS_IT_IS]: 1, 'it is unarchived': 1 },
  deleteAgent: { [AS_IT_IS]: 7 },
  // With its two indexes.
  putSession: { [AS_IT_IS]: 4, 'it is there': 1 },
  deleteSession: { [AS_IT_IS]: 7 },
  putPullRequest: { [AS_IT_IS]: 4, 'it is there': 1 },
  deletePullRequest: { [AS_IT_IS]: 7 },
  putUser: { [AS_IT_IS]: 2, 'it is there': 1 },
  // The key that is revoked has an event of its own.
  deleteUser: {
    [AS_IT_IS]: 7,
    'it has a key': 9,
    'it is a person who signed in': 8,
    'somebody is invited as this user': 8,
  },
  // With the index of creators. A key that ends leaves two indexes, and comes into one.
  createSignInRule: { [AS_IT_IS]: 2, 'it is restricted to a project': 2 },
  updateSignInRule: { [AS_IT_IS]: 2, 'it changes everything': 2, 'a person of the rule has a session': 4 },
  deleteSignInRule: { [AS_IT_IS]: 1, 'a person of the rule has a session': 3 },
  // With the index of creators. One that has expired is removed.
  createInvitation: {
    [AS_IT_IS]: 2,
    'it is restricted to a project': 2,
    'it names the user of the key': 2,
    'one for the address has expired': 3,
  },
  deleteInvitation: { [AS_IT_IS]: 1 },
  // With the index of those who gave a role.
  updateIdentity: {
    [AS_IT_IS]: 1,
    'the person gets a role': 2,
    'the rules decide again': 1,
    'the rules decide, and they did': 0,
    'the person may sign in again': 1,
    'the person has a session': 3,
  },
  deleteIdentity: { [AS_IT_IS]: 1, 'the person has a session': 3 },
  deleteOwnSessions: { [AS_IT_IS]: 2, 'the key is a session': 4 },
  // What is restored with its indexes, and the deletion; the usage changes twice.
  restoreDeletion: {
    [AS_IT_IS]: 6,
    // Its schedule, with the index of those that are due.
    'it was a project whose schedule is due': 6,
    'it was a pull request': 6,
    'it was a schedule of a project': 6,
    'it was a schedule of an agent': 6,
    'it was an agent': 4,
    'it was a user': 4,
    'it was a skill': 5,
  },
  // The deletion with the index of those to purge; the usage.
  purgeDeletion: { [AS_IT_IS]: 3 },
  putPin: { [AS_IT_IS]: 2 },
  deletePin: { [AS_IT_IS]: 1 },
  updateProjectSchedule: {
    [AS_IT_IS]: 2,
    'the schedule is paused': 1,
    'it is enabled, and it was': 0,
    'the schedule is resumed': 2,
  },
  deleteProjectSchedule: { [AS_IT_IS]: 7 },
  updateAgentSchedule: {
    [AS_IT_IS]: 2,
    'the schedule is paused': 1,
    'it is enabled, and it was': 0,
    'the schedule is resumed': 2,
  },
  deleteAgentSchedule: { [AS_IT_IS]: 7 },
  // The run with its two indexes and that of the runs to pull, or to check; when the schedule ran last; the
  // Idempotency-Key.
  createProjectScheduleRun: {
    [AS_IT_IS]: 5,
    'there is a run endpoint': 5,
    'it has an Idempotency-Key': 6,
  },
  createAgentScheduleRun: { [AS_IT_IS]: 5, 'there is a run endpoint': 5, 'it has an Idempotency-Key': 6 },
  acknowledgeRun: { [AS_IT_IS]: 1 },
  // Each run with the index of those to check.
  claimRuns: { [AS_IT_IS]: 2, 'it takes several': 4, 'it names a project': 2 },
  // The run with the indexes of the pending ones and of those to check.
  redeliverRun: { [AS_IT_IS]: 3, 'all attempts have failed': 3, 'the run was delivered': 3 },
  renewRun: { [AS_IT_IS]: 2 },
  completeRun: {
    [AS_IT_IS]: 1,
    'the run is claimed': 1,
    'it pauses the schedule': 2,
    'it names a session': 1,
  },
  // The endpoint with its primary key and the indexes of the keys that have encrypted its URL and its two secrets.
  createEventEndpoint: { [AS_IT_IS]: 5, 'it has every setting': 5 },
  // A column in an index is set, to the same value too.
  updateEventEndpoint: { [AS_IT_IS]: 1, 'it changes everything': 1, 'it disables the endpoint': 1 },
  rotateEventEndpoint: { [AS_IT_IS]: 2 },
  rewindEventEndpoint: { [AS_IT_IS]: 1, 'it names a place': 1 },
  deleteEventEndpoint: { [AS_IT_IS]: 1 },
  putRunEndpoint: { [AS_IT_IS]: 4, 'there is a run endpoint': 1 },
  deleteRunEndpoint: { [AS_IT_IS]: 1 },
  rotateRunEndpoint: { [AS_IT_IS]: 2 },
  // The orphaned object comes and goes (2 + 1); the file has four indexes; the object it replaces is orphaned.
  putSessionFile: { [AS_IT_IS]: 9, 'there is a file at the path': 8 },
  deleteSessionFile: { [AS_IT_IS]: 4 },
  // The archive comes to the orphans and goes (2 + 1); the version (2 + 1); the usage changes with the skill and with
  // each content (1 + 2).
  createSkill: { [AS_IT_IS]: 12, 'it has an Idempotency-Key': 13, 'it has a binary file': 15 },
  updateSkill: {
    [AS_IT_IS]: 11,
    'it gets other files': 14,
    'nothing differs': 0,
    // Its archive becomes an orphan (2); the version and a content with its usage.
    'a version is too many': 16,
  },
  publishSkillVersion: { [AS_IT_IS]: 2, 'it is the current version': 0 },
  deleteSkill: { [AS_IT_IS]: 7 },
  createSkillFeed: { [AS_IT_IS]: 3, 'it names a version': 3 },
  deleteSkillFeed: { [AS_IT_IS]: 1 },
  // The orphaned object comes and goes, the lease is taken and given back; the picture it replaces is orphaned.
  putProfilePicture: { [AS_IT_IS]: 7, 'there is a picture': 8 },
  putEnvironmentVariable: { [AS_IT_IS]: 4, 'it has a value': 2 },
  // Two variables.
  setEnvironmentVariables: { [AS_IT_IS]: 8, 'it sets one variable': 4, 'it has an Idempotency-Key': 10 },
}

describe.each(exampleList)('$operationId', ({ operationId, contract, row }) => {
  const names = [AS_IT_IS, ...Object.keys(row.variations)]
  const isRefused = (name: string) => (row.variations[name]?.status ?? 0) >= 400

  it.each(names.filter((name) => !isRefused(name)))('makes one call and writes its few rows: %s', async (name) => {
    const { example, key } = await prepared(row, name)
    const { status, use } = await counted(operationId, example, await used(key))
    expect(status).toBeLessThan(400)
    const calls = row.variations[name]?.calls ?? row.calls ?? 1
    const rows = ROWS_WRITTEN[operationId]
    const written = rows?.[name in ifMatchVariations ? AS_IT_IS : name] ?? 0
    const events = row.variations[name]?.events ?? row.events
    const eventRows = events?.(example, { created: '', keyId: '' }).length ?? 0
    expect([use.calls, use.rowsWritten]).toEqual([calls, written + eventRows])
  })

  it.each(names.filter(isRefused))('makes one call and writes nothing where it refuses: %s', async (name) => {
    const { workspace, example } = await prepared(row, name)
    const { status, use } = await counted(operationId, example, await used(await workspace.addKey()))
    expect([status, use.calls, use.rowsWritten]).toEqual([row.variations[name]?.status, 1, 0])
  })

  it('makes no call for an impossible key, and one call for each other that is refused', async () => {
    const { workspace, example } = await prepared(row)
    const found: [name: string, status: number, calls: number, rowsWritten: number][] = []
    const expected: typeof found = []
    const count = async (name: string, sent: Example, key: string | undefined) => {
      const { status, use } = await counted(operationId, sent, key)
      found.push([name, status, use.calls, use.rowsWritten])
    }
    for (const { name, mint } of impossibleKeys) {
      await count(name, example, await mint(workspace, contract, example))
      expected.push([name, 401, 0, 0])
    }
    for (const { name, mint } of deadKeys) {
      const key = await mint(workspace, contract, example)
      for (const sent of [example, withIds(example), spoiled(example)]) {
        await count(name, sent, key)
        expected.push([name, 401, 1, 0])
      }
    }
    for (const { name, mint, status } of insufficientKeys) {
      const refusal = status(contract, row)
      const isTried = expected.some(([, tried]) => tried === refusal)
      if (refusal === undefined || (isTried && !isLong)) continue
      await count(name, example, await used((await mint(workspace, contract, example)) ?? ''))
      expected.push([name, refusal, 1, 0])
    }
    expect(found).toEqual(expected)
  })

  it('makes one call for input that is wrong, and for ids that nobody has', async () => {
    const { workspace, example } = await prepared(row)
    const key = await used(await workspace.addKey())
    for (const sent of example.ids.length > 0 ? [withIds(example), spoiled(example)] : []) {
      const { status, use } = await counted(operationId, sent, key)
      expect(status).toBe(sent.ids.includes('%00') ? 400 : 404)
      expect([use.calls, use.rowsWritten]).toEqual([1, 0])
    }
  })

  it('makes a second call, after the answer, for the first use of a key within the hour', async () => {
    const { workspace, example } = await prepared(row)
    const key = await workspace.addKey()
    const first = await counted(operationId, withIds(example), key)
    const second = await counted(operationId, withIds(example), key)
    const uses = first.use.statements.filter(({ sql }) => sql === recordUse.sql)
    // A request that names nothing is done.
    const calls = example.ids.length === 0 ? (row.calls ?? 1) : 1
    expect(first.use.calls).toBe(calls + (row.looksUpFirst ? 2 : 1))
    expect(uses.map(({ rowsWritten }) => rowsWritten)).toEqual([1])
    expect(second.use.calls).toBe(1)
  })
})

describe('the rows that are read', () => {
  it('are one for each item of a list, and one more for what is pinned', async () => {
    const workspace = await Workspace.create()
    const projectIds = [await workspace.addProject(), await workspace.addProject()]
    const sessions: string[] = []
    for (let index = 0; index < ITEMS; index++) {
      const projectId = projectIds[index % 2] ?? ''
      await workspace.addPullRequest(projectId)
      const session = await workspace.addSession(projectId)
      await workspace.pin('session', session)
      sessions.push(session)
    }
    const key = await used(await workspace.addKey())
    const restricted = await used(await workspace.addKey({ projectIds }))
    const placement = { target: { type: 'session', id: sessions.at(-1) }, position: 'before' }
    const pin = { path: `/v1/pins/session/${sessions[0]}`, json: { placement } }
    const sent: [operationId: string, limit: number, example: Omit<Example, 'ids'>, key: string][] = [
      // One is the look whether a project was ever deleted, because the page is not full.
      ['listSessions', ITEMS + 4, { path: '/v1/sessions' }, key],
      ['listPullRequests', ITEMS + 4, { path: '/v1/pull-requests' }, key],
      ['listSessions', ITEMS + 4, { path: '/v1/sessions?order=-createdAt' }, key],
      ['listPullRequests', ITEMS + 4, { path: '/v1/pull-requests?order=-createdAt' }, key],
      // The project has half of them.
      ['listSessions', ITEMS / 2 + 6, { path: `/v1/sessions?projectId=${projectIds[0]}` }, key],
      ['listPullRequests', ITEMS / 2 + 6, { path: `/v1/pull-requests?projectId=${projectIds[0]}` }, key],
      ['listPins', 2 * ITEMS + 3, { path: '/v1/pins?expand=resource' }, key],
      // The list of its projects is read once, and not for each pin.
      ['listPins', 2 * ITEMS + 6, { path: '/v1/pins' }, restricted],
      // One is the look for event endpoints.
      ['updatePin', ITEMS + 22, pin, key],
      // It is there already.
      ['updatePin', ITEMS + 21, pin, key],
    ]
    // The runs that are not pending are not read.
    const scheduleId = await workspace.addSchedule('project', await workspace.addProject())
    for (let index = 0; index < ITEMS; index++) {
      const scheduledAt = new Date(Date.now() - index * 1000).toISOString()
      await workspace.addRun(scheduleId, { scheduledAt, status: index < 2 ? 'pending' : 'delivered' })
    }
    sent.push(['listRuns', 12, { path: '/v1/runs?status=pending' }, key])
    for (const [operationId, limit, example, sender] of sent) {
      const { status, use } = await counted(operationId, { ...example, ids: [] }, sender)
      expect([operationId, status, use.calls]).toEqual([operationId, 200, 1])
      expect(use.rowsRead, operationId).toBeLessThanOrEqual(limit)
    }
  })
})

describe('the rows that are read of a session', () => {
  it('are as few if its project is deleted, however many projects there are', async () => {
    const workspace = await Workspace.create()
    const key = await used(await workspace.addKey())
    const project = await workspace.addProject()
    const session = await workspace.addSession(project)
    const fileId = await workspace.addSessionFile(session, 'notes.md')
    const found: [string, number, number][] = []
    const count = async () => {
      for (const path of [`/v1/sessions/${session}`, `/v1/sessions/${session}/files/${fileId}`]) {
        const use = watchedDatabase()
        const { status } = await request('GET', path, { key, environment: { DB: use.DB } })
        found.push([path, status, use.rowsRead])
      }
    }
    await count()
    await workspace.delete('project', project)
    await env.DB.prepare(
      `INSERT INTO "projects" ("organizationId", "id", "name", "createdAt", "updatedAt")
       SELECT 'another', "key", '', '', '' FROM json_each(?)`,
    )
      .bind(JSON.stringify(Array(300).fill(0)))
      .run()
    await count()
    const rows = found.map(([, status, rowsRead]) => [status, rowsRead])
    expect(rows.join(' ')).toBe('200,4 200,6 410,4 410,5')
  })
})

describe('the rows of API keys that are read', () => {
  const rowsReadBy = async (operationId: string, path: string, key: string, json?: object) => {
    const { status, use } = await counted(operationId, { path, ids: [], ...(json && { json }) }, key)
    expect(status).toBeLessThan(300)
    return use.rowsRead
  }

  it.each(['a key of the user', 'a key without a user'])(
    'are those of the listed keys, not of revoked ones or of the other kind, for %s',
    async (caller) => {
      const workspace = await Workspace.create()
      const key = await used(await workspace.addKey(caller === 'a key without a user' ? { userId: null } : {}))
      for (let count = 0; count < 3; count++) {
        await workspace.addKey()
        await workspace.addKey({ kind: 'session', expiresAt: '2999-01-01T00:00:00.000Z' })
      }
      const keys = await rowsReadBy('listApiKeys', '/v1/api-keys', key)
      const sessions = await rowsReadBy('listApiKeys', '/v1/api-keys?kind=session', key)
      for (let count = 0; count < 100; count++) {
        await workspace.revokeKey((await workspace.addKeyWithId()).id)
      }
      expect(await rowsReadBy('listApiKeys', '/v1/api-keys', key)).toBe(keys)
      for (let count = 0; count < 30; count++) await workspace.addKey()
      expect(await rowsReadBy('listApiKeys', '/v1/api-keys?kind=session', key)).toBe(sessions)
      expect(Math.max(keys, sessions)).toBeLessThanOrEqual(4 + 6)
    },
  )

  it.each([10, 100])(
    'are eighteen for each of %i descendants that are revoked, and a few when nothing is left to revoke',
    async (count) => {
      const workspace = await Workspace.create()
      const key = await used(await workspace.addKey())
      const { id } = await workspace.addKeyWithId()
      for (let index = 0, createdByKeyId = id; index < count; index++) {
        createdByKeyId = (await workspace.addKeyWithId({ createdByKeyId })).id
      }
      const path = `/v1/api-keys/${id}?descendants=true`
      expect(await rowsReadBy('deleteApiKey', path, key)).toBeLessThanOrEqual(18 * count + 73)
      expect(await rowsReadBy('deleteApiKey', path, key)).toBeLessThanOrEqual(71)
    },
  )

  it('are one for each key that counts, when a key is created', async () => {
    const workspace = await Workspace.create()
    const key = await used(await workspace.addKey())
    const json = { name: 'laptop', scopes: [] }
    const create = () => rowsReadBy('createApiKey', '/v1/api-keys', key, json)
    // The first event of the organization finds none before it.
    await create()
    const before = await create()
    for (let index = 0; index < 50; index++) await workspace.addKey({ expiresAt: '2020-01-01T00:00:00.000Z' })
    expect(await create()).toBeLessThanOrEqual(before + 2)
    for (let index = 0; index < 50; index++) await workspace.addKey()
    expect(await create()).toBeLessThanOrEqual(before + 2 * 53)
  })
})

/** On a page of a list without a limit, and the most pins of a user. */
const ITEMS = 50
