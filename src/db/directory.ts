/** The database of each organization, for what has no API key or token that names it. */
import { inArray, sql } from 'drizzle-orm'
import type { Environment } from '../environment.ts'
import { databaseNumbers, requireDatabase } from './database.ts'
import { text } from './parameters.ts'
import { directory } from './schema.ts'
import { query, type RowOf, runBatch, unguarded } from './statement.ts'

const organizationIds = text('organizationIds')

export const selectPlaces = unguarded({ organizationIds }, () =>
  query
    .select()
    .from(directory)
    .where(inArray(directory.organizationId, sql`(select value from json_each(${organizationIds}))`)),
)

/** Where the rows of an organization are. */
export type Place = Pick<RowOf<typeof selectPlaces>, 'database' | 'movingTo'>

/**
 * The places of the organizations that are known. With one database, all are there, and none is asked for.
 * @throws if database 0 does not answer.
 */
export async function placesOf(
  environment: Environment,
  organizationIds: readonly string[],
): Promise<(organizationId: string) => Place | undefined> {
  if (databaseNumbers(environment).length === 1) return () => ({ database: 0, movingTo: null })
  const ids = JSON.stringify([...new Set(organizationIds)])
  const { places } = await runBatch(requireDatabase(environment, 0), { places: selectPlaces }, { organizationIds: ids })
  const byId = new Map(places.map((place) => [place.organizationId, place]))
  return (organizationId) => byId.get(organizationId)
}
