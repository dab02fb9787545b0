/** Profile pictures, in SQL. An object that no picture refers to is in the table of orphaned objects. */
import { and, eq, gt, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { callerOrganization, callerUser, explaining, mayAct, now } from '../../access/guard.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, orphanedObjects, profilePictures, users } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'

const userId = sql.placeholder('userId')
/** When the sweep deletes the object once more: nothing can still write it then. */
const deleteAfter = sql.placeholder('deleteAfter')

const isUser = and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, userId))
const isUploading = sql<0 | 1>`coalesce(${profilePictures.leaseExpiresAt} > ${now}, false)`

export const explainPicture = guarded(() =>
  explaining({
    userExists: sql<0 | 1>`${isNotNull(users.id)}`.as('userExists'),
    isOwn: sql<0 | 1>`${users.id} = ${apiKeys.userId}`.as('isOwn'),
    isUploading: isUploading.as('isUploading'),
  })
    .leftJoin(users, isUser)
    .leftJoin(
      profilePictures,
      and(eq(profilePictures.organizationId, apiKeys.organizationId), eq(profilePictures.userId, userId)),
    ),
)

const isDeletable = and(
  eq(profilePictures.organizationId, callerOrganization),
  eq(profilePictures.userId, callerUser),
  eq(profilePictures.userId, userId),
  or(isNull(profilePictures.leaseExpiresAt), lte(profilePictures.leaseExpiresAt, now)),
)

export const orphanPicture = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: profilePictures.objectKey, deleteAfter }))
        .from(profilePictures)
        .where(and(isDeletable, isNotNull(profilePictures.objectKey))),
    )
    .onConflictDoNothing(),
)

export const unlinkPicture = guardedChange(() =>
  query.delete(profilePictures).where(isDeletable).returning({ objectKey: profilePictures.objectKey }),
)

const objectKey = sql.placeholder('objectKey')
const ofUser = and(
  eq(profilePictures.organizationId, users.organizationId),
  eq(profilePictures.userId, users.id),
)
const isOwn = and(mayAct, eq(users.id, apiKeys.userId))

/** The object that the upload writes. */
const uploadingObjectKey = sql`'profile-pictures/' || ${users.organizationId} || '/' || ${sql.placeholder('objectId')}`

/** An upload begins by deletingWithObjects the object that it writes, so that no byte of one that fails stays for good. */
export const beginUpload = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: uploadingObjectKey, deleteAfter }))
        .from(apiKeys)
        .innerJoin(users, isUser)
        .where(isOwn),
    )
    .returning({ objectKey: orphanedObjects.objectKey }),
)

/** Leases the picture to the upload. The lease of one that began before ends. */
export const leasePicture = guarded(() =>
  query
    .insert(profilePictures)
    .select(
      query
        .select(
          insertRow(profilePictures, {
            organizationId: users.organizationId,
            userId: users.id,
            uploadingObjectKey,
            leaseExpiresAt: sql.placeholder('leaseExpiresAt'),
            updatedAt: now,
          }),
        )
        .from(apiKeys)
        .innerJoin(users, isUser)
        .where(isOwn),
    )
    .onConflictDoUpdate({
      target: [profilePictures.organizationId, profilePictures.userId],
      set: { uploadingObjectKey: excluded('uploadingObjectKey'), leaseExpiresAt: excluded('leaseExpiresAt') },
    }),
)

/** The lease is still this upload's. */
const isLeased = and(
  eq(profilePictures.uploadingObjectKey, objectKey),
  gt(profilePictures.leaseExpiresAt, now),
)

/** Orphans the object that the upload takes the place of, if any. */
export const orphanReplaced = guarded(() =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: profilePictures.objectKey, deleteAfter }))
        .from(apiKeys)
        .innerJoin(users, isUser)
        .innerJoin(profilePictures, and(ofUser, isLeased, isNotNull(profilePictures.objectKey)))
        .where(isOwn),
    )
    .onConflictDoNothing(),
)

/** The organization of the caller's own user, or NULL, which matches no row. */
const ownOrganization = query
  .select({ organizationId: users.organizationId })
  .from(apiKeys)
  .innerJoin(users, isUser)
  .where(isOwn)

/** Makes the uploaded object the picture, and ends the lease. */
export const linkPicture = guardedChange(() =>
  query
    .update(profilePictures)
    .set({
      objectKey: sql`${objectKey}`,
      contentType: sql`${sql.placeholder('contentType')}`,
      uploadingObjectKey: null,
      leaseExpiresAt: null,
      updatedAt: sql`${now}`,
    })
    .where(
      and(eq(profilePictures.organizationId, ownOrganization), eq(profilePictures.userId, userId), isLeased),
    )
    .returning({ updatedAt: profilePictures.updatedAt }),
)

const linkedObject = query
  .select({ objectKey: profilePictures.objectKey })
  .from(profilePictures)
  .where(
    and(
      eq(profilePictures.organizationId, callerOrganization),
      eq(profilePictures.userId, callerUser),
      eq(profilePictures.objectKey, objectKey),
    ),
  )

/** What is linked is orphaned no longer. */
export const keepUploaded = guarded(() =>
  query.delete(orphanedObjects).where(eq(orphanedObjects.objectKey, linkedObject)),
)

export const selectPicture = guarded(() =>
  query
    .select({
      objectKey: sql<string>`${profilePictures.objectKey}`.as('objectKey'),
      contentType: sql<string>`${profilePictures.contentType}`.as('contentType'),
    })
    .from(apiKeys)
    .innerJoin(users, isUser)
    .innerJoin(profilePictures, and(ofUser, isNotNull(profilePictures.objectKey)))
    .where(mayAct),
)
