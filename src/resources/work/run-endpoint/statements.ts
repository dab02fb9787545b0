/** The run endpoint of an organization, in SQL. No statement of an HTTP operation selects a sealed secret. */

import { and, eq, isNotNull, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter } from '../../../access/events.ts'
import { precondition, requiring } from '../../../access/preconditions.ts'
import { keyIsUnrestricted } from '../../../access/project.ts'
import { differs } from '../../../access/revision.ts'
import { now, text } from '../../../db/parameters.ts'
import { excluded, insertRow } from '../../../db/rows.ts'
import { apiKeys, runEndpoints } from '../../../db/schema.ts'
import { guarded, query } from '../../../db/statement.ts'
import { rotationOf } from '../../../webhooks/rotation.ts'
import { runEndpointNotFound } from './failures.ts'

const url = text('url')
const sealedSecret = text('sealedSecret')
const written = { url, sealedSecret }
/** The secret is sealed for one organization: the caller's, or nothing is stored. */
const sealedFor = text('sealedFor')

export const ownRunEndpoint = {
  table: runEndpoints,
  on: eq(runEndpoints.organizationId, apiKeys.organizationId),
  takes: {},
}
export const endpointExists = precondition(isNotNull(runEndpoints.organizationId), runEndpointNotFound)
/** A run endpoint receives the runs of every project. */
const isUnrestricted = keyIsUnrestricted

const { noThirdSecret, ...rotation } = rotationOf(runEndpoints)

export const settable = requiring([], { isUnrestricted })
export const accessible = requiring([ownRunEndpoint], { endpointExists, isUnrestricted })
export const rotatable = requiring([ownRunEndpoint], { endpointExists, isUnrestricted, noThirdSecret })

/** A run endpoint as the API returns it. */
const fields = {
  url: runEndpoints.url,
  previousSecretExpiresAt: rotation.previousSecretExpiresAt,
  createdAt: runEndpoints.createdAt,
  updatedAt: runEndpoints.updatedAt,
}

export const selectEndpoint = guarded(accessible, {}, () => accessible.rows(fields))

const recorded = (type: 'run-endpoint.set' | 'run-endpoint.rotated' | 'run-endpoint.deleted') =>
  recordedAfter({}, { type, id: apiKeys.organizationId })

const stored = {
  ...fields,
  hasNewSecret: sql<0 | 1>`${runEndpoints.sealedSecret} = ${sealedSecret}`.as('hasNewSecret'),
}
const isSealed = eq(apiKeys.organizationId, sealedFor)

/** No row if the endpoint has this URL. An existing secret is kept. */
export const putEndpoint = guardedChange(settable, { ...written, sealedFor }, recorded('run-endpoint.set'), () =>
  query
    .insert(runEndpoints)
    .select(
      settable.rows(
        insertRow(runEndpoints, {
          organizationId: apiKeys.organizationId,
          ...written,
          createdAt: now,
          updatedAt: now,
        }),
        isSealed,
      ),
    )
    .onConflictDoUpdate({
      target: runEndpoints.organizationId,
      set: { url: excluded('url'), updatedAt: excluded('updatedAt'), slowUntil: null },
      setWhere: differs(runEndpoints, { url: excluded('url') }),
    })
    .returning(stored),
)

/** Directly after `putEndpoint`: the endpoint, if it had the URL already. */
export const selectUnchanged = guarded(settable, { ...written, sealedFor }, () =>
  settable
    .rows(stored, and(isSealed, sql`changes() = 0`))
    .innerJoin(runEndpoints, and(ownRunEndpoint.on, eq(runEndpoints.url, url))),
)

export const rotateSecret = guardedChange(
  rotatable,
  { parameter: rotation.parameter, sealedFor },
  recorded('run-endpoint.rotated'),
  () =>
    query
      .update(runEndpoints)
      .set(rotation.rotated)
      .where(and(eq(runEndpoints.organizationId, rotatable.organizationId), eq(runEndpoints.organizationId, sealedFor)))
      .returning(fields),
)

export const deleteEndpoint = guardedChange(accessible, {}, recorded('run-endpoint.deleted'), () =>
  query
    .delete(runEndpoints)
    .where(eq(runEndpoints.organizationId, accessible.organizationId))
    .returning({ url: runEndpoints.url }),
)
