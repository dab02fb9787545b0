import { v7 as newUuid } from 'uuid'
import { authorized } from '../../access/preconditions.ts'
import type { RequestContext } from '../../access/request-context.ts'
import { sha256 } from '../../crypto/digest.ts'
import { conditionsOf, matchesEntityTag, withEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { idempotencyOf } from '../../http/idempotency.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
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
  addArchivesToOrphans,
  addOldArchivesToOrphans,
  archiveReadable,
  beginChange,
  beginCreation,
  beginnable,
  CONTENTS,
  changeable,
  creatable,
  deletable,
  deleteContents,
  deleteOldVersions,
  deleteSkill as deleteSkillStatement,
  deleteUnusedContents,
  deleteVersions,
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
import { contentsOf, describedBy, type NewFile, type ReadFile, readFiles, storedFiles } from './version.ts'

/** How long storing an archive may take. */
const ARCHIVE_LEASE_MS = 3_600_000
/** The first cursor of a list of versions: above every version. */
const ABOVE_ALL = String(2 ** 31)

export const retrieveSkill = endpoint(
  retrieveSkillContract,
  async ({ params, headers: requested }, context) => {
    const [facts, [skill], files] = await context.run(readable, [selectSkill, selectSkillFiles], params)
    if (!skill) throw readable.refusal(facts, context)
    const { body, headers } = withEntityTag({ ...skill, files })
    if (matchesEntityTag(requested['If-None-Match'], headers.ETag)) return { notModified: true, headers }
    return { body, headers }
  },
)

export const listSkills = endpoint(listSkillsContract, async ({ query }, context) => {
  const { name } = query
  const [, skills] =
    name === undefined
      ? await context.run(authorized, [selectSkills], pagingOf(query))
      : await context.run(authorized, [selectSkillByName], { ...pagingOf(query), name })
  return { body: pageOf(skills, query, ({ id }) => id) }
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
async function storeArchive(
  files: readonly ReadFile[],
  objectKey: string,
  { caller, environment }: RequestContext,
) {
  const { archiveOf } = await import('./archive.ts')
  const archive = await archiveOf(files)
  await putObject(environment.OBJECTS, objectKey, archive.buffer)
  const stored = caller.takeTime()
  return {
    objectKey,
    digest: sha256(archive),
    archiveBytes: archive.byteLength,
    deleteAfter: deleteAfter(stored),
    notSweptBefore: deleteAfter(stored),
  }
}

/** The sizes of the contents, for the quota. */
function contentSizes(contents: ReturnType<typeof contentsOf>): string {
  return JSON.stringify(
    contents.map(({ sha256, content }) => ({ sha256, bytes: Buffer.byteLength(content) })),
  )
}

export const createSkill = endpoint(createSkillContract, async ({ headers, body, path }, context) => {
  const { name, description } = await descriptionIn(body, context)
  const files = readFiles(body.files)
  const contents = contentsOf(files)
  const id = newUuid()
  const values = {
    name,
    description,
    ...idempotencyOf(headers['Idempotency-Key'], body),
    skillId: id,
    revision: newUuid(),
    contents: contentSizes(contents),
  }
  const selecting = [selectCreated, selectCreatedFiles] as const
  const [before, [begun], [earlier], earlierFiles] = await context.run(
    beginnable,
    [beginCreation, ...selecting],
    { ...values, ...reservation(context) },
  )
  if (earlier) {
    return { ...withEntityTag({ ...earlier, files: earlierFiles }), location: `${path}/${earlier.id}` }
  }
  if (!begun) throw beginnable.refusal(before, context)

  const recorded = await storeArchive(files, begun.objectKey, context)
  const steps = [
    insertSkill,
    insertVersion,
    CONTENTS.fill(putContents, contents),
    removeArchiveFromOrphans,
    ...selecting,
  ] as const
  const [facts, , , , , [created], createdFiles] = await context.run(creatable, steps, {
    ...values,
    ...recorded,
    id,
    files: storedFiles(id, files),
    message: body.message ?? null,
  })
  if (!created) throw creatable.refusal(facts, context)
  return { ...withEntityTag({ ...created, files: createdFiles }), location: `${path}/${created.id}` }
})

export const updateSkill = endpoint(updateSkillContract, async ({ params, headers, body }, context) => {
  const described = await descriptionIn(body, context)
  const files = readFiles(body.files)
  const contents = contentsOf(files)
  const values = {
    ...params,
    ...conditionsOf(headers),
    ...described,
    contents: contentSizes(contents),
    files: storedFiles(params.skillId, files),
    revision: newUuid(),
    message: body.message ?? null,
    othersKept: Math.max(context.limits.skillVersions - 1, 0),
  }
  const selecting = [selectUpToDate, selectUpToDateFiles] as const
  const [before, [begun], [same], sameFiles] = await context.run(changeable, [beginChange, ...selecting], {
    ...values,
    ...reservation(context),
  })
  changeable.requireMet(before, context)
  if (same) return withEntityTag({ ...same, files: sameFiles })
  if (!begun) throw changeable.refusal(before, context)

  const recorded = await storeArchive(files, begun.objectKey, context)
  const steps = [
    updateSkillStatement,
    insertVersion,
    CONTENTS.fill(putContents, contents),
    removeArchiveFromOrphans,
    addOldArchivesToOrphans,
    deleteOldVersions,
    deleteUnusedContents,
    ...selecting,
  ] as const
  const [facts, , , , , , , , [updated], updatedFiles] = await context.run(updatable, steps, {
    ...values,
    ...recorded,
  })
  updatable.requireMet(facts, context)
  if (!updated) throw updatable.refusal(facts, context)
  return withEntityTag({ ...updated, files: updatedFiles })
})

export const deleteSkill = endpoint(deleteSkillContract, async ({ params, headers }, context) => {
  const values = {
    ...params,
    ...conditionsOf(headers),
    deleteAfter: deleteAfter(new Date(context.now)),
  }
  const steps = [addArchivesToOrphans, deleteVersions, deleteContents, deleteSkillStatement] as const
  const deleted = await context.runForRow(deletable, steps, values)
  return { body: { deleted: true as const, id: deleted.id } }
})

/** A version as the API has it: SQLite has no Booleans. */
const withIsCurrent = <Row extends { readonly isCurrent: 0 | 1 }>({ isCurrent, ...version }: Row) => ({
  ...version,
  isCurrent: isCurrent === 1,
})

export const listSkillVersions = endpoint(listSkillVersionsContract, async ({ params, query }, context) => {
  const { cursor = ABOVE_ALL } = query
  const [facts, versions] = await context.run(readable, [selectVersions], {
    ...params,
    ...pagingOf({ ...query, cursor }),
  })
  readable.requireMet(facts, context)
  const { items, nextCursor } = pageOf(versions, query, ({ version }) => String(version))
  return { body: { items: items.map(withIsCurrent), nextCursor } }
})

export const retrieveSkillVersion = endpoint(retrieveSkillVersionContract, async ({ params }, context) => {
  const [facts, [version], files] = await context.run(
    versionReadable,
    [selectVersion, selectVersionFiles],
    params,
  )
  if (!version) throw versionReadable.refusal(facts, context)
  return {
    body: {
      ...withIsCurrent(version),
      files: files.map((file) => ({ ...file, executable: file.executable === 1 })),
    },
  }
})

export const publishSkillVersion = endpoint(
  publishSkillVersionContract,
  async ({ params, headers, body }, context) => {
    const values = { ...params, ...conditionsOf(headers), ...body, revision: newUuid() }
    const steps = [publish, selectPublished, selectSkillFiles] as const
    const [facts, , [skill], files] = await context.run(publishable, steps, values)
    publishable.requireMet(facts, context)
    if (!skill) throw publishable.refusal(facts, context)
    return withEntityTag({ ...skill, files })
  },
)

export const retrieveSkillArchive = endpoint(
  retrieveSkillArchiveContract,
  async ({ params, query, headers: requested }, context) => {
    const { name, version, digest, objectKey } = await context.runForRow(archiveReadable, [selectArchive], {
      ...params,
      version: query.version ?? null,
    })
    const ETag = `"${digest}"`
    const headers = {
      ETag,
      'Content-Disposition': `attachment; filename="${name}-${version}.tar.gz"`,
    }
    if (matchesEntityTag(requested['If-None-Match'], ETag)) return { notModified: true, headers }
    const content = await getObject(context.environment.OBJECTS, objectKey)
    return { content, headers: { ...headers, 'Content-Type': 'application/gzip' } }
  },
)
