import { failure } from '../../errors.ts'

export const resourceNotFound = failure(
  'resource_not_found',
  'There is no such resource. Check resourceType and resourceId.',
)
export const pinNotFound = failure('pin_not_found', 'This resource is not pinned.')
export const targetNotPinned = failure('pin_not_found', 'placement.target is not pinned. Name one of your pins.')
export const pinLimitReached = failure(
  'pin_limit',
  'The user has reached the limit of pins: {limit}. Remove one first.',
)
