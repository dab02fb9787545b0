/** The quotas of the caller's organization, as a precondition of operations that add rows. */
import { eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { type NamedParameters, number, type Values } from '../db/parameters.ts'
import { apiKeys, organizationUsage } from '../db/schema.ts'
import type { StoredQuota } from '../db/usage.ts'
import type { Limits, Quota, Quotas } from '../environment.ts'
import { type Failure, filled } from '../errors.ts'
import { quotaExceeded } from './failures.ts'
import { preconditionUnless } from './preconditions.ts'

/** The parameter that has the value of a quota. */
export const parameterOf = (quota: string) => `quota.${quota}`

/**
 * The first quota that a change would exceed; NULL if none. A change that adds nothing to a quota never exceeds it,
 * even if the organization is over the quota.
 * @param added what the change adds to each quota; it may be negative.
 */
export function exceededQuota(
  added: Partial<Readonly<Record<StoredQuota, SQL>>>,
  organizationId: SQLWrapper = apiKeys.organizationId,
): SQL<StoredQuota | null> {
  const cases = (Object.keys(added) as StoredQuota[]).map((quota) => {
    const used = organizationUsage[quota]
    const most = sql`max(${used}, ${number(parameterOf(quota))})`
    return sql`when ${used} + (${added[quota]}) > ${most} then ${sql.raw(`'${quota}'`)}`
  })
  return sql<StoredQuota | null>`(select case ${sql.join(cases, sql` `)} end from ${organizationUsage}
    where ${eq(organizationUsage.organizationId, organizationId)})`
}

/**
 * The change fits into the quotas of the organization.
 * @param added what it adds to each quota; it may be negative.
 * @param takes the parameters of what it adds.
 */
export function withinQuotas<Own extends NamedParameters = Record<never, never>>(
  added: Partial<Readonly<Record<StoredQuota, SQL>>>,
  takes?: Own,
) {
  return preconditionUnless(exceededQuota(added), ({ limits }, quota) => quotaExceededBy(quota, limits), takes)
}

/** The values of statements with `exceededQuota`, bound for every operation. */
export function quotaValues(quotas: Quotas): Values {
  return Object.fromEntries(Object.entries(quotas).map(([quota, most]) => [parameterOf(quota), most]))
}

const NOUNS: Readonly<Record<Quota, string>> = {
  sessions: 'sessions',
  files: 'session files',
  bytes: 'bytes of session files',
  projects: 'projects',
  agents: 'agents',
  users: 'users',
  pullRequests: 'pull requests',
  schedules: 'schedules',
  apiKeys: 'API keys',
  skills: 'skills',
  skillBytes: 'bytes of skill files',
  variables: 'environment variables',
  variableBytes: 'bytes of encrypted environment variables',
}

/** The failure, with the quota that the change would exceed. */
export function quotaExceededBy(quota: Quota, { quotas, undoDays }: Limits): Failure {
  const { code, message } = filled(quotaExceeded, { quota: NOUNS[quota], limit: quotas[quota] })
  const advice =
    ' What was deleted counts as long as it can be restored; DELETE /v1/deletions/{id} removes it for good.'
  return { code, message: undoDays > 0 && quota !== 'apiKeys' ? message + advice : message }
}
