import { v7 as newUuid } from 'uuid'
import { hashToken, mintToken } from '../../access/api-key.ts'
import { explainCaller } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import {
  createApiKeyContract,
  deleteApiKeyContract,
  listApiKeysContract,
  rotateApiKeyContract,
} from './contract.ts'
import {
  explainCreation,
  explainDeletion,
  explainRotation,
  insertKey,
  insertSuccessor,
  listKeys,
  listOwnKeys,
  recordDescendants,
  retireKey,
  revokeKeys,
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

const noKey = () => new ApiError(404, 'apiKeyId: there is no key with this id')

const beyondReach = () =>
  new ApiError(
    403,
    'apiKeyId: this key acts for another user than yours, or reaches projects that yours does not',
  )

const rotated = () =>
  new ApiError(
    403,
    'Your key was rotated. Until it expires, the only key that it can manage is itself: it can be deleted, without descendants. Use its successor.',
  )

const alreadyMade = (earlierId: string) =>
  new ApiError(
    409,
    `Idempotency-Key: it made the key ${earlierId}, whose token was shown then; rotate that one, or use a new Idempotency-Key`,
  )

/** What of a choice the statements are bound to: a choice that is left out is as with the caller's own key. */
function choice<Name extends string>(name: Name, value: string | null | undefined) {
  return { [name]: value ?? null, [`${name}IsGiven`]: Number(value !== undefined) }
}

/** A key's row remembers the `Idempotency-Key` that made it; the prefix keeps creation and each rotation apart. */
function within(operation: string, idempotencyKey: string | undefined): string | null {
  return idempotencyKey === undefined ? null : `${operation} ${idempotencyKey}`
}

export const createApiKey = endpoint(createApiKeyContract, async ({ headers, body, path }, context) => {
  const token = mintToken()
  const { name, scopes, userId, projectIds, expiresAt } = body
  const [facts, [row]] = await context.run({ check: explainCreation }, [insertKey], {
    id: newUuid(),
    hash: hashToken(token),
    name,
    scopes: JSON.stringify(scopes),
    ...choice('userId', userId),
    ...choice('projectIds', projectIds && JSON.stringify(projectIds)),
    ...choice('expiresAt', expiresAt),
    idempotencyKey: within('create', headers['Idempotency-Key']),
  })
  if (row) return { body: { ...parseLists(row), token }, headers: { Location: `${path}/${row.id}` } }
  if (!facts.endsLater)
    throw new ApiError(400, `expiresAt: expected an instant that is still to come, got "${expiresAt}"`)
  if (!facts.hasUser) throw new ApiError(404, 'userId: there is no user with this id')
  if (facts.missingProject !== null) {
    throw new ApiError(404, 'projectIds: there is no project with one of these ids')
  }
  if (facts.hasSuccessor) throw rotated()
  if (!facts.hasScopes) throw new ApiError(403, 'scopes: your key lacks some of these')
  if (!facts.actsForUser) throw new ApiError(403, 'userId: your key makes keys for its own user alone')
  if (!facts.reachesProjects) throw new ApiError(403, 'projectIds: your key is limited to other projects')
  if (!facts.livesAsLong) throw new ApiError(403, 'expiresAt: your key ends before')
  if (facts.earlierId === null && facts.exceededQuota)
    throw quotaExceeded(facts.exceededQuota, context.limits)
  throw alreadyMade(facts.earlierId ?? '')
})

export const listApiKeys = endpoint(listApiKeysContract, async ({ query }, context) => {
  const [, all, own] = await context.run({ check: explainCaller }, [listKeys, listOwnKeys], pagingOf(query))
  return { body: pageOf([...all, ...own].map(parseLists), query, ({ id }) => id) }
})

export const rotateApiKey = endpoint(
  rotateApiKeyContract,
  async ({ params, headers, body, path }, context) => {
    const token = mintToken()
    const [facts, [row]] = await context.run({ check: explainRotation }, [insertSuccessor, retireKey], {
      ...params,
      id: newUuid(),
      hash: hashToken(token),
      overlapEndsAt: new Date(Date.parse(context.now) + body.overlapSeconds * 1000).toISOString(),
      idempotencyKey: within(`rotate ${params.apiKeyId}`, headers['Idempotency-Key']),
    })
    if (row) {
      const keys = path.slice(0, path.indexOf(`/${params.apiKeyId}/`))
      return { body: { ...parseLists(row), token }, headers: { Location: `${keys}/${row.id}` } }
    }
    if (!facts.exists) throw noKey()
    if (!facts.isManageable) throw facts.hasSuccessor ? rotated() : beyondReach()
    if (!facts.hasScopes) throw new ApiError(403, 'apiKeyId: this key has scopes that yours lacks')
    if (!facts.livesAsLong) throw new ApiError(403, 'apiKeyId: this key ends after yours')
    if (facts.earlierId !== null) throw alreadyMade(facts.earlierId)
    if (facts.isRotated)
      throw new ApiError(409, 'apiKeyId: this key has a successor already: rotate that one')
    throw new ApiError(409, 'apiKeyId: this key has expired: create a new one')
  },
)

export const deleteApiKey = endpoint(deleteApiKeyContract, async ({ params, query }, context) => {
  const { apiKeyId: id } = params
  const [facts, , revoked] = await context.run({ check: explainDeletion }, [recordDescendants, revokeKeys], {
    apiKeyId: id,
    descendants: Number(query.descendants === 'true'),
  })
  if (!facts.exists) throw noKey()
  if (!facts.isDeletable) throw facts.hasSuccessor ? rotated() : beyondReach()
  const descendants = revoked.filter((key) => key.id !== id).length
  return { body: { deleted: true as const, id, descendants } }
})
