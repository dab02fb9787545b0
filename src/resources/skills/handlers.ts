import { v7 as newUuid } from 'uuid'
import { deletionValues } from '../../access/deletions.ts'
import { authorized } from '../../access/preconditions.ts'
import { one, type RequestContext } from '../../access/request-context.ts'
import { sha256 } from '../../crypto/digest.ts'
import { HOUR_MS } from '../../durations.ts'
import { matchesEntityTag, parseConditions, withEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toIdempotency } from '../../http/idempotency.ts'
import { toExaminedPage, toPage, toPaging } from '../../http/paging.ts'
import { describeProblem, describeSent } from '../../http/problems.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { getObject, putObject } from '../../objects/store.ts'
import {
  createSkillContract,
  deleteSkillContract,
  listSkillsContract,
  listSkillVersionsContract,
  publishSkillVersionContract,
  retrieveSkillArchiveContract,
  retrieveSkillContract,
  retrieveSkillVersionContract,
  updateSkillContract,
} from './contract.ts'
import {
  addOldArchivesToOrphans,
  archiveReadable,
  beginChange,
  beginCreation,
  beginnable,
  CONTENTS,
  changeable,
  copyDeleted,
  creatable,
  deletable,
  deleteOldVersions,
  deleteSkill as deleteSkillStatement,
  deleteUnusedContents,
  insertSkill,
  insertVersion,
  publish,
  publishable,
  putContents,
  readable,
  removeArchiveFromOrphans,
  selectArchive,
  selectCreated,
  selectCreatedFiles,
  selectPublished,
  selectSkill,
  selectSkillByName,
  selectSkillFiles,
  selectSkills,
  selectUpToDate,
  selectUpToDateFiles,
  selectVersion,
  selectVersionFiles,
  selectVersions,
  updatable,
  updateSkill as updateSkillStatement,
  versionReadable,
} from './statements.ts'
import { describedBy, type NewFile, type ReadFile, readFiles, storedFiles, toContents } from './version.ts'

/** How long storing an archive may take. */
const ARCHIVE_LEASE_MS = HOUR_MS
/** The first cursor of a list of versions: above every version. */
const ABOVE_ALL = String(2 ** 31)

export const retrieveSkill = endpoint(retrieveSkillContract, async (c, context) => {
  const steps = { skill: one(selectSkill), files: selectSkillFiles }
  const { skill, files } = await context.run(readable, steps, c.req.valid('param'))
  const { body, headers } = withEntityTag({ ...skill, files })
  if (matchesEntityTag(c.req.valid('header')['If-None-Match'], headers.ETag)) return { notModified: true, headers }
  return { body, headers }
})

export const listSkills = endpoint(listSkillsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { name, query: nameQuery = null } = query
  const values = { ...toPaging(query), query: nameQuery }
  if (name !== undefined) {
    const { skills } = await context.run(authorized, { skills: selectSkillByName }, { ...values, name })
    return { body: toPage(skills, query, ({ id }) => id) }
  }
  const { skills } = await context.run(authorized, { skills: selectSkills }, values)
  return { body: toExaminedPage(skills, query, ({ id }) => id) }
})

interface NewVersion {
  readonly name?: string | undefined
  readonly description?: string | undefined
  readonly files: readonly NewFile[]
  readonly message?: string | undefined
}

/**
 * What SKILL.md says of the skill.
 * @throws {ApiError} 400 if it says nothing valid, or something else than the request.
 */
async function descriptionIn({ files, ...given }: NewVersion, { caller }: RequestContext) {
  const described = await describedBy(files)
  if ('line' in described) throw await caller.inputError(described.message)
  for (const field of ['name', 'description'] as const) {
    const sent = given[field]
    if (sent === undefined || sent === described[field]) continue
    throw await caller.inputError(
      describeProblem(field, {
        wrong: 'is not that of SKILL.md',
        sent: describeSent(sent),
        allowed: describeSent(described[field]),
        advice: `Change SKILL.md, or leave ${field} out.`,
      }),
    )
  }
  return described
}

/** The values of the statement that reserves the archive's key. */
function reservation({ now }: RequestContext) {
  const leaseExpiresAt = new Date(Date.parse(now) + ARCHIVE_LEASE_MS)
  return { objectId: newUuid(), deleteAfter: deleteAfter(leaseExpiresAt) }
}

/** Stores the archive. @returns the values of the statements that record the version. */
async function storeArchive(files: readonly ReadFile[], objectKey: string, { caller, environment }: RequestContext) {
  const { createArchive } = await import('./archive.ts')
  const archive = await createArchive(files)
  await putObject(environment.OBJECTS, objectKey, archive.buffer)
  const stored = caller.takeTime()
  return {
    objectKey,
    digest: await sha256(archive),
    archiveBytes: archive.byteLength,
    deleteAfter: deleteAfter(stored),
    notSweptBefore: deleteAfter(stored),
  }
}

/** The sizes of the contents, for the quota. */
function contentSizes(contents: ReturnType<typeof toContents>): string {
  return JSON.stringify(contents.map(({ sha256, content }) => ({ sha256, bytes: Buffer.byteLength(content) })))
}

export const createSkill = endpoint(createSkillContract, async (c, context) => {
  const body = c.req.valid('json')
  const { name, description } = await descriptionIn(body, context)
  const files = await readFiles(body.files)
  const contents = toContents(files)
  const id = newUuid()
  const values = {
    name,
    description,
    ...(await toIdempotency(c.req.valid('header')['Idempotency-Key'], body)),
    skillId: id,
    revision: newUuid(),
    contents: contentSizes(contents),
  }
  const before = await context.attempt(
    beginnable,
    { begun: beginCreation, created: selectCreated, files: selectCreatedFiles },
    { ...values, ...reservation(context) },
  )
  const [earlier] = before.created
  if (earlier) {
    return {
      ...withEntityTag({ ...earlier, files: before.files }),
      location: `${context.path}/${earlier.id}`,
    }
  }
  const [begun] = before.begun
  if (!begun) throw beginnable.refusal(before.check, context)

  const archive = await storeArchive(files, begun.objectKey, context)
  const { created, files: createdFiles } = await context.attempt(
    creatable,
    {
      insertSkill,
      insertVersion,
      putContents: CONTENTS.fill(putContents, contents),
      removeArchiveFromOrphans,
      created: one(selectCreated),
      files: selectCreatedFiles,
    },
    { ...values, ...archive, files: storedFiles(id, files), message: body.message ?? null },
  )
  return { ...withEntityTag({ ...created, files: createdFiles }), location: `${context.path}/${created.id}` }
})

export const updateSkill = endpoint(updateSkillContract, async (c, context) => {
  const params = c.req.valid('param')
  const body = c.req.valid('json')
  const described = await descriptionIn(body, context)
  const files = await readFiles(body.files)
  const contents = toContents(files)
  const values = {
    ...params,
    ...parseConditions(c.req.valid('header')),
    ...described,
    contents: contentSizes(contents),
    files: storedFiles(params.skillId, files),
    revision: newUuid(),
    message: body.message ?? null,
    othersKept: Math.max(context.limits.skillVersions - 1, 0),
  }
  const before = await context.run(
    changeable,
    { begun: beginChange, upToDate: selectUpToDate, files: selectUpToDateFiles },
    { ...values, ...reservation(context) },
  )
  const [unchanged] = before.upToDate
  if (unchanged) return withEntityTag({ ...unchanged, files: before.files })
  const [begun] = before.begun
  if (!begun) throw changeable.refusal(before.check, context)

  const archive = await storeArchive(files, begun.objectKey, context)
  const { updated, files: updatedFiles } = await context.run(
    updatable,
    {
      updateSkill: updateSkillStatement,
      insertVersion,
      putContents: CONTENTS.fill(putContents, contents),
      removeArchiveFromOrphans,
      addOldArchivesToOrphans,
      deleteOldVersions,
      deleteUnusedContents,
      updated: one(selectUpToDate),
      files: selectUpToDateFiles,
    },
    { ...values, ...archive },
  )
  return withEntityTag({ ...updated, files: updatedFiles })
})

export const deleteSkill = endpoint(deleteSkillContract, async (c, context) => {
  const values = {
    ...c.req.valid('param'),
    ...parseConditions(c.req.valid('header')),
    ...deletionValues(context),
  }
  const { deleted } = await context.run(deletable, { copyDeleted, deleted: one(deleteSkillStatement) }, values)
  return { body: { deleted: true, id: deleted.id } }
})

/** A version as the API has it: SQLite has no Booleans. */
const withIsCurrent = <Row extends { readonly isCurrent: 0 | 1 }>({ isCurrent, ...version }: Row) => ({
  ...version,
  isCurrent: isCurrent === 1,
})

export const listSkillVersions = endpoint(listSkillVersionsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { cursor = ABOVE_ALL } = query
  const { versions } = await context.run(
    readable,
    { versions: selectVersions },
    { ...c.req.valid('param'), ...toPaging({ ...query, cursor }) },
  )
  const { items, nextCursor } = toPage(versions, query, ({ version }) => String(version))
  return { body: { items: items.map(withIsCurrent), nextCursor } }
})

export const retrieveSkillVersion = endpoint(retrieveSkillVersionContract, async (c, context) => {
  const steps = { version: one(selectVersion), files: selectVersionFiles }
  const { version, files } = await context.run(versionReadable, steps, c.req.valid('param'))
  return {
    body: {
      ...withIsCurrent(version),
      files: files.map((file) => ({ ...file, executable: file.executable === 1 })),
    },
  }
})

export const publishSkillVersion = endpoint(publishSkillVersionContract, async (c, context) => {
  const { skill, files } = await context.run(
    publishable,
    { publish, skill: one(selectPublished), files: selectSkillFiles },
    {
      ...c.req.valid('param'),
      ...parseConditions(c.req.valid('header')),
      version: String(c.req.valid('json').version),
      revision: newUuid(),
    },
  )
  return withEntityTag({ ...skill, files })
})

export const retrieveSkillArchive = endpoint(retrieveSkillArchiveContract, async (c, context) => {
  const { version: requested = null } = c.req.valid('query')
  const { archive } = await context.run(
    archiveReadable,
    { archive: one(selectArchive) },
    { ...c.req.valid('param'), version: requested },
  )
  const { name, version, digest, objectKey } = archive
  const ETag = `"${digest}"`
  const headers = {
    ETag,
    'Content-Disposition': `attachment; filename="${name}-${version}.tar.gz"`,
  }
  if (matchesEntityTag(c.req.valid('header')['If-None-Match'], ETag)) return { notModified: true, headers }
  const content = await getObject(context.environment.OBJECTS, objectKey)
  return { content, headers: { ...headers, 'Content-Type': 'application/gzip' } }
})
