import { createExecutionContext } from 'cloudflare:test'
import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../../src/access/scopes.ts'
import { ProjectEnvironments } from '../../../src/index.ts'
import { type ApiResponse, type RequestOptions, request as send } from '../../support/api.ts'
import { databaseWith, failingObjects, watchedDatabase } from '../../support/bindings.ts'
import { databaseNumber, deployed, env } from '../../support/env.ts'
import { dumpStores } from '../../support/examples.ts'
import { inOneBatch } from '../../support/set-up.ts'
import { tick } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

const HOUR_MS = 3_600_000

/** Every deletion is final at once. test/resources/deletions/ has those that can be undone. */
function request(method: string, path: string, { environment, ...options }: RequestOptions = {}): Promise<ApiResponse> {
  return send(method, path, { ...options, environment: { UNDO_DAYS: '0', ...environment } })
}
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82])

/** An id for each kind of resource. */
const newIds = () => ({
  project: newUuid(),
  session: newUuid(),
  pullRequest: newUuid(),
  agent: newUuid(),
  user: newUuid(),
  schedule: newUuid(),
  agentSchedule: newUuid(),
  file: newUuid(),
})
type Ids = ReturnType<typeof newIds>

/** The same id for every kind. Only the two schedules differ: the id of a schedule is unique in its organization. */
function oneId(): Ids {
  const id = newUuid()
  const ids = Object.fromEntries(Object.keys(newIds()).map((kind) => [kind, id])) as Ids
  return { ...ids, agentSchedule: newUuid() }
}

/** Adds one resource of each kind, with all that can depend on it. @returns the token of the user's API key. */
async function addAll(workspace: Workspace, ids: Ids = newIds()): Promise<string> {
  const token = await inOneBatch(async () => {
    await workspace.addProject(ids.project)
    await workspace.addSession(ids.project, ids.session)
    await workspace.addPullRequest(ids.project, ids.pullRequest)
    await workspace.addAgent(ids.agent)
    await workspace.addUser(ids.user)
    await workspace.addSchedule('project', ids.project, { id: ids.schedule })
    await workspace.addSchedule('agent', ids.agent, { id: ids.agentSchedule })
    await workspace.addRun(ids.schedule)
    await workspace.addRun(ids.agentSchedule, { status: 'delivered' })
    await workspace.addSessionFile(ids.session, 'a.txt', ids.file)
    await workspace.addSessionFile(ids.session, 'b.txt')
    await workspace.addPicture(ids.user)
    for (const user of [workspace.userId, ids.user]) {
      await workspace.pin('project', ids.project, user)
      await workspace.pin('session', ids.session, user)
      await workspace.pin('pull_request', ids.pullRequest, user)
    }
    return workspace.addKey({ userId: ids.user })
  })
  const variables = await request('POST', `/v1/projects/${ids.project}/environment-variables`, {
    key: token,
    json: { variables: [{ key: 'TOKEN', value: 'secret' }] },
    headers: { 'Idempotency-Key': 'variables' },
  })
  expect(variables.status).toBe(201)
  return token
}

/** A workspace with one resource of each kind, and an API key with every scope that acts as no user. */
async function withAll(ids = newIds()) {
  const workspace = await Workspace.create()
  const usersKey = await addAll(workspace, ids)
  const key = await workspace.addKey({ userId: null })
  return { workspace, ids, key, usersKey }
}

const KINDS = [
  { kind: 'project', path: (ids: Ids) => `/v1/projects/${ids.project}` },
  { kind: 'session', path: (ids: Ids) => `/v1/sessions/${ids.session}` },
  { kind: 'pull request', path: (ids: Ids) => `/v1/pull-requests/${ids.pullRequest}` },
  { kind: 'agent', path: (ids: Ids) => `/v1/agents/${ids.agent}` },
  { kind: 'user', path: (ids: Ids) => `/v1/users/${ids.user}` },
]

async function deleteAll(ids: Ids, key: string): Promise<void> {
  for (const { path } of KINDS.slice().reverse()) {
    expect((await request('DELETE', path(ids), { key })).status).toBe(200)
  }
}

/** Tables that record what happened to other rows. */
const RECORDS = ['deletions', 'auditEvents', 'organizationUsage']

/** Revoked keys are removed later (test/maintenance/ended-keys.test.ts). */
const isRevokedKey = (table: string, entry: string) => table === 'apiKeys' && JSON.parse(entry).revokedAt !== null

/** Every row of the organization by table, without those records and keys, and its objects in R2. */
async function stateOf({ organizationId }: Workspace): Promise<Record<string, string[]>> {
  const stores = await dumpStores('lastUsedAt', RECORDS)
  return Object.fromEntries(
    Object.entries(stores).map(([table, entries]) => [
      table,
      entries.filter((entry) => entry.includes(organizationId) && !isRevokedKey(table, entry)),
    ]),
  )
}

/** The deletions of the organization that the purge has not finished. */
async function pendingOf(workspace: Workspace): Promise<unknown[]> {
  return (await workspace.dump('deletions')).filter(({ purgedAt }) => purgedAt === null)
}

/** How many objects of the organization wait to be deleted. */
async function countOrphaned({ organizationId }: Workspace): Promise<number> {
  const count = 'SELECT count(*) AS "count" FROM "orphanedObjects" WHERE instr("objectKey", ?) > 0'
  return Number(await env.DB.prepare(count).bind(organizationId).first('count'))
}

/** Ticks until nothing is pending. @returns the number of ticks. */
async function tickUntilDone(workspace: Workspace, most = 60): Promise<number> {
  for (let count = 1; count <= most; count++) {
    await tick(env, new Date())
    if ((await pendingOf(workspace)).length === 0 && (await countOrphaned(workspace)) === 0) return count
  }
  throw new Error(`The purge has not finished after ${most} ticks`)
}

type Operation = readonly [status: number, method: string, path: string, options?: RequestOptions]

/** Sends each request, and expects its status. */
async function expectStatuses(key: string, operations: readonly Operation[]): Promise<void> {
  const answers: string[] = []
  for (const [, method, path, options] of operations) {
    const { status } = await request(method, path, { key, ...options })
    answers.push(`${status} ${method} ${path}`)
  }
  expect(answers).toEqual(operations.map(([status, method, path]) => `${status} ${method} ${path}`))
}

const SCHEDULE = { cron: '0 6 * * *' }
const upload = (body: BodyInit, type: string, length: number) => ({
  body,
  headers: { 'Content-Type': type, 'Content-Length': String(length) },
})

const ofPins = (type: string, id: string, target: string): Operation[] => [
  [404, 'PUT', `/v1/pins/${type}/${id}`],
  [404, 'PATCH', `/v1/pins/${type}/${id}`, { json: placement('project', target) }],
  [404, 'PATCH', `/v1/pins/project/${target}`, { json: placement(type, id) }],
  [404, 'DELETE', `/v1/pins/${type}/${id}`],
]
const placement = (type: string, id: string) => ({ placement: { target: { type, id }, position: 'after' } })

const ofSchedules = (parent: string, id: string, timezone = {}): Operation[] => [
  [404, 'GET', `${parent}/schedules`],
  [404, 'POST', `${parent}/schedules`, { json: { ...SCHEDULE, ...timezone } }],
  [404, 'GET', `${parent}/schedules/${id}`],
  [404, 'PUT', `${parent}/schedules/${id}`, { json: { ...SCHEDULE, ...timezone } }],
  [404, 'PUT', `${parent}/schedules/${newUuid()}`, { json: { ...SCHEDULE, ...timezone } }],
  [404, 'PATCH', `${parent}/schedules/${id}`, { json: { enabled: false } }],
  [404, 'DELETE', `${parent}/schedules/${id}`],
]

const ofFiles = (session: string, id: string): Operation[] => [
  [410, 'GET', `${session}/files`],
  [410, 'PUT', `${session}/files?path=a.txt`, upload('x', 'application/octet-stream', 1)],
  [410, 'GET', `${session}/files/${id}/content`],
  [410, 'DELETE', `${session}/files/${id}`],
]

const ofVariables = (project: string): Operation[] => {
  const variables = `${project}/environment-variables`
  const json = { variables: [{ key: 'TOKEN', value: 'secret' }] }
  return [
    [404, 'GET', variables],
    [404, 'POST', variables, { json }],
    [404, 'POST', variables, { json, headers: { 'Idempotency-Key': 'variables' } }],
    [404, 'PUT', `${variables}/TOKEN`, { json: { value: 'x' } }],
    [404, 'DELETE', `${variables}/TOKEN`],
  ]
}

/**
 * The status of every operation on the dependents of a deleted resource. `stays` is a pinned project that is
 * not deleted.
 */
const AFTER_DELETION: Record<string, (ids: Ids, stays: string) => Operation[]> = {
  project: (ids, stays) => [
    ...ofSchedules(`/v1/projects/${ids.project}`, ids.schedule, { timezone: 'UTC' }),
    ...ofVariables(`/v1/projects/${ids.project}`),
    ...ofFiles(`/v1/sessions/${ids.session}`, ids.file),
    ...ofPins('project', ids.project, stays),
    ...ofPins('session', ids.session, stays),
    ...ofPins('pull_request', ids.pullRequest, stays),
    [404, 'POST', '/v1/api-keys', { json: { name: 'x', scopes: [], projectIds: [ids.project] } }],
  ],
  session: (ids, stays) => [
    ...ofFiles(`/v1/sessions/${ids.session}`, ids.file),
    ...ofPins('session', ids.session, stays),
  ],
  'pull request': (ids, stays) => ofPins('pull_request', ids.pullRequest, stays),
  agent: (ids) => ofSchedules(`/v1/agents/${ids.agent}`, ids.agentSchedule),
  user: (ids) => [
    [404, 'GET', `/v1/users/${ids.user}/profile-picture`],
    [404, 'PUT', `/v1/users/${ids.user}/profile-picture`, upload(PNG, 'image/png', PNG.length)],
    [404, 'DELETE', `/v1/users/${ids.user}/profile-picture`],
    [404, 'POST', '/v1/api-keys', { json: { name: 'x', scopes: [], userId: ids.user } }],
  ],
}

/** The tables that have dependents until the purge. */
const REMAINING: Record<string, string[]> = {
  project: [
    'sessions',
    'pullRequests',
    'schedules',
    'environmentVariables',
    'variableRequests',
    'sessionFiles',
    'pins',
  ],
  session: ['sessionFiles', 'pins'],
  'pull request': ['pins'],
  agent: ['schedules', 'runs'],
  user: ['profilePictures', 'pins'],
}

describe.each(KINDS)('a deleted $kind', ({ kind, path }) => {
  it('is deleted with all its dependents, for every operation, before and after the purge', async () => {
    const { workspace, ids, usersKey } = await withAll()
    const stays = await workspace.addProject()
    await workspace.pin('project', stays)
    const key = await workspace.addKey()
    const nobodysKey = await workspace.addKey({ userId: null })
    const keyOfUser = (await workspace.dump('apiKeys')).find(({ userId }) => userId === ids.user)?.id
    expect((await request('DELETE', path(ids), { key: nobodysKey })).status).toBe(200)

    for (const isPurged of [false, true]) {
      if (isPurged) await tickUntilDone(workspace)
      const state = await stateOf(workspace)
      const remaining = (REMAINING[kind] ?? []).filter((table) => isOf(kind, ids, state[table] ?? []))
      expect(remaining).toEqual(isPurged ? [] : REMAINING[kind])
      await expectStatuses(key, AFTER_DELETION[kind]?.(ids, stays) ?? [])
      if (kind === 'user') {
        expect((await request('GET', '/v1/me', { key: usersKey })).status).toBe(401)
        await expectStatuses(key, [
          [404, 'DELETE', `/v1/api-keys/${keyOfUser}`],
          [404, 'POST', `/v1/api-keys/${keyOfUser}/rotate`, { json: {} }],
        ])
        const { body } = await request('GET', '/v1/api-keys', { key: nobodysKey })
        expect(body.items.map(({ userId }: { userId: string }) => userId)).not.toContain(ids.user)
      }
      const { body } = await request('GET', '/v1/pins', { key })
      expect(pinsOf(body)).toEqual(expectedPins(kind, ids, stays))
      const all = await request('GET', '/v1/schedules', { key })
      const schedules: string[] = all.body.items.map(({ id }: { id: string }) => id)
      expect(schedules.sort()).toEqual(expectedSchedules(kind, ids))
      if (kind === 'project') {
        const reader = new ProjectEnvironments(createExecutionContext(), deployed(env))
        expect(await reader.read(workspace.organizationId, ids.project)).toBeNull()
      }
      expect(await stateOf(workspace)).toEqual(state)
      expect(await workspace.usage()).toEqual(await workspace.countedUsage())
    }
  })

  it('is deleted without other resources, even those with the same id, here or in another organization', async () => {
    const { workspace, ids, key } = await withAll(oneId())
    const elsewhere = await Workspace.create()
    await addAll(elsewhere, ids)
    await addAll(workspace)
    const [before, beforeElsewhere] = [await stateOf(workspace), await stateOf(elsewhere)]
    await request('DELETE', path(ids), { key })
    await tickUntilDone(workspace)
    const after = await stateOf(workspace)
    const gone = Object.entries(before).flatMap(([table, entries]) =>
      entries.filter((entry) => !after[table]?.includes(entry)).map(() => table),
    )
    expect(gone.sort()).toEqual(PURGED[kind])
    expect(Object.values(after).flat()).toHaveLength(Object.values(before).flat().length - gone.length)
    expect(await stateOf(elsewhere)).toEqual(beforeElsewhere)
    expect(await elsewhere.dump('deletions')).toEqual([])
  })
})

/** True if one of the rows depends on what was deleted. */
function isOf(kind: string, ids: Ids, rows: string[]): boolean {
  const { project, session, pullRequest, agent, user } = ids
  const all = { project: [project, session, pullRequest], session: [session], 'pull request': [pullRequest] }
  const its = { ...all, agent: [agent], user: [user] }[kind] ?? []
  return rows.some((row) => its.some((id) => row.includes(id)))
}

function pinsOf(body: { items: { resourceType: string; resourceId: string }[] }): string[] {
  return body.items.map(({ resourceType, resourceId }) => `${resourceType}/${resourceId}`)
}

function expectedPins(kind: string, ids: Ids, stays: string): string[] {
  const project = [`project/${ids.project}`]
  const session = [`session/${ids.session}`]
  const pullRequest = [`pull_request/${ids.pullRequest}`]
  const all = { project: [], session: [project, pullRequest], 'pull request': [project, session] }
  const left = { ...all, agent: [project, session, pullRequest], user: [project, session, pullRequest] }[kind] ?? []
  return [...left.flat(), `project/${stays}`]
}

function expectedSchedules(kind: string, ids: Ids): string[] {
  const gone = kind === 'project' ? ids.schedule : kind === 'agent' ? ids.agentSchedule : undefined
  return [ids.schedule, ids.agentSchedule].filter((id) => id !== gone).sort()
}

/** The table of each row of `addAll` that the deletion and the purge remove. */
const PURGED: Record<string, string[]> = {
  project: [
    'environmentVariables',
    'objects',
    'objects',
    'pins',
    'pins',
    'pins',
    'pins',
    'pins',
    'pins',
    'projects',
    'pullRequests',
    'runs',
    'schedules',
    'sessionFiles',
    'sessionFiles',
    'sessions',
    'variableRequests',
  ],
  session: ['objects', 'objects', 'pins', 'pins', 'sessionFiles', 'sessionFiles', 'sessions'],
  'pull request': ['pins', 'pins', 'pullRequests'],
  agent: ['agents', 'runs', 'schedules'],
  user: ['apiKeys', 'objects', 'pins', 'pins', 'pins', 'profilePictures', 'users'],
}

it('deleted and purged rows count towards no quota', async () => {
  const { workspace, ids, key } = await withAll()
  const before = await workspace.usage()
  expect(before).toMatchObject({ projects: 1, sessions: 1, pullRequests: 1, agents: 1, users: 2 })
  expect(before).toMatchObject({ schedules: 2, files: 2, variables: 1, skills: 0, skillBytes: 0 })
  await deleteAll(ids, key)
  await tickUntilDone(workspace)
  const { organizationId } = workspace
  const nothing = { sessions: 0, files: 0, bytes: 0, projects: 0, agents: 0, pullRequests: 0, schedules: 0 }
  const noContents = { skills: 0, skillBytes: 0, variables: 0, variableBytes: 0 }
  expect(await workspace.usage()).toEqual({ organizationId, ...nothing, ...noContents, users: 1 })
})

describe('the keys of a deleted user', () => {
  it('are revoked at once, even the one that deleted the user; keys of others are not', async () => {
    const { workspace, ids, key, usersKey } = await withAll()
    const keyOfNobody = await workspace.addKey({ userId: null })
    const rotated = await request('POST', '/v1/api-keys', {
      key: usersKey,
      json: { name: 'made', scopes: [] },
    })
    const elsewhere = await Workspace.create()
    const keyElsewhere = await addAll(elsewhere, ids)
    const first = await workspace.addKey({ userId: ids.user, scopes: SCOPES })
    expect((await request('DELETE', `/v1/users/${ids.user}`, { key: first })).status).toBe(200)
    for (const isPurged of [false, true]) {
      if (isPurged) await tickUntilDone(workspace)
      const status = async (token: string) => (await request('GET', '/v1/me', { key: token })).status
      for (const dead of [first, usersKey, rotated.body.token]) expect(await status(dead)).toBe(401)
      for (const live of [key, keyOfNobody, keyElsewhere]) expect(await status(live)).toBe(200)
    }
    const unrevoked = (await workspace.dump('apiKeys')).filter(({ revokedAt }) => revokedAt === null)
    expect(unrevoked.map(({ userId }) => userId)).toEqual([null, null])
  })

  it('are not revoked if the deletion fails', async () => {
    const { ids, usersKey, workspace } = await withAll()
    const scopes = SCOPES.filter((scope) => scope !== 'users:write')
    const key = await workspace.addKey({ scopes })
    expect((await request('DELETE', `/v1/users/${ids.user}`, { key })).status).toBe(400)
    expect((await request('GET', '/v1/me', { key: usersKey })).status).toBe(200)
  })
})

describe('the purge', () => {
  it('leaves nothing of deleted resources but the deletions', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    await addAll(workspace)
    const before = await stateOf(workspace)
    const ids = newIds()
    await addAll(workspace, ids)
    expect((await stateOf(workspace)).objects).toHaveLength(6)
    await deleteAll(ids, key)
    await tickUntilDone(workspace)
    expect(await stateOf(workspace)).toEqual(before)
    const deletions = await workspace.dump('deletions')
    expect(deletions.map(({ resourceId }) => resourceId).sort()).toEqual(
      [ids.project, ids.session, ids.pullRequest, ids.agent, ids.user, ids.schedule, ids.agentSchedule].sort(),
    )
    expect(deletions.every(({ purgedAt }) => purgedAt !== null)).toBe(true)
  })

  it('removes the row of a picture whose first upload was not completed', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const before = await stateOf(workspace)
    const userId = await workspace.addUser()
    await workspace.leasePicture(new Date(Date.now() + HOUR_MS).toISOString(), userId)
    await request('DELETE', `/v1/users/${userId}`, { key })
    await tickUntilDone(workspace)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('makes a tick with nothing to do call the database once for each task, and write only that it ran', async () => {
    const { workspace } = await withAll()
    await tickUntilDone(workspace)
    const use = watchedDatabase()
    await tick({ ...env, DB: use.DB }, new Date())
    // The search for orphans is a task of database 0.
    expect([use.calls, use.rowsWritten]).toEqual([databaseNumber() === 0 ? 10 : 9, 1])
  })

  it('removes the Idempotency-Keys of requests that are a day old, and no newer ones', async () => {
    const { workspace } = await withAll()
    const [{ createdAt } = {}] = await workspace.dump('variableRequests')
    const dayLater = Date.parse(String(createdAt)) + 24 * HOUR_MS
    await tick(env, new Date(dayLater - 1))
    expect(await workspace.dump('variableRequests')).toHaveLength(1)
    await tick(env, new Date(dayLater))
    expect(await workspace.dump('variableRequests')).toEqual([])
    expect(await workspace.dump('environmentVariables')).toHaveLength(1)
  })
})

const MANY = 2500

/** Inserts many rows. `columns` are SQL over `value`, a number from 0. */
async function insertMany(table: string, columns: Record<string, string>, count = MANY): Promise<void> {
  const names = Object.keys(columns).map((name) => `"${name}"`)
  await env.DB.prepare(
    `INSERT INTO "${table}" (${names.join()}) WITH numbers(value) AS
     (SELECT 0 UNION ALL SELECT value + 1 FROM numbers WHERE value < ?1 - 1)
     SELECT ${Object.values(columns).join()} FROM numbers`,
  )
    .bind(count)
    .run()
}

const text = (value: string) => `'${value}'`
const times = { createdAt: text('2026-03-29T01:00:00.000Z'), updatedAt: text('2026-03-29T01:00:00.000Z') }
const UUIDS = "printf('%08x-0000-7000-8000-000000000000', value)"

interface Crowd {
  readonly what: string
  readonly table: string
  readonly path: (ids: Ids) => string
  readonly columns: (ids: Ids, organizationId: string) => Record<string, string>
}

const CROWDS: Crowd[] = [
  {
    what: 'files of a session',
    table: 'sessionFiles',
    path: ({ session }) => `/v1/sessions/${session}`,
    columns: ({ session }, organizationId) => ({
      sessionId: text(session),
      id: UUIDS,
      // The order of paths is not that of ids.
      path: "printf('z%06d', 999999 - value)",
      objectKey: `'session-files/${organizationId}/' || value`,
      sizeBytes: '0',
      sha256: text('x'),
      ...times,
    }),
  },
  {
    what: 'sessions of a project',
    table: 'sessions',
    path: ({ project }) => `/v1/projects/${project}`,
    columns: ({ project }) => ({ id: UUIDS, projectId: text(project), name: text('x'), ...times }),
  },
  {
    what: 'pull requests of a project',
    table: 'pullRequests',
    path: ({ project }) => `/v1/projects/${project}`,
    columns: ({ project }) => ({ id: UUIDS, projectId: text(project), name: text('x'), ...times }),
  },
  {
    what: 'pins of a project',
    table: 'pins',
    path: ({ project }) => `/v1/projects/${project}`,
    columns: ({ project }) => ({
      userId: "'user-' || value",
      resourceType: text('project'),
      resourceId: text(project),
      position: '1',
      createdAt: times.createdAt,
    }),
  },
  {
    what: 'schedules of an agent',
    table: 'schedules',
    path: ({ agent }) => `/v1/agents/${agent}`,
    columns: ({ agent }) => ({
      parentType: text('agent'),
      parentId: text(agent),
      id: UUIDS,
      cron: text('0 6 * * *'),
      timezone: text('UTC'),
      ...times,
    }),
  },
  {
    what: 'runs of a schedule',
    table: 'runs',
    path: ({ agent, agentSchedule }) => `/v1/agents/${agent}/schedules/${agentSchedule}`,
    columns: ({ agent, agentSchedule }) => ({
      parentType: text('agent'),
      parentId: text(agent),
      scheduleId: text(agentSchedule),
      scheduledAt: "printf('9000-01-01T00:00:%06d', value)",
      id: UUIDS,
      status: text('delivered'),
      attempts: '1',
      ...times,
    }),
  },
]

describe.each(CROWDS)('2,500 $what', ({ table, path, columns }) => {
  it('are removed in pages of 1,000 over several ticks; only then is the deletion purged', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    await addAll(workspace)
    const before = await stateOf(workspace)
    const ids = newIds()
    await addAll(workspace, ids)
    const { organizationId } = workspace
    await insertMany(table, { organizationId: text(organizationId), ...columns(ids, organizationId) })
    await request('DELETE', path(ids), { key })
    const { resourceId } = (await workspace.dump('deletions'))[0] ?? {}
    const isPending = async () =>
      (await pendingOf(workspace)).some((row) => (row as { resourceId: string }).resourceId === resourceId)

    const countRows = async () => (await workspace.dump(table)).length
    const counts = [await countRows()]
    while (await isPending()) {
      const use = watchedDatabase()
      await tick({ ...env, DB: use.DB }, new Date())
      // Three for the purge, two for each page of 1,000 objects in the sweep, which asks the directory if there are
      // several databases, and one for each other task.
      expect(use.calls).toBeLessThanOrEqual(env.DATABASES > 1 ? 19 : 16)
      counts.push(await countRows())
      expect(counts.length).toBeLessThan(10)
    }
    const removed = counts.slice(1).map((count, index) => (counts[index] ?? 0) - count)
    expect(Math.max(...removed)).toBe(2000)
    expect(removed.reduce((sum, count) => sum + count)).toBeGreaterThanOrEqual(MANY)

    for (const each of KINDS) await request('DELETE', each.path(ids), { key })
    await tickUntilDone(workspace)
    expect(await stateOf(workspace)).toEqual(before)
  })
})

describe('many deletions', () => {
  it('are purged, with the dependents of a large project', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    const before = await stateOf(workspace)
    const projectId = await workspace.addProject()
    const projects = Array.from({ length: 250 }, (_, index) => `p${index}`)
    await inOneBatch(async () => {
      for (const id of projects) await workspace.addProject(id)
      for (const id of projects) await workspace.addVariable(id, 'TOKEN')
      for (let count = 0; count < 120; count++) {
        const sessionId = await workspace.addSession(projectId)
        await workspace.addSessionFile(sessionId, 'a.txt')
      }
    })
    await request('DELETE', `/v1/projects/${projectId}`, { key })
    for (const id of projects) await request('DELETE', `/v1/projects/${id}`, { key })
    const use = watchedDatabase()
    await tick({ ...env, DB: use.DB }, new Date())
    // Which organizations have any left is a few rows, however many are.
    const asked = use.statements.filter(({ sql }) => sql.includes('with recursive "organization"'))
    expect(Math.max(...asked.map(({ rowsRead }) => rowsRead))).toBeLessThan(10)
    await tickUntilDone(workspace)
    expect(await stateOf(workspace)).toEqual(before)
    expect(await workspace.dump('deletions')).toHaveLength(371)
  })
})

const connectionLost = () => new Error('D1_ERROR: Network connection lost.')

/** D1, but this call of a tick fails: before or after it runs the batch. */
function databaseFailingAt(number: number, when: 'before' | 'after') {
  const use = { calls: 0 }
  const DB = databaseWith(async (statements) => {
    const fails = ++use.calls === number
    if (fails && when === 'before') throw connectionLost()
    const results = await env.DB.batch(statements)
    if (fails) throw connectionLost()
    return results
  })
  return { DB, use }
}

/** R2, but it deletes objects and then fails. */
function objectsFailingAfterDelete(): R2Bucket {
  const remove = async (keys: string | string[]) => {
    await env.OBJECTS.delete(keys)
    throw new Error('delete: We encountered an internal error. (10001)')
  }
  return new Proxy(env.OBJECTS, {
    get: (bucket, name) => (name === 'delete' ? remove : Reflect.get(bucket, name)),
  })
}

/** Fails if no row refers to an object, or a row refers to an object that R2 does not have. */
async function expectNoneLost(workspace: Workspace): Promise<void> {
  const state = await stateOf(workspace)
  const keyOf = (row: string): string => JSON.parse(row).objectKey
  const linked = [...(state.sessionFiles ?? []), ...(state.profilePictures ?? [])].map(keyOf)
  const orphaned = (state.orphanedObjects ?? []).map(keyOf)
  const stored = (state.objects ?? []).map((object) => object.split(' ')[0] ?? '')
  expect(stored.filter((object) => !linked.includes(object) && !orphaned.includes(object))).toEqual([])
  expect(linked.filter((object) => !stored.includes(object) && !orphaned.includes(object))).toEqual([])
}

describe('after a failure', () => {
  /** A workspace with deleted resources that are not purged yet. `before` is its state without them. */
  async function withDeleted() {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    await addAll(workspace)
    const before = await stateOf(workspace)
    const ids = newIds()
    await addAll(workspace, ids)
    await deleteAll(ids, key)
    return { workspace, before }
  }

  const calls = [1, 2, 3, 4].flatMap((number) => [
    { number, when: 'before' as const },
    { number, when: 'after' as const },
  ])
  it.each(calls)('of D1 $when call $number of a tick, the next tick finishes the work', async ({ number, when }) => {
    const { workspace, before } = await withDeleted()
    const { DB, use } = databaseFailingAt(number, when)
    await tick({ ...env, DB }, new Date())
    expect(use.calls).toBeGreaterThanOrEqual(number)
    await expectNoneLost(workspace)
    await tickUntilDone(workspace, 1)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('of the purge, the sweep still runs in the same tick', async () => {
    const { workspace, before } = await withDeleted()
    await tick({ ...env, OBJECTS: failingObjects(new Error('internal error')) }, new Date())
    expect((await stateOf(workspace)).objects).toHaveLength(6)
    await tick({ ...env, DB: databaseFailingAt(1, 'before').DB }, new Date())
    expect(await stateOf(workspace)).toEqual(before)
  })

  it.each([
    { how: 'to delete objects', OBJECTS: failingObjects(new Error('internal error')) },
    { how: 'after it deleted the objects', OBJECTS: objectsFailingAfterDelete() },
  ])('of R2 $how, rows are purged, and a later tick deletes the objects', async ({ OBJECTS }) => {
    const { workspace, before } = await withDeleted()
    for (let count = 0; count < 3; count++) await tick({ ...env, OBJECTS }, new Date())
    expect(await pendingOf(workspace)).toEqual([])
    const { objects: _, orphanedObjects, ...rows } = await stateOf(workspace)
    expect({ ...rows, objects: before.objects, orphanedObjects: [] }).toEqual(before)
    expect(orphanedObjects).toHaveLength(3)
    await expectNoneLost(workspace)
    await tickUntilDone(workspace, 1)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it.each(KINDS)('of D1 while a $kind is deleted, all of it is deleted or nothing', async ({ kind, path }) => {
    const { workspace, ids, key } = await withAll()
    const before = await stateOf(workspace)
    const refused = await request('DELETE', path(ids), {
      key,
      environment: { DB: databaseFailingAt(1, 'before').DB },
    })
    expect([refused.status, await stateOf(workspace)]).toEqual([503, before])
    const done = await request('DELETE', path(ids), {
      key,
      environment: { DB: databaseFailingAt(1, 'after').DB },
    })
    expect([done.status, await workspace.dump('deletions')]).toEqual([503, [expect.anything()]])
    expect((await request('DELETE', path(ids), { key })).status).toBe(410)
    await expectStatuses(
      await workspace.addKey(),
      AFTER_DELETION[kind]?.(ids, ids.project).filter(([, , at]) => !at.startsWith('/v1/pins')) ?? [],
    )
  })
})

describe('concurrently', () => {
  it('ticks have the same result as one after another', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ userId: null })
    await addAll(workspace)
    const before = await stateOf(workspace)
    const ids = newIds()
    await addAll(workspace, ids)
    await inOneBatch(async () => {
      for (let index = 0; index < 30; index++) await workspace.addSessionFile(ids.session, `${index}.txt`)
    })
    await workspace.addSessionFiles(ids.session, MANY)
    await deleteAll(ids, key)
    await Promise.all(Array.from({ length: 4 }, () => tick(env, new Date())))
    await expectNoneLost(workspace)
    await tickUntilDone(workspace)
    expect(await stateOf(workspace)).toEqual(before)
  })

  it('a deletion and new dependents leave nothing after the purge', async () => {
    const { workspace, key, ids } = await withAll()
    await request('DELETE', `/v1/users/${ids.user}`, { key })
    const project = `/v1/projects/${ids.project}`
    const additions = Array.from({ length: 10 }, (_, index): Promise<ApiResponse>[] => [
      request('POST', `${project}/schedules`, { key, json: { ...SCHEDULE, timezone: 'UTC' } }),
      request('PUT', `${project}/environment-variables/KEY_${index}`, { key, json: { value: 'x' } }),
      request('PUT', `/v1/sessions/${newUuid()}`, { key, json: { projectId: ids.project, name: 'x' } }),
      request('PUT', `/v1/sessions/${ids.session}/files?path=${index}`, {
        key,
        ...upload('x', 'application/octet-stream', 1),
      }),
      ...(index === 5 ? [request('DELETE', project, { key })] : []),
      ...(index === 7 ? [tick(env, new Date()).then(() => request('GET', '/v1/me', { key }))] : []),
    ])
    const statuses = new Set((await Promise.all(additions.flat())).map(({ status }) => status))
    expect([...statuses].every((status) => [200, 201, 404, 410].includes(status))).toBe(true)
    // An upload that began before the deletion leaves an object to the sweep until an hour after its lease.
    await tick(env, new Date())
    await expectNoneLost(workspace)
    await tick(env, new Date(Date.now() + 3 * HOUR_MS))
    const state = await stateOf(workspace)
    const { agents, apiKeys, directory, organizations, schedules = [], runs = [], users, ...others } = state
    expect(Object.values(others).flat()).toEqual([])
    const parents = [...schedules, ...runs].map((row) => JSON.parse(row).parentType)
    expect(new Set(parents)).toEqual(new Set(['agent']))
    expect(await pendingOf(workspace)).toEqual([])
  })

  it.each([
    {
      what: 'a file',
      path: (ids: Ids) => `/v1/sessions/${ids.session}/files?path=new.txt`,
      content: upload('x', 'application/octet-stream', 1),
      parent: (ids: Ids) => `/v1/sessions/${ids.session}`,
      status: 410,
    },
    {
      what: 'a picture',
      path: (ids: Ids) => `/v1/users/${ids.user}/profile-picture`,
      content: upload(PNG, 'image/png', PNG.length),
      parent: (ids: Ids) => `/v1/users/${ids.user}`,
      status: 401,
    },
  ])(
    'an upload of $what whose parent is deleted meanwhile leaves an orphaned object',
    async ({ path, content, parent, status }) => {
      const { workspace, ids, key, usersKey } = await withAll()
      const put = async (objectKey: string, value: ReadableStream | ArrayBuffer) => {
        await request('DELETE', parent(ids), { key })
        await tick(env, new Date())
        return env.OBJECTS.put(objectKey, value)
      }
      const OBJECTS = new Proxy(env.OBJECTS, {
        get: (bucket, name) => (name === 'put' ? put : Reflect.get(bucket, name)),
      })
      const answer = await request('PUT', path(ids), { key: usersKey, ...content, environment: { OBJECTS } })
      expect(answer.status).toBe(status)
      await expectNoneLost(workspace)
      expect((await stateOf(workspace)).orphanedObjects).toHaveLength(1)
      await tick(env, new Date(Date.now() + 3 * HOUR_MS))
      expect((await stateOf(workspace)).orphanedObjects).toEqual([])
      await expectNoneLost(workspace)
      expect(await pendingOf(workspace)).toEqual([])
    },
  )
})
