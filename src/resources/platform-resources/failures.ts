import { failure } from '../../errors.ts'

export const liveApiKeyForbidden = failure(
  'api_key_forbidden',
  'The user has a live API key that yours may not delete. Use a key that acts as no user and was not rotated, or delete that key first.',
)
/** @param noun of the resource. */
export const projectMismatch = (noun: string) =>
  failure('project_mismatch', `The ${noun} belongs to another project. Send the projectId of that project.`)
