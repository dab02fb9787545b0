/** The skills of an organization (docs/contract.md, Skills). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  check,
  content,
  docs,
  ENTITY_TAG,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  instant,
  relativePath,
  rule,
  someOf,
  text,
  uuid,
} from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_ETAG, STORE_UNAVAILABLE } from '../../http/statuses.ts'

const MEBIBYTE = 2 ** 20
const MAX_FILES = 200
const MAX_FILE_BYTES = MEBIBYTE
const MAX_SKILL_BYTES = 4 * MEBIBYTE
const BODY_LIMIT_BYTES = 16 * MEBIBYTE

const skillFile = z
  .strictObject({
    id: uuid(),
    filename: z.string(),
    content: z.string().register(docs, { description: 'The text of the file, exactly as stored.' }),
  })
  .register(docs, { id: 'SkillFile' })

const summary = {
  id: uuid(),
  name: z.string(),
  description: z.string(),
  createdAt: instant(),
  updatedAt: instant(),
}

const skill = z
  .strictObject({
    ...summary,
    files: z.array(skillFile).register(docs, { description: 'All files of the skill, sorted by filename.' }),
  })
  .register(docs, { id: 'Skill' })

const skillSummary = z.strictObject(summary).register(docs, { id: 'SkillSummary' })

const exampleSummary = {
  id: EXAMPLE_IDS.skillId,
  name: 'release-notes',
  description: 'Writes release notes from merged pull requests.',
  createdAt: '2026-03-02T09:15:00.000Z',
  updatedAt: '2026-03-29T01:00:00.000Z',
}

/** A skill as the Agent Skills specification requires it: the front matter of SKILL.md has its name and description. */
function exampleFileOf({ name, description }: { readonly name: string; readonly description: string }) {
  const steps = '1. List the changes.\n2. Write one line for each, for the people who read it.\n'
  return { filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: ${description}\n---\n\n${steps}` }
}

const exampleFile = exampleFileOf(exampleSummary)

const exampleSkill = {
  ...exampleSummary,
  files: [{ id: EXAMPLE_IDS.skillFileId, ...exampleFile }],
}

/** A second skill: names are unique. */
const exampleNewSkill = {
  name: 'commit-messages',
  description: 'Writes commit messages from staged changes.',
}

/** `name` of the Agent Skills specification. */
const nameWith = (description: string) =>
  text(1, 64, { description, example: exampleSummary.name }).check(
    z.regex(
      /^[a-z0-9]+(?:-[a-z0-9]+)*$/,
      'lower-case letters, digits and single hyphens, without a hyphen at either end, such as "release-notes"',
    ),
  )
const name = nameWith('Unique in the organization.')

/** `description` of the Agent Skills specification. */
const description = text(1, 1024, { description: 'What the skill does, and when to use it.' })

const files = z
  .array(
    z
      .strictObject({
        filename: relativePath(255, {
          description: 'The path of the file, relative to the folder of the skill.',
          example: exampleFile.filename,
        }),
        content: content(MAX_FILE_BYTES, { description: 'Text of up to 1 MiB in UTF-8.' }),
      })
      .register(docs, { id: 'NewSkillFile' }),
    `an array of up to ${MAX_FILES} files`,
  )
  .check(
    z.maxLength(MAX_FILES),
    rule(
      (all) => new Set(all.map(({ filename }) => filename.toLowerCase().toUpperCase())).size === all.length,
      'has a filename several times',
      'filenames that differ by more than their case',
    ),
    rule(
      hasNoFolder,
      'has a filename that is a folder of another',
      'filenames that are not folders of others',
    ),
    check((all) => {
      const bytes = all.reduce((sum, file) => sum + Buffer.byteLength(file.content), 0)
      const allowed = 'up to 4 MiB of contents'
      return bytes > MAX_SKILL_BYTES ? { wrong: 'is too large', sent: `${bytes} bytes`, allowed } : undefined
    }),
  )

/** True if no filename is a folder of another. Sorted, the files of a folder come right after it. */
function hasNoFolder(files: readonly { readonly filename: string }[]): boolean {
  const paths = [...new Set(files.map(({ filename }) => `${filename}/`))].sort()
  return !paths.some((path, index) => paths[index + 1]?.startsWith(path))
}

const errors = { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE }
const NO_SKILL = 'The organization has no skill with this skillId.'

export const retrieveSkillContract = {
  operationId: 'retrieveSkill',
  method: 'GET',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Retrieve a skill',
  description: 'Returns a skill of the organization with all of its files.',
  scope: 'skills:read',
  params: z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) }),
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: 'The skill with all of its files.',
    schema: skill,
    example: exampleSkill,
    headers: {
      ETag: 'The entity tag of the skill. It changes whenever the skill or one of its files changes.',
    },
    conditional: true,
  },
  errorCodes: ['skill_not_found'],
  errors: {
    400: 'The path is invalid, or the API key lacks the required scope.',
    404: NO_SKILL,
    500: 'The skill could not be retrieved.',
  },
} as const satisfies Contract

export const listSkillsContract = {
  operationId: 'listSkills',
  method: 'GET',
  path: '/v1/skills',
  tag: 'Skills',
  summary: 'List skills',
  description: 'Lists the skills of the organization in order of creation, without their files.',
  scope: 'skills:read',
  params: z.object({}),
  query: z.object({ name: z.optional(nameWith('Only the skill with this name.')), ...pageQuery(uuid()) }),
  success: {
    status: 200,
    description: 'A page of skills.',
    schema: pageSchema('SkillPage', skillSummary, uuid()),
    example: { items: [exampleSummary], nextCursor: null },
  },
  errors,
} as const satisfies Contract

export const createSkillContract = {
  operationId: 'createSkill',
  method: 'POST',
  path: '/v1/skills',
  tag: 'Skills',
  summary: 'Create a skill',
  description: 'Creates a skill with its files.',
  scope: 'skills:write',
  params: z.object({}),
  headers: z.object({ 'Idempotency-Key': idempotencyKey() }),
  body: z.strictObject({ name, description, files }).register(docs, {
    id: 'NewSkill',
    example: { ...exampleNewSkill, files: [exampleFileOf(exampleNewSkill)] },
  }),
  bodyLimitBytes: BODY_LIMIT_BYTES,
  success: {
    status: 201,
    description: 'The skill was created, by this request or an earlier one with the same `Idempotency-Key`.',
    schema: skill,
    example: {
      ...exampleSkill,
      ...exampleNewSkill,
      files: [{ id: EXAMPLE_IDS.skillFileId, ...exampleFileOf(exampleNewSkill) }],
    },
    headers: { Location: 'The path of the skill.', ...ENTITY_TAG },
  },
  errorCodes: ['skill_name_taken', 'quota_exceeded', 'idempotency_key_reused'],
  errors: {
    ...errors,
    409:
      'Another skill has this name, the organization would have more skills or bytes of skill files than its quota, ' +
      'or the `Idempotency-Key` was used with another body.',
  },
} as const satisfies Contract

export const updateSkillContract = {
  operationId: 'updateSkill',
  method: 'PATCH',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Update a skill',
  description:
    'Changes the given fields of a skill. If `files` is given, it replaces all files; a file whose filename stays the same keeps its ID.',
  scope: 'skills:write',
  params: z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) }),
  headers: z.object({ 'If-Match': ifMatch() }),
  body: someOf({
    name: z.optional(name),
    description: z.optional(description),
    files: z.optional(files),
  }).register(docs, { id: 'SkillUpdate', example: { files: [exampleFile] } }),
  bodyLimitBytes: BODY_LIMIT_BYTES,
  success: {
    status: 200,
    description: 'The skill with all of its files.',
    schema: skill,
    example: exampleSkill,
    headers: ENTITY_TAG,
  },
  errorCodes: ['skill_not_found', 'skill_name_taken', 'quota_exceeded', 'etag_mismatch'],
  errors: {
    ...errors,
    404: NO_SKILL,
    409: 'Another skill has this name, or the organization would have more bytes of skill files than its quota.',
    412: OTHER_ETAG,
  },
} as const satisfies Contract

export const deleteSkillContract = {
  operationId: 'deleteSkill',
  method: 'DELETE',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Delete a skill',
  description: 'Deletes a skill with all of its files.',
  scope: 'skills:write',
  params: z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) }),
  headers: z.object({ 'If-Match': ifMatch() }),
  success: {
    status: 200,
    description: 'The skill was deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'SkillDeletion' }),
    example: { deleted: true, id: exampleSummary.id },
  },
  errorCodes: ['skill_not_found', 'etag_mismatch'],
  errors: { ...errors, 404: NO_SKILL, 412: OTHER_ETAG },
} as const satisfies Contract
