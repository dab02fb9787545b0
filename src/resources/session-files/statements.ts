/** The files of a session, in SQL. */
import { and, asc, eq, gt, isNotNull, isNull, ne, not, notExists, or, sql } from 'drizzle-orm'
import { createdOrUpdated, guardedChange, recordedBefore } from '../../access/events.ts'
import { isUnrestricted } from '../../access/guard.ts'
import { hasProject, namedProjectResource } from '../../access/platform-resource.ts'
import { authorized, isNew, precondition, requiring, uncheckedPrecondition } from '../../access/preconditions.ts'
import { projectIsActive } from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { hasDeleted, listOf } from '../../db/examined.ts'
import { cursor, now, number, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { containsIfGiven, excluded, indexedBy, insertRow } from '../../db/rows.ts'
import { apiKeys, orphanedObjects, sessionFiles, sessions } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { writtenObject } from '../../objects/orphans.ts'
import { cursorMismatch, SESSION, sessionFileNotFound, sessionRequired, uploadExpired } from './failures.ts'

const sessionId = text('sessionId')
const fileId = text('fileId')
const path = text('path')
const objectId = text('objectId')
const objectKey = text('objectKey')
const sizeBytes = number('sizeBytes')
const contentType = textOrNull('contentType')
const sha256 = text('sha256')
/** When the sweep deletes an orphaned object: nothing can still write it then. */
const deleteAfter = text('deleteAfter')

const session = namedProjectResource({ ...SESSION, table: sessions }, sessionId)
const sessionIsReadable = {
  sessionExists: session.exists,
  sessionIsAccessible: session.isAccessible,
  sessionIsNotDeleted: session.isNotDeleted,
}

/** A file as the API has it. */
const fields = {
  id: sessionFiles.id,
  sessionId: sessionFiles.sessionId,
  path: sessionFiles.path,
  createdAt: sessionFiles.createdAt,
  updatedAt: sessionFiles.updatedAt,
}

/** A file with what is known of its content. */
const details = {
  ...fields,
  sizeBytes: sessionFiles.sizeBytes,
  contentType: sql<string>`coalesce(${sessionFiles.contentType}, 'application/octet-stream')`.as('contentType'),
  sha256: sessionFiles.sha256,
}

const fileOfOtherSession = query
  .select({ one: sql`1` })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, apiKeys.organizationId),
      eq(sessionFiles.id, cursor),
      ne(sessionFiles.sessionId, sessionId),
    ),
  )

export const listable = requiring(session.joins, {
  ...sessionIsReadable,
  cursorIsInSession: precondition(notExists(fileOfOtherSession), cursorMismatch, { cursor, sessionId }),
})

/** Keyset paging: a page reads only the rows that it returns. */
export const selectFiles = guarded(listable, { rowLimit }, () =>
  query
    .select(fields)
    .from(sessionFiles)
    .where(
      and(
        eq(sessionFiles.organizationId, listable.organizationId),
        eq(sessionFiles.sessionId, sessionId),
        gt(sessionFiles.id, cursor),
      ),
    )
    .orderBy(asc(sessionFiles.id))
    .limit(rowLimit),
)

const pathQuery = textOrNull('query')
const hasQuery = containsIfGiven(sessionFiles.path, pathQuery)
const position = { id: sessionFiles.id }
const order = asc(sessionFiles.id)

export const searchable = requiring([], {
  isUnrestricted: precondition(isUnrestricted, sessionRequired),
})

const isSessionOfFile = and(
  eq(sessions.organizationId, sessionFiles.organizationId),
  eq(sessions.id, sessionFiles.sessionId),
)

export const searchFiles = listOf(
  searchable,
  { cursor, pathQuery },
  {
    table: sessionFiles,
    source: indexedBy(sessionFiles, 'sessionFilesById'),
    isInRange: and(eq(sessionFiles.organizationId, searchable.organizationId), gt(sessionFiles.id, cursor)),
    order,
    position,
    fields,
    joins: sql`inner join ${sessions} on ${isSessionOfFile}`,
    isListed: and(hasQuery, hasProject(sessions)),
    mayLeaveOut: or(isNotNull(pathQuery), hasDeleted(searchable.organizationId, 'project', 'session')),
  },
)

export const searchableInSession = requiring(session.joins, sessionIsReadable)

export const searchFilesOfSession = listOf(
  searchableInSession,
  { cursor, pathQuery },
  {
    table: sessionFiles,
    isInRange: and(
      eq(sessionFiles.organizationId, searchableInSession.organizationId),
      eq(sessionFiles.sessionId, sessionId),
      gt(sessionFiles.id, cursor),
    ),
    order,
    position,
    fields,
    isListed: hasQuery,
    mayLeaveOut: isNotNull(pathQuery),
  },
)

const isOfSession = and(
  eq(sessionFiles.organizationId, sessions.organizationId),
  eq(sessionFiles.sessionId, sessions.id),
)
/** The file that an upload replaces, if there is one at its path. */
const replacedFile = {
  table: sessionFiles,
  on: and(isOfSession, eq(sessionFiles.path, path)),
  takes: { path },
}
const uploadPreconditions = {
  ...sessionIsReadable,
  projectIsActive,
  exceededQuota: withinQuotas(
    {
      files: isNull(sessionFiles.id),
      bytes: sql`${sizeBytes} - coalesce(${sessionFiles.sizeBytes}, 0)`,
    },
    { sizeBytes },
  ),
}
const uploadJoins = [...session.joins, session.itsProject, replacedFile]

export const uploadable = requiring(uploadJoins, uploadPreconditions)

/** Adds the object that the upload will write to the orphans, so that the sweep deletes it if the upload fails. */
export const beginUpload = guarded(uploadable, { objectId, deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(
      uploadable.rows(
        insertRow(orphanedObjects, {
          objectKey: sql`'session-files/' || ${sessions.organizationId} || '/' || ${objectId}`,
          deleteAfter,
        }),
      ),
    )
    .returning({ objectKey: orphanedObjects.objectKey }),
)

export const recordable = requiring(
  [...uploadJoins, writtenObject],
  {
    ...uploadPreconditions,
    isInTime: uncheckedPrecondition(isNotNull(orphanedObjects.objectKey), uploadExpired),
  },
  { isNew: isNew(sessionFiles.id) },
)

export const addReplacedToOrphans = guarded(recordable, { deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(
      recordable.rows(
        insertRow(orphanedObjects, { objectKey: sessionFiles.objectKey, deleteAfter }),
        isNotNull(sessionFiles.objectKey),
      ),
    )
    .onConflictDoNothing(),
)

const recordedUpload = recordedBefore(
  recordable,
  { fileId },
  {
    type: createdOrUpdated('session-file', sessionFiles.id),
    id: sql`coalesce(${sessionFiles.id}, ${fileId})`,
    parentId: sessions.id,
    name: path,
    projectId: sessions.projectId,
  },
)

/** Records the upload: a new file, or new content of the one at the same path. */
export const putFile = guardedChange(recordable, { fileId, contentType, sha256 }, recordedUpload, () =>
  query
    .insert(sessionFiles)
    .select(
      recordable.rows(
        insertRow(sessionFiles, {
          organizationId: sessions.organizationId,
          sessionId: sessions.id,
          id: fileId,
          path,
          objectKey: orphanedObjects.objectKey,
          sizeBytes: sql`cast(${sizeBytes} as integer)`,
          createdAt: now,
          updatedAt: now,
          contentType,
          sha256,
        }),
      ),
    )
    .onConflictDoUpdate({
      target: [sessionFiles.organizationId, sessionFiles.sessionId, sessionFiles.path],
      set: {
        objectKey: excluded('objectKey'),
        sizeBytes: excluded('sizeBytes'),
        updatedAt: excluded('updatedAt'),
        contentType: excluded('contentType'),
        sha256: excluded('sha256'),
      },
    })
    .returning(details),
)

const recordedObject = query
  .select({ objectKey: sessionFiles.objectKey })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, authorized.organizationId),
      eq(sessionFiles.sessionId, sessionId),
      eq(sessionFiles.path, path),
      eq(sessionFiles.objectKey, objectKey),
    ),
  )

export const removeRecordedFromOrphans = guarded(authorized, { sessionId, path, objectKey }, () =>
  query.delete(orphanedObjects).where(eq(orphanedObjects.objectKey, recordedObject)),
)

/**
 * The upload may have taken so long that the sweep has removed its object from the orphans. It acts where the guard
 * does not hold, too: the service chose the key of the object, so it belongs to nobody else.
 */
export const addUnrecordedToOrphans = guarded(authorized, { objectKey, deleteAfter, sessionId, path }, () =>
  query
    .insert(orphanedObjects)
    .select(sql`select ${objectKey}, ${deleteAfter} where ${notExists(recordedObject)}`)
    .onConflictDoNothing(),
)

const namedFile = {
  table: sessionFiles,
  on: and(isOfSession, eq(sessionFiles.id, fileId)),
  takes: { fileId },
}
const fileIsReadable = {
  ...sessionIsReadable,
  /** Holds where the session was deleted, too: that is 410. */
  fileExists: precondition(or(isNotNull(sessionFiles.id), not(session.isNotDeleted.holds)), sessionFileNotFound),
}

export const readable = requiring([...session.joins, namedFile], fileIsReadable)

export const selectFile = guarded(readable, {}, () => readable.rows(details))

export const selectContent = guarded(readable, {}, () =>
  readable.rows({
    objectKey: sessionFiles.objectKey,
    sizeBytes: sessionFiles.sizeBytes,
  }),
)

export const deletable = requiring([...session.joins, session.itsProject, namedFile], {
  ...fileIsReadable,
  projectIsActive,
})

export const addDeletedToOrphans = guarded(deletable, { deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(deletable.rows(insertRow(orphanedObjects, { objectKey: sessionFiles.objectKey, deleteAfter })))
    .onConflictDoNothing(),
)

const recordedDeletion = recordedBefore(
  deletable,
  {},
  {
    type: 'session-file.deleted',
    id: sessionFiles.id,
    parentId: sessionFiles.sessionId,
    name: sessionFiles.path,
    projectId: sessions.projectId,
  },
)

export const deleteFile = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(sessionFiles)
    .where(
      and(
        eq(sessionFiles.organizationId, deletable.organizationId),
        eq(sessionFiles.sessionId, sessionId),
        eq(sessionFiles.id, fileId),
      ),
    )
    .returning({ objectKey: sessionFiles.objectKey }),
)
