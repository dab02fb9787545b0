/**
 * The guard: the condition that lets a caller act. An operation is one batch. Its first statement checks, the others
 * act, and each of those carries the guard in its own WHERE. The database enforces the guard; the Worker explains a
 * refusal.
 */
import { and, eq, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { now, text, textOrNull } from '../db/parameters.ts'
import { apiKeys } from '../db/schema.ts'
import { query, unguarded } from '../db/statement.ts'

/**
 * Bound for every statement (caller.ts): the hash of the key, the scope of the operation, and an hour before the
 * request. No field of a contract can have these names (http/endpoint.ts).
 */
const keyHash = text('caller.keyHash')
const scope = textOrNull('caller.scope')
const hourAgo = text('caller.hourAgo')

export const isCallersKey = eq(apiKeys.hash, keyHash)
/** NULL if the key is live. Of a key that moved to another database, that database decides. */
const keyEnd = sql<KeyEnd | null>`case when ${apiKeys.movedTo} is not null then 'moved'
  when ${apiKeys.revokedAt} is not null then 'revoked' when ${apiKeys.expiresAt} <= ${now} then 'expired'
  when ${apiKeys.suspendedAt} is not null then 'suspended' end`
const isLive = isNull(keyEnd)
/** Scopes have no character that JSON escapes, so a list has a scope if its text has the quoted scope. */
export const isInScope = sql`(${scope} is null or instr(${apiKeys.scopes}, json_quote(${scope})) > 0)`

/**
 * The guard. A statement that acts begins from `apiKeys` where this holds: one row if the caller may act, else none.
 */
export const mayAct = and(isCallersKey, isLive, isInScope)

/** The guard for what belongs to a user: the user that the caller acts as, or NULL. */
export const callerUser = sql<string>`(select ${apiKeys.userId} from ${apiKeys} where ${mayAct})`

/**
 * 1 if the caller's key in `apiKeys` may use the project.
 * @param projectIds the projects that the key is restricted to, if not those of the joined key.
 */
export function isAccessible(projectId: SQLWrapper, projectIds: SQLWrapper = apiKeys.projectIds): SQL<0 | 1> {
  const isListed = sql`${projectId} in (select value from json_each(${projectIds}))`
  return sql<0 | 1>`(${apiKeys.projectIds} is null or ${isListed})`
}

/** For `isAccessible` of many rows: as it depends on none of them, SQLite reads the list once and not for each row. */
export const callersProjectIds = sql`(select ${apiKeys.projectIds} from ${apiKeys} where ${isCallersKey})`

/**
 * True if the caller's key in `apiKeys` is not restricted to projects. Required by organization-wide resources.
 */
export const isUnrestricted = isNull(apiKeys.projectIds)

/** Why a key may not act. */
type KeyEnd = 'moved' | 'revoked' | 'expired' | 'suspended'

/** What every checking statement returns about the caller. */
export interface CallerResult {
  /** Null if the key is live. */
  readonly keyEnd: KeyEnd | null
  /** The number of the database that the key moved to; null: this one has it. */
  readonly movedTo: number | null
  readonly isInScope: 0 | 1
  readonly callerOrganizationId: string
  readonly callerUserId: string | null
  /** 1 if `lastUsedAt` is over an hour old. */
  readonly isLastUsedStale: 0 | 1
}

/** The columns of `CallerResult`. */
export const callerFields = {
  keyEnd: sql`${keyEnd}`.as('keyEnd'),
  movedTo: sql<number | null>`${apiKeys.movedTo}`.as('movedTo'),
  isInScope: sql<0 | 1>`${isInScope}`.as('isInScope'),
  callerOrganizationId: sql<string>`${apiKeys.organizationId}`.as('callerOrganizationId'),
  callerUserId: sql<string | null>`${apiKeys.userId}`.as('callerUserId'),
  isLastUsedStale: sql<0 | 1>`${isStale()}`.as('isLastUsedStale'),
}

/** Updates `lastUsedAt`, at most once an hour. It runs after the response. */
export const recordUse = unguarded({ keyHash, hourAgo, now }, () =>
  query
    .update(apiKeys)
    .set({ lastUsedAt: sql`${now}` })
    .where(and(isCallersKey, isStale())),
)

function isStale(): SQL {
  return sql`(${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} <= ${hourAgo})`
}
