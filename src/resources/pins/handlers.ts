import { authorized } from '../../access/preconditions.ts'
import { one } from '../../access/request-context.ts'
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

export const updatePin = endpoint(updatePinContract, async (c, context) => {
  const { target, position } = c.req.valid('json').placement
  const { placed } = await context.run(
    placeable,
    { placed: place, renumber },
    {
      ...c.req.valid('param'),
      targetType: target.type,
      targetId: target.id,
      direction: position === 'before' ? -1 : 1,
      pinLimit: context.limits.pins,
    },
  )
  return { body: { updated: placed.length > 0 } }
})

export const listPins = endpoint(listPinsContract, async (c, context) => {
  const { expand } = c.req.valid('query')
  const { pins } = await context.run(authorized, { pins: selectPins }, {})
  // D1 would count each row twice if SQLite sorted them.
  const inOrder = pins.toSorted((a, b) => a.position - b.position)
  const items = inOrder.map(({ position, projectId, archivedAt, ...pin }) =>
    expand ? { ...pin, resource: { id: pin.resourceId, name: pin.name, projectId, archivedAt } } : pin,
  )
  return { body: { items, nextCursor: null } }
})

export const putPin = endpoint(putPinContract, async (c, context) => {
  const values = { ...c.req.valid('param'), pinLimit: context.limits.pins }
  const { check, pin } = await context.run(pinnable, { appendPin, pin: one(selectPin) }, values)
  return { body: pin, location: check.isNew ? context.path : undefined }
})

export const deletePin = endpoint(deletePinContract, async (c, context) => {
  const params = c.req.valid('param')
  await context.run(deletable, { deleted: one(deletePinStatement) }, params)
  return { body: { deleted: true, ...params } }
})
