/**
 * Which API keys a caller may manage (docs/contract-keys.md, API keys): those that act as its user and may use no other
 * projects. A rotated key manages only itself.
 */
import { and, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { apiKeys } from '../db/schema.ts'
import { eventType } from './events.ts'
import { callerIsRotated } from './failures.ts'
import { precondition } from './preconditions.ts'

/** True if each project of a list (JSON) is in another. */
export const areProjectsIn = (list: SQLWrapper, of: SQLWrapper): SQL =>
  sql`not exists (select 1 from json_each(${list}) where value not in (select value from json_each(${of})))`

/** True if each scope of a list (JSON) is in another, which is not parsed: no scope has a character that JSON escapes. */
export const areScopesIn = (list: SQLWrapper, of: SQLWrapper): SQL =>
  sql`not exists (select 1 from json_each(${list}) where coalesce(instr(${of}, json_quote(value)), 0) = 0)`

/** True if the caller's key acts as that user, or as none. */
export const actsAs = (userId: SQLWrapper): SQL => sql`(${apiKeys.userId} is null or ${apiKeys.userId} is ${userId})`

/** True if the caller's key may use every project of the list (JSON; null: every project of the organization). */
export const includesProjects = (projectIds: SQLWrapper): SQL =>
  sql`(${apiKeys.projectIds} is null or (${projectIds} is not null and ${areProjectsIn(projectIds, apiKeys.projectIds)}))`

/** True if the caller's key was not rotated. */
export const isUnrotated = isNull(apiKeys.rotatedAt)

/** The caller's key was not rotated. @param exception what a rotated key may do. */
export const callerIsUnrotated = (exception?: SQL) => precondition(or(isUnrotated, exception), callerIsRotated)

/** True if the caller's key has the scopes (JSON). */
export const hasScopes = (list: SQLWrapper) => areScopesIn(list, apiKeys.scopes)

/** A key that is joined to the caller's in `apiKeys`. */
type Key = Readonly<Record<'id' | 'userId' | 'projectIds', SQLWrapper>>

export const isKeyAccessible = ({ userId, projectIds }: Omit<Key, 'id'>): SQL | undefined =>
  and(actsAs(userId), includesProjects(projectIds))

/** True if the caller may manage the key. */
export const isManageable = (key: Key): SQL | undefined =>
  and(isKeyAccessible(key), sql`(${isUnrotated} or ${key.id} = ${apiKeys.id})`)

/** The type of the event of a key that ends. */
export const typeOfEnd = (kind: SQLWrapper) =>
  eventType(sql`case ${kind} when 'session' then 'api-key.session-ended' when 'grant' then 'api-key.app-disconnected'
    else 'api-key.revoked' end`)
