/** The purge: removes what hangs on what was deleted, in pages. Nothing new can hang on it, so each comes to its end. */
import { isNull, lte, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { TickEnvironment } from '../db/database.ts'
import {
  apiKeys,
  deletions,
  environmentVariables,
  missedSpans,
  orphanedObjects,
  pins,
  profilePictures,
  pullRequests,
  runs,
  schedules,
  sessionFiles,
  sessions,
  variableRequests,
} from '../db/schema.ts'
import { query, runBatch, type Statement, unguarded } from '../db/statement.ts'

/** How many deletions are worked on at a time, and how many rows of a kind are removed for them. */
const DELETIONS_A_PAGE = 500
const ROWS_A_PAGE = 1000
const PAGES_A_TICK = 2

const DAY_MS = 86_400_000

const now = sql.placeholder('now')

/** The oldest deletions that something may still hang on. */
const pending = sql`(select rowid as "deletion", * from ${deletions} where ${deletions.purgedAt} is null
  order by ${deletions.deletedAt} limit ${sql.raw(String(DELETIONS_A_PAGE))}) as "pending"`
const of = (column: keyof typeof deletions.$inferSelect) => sql`"pending".${sql.identifier(column)}`
const isOf = (type: (typeof deletions.$inferSelect)['resourceType']) => sql`${of('resourceType')} = ${type}`
const isId = (column: SQLWrapper) => sql`${column} = ${of('resourceId')}`

/** A table, and which of its rows hang on a deletion. */
interface Dependents {
  readonly table: SQLiteTable & { readonly organizationId: SQLWrapper }
  readonly hangsOn: SQL
}

const sessionsOfProject = {
  table: sessions,
  hangsOn: sql`${isOf('project')} and ${isId(sessions.projectId)}`,
}
const pullRequestsOfProject = {
  table: pullRequests,
  hangsOn: sql`${isOf('project')} and ${isId(pullRequests.projectId)}`,
}
const schedulesOfParent = {
  table: schedules,
  hangsOn: sql`${schedules.parentType} = ${of('resourceType')} and ${isId(schedules.parentId)}`,
}
const filesOfSession = {
  table: sessionFiles,
  hangsOn: sql`${isOf('session')} and ${isId(sessionFiles.sessionId)}`,
}
const pictureOfUser = {
  table: profilePictures,
  hangsOn: sql`${isOf('user')} and ${isId(profilePictures.userId)}`,
}
const others: readonly Dependents[] = [
  { table: runs, hangsOn: sql`${isOf('schedule')} and ${isId(runs.scheduleId)}` },
  { table: missedSpans, hangsOn: sql`${isOf('schedule')} and ${isId(missedSpans.scheduleId)}` },
  {
    table: environmentVariables,
    hangsOn: sql`${isOf('project')} and ${isId(environmentVariables.projectId)}`,
  },
  { table: variableRequests, hangsOn: sql`${isOf('project')} and ${isId(variableRequests.projectId)}` },
  { table: pins, hangsOn: sql`${pins.resourceType} = ${of('resourceType')} and ${isId(pins.resourceId)}` },
  { table: pins, hangsOn: sql`${isOf('user')} and ${isId(pins.userId)}` },
  { table: apiKeys, hangsOn: sql`${isOf('user')} and ${isId(apiKeys.userId)}` },
]
const allDependents: readonly Dependents[] = [
  sessionsOfProject,
  pullRequestsOfProject,
  schedulesOfParent,
  filesOfSession,
  pictureOfUser,
  ...others,
]

/** A page of what hangs on the pending deletions. */
const pageOf = ({ table, hangsOn }: Dependents, columns: SQL) =>
  sql`select ${columns} from ${pending} cross join ${table}
      on ${table.organizationId} = ${of('organizationId')} and ${hangsOn}
      limit ${sql.raw(String(ROWS_A_PAGE))}`

const rowid = (table: SQLiteTable) => sql`${table}.rowid`

const removing = (dependents: Dependents): Statement =>
  unguarded(() =>
    query
      .delete(dependents.table)
      .where(sql`${rowid(dependents.table)} in (${pageOf(dependents, rowid(dependents.table))})`),
  )

/** Those that meet a condition too. What is removed asks for what was done before, so pages may come in any order. */
const narrowed = <D extends Dependents>(dependents: D, condition: SQL): D => ({
  ...dependents,
  hangsOn: sql`${dependents.hangsOn} and ${condition}`,
})

/** What hangs on a deletion and has something hanging on itself, or an id that is never used again, is deleted in its turn. */
function deleting(
  dependents: Dependents & { readonly table: typeof sessions | typeof pullRequests | typeof schedules },
  type: 'session' | 'pull_request' | 'schedule',
  projectId: SQLWrapper,
): Statement[] {
  const { table } = dependents
  const isRemembered = sql`exists (select 1 from ${deletions} where ${deletions.organizationId} = ${table.organizationId}
    and ${deletions.resourceType} = ${type} and ${deletions.resourceId} = ${table.id})`
  const row = sql`${table.organizationId}, ${type}, ${table.id}, ${projectId}, ${now}, null`
  return [
    unguarded(() => query.insert(deletions).select(pageOf(dependents, row)).onConflictDoNothing()),
    removing(narrowed(dependents, isRemembered)),
  ]
}

/** The objects of the rows are orphaned first. Nothing writes them any more, so the sweep that follows may delete them. */
function deletingWithObjects(dependents: Dependents, objectKey: SQLWrapper): Statement[] {
  const isOrphaned = sql`(${objectKey} is null or exists (select 1 from ${orphanedObjects} where ${orphanedObjects.objectKey} = ${objectKey}))`
  const page = pageOf(narrowed(dependents, sql`${objectKey} is not null`), sql`${objectKey}, ${now}`)
  return [
    unguarded(() => query.insert(orphanedObjects).select(page).onConflictDoNothing()),
    removing(narrowed(dependents, isOrphaned)),
  ]
}

const isFree = sql.join(
  allDependents.map(
    ({ table, hangsOn }) =>
      sql`not exists (select 1 from ${table} where ${table.organizationId} = ${of('organizationId')} and ${hangsOn})`,
  ),
  sql` and `,
)

/** Ends the deletions that nothing hangs on any more. */
export const finish = unguarded(() =>
  query
    .update(deletions)
    .set({ purgedAt: sql`${now}` })
    .where(sql`${rowid(deletions)} in (select "deletion" from ${pending} where ${isFree})`),
)

export const selectPending = unguarded(() =>
  query.select({ id: deletions.resourceId }).from(deletions).where(isNull(deletions.purgedAt)).limit(1),
)

export const forgetRequests = unguarded(() =>
  query.delete(variableRequests).where(lte(variableRequests.createdAt, sql.placeholder('dayAgo'))),
)

export const page: readonly Statement[] = [
  ...deleting(sessionsOfProject, 'session', sessions.projectId),
  ...deleting(pullRequestsOfProject, 'pull_request', pullRequests.projectId),
  ...deleting(schedulesOfParent, 'schedule', sql`null`),
  ...deletingWithObjects(filesOfSession, sessionFiles.objectKey),
  ...deletingWithObjects(pictureOfUser, profilePictures.objectKey),
  ...others.map(removing),
  finish,
]

/** Removes some pages of what hangs on deletions, and forgets `Idempotency-Key`s that are over a day old. */
export async function purgeDeletions({ DB }: TickEnvironment, instant: Date): Promise<void> {
  const values = {
    now: instant.toISOString(),
    dayAgo: new Date(instant.getTime() - DAY_MS).toISOString(),
  }
  let [pendingRows] = await runBatch(DB, [selectPending, forgetRequests], values)
  for (let count = 0; pendingRows.length > 0 && count < PAGES_A_TICK; count++) {
    ;[, pendingRows] = await runBatch(DB, [page, selectPending], values)
  }
}
