/** Sessions of API keys: creates one, and ends those of a user. */
import { and, desc, eq, gt, isNull, not, or, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter, recordedForEach } from '../../access/events.ts'
import { mayAct } from '../../access/guard.ts'
import { callerIsUnrotated, hasScopes, includesProjects } from '../../access/manage-keys.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { now, textOrNull } from '../../db/parameters.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { deletionScopeMissing, sessionCreatesSession, sessionExceedsOwnKey } from './failures.ts'
import {
  endedSession,
  expiresAt,
  expiresAtIsGiven,
  fields,
  hash,
  id,
  isLiveSessionOf,
  livesUntil,
  session,
} from './keys.ts'

/** The most sessions of an API key. */
const MAX_SESSIONS = 20

/** NULL: that of the caller's key. */
const sessionName = textOrNull('name')

export const sessionCreatable = requiring([], {
  callerIsNoSession: precondition(sql`${apiKeys.kind} = 'key'`, sessionCreatesSession),
  callerIsUnrotated: callerIsUnrotated(),
  callerLivesAsLong: precondition(or(not(expiresAtIsGiven), livesUntil(expiresAt)), sessionExceedsOwnKey, {
    expiresAt,
    expiresAtIsGiven,
  }),
})

/** The sessions of the caller's key that one more session ends: the oldest. */
const surplus = sql`"surplus"`
const surplusSessions = sql`(${sessionCreatable
  .rows({ id: sql`${session.id}`.as('id'), hash: sql`${session.hash}`.as('hash') })
  .innerJoin(session, and(isLiveSessionOf(apiKeys), sql`${session.kind} = 'session'`))
  .orderBy(desc(session.id))
  .limit(MAX_SESSIONS)
  .offset(MAX_SESSIONS - 1)}) as ${surplus}`

export const recordSurplusSessions = recordedForEach(
  sessionCreatable,
  {},
  endedSession,
  (row, condition) =>
    query
      .select(row)
      .from(apiKeys)
      .innerJoin(session, sql`${session.hash} in (select "hash" from ${surplusSessions})`)
      .where(and(mayAct, condition)),
  'consequence',
)

export const endSurplusSessions = guarded(sessionCreatable, {}, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(sql`${apiKeys.hash} in (select "hash" from ${surplusSessions})`),
)

const recordedSession = recordedAfter(
  { id, sessionName },
  {
    type: 'api-key.session-created',
    id,
    name: sql`coalesce(${sessionName}, ${apiKeys.name})`,
  },
)

export const insertSession = guardedChange(sessionCreatable, { id, sessionName, hash }, recordedSession, () =>
  query
    .insert(apiKeys)
    .select(
      sessionCreatable.rows(
        insertRow(apiKeys, {
          organizationId: apiKeys.organizationId,
          id,
          name: sql`coalesce(${sessionName}, ${apiKeys.name})`,
          kind: sql`'session'`,
          hash,
          scopes: apiKeys.scopes,
          userId: apiKeys.userId,
          projectIds: apiKeys.projectIds,
          expiresAt: sql`min(coalesce(${apiKeys.expiresAt}, ${expiresAt}), ${expiresAt})`,
          createdAt: now,
          createdByKeyId: apiKeys.id,
          identityId: apiKeys.identityId,
        }),
      ),
    )
    .returning(fields),
)

export const sessionsDeletable = requiring([], {
  callerIsUnrotated: callerIsUnrotated(),
  callerMaySignOut: precondition(
    or(eq(apiKeys.kind, 'session'), hasScopes(sql`'["api-keys:write"]'`)),
    deletionScopeMissing,
  ),
})

/** A session of the caller's user. */
const isOwnSession = and(
  eq(session.organizationId, apiKeys.organizationId),
  eq(session.userId, apiKeys.userId),
  eq(session.kind, 'session'),
  isNull(session.revokedAt),
  gt(session.expiresAt, now),
  includesProjects(session.projectIds),
)

const recordedOwnSessions = recordedForEach(sessionsDeletable, {}, endedSession, (row, condition) =>
  query.select(row).from(apiKeys).innerJoin(session, isOwnSession).where(and(sessionsDeletable.guard, condition)),
)

export const endOwnSessions = guardedChange(sessionsDeletable, {}, recordedOwnSessions, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(sql`${apiKeys.hash} in ${sessionsDeletable.rows({ hash: session.hash }).innerJoin(session, isOwnSession)}`)
    .returning({ id: apiKeys.id }),
)
