import { idempotencyKeyReused } from '../../access/failures.ts'
import { failure } from '../../errors.ts'

export const skillNotFound = failure('skill_not_found', 'There is no skill with this skillId.')
export const skillNameTaken = failure(
  'skill_name_taken',
  'Another skill has this name. Choose another name, or change that skill.',
)
export const uploadExpired = failure('upload_expired', 'Storing the archive took more than an hour. Try again.')
export const versionNotFound = failure(
  'skill_version_not_found',
  'The skill has no such version. GET /v1/skills/{skillId}/versions lists them.',
)
export const keyReusedForSkill = idempotencyKeyReused('a new skill')
