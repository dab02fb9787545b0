import { explainCaller } from '../../access/guard.ts'
import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { deletePinContract, listPinsContract, putPinContract, updatePinContract } from './contract.ts'
import {
  appendPin,
  explainPin,
  explainPlacement,
  place,
  removePin,
  renumber,
  selectPin,
  selectPins,
} from './statements.ts'

export const updatePin = endpoint(updatePinContract, async ({ params, body }, context) => {
  const { target, position } = body.placement
  const [explanation, , placed] = await context.run({ check: explainPlacement }, [renumber, place], {
    ...params,
    targetType: target.type,
    targetId: target.id,
    direction: position === 'before' ? -1 : 1,
    pinLimit: context.limits.pins,
  })
  if (placed.length > 0) return { body: { updated: true } }
  if (!explanation.resourceExists) {
    throw noResource(params)
  }
  if (!explanation.targetExists) {
    throw new ApiError(404, `placement.target: there is no pin of a ${target.type} with this id`)
  }
  if (!explanation.isPinned && explanation.pinCount >= context.limits.pins) {
    throw tooManyPins(context.limits.pins)
  }
  return { body: { updated: false } }
})

const noResource = ({ resourceType }: { resourceType: string }) =>
  new ApiError(404, `resourceId: there is no ${resourceType} with this id`)

const tooManyPins = (limit: number) =>
  new ApiError(409, `You have ${limit} pins, the most allowed: unpin something first`)

export const listPins = endpoint(listPinsContract, async (_, context) => {
  const [, items] = await context.run({ check: explainCaller }, [selectPins], {})
  return { body: { items, nextCursor: null } }
})

export const putPin = endpoint(putPinContract, async ({ params }, context) => {
  const pinLimit = context.limits.pins
  const [facts, , [pin]] = await context.run({ check: explainPin }, [appendPin, selectPin], {
    ...params,
    pinLimit,
  })
  if (pin) return { body: pin }
  throw facts.resourceExists ? tooManyPins(pinLimit) : noResource(params)
})

export const deletePin = endpoint(deletePinContract, async ({ params }, context) => {
  const [facts, [removed]] = await context.run({ check: explainPin }, [removePin], params)
  if (removed) return { body: { deleted: true as const, ...params } }
  throw facts.resourceExists ? new ApiError(404, 'You have no pin of this resource') : noResource(params)
})
