import { endpoint } from '../http/endpoint.ts'
import { outOfReach, Refusal } from '../http/errors.ts'
import { deleteEnvironmentVariableContract } from './contract.ts'
import { deleteVariable, explainVariable } from './statements.ts'

export const deleteEnvironmentVariable = endpoint(
  deleteEnvironmentVariableContract,
  async ({ params }, call) => {
    const [explanation, [deleted]] = await call.run(explainVariable, [deleteVariable], params)
    if (deleted) return { body: { deleted: true as const, key: deleted.key } }
    if (!explanation.projectExists) throw new Refusal(404, 'projectId: there is no project with this id')
    if (!explanation.variableExists) throw new Refusal(404, 'key: the project has no variable with this name')
    if (!explanation.inReach) throw outOfReach()
    throw new Refusal(409, 'The project is archived, and its variables with it: unarchive it first')
  },
)
