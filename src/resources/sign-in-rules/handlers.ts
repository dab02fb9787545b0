import { v7 as newUuid } from 'uuid'
import { ROLE_SCOPES, toClaims } from '../../access/admission.ts'
import { one } from '../../access/request-context.ts'
import { rowAfter } from '../../access/revision.ts'
import { matchesEntityTag, parseConditions, withEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import {
  createSignInRuleContract,
  deleteSignInRuleContract,
  listSignInRulesContract,
  previewSignInContract,
  retrieveSignInRuleContract,
  updateSignInRuleContract,
} from './contract.ts'
import {
  creatable,
  deletable,
  deleteRule,
  endOfDeleted,
  endOfUpdated,
  insertRule,
  listable,
  readable,
  selectPreview,
  selectRule,
  selectRules,
  updatable,
  updateRule,
} from './statements.ts'

const toJson = (projectIds: readonly string[] | null | undefined) => (projectIds ? JSON.stringify(projectIds) : null)

/** Lists are stored as JSON. */
function parseList<Row extends { readonly projectIds: string | null }>(row: Row) {
  const { projectIds } = row
  return { ...row, projectIds: projectIds === null ? null : (JSON.parse(projectIds) as string[]) }
}

export const createSignInRule = endpoint(createSignInRuleContract, async (c, context) => {
  const { projectIds, ...settings } = c.req.valid('json')
  const { created } = await context.run(
    creatable,
    { created: one(insertRule) },
    { ...settings, id: newUuid(), projectIds: toJson(projectIds), roleScopes: ROLE_SCOPES },
  )
  return { ...withEntityTag(parseList(created)), location: `${context.path}/${created.id}` }
})

export const listSignInRules = endpoint(listSignInRulesContract, async (_, context) => {
  const { rules } = await context.run(listable, { rules: selectRules }, {})
  return { body: { items: rules.map(parseList), nextCursor: null } }
})

export const previewSignIn = endpoint(previewSignInContract, async (c, context) => {
  const { issuer, claims } = c.req.valid('json')
  const sent = claims.map(({ claim, value }) => [claim, value] as const)
  const { preview } = await context.run(
    listable,
    { preview: one(selectPreview) },
    { issuer, claims: toClaims(issuer, sent) },
  )
  const { role, projectIds, ruleIds } = preview
  return {
    body: {
      admitted: role !== null,
      role,
      projectIds: role === null || projectIds === null ? null : (JSON.parse(projectIds) as string[]),
      ruleIds: JSON.parse(ruleIds) as string[],
    },
  }
})

export const retrieveSignInRule = endpoint(retrieveSignInRuleContract, async (c, context) => {
  const { rule } = await context.run(readable, { rule: one(selectRule) }, c.req.valid('param'))
  const { body, headers } = withEntityTag(parseList(rule))
  if (matchesEntityTag(c.req.valid('header')['If-None-Match'], headers.ETag)) return { notModified: true, headers }
  return { body, headers }
})

export const updateSignInRule = endpoint(updateSignInRuleContract, async (c, context) => {
  const { projectIds, ...settings } = c.req.valid('json')
  const { recordEndedKeys, endKeys } = endOfUpdated
  const { check, updated } = await context.run(
    updatable,
    { recordEndedKeys, updated: updateRule, endKeys },
    {
      ...c.req.valid('param'),
      ...parseConditions(c.req.valid('header')),
      changes: JSON.stringify({ ...settings, ...(projectIds !== undefined && { projectIds: toJson(projectIds) }) }),
      roleScopes: ROLE_SCOPES,
    },
  )
  return withEntityTag(parseList(rowAfter(updated, check)))
})

export const deleteSignInRule = endpoint(deleteSignInRuleContract, async (c, context) => {
  const { recordEndedKeys, endKeys } = endOfDeleted
  const { deleted } = await context.run(
    deletable,
    { recordEndedKeys, deleted: one(deleteRule), endKeys },
    { ...c.req.valid('param'), ...parseConditions(c.req.valid('header')) },
  )
  return { body: { deleted: true, id: deleted.id } }
})
