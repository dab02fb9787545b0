/** The failures of operations on several resources. Those of one resource are in its failures.ts. */
import { failure } from '../errors.ts'

/** What the messages say of a kind of platform resource. */
interface Named {
  readonly type: 'agent' | 'project' | 'pull_request' | 'session' | 'user'
  readonly noun: string
  readonly idName: string
}

export const notFound = ({ type, noun, idName }: Named) =>
  failure(`${type}_not_found`, `There is no ${noun} with this ${idName}.`)
export const deleted = ({ type, noun }: { readonly type: Named['type'] | 'schedule'; readonly noun: string }) =>
  failure(
    `${type}_deleted`,
    `The ${noun} was deleted, and its ID is never used again. GET /v1/deletions lists what can be restored.`,
  )

export const projectNotFound = notFound({ type: 'project', noun: 'project', idName: 'projectId' })
export const listedProjectNotFound = failure(
  'project_not_found',
  'projectIds names a project that the organization does not have.',
)
export const projectForbidden = failure(
  'project_forbidden',
  'This API key is restricted to other projects. Use a key that may use this project.',
)
export const projectArchived = failure('project_archived', 'The project is archived. Unarchive it first.')

/** @param advice what a restricted key can do, as a sentence. */
export const unrestrictedKeyRequiredOr = (advice: string) =>
  failure('unrestricted_key_required', `This API key is restricted to projects. ${advice}`)
export const unrestrictedKeyRequired = unrestrictedKeyRequiredOr('Use a key that is not.')
/** For a list or a claim of all projects, or of one. */
export const projectRequired = unrestrictedKeyRequiredOr('Name one of them as projectId.')

export const agentNotFound = notFound({ type: 'agent', noun: 'agent', idName: 'agentId' })
export const agentArchived = failure('agent_archived', 'The agent is archived. Unarchive it first.')

export const sessionNotFound = notFound({ type: 'session', noun: 'session', idName: 'sessionId' })
export const userNotFound = notFound({ type: 'user', noun: 'user', idName: 'userId' })
export const namedUserNotFound = failure('user_not_found', 'userId names a user that the organization does not have.')
export const userExceedsOwnKey = failure(
  'exceeds_own_key',
  'userId is not the user that your API key acts as. Leave it out, or use an API key that acts as no user.',
)

export const callerIsRotated = failure(
  'api_key_rotated',
  'Your API key was rotated. Until it expires, it can manage no key but itself: it can delete itself, without descendants. Use its successor.',
)
export const roleExceedsOwnKey = failure(
  'exceeds_own_key',
  'The role has a scope that your API key lacks. Choose another role, or use an API key that has all its scopes.',
)

/** The organization has no room for more. */
export const quotaExceeded = failure(
  'quota_exceeded',
  "This would exceed the organization's quota of {quota}: {limit}. Delete some first.",
)
export const scheduleLimitReached = (parentType: 'project' | 'agent') =>
  failure('schedule_limit', `The ${parentType} has reached the limit of schedules: {limit}. Delete one first.`)

/** @param what the request creates: "a new schedule". */
export const idempotencyKeyReused = (what: string) =>
  failure('idempotency_key_reused', `This Idempotency-Key was used with another body. Use a new one for ${what}.`)

export const etagMismatch = failure(
  'etag_mismatch',
  'If-Match does not have the current ETag. Retrieve the resource and repeat the change with its ETag.',
)
export const alreadyExists = failure(
  'already_exists',
  'The resource exists already, and If-None-Match is "*". Leave the header out to change it.',
)

export const rotationInProgress = failure(
  'rotation_in_progress',
  'The previous secret is still valid after the last rotation. Wait until it expires, or rotate with overlapSeconds 0.',
)
