import { failure } from '../../../errors.ts'

export const runEndpointNotFound = failure(
  'run_endpoint_not_found',
  'The organization has no run endpoint. Set one first.',
)
