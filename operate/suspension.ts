/**
 * Suspends an organization: from the next request on its API keys are refused and its feeds are not found. Its schedules
 * do not fire and nothing is delivered. Nothing is deleted.
 */
import { ON_RESUMPTION } from '../src/brakes.ts'
import type { Value } from '../src/db/parameters.ts'
import type { Query } from './cloudflare.ts'
import type { Batches } from './organization-rows.ts'

const IS_SUSPENDED = `EXISTS (SELECT 1 FROM "halts" WHERE "organizationId" = ?1 AND "kind" = 'suspended')`

/**
 * Suspends the organization, or replaces the reason.
 * @param database that of the organization.
 * @throws if the organization moves, or a move of it was interrupted.
 */
export async function suspend(database: Batches, organizationId: string, reason: string): Promise<void> {
  const query = (sql: string, ...more: readonly Value[]): Query => ({ sql, parameters: [organizationId, ...more] })
  const [, , [halt] = []] = await database.batch([
    query(
      `INSERT INTO "halts" ("organizationId", "kind", "reason") VALUES (?1, 'suspended', ?2)
        ON CONFLICT DO UPDATE SET "reason" = ?2 WHERE "kind" = 'suspended'`,
      reason,
    ),
    query(
      `UPDATE "apiKeys" SET "suspendedAt" = ?2
        WHERE "organizationId" = ?1 AND "suspendedAt" IS NULL AND ${IS_SUSPENDED}`,
      new Date().toISOString(),
    ),
    query('SELECT "kind" FROM "halts" WHERE "organizationId" = ?1'),
  ])
  if (halt?.kind === 'suspended') return
  throw new Error(
    'A move of the organization is in progress or was interrupted. Continue it or undo it first: npm run operate -- organization move',
  )
}

/** Lets the organization go on; the tick checks its runs that are overdue. @returns false if it was not suspended. */
export async function resume(database: Batches, organizationId: string): Promise<boolean> {
  const parameters = [organizationId]
  const [, , halts = []] = await database.batch([
    { sql: `UPDATE "apiKeys" SET "suspendedAt" = NULL WHERE "organizationId" = ?1 AND ${IS_SUSPENDED}`, parameters },
    {
      // Its own time follows the one that it was put off to.
      sql: `UPDATE "runs" INDEXED BY "runsToCheck" SET "checkAt" = substr("checkAt", -24)
        WHERE "checkAt" >= ?2 AND "organizationId" = ?1 AND ${IS_SUSPENDED}`,
      parameters: [organizationId, ON_RESUMPTION],
    },
    { sql: `DELETE FROM "halts" WHERE "organizationId" = ?1 AND "kind" = 'suspended' RETURNING 1`, parameters },
  ])
  return halts.length > 0
}

/** The operator's reason; undefined if the organization is not suspended. */
export async function reasonOfSuspension(database: Batches, organizationId: string): Promise<string | undefined> {
  const [[halt] = []] = await database.batch([
    {
      sql: `SELECT "reason" FROM "halts" WHERE "organizationId" = ? AND "kind" = 'suspended'`,
      parameters: [organizationId],
    },
  ])
  return halt && String(halt.reason)
}
