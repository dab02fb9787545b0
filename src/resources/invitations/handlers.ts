import { v7 as newUuid } from 'uuid'
import { ROLE_SCOPES } from '../../access/admission.ts'
import { one } from '../../access/request-context.ts'
import { DAY_MS } from '../../durations.ts'
import { endpoint } from '../../http/endpoint.ts'
import { createInvitationContract, deleteInvitationContract, listInvitationsContract } from './contract.ts'
import {
  creatable,
  deletable,
  deleteInvitation as deleteOne,
  insertInvitation,
  listable,
  removeEnded,
  selectInvitations,
} from './statements.ts'

const DEFAULT_DAYS = 7

/** Lists are stored as JSON. */
function parseList<Row extends { readonly projectIds: string | null }>(row: Row) {
  const { projectIds } = row
  return { ...row, projectIds: projectIds === null ? null : (JSON.parse(projectIds) as string[]) }
}

export const createInvitation = endpoint(createInvitationContract, async (c, context) => {
  const { projectIds, userId, expiresInDays = DEFAULT_DAYS, ...settings } = c.req.valid('json')
  const { created } = await context.run(
    creatable,
    { removeEnded, created: one(insertInvitation) },
    {
      ...settings,
      id: newUuid(),
      projectIds: projectIds ? JSON.stringify(projectIds) : null,
      userId: userId ?? null,
      expiresAt: new Date(Date.parse(context.now) + expiresInDays * DAY_MS).toISOString(),
      roleScopes: ROLE_SCOPES,
    },
  )
  return { body: parseList(created), location: `${context.path}/${created.id}` }
})

export const listInvitations = endpoint(listInvitationsContract, async (_, context) => {
  const { found } = await context.run(listable, { found: selectInvitations }, {})
  return { body: { items: found.map(parseList), nextCursor: null } }
})

export const deleteInvitation = endpoint(deleteInvitationContract, async (c, context) => {
  const { deleted } = await context.run(deletable, { deleted: one(deleteOne) }, c.req.valid('param'))
  return { body: { deleted: true, id: deleted.id } }
})
