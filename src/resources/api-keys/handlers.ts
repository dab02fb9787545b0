import { v7 as newUuid } from 'uuid'
import { mintToken } from '../../access/api-key.ts'
import { authorized } from '../../access/preconditions.ts'
import { one } from '../../access/request-context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toPage, toPaging } from '../../http/paging.ts'
import {
  createApiKeyContract,
  createApiKeySessionContract,
  deleteApiKeyContract,
  deleteOwnApiKeyContract,
  deleteOwnAppContract,
  deleteOwnSessionsContract,
  listApiKeysContract,
  MAX_SESSION_SECONDS,
  rotateApiKeyContract,
} from './contract.ts'
import {
  adoptInvitations,
  adoptLinks,
  adoptRoles,
  adoptRules,
  deletable,
  deleteInvitations,
  deleteRules,
  deletion,
  ownDeletable,
  ownDeletion,
  recordDeletedInvitations,
  recordDeletedRules,
  recordTakenRoles,
  recordUnlinkedIdentities,
  takeRoles,
  unlinkIdentities,
} from './ending.ts'
import { disconnectApp, disconnectable } from './grants.ts'
import { insertSuccessor, moveFeeds, recordEndedSessions, retireKey, rotatable, shortenSessions } from './rotation.ts'
import {
  endOwnSessions,
  endSurplusSessions,
  insertSession,
  recordSurplusSessions,
  sessionCreatable,
  sessionsDeletable,
} from './sessions.ts'
import { creatable, insertKey, listKeys, listOwnKeys } from './statements.ts'

interface Row {
  readonly scopes: string
  readonly projectIds: string | null
  readonly app: string | null
}

interface App {
  readonly clientId: string
  readonly name: string
  readonly redirectHost: string
  readonly endsAt: string | null
}

/** Lists are stored as JSON, and the statements return the app as JSON. */
function parseRow<R extends Row>(
  row: R,
): Omit<R, keyof Row> & { scopes: string[]; projectIds: string[] | null; app: App | null } {
  const { scopes, projectIds, app } = row
  return {
    ...row,
    scopes: JSON.parse(scopes),
    projectIds: projectIds === null ? null : JSON.parse(projectIds),
    app: app === null ? null : JSON.parse(app),
  }
}

/** A key's row keeps the `Idempotency-Key` that created it. The prefix keeps creation and each rotation apart. */
function within(operation: string, idempotencyKey: string | undefined): string | null {
  return idempotencyKey === undefined ? null : `${operation} ${idempotencyKey}`
}

export const createApiKey = endpoint(createApiKeyContract, async (c, context) => {
  const { hash, tokenIn } = await mintToken()
  const { name, scopes, userId, projectIds, expiresAt } = c.req.valid('json')
  const { created } = await context.run(
    creatable,
    { created: one(insertKey) },
    {
      id: newUuid(),
      hash,
      name,
      scopes: JSON.stringify(scopes),
      userId: userId ?? null,
      userIdIsGiven: Number(userId !== undefined),
      projectIds: projectIds ? JSON.stringify(projectIds) : null,
      projectIdsIsGiven: Number(projectIds !== undefined),
      expiresAt: expiresAt ?? null,
      expiresAtIsGiven: Number(expiresAt !== undefined),
      idempotencyKey: within('create', c.req.valid('header')['Idempotency-Key']),
    },
  )
  return {
    body: { ...parseRow(created), token: tokenIn(context.caller.databaseNumber) },
    location: `${context.path}/${created.id}`,
  }
})

export const listApiKeys = endpoint(listApiKeysContract, async (c, context) => {
  const query = c.req.valid('query')
  const values = { ...toPaging(query), kind: query.kind }
  const { all, own } = await context.run(authorized, { all: listKeys, own: listOwnKeys }, values)
  return { body: toPage([...all, ...own].map(parseRow), query, ({ id }) => id) }
})

export const rotateApiKey = endpoint(rotateApiKeyContract, async (c, context) => {
  const { hash, tokenIn } = await mintToken()
  const { apiKeyId } = c.req.valid('param')
  const { overlapSeconds } = c.req.valid('json')
  const { successor } = await context.run(
    rotatable,
    { successor: one(insertSuccessor), moveFeeds, recordEndedSessions, shortenSessions, retireKey },
    {
      apiKeyId,
      id: newUuid(),
      hash,
      overlapEndsAt: new Date(Date.parse(context.now) + overlapSeconds * 1000).toISOString(),
      idempotencyKey: within(`rotate ${apiKeyId}`, c.req.valid('header')['Idempotency-Key']),
    },
  )
  const keys = context.path.slice(0, context.path.indexOf(`/${apiKeyId}/`))
  return {
    body: { ...parseRow(successor), token: tokenIn(context.caller.databaseNumber) },
    location: `${keys}/${successor.id}`,
  }
})

export const deleteApiKey = endpoint(deleteApiKeyContract, async (c, context) => {
  const { apiKeyId: id } = c.req.valid('param')
  const values = { apiKeyId: id, descendants: Number(c.req.valid('query').descendants === 'true') }
  const steps = {
    adoptRules,
    adoptRoles,
    adoptLinks,
    adoptInvitations,
    recordDeletedRules,
    recordDeletedInvitations,
    recordUnlinkedIdentities,
    recordTakenRoles,
    ...deletion,
    deleteRules,
    takeRoles,
    deleteInvitations,
    // Last: the caller may be one of them, and is an admin no more.
    unlinkIdentities,
  }
  const { revoked } = await context.run(deletable, values.descendants ? steps : deletion, values)
  const descendants = revoked.filter((key) => key.id !== id).length
  return { body: { deleted: true, id, descendants } }
})

export const createApiKeySession = endpoint(createApiKeySessionContract, async (c, context) => {
  const { hash, tokenIn } = await mintToken()
  const { name, expiresInSeconds } = c.req.valid('json')
  const seconds = expiresInSeconds ?? MAX_SESSION_SECONDS
  const { session } = await context.run(
    sessionCreatable,
    { recordSurplusSessions, endSurplusSessions, session: one(insertSession) },
    {
      id: newUuid(),
      hash,
      name: name ?? null,
      expiresAt: new Date(Date.parse(context.now) + seconds * 1000).toISOString(),
      expiresAtIsGiven: Number(expiresInSeconds !== undefined),
    },
  )
  return {
    body: { ...parseRow(session), token: tokenIn(context.caller.databaseNumber) },
    location: `${context.path.slice(0, -'me/sessions'.length)}api-keys/${session.id}`,
  }
})

export const deleteOwnApiKey = endpoint(deleteOwnApiKeyContract, async (_, context) => {
  const { check, revoked } = await context.run(ownDeletable, ownDeletion, { descendants: 0 })
  return { body: { deleted: true, id: check.ownId, descendants: revoked.length - 1 } }
})

export const deleteOwnSessions = endpoint(deleteOwnSessionsContract, async (_, context) => {
  const { ended } = await context.run(sessionsDeletable, { ended: endOwnSessions }, {})
  return { body: { deleted: true, sessions: ended.length } }
})

export const deleteOwnApp = endpoint(deleteOwnAppContract, async (c, context) => {
  const { apiKeyId } = c.req.valid('param')
  const { app } = await context.run(disconnectable, { app: one(disconnectApp) }, { apiKeyId })
  return { body: { deleted: true, id: app.id } }
})
