/** Every scope that a key can have. The first six belong to the operations of SPEC.txt. */
export const SCOPES = [
  'pins:write',
  'schedules:write',
  'session-files:read',
  'skills:read',
  'profile-picture:write',
  'environment-variables:write',
] as const

export type Scope = (typeof SCOPES)[number]
