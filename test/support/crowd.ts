/** Organizations with many rows in every table and in every state that rows can be in, written in bulk. */

import { getTableColumns, getTableName } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { SEQUENCES_PER_MS } from '../../src/access/event-types.ts'
import * as tables from '../../src/db/schema.ts'
import { startOfIds } from '../../src/db/time-ids.ts'
import { START } from './clock.ts'
import { env } from './env.ts'
import { writeWaiting } from './set-up.ts'
import { Workspace } from './workspace.ts'

const LONG_AGO = '2020-01-01T00:00:00.000Z'
const FAR_AHEAD = '2999-01-01T00:00:00.000Z'

/** Values of columns, as SQL. `i` is the number of the row, from 1. */
type Sql = Readonly<Record<string, string>>

const text = (value: string) => `'${value}'`
/** Half of the IDs sort before all others, and half after them. */
const id = (prefix: string) => `iif(i % 2, '00', 'zz') || '-${prefix}-' || i`
/** A time in the year that no other row of the filling has. */
const time = (year: string) => `strftime('%Y-%m-%dT%H:%M:%fZ', '${year}-01-01', i || ' seconds')`
/** IDs of runs are in order of time. */
const LAST_MONTH = startOfIds(new Date(START - 30 * 86_400_000).toISOString())

/**
 * The states of what others depend on. Of what was deleted, the dependents are there until the purge removes them: it
 * has begun with the final deletion, which has lost its copy of the row.
 */
const STATES = ['live', 'deleted', 'final'] as const
type State = (typeof STATES)[number]

/** Rows of the tables that hold few rows, because of a limit (docs/limits.md). */
const FEW = 10

/**
 * The organization of the workspace, and others that are active, suspended and on the move. Each has `count` rows of
 * each kind, and of each the dependents of what exists, of what can be restored, and of what is purged in part.
 */
export async function addCrowd(workspace: Workspace, count: number): Promise<void> {
  const statements: D1PreparedStatement[] = []
  const fill = (table: SQLiteTable, values: Sql, rows = count) => void statements.push(filling(table, values, rows))
  const others = [await Workspace.create(), await Workspace.create(), await Workspace.create()]
  await writeWaiting()
  const [own, other, ...halted] = [workspace, ...others].map(({ organizationId }) => organizationId)
  for (const organization of [own, other]) if (organization) fillOrganization(fill, organization, '2020')
  // What halted organizations have comes first wherever the tick goes by time.
  for (const [index, organization] of halted.entries()) fillOrganization(fill, organization, String(2019 - index))
  const [, suspended, leaving] = others.map(({ organizationId }) => text(organizationId))
  fill(tables.halts, { organizationId: suspended ?? '', kind: text('suspended') }, 1)
  fill(tables.halts, { organizationId: leaving ?? '', kind: text('leaving') }, 1)
  fill(tables.orphanedObjects, { objectKey: id(`object-${workspace.organizationId}`), deleteAfter: text(LONG_AGO) })
  fill(tables.orphanedObjects, {
    objectKey: id(`later-object-${workspace.organizationId}`),
    deleteAfter: text(FAR_AHEAD),
  })
  // Their quotas have room.
  const usage = Object.keys(getTableColumns(tables.organizationUsage)).filter((name) => name !== 'organizationId')
  statements.push(env.DB.prepare(`UPDATE "organizationUsage" SET ${usage.map((name) => `"${name}" = 0`).join(', ')}`))
  await env.DB.batch(statements)
}

type Fill = (table: SQLiteTable, values: Sql, rows?: number) => void

/** @param year of what is due. */
function fillOrganization(fillAny: Fill, organization: string, year: string): void {
  const fill: Fill = (table, values, rows) => {
    const inYear = Object.entries(values).map(([name, value]) => [
      name,
      value.replaceAll('2020-01-01', `${year}-01-01`),
    ])
    fillAny(table, { organizationId: text(organization), ...Object.fromEntries(inYear) }, rows)
  }
  for (const state of STATES) fillDependents(fill, organization, state)
  for (const table of [tables.users, tables.agents, tables.projects, tables.skills])
    fill(table, { id: id(getTableName(table)), name: id('name') })
  fillKeys(fill)
  const ofIdentity = { id: id('identity'), issuer: text('https://login.example.com'), subject: id('subject') }
  fill(tables.identities, { ...ofIdentity, userId: id('users'), email: id('mail'), roleByKeyId: text('key') })
  fill(tables.signInRules, { id: id('rule'), issuer: text('https://login.example.com'), claim: text('groups') }, FEW)
  fill(tables.invitations, { id: id('invitation'), email: id('guest'), expiresAt: text(FAR_AHEAD) }, FEW)
  fill(tables.auditEvents, { id: id('old-event'), sequence: 'i', type: text('session.created') })
  const sequence = `${(Date.now() - 86_400_000) * SEQUENCES_PER_MS} - i`
  fill(tables.auditEvents, { id: id('event'), sequence, type: text('session.created') })
  fill(tables.skillFeeds, { id: id('feed'), hash: 'hex(randomblob(32))', apiKeyId: text('key') }, FEW)
  fill(tables.eventEndpoints, { id: id('endpoint'), deliveredSequence: sequence, disabledAt: text(LONG_AGO) }, FEW)
  for (const state of ['deleted', 'final', 'purged'] as const) {
    const ofDeletion = { resourceType: text('session'), resourceId: id(`${state}-session`), projectId: text('p-live') }
    fill(tables.deletions, { ...ofDeletion, ...deletionIn(state) })
  }
}

function deletionIn(state: Exclude<State, 'live'> | 'purged'): Sql {
  if (state === 'deleted')
    return { id: 'hex(randomblob(16))', row: `json_object('name', 'Website')`, finalAt: text(FAR_AHEAD) }
  return { finalAt: text(LONG_AGO), ...(state === 'purged' && { purgedAt: text(LONG_AGO) }) }
}

/** Something of each kind in the state, and what depends on it. */
function fillDependents(fill: Fill, organization: string, state: State): void {
  const parents = [
    ['project', tables.projects, {}],
    ['agent', tables.agents, {}],
    ['user', tables.users, {}],
    ['skill', tables.skills, {}],
    ['session', tables.sessions, { projectId: text('p-live') }],
    ['schedule', tables.schedules, { ...enabled, parentType: text('project'), parentId: text('p-live') }],
  ] as const
  for (const [type, table, values] of parents) {
    const itsId = text(`${type === 'project' || type === 'agent' ? type[0] : type}-${state}`)
    const { projectId = type === 'project' ? itsId : 'null' }: Sql = values
    if (state === 'live') fill(table, { name: text(`${type}-live`), ...values, id: itsId }, 1)
    else fill(tables.deletions, { resourceType: text(type), resourceId: itsId, projectId, ...deletionIn(state) }, 1)
  }
  const [project, agent] = [text(`p-${state}`), text(`a-${state}`)]
  const oneOfMany = (table: string) => id(`${table}-${state}`)
  /** For half of the rows what is in the state itself, and for half what is in a project in the state. */
  const either = (one: string, many: string) => `iif(i % 4 < 2, '${one}-${state}', ${oneOfMany(many)})`
  const inProject = { projectId: project, createdAt: time('2020') }
  fill(tables.sessions, { id: oneOfMany('session'), ...inProject })
  fill(tables.pullRequests, { id: oneOfMany('pull-request'), ...inProject })
  const ofProject = { parentType: text('project'), parentId: project }
  fill(tables.schedules, { ...enabled, ...ofProject, id: oneOfMany('schedule') })
  fill(tables.schedules, { ...enabled, id: oneOfMany('agent-schedule'), parentType: text('agent'), parentId: agent })
  for (const [index, [kind, values]] of Object.entries(RUNS).entries()) {
    const ids = { id: `'${LAST_MONTH}-${kind}-${state}-' || i`, scheduleId: either('schedule', 'schedule') }
    // A schedule has one run for each time.
    fill(tables.runs, { ...ofProject, ...ids, scheduledAt: time(String(2001 + index)), ...values })
  }
  const span = { missedFrom: time('2020'), missedUntil: text('2021-01-01T00:00:00.000Z') }
  const { cron, timezone } = enabled
  fill(tables.missedSpans, { ...ofProject, scheduleId: oneOfMany('schedule'), ...span, cron, timezone })
  const sessionId = either('session', 'session')
  const objectKey = `'${organization}-' || ${oneOfMany('object')}`
  fill(tables.sessionFiles, { id: oneOfMany('file'), sessionId, path: id('path'), objectKey })
  fill(tables.environmentVariables, { projectId: project, key: id('KEY') })
  fill(tables.variableRequests, { projectId: project, idempotencyKey: id('request'), createdAt: text(LONG_AGO) })
  const pinned = { resourceType: text('session'), position: 'i' }
  fill(tables.pins, { ...pinned, userId: either('user', 'user'), resourceId: oneOfMany('session') })
  fill(tables.pins, { ...pinned, userId: oneOfMany('other-user'), resourceId: text(`session-${state}`) })
  fill(tables.profilePictures, { userId: oneOfMany('user'), objectKey })
  const skillId = text(`skill-${state}`)
  fill(tables.skillVersions, { skillId, version: 'i', files: text('[]'), objectKey })
  fill(tables.skillContents, { skillId, sha256: id('content') })
}

const enabled = { cron: text('0 6 * * *'), timezone: text('UTC'), enabledAt: text(LONG_AGO), nextRunAt: text(LONG_AGO) }

/** Runs in each state: to pull, overdue, with a claim that has ended, with one that has not, and over. */
const RUNS = {
  pending: { status: text('pending') },
  overdue: { status: text('pending'), checkAt: text(LONG_AGO) },
  lapsed: { status: text('delivered'), checkAt: text(LONG_AGO), startedAt: text(LONG_AGO), claimId: text('claim') },
  running: { status: text('delivered'), checkAt: text(FAR_AHEAD), startedAt: text(LONG_AGO), claimId: text('claim') },
  succeeded: { status: text('succeeded') },
  failed: { status: text('failed'), failure: text('task') },
  old: { status: text('skipped'), createdAt: text(LONG_AGO), id: `'00-' || hex(randomblob(8))` },
}
/** Keys, sessions and grants: live ones, and those that have ended in each way. */
function fillKeys(fill: Fill): void {
  for (const kind of ['key', 'session', 'grant']) {
    const own = { kind: text(kind), scopes: text('["pins"]'), identityId: kind === 'key' ? 'null' : id('identity') }
    const endings = {
      live: { expiresAt: kind === 'key' ? 'null' : text(FAR_AHEAD) },
      expired: { expiresAt: text(LONG_AGO) },
      revoked: { revokedAt: text(LONG_AGO) },
      rotated: { rotatedAt: text(LONG_AGO), expiresAt: text(FAR_AHEAD) },
    }
    for (const [ending, values] of Object.entries(endings))
      fill(tables.apiKeys, { ...own, ...values, id: id(`${ending}-${kind}`), hash: 'hex(randomblob(32))' })
  }
}

/** Adds rows. A column that is not given is null or, if it cannot be, has a value of its type. */
function filling(table: SQLiteTable, values: Sql, count: number): D1PreparedStatement {
  const columns = Object.values(getTableColumns(table))
  const names = columns.map(({ name }) => `"${name}"`)
  const filled = columns.map(({ name, dataType, enumValues, notNull }) => {
    const value = values[name]
    if (value !== undefined || !notNull) return value ?? 'null'
    if (/At$|From$|Until$/.test(name)) return text(new Date().toISOString())
    if (enumValues?.[0]) return text(enumValues[0])
    return dataType === 'number' ? '0' : `'${name}-' || i`
  })
  return env.DB.prepare(
    `INSERT INTO "${getTableName(table)}" (${names.join(', ')})
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
     SELECT ${filled.join(', ')} FROM n`,
  )
}
