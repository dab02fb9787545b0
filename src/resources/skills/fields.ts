/** `name` and `description` of the Agent Skills specification, and the filenames of a skill. */
import * as z from 'zod/mini'
import { check, relativePath, rule, text } from '../../http/fields.ts'
import { problemOfArchivedFilename } from './archived-filename.ts'

export const EXAMPLE_SKILL_NAME = 'release-notes'

/** The most characters of a description. */
export const MAX_DESCRIPTION = 1024

export function skillName(description = 'Unique in the organization.') {
  return text(1, 64, { description, example: EXAMPLE_SKILL_NAME }).check(
    z.regex(
      /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
      `lower-case letters, digits and single hyphens, without a hyphen at either end, such as "${EXAMPLE_SKILL_NAME}"`,
    ),
  )
}

export function skillDescription(description = 'What the skill does, and when to use it.') {
  return text(1, MAX_DESCRIPTION, { description })
}

export function skillFilename(documentation: { description?: string; example?: string } = {}) {
  return relativePath(255, documentation).check(
    check(problemOfArchivedFilename),
    rule(
      (path) => !path.split('/').some(isGitFolder),
      'has a segment that Git takes for the folder of a repository',
      'a path without segments such as ".git", ".GIT" or "git~1"',
    ),
  )
}

/** HFS+ ignores these characters in names. */
const IGNORED_BY_HFS = /[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]/g
/** NTFS ignores the case and trailing dots and spaces, has the short name `git~1`, and names a stream after a colon. */
const GIT_FOLDER = /^(?:\.git|git~1)[ .]*(?::.*)?$/i

/** True for what Git itself takes for `.git` on any file system. It runs programs that a file in this folder names. */
function isGitFolder(segment: string): boolean {
  return GIT_FOLDER.test(segment.replaceAll(IGNORED_BY_HFS, ''))
}
