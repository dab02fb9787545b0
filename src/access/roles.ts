/** What people who sign in may do: names for sets of scopes (docs/people.md). */
import { SCOPES, type Scope } from './scopes.ts'

/** From the least to the most. */
export const ROLE_NAMES = ['viewer', 'member', 'admin'] as const
export type Role = (typeof ROLE_NAMES)[number]

const readable = SCOPES.filter((scope) => scope.endsWith(':read'))

/** Each role has what the one before it has. Nobody gets values of environment variables by a role. */
export const ROLES: Readonly<Record<Role, readonly Scope[]>> = {
  viewer: readable,
  member: [
    ...readable,
    'pins:write',
    'schedules:write',
    'runs:write',
    'session-files:write',
    'skills:write',
    'profile-picture:write',
  ],
  admin: SCOPES.filter((scope) => scope !== 'environment-variables:lease'),
}
