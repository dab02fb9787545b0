/** Connects an app for a person who is signed in: makes the key that the app works with. */
import { v7 as newUuid } from 'uuid'
import * as z from 'zod/mini'
import { mintToken } from '../access/api-key.ts'
import { type Bundle, isBundle, MAX_GRANT_DAYS, scopesOfBundles } from '../access/bundles.ts'
import { one, type RequestContext } from '../access/request-context.ts'
import { SCOPES } from '../access/scopes.ts'
import { sha256 } from '../crypto/digest.ts'
import { DAY_MS } from '../durations.ts'
import type { Environment } from '../environment.ts'
import { ApiError, failure } from '../errors.ts'
import { projectIdList } from '../http/fields.ts'
import { connectable, insertGrant } from '../resources/api-keys/grants.ts'
import { asKey } from './as-key.ts'
import type { App, ConnectedApp } from './types.ts'

const MAX_NAME_LENGTH = 255

/**
 * The session is checked like that of any request, in the one round trip that makes the key.
 * @returns what is wrong instead, as an error of the API.
 */
export function connectApp(
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
  sessionToken: string,
  app: App,
): Promise<ConnectedApp> {
  const session = { token: sessionToken, address: app.address, path: '/authorize' }
  return asKey(environment, context, session, (request) => {
    const { bundles, projectIds, days } = app
    if (!(bundles === null || bundles.every(isBundle))) {
      throw new ApiError(failure('invalid_input', 'bundles names an unknown permission.'))
    }
    if (!Number.isInteger(days) || days < 1 || days > MAX_GRANT_DAYS) {
      throw new ApiError(failure('invalid_input', `days is not a number of days; allowed: 1 to ${MAX_GRANT_DAYS}.`))
    }
    if (!z.safeParse(projectIdList(), projectIds).success) {
      throw new ApiError(
        failure('invalid_input', 'projectIds is too long, names a project twice, or has an ID that is not allowed.'),
      )
    }
    return connect(request, { ...app, bundles })
  })
}

async function connect(
  request: RequestContext,
  {
    clientId,
    clientName,
    redirectHost,
    bundles,
    projectIds,
    days,
    consent,
  }: App & { bundles: readonly Bundle[] | null },
): Promise<ConnectedApp> {
  const { hash, tokenIn } = await mintToken()
  const { grant } = await request.run(
    connectable,
    { grant: one(insertGrant) },
    {
      id: newUuid(),
      hash,
      name: clientName.slice(0, MAX_NAME_LENGTH).toWellFormed(),
      scopes: JSON.stringify(bundles === null ? SCOPES : scopesOfBundles(bundles)),
      projectIds: projectIds && JSON.stringify(projectIds),
      clientId,
      redirectHost,
      consentHash: consent && (await sha256(consent)),
      grantEndsAt: new Date(Date.parse(request.now) + days * DAY_MS).toISOString(),
      idleTime: `+${request.limits.grantIdleDays} days`,
    },
  )
  return { id: grant.id, token: tokenIn(request.caller.databaseNumber), endsAt: grant.grantEndsAt ?? '' }
}
