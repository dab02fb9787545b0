import type { RequestContext } from '../../access/request-context.ts'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { seal } from '../../crypto/sealed-value.ts'
import { isOn } from '../../environment.ts'
import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { describeProblem, describeSent } from '../../http/problems.ts'
import {
  deleteRunEndpointContract,
  putRunEndpointContract,
  retrieveRunEndpointContract,
  rotateRunEndpointContract,
} from './contract.ts'
import { mintSecret, SECRET_CONTEXT } from './signature.ts'
import { explainEndpoint, putEndpoint, removeEndpoint, rotateSecret, selectEndpoint } from './statements.ts'
import { problemOfReceiver } from './url.ts'

const limited = () => new ApiError(403, 'This API key is limited to projects, and the run endpoint is of all')

function refusalOf(facts: { endpointExists: 0 | 1 }): ApiError {
  return facts.endpointExists ? limited() : new ApiError(404, 'There is no run endpoint: set one first')
}

/** A new secret, sealed for the caller's organization, which has to be known before the trip. */
async function newSecret(context: RequestContext) {
  const secret = mintSecret()
  const organizationId = await context.caller.expectedOrganizationId()
  const sealedContext = { ...SECRET_CONTEXT, organizationId }
  const sealedSecret = await seal(secret, sealedContext, parseKeyRing(context.environment.ENCRYPTION_KEYS))
  return { secret, values: { sealedSecret, sealedFor: organizationId } }
}

/** The origin of the URL: the rest may have a secret. */
function describeOrigin(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed?.host ? describeSent(`${parsed.protocol}//${parsed.host}`) : describeSent(url, true)
}

export const putRunEndpoint = endpoint(putRunEndpointContract, async ({ body }, context) => {
  const problem = problemOfReceiver(body.url, isOn(context.environment.LOCAL_RUN_ENDPOINTS))
  if (problem) {
    const sent = describeOrigin(body.url)
    throw await context.caller.inputError(describeProblem('url', { ...problem, sent }))
  }
  const { secret, values } = await newSecret(context)
  const url = new URL(body.url).href
  const [, [stored]] = await context.run({ check: explainEndpoint }, [putEndpoint], { url, ...values })
  if (!stored) throw limited()
  const { hasNewSecret, ...runEndpoint } = stored
  return { body: { ...runEndpoint, secret: hasNewSecret ? secret : null } }
})

export const retrieveRunEndpoint = endpoint(retrieveRunEndpointContract, async (_, context) => {
  const [facts, [runEndpoint]] = await context.run({ check: explainEndpoint }, [selectEndpoint], {})
  if (!runEndpoint) throw refusalOf(facts)
  return { body: runEndpoint }
})

export const deleteRunEndpoint = endpoint(deleteRunEndpointContract, async (_, context) => {
  const [facts, [removed]] = await context.run({ check: explainEndpoint }, [removeEndpoint], {})
  if (!removed) throw refusalOf(facts)
  return { body: { deleted: true as const } }
})

export const rotateRunEndpoint = endpoint(
  rotateRunEndpointContract,
  async ({ body: { overlapSeconds } }, context) => {
    const { secret, values } = await newSecret(context)
    const expiry = new Date(Date.parse(context.now) + overlapSeconds * 1000).toISOString()
    const [facts, [runEndpoint]] = await context.run({ check: explainEndpoint }, [rotateSecret], {
      ...values,
      expiresAt: overlapSeconds > 0 ? expiry : null,
    })
    if (runEndpoint) return { body: { ...runEndpoint, secret } }
    if (!facts.endpointExists || !facts.inReach) throw refusalOf(facts)
    throw new ApiError(
      409,
      'The secret was rotated, and the one before still signs: wait until it expires, or rotate with overlapSeconds 0',
    )
  },
)
