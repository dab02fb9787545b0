import { v7 as newUuid } from 'uuid'
import type { CallerResult } from '../../../access/guard.ts'
import { one, type RequestContext } from '../../../access/request-context.ts'
import { parseKeyRing } from '../../../crypto/key-ring.ts'
import { seal } from '../../../crypto/sealed-value.ts'
import type { RowOf } from '../../../db/statement.ts'
import { isOn } from '../../../environment.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { describeProblem } from '../../../http/problems.ts'
import type { DeliveryAttempt } from '../../../webhooks/contract.ts'
import { describeOrigin, problemOfReceiver } from '../../../webhooks/receiver-url.ts'
import { expiryOf, newSecret } from '../../../webhooks/secrets.ts'
import { send } from '../delivery/send.ts'
import { fromCursor, oldestKept, timeOf, toCursor } from '../sequence.ts'
import {
  createEventEndpointContract,
  deleteEventEndpointContract,
  listEventEndpointsContract,
  retrieveEventEndpointContract,
  rewindEventEndpointContract,
  rotateEventEndpointContract,
  testEventEndpointContract,
  updateEventEndpointContract,
} from './contract.ts'
import { eventEndpointContext } from './sealed-context.ts'
import {
  accessible,
  creatable,
  deleteEndpoint,
  insertEndpoint,
  listable,
  recordTest,
  rewind,
  rewindable,
  rotatable,
  rotateSecret,
  selectCreated,
  selectEndpoint,
  selectEndpoints,
  selectRewound,
  selectRotated,
  selectTest,
  selectTestable,
  selectUpdated,
  updatable,
  updateEndpoint,
} from './statements.ts'

/** An endpoint as the API returns it. */
function toEndpoint(row: RowOf<typeof selectEndpoint>) {
  const { types, batch, cursor, behindSince, lastAttempts } = row
  return {
    ...row,
    types: types === null ? null : (JSON.parse(types) as string[]),
    batch: batch === 1,
    cursor: toCursor(cursor),
    behindSince: behindSince === null ? null : timeOf(behindSince),
    lastAttempts: lastAttempts === null ? [] : (JSON.parse(lastAttempts) as DeliveryAttempt[]),
  }
}

const SHOWN_CHARACTERS = 4

/** The URL, sealed, and what is shown of it. @throws {ApiError} 400 if nothing may be sent to it. */
async function readUrl(sent: string, id: string, organizationId: string, context: RequestContext) {
  const problem = problemOfReceiver(sent, isOn(context.environment.LOCAL_RECEIVERS))
  if (problem) throw await context.caller.inputError(describeProblem('url', { ...problem, sent: describeOrigin(sent) }))
  const { href, host } = new URL(sent)
  const ring = parseKeyRing(context.environment.ENCRYPTION_KEYS)
  return {
    sealedUrl: await seal(href, eventEndpointContext(organizationId, id, 'url'), ring),
    url: `${host}…${href.slice(-SHOWN_CHARACTERS)}`,
  }
}

/** A new secret, sealed for the caller's organization, which has to be known before the round trip. */
const newSecretFor = (id: string, organizationId: string, { environment }: RequestContext) =>
  newSecret(eventEndpointContext(organizationId, id, 'secret'), environment)

/** Has the endpoint go on after the response. If the hint is lost, the next tick does. */
function wakeEndpoint(check: CallerResult, id: string, { caller, environment }: RequestContext): void {
  const { callerOrganizationId: organizationId } = check
  caller.waitUntil(environment.DELIVERIES.send({ database: caller.databaseNumber, endpoint: { organizationId, id } }))
}

export const createEventEndpoint = endpoint(createEventEndpointContract, async (c, context) => {
  const { format, types = null, projectId = null, note = null, batch, url } = c.req.valid('json')
  const id = newUuid()
  const sealedFor = await context.caller.expectedOrganizationId()
  const sealed = await readUrl(url, id, sealedFor, context)
  const { secret, sealedSecret } =
    format === 'text' ? { secret: null, sealedSecret: null } : await newSecretFor(id, sealedFor, context)
  const { created } = await context.run(
    creatable,
    { insertEndpoint, created: one(selectCreated) },
    {
      id,
      format,
      ...sealed,
      sealedSecret,
      sealedFor,
      types: types && JSON.stringify(types),
      projectId,
      note,
      batch: Number(batch),
    },
  )
  return { body: { ...toEndpoint(created), secret }, location: `${context.path}/${id}` }
})

export const listEventEndpoints = endpoint(listEventEndpointsContract, async (_, context) => {
  const { endpoints } = await context.run(listable, { endpoints: selectEndpoints }, {})
  return { body: { items: endpoints.map(toEndpoint), nextCursor: null } }
})

export const retrieveEventEndpoint = endpoint(retrieveEventEndpointContract, async (c, context) => {
  const { found } = await context.run(accessible, { found: one(selectEndpoint) }, c.req.valid('param'))
  return { body: toEndpoint(found) }
})

export const updateEventEndpoint = endpoint(updateEventEndpointContract, async (c, context) => {
  const { eventEndpointId } = c.req.valid('param')
  const { url, types, batch, enabled, ...settings } = c.req.valid('json')
  const sealedFor = await context.caller.expectedOrganizationId()
  const changes = {
    ...settings,
    ...(types !== undefined && { types: types && JSON.stringify(types) }),
    ...(batch !== undefined && { batch: Number(batch) }),
    ...(url !== undefined && (await readUrl(url, eventEndpointId, sealedFor, context))),
  }
  const { check, updated } = await context.run(
    updatable,
    { updateEndpoint, updated: one(selectUpdated) },
    {
      eventEndpointId,
      oldestKept: oldestKept(context.now),
      changes: JSON.stringify(changes),
      enabled: enabled === undefined ? null : Number(enabled),
      sealedFor,
    },
  )
  if (enabled) wakeEndpoint(check, eventEndpointId, context)
  return { body: toEndpoint(updated) }
})

export const deleteEventEndpoint = endpoint(deleteEventEndpointContract, async (c, context) => {
  const { deleted } = await context.run(accessible, { deleted: one(deleteEndpoint) }, c.req.valid('param'))
  return { body: { deleted: true, id: deleted.id } }
})

export const rotateEventEndpoint = endpoint(rotateEventEndpointContract, async (c, context) => {
  const { eventEndpointId } = c.req.valid('param')
  const { overlapSeconds } = c.req.valid('json')
  const sealedFor = await context.caller.expectedOrganizationId()
  const { secret, sealedSecret } = await newSecretFor(eventEndpointId, sealedFor, context)
  const { rotated } = await context.run(
    rotatable,
    { rotateSecret, rotated: one(selectRotated) },
    { eventEndpointId, sealedSecret, sealedFor, expiresAt: expiryOf(overlapSeconds, context.now) },
  )
  return { body: { ...toEndpoint(rotated), secret } }
})

export const testEventEndpoint = endpoint(testEventEndpointContract, async (c, context) => {
  const { receiver, event } = await context.run(
    accessible,
    { recordTest, receiver: one(selectTestable), event: one(selectTest) },
    c.req.valid('param'),
  )
  const message = { id: newUuid(), rows: [event], end: receiver.deliveredSequence, hasMore: false }
  const { attempt } = await send(receiver, message, context.environment)
  return { body: attempt }
})

export const rewindEventEndpoint = endpoint(rewindEventEndpointContract, async (c, context) => {
  const { eventEndpointId } = c.req.valid('param')
  const { after } = c.req.valid('json')
  const { check, moved } = await context.run(
    rewindable,
    { rewind, moved: one(selectRewound) },
    {
      eventEndpointId,
      after: after === 'now' ? Number.MAX_SAFE_INTEGER : fromCursor(after),
      oldestKept: oldestKept(context.now),
    },
  )
  wakeEndpoint(check, eventEndpointId, context)
  return { body: toEndpoint(moved) }
})
