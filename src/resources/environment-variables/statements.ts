/** The environment variables of a project, in SQL. No statement of an HTTP operation selects a sealed value. */
import { and, asc, eq, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import { explaining, isInReach, mayAct, now } from '../../access/guard.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { apiKeys, environmentVariables, projects, variableRequests } from '../../db/schema.ts'
import { chunkOf, excluded, guarded, guardedChange, insertRow, query } from '../../db/statement.ts'

const projectId = sql.placeholder('projectId')
const key = sql.placeholder('key')

const isProject = and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, projectId))

export const explainVariable = guarded(() =>
  explaining({
    projectExists: sql<0 | 1>`${isNotNull(projects.id)}`.as('projectExists'),
    inReach: sql<0 | 1>`${isInReach(projects.id)}`.as('inReach'),
    isArchived: sql<0 | 1>`${isNotNull(projects.archivedAt)}`.as('isArchived'),
    variableExists: sql<0 | 1>`${isNotNull(environmentVariables.key)}`.as('variableExists'),
  })
    .leftJoin(projects, isProject)
    .leftJoin(
      environmentVariables,
      and(
        eq(environmentVariables.organizationId, apiKeys.organizationId),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    ),
)

/** The organization of the project, if the caller may change it; else NULL, which matches no row. */
const changeableOrganization = query
  .select({ organizationId: projects.organizationId })
  .from(apiKeys)
  .innerJoin(projects, isProject)
  .where(and(mayAct, isInReach(projects.id), isNull(projects.archivedAt)))

export const deleteVariable = guardedChange(() =>
  query
    .delete(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, changeableOrganization),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    )
    .returning({ key: environmentVariables.key }),
)

const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')
const idempotencyKey = sql.placeholder('idempotencyKey')
/** JSON: the fingerprints of the request's body, under each key of the ring. */
const fingerprints = sql.placeholder('fingerprints')
/** JSON: the names of the variables that the request sets. */
const keys = sql.placeholder('keys')

const isOfProject = and(
  eq(environmentVariables.organizationId, projects.organizationId),
  eq(environmentVariables.projectId, projects.id),
)

/** A variable in the shape of the wire. */
const fields = {
  key: environmentVariables.key,
  createdAt: environmentVariables.createdAt,
  updatedAt: environmentVariables.updatedAt,
}

/** The organization of the project, if the caller may list its variables; else NULL, which matches no row. */
const listedFrom = query
  .select({ organizationId: projects.organizationId })
  .from(apiKeys)
  .innerJoin(projects, isProject)
  .where(and(mayAct, isInReach(projects.id)))

export const selectVariables = guarded(() =>
  query
    .select(fields)
    .from(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, listedFrom),
        eq(environmentVariables.projectId, projectId),
        gt(environmentVariables.key, cursor),
      ),
    )
    .orderBy(asc(environmentVariables.key))
    .limit(rowLimit),
)

const sealedLength = sql.placeholder('sealedLength')
const isSet = sql`${environmentVariables.key} in (select value from json_each(${keys}))`

/** What 12 MiB of values are, sealed, with what each has besides: they fit into one answer of `ProjectEnvironments.read`. */
const MOST_SEALED_CHARACTERS = 16 * 2 ** 20 + 500 * 128

/** True if the project stays within its limits when the request is done. It says so during and after, too. */
const fits = sql<0 | 1>`${query
  .select({
    fits: sql`count(*) + json_array_length(${keys}) <= ${sql.placeholder('variableLimit')}
      and coalesce(sum(length(${environmentVariables.sealedValue})), 0) + ${sealedLength}
        <= ${sql.raw(String(MOST_SEALED_CHARACTERS))}`,
  })
  .from(environmentVariables)
  .where(and(isOfProject, sql`not ${isSet}`))}`

/** Of the variables that the request replaces. */
const replaced = (value: SQL) =>
  sql`${query.select({ value }).from(environmentVariables).where(and(isOfProject, isSet))}`
const exceeded = exceededQuota({
  variables: sql`json_array_length(${keys}) - ${replaced(sql`count(*)`)}`,
  variableBytes: sql`${sealedLength} - ${replaced(sql`coalesce(sum(octet_length(${environmentVariables.sealedValue})), 0)`)}`,
})

/**
 * True if a chunk of the request is stored already: then the others follow, although the usage has changed. No two sealed
 * values begin alike, because each has an IV of its own.
 */
const isBegun = sql`exists ${query
  .select({ one: sql`1` })
  .from(environmentVariables)
  .where(
    and(
      isOfProject,
      sql`${environmentVariables.key} = ${keys} ->> 0`,
      sql`instr(${environmentVariables.sealedValue}, ${sql.placeholder('firstSeal')}) = 1`,
    ),
  )}`

/** An earlier request with the same `Idempotency-Key`, or this one once it is remembered. */
const isRequest = and(
  eq(variableRequests.organizationId, projects.organizationId),
  eq(variableRequests.projectId, projects.id),
  eq(variableRequests.idempotencyKey, idempotencyKey),
)
const isEqualBody = sql`${variableRequests.idempotencyFingerprint} in (select value from json_each(${fingerprints}))`

export const explainSetting = guarded(() =>
  explaining({
    projectExists: sql<0 | 1>`${isNotNull(projects.id)}`.as('projectExists'),
    inReach: sql<0 | 1>`${isInReach(projects.id)}`.as('inReach'),
    isArchived: sql<0 | 1>`${isNotNull(projects.archivedAt)}`.as('isArchived'),
    isRepeated: sql<0 | 1>`${isNotNull(variableRequests.idempotencyKey)}`.as('isRepeated'),
    isEqual: sql<0 | 1>`coalesce(${isEqualBody}, false)`.as('isEqual'),
    exceededQuota: exceeded.as('exceededQuota'),
  })
    .leftJoin(projects, isProject)
    .leftJoin(variableRequests, isRequest),
)

/** The values are sealed for one organization: the caller's, or nothing is stored. */
const isSettable = and(
  mayAct,
  eq(apiKeys.organizationId, sql.placeholder('sealedFor')),
  isInReach(projects.id),
  isNull(projects.archivedAt),
  or(isBegun, and(fits, isNull(exceeded))),
)

/** Remembers a request that has an `Idempotency-Key`. */
export const rememberRequest = guarded(() =>
  query
    .insert(variableRequests)
    .select(
      query
        .select(
          insertRow(variableRequests, {
            organizationId: projects.organizationId,
            projectId: projects.id,
            idempotencyKey,
            idempotencyFingerprint: sql`${fingerprints} ->> 0`,
            createdAt: now,
          }),
        )
        .from(apiKeys)
        .innerJoin(projects, isProject)
        .where(and(isSettable, sql`${idempotencyKey} is not null`)),
    )
    .onConflictDoNothing(),
)

/** A chunk of the request's variables. */
export const VARIABLES = chunkOf('key', 'sealedValue')

/** True if the request has no `Idempotency-Key`, or is the one that is remembered. */
const isFirst = or(
  isNull(variableRequests.idempotencyKey),
  and(eq(variableRequests.createdAt, now), isEqualBody),
)

export const putVariables = guardedChange(() =>
  query
    .insert(environmentVariables)
    .select(
      query
        .select(
          insertRow(environmentVariables, {
            organizationId: projects.organizationId,
            projectId: projects.id,
            key: VARIABLES.column('key'),
            sealedValue: VARIABLES.column('sealedValue'),
            createdAt: now,
            updatedAt: now,
          }),
        )
        .from(apiKeys)
        .innerJoin(projects, isProject)
        .leftJoin(variableRequests, isRequest)
        .innerJoin(VARIABLES.table, isNotNull(VARIABLES.column('key')))
        .where(and(isSettable, isFirst)),
    )
    .onConflictDoUpdate({
      target: [environmentVariables.organizationId, environmentVariables.projectId, environmentVariables.key],
      set: { sealedValue: excluded('sealedValue'), updatedAt: excluded('updatedAt') },
    })
    .returning(fields),
)

/** Of a request with an equal body that came before: the variables as they are now. */
export const selectRepeated = guarded(() =>
  query
    .select(fields)
    .from(apiKeys)
    .innerJoin(projects, isProject)
    .innerJoin(variableRequests, and(isRequest, isEqualBody))
    .innerJoin(environmentVariables, and(isOfProject, isSet))
    .where(and(mayAct, isInReach(projects.id)))
    .orderBy(asc(environmentVariables.key)),
)
