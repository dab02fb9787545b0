/** `name` and `description` of the Agent Skills specification. */
import * as z from 'zod/mini'
import { text } from '../../http/fields.ts'

export const EXAMPLE_SKILL_NAME = 'release-notes'

export function skillName(description = 'Unique in the organization.') {
  return text(1, 64, { description, example: EXAMPLE_SKILL_NAME }).check(
    z.regex(
      /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
      `lower-case letters, digits and single hyphens, without a hyphen at either end, such as "${EXAMPLE_SKILL_NAME}"`,
    ),
  )
}

export function skillDescription(description = 'What the skill does, and when to use it.') {
  return text(1, 1024, { description })
}
