import { authorized } from '../../access/preconditions.ts'
import { endpoint } from '../../http/endpoint.ts'
import { deletePinContract, listPinsContract, putPinContract, updatePinContract } from './contract.ts'
import {
  appendPin,
  deletable,
  deletePin as deletePinStatement,
  pinnable,
  place,
  placeable,
  renumber,
  selectPin,
  selectPins,
} from './statements.ts'

export const updatePin = endpoint(updatePinContract, async ({ params, body }, context) => {
  const { target, position } = body.placement
  const [facts, placed] = await context.run(placeable, [place, renumber], {
    ...params,
    targetType: target.type,
    targetId: target.id,
    direction: position === 'before' ? -1 : 1,
    pinLimit: context.limits.pins,
  })
  placeable.requireMet(facts, context)
  return { body: { updated: placed.length > 0 } }
})

export const listPins = endpoint(listPinsContract, async ({ query }, context) => {
  const [, pins] = await context.run(authorized, [selectPins], {})
  // D1 would count each row twice if SQLite sorted them.
  const inOrder = pins.toSorted((a, b) => a.position - b.position)
  const items = inOrder.map(({ position, name, projectId, archivedAt, ...pin }) =>
    query.expand ? { ...pin, resource: { id: pin.resourceId, name, projectId, archivedAt } } : pin,
  )
  return { body: { items, nextCursor: null } }
})

export const putPin = endpoint(putPinContract, async ({ params, path }, context) => {
  const values = { ...params, pinLimit: context.limits.pins }
  const [facts, , [pin]] = await context.run(pinnable, [appendPin, selectPin], values)
  if (!pin) throw pinnable.refusal(facts, context)
  return { body: pin, location: facts.isNew ? path : undefined }
})

export const deletePin = endpoint(deletePinContract, async ({ params }, context) => {
  await context.runForRow(deletable, [deletePinStatement], params)
  return { body: { deleted: true as const, ...params } }
})
