/** What organization-wide resources require of the caller: an API key that is not restricted to projects. */
import { ApiError } from '../errors.ts'
import { isUnrestricted } from './guard.ts'
import { precondition } from './preconditions.ts'

/**
 * @param subject what the operation is about, in the plural: "Audit events".
 * @param advice what a restricted key can do instead, as a sentence.
 */
export function unrestrictedFor(subject: string, advice?: string) {
  const message = `${subject} need an API key that is not restricted to projects.`
  return precondition(isUnrestricted, () => new ApiError(403, advice ? `${message} ${advice}` : message))
}
