import { one, type RequestContext } from '../../../access/request-context.ts'
import { isOn } from '../../../environment.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { describeProblem } from '../../../http/problems.ts'
import { describeOrigin, problemOfReceiver } from '../../../webhooks/receiver-url.ts'
import { expiryOf, newSecret } from '../../../webhooks/secrets.ts'
import {
  deleteRunEndpointContract,
  putRunEndpointContract,
  retrieveRunEndpointContract,
  rotateRunEndpointContract,
} from './contract.ts'
import { runEndpointContext } from './sealed-context.ts'
import {
  accessible,
  deleteEndpoint,
  putEndpoint,
  rotatable,
  rotateSecret,
  selectEndpoint,
  selectUnchanged,
  settable,
} from './statements.ts'

/** A new secret, sealed for the caller's organization, which has to be known before the round trip. */
async function newSecretFor({ caller, environment }: RequestContext) {
  const sealedFor = await caller.expectedOrganizationId()
  const { secret, sealedSecret } = await newSecret(runEndpointContext(sealedFor), environment)
  return { secret, values: { sealedSecret, sealedFor } }
}

export const putRunEndpoint = endpoint(putRunEndpointContract, async (c, context) => {
  const sentUrl = c.req.valid('json').url
  const problem = problemOfReceiver(sentUrl, isOn(context.environment.LOCAL_RECEIVERS))
  if (problem) {
    const sent = describeOrigin(sentUrl)
    throw await context.caller.inputError(describeProblem('url', { ...problem, sent }))
  }
  const { secret, values } = await newSecretFor(context)
  const url = new URL(sentUrl).href
  const { stored } = await context.run(settable, { stored: one([putEndpoint, selectUnchanged]) }, { url, ...values })
  const { hasNewSecret, ...runEndpoint } = stored
  return {
    body: { ...runEndpoint, secret: hasNewSecret ? secret : null },
    location: hasNewSecret ? context.path : undefined,
  }
})

export const retrieveRunEndpoint = endpoint(retrieveRunEndpointContract, async (_, context) => {
  const { runEndpoint } = await context.run(accessible, { runEndpoint: one(selectEndpoint) }, {})
  return { body: runEndpoint }
})

export const deleteRunEndpoint = endpoint(deleteRunEndpointContract, async (_, context) => {
  await context.run(accessible, { deleted: one(deleteEndpoint) }, {})
  return { body: { deleted: true } }
})

export const rotateRunEndpoint = endpoint(rotateRunEndpointContract, async (c, context) => {
  const { overlapSeconds } = c.req.valid('json')
  const { secret, values } = await newSecretFor(context)
  const { runEndpoint } = await context.run(
    rotatable,
    { runEndpoint: one(rotateSecret) },
    { ...values, expiresAt: expiryOf(overlapSeconds, context.now) },
  )
  return { body: { ...runEndpoint, secret } }
})
