import { v7 as newUuid } from 'uuid'
import { authorized } from '../../access/preconditions.ts'
import { conditionsOf, matchesEntityTag, withEntityTag } from '../../http/conditional.ts'
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
  creatable,
  deletable,
  deleteFiles,
  deleteOtherFiles,
  deleteSkill as deleteSkillStatement,
  FILES,
  insertSkill,
  putFiles,
  readable,
  selectCreated,
  selectCreatedFiles,
  selectSkill,
  selectSkillByName,
  selectSkillFiles,
  selectSkills,
  selectUpdatedFiles,
  updatable,
  updateSkill as updateSkillStatement,
} from './statements.ts'

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
  const steps = [insertSkill, puttingFiles(files), selectCreated, selectCreatedFiles] as const
  const id = newUuid()
  const [facts, , , [created], createdFiles] = await context.run(creatable, steps, {
    ...skill,
    ...idempotencyOf(headers['Idempotency-Key'], body),
    id,
    skillId: id,
    revision: newUuid(),
    sizeBytes: bytesOf(files),
  })
  if (!created) throw creatable.refusal(facts, context)
  return { ...withEntityTag({ ...created, files: createdFiles }), location: `${path}/${created.id}` }
})

export const updateSkill = endpoint(updateSkillContract, async ({ params, headers, body }, context) => {
  const { name = null, description = null, files } = body
  const puttingAll = files ? [deleteOtherFiles, ...puttingFiles(files)] : []
  const steps = [updateSkillStatement, puttingAll, selectUpdatedFiles] as const
  const [facts, [updated], , updatedFiles] = await context.run(updatable, steps, {
    ...params,
    ...conditionsOf(headers),
    name,
    description,
    revision: newUuid(),
    filenames: JSON.stringify(files?.map(({ filename }) => filename) ?? []),
    sizeBytes: files ? bytesOf(files) : null,
  })
  if (!updated) throw updatable.refusal(facts, context)
  return withEntityTag({ ...updated, files: updatedFiles })
})

export const deleteSkill = endpoint(deleteSkillContract, async ({ params, headers }, context) => {
  const values = { ...params, ...conditionsOf(headers) }
  const deleted = await context.runForRow(deletable, [deleteFiles, deleteSkillStatement], values)
  return { body: { deleted: true as const, id: deleted.id } }
})
