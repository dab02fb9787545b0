import { v7 as newUuid } from 'uuid'
import { hashToken, mintToken } from '../../access/api-key.ts'
import { authorized } from '../../access/preconditions.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import {
  createApiKeyContract,
  createApiKeySessionContract,
  deleteApiKeyContract,
  deleteOwnApiKeyContract,
  listApiKeysContract,
  MAX_SESSION_SECONDS,
  rotateApiKeyContract,
} from './contract.ts'
import {
  creatable,
  deletable,
  deletion,
  endSurplusSessions,
  insertKey,
  insertSession,
  insertSuccessor,
  listKeys,
  listOwnKeys,
  moveFeeds,
  ownDeletable,
  ownDeletion,
  recordEndedSessions,
  recordSurplusSessions,
  retireKey,
  rotatable,
  sessionCreatable,
  shortenSessions,
} from './statements.ts'

interface Row {
  readonly scopes: string
  readonly projectIds: string | null
}

/** Lists are stored as JSON. */
function parseLists<R extends Row>(
  row: R,
): Omit<R, keyof Row> & { scopes: string[]; projectIds: string[] | null } {
  const { scopes, projectIds } = row
  return {
    ...row,
    scopes: JSON.parse(scopes),
    projectIds: projectIds === null ? null : JSON.parse(projectIds),
  }
}

/** An optional field as the statements take it: if it is left out, they use that of the caller's key. */
function optional<Name extends string>(name: Name, value: string | null | undefined) {
  return { [name]: value ?? null, [`${name}IsGiven`]: Number(value !== undefined) }
}

/** A key's row keeps the `Idempotency-Key` that created it. The prefix keeps creation and each rotation apart. */
function within(operation: string, idempotencyKey: string | undefined): string | null {
  return idempotencyKey === undefined ? null : `${operation} ${idempotencyKey}`
}

export const createApiKey = endpoint(createApiKeyContract, async ({ headers, body, path }, context) => {
  const token = mintToken()
  const { name, scopes, userId, projectIds, expiresAt } = body
  const [facts, [row]] = await context.run(creatable, [insertKey], {
    id: newUuid(),
    hash: hashToken(token),
    name,
    scopes: JSON.stringify(scopes),
    ...optional('userId', userId),
    ...optional('projectIds', projectIds && JSON.stringify(projectIds)),
    ...optional('expiresAt', expiresAt),
    idempotencyKey: within('create', headers['Idempotency-Key']),
  })
  if (!row) throw creatable.refusal(facts, context)
  return { body: { ...parseLists(row), token }, location: `${path}/${row.id}` }
})

export const listApiKeys = endpoint(listApiKeysContract, async ({ query }, context) => {
  const [, all, own] = await context.run(authorized, [listKeys, listOwnKeys], {
    ...pagingOf(query),
    kind: query.kind,
  })
  return { body: pageOf([...all, ...own].map(parseLists), query, ({ id }) => id) }
})

export const rotateApiKey = endpoint(
  rotateApiKeyContract,
  async ({ params, headers, body, path }, context) => {
    const token = mintToken()
    const [facts, [row]] = await context.run(
      rotatable,
      [insertSuccessor, moveFeeds, recordEndedSessions, shortenSessions, retireKey],
      {
        ...params,
        id: newUuid(),
        hash: hashToken(token),
        overlapEndsAt: new Date(Date.parse(context.now) + body.overlapSeconds * 1000).toISOString(),
        idempotencyKey: within(`rotate ${params.apiKeyId}`, headers['Idempotency-Key']),
      },
    )
    if (!row) throw rotatable.refusal(facts, context)
    const keys = path.slice(0, path.indexOf(`/${params.apiKeyId}/`))
    return { body: { ...parseLists(row), token }, location: `${keys}/${row.id}` }
  },
)

export const deleteApiKey = endpoint(deleteApiKeyContract, async ({ params, query }, context) => {
  const { apiKeyId: id } = params
  const [facts, , revoked] = await context.run(deletable, deletion, {
    apiKeyId: id,
    descendants: Number(query.descendants === 'true'),
  })
  deletable.requireMet(facts, context)
  const descendants = revoked.filter((key) => key.id !== id).length
  return { body: { deleted: true as const, id, descendants } }
})

export const createApiKeySession = endpoint(createApiKeySessionContract, async ({ body, path }, context) => {
  const token = mintToken()
  const seconds = body.expiresInSeconds ?? MAX_SESSION_SECONDS
  const steps = [recordSurplusSessions, endSurplusSessions, insertSession] as const
  const row = await context.runForRow(sessionCreatable, steps, {
    id: newUuid(),
    hash: hashToken(token),
    name: body.name ?? null,
    expiresAt: new Date(Date.parse(context.now) + seconds * 1000).toISOString(),
    expiresAtIsGiven: Number(body.expiresInSeconds !== undefined),
  })
  return {
    body: { ...parseLists(row), token },
    location: `${path.slice(0, -'me/sessions'.length)}api-keys/${row.id}`,
  }
})

export const deleteOwnApiKey = endpoint(deleteOwnApiKeyContract, async (_, context) => {
  const [{ ownId }, , revoked] = await context.run(ownDeletable, ownDeletion, { descendants: 0 })
  return { body: { deleted: true as const, id: ownId, descendants: revoked.length - 1 } }
})
