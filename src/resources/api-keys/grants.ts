/** The keys of apps that people connected, in SQL. */
import { and, eq, gt, isNotNull, isNull, notExists, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { mayAct } from '../../access/guard.ts'
import { callerIsUnrotated, includesProjects, isKeyAccessible } from '../../access/manage-keys.ts'
import { authorized, precondition, requiring } from '../../access/preconditions.ts'
import { projectsExist } from '../../access/project.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys, identities } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { filled } from '../../errors.ts'
import {
  bundlesExceedOwn,
  connectedAppLimit,
  connectedAppNotFound,
  consentIsDecided,
  otherConnectedApp,
  projectsExceedOwn,
  signedInPersonRequired,
} from './failures.ts'

/** The most apps that a person connects. */
const MAX_GRANTS = 50

const id = text('id')
const apiKeyId = text('apiKeyId')
const hash = text('hash')
const name = text('name')
/** Those that the app asked for and the person ticked. */
const scopes = text('scopes')
const projectIds = textOrNull('projectIds')
const clientId = text('clientId')
const redirectHost = text('redirectHost')
const consentHash = textOrNull('consentHash')
const grantEndsAt = text('grantEndsAt')
/** SQLite's modifier of a time: how long an app lives after the last sign-in of its person. */
const idleTime = text('idleTime')

/** What the session may do of that. */
const granted = sql`(select json_group_array(value) from json_each(${scopes})
  where value in (select value from json_each(${apiKeys.scopes})))`

const newProjectIds = sql<string | null>`coalesce(${projectIds}, ${apiKeys.projectIds})`

/** The key that made the session. An app lives as long as the access of its person, or else as that key. */
const creator = alias(apiKeys, 'creator')
const creatorOfSession = {
  table: creator,
  on: and(
    eq(creator.organizationId, apiKeys.organizationId),
    eq(creator.id, apiKeys.createdByKeyId),
    isNull(apiKeys.identityId),
  ),
  takes: {},
}
const identityOfSession = {
  table: identities,
  on: and(eq(identities.organizationId, apiKeys.organizationId), eq(identities.id, apiKeys.identityId)),
  takes: {},
}

const grant = alias(apiKeys, 'grant')
const isLiveGrant = and(
  eq(grant.organizationId, apiKeys.organizationId),
  sql`${grant.kind} = 'grant'`,
  isNull(grant.revokedAt),
  gt(grant.expiresAt, now),
)
/** Two queries, so that each has its index. */
const grantsOfPerson = query
  .select({ one: sql`1` })
  .from(grant)
  .where(and(isLiveGrant, isNull(apiKeys.identityId), eq(grant.createdByKeyId, apiKeys.createdByKeyId)))
  .unionAll(
    query
      .select({ one: sql`1` })
      .from(grant)
      .where(and(isLiveGrant, eq(grant.identityId, apiKeys.identityId))),
  )

/** A session ends in hours, so the grant takes everything from it but its end. */
export const connectable = requiring([creatorOfSession, identityOfSession], {
  callerIsSession: precondition(sql`${apiKeys.kind} = 'session'`, signedInPersonRequired),
  consentIsNew: precondition(
    notExists(
      query
        .select({ one: sql`1` })
        .from(grant)
        .where(and(eq(grant.organizationId, apiKeys.organizationId), eq(grant.idempotencyKey, consentHash))),
    ),
    consentIsDecided,
    { consentHash },
  ),
  projectsExist: projectsExist(projectIds, { projectIds }),
  grantsSomething: precondition(sql`json_array_length(${granted}) > 0`, bundlesExceedOwn, { scopes }),
  projectsAreAccessible: precondition(includesProjects(newProjectIds), projectsExceedOwn, { projectIds }),
  withinLimit: precondition(
    sql`(select count(*) from (${grantsOfPerson})) < ${sql.raw(String(MAX_GRANTS))}`,
    filled(connectedAppLimit, { limit: MAX_GRANTS }),
  ),
})

/** The end that the person chose, or that of the key. */
const lastEnd = sql<string>`min(${grantEndsAt}, coalesce(${creator.expiresAt}, ${grantEndsAt}))`
const idleEnd = sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${identities.lastSignInAt}, ${idleTime})`

export const insertGrant = guardedChange(
  connectable,
  { id, hash, name, clientId, redirectHost, consentHash, grantEndsAt, idleTime },
  recordedAfter({ id, name }, { type: 'api-key.app-connected', id, name }),
  () =>
    query
      .insert(apiKeys)
      .select(
        connectable.rows(
          insertRow(apiKeys, {
            organizationId: apiKeys.organizationId,
            id,
            name,
            kind: sql`'grant'`,
            hash,
            scopes: granted,
            userId: apiKeys.userId,
            projectIds: newProjectIds,
            expiresAt: sql`min(${lastEnd}, coalesce(${idleEnd}, ${lastEnd}))`,
            createdAt: now,
            // The key with which the app ends; of a person whom a rule admitted, the session, as one of its descendants.
            createdByKeyId: sql`case when ${apiKeys.identityId} is null then ${apiKeys.createdByKeyId} else ${apiKeys.id} end`,
            identityId: apiKeys.identityId,
            clientId,
            clientName: name,
            redirectHost,
            idempotencyKey: sql`${consentHash}`,
            grantEndsAt: lastEnd,
          }),
        ),
      )
      .returning({ id: apiKeys.id, grantEndsAt: apiKeys.grantEndsAt, expiresAt: apiKeys.expiresAt }),
)

const isCallersGrant = and(mayAct, sql`${apiKeys.kind} = 'grant'`)

/** The code of the grant is exchanged. No row: it was before. */
export const redeemCode = guarded(authorized, {}, () =>
  query
    .update(apiKeys)
    .set({ redeemedAt: sql`${now}` })
    .where(and(isCallersGrant, isNull(apiKeys.redeemedAt)))
    .returning({ id: apiKeys.id }),
)

/** The exchange came to nothing, so the code can be used again. */
export const restoreCode = guarded(authorized, {}, () =>
  query.update(apiKeys).set({ redeemedAt: null }).where(isCallersGrant),
)

const isNamed = and(
  eq(grant.organizationId, apiKeys.organizationId),
  eq(grant.id, apiKeyId),
  sql`${grant.kind} = 'grant'`,
  isNull(grant.revokedAt),
)
/** The caller belongs to the person who connected the app, or to the API key that the person signed in with. */
const isOwnGrant = and(
  isKeyAccessible(grant),
  or(
    eq(grant.identityId, apiKeys.identityId),
    and(
      isNull(grant.identityId),
      isNull(apiKeys.identityId),
      sql`${grant.createdByKeyId} = case ${apiKeys.kind} when 'key' then ${apiKeys.id} else ${apiKeys.createdByKeyId} end`,
    ),
  ),
)

export const disconnectable = requiring([{ table: grant, on: isNamed, takes: { apiKeyId } }], {
  appExists: precondition(isNotNull(grant.id), connectedAppNotFound),
  callerIsUnrotated: callerIsUnrotated(),
  appIsOwn: precondition(isOwnGrant, otherConnectedApp),
})

const recordedDisconnection = recordedBefore(
  disconnectable,
  {},
  {
    type: 'api-key.app-disconnected',
    id: grant.id,
    name: grant.name,
  },
)

export const disconnectApp = guardedChange(disconnectable, {}, recordedDisconnection, () =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(and(eq(apiKeys.organizationId, disconnectable.organizationId), eq(apiKeys.id, apiKeyId)))
    .returning({ id: apiKeys.id }),
)
