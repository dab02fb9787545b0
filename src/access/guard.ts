/**
 * Who calls, and what the database lets them touch. An operation is one batch: its first statement explains, the
 * statements after it act, and each of those has the guard in its own WHERE. The database refuses; the Worker explains.
 */
import { and, eq, gt, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { apiKeys } from '../db/schema.ts'
import { guarded, query, type Statement, unguarded } from '../db/statement.ts'

/** Bound for every statement by the call: the key's hash, the operation's scope, the instant of the request. */
const keyHash = sql.placeholder('keyHash')
const scope = sql.placeholder('scope')
export const now = sql.placeholder('now')

export const isCallersKey = eq(apiKeys.hash, keyHash)
const isLive = and(isNull(apiKeys.revokedAt), or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)))
/** Scopes have no character that JSON escapes, so the list has one where its text has it in quotes. */
export const isInScope = sql`(${scope} is null or instr(${apiKeys.scopes}, json_quote(${scope})) > 0)`

/** The guard. A statement that acts begins from `apiKeys` where this holds: one row if the caller may act, else none. */
export const mayAct = and(isCallersKey, isLive, isInScope)

/** The guard where a statement can't begin so: the organization that the caller may act for, or NULL, which matches no row. */
export const callerOrganization = sql<string>`(select ${apiKeys.organizationId} from ${apiKeys} where ${mayAct})`

/** The guard for what belongs to a user: the user that the caller acts as, or NULL. */
export const callerUser = sql<string>`(select ${apiKeys.userId} from ${apiKeys} where ${mayAct})`

/** Of the caller's key in `apiKeys`: 1 if it isn't limited to other projects than this one. */
export function isInReach(projectId: SQLWrapper): SQL<0 | 1> {
  const isListed = sql`${projectId} in (select value from json_each(${apiKeys.projectIds}))`
  return sql<0 | 1>`(${apiKeys.projectIds} is null or ${isListed})`
}

/** Of the caller's key in `apiKeys`: true if it isn't limited to projects. What is of all projects asks for it. */
export const isUnrestricted = isNull(apiKeys.projectIds)

/** What every explaining statement says of the caller. No row: nobody has this key. */
export interface CallerFacts {
  live: 0 | 1
  inScope: 0 | 1
  callerOrganizationId: string
  callerUserId: string | null
  /** 1 if `lastUsedAt` is over an hour old. */
  isLastUsedStale: 0 | 1
}

/**
 * Begins an explaining statement: the facts of the caller and those given, in one row if the key exists.
 * The facts are SQL over `apiKeys` and whatever is joined, each under the name that it has here.
 */
export function explaining<Facts extends Record<string, SQL.Aliased>>(facts: Facts) {
  return query
    .select({
      live: sql<0 | 1>`${isLive}`.as('live'),
      inScope: sql<0 | 1>`${isInScope}`.as('inScope'),
      callerOrganizationId: sql<string>`${apiKeys.organizationId}`.as('callerOrganizationId'),
      callerUserId: sql<string | null>`${apiKeys.userId}`.as('callerUserId'),
      isLastUsedStale: sql<0 | 1>`${isStale()}`.as('isLastUsedStale'),
      ...facts,
    })
    .from(apiKeys)
    .where(isCallersKey)
}

/** Explains the caller alone: for input that is refused before anything else is asked. */
export const explainCaller: Statement<CallerFacts> = guarded(() => explaining({}))

/** Explains the caller of what is of all projects. */
export const explainUnlimited = guarded(() =>
  explaining({ inReach: sql<0 | 1>`${isUnrestricted}`.as('inReach') }),
)

/** Keeps `lastUsedAt` to the hour. It runs after the answer. */
export const recordUse = unguarded(() =>
  query
    .update(apiKeys)
    .set({ lastUsedAt: sql`${now}` })
    .where(and(isCallersKey, isStale())),
)

function isStale(): SQL {
  const hourAgo = sql.placeholder('hourAgo')
  return sql`(${apiKeys.lastUsedAt} is null or ${apiKeys.lastUsedAt} <= ${hourAgo})`
}
