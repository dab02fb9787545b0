import { endpoint } from '../http/endpoint.ts'
import { Refusal } from '../http/errors.ts'
import { updatePinContract } from './contract.ts'
import { explainPlacement, place, renumber } from './statements.ts'

export const updatePin = endpoint(updatePinContract, async ({ params, body }, call) => {
  const { target, position } = body.placement
  const [explanation, , placed] = await call.run(explainPlacement, [renumber, place], {
    ...params,
    targetType: target.type,
    targetId: target.id,
    direction: position === 'before' ? -1 : 1,
    pinLimit: call.limits.pins,
  })
  if (placed.length > 0) return { body: { updated: true } }
  if (!explanation.resourceExists) {
    throw new Refusal(404, `resourceId: there is no ${params.resourceType} with this id`)
  }
  if (!explanation.targetExists) {
    throw new Refusal(404, `placement.target: there is no pin of a ${target.type} with this id`)
  }
  if (!explanation.isPinned && explanation.pinCount >= call.limits.pins) {
    throw new Refusal(409, `You have ${call.limits.pins} pins, the most allowed: unpin something first`)
  }
  return { body: { updated: false } }
})
