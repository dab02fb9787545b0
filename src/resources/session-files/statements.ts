/** The files of a session, in SQL. */
import { and, asc, eq, gt, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { now } from '../../access/guard.ts'
import { namedProjectResource } from '../../access/platform-resource.ts'
import {
  authorized,
  isNew,
  type Join,
  precondition,
  requiring,
  uncheckedPrecondition,
} from '../../access/preconditions.ts'
import { projectIsActive } from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, orphanedObjects, sessionFiles, sessions } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import { writtenObject } from '../../objects/orphans.ts'

const sessionId = sql.placeholder('sessionId')
const fileId = sql.placeholder('fileId')
const path = sql.placeholder('path')
const objectKey = sql.placeholder('objectKey')
const sizeBytes = sql.placeholder('sizeBytes')
/** When the sweep deletes an orphaned object: nothing can still write it then. */
const deleteAfter = sql.placeholder('deleteAfter')
/** The id that the page begins after. The empty text comes before every id. */
const cursor = sql.placeholder('cursor')

const session = namedProjectResource({
  type: 'session',
  noun: 'session',
  idName: 'sessionId',
  table: sessions,
})
const sessionIsReadable = {
  sessionExists: session.exists,
  sessionIsInReach: session.isInReach,
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
  contentType: sql<string>`coalesce(${sessionFiles.contentType}, 'application/octet-stream')`.as(
    'contentType',
  ),
  sha256: sessionFiles.sha256,
}

const isInOtherSession = sql`exists ${query
  .select({ one: sql`1` })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, apiKeys.organizationId),
      eq(sessionFiles.id, cursor),
      ne(sessionFiles.sessionId, sessionId),
    ),
  )}`

export const listable = requiring(session.joins, {
  ...sessionIsReadable,
  cursorIsInSession: precondition(
    sql`not ${isInOtherSession}`,
    () =>
      new ApiError(
        'cursor_mismatch',
        'The cursor is a file of another session. Use the nextCursor of the previous page.',
      ),
  ),
})

/** Keyset paging: a page reads only the rows that it returns. */
export const selectFiles = guarded(() =>
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
    .limit(sql.placeholder('rowLimit')),
)

const isOfSession = and(
  eq(sessionFiles.organizationId, sessions.organizationId),
  eq(sessionFiles.sessionId, sessions.id),
)
/** The file that an upload replaces, if there is one at its path. */
const replacedFile: Join = { table: sessionFiles, on: and(isOfSession, eq(sessionFiles.path, path)) }
const uploadPreconditions = {
  ...sessionIsReadable,
  projectIsActive,
  exceededQuota: withinQuotas({
    files: isNull(sessionFiles.id),
    bytes: sql`${sizeBytes} - coalesce(${sessionFiles.sizeBytes}, 0)`,
  }),
}
const uploadJoins = [...session.joins, session.itsProject, replacedFile]

export const uploadable = requiring(uploadJoins, uploadPreconditions)

/** Adds the object that the upload will write to the orphans, so that the sweep deletes it if the upload fails. */
export const beginUpload = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      uploadable.rows(
        insertRow(orphanedObjects, {
          objectKey: sql`'session-files/' || ${sessions.organizationId} || '/' || ${sql.placeholder('objectId')}`,
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
    isInTime: uncheckedPrecondition(
      isNotNull(orphanedObjects.objectKey),
      () => new ApiError('upload_expired', 'The upload took more than an hour. Send a smaller file.'),
    ),
  },
  { isNew: isNew(sessionFiles.id) },
)

export const addReplacedToOrphans = guarded(() =>
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

/** Records the upload: a new file, or new content of the one at the same path. */
export const putFile = guardedChange(() =>
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
          contentType: sql.placeholder('contentType'),
          sha256: sql.placeholder('sha256'),
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

export const removeRecordedFromOrphans = guarded(() =>
  query.delete(orphanedObjects).where(eq(orphanedObjects.objectKey, recordedObject)),
)

/**
 * The upload may have taken so long that the sweep has removed its object from the orphans. It acts where the guard does not
 * hold, too: the service chose the key of the object, so it belongs to nobody else.
 */
export const addUnrecordedToOrphans = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(sql`select ${objectKey}, ${deleteAfter} where not exists ${recordedObject}`)
    .onConflictDoNothing(),
)

const namedFile: Join = { table: sessionFiles, on: and(isOfSession, eq(sessionFiles.id, fileId)) }
const fileIsReadable = {
  ...sessionIsReadable,
  /** Holds where the session was deleted, too: that is 410. */
  fileExists: precondition(
    or(isNotNull(sessionFiles.id), sql`not (${session.isNotDeleted.holds})`),
    () => new ApiError('session_file_not_found', 'The session has no file with this fileId.'),
  ),
}

export const readable = requiring([...session.joins, namedFile], fileIsReadable)

export const selectFile = guarded(() => readable.rows(details))

export const selectContent = guarded(() =>
  readable.rows({
    objectKey: sessionFiles.objectKey,
    sizeBytes: sessionFiles.sizeBytes,
  }),
)

export const deletable = requiring([...session.joins, session.itsProject, namedFile], {
  ...fileIsReadable,
  projectIsActive,
})

export const addDeletedToOrphans = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(deletable.rows(insertRow(orphanedObjects, { objectKey: sessionFiles.objectKey, deleteAfter })))
    .onConflictDoNothing(),
)

export const deleteFile = guardedChange(() =>
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
