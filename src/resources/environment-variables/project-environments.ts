/**
 * How a build system reads values: from a Worker of the same account, through a service binding, never through HTTP.
 */
import { WorkerEntrypoint } from 'cloudflare:workers'
import { and, asc, eq } from 'drizzle-orm'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { text } from '../../db/parameters.ts'
import { environmentVariables, projects } from '../../db/schema.ts'
import { query, runBatch, unguarded } from '../../db/statement.ts'
import type { Environment } from '../../environment.ts'
import { isUuid } from '../../http/fields.ts'
import { openVariable } from './open-variable.ts'

const organizationId = text('organizationId')
const projectId = text('projectId')

export const selectSealed = unguarded([organizationId, projectId], () =>
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
    const { rows } = await runBatch(this.env.DB, { rows: selectSealed }, ids)
    if (rows.length === 0) return null
    const ring = parseKeyRing(this.env.ENCRYPTION_KEYS)
    const entries = rows.map(async ({ key, sealedValue }): Promise<[string, string][]> => {
      if (key === null || sealedValue === null) return []
      return [[key, await openVariable({ key, sealedValue }, ids, ring)]]
    })
    return Object.fromEntries((await Promise.all(entries)).flat())
  }
}

/** An ID in the form that is stored: UUIDs in lower case. */
function canonical(id: string): string {
  return isUuid(id) ? id.toLowerCase() : id
}
