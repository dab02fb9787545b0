/**
 * How a build system reads values: from a Worker of the same account, through a service binding, never through HTTP.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { and, asc, eq, inArray, notExists } from 'drizzle-orm'
import { RecentMap } from '../../access/recent-map.ts'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { databaseNumbers, requireDatabase } from '../../db/database.ts'
import { placesOf } from '../../db/directory.ts'
import { text } from '../../db/parameters.ts'
import { environmentVariables, halts, organizations, projects } from '../../db/schema.ts'
import { query, runBatch, unguarded } from '../../db/statement.ts'
import type { Environment } from '../../environment.ts'
import { isUuid } from '../../http/fields.ts'
import { openVariable } from './open-variable.ts'

const organizationId = text('organizationId')
const projectId = text('projectId')

export const selectSealed = unguarded({ organizationId, projectId }, () =>
  query
    .select({ key: environmentVariables.key, sealedValue: environmentVariables.sealedValue })
    .from(projects)
    .leftJoin(
      environmentVariables,
      and(
        eq(environmentVariables.organizationId, projects.organizationId),
        eq(environmentVariables.projectId, projects.id),
      ),
    )
    .where(and(eq(projects.organizationId, organizationId), eq(projects.id, projectId)))
    .orderBy(asc(environmentVariables.key)),
)

/**
 * In the wrangler.toml of the reading Worker:
 *
 *     [[services]]
 *     binding = "ENVIRONMENTS"
 *     service = "workspace-api"
 *     entrypoint = "ProjectEnvironments"
 */
export class ProjectEnvironments extends WorkerEntrypoint<Environment> {
  /**
   * The decrypted variables of a project by name; null if the organization has no such project.
   * @throws if a value cannot be decrypted: `ENCRYPTION_KEYS` lacks its key, or the value was altered.
   */
  async read(organizationId: string, projectId: string): Promise<Record<string, string> | null> {
    const ids = { organizationId: canonical(organizationId), projectId: canonical(projectId) }
    const rows = await this.#readRows(ids)
    if (rows.length === 0) return null
    const ring = parseKeyRing(this.env.ENCRYPTION_KEYS)
    const entries = rows.map(async ({ key, sealedValue }): Promise<[string, string][]> => {
      if (key === null || sealedValue === null) return []
      return [[key, await openVariable({ key, sealedValue }, ids, ring)]]
    })
    return Object.fromEntries((await Promise.all(entries)).flat())
  }

  /** Reads in the database of the organization, which the directory is asked for again if it is not there any more. */
  async #readRows(ids: { readonly organizationId: string; readonly projectId: string }) {
    const { organizationId } = ids
    const number = knownDatabases.get(organizationId)
    if (number !== undefined) {
      const { rows, isHere } = await this.#readIn(number, ids)
      if (isHere) return rows
    }
    const place = (await placesOf(this.env, [organizationId]))(organizationId)
    if (!place) return []
    knownDatabases.set(organizationId, place.database)
    return (await this.#readIn(place.database, ids)).rows
  }

  async #readIn(number: number, ids: { readonly organizationId: string; readonly projectId: string }) {
    const isOnly = databaseNumbers(this.env).length === 1
    const { rows, here } = await runBatch(
      requireDatabase(this.env, number),
      { rows: selectSealed, here: isOnly ? [] : [selectIsHere] },
      ids,
    )
    return { rows, isHere: isOnly || here.length > 0 }
  }
}

/** The databases of organizations, which change when an organization moves. */
const knownDatabases = new RecentMap<string, number>()

/** A row if the database has the organization, and it has not left to another one. */
export const selectIsHere = unguarded({ organizationId }, () =>
  query
    .select({ id: organizations.id })
    .from(organizations)
    .where(
      and(
        eq(organizations.id, organizationId),
        notExists(
          query
            .select({ kind: halts.kind })
            .from(halts)
            .where(and(eq(halts.organizationId, organizations.id), inArray(halts.kind, ['arriving', 'left']))),
        ),
      ),
    ),
)

/** An ID in the form that is stored: UUIDs in lower case. */
function canonical(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}
