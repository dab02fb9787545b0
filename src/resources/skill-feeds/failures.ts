import { failure } from '../../errors.ts'

export const feedNotFound = failure('skill_feed_not_found', 'There is no feed with this feedId.')
export const namedSkillNotFound = failure(
  'skill_not_found',
  'skills.{index}.skillId is not the ID of a skill of the organization. GET /v1/skills lists them.',
)
export const namedVersionNotFound = failure(
  'skill_version_not_found',
  'skills.{index}.version is not a version of the skill. GET /v1/skills/{skillId}/versions lists them.',
)
export const feedLimit = failure(
  'skill_feed_limit',
  'The organization has reached the limit of feeds: {limit}. Delete one first.',
)
