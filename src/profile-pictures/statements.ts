/** Deleting a profile picture, in SQL: the picture is unlinked, and its object written to the table of doomed objects. */
import { and, eq, isNotNull, isNull, lte, or, sql } from 'drizzle-orm'
import { callerOrganization, callerUser, explaining, now } from '../access/caller.ts'
import { apiKeys, doomedObjects, profilePictures, users } from '../db/schema.ts'
import { compile, query } from '../db/statement.ts'

const userId = sql.placeholder('userId')
/** When the sweep deletes the object once more: nothing can still write it then. */
const sweepAfter = sql.placeholder('sweepAfter')

const isUploading = sql<0 | 1>`coalesce(${profilePictures.leaseExpiresAt} > ${now}, false)`

export const explainPicture = compile(
  explaining({
    userExists: sql<0 | 1>`${isNotNull(users.id)}`.as('userExists'),
    isOwn: sql<0 | 1>`${users.id} = ${apiKeys.userId}`.as('isOwn'),
    isUploading: isUploading.as('isUploading'),
  })
    .leftJoin(users, and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, userId)))
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

export const doomPicture = compile(
  query
    .insert(doomedObjects)
    .select(
      query
        .select({
          objectKey: sql<string>`${profilePictures.objectKey}`.as('objectKey'),
          sweepAfter: sql<string>`${sweepAfter}`.as('sweepAfter'),
        })
        .from(profilePictures)
        .where(and(isDeletable, isNotNull(profilePictures.objectKey))),
    )
    .onConflictDoNothing(),
)

export const unlinkPicture = compile(
  query.delete(profilePictures).where(isDeletable).returning({ objectKey: profilePictures.objectKey }),
)
