/** What the sign-in rules of an organization give a person, in SQL (docs/people.md). */
import { and, eq, isNotNull, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { type NamedParameters, now, type Parameter, text } from '../db/parameters.ts'
import { apiKeys, identities, signInRules } from '../db/schema.ts'
import { guarded, query } from '../db/statement.ts'
import { recordedForEach } from './events.ts'
import { roleExceedsOwnKey } from './failures.ts'
import { mayAct } from './guard.ts'
import { hasScopes, typeOfEnd } from './manage-keys.ts'
import { type Preconditions, precondition } from './preconditions.ts'
import { ROLE_NAMES, ROLES } from './roles.ts'

export const issuer = text('issuer')
/** JSON array of `[claim, value]`. */
export const claims = text('claims')
/** JSON object: the scopes of each role. */
export const roleScopes = text('roleScopes')

export const ROLE_SCOPES = JSON.stringify(ROLES)

/** The scopes of a role, as JSON. */
export const scopesOf = (role: SQLWrapper) => sql`${roleScopes} -> ${role}`

/** A claim, and one of its values. */
type Claim = readonly [claim: string, value: string]

/** The value of `claims`. Every person has the claim `iss`, so a rule can admit everyone of an issuer. */
export function toClaims(issuer: string, claims: readonly Claim[]): string {
  return JSON.stringify([...claims, ['iss', issuer]])
}

/** SQLite's `lower` changes ASCII only, so that no other letter becomes one of an address. */
const comparedValue = (claim: SQLWrapper, value: SQLWrapper) =>
  sql`case ${claim} when 'email' then lower(${value}) else ${value} end`
const sentClaim = sql`"sent".value ->> 0`
const sentValue = sql`"sent".value ->> 1`

const rank = sql`case ${signInRules.role} ${sql.join(
  ROLE_NAMES.map((name, index) => sql.raw(`when '${name}' then ${index}`)),
  sql` `,
)} end`

/** Every key of the person has a copy of their projects. */
const MAX_PROJECT_BYTES = 65_536

/**
 * One row for the person of `issuer` and `claims`: of the rules that admit the person, those with the highest role
 * decide. Those that name too many projects together admit nobody.
 */
export function admissionIn(organizationId: SQLWrapper) {
  const table = sql`(with "matching" as (
      select ${signInRules.id} as "id", ${signInRules.role} as "role", ${signInRules.projectIds} as "projectIds", ${rank} as "rank"
      from ${signInRules} where ${eq(signInRules.organizationId, organizationId)} and ${eq(signInRules.issuer, issuer)}
        and (${signInRules.claim}, ${comparedValue(signInRules.claim, signInRules.value)}) in
          (select ${sentClaim}, ${comparedValue(sentClaim, sentValue)} from json_each(${claims}) as "sent")
    ),
    "deciding" as (select * from "matching" where "rank" = (select max("rank") from "matching"))
    select case when "fits" then "role" end as "role",
      case when "isUnlimited" is not 1 then (
        select json_group_array("projectId") from (
          select distinct "listed".value as "projectId"
          from "deciding" cross join json_each("deciding"."projectIds") as "listed" where "fits" order by 1)
      ) end as "projectIds",
      (select json_group_array("id") from (select "id" from "deciding" where "fits" order by "id")) as "ruleIds"
    from (select max("role") as "role", max("projectIds" is null) as "isUnlimited", max("projectIds" is null) = 1
      or sum(octet_length("projectIds")) <= ${sql.raw(String(MAX_PROJECT_BYTES))} as "fits" from "deciding")
    ) as "admission"`
  return {
    table,
    /** NULL if no rule admits the person. */
    role: sql<(typeof ROLE_NAMES)[number] | null>`"admission"."role"`,
    /** JSON; NULL: all projects. */
    projectIds: sql<string | null>`"admission"."projectIds"`,
    /** JSON, in order of creation; empty if no rule admits the person. */
    ruleIds: sql<string>`"admission"."ruleIds"`,
  }
}

/** The caller's key has the scopes of the role that it gives away. @param isGiving false for other changes. */
export const callerHasScopesOf = <Own extends NamedParameters>(
  role: SQLWrapper,
  takes: Own,
  isGiving: SQLWrapper = sql`true`,
) => precondition(sql`(not ${isGiving} or ${hasScopes(scopesOf(role))})`, roleExceedsOwnKey, { ...takes, roleScopes })

const ended = alias(apiKeys, 'ended')
const person = alias(identities, 'person')

/** Whose keys end. */
interface People<Own extends NamedParameters> {
  /** Over a key in `ended`. */
  readonly areTheirs: SQL
  readonly takes: Own
}

export const ofIdentity = <P extends Parameter>(identityId: P): People<{ readonly identityId: P }> => ({
  areTheirs: eq(ended.identityId, identityId),
  takes: { identityId },
})

/** Everyone whom the rule admitted at their last sign-in. */
export const ofRule = <P extends Parameter>(ruleId: P): People<{ readonly ruleId: P }> => ({
  areTheirs: sql`${ended.identityId} in ${query
    .select({ id: person.id })
    .from(person)
    .where(and(eq(person.organizationId, apiKeys.organizationId), hasRule(person.ruleIds, ruleId)))}`,
  takes: { ruleId },
})

/** True if a JSON array of rules has the rule. */
export const hasRule = (ruleIds: SQLWrapper, ruleId: SQLWrapper) => sql`instr(${ruleIds}, '"' || ${ruleId} || '"') > 0`

/**
 * Ends the sessions, apps and keys of people, together with a change of what admits them.
 * @param condition of the change, beside its guard.
 */
export function endOfKeys<P extends Parameter, Own extends NamedParameters>(
  preconditions: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>,
  { areTheirs, takes }: People<Own>,
  condition?: SQL,
) {
  const isEnding = and(
    eq(ended.organizationId, apiKeys.organizationId),
    areTheirs,
    // The condition of the index.
    isNotNull(ended.identityId),
    isNull(ended.revokedAt),
    sql`(${ended.expiresAt} is null or ${ended.expiresAt} > ${now})`,
  )
  return {
    /** Before the change. */
    recordEndedKeys: recordedForEach(
      preconditions,
      {},
      { type: typeOfEnd(ended.kind), id: ended.id, name: ended.name },
      (row, isNew) => preconditions.rows(row, and(condition, isNew)).innerJoin(ended, isEnding),
      'consequence',
    ),
    /** Directly after the change, because the caller's key may be among them. */
    endKeys: guarded({ takes: [] }, takes, () =>
      query
        .update(apiKeys)
        .set({ revokedAt: sql`${now}` })
        .where(
          sql`${apiKeys.hash} in ${query
            .select({ hash: ended.hash })
            .from(apiKeys)
            .innerJoin(ended, isEnding)
            .where(and(mayAct, sql`changes() > 0`))}`,
        ),
    ),
  }
}
