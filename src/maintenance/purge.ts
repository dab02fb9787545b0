/**
 * The purge: deletes the rows that depend on a deleted resource, page by page, once the deletion is final. No new
 * dependents can be created, so every purge ends.
 */
import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { DatabaseEnvironment } from '../db/database.ts'
import { isSettled } from '../db/halts.ts'
import { now, text } from '../db/parameters.ts'
import { indexedBy, jsonRows, keyOf } from '../db/rows.ts'
import {
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
  skillContents,
  skillVersions,
  variableRequests,
} from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'

/** How many deletions are processed at a time, and how many rows of each table are deleted for them. */
const PAGE_DELETIONS = 500
const PAGE_ROWS = 1000
const MAX_PAGES_PER_TICK = 2
const MAX_ORGANIZATIONS = 500

const dayAgo = text('dayAgo')

/** The condition of the index `deletionsToPurge`: final deletions that may still have dependents. */
const isToPurge = sql`${deletions.purgedAt} is null and ${deletions.row} is null`
/** The organizations of a page, in order. */
const organizations = jsonRows('organizations', 'id')
/** The oldest deletions of the first organization, then those of the next one. */
const pendingDeletions = sql`(select ${deletions}.* from ${organizations.table}
  cross join ${indexedBy(deletions, 'deletionsToPurge')}
  on ${deletions.organizationId} = ${organizations.column('id')} and ${isToPurge} and ${deletions.finalAt} <= ${now}
  where ${isSettled(deletions.organizationId)} limit ${sql.raw(String(PAGE_DELETIONS))}) as "pending"`
const of = (column: keyof typeof deletions.$inferSelect) => sql`"pending".${sql.identifier(column)}`
const isOf = (type: (typeof deletions.$inferSelect)['resourceType']) => sql`${of('resourceType')} = ${type}`
const isId = (column: SQLWrapper) => sql`${column} = ${of('resourceId')}`

/** A table, and which of its rows depend on a deletion. */
interface Dependents {
  readonly table: SQLiteTable & { readonly organizationId: SQLWrapper }
  readonly dependsOn: SQL
}

const sessionsOfProject = {
  table: sessions,
  dependsOn: sql`${isOf('project')} and ${isId(sessions.projectId)}`,
}
const pullRequestsOfProject = {
  table: pullRequests,
  dependsOn: sql`${isOf('project')} and ${isId(pullRequests.projectId)}`,
}
const schedulesOfParent = {
  table: schedules,
  dependsOn: sql`${schedules.parentType} = ${of('resourceType')} and ${isId(schedules.parentId)}`,
}
const filesOfSession = {
  table: sessionFiles,
  dependsOn: sql`${isOf('session')} and ${isId(sessionFiles.sessionId)}`,
}
const pictureOfUser = {
  table: profilePictures,
  dependsOn: sql`${isOf('user')} and ${isId(profilePictures.userId)}`,
}
const versionsOfSkill = {
  table: skillVersions,
  dependsOn: sql`${isOf('skill')} and ${isId(skillVersions.skillId)}`,
}
const leaves: readonly Dependents[] = [
  { table: skillContents, dependsOn: sql`${isOf('skill')} and ${isId(skillContents.skillId)}` },
  { table: runs, dependsOn: sql`${isOf('schedule')} and ${isId(runs.scheduleId)}` },
  { table: missedSpans, dependsOn: sql`${isOf('schedule')} and ${isId(missedSpans.scheduleId)}` },
  {
    table: environmentVariables,
    dependsOn: sql`${isOf('project')} and ${isId(environmentVariables.projectId)}`,
  },
  { table: variableRequests, dependsOn: sql`${isOf('project')} and ${isId(variableRequests.projectId)}` },
  { table: pins, dependsOn: sql`${pins.resourceType} = ${of('resourceType')} and ${isId(pins.resourceId)}` },
  { table: pins, dependsOn: sql`${isOf('user')} and ${isId(pins.userId)}` },
]
const allDependents: readonly Dependents[] = [
  sessionsOfProject,
  pullRequestsOfProject,
  schedulesOfParent,
  filesOfSession,
  pictureOfUser,
  versionsOfSkill,
  ...leaves,
]

const earlier = alias(deletions, 'earlier')
/** The deletions of what a project or an agent had: nothing of it can be restored any more. */
const deletionsWithin = [
  sql`${isOf('project')} and ${isId(earlier.projectId)}`,
  sql`${isOf('agent')} and ${earlier.projectId} is null and ${isId(earlier.agentId)}`,
].map(
  (
    isWithin,
  ) => sql`${deletions} as "earlier" indexed by "deletionsByParent" on ${earlier.organizationId} = ${of('organizationId')}
      and ${earlier.id} is not null and ${isWithin}`,
)

/** A page of the dependents of the pending deletions. */
const pageOf = ({ table, dependsOn }: Dependents, columns: SQL) =>
  sql`select ${columns} from ${pendingDeletions} cross join ${table}
      on ${table.organizationId} = ${of('organizationId')} and ${dependsOn}
      limit ${sql.raw(String(PAGE_ROWS))}`

const deletePage = (dependents: Dependents) =>
  unguarded({ parameter: organizations.parameter, now }, () =>
    query
      .delete(dependents.table)
      .where(sql`(${keyOf(dependents.table)}) in (${pageOf(dependents, keyOf(dependents.table))})`),
  )

/**
 * The dependents that also meet a condition. A deletion requires that the step before it is done for the same row,
 * because the pages of two steps may differ.
 */
const narrowed = <D extends Dependents>(dependents: D, condition: SQL): D => ({
  ...dependents,
  dependsOn: sql`${dependents.dependsOn} and ${condition}`,
})

/** Dependents that have dependents of their own, or an ID that is never used again, get a deletion of their own. */
function deleteWithDependents(
  dependents: Dependents & { readonly table: typeof sessions | typeof pullRequests | typeof schedules },
  type: 'session' | 'pull_request' | 'schedule',
  projectId: SQLWrapper,
) {
  const { table } = dependents
  const isRecorded = sql`exists (select 1 from ${deletions} where ${deletions.organizationId} = ${table.organizationId}
    and ${deletions.resourceType} = ${type} and ${deletions.resourceId} = ${table.id})`
  const row = sql`${table.organizationId}, ${type}, ${table.id}, ${projectId}, null, ${now}, ${now}, null, null, null`
  return [
    unguarded({ parameter: organizations.parameter, now }, () =>
      query.insert(deletions).select(pageOf(dependents, row)).onConflictDoNothing(),
    ),
    deletePage(narrowed(dependents, isRecorded)),
  ]
}

/** Orphans the objects of the rows first. They are not written any more, so the sweep that follows may delete them. */
function deleteWithObjects(dependents: Dependents, objectKey: SQLWrapper) {
  const isOrphaned = sql`(${objectKey} is null or exists (select 1 from ${orphanedObjects} where ${orphanedObjects.objectKey} = ${objectKey}))`
  const page = pageOf(narrowed(dependents, sql`${objectKey} is not null`), sql`${objectKey}, ${now}`)
  return [
    unguarded({ parameter: organizations.parameter, now }, () =>
      query.insert(orphanedObjects).select(page).onConflictDoNothing(),
    ),
    deletePage(narrowed(dependents, isOrphaned)),
  ]
}

const hasNoDependents = sql.join(
  allDependents.map(
    ({ table, dependsOn }) =>
      sql`not exists (select 1 from ${table} where ${table.organizationId} = ${of('organizationId')} and ${dependsOn})`,
  ),
  sql` and `,
)

/** Removes the copies of the rows of deletions that have become final. Their dependents are purged after that. */
export const dropRows = unguarded({ now }, () =>
  query
    .update(deletions)
    .set({ id: null, row: null })
    .where(
      sql`(${keyOf(deletions)}) in (select ${keyOf(deletions)} from ${indexedBy(deletions, 'deletionsByEnd')}
        where ${deletions.row} is not null and ${deletions.finalAt} <= ${now} and ${isSettled(deletions.organizationId)}
        order by ${deletions.finalAt} limit ${sql.raw(String(PAGE_ROWS))})`,
    ),
)

const endDeletionsWithin = deletionsWithin.map((within) =>
  unguarded({ parameter: organizations.parameter, now }, () =>
    query
      .update(deletions)
      .set({ finalAt: sql`${now}`, id: null, row: null })
      .where(
        sql`(${keyOf(deletions)}) in (select ${earlier.organizationId}, ${earlier.resourceType}, ${earlier.resourceId}
          from ${pendingDeletions} cross join ${within} limit ${sql.raw(String(PAGE_ROWS))})`,
      ),
  ),
)

const hasNoDeletionsWithin = sql.join(
  deletionsWithin.map((within) => sql`not exists (select 1 from (select 1) cross join ${within})`),
  sql` and `,
)

/** Marks the deletions that have no dependents left as purged. */
export const markPurged = unguarded({ parameter: organizations.parameter, now }, () =>
  query
    .update(deletions)
    .set({ purgedAt: sql`${now}` })
    .where(
      sql`(${keyOf(deletions)}) in (select ${of('organizationId')}, ${of('resourceType')}, ${of('resourceId')}
        from ${pendingDeletions} where ${hasNoDependents} and ${hasNoDeletionsWithin})`,
    ),
)

const nextOrganization = sql`(select ${deletions.organizationId} from ${indexedBy(deletions, 'deletionsToPurge')}
  where ${isToPurge} and ${deletions.organizationId} > "organization"."id" order by ${deletions.organizationId} limit 1)`

/** The organizations that have deletions to purge. It leaps from one to the next, however many deletions each has. */
export const selectOrganizations = unguarded({ now }, () =>
  query.select({ id: sql<string>`"id"`.as('id') }).from(
    sql`(with recursive "organization"("id") as (
      select '' union all select ${nextOrganization} from "organization" where "id" is not null
    ) select "id" from "organization" where "id" > '' and ${isSettled(sql`"id"`)} limit ${sql.raw(String(MAX_ORGANIZATIONS))})`,
  ),
)

export const deleteExpiredRequests = unguarded({ dayAgo, now }, () =>
  query.delete(variableRequests).where(
    sql`(${keyOf(variableRequests)}) in (select ${keyOf(variableRequests)}
        from ${indexedBy(variableRequests, 'variableRequestsByAge')}
        where ${variableRequests.createdAt} <= ${dayAgo} and ${isSettled(variableRequests.organizationId)}
        order by ${variableRequests.createdAt} limit ${sql.raw(String(PAGE_ROWS))})`,
  ),
)

export const purgePage = [
  ...endDeletionsWithin,
  ...deleteWithDependents(sessionsOfProject, 'session', sessions.projectId),
  ...deleteWithDependents(pullRequestsOfProject, 'pull_request', pullRequests.projectId),
  ...deleteWithDependents(schedulesOfParent, 'schedule', sql`null`),
  ...deleteWithObjects(filesOfSession, sessionFiles.objectKey),
  ...deleteWithObjects(pictureOfUser, profilePictures.objectKey),
  ...deleteWithObjects(versionsOfSkill, skillVersions.objectKey),
  ...leaves.map(deletePage),
  markPurged,
]

/** Deletes some pages of dependents, and the `Idempotency-Key`s of environment variables that are over a day old. */
export async function purgeDeletions({ database }: DatabaseEnvironment, instant: Date): Promise<void> {
  const values = {
    now: instant.toISOString(),
    dayAgo: new Date(instant.getTime() - DAY_MS).toISOString(),
  }
  let { found } = await runBatch(database, { dropRows, found: selectOrganizations, deleteExpiredRequests }, values)
  for (let count = 0; found.length > 0 && count < MAX_PAGES_PER_TICK; count++) {
    // Each page begins with the next organization, so that none waits until a large one is done.
    const first = (Math.floor(instant.getTime() / 60_000) * MAX_PAGES_PER_TICK + count) % found.length
    const inTurn = [...found.slice(first), ...found.slice(0, first)]
    const page = { ...values, organizations: organizations.value(inTurn) }
    ;({ found } = await runBatch(database, { purgePage, found: selectOrganizations }, page))
  }
}
