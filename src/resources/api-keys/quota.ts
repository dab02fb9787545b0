/** The quota of API keys, as a precondition of the operation that adds one. */
import { and, eq, gt, isNull, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { uncheckedPrecondition } from '../../access/preconditions.ts'
import { parameterOf, quotaExceededBy } from '../../access/quotas.ts'
import { now, number } from '../../db/parameters.ts'
import { apiKeys } from '../../db/schema.ts'
import { query } from '../../db/statement.ts'

const counted = alias(apiKeys, 'counted')
const apiKeyQuota = number(parameterOf('apiKeys'))
/** The keys of the index `apiKeysCounted`. */
const countedKeys = (isUnexpired: SQL) =>
  query
    .select({ one: sql`1` })
    .from(counted)
    .where(
      and(
        eq(counted.organizationId, apiKeys.organizationId),
        sql`${counted.kind} = 'key'`,
        isNull(counted.revokedAt),
        isNull(counted.rotatedAt),
        isUnexpired,
      ),
    )

/**
 * One more API key fits. The keys are counted, because no trigger sees a key expire, and only by the statement that
 * adds one, because that reads up to as many rows as the quota.
 */
export const withinApiKeyQuota = uncheckedPrecondition(
  sql`(select count(*) from (${countedKeys(isNull(counted.expiresAt))
    .unionAll(countedKeys(gt(counted.expiresAt, now)))
    .limit(apiKeyQuota)})) < ${apiKeyQuota}`,
  ({ limits }) => quotaExceededBy('apiKeys', limits),
)
