/** The skills of an organization (docs/contract-resources.md, Skills). */
import * as z from 'zod/mini'
import { etagMismatch, quotaExceeded } from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  boundedString,
  check,
  digits,
  docs,
  ENTITY_TAG,
  idempotencyKey,
  ifMatch,
  ifNoneMatch,
  instant,
  rule,
  text,
  uuid,
  wholeNumber,
} from '../../http/fields.ts'
import { pageQuery, pageSchema, pagesExamine, searchQuery } from '../../http/paging.ts'
import { describeSize } from '../../http/problems.ts'
import { UNDO } from '../../http/statuses.ts'
import { problemOfContent, type SentContent } from './content.ts'
import { keyReusedForSkill, skillNameTaken, skillNotFound, uploadExpired, versionNotFound } from './failures.ts'
import { EXAMPLE_SKILL_NAME, skillDescription, skillFilename, skillName } from './fields.ts'

/** The file whose YAML front matter describes the skill. */
export const ENTRY_FILE = 'SKILL.md'

const MEBIBYTE = 2 ** 20
const MAX_FILES = 500
const MAX_FILE_BYTES = MEBIBYTE
const MAX_SKILL_BYTES = 8 * MEBIBYTE
const BODY_LIMIT_BYTES = 16 * MEBIBYTE
/** Every client has exact numbers up to it. */
const MAX_VERSION = 2 ** 31 - 1

const skillFile = z
  .strictObject({
    id: uuid(),
    filename: z.string(),
    content: z.string().register(docs, {
      description:
        'The text of the file, exactly as stored. A file that is not text is a `data:application/octet-stream;base64,…` URL.',
    }),
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
  name: EXAMPLE_SKILL_NAME,
  description: 'Writes release notes from merged pull requests.',
  createdAt: '2026-03-02T09:15:00.000Z',
  updatedAt: '2026-03-29T01:00:00.000Z',
}

/** A skill as the Agent Skills specification requires it: the front matter of SKILL.md has its name and description. */
function exampleFileOf({ name, description }: { readonly name: string; readonly description: string }) {
  const steps = '1. List the changes.\n2. Write one line for each, for the people who read it.\n'
  return { filename: ENTRY_FILE, content: `---\nname: ${name}\ndescription: ${description}\n---\n\n${steps}` }
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

/** A content in a request. */
const newFile = z
  .strictObject({
    filename: skillFilename({
      description: 'The path of the file, relative to the folder of the skill. No segment may be `.git`.',
      example: exampleFile.filename,
    }),
    content: boundedString(2 * MAX_FILE_BYTES, {
      wrong: 'is too large',
      sent: `more than ${describeSize(MAX_FILE_BYTES)}`,
      allowed: `up to ${describeSize(MAX_FILE_BYTES)}`,
    }).register(docs, { description: 'Text, or base64 if `encoding` says so; up to 1 MiB when decoded.' }),
    encoding: z.optional(z.enum(['utf-8', 'base64'], '"utf-8" or "base64"')).register(docs, {
      description:
        '`base64` for a file that is not text, that contains NUL, or that begins with `data:application/octet-stream;base64,`. `utf-8` if it is left out.',
    }),
    executable: z.optional(z.boolean('true or false')).register(docs, {
      description: 'Whether the file is executable. False if it is left out.',
    }),
  })
  .check(problemsOfContent)
  .register(docs, { id: 'NewSkillFile' })

/** The problem of a content belongs to the property, not to the file. */
function problemsOfContent({ value, issues }: z.core.ParsePayload<SentContent>): void {
  const problem = issues.length === 0 && problemOfContent(value, MAX_FILE_BYTES)
  if (!problem) return
  const { allowed, ...params } = problem
  issues.push({ code: 'custom', input: value.content, path: ['content'], message: allowed, params })
}

const name = skillName(
  'Unique in the organization. It is read from SKILL.md if it is left out, and has to be the same there.',
)
const description = skillDescription(
  'What the skill does, and when to use it. It is read from SKILL.md if it is left out, and has to be the same there.',
)

const message = text(1, 255, { description: 'What changed, for the list of versions.' })

const files = z
  .array(newFile, `an array of up to ${MAX_FILES} files`)
  .check(
    z.maxLength(MAX_FILES),
    rule(
      (all) => new Set(all.map(({ filename }) => filename.toLowerCase().toUpperCase())).size === all.length,
      'has a filename several times',
      'filenames that differ by more than their case',
    ),
    rule(hasNoFolder, 'has a filename that is a folder of another', 'filenames that are not folders of others'),
    rule(
      (all) => all.some(({ filename }) => filename === ENTRY_FILE),
      `has no ${ENTRY_FILE}`,
      `files with a ${ENTRY_FILE}, whose front matter has the name and the description`,
    ),
    check((all) => {
      const bytes = all.reduce((sum, file) => sum + Buffer.byteLength(file.content, file.encoding), 0)
      const allowed = 'up to 8 MiB of contents'
      return bytes > MAX_SKILL_BYTES ? { wrong: 'is too large', sent: `${bytes} bytes`, allowed } : undefined
    }),
  )
  .register(docs, { description: `All files of the skill. One is ${ENTRY_FILE}.` })

/** True if no filename is a folder of another. Sorted, the files of a folder come right after it. */
function hasNoFolder(files: readonly { readonly filename: string }[]): boolean {
  const paths = [...new Set(files.map(({ filename }) => `${filename}/`))].sort()
  return !paths.some((path, index) => paths[index + 1]?.startsWith(path))
}

/** What a version is made from. */
const versionFields = {
  name: z.optional(name),
  description: z.optional(description),
  files,
  message: z.optional(message),
}
const newSkill = z
  .strictObject(versionFields)
  .register(docs, { id: 'NewSkill', example: { files: [exampleFileOf(exampleNewSkill)] } })
const newVersion = z.strictObject(versionFields).register(docs, {
  id: 'NewSkillVersion',
  example: { files: [exampleFile], message: 'List breaking changes first.' },
})

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
  failures: [skillNotFound],
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
  description: `Lists the skills of the organization in order of creation, without their files. ${pagesExamine('With `query`', 'skills')}`,
  scope: 'skills:read',
  params: z.object({}),
  query: z.object({
    name: z.optional(skillName('Only the skill with this name.')),
    ...searchQuery('name'),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of skills.',
    schema: pageSchema('SkillPage', skillSummary, uuid()),
    example: { items: [exampleSummary], nextCursor: null },
  },
} as const satisfies Contract

export const createSkillContract = {
  operationId: 'createSkill',
  method: 'POST',
  path: '/v1/skills',
  tag: 'Skills',
  summary: 'Create a skill',
  description:
    'Creates a skill with its files, as version 1. The front matter of `SKILL.md` has the name and the description, as the Agent Skills specification requires.',
  scope: 'skills:write',
  params: z.object({}),
  headers: z.object({ 'Idempotency-Key': idempotencyKey() }),
  body: newSkill,
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
  failures: [skillNameTaken, quotaExceeded, keyReusedForSkill, uploadExpired],
} as const satisfies Contract

export const updateSkillContract = {
  operationId: 'updateSkill',
  // It adds a version.
  worksWhenFull: false,
  method: 'PATCH',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Update a skill',
  description:
    'Makes a new version of a skill, which becomes the current one, from all of its files. A file whose filename stays the same keeps its ID. ' +
    'If nothing differs from the current version, no version is made.',
  scope: 'skills:write',
  params: z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) }),
  headers: z.object({ 'If-Match': ifMatch() }),
  body: newVersion,
  bodyLimitBytes: BODY_LIMIT_BYTES,
  success: {
    status: 200,
    description: 'The skill with all of its files.',
    schema: skill,
    example: exampleSkill,
    headers: ENTITY_TAG,
  },
  failures: [skillNotFound, skillNameTaken, quotaExceeded, uploadExpired, etagMismatch],
} as const satisfies Contract

const versionNumber = (description: string) => wholeNumber(1, MAX_VERSION, { description, example: 2 })

const versionSummary = {
  version: z.int().register(docs, { description: 'From 1, without gaps when it is made.' }),
  name: z.string(),
  description: z.string(),
  digest: z.string().register(docs, {
    description: 'The SHA-256 of the archive of the version: `sha256:` and 64 hexadecimal digits.',
  }),
  isCurrent: z.boolean().register(docs, { description: 'Whether the skill has the files of this version.' }),
  message: z.nullable(z.string()).register(docs, { description: 'What changed; null if nothing was said.' }),
  apiKeyId: uuid('The API key that made the version.'),
  userId: z
    .nullable(z.string())
    .register(docs, { description: 'The user that the API key acts as; null if it acts as none.' }),
  createdAt: instant(),
}

const versionFile = z
  .strictObject({
    filename: z.string(),
    content: z.string(),
    encoding: z
      .enum(['utf-8', 'base64'])
      .register(docs, { description: 'Of `content`: `utf-8` for text, otherwise `base64`.' }),
    executable: z.boolean(),
    sizeBytes: z.int(),
    sha256: z.string().register(docs, { description: 'Of the bytes, in lower-case hexadecimal.' }),
  })
  .register(docs, { id: 'SkillVersionFile' })

const skillVersionSummary = z.strictObject(versionSummary).register(docs, { id: 'SkillVersionSummary' })
const skillVersion = z
  .strictObject({
    ...versionSummary,
    files: z.array(versionFile).register(docs, { description: 'All files of the version, sorted by filename.' }),
  })
  .register(docs, { id: 'SkillVersion' })

const exampleVersion = {
  version: 2,
  name: exampleSummary.name,
  description: exampleSummary.description,
  digest: 'sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  isCurrent: true,
  message: 'List breaking changes first.',
  apiKeyId: EXAMPLE_IDS.apiKeyId,
  userId: EXAMPLE_IDS.userId,
  createdAt: '2026-03-29T01:00:00.000Z',
}

const ofSkill = z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) })

export const listSkillVersionsContract = {
  operationId: 'listSkillVersions',
  method: 'GET',
  path: '/v1/skills/{skillId}/versions',
  tag: 'Skills',
  summary: 'List the versions of a skill',
  description:
    'Lists the versions of a skill without their files, the latest first. A skill keeps up to 100 versions (`SKILL_VERSION_LIMIT`): ' +
    'a new one removes the oldest that is neither current nor named by a feed.',
  scope: 'skills:read',
  params: ofSkill,
  query: z.object(pageQuery(digits(1, MAX_VERSION))),
  success: {
    status: 200,
    description: 'A page of versions.',
    schema: pageSchema('SkillVersionPage', skillVersionSummary, z.string()),
    example: { items: [exampleVersion], nextCursor: null },
  },
  failures: [skillNotFound],
} as const satisfies Contract

export const retrieveSkillVersionContract = {
  operationId: 'retrieveSkillVersion',
  method: 'GET',
  path: '/v1/skills/{skillId}/versions/{version}',
  tag: 'Skills',
  summary: 'Retrieve a version of a skill',
  description: 'Returns a version of a skill with all of its files. A version never changes.',
  scope: 'skills:read',
  params: z.extend(ofSkill, { version: versionNumber('The version.') }),
  success: {
    status: 200,
    description: 'The version with all of its files.',
    schema: skillVersion,
    example: {
      ...exampleVersion,
      files: [
        {
          ...exampleFile,
          encoding: 'utf-8',
          executable: false,
          sizeBytes: Buffer.byteLength(exampleFile.content),
          sha256: '2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae',
        },
      ],
    },
  },
  failures: [skillNotFound, versionNotFound],
} as const satisfies Contract

export const publishSkillVersionContract = {
  operationId: 'publishSkillVersion',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/skills/{skillId}/publish',
  tag: 'Skills',
  summary: 'Publish a version of a skill',
  description:
    'Makes a version the current one, for example an earlier one. The skill gets its name, description and files.',
  scope: 'skills:write',
  params: ofSkill,
  headers: z.object({ 'If-Match': ifMatch() }),
  body: z
    .strictObject({
      version: z.int('a version').check(z.minimum(1, 'at least 1'), z.maximum(MAX_VERSION, 'a version')),
    })
    .register(docs, { id: 'SkillPublication', example: { version: 1 } }),
  success: {
    status: 200,
    description: 'The skill with the files of the version.',
    schema: skill,
    example: exampleSkill,
    headers: ENTITY_TAG,
  },
  failures: [skillNotFound, versionNotFound, skillNameTaken, etagMismatch],
} as const satisfies Contract

export const retrieveSkillArchiveContract = {
  operationId: 'retrieveSkillArchive',
  method: 'GET',
  path: '/v1/skills/{skillId}/archive',
  tag: 'Skills',
  summary: 'Retrieve the archive of a skill',
  description:
    'Returns the files of a version as a `.tar.gz` with their executable bits. The archive of a version never changes, and its SHA-256 is the `digest` of the version.',
  scope: 'skills:read',
  params: ofSkill,
  query: z.object({
    version: z.optional(versionNumber('The version; the current one if it is left out.')),
  }),
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: 'The archive.',
    mediaTypes: ['application/gzip'],
    headers: {
      ETag: 'The digest of the version.',
      'Content-Disposition': '`attachment` with a filename such as `release-notes-2.tar.gz`.',
    },
    conditional: true,
  },
  failures: [skillNotFound, versionNotFound],
} as const satisfies Contract

export const deleteSkillContract = {
  operationId: 'deleteSkill',
  method: 'DELETE',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Delete a skill',
  description: `Deletes a skill with all of its versions. ${UNDO}`,
  scope: 'skills:write',
  params: z.object({ skillId: uuid('The skill.', EXAMPLE_IDS.skillId) }),
  headers: z.object({ 'If-Match': ifMatch() }),
  success: {
    status: 200,
    description: 'The skill was deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'SkillDeletion' }),
    example: { deleted: true, id: exampleSummary.id },
  },
  failures: [skillNotFound, etagMismatch],
} as const satisfies Contract
