/** The run endpoint of an organization, in SQL. No statement of an HTTP operation selects a sealed secret. */
import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { explaining, isUnrestricted, mayAct, now } from '../../access/guard.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, runEndpoints } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'

const sealedSecret = sql.placeholder('sealedSecret')
const expiresAt = sql.placeholder('expiresAt')

const isOfCaller = eq(runEndpoints.organizationId, apiKeys.organizationId)

/** It receives the runs of every project, so a key that is limited to some has nothing to do with it. */
const mayManage = and(mayAct, isUnrestricted)
const managedOrganization = query
  .select({ organizationId: apiKeys.organizationId })
  .from(apiKeys)
  .where(mayManage)

export const explainEndpoint = guarded(() =>
  explaining({
    endpointExists: sql<0 | 1>`${isNotNull(runEndpoints.organizationId)}`.as('endpointExists'),
    inReach: sql<0 | 1>`${isUnrestricted}`.as('inReach'),
  }).leftJoin(runEndpoints, isOfCaller),
)

const overlaps = sql`coalesce(${runEndpoints.previousExpiresAt} > ${now}, false)`

/** The run endpoint in the shape of the wire. */
const fields = {
  url: runEndpoints.url,
  previousSecretExpiresAt: sql<
    string | null
  >`case when ${overlaps} then ${runEndpoints.previousExpiresAt} end`.as('previousSecretExpiresAt'),
  createdAt: runEndpoints.createdAt,
  updatedAt: runEndpoints.updatedAt,
}

export const selectEndpoint = guarded(() =>
  query.select(fields).from(apiKeys).innerJoin(runEndpoints, isOfCaller).where(mayManage),
)

/** The secret is sealed for one organization: the caller's, or nothing is stored. One that is there stays. */
export const putEndpoint = guardedChange(() =>
  query
    .insert(runEndpoints)
    .select(
      query
        .select(
          insertRow(runEndpoints, {
            organizationId: apiKeys.organizationId,
            url: sql.placeholder('url'),
            sealedSecret,
            createdAt: now,
            updatedAt: now,
          }),
        )
        .from(apiKeys)
        .where(and(mayManage, eq(apiKeys.organizationId, sql.placeholder('sealedFor')))),
    )
    .onConflictDoUpdate({
      target: runEndpoints.organizationId,
      set: { url: excluded('url'), updatedAt: excluded('updatedAt'), slowUntil: null },
    })
    .returning({
      ...fields,
      hasNewSecret: sql<0 | 1>`${runEndpoints.sealedSecret} = ${sealedSecret}`.as('hasNewSecret'),
    }),
)

/** Two secrets live at most: while the one before overlaps, only a rotation that ends it goes on. */
export const rotateSecret = guardedChange(() =>
  query
    .update(runEndpoints)
    .set({
      previousSealedSecret: sql`case when ${expiresAt} is not null then ${runEndpoints.sealedSecret} end`,
      previousExpiresAt: sql`${expiresAt}`,
      sealedSecret: sql`${sealedSecret}`,
      updatedAt: sql`${now}`,
    })
    .where(
      and(
        eq(runEndpoints.organizationId, managedOrganization),
        eq(runEndpoints.organizationId, sql.placeholder('sealedFor')),
        sql`(${expiresAt} is null or not ${overlaps})`,
      ),
    )
    .returning(fields),
)

export const removeEndpoint = guardedChange(() =>
  query
    .delete(runEndpoints)
    .where(eq(runEndpoints.organizationId, managedOrganization))
    .returning({ url: runEndpoints.url }),
)
