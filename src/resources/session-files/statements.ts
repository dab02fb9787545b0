/** The files of a session, in SQL. */
import { and, asc, eq, gt, isNotNull, isNull, ne, not, or, type SQL, sql } from 'drizzle-orm'
import { callerOrganization, explaining, isInReach, mayAct, now } from '../../access/guard.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, deletions, orphanedObjects, projects, sessionFiles, sessions } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'

const sessionId = sql.placeholder('sessionId')
const fileId = sql.placeholder('fileId')
const path = sql.placeholder('path')
const objectKey = sql.placeholder('objectKey')
const sizeBytes = sql.placeholder('sizeBytes')
/** When the sweep deletes a orphaned object: nothing can still write it then. */
const deleteAfter = sql.placeholder('deleteAfter')
/** The id that the page begins after; the empty text comes before every id. */
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

const isSession = and(eq(sessions.organizationId, apiKeys.organizationId), eq(sessions.id, sessionId))
/** A session is there as long as its project is. */
const isItsProject = and(
  eq(projects.organizationId, sessions.organizationId),
  eq(projects.id, sessions.projectId),
)
const wasDeleted = and(
  eq(deletions.organizationId, apiKeys.organizationId),
  eq(deletions.resourceType, 'session'),
  eq(deletions.resourceId, sessionId),
)

/** Explains the session that the request names, with facts of its own. */
function explainingSession<Facts extends Record<string, SQL.Aliased>>(facts: Facts) {
  return explaining({
    sessionExists: sql<0 | 1>`${or(isNotNull(sessions.id), isNotNull(deletions.resourceId))}`.as(
      'sessionExists',
    ),
    inReach: sql<0 | 1>`${isInReach(sql`coalesce(${sessions.projectId}, ${deletions.projectId})`)}`.as(
      'inReach',
    ),
    isDeleted: sql<0 | 1>`${isNull(projects.id)}`.as('isDeleted'),
    isFrozen: sql<0 | 1>`${isNotNull(projects.archivedAt)}`.as('isFrozen'),
    ...facts,
  })
    .leftJoin(sessions, isSession)
    .leftJoin(projects, isItsProject)
    .leftJoin(deletions, wasDeleted)
}

/** The size of the file that an upload replaces; NULL if there is none at its path. */
const replacedBytes = sql`${query
  .select({ sizeBytes: sessionFiles.sizeBytes })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, apiKeys.organizationId),
      eq(sessionFiles.sessionId, sessionId),
      eq(sessionFiles.path, path),
    ),
  )}`
const exceeded = exceededQuota({
  files: sql`${replacedBytes} is null`,
  bytes: sql`${sizeBytes} - coalesce(${replacedBytes}, 0)`,
})
export const explainUpload = guarded(() => explainingSession({ exceededQuota: exceeded.as('exceededQuota') }))

const isElsewhere = sql<0 | 1>`exists ${query
  .select({ one: sql`1` })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, apiKeys.organizationId),
      eq(sessionFiles.id, cursor),
      ne(sessionFiles.sessionId, sessionId),
    ),
  )}`

export const explainList = guarded(() =>
  explainingSession({ cursorIsElsewhere: isElsewhere.as('cursorIsElsewhere') }),
)

const mayRead = and(mayAct, isInReach(sessions.projectId))
const mayWrite = and(mayRead, isNull(projects.archivedAt))

const mayUpload = and(mayWrite, isNull(exceeded))

const isOfSession = and(
  eq(sessionFiles.organizationId, sessions.organizationId),
  eq(sessionFiles.sessionId, sessions.id),
)

/** SPEC.txt, Session file. */
const file = {
  id: sessionFiles.id,
  sessionId: sessionFiles.sessionId,
  path: sessionFiles.path,
  createdAt: sessionFiles.createdAt,
  updatedAt: sessionFiles.updatedAt,
}

/** The organization of the session, if the caller may list its files; else NULL, which matches no row. */
const listedFrom = query
  .select({ organizationId: sessions.organizationId })
  .from(apiKeys)
  .innerJoin(sessions, isSession)
  .innerJoin(projects, isItsProject)
  .where(and(mayRead, not(isElsewhere)))

/** Keyset paging: a page costs the rows that it answers with. */
export const selectFiles = guarded(() =>
  query
    .select(file)
    .from(sessionFiles)
    .where(
      and(
        eq(sessionFiles.organizationId, listedFrom),
        eq(sessionFiles.sessionId, sessionId),
        gt(sessionFiles.id, cursor),
      ),
    )
    .orderBy(asc(sessionFiles.id))
    .limit(rowLimit),
)

/** An upload begins by deletingWithObjects the object that it writes, so that no byte of one that fails stays for good. */
export const beginUpload = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(
          insertRow(orphanedObjects, {
            objectKey: sql`'session-files/' || ${sessions.organizationId} || '/' || ${sql.placeholder('objectId')}`,
            deleteAfter,
          }),
        )
        .from(apiKeys)
        .innerJoin(sessions, isSession)
        .innerJoin(projects, isItsProject)
        .where(mayUpload),
    )
    .returning({ objectKey: orphanedObjects.objectKey }),
)

/** The object of the upload, as long as the sweep is far from it. */
const isUploaded = and(
  eq(orphanedObjects.objectKey, objectKey),
  gt(orphanedObjects.deleteAfter, sql.placeholder('notSweptBefore')),
)

/** Orphans the object that the upload takes the place of, if any. */
export const orphanReplaced = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: sessionFiles.objectKey, deleteAfter }))
        .from(apiKeys)
        .innerJoin(sessions, isSession)
        .innerJoin(projects, isItsProject)
        .innerJoin(orphanedObjects, isUploaded)
        .innerJoin(sessionFiles, and(isOfSession, eq(sessionFiles.path, path)))
        .where(mayUpload),
    )
    .onConflictDoNothing(),
)

/** Records the upload: a new file, or new content of the one at the same path. */
export const putFile = guardedChange(() =>
  query
    .insert(sessionFiles)
    .select(
      query
        .select(
          insertRow(sessionFiles, {
            organizationId: sessions.organizationId,
            sessionId: sessions.id,
            id: fileId,
            path,
            objectKey: orphanedObjects.objectKey,
            sizeBytes: sql`cast(${sizeBytes} as integer)`,
            createdAt: now,
            updatedAt: now,
          }),
        )
        .from(apiKeys)
        .innerJoin(sessions, isSession)
        .innerJoin(projects, isItsProject)
        .innerJoin(orphanedObjects, isUploaded)
        .where(mayUpload),
    )
    .onConflictDoUpdate({
      target: [sessionFiles.organizationId, sessionFiles.sessionId, sessionFiles.path],
      set: {
        objectKey: excluded('objectKey'),
        sizeBytes: excluded('sizeBytes'),
        updatedAt: excluded('updatedAt'),
      },
    })
    .returning(file),
)

const recordedObject = query
  .select({ objectKey: sessionFiles.objectKey })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, callerOrganization),
      eq(sessionFiles.sessionId, sessionId),
      eq(sessionFiles.path, path),
      eq(sessionFiles.objectKey, objectKey),
    ),
  )

/** What is recorded is orphaned no longer. */
export const keepUploaded = guarded(() =>
  query.delete(orphanedObjects).where(eq(orphanedObjects.objectKey, recordedObject)),
)

/**
 * What is not recorded stays orphaned, also where it took so long to store that the sweep was there before. It acts where
 * the guard does not hold, too: the key of the object is the service's own, and nobody else's.
 */
export const orphanUnrecorded = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(sql`select ${objectKey}, ${sql.placeholder('deleteAfter')} where not exists ${recordedObject}`)
    .onConflictDoNothing(),
)

const isFile = and(isOfSession, eq(sessionFiles.id, fileId))

export const explainFile = guarded(() =>
  explainingSession({ fileExists: sql<0 | 1>`${isNotNull(sessionFiles.id)}`.as('fileExists') }).leftJoin(
    sessionFiles,
    isFile,
  ),
)

export const selectContent = guarded(() =>
  query
    .select({ objectKey: sessionFiles.objectKey, sizeBytes: sessionFiles.sizeBytes })
    .from(apiKeys)
    .innerJoin(sessions, isSession)
    .innerJoin(projects, isItsProject)
    .innerJoin(sessionFiles, isFile)
    .where(mayRead),
)

export const orphanContent = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: sessionFiles.objectKey, deleteAfter }))
        .from(apiKeys)
        .innerJoin(sessions, isSession)
        .innerJoin(projects, isItsProject)
        .innerJoin(sessionFiles, isFile)
        .where(mayWrite),
    )
    .onConflictDoNothing(),
)

/** The organization of the session, if the caller may change its files; else NULL, which matches no row. */
const changeableOrganization = query
  .select({ organizationId: sessions.organizationId })
  .from(apiKeys)
  .innerJoin(sessions, isSession)
  .innerJoin(projects, isItsProject)
  .where(mayWrite)

export const deleteFile = guardedChange(() =>
  query
    .delete(sessionFiles)
    .where(
      and(
        eq(sessionFiles.organizationId, changeableOrganization),
        eq(sessionFiles.sessionId, sessionId),
        eq(sessionFiles.id, fileId),
      ),
    )
    .returning({ objectKey: sessionFiles.objectKey }),
)
