/** Every scope that a key can have. The first six belong to the operations of SPEC.txt. */
export const SCOPES = [
  'pins:write',
  'schedules:write',
  'session-files:read',
  'skills:read',
  'profile-picture:write',
  'environment-variables:write',
  'pins:read',
  'schedules:read',
  'session-files:write',
  'skills:write',
  'profile-picture:read',
  'environment-variables:read',
  'projects:read',
  'projects:write',
  'agents:read',
  'agents:write',
  'sessions:read',
  'sessions:write',
  'pull-requests:read',
  'pull-requests:write',
  'users:read',
  'users:write',
  'api-keys:read',
  'api-keys:write',
] as const

export type Scope = (typeof SCOPES)[number]
