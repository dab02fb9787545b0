/**
 * `POST /claim`: exchanges the token of a claim link for an API key, once. The key is created by this request, so that
 * neither the log of the deployment nor the database ever has it.
 */
import type { Context } from 'hono'
import { v7 as newUuid } from 'uuid'
import { getAddress } from '../../access/address.ts'
import { mintToken, parseToken } from '../../access/api-key.ts'
import { eventValues } from '../../access/events.ts'
import { countAgainst } from '../../access/rate-limit.ts'
import { databaseOf } from '../../db/database.ts'
import { isUnavailable } from '../../db/failures.ts'
import { type RowOf, runBatch } from '../../db/statement.ts'
import { ApiError, failure, unavailable } from '../../errors.ts'
import type { HonoEnvironment } from '../../http/context.ts'
import { endLink, insertKey, recordKey, selectLink } from './statements.ts'

const BEARER = /^Bearer +(\S+)$/i
const KEY_NAME = 'Claimed key'

export async function useClaimLink(c: Context<HonoEnvironment>): Promise<Response> {
  await countAgainst('REFUSAL_RATE_LIMIT', `claim ${getAddress(c.req.raw)}`, c.env)
  const [, token = ''] = BEARER.exec(c.req.header('Authorization') ?? '') ?? []
  const parsed = await parseToken(token, 'wsc')
  const database = parsed && databaseOf(c.env, parsed.databaseNumber)
  if (!database) throw notFound()

  const now = new Date().toISOString()
  const keyId = newUuid()
  const key = await mintToken()
  const values = { hash: parsed.hash, keyId, keyHash: key.hash, keyName: KEY_NAME, now, ...eventValues(now, null) }
  const steps = { recordKey, insertKey, endLink, found: selectLink }
  try {
    const {
      found: [link],
    } = await runBatch(database, steps, values)
    if (!link) throw notFound()
    if (link.keyId !== keyId) throw refusalOf(link, now, c.req.url.replace(/\/claim(?:\?.*)?$/, ''))
    const { organizationId, userId } = link
    return c.json({ organizationId, userId, apiKeyId: keyId, apiKey: key.tokenIn(parsed.databaseNumber) })
  } catch (error) {
    throw isUnavailable(error) ? unavailable() : error
  }
}

/**
 * Says when the link ended, and what its holder can do.
 * @param address of the service.
 */
function refusalOf(link: RowOf<typeof selectLink>, now: string, address: string): ApiError {
  const { organizationId, rotatedAt, revokedAt, expiresAt, movedTo, keyId } = link
  const command = `npm run operate -- bootstrap --organization-id ${organizationId} --service --remote`
  if (rotatedAt !== null) {
    const revocation = `create another API key with "${command}", and send DELETE /v1/api-keys/${keyId}?descendants=true with it`
    const key =
      keyId === null ? '' : ` It gave the API key ${keyId}. If you did not open it, revoke that key: ${revocation}.`
    return new ApiError(failure('claim_link_used', `This claim link was used at ${rotatedAt}.${key}`))
  }
  const end = revokedAt ?? (expiresAt !== null && expiresAt <= now ? expiresAt : null)
  if (end === null && movedTo === null)
    return unavailable('The organization of this claim link is suspended, or moves to another database.')
  const ended =
    end === null
      ? 'ended, because its organization moved to another database'
      : `${revokedAt === null ? 'expired' : 'was revoked'} at ${end}`
  return new ApiError(
    failure(
      'claim_link_expired',
      `This claim link ${ended}. For a new one, deploy again, or run: ${command} --claim --url ${address}`,
    ),
  )
}

function notFound(): ApiError {
  return new ApiError(failure('claim_link_not_found', 'There is no such claim link.'))
}
