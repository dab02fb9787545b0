import { idempotencyKeyReused } from '../../access/failures.ts'
import { failure } from '../../errors.ts'

export const variableNotFound = failure(
  'environment_variable_not_found',
  'The project has no environment variable with this key. Keys are case-sensitive.',
)
export const restrictedKeyRequired = failure(
  'restricted_key_required',
  'A lease needs an API key that is restricted to projects. Create one: POST /v1/api-keys with "projectIds" and the scope "environment-variables:lease".',
)
export const namedVariablesNotFound = failure(
  'environment_variable_not_found',
  'The project has no environment variable {keys}. Keys are case-sensitive.',
)
export const variableLimitReached = failure(
  'environment_variable_limit',
  'The project would have more than {limit} variables, or more than 12 MiB of values. Delete some first.',
)
export const keyReusedForVariables = idempotencyKeyReused('new variables')
export const leaseTooLarge = failure(
  'lease_too_large',
  'The variables are too large for one lease: their JSON has more than {limit}. Lease fewer at once: name them in keys.',
)
