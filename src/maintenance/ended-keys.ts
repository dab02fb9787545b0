/**
 * Removes API keys some time after their end. What they created stays: a removed key's children become those of its
 * creator, so that the search for descendants still finds them.
 */
import { and, eq, isNotNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { DatabaseEnvironment } from '../db/database.ts'
import { isSettled } from '../db/halts.ts'
import { now, text } from '../db/parameters.ts'
import { isFoundBy } from '../db/rows.ts'
import { apiKeys, endOf, identities, invitations, signInRules, skillFeeds } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import { DAY_MS } from '../durations.ts'

const KEYS_KEPT_MS = 30 * DAY_MS
const SESSIONS_KEPT_MS = DAY_MS

const PAGE_ROWS = 1000
const MAX_PAGES_PER_TICK = 5

const ended = alias(apiKeys, 'ended')
/** Until when the keys of each kind have ended. */
const keysEndedBy = text('keysEndedBy')
const sessionsEndedBy = text('sessionsEndedBy')
const ends = { keysEndedBy, sessionsEndedBy, now }
const kept = sql`(values ('key', ${keysEndedBy}), ('grant', ${keysEndedBy}), ('session', ${sessionsEndedBy})) as "kept"`
/** A page of the keys to remove. */
const page = (limit = PAGE_ROWS) =>
  sql`(select ${ended.organizationId}, ${ended.id}, ${ended.hash} from ${kept} cross join ${apiKeys} as "ended"
    on ${ended.kind} = "kept"."column1" and ${endOf(ended)} <= "kept"."column2" and ${ended.movedTo} is null
    and ${isSettled(ended.organizationId)} limit ${sql.raw(String(limit))}) as "ended"`

const child = alias(apiKeys, 'child')
const isChild = and(eq(child.organizationId, ended.organizationId), eq(child.createdByKeyId, ended.id))
const children = (limit: SQL = sql``) =>
  sql`(select ${child.hash} from ${page()} cross join ${apiKeys} as "child" on ${isChild} ${limit})`

const creator = alias(apiKeys, 'creator')
const creatorOf = (organizationId: SQLWrapper, keyId: SQLWrapper) =>
  sql`(select ${creator.createdByKeyId} from ${apiKeys} as "creator"
    where ${creator.organizationId} = ${organizationId} and ${creator.id} = ${keyId})`
const idsInPage = () => sql`(select ${ended.organizationId}, ${ended.id} from ${page()})`

const passChildrenOn = unguarded(ends, () =>
  query
    .update(apiKeys)
    .set({ createdByKeyId: creatorOf(apiKeys.organizationId, apiKeys.createdByKeyId) })
    .where(sql`${apiKeys.hash} in ${children(sql`limit ${sql.raw(String(PAGE_ROWS))}`)}`),
)

const passRulesOn = unguarded(ends, () =>
  query
    .update(signInRules)
    .set({ createdByKeyId: creatorOf(signInRules.organizationId, signInRules.createdByKeyId) })
    .where(sql`(${signInRules.organizationId}, ${signInRules.createdByKeyId}) in ${idsInPage()}`),
)

/** @param index of the identities that have such a key. */
const isOfPage = (keyId: typeof identities.roleByKeyId | typeof identities.linkedByKeyId, index: string) =>
  isFoundBy(identities, index, and(isNotNull(keyId), sql`(${identities.organizationId}, ${keyId}) in ${idsInPage()}`))

const passRolesOn = unguarded(ends, () =>
  query
    .update(identities)
    .set({ roleByKeyId: creatorOf(identities.organizationId, identities.roleByKeyId) })
    .where(isOfPage(identities.roleByKeyId, 'identitiesByRoleKey')),
)

const passLinksOn = unguarded(ends, () =>
  query
    .update(identities)
    .set({ linkedByKeyId: creatorOf(identities.organizationId, identities.linkedByKeyId) })
    .where(isOfPage(identities.linkedByKeyId, 'identitiesByLinkKey')),
)

const passInvitationsOn = unguarded(ends, () =>
  query
    .update(invitations)
    .set({ createdByKeyId: creatorOf(invitations.organizationId, invitations.createdByKeyId) })
    .where(sql`(${invitations.organizationId}, ${invitations.createdByKeyId}) in ${idsInPage()}`),
)

/** Feeds end with their key. */
const removeFeeds = unguarded(ends, () =>
  query.delete(skillFeeds).where(sql`(${skillFeeds.organizationId}, ${skillFeeds.apiKeyId}) in ${idsInPage()}`),
)

const hasRule = sql`exists (select 1 from ${signInRules}
  where ${signInRules.organizationId} = ${ended.organizationId} and ${signInRules.createdByKeyId} = ${ended.id})`
const hasRole = sql`exists (select 1 from ${identities}
  where ${identities.organizationId} = ${ended.organizationId} and ${identities.roleByKeyId} = ${ended.id})`
const hasLink = sql`exists (select 1 from ${identities}
  where ${identities.organizationId} = ${ended.organizationId} and ${identities.linkedByKeyId} = ${ended.id})`
const hasInvitation = sql`exists (select 1 from ${invitations}
  where ${invitations.organizationId} = ${ended.organizationId} and ${invitations.createdByKeyId} = ${ended.id})`

/** A key that still has children, or took over a rule, a role, a link or an invitation just now, is left to the next page. */
const removeKeys = unguarded(ends, () =>
  query.delete(apiKeys).where(
    sql`${apiKeys.hash} in (select ${ended.hash} from ${page()} where not exists (select 1 from ${apiKeys} as "child" where ${isChild})
        and not ${hasRule} and not ${hasRole} and not ${hasLink} and not ${hasInvitation})`,
  ),
)

export const selectEnded = unguarded(ends, () => query.select({ one: sql`1` }).from(page(1)))

export const endedPage = [
  passChildrenOn,
  passRulesOn,
  passRolesOn,
  passLinksOn,
  passInvitationsOn,
  removeFeeds,
  removeKeys,
]

/** Removes some pages. The next tick continues. */
export async function removeEndedKeys({ database }: DatabaseEnvironment, instant: Date): Promise<void> {
  const before = (ms: number) => new Date(instant.getTime() - ms).toISOString()
  const values = {
    keysEndedBy: before(KEYS_KEPT_MS),
    sessionsEndedBy: before(SESSIONS_KEPT_MS),
    now: instant.toISOString(),
  }
  let { rows } = await runBatch(database, { rows: selectEnded }, values)
  for (let count = 0; rows.length > 0 && count < MAX_PAGES_PER_TICK; count++) {
    ;({ rows } = await runBatch(database, { endedPage, rows: selectEnded }, values))
  }
}
