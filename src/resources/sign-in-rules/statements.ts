/** The sign-in rules of an organization, in SQL. A change of a rule ends the keys of the people whom it admitted. */

import { and, asc, count, eq, isNotNull, sql } from 'drizzle-orm'
import { admissionIn, callerHasScopesOf, claims, endOfKeys, issuer, ofRule } from '../../access/admission.ts'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { callerIsUnrotated } from '../../access/manage-keys.ts'
import { precondition, requiring } from '../../access/preconditions.ts'
import { keyIsUnrestricted, projectsExist } from '../../access/project.ts'
import {
  changed as changedIn,
  changes,
  differs,
  matchesRevision,
  newRevision,
  unchangedIf,
} from '../../access/revision.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, insertRow } from '../../db/rows.ts'
import { apiKeys, signInRules } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { filled } from '../../errors.ts'
import { signInRule } from './contract.ts'
import { ruleLimit, ruleNotFound } from './failures.ts'

/** The most rules of an organization. */
const MAX_RULES = 100

const id = text('id')
const signInRuleId = text('signInRuleId')
const claim = text('claim')
const value = text('value')
/** The columns that only a new rule sets. */
const created = { id, issuer, claim, value }
const role = text('role')
const projectIds = textOrNull('projectIds')

const isUnrestricted = keyIsUnrestricted
const isOwn = eq(signInRules.organizationId, apiKeys.organizationId)
/** A rule as the API returns it, except that the list is JSON. */
const fields = { ...columnsIn(signInRules, signInRule), revision: signInRules.revision }

const toRead = { isUnrestricted }
const toChange = { isUnrestricted, callerIsUnrotated: callerIsUnrotated() }

export const creatable = requiring([], {
  ...toChange,
  callerHasScopes: callerHasScopesOf(role, { role }),
  projectsExist: projectsExist(projectIds, { projectIds }),
  isWithinLimit: precondition(
    sql`${query.select({ count: count() }).from(signInRules).where(isOwn)} < ${sql.raw(String(MAX_RULES))}`,
    filled(ruleLimit, { limit: MAX_RULES }),
  ),
})

const recordedCreation = recordedAfter(
  { id, claim, value },
  {
    type: 'sign-in-rule.created',
    id,
    name: sql`${claim} || '=' || ${value}`,
  },
)

export const insertRule = guardedChange(creatable, created, recordedCreation, () =>
  query
    .insert(signInRules)
    .select(
      creatable.rows(
        insertRow(signInRules, {
          organizationId: apiKeys.organizationId,
          ...created,
          role,
          projectIds,
          createdByKeyId: apiKeys.id,
          createdAt: now,
          updatedAt: now,
          revision: newRevision,
        }),
      ),
    )
    .returning(fields),
)

export const listable = requiring([], toRead)

export const selectRules = guarded(listable, {}, () =>
  listable.rows(columnsIn(signInRules, signInRule)).innerJoin(signInRules, isOwn).orderBy(asc(signInRules.id)),
)

export const selectPreview = guarded(listable, { issuer, claims }, () => {
  const { table, role, projectIds, ruleIds } = admissionIn(listable.organizationId)
  return listable
    .rows({ role: role.as('role'), projectIds: projectIds.as('projectIds'), ruleIds: ruleIds.as('ruleIds') })
    .innerJoin(table, sql`true`)
})

const named = { table: signInRules, on: and(isOwn, eq(signInRules.id, signInRuleId)), takes: { signInRuleId } }
const isNamed = eq(signInRules.id, signInRuleId)
const ruleExists = precondition(isNotNull(signInRules.id), ruleNotFound)
const ofNamed = { id: signInRules.id, name: sql`${signInRules.claim} || '=' || ${signInRules.value}` }

export const readable = requiring([named], { ruleExists, ...toRead })

export const selectRule = guarded(readable, {}, () => readable.rows(fields))

const changed = (column: 'issuer' | 'claim' | 'value' | 'role' | 'projectIds') => changedIn(column, signInRules[column])

const settings = {
  issuer: changed('issuer'),
  claim: changed('claim'),
  value: changed('value'),
  role: changed('role'),
  projectIds: changed('projectIds'),
}
/** The rule gets the rights of the caller's key, so the same settings by another key are a change. */
const isChanged = differs(signInRules, { ...settings, createdByKeyId: apiKeys.id })

export const updatable = requiring(
  [named],
  {
    ruleExists,
    ...toChange,
    callerHasScopes: callerHasScopesOf(sql`(${changed('role')})`, { changes }),
    projectsExist: projectsExist(sql`${changes} ->> 'projectIds'`, { changes }),
    matchesRevision: matchesRevision(signInRules.revision),
  },
  unchangedIf(isChanged, fields),
)

const recordedUpdate = recordedBefore(
  updatable,
  {},
  {
    type: 'sign-in-rule.updated',
    id: signInRules.id,
    name: sql`${changed('claim')} || '=' || ${changed('value')}`,
  },
  isChanged,
)

export const updateRule = guardedChange(updatable, {}, recordedUpdate, () =>
  query
    .update(signInRules)
    .set({
      ...settings,
      createdByKeyId: sql`${updatable.rows({ id: apiKeys.id })}`,
      updatedAt: sql`${now}`,
      revision: newRevision,
    })
    .where(and(eq(signInRules.organizationId, updatable.organizationIdIf(isChanged)), isNamed))
    .returning(fields),
)

export const endOfUpdated = endOfKeys(updatable, ofRule(signInRuleId), isChanged)

export const deletable = requiring([named], {
  ruleExists,
  ...toChange,
  matchesRevision: matchesRevision(signInRules.revision),
})

const recordedDeletion = recordedBefore(deletable, {}, { ...ofNamed, type: 'sign-in-rule.deleted' })

export const deleteRule = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(signInRules)
    .where(and(eq(signInRules.organizationId, deletable.organizationId), isNamed))
    .returning({ id: signInRules.id }),
)

export const endOfDeleted = endOfKeys(deletable, ofRule(signInRuleId))
