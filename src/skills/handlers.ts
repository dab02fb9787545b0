import { matchesEntityTag } from '../http/conditional.ts'
import { endpoint } from '../http/endpoint.ts'
import { Refusal } from '../http/errors.ts'
import { retrieveSkillContract } from './contract.ts'
import { explainSkill, selectSkill, selectSkillFiles } from './statements.ts'

export const retrieveSkill = endpoint(retrieveSkillContract, async ({ params, headers }, call) => {
  const [explanation, [skill], files] = await call.run(explainSkill, [selectSkill, selectSkillFiles], params)
  if (!skill) throw new Refusal(404, 'skillId: there is no skill with this id')
  const ETag = `"${explanation.revision}"`
  if (matchesEntityTag(headers['If-None-Match'], ETag)) return { notModified: true, headers: { ETag } }
  return { body: { ...skill, files }, headers: { ETag } }
})
