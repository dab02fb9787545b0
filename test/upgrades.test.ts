/**
 * Upgrades keep data: databases of every schema version, with rows as the service of that version wrote them, are
 * migrated and used.
 */
import { createExecutionContext, reset } from 'cloudflare:test'
import { Webhook } from 'standardwebhooks'
import { beforeEach, describe, expect, it } from 'vitest'
import { ProjectEnvironments } from '../src/index.ts'
import { computeRunId } from '../src/resources/work/run-id.ts'
import { request } from './support/api.ts'
import { databaseNumber, deployed, env } from './support/env.ts'
import { deliverBatch } from './support/queue.ts'
import { Receiver } from './support/receiver.ts'
import { entryFile } from './support/skills.ts'
import {
  DELETED_SESSION,
  REPLACED_PICTURE,
  SECRETS,
  SESSION_OF_GONE,
  TOKENS,
  UPLOADING_PICTURE,
  VARIABLES,
} from './upgrades/0000-initial.ts'
import { answersOf, apiKeysOf } from './upgrades/answers.ts'
import {
  asDumped,
  countedUsage,
  dump,
  listColumns,
  migrateTo,
  prepareOthers,
  schema,
  USAGE,
  usage,
} from './upgrades/database.ts'
import {
  ACME,
  CHANGED,
  CHECKOUT,
  FAR_AHEAD,
  GLOBEX,
  GONE,
  HOURLY,
  ICONS,
  MOBILE,
  type Row,
  type Rows,
  uuid,
  WEBSITE,
} from './upgrades/schema-version.ts'
import { MIGRATIONS, rowsAfter, rowsAt, schemaVersions } from './upgrades/schema-versions.ts'
import {
  ADDED,
  addKey,
  changesWith,
  contentsAt,
  FILE,
  openDatabase,
  outbox,
  runTick,
  SCHEMA_VERSIONS,
} from './upgrades/service.ts'

const NEWEST = MIGRATIONS.at(-1) ?? ''

const NEW_KEY = 'new-1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
const CHANGELOGS = {
  name: 'changelogs',
  description: 'Writes changelogs.',
  files: [entryFile('changelogs', 'Writes changelogs.')],
}

/** A database of that schema, as its service left it, upgraded. */
async function upgrade(migration: string): Promise<void> {
  await openDatabase(migration)
  await migrateTo(NEWEST)
}

const migrationsAfter = (migration: string) => MIGRATIONS.slice(MIGRATIONS.indexOf(migration) + 1)

/** What all migrations make of the rows. */
const rowsUpgradedFrom = (migration: string) =>
  migrationsAfter(migration).reduce((rows, next) => rowsAfter(next, rows), rowsAt(migration))

const contentOf = ({ sessionId, id }: Row) => `/v1/sessions/${sessionId}/files/${id}/content`

beforeEach(async () => {
  await reset()
  await prepareOthers()
})

describe.each(MIGRATIONS)('a database at %s', (from) => {
  it('is filled: every column has a value in some row, and null in another if it may', async () => {
    await openDatabase(from)
    const rows = await dump()
    const columns = (await listColumns()).filter(({ table }) => table !== USAGE)
    const isMissing = ({ table, name, notNull }: (typeof columns)[number]) => {
      const values = (rows[table] ?? []).map((row) => row[name])
      return values.every((value) => value === null) || (!notNull && !values.includes(null))
    }
    const missing = columns.filter(isMissing).map(({ table, name }) => `${table}.${name}`)
    expect(
      missing,
      `${SCHEMA_VERSIONS}: add a schema version that begins with ${from}, with rows that have both in these`,
    ).toEqual([])
  })

  it('keeps every row and every value with each migration, and when they are applied again', async () => {
    await openDatabase(from)
    let rows = rowsAt(from)
    for (const migration of migrationsAfter(from)) {
      await migrateTo(migration)
      rows = rowsAfter(migration, rows)
      const message = `${migration} changes rows: if it is to, say in ${SCHEMA_VERSIONS} what it makes of them`
      expect(await dump(), message).toEqual(await asDumped(rows))
    }
    await migrateTo(NEWEST)
    expect(await dump(), `${SCHEMA_VERSIONS}: the rows lack values of ${from}`).toEqual(await asDumped(rows))
    expect(await usage()).toEqual(await countedUsage())
    expect(await env.DB.prepare('PRAGMA quick_check').raw()).toEqual([['ok']])
    expect(await env.DB.prepare('PRAGMA foreign_key_check').raw()).toEqual([])
  })

  it('answers with everything that was there', async () => {
    await upgrade(from)
    const rows = rowsUpgradedFrom(from)
    const health = await request('GET', '/health')
    expect([health.status, health.body.schema]).toEqual([200, 'current'])
    for (const organizationId of [ACME, GLOBEX]) {
      const key = await addKey(organizationId, 'ada')
      for (const [path, expected] of Object.entries(answersOf(organizationId, 'ada', rows))) {
        const { status, body } = await request('GET', path, { key })
        expect([path, status, body]).toEqual([path, 200, expected])
      }
    }
  })

  it('takes the keys that it took, for what they could do, and no other', async () => {
    await upgrade(from)
    const rows = rowsUpgradedFrom(from)
    const service = await addKey(ACME)
    const { body } = await request('GET', '/v1/api-keys', { key: service })
    expect(body.items.filter(({ name }: { name: string }) => name !== ADDED)).toEqual(apiKeysOf(ACME, rows))

    const [checkout, icons] = [`/v1/sessions/${CHECKOUT}/files`, `/v1/sessions/${ICONS}/files`]
    const statuses = async (key: string) => [
      (await request('GET', '/v1/me', { key })).status,
      (await request('GET', checkout, { key })).status,
      (await request('GET', icons, { key })).status,
      (await request('GET', '/v1/projects', { key })).status,
    ]
    expect({
      ada: await statuses(TOKENS.ada),
      limited: await statuses(TOKENS.limited),
      powerless: await statuses(TOKENS.powerless),
      expired: await statuses(TOKENS.expired),
      revoked: await statuses(TOKENS.revoked),
      globex: await statuses(TOKENS.globex),
      rotated: await statuses(TOKENS.rotated),
    }).toEqual({
      ada: [200, 200, 200, 400],
      limited: [200, 403, 200, 400],
      powerless: [200, 400, 400, 400],
      expired: [401, 401, 401, 401],
      revoked: [401, 401, 401, 401],
      globex: [200, 200, 404, 400],
      rotated: [200, 400, 400, 200],
    })
    const me = await request('GET', '/v1/me', { key: TOKENS.limited })
    expect(me.body).toMatchObject({ organization: { id: ACME, name: 'Acme' }, user: null })
    expect(me.body.apiKey).toMatchObject({ id: uuid(22), projectIds: [MOBILE], expiresAt: FAR_AHEAD })
  })

  it('gives build systems the values of variables, and seals them again with a new key', async () => {
    await upgrade(from)
    const projects = [
      [ACME, WEBSITE],
      [ACME, MOBILE],
      [GLOBEX, MOBILE],
    ] as const
    const read = async (ENCRYPTION_KEYS: string) => {
      const environments = new ProjectEnvironments(createExecutionContext(), deployed({ ...env, ENCRYPTION_KEYS }))
      return Promise.all(projects.map(([id, projectId]) => environments.read(id, projectId)))
    }
    const values = projects.map(([id, projectId]) => {
      const own = VARIABLES.filter((each) => each.organizationId === id && each.projectId === projectId)
      return Object.fromEntries(own.map(({ key, value }) => [key, value]))
    })
    expect(await read(String(env.ENCRYPTION_KEYS))).toEqual(values)
    await runTick({ ENCRYPTION_KEYS: `${NEW_KEY},${env.ENCRYPTION_KEYS}` })
    expect(await read(NEW_KEY)).toEqual(values)
  })

  it('has the contents of files and pictures', async () => {
    await upgrade(from)
    const rows = rowsUpgradedFrom(from)
    const contents = contentsAt(from)
    const isThere = ({ sessionId }: Row) => sessionId !== DELETED_SESSION && sessionId !== SESSION_OF_GONE
    const paths = [
      ...(rows.sessionFiles ?? []).filter(isThere).map((row) => ({ row, path: contentOf(row) })),
      ...(rows.profilePictures ?? []).map((row) => ({
        row,
        path: `/v1/users/${row.userId}/profile-picture`,
      })),
    ]
    for (const organizationId of [ACME, GLOBEX]) {
      const key = await addKey(organizationId)
      for (const { row, path } of paths.filter((each) => each.row.organizationId === organizationId)) {
        const content = contents[String(row.objectKey)]
        if (content === undefined) continue
        const { status, body } = await request('GET', path, { key })
        expect([path, status, new TextDecoder().decode(body)]).toEqual([path, 200, content])
      }
    }
  })

  it('deleted what was deleted, for good', async () => {
    await upgrade(from)
    const key = await addKey(ACME, 'ada')
    const session = await request('GET', `/v1/sessions/${DELETED_SESSION}`, { key })
    const files = await request('GET', `/v1/sessions/${DELETED_SESSION}/files`, { key })
    const json = { name: 'Again', projectId: WEBSITE }
    const again = await request('PUT', `/v1/sessions/${DELETED_SESSION}`, { key, json })
    expect([session.status, files.status, again.status]).toEqual([410, 410, 410])
    const gone = await request('GET', `/v1/projects/${GONE}`, { key })
    expect(gone.status).toBe(410)
  })

  it('counts on from what there is, to the quotas', async () => {
    await upgrade(from)
    const key = await addKey(ACME)
    const rows = rowsUpgradedFrom(from)
    const own = (table: string) => (rows[table] ?? []).filter(({ organizationId }) => organizationId === ACME)
    const sessions = own('sessions').length
    const files = own('sessionFiles').length
    const bytes = own('sessionFiles').reduce((sum, { sizeBytes }) => sum + Number(sizeBytes), 0)
    const addSession = (id: number, SESSION_LIMIT: number) =>
      request('PUT', `/v1/sessions/${uuid(id)}`, {
        key,
        json: { name: 'One more', projectId: WEBSITE },
        environment: { SESSION_LIMIT: String(SESSION_LIMIT) },
      })
    expect((await addSession(9301, sessions)).status).toBe(409)
    expect((await addSession(9301, sessions + 1)).status).toBe(201)
    expect((await addSession(9302, sessions + 1)).status).toBe(409)
    const addFile = (path: string, FILE_LIMIT: number, BYTE_LIMIT: number) =>
      request('PUT', `/v1/sessions/${ICONS}/files?path=${path}`, {
        key,
        ...FILE,
        environment: { FILE_LIMIT: String(FILE_LIMIT), BYTE_LIMIT: String(BYTE_LIMIT) },
      })
    expect((await addFile('a', files, bytes + 5)).status).toBe(409)
    expect((await addFile('a', files + 1, bytes + 4)).status).toBe(409)
    expect((await addFile('a', files + 1, bytes + 5)).status).toBe(201)
    expect((await addFile('b', files + 1, bytes + 10)).status).toBe(409)
    const skillBytes = own('skillContents').reduce((sum, { content }) => sum + Buffer.byteLength(`${content}`), 0)
    const entry = entryFile('one-more', 'x')
    const { length } = entry.content
    const addSkill = (spare: number) =>
      request('POST', '/v1/skills', {
        key,
        json: { files: [entry] },
        environment: { SKILL_BYTE_LIMIT: String(skillBytes + spare) },
      })
    expect((await addSkill(length - 1)).status).toBe(409)
    expect((await addSkill(length)).status).toBe(201)
  })

  it('fires once what came due', async () => {
    await upgrade(from)
    const before = await dump()
    const sent = await runTick()
    const after = await dump()
    expect(await runTick()).toEqual([])
    expect(await dump()).toEqual(after)

    const runsIn = ({ runs = [] }: Rows) =>
      runs.map(({ organizationId, scheduleId, scheduledAt, status }) =>
        [organizationId, scheduleId, scheduledAt, status].join(' '),
      )
    const fired = runsIn(after).filter((run) => !runsIn(before).includes(run))
    const hours = (...instants: string[]) => instants.map((at) => `${ACME} ${HOURLY} 2026-03-${at}:00:00.000Z skipped`)
    const daily = Array.from({ length: 89 }, (_, day) => new Date(Date.UTC(2025, 11, 30 + day, 8, 30)))
    const due = [
      [ACME, HOURLY, '2026-03-29T12:00:00.000Z'],
      [ACME, uuid(402), '2026-03-29T07:30:00.000Z'],
      [ACME, uuid(406), '2026-03-29T09:00:00.000Z'],
      [ACME, uuid(412), '2026-03-29T12:00:00.000Z'],
      [GLOBEX, HOURLY, '2026-03-29T12:00:00.000Z'],
    ] as const
    expect(fired.sort()).toEqual(
      [
        ...due.map((run) => `${run.join(' ')} pending`),
        `${ACME} ${uuid(403)} 2026-03-29T00:15:00.000Z skipped`,
        // Its claim has ended.
        `${ACME} ${HOURLY} 2026-03-28T01:00:00.000Z pending`,
        ...hours('27T20', '27T21', '27T22', '29T08', '29T09', '29T10', '29T11'),
        ...daily.map((at) => `${ACME} ${uuid(402)} ${at.toISOString()} skipped`),
      ].sort(),
    )
    const toSend = [...due, [ACME, HOURLY, '2026-03-28T04:00:00.000Z'] as const]
    expect(sent).toEqual(toSend.map(([organizationId, id, at]) => `${organizationId} ${computeRunId(id, at)}`).sort())

    const next = (after.schedules ?? []).map(({ organizationId, id, nextRunAt }) => [organizationId, id, nextRunAt])
    expect(next).toEqual(
      expect.arrayContaining([
        [ACME, HOURLY, '2026-03-29T13:00:00.000Z'],
        [ACME, uuid(402), '2026-03-30T07:30:00.000Z'],
        [ACME, uuid(403), '2026-03-30T00:15:00.000Z'],
        [ACME, uuid(404), null],
        [ACME, uuid(406), null],
        [ACME, uuid(411), '2027-01-01T00:00:00.000Z'],
        [ACME, uuid(412), '2026-04-05T12:00:00.000Z'],
        [GLOBEX, HOURLY, '2026-03-29T13:00:00.000Z'],
      ]),
    )
  })

  it('purges what was deleted, and nothing else', async () => {
    await upgrade(from)
    const objects = async () => (await env.OBJECTS.list()).objects.map(({ key }) => key)
    const stored = await objects()
    await runTick()
    const after = await dump()

    const rows = rowsUpgradedFrom(from)
    const isGone = ({ projectId, parentId, userId, sessionId, resourceId }: Row) =>
      [projectId, parentId].includes(GONE) ||
      userId === 'mallory' ||
      [sessionId, resourceId].some((id) => id === DELETED_SESSION || id === SESSION_OF_GONE)
    const ledgers = [
      'schedules',
      'runs',
      'missedSpans',
      'passes',
      'lastTick',
      'deletions',
      'objectSearches',
      'orphanedObjects',
    ]
    const kept = Object.entries(rows).filter(([table]) => !ledgers.includes(table))
    const isLongEnded = ({ expiresAt }: Row) => expiresAt === '2020-01-01T00:00:00.000Z'
    const expected = await asDumped(
      Object.fromEntries(
        kept.map(([table, each]) => {
          const isRemoved = table === 'apiKeys' ? isLongEnded : isGone
          return [table, each.filter((row) => !isRemoved(row))]
        }),
      ),
    )
    for (const [table] of kept) expect(after[table], table).toEqual(expected[table])
    expect(await usage()).toEqual(await countedUsage())
    const pending = (after.deletions ?? []).filter(({ purgedAt }) => purgedAt === null)
    expect(pending.filter(({ finalAt }) => finalAt !== FAR_AHEAD)).toEqual([])
    // The tick of database 0 searches.
    if (databaseNumber() === 0) expect(after.objectSearches).toEqual([])

    const swept = [REPLACED_PICTURE, ...(rows.sessionFiles ?? []).filter(isGone).map((file) => file.objectKey)]
    expect(await objects()).toEqual(stored.filter((key) => !swept.includes(key)))
    expect(after.orphanedObjects?.map(({ objectKey }) => objectKey)).toEqual([UPLOADING_PICTURE])
  })

  it('can be written to', async () => {
    await upgrade(from)
    const key = await addKey(ACME, 'ada')
    const { DELIVERIES } = outbox()
    const events = async () => (await dump()).auditEvents?.length ?? 0
    const before = await events()
    const changes = changesWith(DELIVERIES)
    for (const [method, path, options] of changes) {
      const { body } = await request(method, path, { key, ...options })
      expect(body.error, `${method} ${path}`).toBeUndefined()
    }
    expect(await events()).toBe(before + changes.length)
    expect(await usage()).toEqual(await countedUsage())
  })

  it('knows repeated requests again', async () => {
    await upgrade(from)
    const key = await addKey(ACME, 'ada')
    const repeat = async (path: string, idempotencyKey: string, json: unknown) =>
      request('POST', path, { key, json, headers: { 'Idempotency-Key': idempotencyKey } })
    const schedules = `/v1/projects/${WEBSITE}/schedules`
    const hourly = { cron: '0 * * * *', timezone: 'UTC' }
    const schedule = await repeat(schedules, 'hourly "1" – é', hourly)
    expect([schedule.status, schedule.body.id]).toEqual([201, HOURLY])
    expect((await repeat(schedules, 'hourly "1" – é', { ...hourly, cron: '@daily' })).status).toBe(409)

    const made = await repeat('/v1/skills', 'changelogs-1', CHANGELOGS)
    expect([made.status, made.body.id]).toEqual([201, uuid(604)])
    const variables = `/v1/projects/${WEBSITE}/environment-variables`
    const set = await repeat(variables, 'import-1', { variables: [{ key: 'EMPTY', value: '' }] })
    expect([set.status, set.body.items[0].updatedAt]).toEqual([201, CHANGED])
    const other = await repeat(variables, 'import-1', { variables: [{ key: 'EMPTY', value: 'x' }] })
    expect(other.status).toBe(409)
    const laptop = await repeat('/v1/api-keys', 'laptop', { name: 'laptop', scopes: [] })
    expect([laptop.status, laptop.body.error]).toEqual([409, expect.stringContaining(uuid(26))])
  })

  it('delivers runs, signed with the secrets that receivers have', async () => {
    await upgrade(from)
    const key = await addKey(ACME)
    const receiver = new Receiver()
    const { body } = await request('PUT', '/v1/run-endpoint', { key, json: { url: receiver.url } })
    const { messages, DELIVERIES } = outbox()
    const runs = `/v1/projects/${WEBSITE}/schedules/${HOURLY}/runs`
    const run = await request('POST', runs, { key, environment: { DELIVERIES } })
    await deliverBatch(messages)
    const [received] = await receiver.received()
    expect(body.secret).toBe(null)
    for (const secret of SECRETS) {
      expect(new Webhook(secret).verify(received?.body ?? '', { ...received?.headers })).toMatchObject({
        type: 'schedule.run',
      })
    }
    const after = await request('GET', `/v1/runs/${run.body.id}`, { key })
    expect(after.body.status).toBe('delivered')
  })
})

describe('the schema', () => {
  it('is the same, whichever one it came from', async () => {
    await migrateTo(NEWEST)
    const expected = await schema()
    for (const from of MIGRATIONS) {
      await reset()
      await upgrade(from)
      expect(await schema(), from).toEqual(expected)
    }
  })

  it('has schema versions that begin with existing migrations', () => {
    expect(MIGRATIONS).toEqual(expect.arrayContaining(schemaVersions.map(({ migration }) => migration)))
  })
})
