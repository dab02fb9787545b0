/** Profile pictures, in SQL. */
import { and, eq, gt, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter } from '../../access/events.ts'
import { userNotFound } from '../../access/failures.ts'
import { callerUser } from '../../access/guard.ts'
import { authorized, isNew, precondition, requiring, uncheckedPrecondition } from '../../access/preconditions.ts'
import { now, text } from '../../db/parameters.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, orphanedObjects, profilePictures, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { otherUser, pictureNotFound, uploadExpired, uploadInProgress } from './failures.ts'

const userId = text('userId')
const objectId = text('objectId')
const objectKey = text('objectKey')
const contentType = text('contentType')
const leaseExpiresAt = text('leaseExpiresAt')
/** When the sweep deletes an orphaned object: nothing can still write it then. */
const deleteAfter = text('deleteAfter')

const namedUser = {
  table: users,
  on: and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, userId)),
  takes: { userId },
}
/** The user's picture: the current one, and the lease of an upload in progress. */
const itsPicture = {
  table: profilePictures,
  on: and(eq(profilePictures.organizationId, users.organizationId), eq(profilePictures.userId, users.id)),
  takes: {},
}

const userExists = precondition(isNotNull(users.id), userNotFound)
const isOwn = precondition(eq(users.id, apiKeys.userId), otherUser)

export const deletable = requiring([namedUser, itsPicture], {
  userExists,
  isOwn,
  noUploadIsInProgress: precondition(
    or(isNull(profilePictures.leaseExpiresAt), lte(profilePictures.leaseExpiresAt, now)),
    uploadInProgress,
  ),
})

const recorded = (type: 'profile-picture.set' | 'profile-picture.deleted') =>
  recordedAfter({ userId }, { type, id: userId })

const isNamed = (organizationId: typeof deletable.organizationId) =>
  and(eq(profilePictures.organizationId, organizationId), eq(profilePictures.userId, userId))

export const addDeletedToOrphans = guarded(deletable, { deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(
      deletable.rows(
        insertRow(orphanedObjects, { objectKey: profilePictures.objectKey, deleteAfter }),
        isNotNull(profilePictures.objectKey),
      ),
    )
    .onConflictDoNothing(),
)

export const deletePicture = guardedChange(deletable, {}, recorded('profile-picture.deleted'), () =>
  query
    .delete(profilePictures)
    .where(isNamed(deletable.organizationId))
    .returning({ objectKey: profilePictures.objectKey }),
)

export const uploadable = requiring([namedUser], { userExists, isOwn })

/** The object that the upload writes. */
const uploadingObjectKey = sql`'profile-pictures/' || ${users.organizationId} || '/' || ${objectId}`

/** Adds the object that the upload will write to the orphans, so that the sweep deletes it if the upload fails. */
export const beginUpload = guarded(uploadable, { objectId, deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(uploadable.rows(insertRow(orphanedObjects, { objectKey: uploadingObjectKey, deleteAfter })))
    .returning({ objectKey: orphanedObjects.objectKey }),
)

/** Leases the picture to the upload. The lease of an upload that began earlier ends. */
export const leasePicture = guarded(uploadable, { objectId, leaseExpiresAt }, () =>
  query
    .insert(profilePictures)
    .select(
      uploadable.rows(
        insertRow(profilePictures, {
          organizationId: users.organizationId,
          userId: users.id,
          uploadingObjectKey,
          leaseExpiresAt,
          updatedAt: now,
        }),
      ),
    )
    .onConflictDoUpdate({
      target: [profilePictures.organizationId, profilePictures.userId],
      set: { uploadingObjectKey: excluded('uploadingObjectKey'), leaseExpiresAt: excluded('leaseExpiresAt') },
    }),
)

export const recordable = requiring(
  [namedUser, itsPicture],
  {
    userExists,
    isOwn,
    holdsLease: uncheckedPrecondition(
      and(eq(profilePictures.uploadingObjectKey, objectKey), gt(profilePictures.leaseExpiresAt, now)),
      uploadExpired,
      { objectKey },
    ),
  },
  { isNew: isNew(profilePictures.objectKey) },
)

export const addReplacedToOrphans = guarded(recordable, { deleteAfter }, () =>
  query
    .insert(orphanedObjects)
    .select(
      recordable.rows(
        insertRow(orphanedObjects, { objectKey: profilePictures.objectKey, deleteAfter }),
        isNotNull(profilePictures.objectKey),
      ),
    )
    .onConflictDoNothing(),
)

/** Makes the uploaded object the picture, and ends the lease. */
export const putPicture = guardedChange(recordable, { contentType }, recorded('profile-picture.set'), () =>
  query
    .update(profilePictures)
    .set({
      objectKey: sql`${objectKey}`,
      contentType: sql`${contentType}`,
      uploadingObjectKey: null,
      leaseExpiresAt: null,
      updatedAt: sql`${now}`,
    })
    .where(isNamed(recordable.organizationId))
    .returning({ updatedAt: profilePictures.updatedAt }),
)

const recordedObject = query
  .select({ objectKey: profilePictures.objectKey })
  .from(profilePictures)
  .where(
    and(
      eq(profilePictures.organizationId, authorized.organizationId),
      eq(profilePictures.userId, callerUser),
      eq(profilePictures.objectKey, objectKey),
    ),
  )

export const removeRecordedFromOrphans = guarded(authorized, { objectKey }, () =>
  query.delete(orphanedObjects).where(eq(orphanedObjects.objectKey, recordedObject)),
)

export const readable = requiring([namedUser, itsPicture], {
  userExists,
  pictureExists: precondition(isNotNull(profilePictures.objectKey), pictureNotFound),
})

export const selectPicture = guarded(readable, {}, () =>
  readable.rows({
    objectKey: sql<string>`${profilePictures.objectKey}`.as('objectKey'),
    contentType: sql<string>`${profilePictures.contentType}`.as('contentType'),
  }),
)
