import { v7 as newUuid } from 'uuid'
import { explainCaller } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import { ApiError } from '../../errors.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { idempotencyOf } from '../../http/idempotency.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import {
  createSkillContract,
  deleteSkillContract,
  listSkillsContract,
  retrieveSkillContract,
  updateSkillContract,
} from './contract.ts'
import {
  deleteFiles,
  deleteOtherFiles,
  deleteSkill as deleteSkillStatement,
  explainCreation,
  explainSkill,
  explainUpdate,
  FILES,
  insertSkill,
  putFiles,
  selectChangedFiles,
  selectCreated,
  selectCreatedFiles,
  selectSkill,
  selectSkillFiles,
  selectSkills,
  updateSkill as updateSkillStatement,
} from './statements.ts'

const noSkill = () => new ApiError(404, 'skillId: there is no skill with this id')

const nameTaken = () =>
  new ApiError(409, 'name: another skill has this name; choose another, or change that one')

export const retrieveSkill = endpoint(retrieveSkillContract, async ({ params, headers }, context) => {
  const [explanation, [skill], files] = await context.run(
    { check: explainSkill },
    [selectSkill, selectSkillFiles],
    params,
  )
  if (!skill) throw noSkill()
  const ETag = `"${explanation.revision}"`
  if (matchesEntityTag(headers['If-None-Match'], ETag)) return { notModified: true, headers: { ETag } }
  return { body: { ...skill, files }, headers: { ETag } }
})

export const listSkills = endpoint(listSkillsContract, async ({ query }, context) => {
  const [, skills] = await context.run({ check: explainCaller }, [selectSkills], pagingOf(query))
  return { body: pageOf(skills, query, ({ id }) => id) }
})

interface NewFile {
  readonly filename: string
  readonly content: string
}

function bytesOf(files: readonly NewFile[]): number {
  return files.reduce((sum, { content }) => sum + Buffer.byteLength(content), 0)
}

/** The statements that put the files into the skill. */
function puttingFiles(files: readonly NewFile[]) {
  return FILES.fill(
    putFiles,
    files.map((file) => ({ id: newUuid(), ...file })),
  )
}

export const createSkill = endpoint(createSkillContract, async ({ headers, body, path }, context) => {
  const { files, ...skill } = body
  const id = newUuid()
  const [facts, , , [created], createdFiles] = await context.run(
    { check: explainCreation },
    [insertSkill, puttingFiles(files), selectCreated, selectCreatedFiles],
    {
      ...skill,
      ...idempotencyOf(headers['Idempotency-Key'], body),
      id,
      skillId: id,
      revision: newUuid(),
      sizeBytes: bytesOf(files),
    },
  )
  if (created)
    return { body: { ...created, files: createdFiles }, headers: { Location: `${path}/${created.id}` } }
  if (facts.isRepeated) {
    throw new ApiError(409, 'Idempotency-Key: it was used with another body; use a new key for a new skill')
  }
  throw facts.exceededQuota ? quotaExceeded(facts.exceededQuota, context.limits) : nameTaken()
})

export const updateSkill = endpoint(updateSkillContract, async ({ params, body }, context) => {
  const { name = null, description = null, files } = body
  const values = {
    ...params,
    name,
    description,
    revision: newUuid(),
    filenames: JSON.stringify(files?.map(({ filename }) => filename) ?? []),
    sizeBytes: files ? bytesOf(files) : null,
  }
  const [facts, [updated], , updatedFiles] = await context.run(
    { check: explainUpdate },
    [updateSkillStatement, files ? [deleteOtherFiles, ...puttingFiles(files)] : [], selectChangedFiles],
    values,
  )
  if (!updated) {
    if (facts.revision === null) throw noSkill()
    throw facts.exceededQuota ? quotaExceeded(facts.exceededQuota, context.limits) : nameTaken()
  }
  return { body: { ...updated, files: updatedFiles } }
})

export const deleteSkill = endpoint(deleteSkillContract, async ({ params }, context) => {
  const [, , [deleted]] = await context.run(
    { check: explainSkill },
    [deleteFiles, deleteSkillStatement],
    params,
  )
  if (!deleted) throw noSkill()
  return { body: { deleted: true as const, id: deleted.id } }
})
