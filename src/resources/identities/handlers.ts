import { ROLE_SCOPES } from '../../access/admission.ts'
import { one } from '../../access/request-context.ts'
import { rowAfter } from '../../access/revision.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toPage, toPaging } from '../../http/paging.ts'
import {
  deleteIdentityContract,
  listIdentitiesContract,
  retrieveIdentityContract,
  updateIdentityContract,
} from './contract.ts'
import {
  deletable,
  deleteIdentity as deleteOne,
  endOfDeleted,
  endOfUpdated,
  listable,
  readable,
  selectIdentities,
  selectIdentitiesOfUser,
  selectIdentity,
  updatable,
  updateIdentity as updateOne,
} from './statements.ts'

interface Row {
  readonly projectIds: string | null
  readonly ruleIds: string | null
}

/** Lists are stored as JSON. */
function parseLists<R extends Row>(row: R) {
  const { projectIds, ruleIds } = row
  return {
    ...row,
    projectIds: projectIds === null ? null : (JSON.parse(projectIds) as string[]),
    ruleIds: ruleIds === null ? null : (JSON.parse(ruleIds) as string[]),
  }
}

export const listIdentities = endpoint(listIdentitiesContract, async (c, context) => {
  const { userId, ...query } = c.req.valid('query')
  const values = toPaging(query)
  const { found } =
    userId === undefined
      ? await context.run(listable, { found: selectIdentities }, values)
      : await context.run(listable, { found: selectIdentitiesOfUser }, { ...values, userId })
  return { body: toPage(found.map(parseLists), query, ({ id }) => id) }
})

export const retrieveIdentity = endpoint(retrieveIdentityContract, async (c, context) => {
  const { found } = await context.run(readable, { found: one(selectIdentity) }, c.req.valid('param'))
  return { body: parseLists(found) }
})

export const updateIdentity = endpoint(updateIdentityContract, async (c, context) => {
  const { role, projectIds, blocked } = c.req.valid('json')
  const { recordEndedKeys, endKeys } = endOfUpdated
  const { check, updated } = await context.run(
    updatable,
    { recordEndedKeys, updated: updateOne, endKeys },
    {
      ...c.req.valid('param'),
      role: role ?? null,
      roleIsGiven: Number(role !== undefined),
      projectIds: projectIds ? JSON.stringify(projectIds) : null,
      blocked: blocked === undefined ? null : Number(blocked),
      isGiving: Number(typeof role === 'string' || blocked === false),
      roleScopes: ROLE_SCOPES,
    },
  )
  return { body: parseLists(rowAfter(updated, check)) }
})

export const deleteIdentity = endpoint(deleteIdentityContract, async (c, context) => {
  const { recordEndedKeys, endKeys } = endOfDeleted
  const { deleted } = await context.run(
    deletable,
    { recordEndedKeys, deleted: one(deleteOne), endKeys },
    { ...c.req.valid('param'), roleScopes: ROLE_SCOPES },
  )
  return { body: { deleted: true, id: deleted.id } }
})
