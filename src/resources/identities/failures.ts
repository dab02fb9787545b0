import { failure } from '../../errors.ts'

export const identityNotFound = failure('identity_not_found', 'There is no identity with this identityId.')
export const ownRole = failure('api_key_forbidden', 'You cannot give yourself a role. Ask another admin.')
export const userDeleted = failure(
  'user_not_found',
  'The user of this person was deleted. Restore the user, or delete the identity.',
)
export const blockedExceedsOwnKey = failure(
  'exceeds_own_key',
  'The person is blocked, and their role has a scope that your API key lacks. Use an API key that may unblock them.',
)
