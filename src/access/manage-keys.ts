/**
 * Which API keys a caller may manage (docs/contract.md, Keys): those that act for its user and reach no more projects.
 * A key with a successor manages only itself.
 */
import { and, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { apiKeys } from '../db/schema.ts'

/** True if each item of a list (JSON) is in another. */
export const isSubset = (list: SQLWrapper, of: SQLWrapper) =>
  sql`not exists (select 1 from json_each(${list}) where value not in (select value from json_each(${of})))`

/** True if the caller acts for that user: any user, if the caller is none. */
export const actsFor = (userId: SQLWrapper) =>
  sql<0 | 1>`(${apiKeys.userId} is null or ${apiKeys.userId} is ${userId})`

/** True if the caller reaches all of the projects (JSON; null: all). */
export const reaches = (projectIds: SQLWrapper) =>
  sql<
    0 | 1
  >`(${apiKeys.projectIds} is null or (${projectIds} is not null and ${isSubset(projectIds, apiKeys.projectIds)}))`

/** True if the caller's key has no successor. */
export const isCurrent = isNull(apiKeys.rotatedAt)

/** Of a key that is joined to the caller's in `apiKeys`: true if the caller may manage it. */
export function isManageable(
  key: Readonly<Record<'id' | 'userId' | 'projectIds', SQLWrapper>>,
): SQL | undefined {
  return and(actsFor(key.userId), reaches(key.projectIds), sql`(${isCurrent} or ${key.id} = ${apiKeys.id})`)
}
