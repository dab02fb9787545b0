import { failure } from '../../../errors.ts'
import { cursorExpired } from '../failures.ts'

export const endpointNotFound = failure(
  'event_endpoint_not_found',
  'There is no event endpoint with this eventEndpointId.',
)
export const endpointUnsigned = failure(
  'event_endpoint_unsigned',
  'The format of the event endpoint is "text", which has no secret.',
)
export const endpointLimit = failure(
  'event_endpoint_limit',
  'The organization has reached the limit of event endpoints: {limit}. Delete one first.',
)
export const endpointCursorExpired = cursorExpired(
  'the cursor of this event endpoint',
  'Rewind it to a later cursor or to "now", and then enable it.',
)
export const rewindCursorExpired = cursorExpired('this cursor', 'Use a later cursor.')
