/** The caller, in SQL. */
import { and, eq, sql } from 'drizzle-orm'
import { authorized } from '../../access/preconditions.ts'
import { apiKeys, brakes, organizationBrakes, organizations, users } from '../../db/schema.ts'
import { guarded } from '../../db/statement.ts'

/** What the operator has stopped since when, as JSON. */
const stoppedForAll = sql`(select json_group_object(${brakes.kind}, ${brakes.since}) from ${brakes})`
const stoppedHere = sql`(select json_group_object(${organizationBrakes.kind}, ${organizationBrakes.since}) from ${organizationBrakes}
  where ${organizationBrakes.organizationId} = ${apiKeys.organizationId})`

export const selectMe = guarded(authorized, {}, () =>
  authorized
    .rows({
      organizationId: sql<string>`${organizations.id}`.as('organizationId'),
      organizationName: sql<string>`${organizations.name}`.as('organizationName'),
      userId: sql<string | null>`${users.id}`.as('userId'),
      userName: sql<string | null>`${users.name}`.as('userName'),
      id: sql<string>`${apiKeys.id}`.as('id'),
      name: sql<string>`${apiKeys.name}`.as('name'),
      kind: apiKeys.kind,
      scopes: apiKeys.scopes,
      projectIds: apiKeys.projectIds,
      expiresAt: apiKeys.expiresAt,
      identityId: apiKeys.identityId,
      stoppedForAll: sql<string>`${stoppedForAll}`.as('stoppedForAll'),
      stoppedHere: sql<string>`${stoppedHere}`.as('stoppedHere'),
    })
    .innerJoin(organizations, eq(organizations.id, apiKeys.organizationId))
    .leftJoin(users, and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, apiKeys.userId))),
)
