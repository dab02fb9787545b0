/**
 * Claim links, in SQL: one batch. A claim link is a row of `apiKeys` whose token no request for an operation accepts.
 * Its first use makes it end and gives it a successor, as a rotation does: an API key with its scopes and its user.
 */
import { and, eq, gt, isNull, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordedByService } from '../../access/events.ts'
import { isActive } from '../../db/halts.ts'
import { now, text } from '../../db/parameters.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys } from '../../db/schema.ts'
import { query, unguarded } from '../../db/statement.ts'

const hash = text('hash')
/** The ID of the API key that the link is used for. */
const keyId = text('keyId')
const keyHash = text('keyHash')
const keyName = text('keyName')

const link = alias(apiKeys, 'link')
const key = alias(apiKeys, 'key')

type Link = Readonly<
  Record<'hash' | 'revokedAt' | 'rotatedAt' | 'movedTo' | 'expiresAt' | 'organizationId', SQLWrapper>
>

/** The link can be used. Batches do not overlap, so it is true in one of them at most. */
const isUnused = ({ hash: linkHash, revokedAt, rotatedAt, movedTo, expiresAt, organizationId }: Link) =>
  and(
    sql`${linkHash} = ${hash}`,
    isNull(revokedAt),
    isNull(rotatedAt),
    isNull(movedTo),
    gt(expiresAt, now),
    isActive(organizationId),
  )

export const recordKey = recordedByService(
  { hash, keyId, keyName, now },
  {
    type: 'api-key.created',
    organizationId: link.organizationId,
    id: keyId,
    name: keyName,
    actor: { apiKeyId: link.id, apiKeyName: link.name, userId: link.userId },
  },
  (row) => query.select(row).from(link).where(isUnused(link)),
)

export const insertKey = unguarded({ hash, keyId, keyHash, keyName, now }, () =>
  query.insert(apiKeys).select(
    query
      .select(
        insertRow(apiKeys, {
          organizationId: link.organizationId,
          id: keyId,
          name: keyName,
          kind: sql`'key'`,
          hash: keyHash,
          scopes: link.scopes,
          userId: link.userId,
          createdAt: now,
          createdByKeyId: link.id,
        }),
      )
      .from(link)
      .where(isUnused(link)),
  ),
)

export const endLink = unguarded({ hash, now }, () =>
  query
    .update(apiKeys)
    .set({ rotatedAt: sql`${now}`, revokedAt: sql`${now}` })
    .where(isUnused(apiKeys)),
)

/** The link, and the API key that it was used for, if it was. */
export const selectLink = unguarded({ hash }, () =>
  query
    .select({
      organizationId: link.organizationId,
      userId: link.userId,
      expiresAt: link.expiresAt,
      revokedAt: link.revokedAt,
      rotatedAt: link.rotatedAt,
      movedTo: link.movedTo,
      keyId: sql<string | null>`${key.id}`.as('keyId'),
    })
    .from(link)
    .leftJoin(key, and(eq(key.organizationId, link.organizationId), eq(key.createdByKeyId, link.id)))
    .where(eq(link.hash, hash))
    .limit(1),
)
