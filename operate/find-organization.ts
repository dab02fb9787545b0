/** Finds the organization that an operator names. */
import { isUuid } from '../src/http/fields.ts'
import { UsageError } from '../tools/command-line.ts'
import type { Row } from './cloudflare.ts'
import type { CommandDatabase } from './database.ts'
import type { Databases } from './databases.ts'

interface Found {
  /** Its row. */
  readonly organization: Row
  readonly database: CommandDatabase
}

/**
 * @param given an ID or a name.
 * @throws if there is no such organization, or several.
 */
export async function findOrganization(databases: Databases, given: string): Promise<Found> {
  const id = given.toLowerCase()
  const found = isUuid(id)
    ? await databases.rows('SELECT * FROM "organizations" WHERE "id" = ?', id)
    : await databases.rows('SELECT * FROM "organizations" WHERE "name" = ? ORDER BY "id"', given)
  const isCurrent = await Promise.all(found.map((row) => databases.isPlace(String(row.id), row.inDatabase)))
  const rows = found.filter((_, index) => isCurrent[index])
  const [first] = rows
  if (!first) {
    throw new Error(
      `There is no organization with this ${isUuid(id) ? 'ID' : 'name'}; got "${given}". To list them: npm run operate -- organization list`,
    )
  }
  if (rows.length > 1) {
    const ids = rows.map(({ id }) => id).join(', ')
    throw new UsageError(`${rows.length} organizations have the name "${given}"; pass one of their IDs: ${ids}.`)
  }
  const { inDatabase, ...organization } = first
  return { organization, database: databases.get(inDatabase) }
}
