import { failure } from '../../errors.ts'

export const signedInPersonRequired = failure('api_key_forbidden', 'Apps are connected by a person who is signed in.')
export const consentIsDecided = failure(
  'idempotency_key_reused',
  'You have decided about this request already. Start again at the app.',
)
export const bundlesExceedOwn = failure(
  'exceeds_own_key',
  'You may do nothing of what the app would be allowed. Tick something else.',
)
export const projectsExceedOwn = failure('exceeds_own_key', 'projectIds goes beyond your own projects.')
export const connectedAppNotFound = failure('api_key_not_found', 'There is no connected app with this apiKeyId.')
export const otherConnectedApp = failure(
  'api_key_forbidden',
  'The app was connected by another person or with another API key, or may use projects that yours may not.',
)
export const freshSignInRequired = failure(
  'fresh_sign_in_required',
  'You signed in more than 10 minutes ago, and the key would outlive the session or may do more. Sign in again, then repeat it.',
)
export const scopesExceedOwnKey = failure(
  'exceeds_own_key',
  'scopes has a scope that your API key lacks. Leave it out, or use an API key that has it.',
)
export const projectsExceedOwnKey = failure(
  'exceeds_own_key',
  'projectIds goes beyond the projects of your API key. Leave it out, or use an API key that may use these projects.',
)
export const expiryExceedsOwnKey = failure(
  'exceeds_own_key',
  'expiresAt goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
)
export const apiKeyNotFound = failure('api_key_not_found', 'There is no API key with this apiKeyId.')
export const apiKeyForbidden = failure(
  'api_key_forbidden',
  'The API key belongs to another user, or may use projects that yours may not.',
)
export const sessionExceedsOwnKey = failure(
  'exceeds_own_key',
  'expiresInSeconds goes beyond the end of your API key. Leave it out, or use an API key that is valid for longer.',
)
export const rotatedScopesExceedOwnKey = failure(
  'exceeds_own_key',
  'The API key has scopes that yours lacks. Use an API key that has them.',
)
export const rotatedEndExceedsOwnKey = failure(
  'exceeds_own_key',
  'The API key ends after yours. Use an API key that is valid for longer.',
)
export const apiKeyAlreadyRotated = failure('api_key_already_rotated', 'The API key was rotated. Rotate its successor.')
export const apiKeyAlreadyExpired = failure('api_key_already_expired', 'The API key has expired. Create a new one.')
export const deletionScopeMissing = failure(
  'missing_scope',
  'This API key lacks the scope api-keys:write, which this operation requires of a key that is no session.',
)
export const connectedAppLimit = failure(
  'quota_exceeded',
  'You have connected {limit} apps, which is the limit. Disconnect one first.',
)
export const tokenAlreadyReturned = failure(
  'token_already_returned',
  'This Idempotency-Key created the API key {apiKeyId}, whose token was returned then. Rotate that key, or use a new Idempotency-Key.',
)
export const sessionCreatesSession = failure(
  'api_key_is_session',
  'Your API key is a session, which cannot create sessions. Use the API key that created it.',
)
export const sessionIsRotated = failure(
  'api_key_is_session',
  'The API key is a session, which cannot be rotated. Create another session.',
)
