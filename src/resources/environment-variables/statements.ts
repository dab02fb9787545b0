/** The environment variables of a project, in SQL. Only `selectLeased` selects sealed values. */
import {
  and,
  asc,
  eq,
  exists,
  gt,
  isNotNull,
  isNull,
  not,
  notExists,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { eventType, guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { precondition, preconditionUnless, requiring, uncheckedPrecondition } from '../../access/preconditions.ts'
import { namedProject, projectExists, projectId, projectIsAccessible, projectIsActive } from '../../access/project.ts'
import { exceededQuota, quotaExceededBy } from '../../access/quotas.ts'
import { cursor, now, number, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { chunkOf, excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, environmentVariables, projects, variableRequests } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { filled } from '../../errors.ts'
import { describeSent } from '../../http/problems.ts'
import {
  keyReusedForVariables,
  namedVariablesNotFound,
  restrictedKeyRequired,
  variableLimitReached,
  variableNotFound,
} from './failures.ts'

const key = text('key')
/** JSON list of the names of the variables that the request sets or leases; NULL for a lease of all. */
const keys = textOrNull('keys')
const variableLimit = number('variableLimit')
/** The characters of the request's sealed values. */
const sealedLength = number('sealedLength')
/** The organization that the values are sealed for. */
const sealedFor = text('sealedFor')
/** The start of the first sealed value. */
const firstSeal = textOrNull('firstSeal')
const idempotencyKey = textOrNull('idempotencyKey')
/** JSON list of the fingerprints of the request's body, one for each encryption key. */
const fingerprints = text('fingerprints')

const namedVariable = {
  table: environmentVariables,
  on: and(
    eq(environmentVariables.organizationId, apiKeys.organizationId),
    eq(environmentVariables.projectId, projectId),
    eq(environmentVariables.key, key),
  ),
  takes: { projectId, key },
}

const variableExists = precondition(isNotNull(environmentVariables.key), variableNotFound)

export const deletable = requiring([namedProject, namedVariable], {
  projectExists,
  variableExists,
  projectIsAccessible,
  projectIsActive,
})

const recordedDeletion = recordedAfter(
  { projectId, key },
  {
    type: 'environment-variable.deleted',
    id: key,
    name: key,
    projectId,
  },
)

export const deleteVariable = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, deletable.organizationId),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    )
    .returning({ key: environmentVariables.key }),
)

const isOfProject = and(
  eq(environmentVariables.organizationId, projects.organizationId),
  eq(environmentVariables.projectId, projects.id),
)

/** A variable as the API returns it. */
const fields = {
  key: environmentVariables.key,
  createdAt: environmentVariables.createdAt,
  updatedAt: environmentVariables.updatedAt,
}

export const readable = requiring([namedProject], { projectExists, projectIsAccessible })

export const selectVariables = guarded(readable, { cursor, rowLimit }, () =>
  query
    .select(fields)
    .from(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, readable.organizationId),
        eq(environmentVariables.projectId, projectId),
        gt(environmentVariables.key, cursor),
      ),
    )
    .orderBy(asc(environmentVariables.key))
    .limit(rowLimit),
)

const isSet = sql`${environmentVariables.key} in (select value from json_each(${keys}))`

/** 12 MiB of values when sealed. They fit into one response of `ProjectEnvironments.read`. */
const MAX_SEALED_CHARACTERS = 16 * 2 ** 20 + 500 * 128

/** True if the project stays within its limits. It is the same before, during and after the request. */
const fits = sql<0 | 1>`${query
  .select({
    fits: sql`count(*) + json_array_length(${keys}) <= ${variableLimit}
      and coalesce(sum(length(${environmentVariables.sealedValue})), 0) + ${sealedLength}
        <= ${sql.raw(String(MAX_SEALED_CHARACTERS))}`,
  })
  .from(environmentVariables)
  .where(and(isOfProject, not(isSet)))}`

const isFirst = sql`${environmentVariables.key} = ${keys} ->> 0`

/** 1 if the first of the request's variables, which is the only one of a PUT, did not exist before. */
const isNew = sql<0 | 1>`${notExists(
  query.select({ one: sql`1` }).from(environmentVariables).where(and(isOfProject, isFirst)),
)}`

/** A value over the variables that the request replaces. */
const replaced = (value: SQL) =>
  sql`${query.select({ value }).from(environmentVariables).where(and(isOfProject, isSet))}`
const exceeded = exceededQuota({
  variables: sql`json_array_length(${keys}) - ${replaced(sql`count(*)`)}`,
  variableBytes: sql`${sealedLength} - ${replaced(sql`coalesce(sum(octet_length(${environmentVariables.sealedValue})), 0)`)}`,
})

/**
 * True if a chunk of the request is stored already. Then the others follow, although the usage has changed. No two
 * sealed values start the same, because each has its own IV.
 */
const isBegun = exists(
  query
    .select({ one: sql`1` })
    .from(environmentVariables)
    .where(and(isOfProject, isFirst, sql`instr(${environmentVariables.sealedValue}, ${firstSeal}) = 1`)),
)

/** The request that has this `Idempotency-Key`: an earlier one, or this one once it is recorded. */
const namedRequest = {
  table: variableRequests,
  on: and(
    eq(variableRequests.organizationId, projects.organizationId),
    eq(variableRequests.projectId, projects.id),
    eq(variableRequests.idempotencyKey, idempotencyKey),
  ),
  takes: { idempotencyKey },
}
const hasEqualBody = sql`${variableRequests.idempotencyFingerprint} in (select value from json_each(${fingerprints}))`

export const settable = requiring(
  [namedProject, namedRequest],
  {
    projectExists,
    projectIsAccessible,
    isFirstRequest: precondition(
      or(isNull(variableRequests.idempotencyKey), and(eq(variableRequests.createdAt, now), hasEqualBody)),
      keyReusedForVariables,
      { fingerprints },
    ),
    projectIsActive,
    exceededQuota: preconditionUnless(
      exceeded,
      ({ limits }, quota) => quotaExceededBy(quota, limits),
      { keys, sealedLength, firstSeal },
      or(isBegun, isNull(exceeded)),
    ),
    isWithinLimits: uncheckedPrecondition(
      or(isBegun, fits),
      ({ limits }) => filled(variableLimitReached, { limit: limits.variables }),
      { keys, sealedLength, firstSeal, variableLimit },
    ),
  },
  {
    isNew,
    /** True if a request with the same `Idempotency-Key` and an equal body was sent before. */
    isRepeated: sql<0 | 1>`coalesce(${hasEqualBody}, false)`,
  },
  { keys, fingerprints },
)

/** The values are sealed for one organization. If it is not the caller's, nothing is stored. */
const isSealedForCaller = eq(apiKeys.organizationId, sealedFor)

/** Records a request that has an `Idempotency-Key`. */
export const recordRequest = guarded(settable, { sealedFor }, () =>
  query
    .insert(variableRequests)
    .select(
      settable.rows(
        insertRow(variableRequests, {
          organizationId: projects.organizationId,
          projectId: projects.id,
          idempotencyKey,
          idempotencyFingerprint: sql`${fingerprints} ->> 0`,
          createdAt: now,
        }),
        and(isSealedForCaller, isNotNull(idempotencyKey)),
      ),
    )
    .onConflictDoNothing(),
)

/** A chunk of the request's variables. */
export const VARIABLES = chunkOf('key', 'sealedValue')

const MAX_RECORDED_CHARACTERS = sql.raw('1000')

/** The names as an event has them, as many as there is room for. @param rows of the names, in order. */
const recordedNames = (rows: SQLWrapper) =>
  sql`(select substr(names, 1, ${MAX_RECORDED_CHARACTERS}) || iif(length(names) > ${MAX_RECORDED_CHARACTERS}, '…', '')
    from (select group_concat(key, ', ') as names from ${rows}))`

const isOnlyOne = sql`json_array_length(${keys}) = 1`
const recordedSetting = recordedAfter(
  { keys, projectId },
  {
    type: eventType(sql`iif(${isOnlyOne}, 'environment-variable.set', 'environment-variables.set')`),
    id: sql`iif(${isOnlyOne}, ${keys} ->> 0, ${projectId})`,
    name: recordedNames(sql`(select value as key from json_each(${keys}) order by value)`),
    projectId,
  },
)

export const putVariables = guardedChange(settable, { sealedFor }, recordedSetting, () =>
  query
    .insert(environmentVariables)
    .select(
      settable
        .rows(
          insertRow(environmentVariables, {
            organizationId: projects.organizationId,
            projectId: projects.id,
            key: VARIABLES.column('key'),
            sealedValue: VARIABLES.column('sealedValue'),
            createdAt: now,
            updatedAt: now,
          }),
          isSealedForCaller,
        )
        .innerJoin(VARIABLES.table, isNotNull(VARIABLES.column('key'))),
    )
    .onConflictDoUpdate({
      target: [environmentVariables.organizationId, environmentVariables.projectId, environmentVariables.key],
      set: { sealedValue: excluded('sealedValue'), updatedAt: excluded('updatedAt') },
    })
    .returning(fields),
)

/** The variables of a request that was sent before with an equal body, as they are now. */
export const selectRepeated = guarded(readable, { idempotencyKey, fingerprints, keys }, () =>
  readable
    .rows(fields)
    .innerJoin(variableRequests, and(namedRequest.on, hasEqualBody))
    .innerJoin(environmentVariables, and(isOfProject, isSet))
    .orderBy(asc(environmentVariables.key)),
)

const keyIsRestricted = precondition(isNotNull(apiKeys.projectIds), restrictedKeyRequired)

const MAX_NAMED = 3

/** The first names of the request that the project does not have, and one more if there are others. */
const missingKeys = sql<string | null>`(select group_concat(value) from ${query
  .select({ value: sql`value` })
  .from(sql`json_each(${keys})`)
  .where(
    notExists(
      query
        .select({ one: sql`1` })
        .from(environmentVariables)
        .where(and(isOfProject, sql`${environmentVariables.key} = value`)),
    ),
  )
  .limit(MAX_NAMED + 1)})`

const keysExist = preconditionUnless(
  missingKeys,
  (_, missing) => {
    const names = missing.split(',').map((name) => describeSent(name))
    const others = names.splice(MAX_NAMED).length > 0 ? ' and others' : ''
    return filled(namedVariablesNotFound, { keys: names.join(', ') + others })
  },
  { keys },
)

/** Archived projects can be read, as by `ProjectEnvironments`. */
export const leasable = requiring([namedProject], {
  projectExists,
  keysExist,
  keyIsRestricted,
  projectIsAccessible,
})

const isLeased = sql`(${keys} is null or ${isSet})`

export const selectLeased = guarded(leasable, {}, () =>
  query
    .select({ key: environmentVariables.key, sealedValue: environmentVariables.sealedValue })
    .from(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, leasable.organizationId),
        eq(environmentVariables.projectId, projectId),
        isLeased,
      ),
    )
    .orderBy(asc(environmentVariables.key)),
)

const leasedKeys = query
  .select({ key: environmentVariables.key })
  .from(environmentVariables)
  .where(and(isOfProject, isLeased))
  .orderBy(asc(environmentVariables.key))

export const recordLease = recordedBefore(
  leasable,
  {},
  {
    type: 'environment-variables.leased',
    id: projects.id,
    name: recordedNames(leasedKeys),
    projectId: projects.id,
  },
)
