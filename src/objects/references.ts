/** The rows that refer to objects of the store: session files, profile pictures and versions of skills. */
import { eq, exists, type SQLWrapper, sql } from 'drizzle-orm'
import { profilePictures, sessionFiles, skillVersions } from '../db/schema.ts'
import { query } from '../db/statement.ts'

/** True if a row refers to the object. */
export function isReferenced(objectKey: SQLWrapper) {
  const refersIn = (table: typeof sessionFiles | typeof profilePictures | typeof skillVersions) =>
    exists(query.select({ one: sql`1` }).from(table).where(eq(table.objectKey, objectKey)))
  return sql<0 | 1>`(${refersIn(sessionFiles)} or ${refersIn(profilePictures)} or ${refersIn(skillVersions)})`
}
