/** What a restore changes in a backup: API keys, schedules and objects. */
import type { DatabaseSync } from 'node:sqlite'
import { RECOUNT_USAGE } from '../../src/db/usage.ts'
import { DAY_MS } from '../../src/durations.ts'
import type { Query, Row } from '../cloudflare.ts'

/** Which API keys are valid after a restore: those of the backup, those of the backup that are valid today, or none. */
export type KeyPolicy = 'as in the backup' | 'as today' | 'none'

const KEYS_PER_STATEMENT = 2000

/** Selects the keys of the old database that are not revoked. Of a key that moved, the other database knows it. */
export const SELECT_LIVE_KEYS =
  'SELECT "hash", "expiresAt", "rotatedAt" FROM "apiKeys" WHERE "revokedAt" IS NULL AND "movedTo" IS NULL'

/**
 * Counts usage again, and revokes every key unless the policy keeps them. So an interrupted restore leaves no revoked
 * key valid.
 * @returns the hashes of the keys that were valid.
 */
export function prepareBackup(backup: DatabaseSync, policy: KeyPolicy, now: string): Set<string> {
  backup.exec(RECOUNT_USAGE)
  if (policy === 'as in the backup') return new Set()
  const hashes = backup.prepare('SELECT "hash" FROM "apiKeys" WHERE "revokedAt" IS NULL').all()
  backup.prepare('UPDATE "apiKeys" SET "revokedAt" = ? WHERE "revokedAt" IS NULL').run(now)
  return new Set(hashes.map(({ hash }) => String(hash)))
}

/** Reactivates the keys that are valid both in the backup and today, with today's expiry. */
export function reactivateKeys(hashes: ReadonlySet<string>, liveKeys: readonly Row[], policy: KeyPolicy): Query[] {
  if (policy !== 'as today') return []
  const keys = liveKeys
    .filter(({ hash }) => hashes.has(String(hash)))
    .map(({ hash, expiresAt = null, rotatedAt = null }) => ({ hash, expiresAt, rotatedAt }))
  const pages = Array.from({ length: Math.ceil(keys.length / KEYS_PER_STATEMENT) }, (_, page) =>
    keys.slice(page * KEYS_PER_STATEMENT, (page + 1) * KEYS_PER_STATEMENT),
  )
  return pages.map((page) => ({
    sql: `UPDATE "apiKeys" SET "revokedAt" = NULL, "expiresAt" = "live".value ->> 'expiresAt',
      "rotatedAt" = "live".value ->> 'rotatedAt'
      FROM json_each(?) AS "live" WHERE "apiKeys"."hash" = "live".value ->> 'hash'`,
    parameters: [JSON.stringify(page)],
  }))
}

const WEEK_MS = 7 * DAY_MS
/** Longer than any upload takes. */
const UPLOADS_END_MS = 2 * 3_600_000

/**
 * The last statements of a restore. Schedules that came due since the backup do not fire; the tick computes
 * their next run. The tick searches for orphaned objects once all uploads from before the restore have ended.
 * Objects that were already orphaned are kept for another week, because rows of the old database may refer to
 * them.
 */
export function finishingQueries(): Query[] {
  const now = new Date().toISOString()
  const later = (ms: number) => new Date(Date.parse(now) + ms).toISOString()
  return [
    { sql: 'UPDATE "schedules" SET "nextRunAt" = NULL WHERE "nextRunAt" <= ?', parameters: [now] },
    // Its name as in src/db/pass.ts, which loads Drizzle: that takes half a second.
    { sql: `DELETE FROM "passes" WHERE "name" = 'next runs'` },
    // Alerts are about the ticks of now.
    { sql: 'DELETE FROM "alerts"' },
    { sql: 'DELETE FROM "tickReports"' },
    { sql: 'DELETE FROM "objectSearches"' },
    searchQuery(),
    {
      sql: 'UPDATE "orphanedObjects" SET "deleteAfter" = max("deleteAfter", ?)',
      parameters: [later(WEEK_MS)],
    },
  ]
}

/** Starts a search for orphaned objects. That of database 0 is for all databases. */
export function searchQuery(): Query {
  const startedAt = new Date(Date.now() + UPLOADS_END_MS).toISOString()
  return { sql: 'INSERT OR IGNORE INTO "objectSearches" ("startedAt") VALUES (?)', parameters: [startedAt] }
}

/** How many rows a table has, and how many bytes of values. */
export function measuringQuery(table: string, columns: readonly string[], schema = 'main'): Query {
  const bytes = columns.map((column) => `coalesce(octet_length("${column}"), 0)`).join(' + ')
  return {
    sql: `SELECT count(*) AS "rows", coalesce(sum(${bytes}), 0) AS "bytes" FROM "${schema}"."${table}"`,
  }
}

/** @throws if the copy of a table is not what it was copied from. */
export function compareTables(table: string, source: Row | undefined, copy: Row | undefined): void {
  if (source?.rows !== copy?.rows || source?.bytes !== copy?.bytes) {
    const measure = (row: Row | undefined) => `${row?.rows} rows of ${row?.bytes} bytes`
    throw new Error(`The copy of the table ${table} has ${measure(copy)} instead of ${measure(source)}.`)
  }
}

/** Counts the rows of each table. */
export function countingQuery(tables: readonly string[]): Query {
  const counts = tables.map((table) => `(SELECT count(*) FROM "${table}") AS "${table}"`)
  return { sql: `SELECT ${counts.join(', ')}` }
}
