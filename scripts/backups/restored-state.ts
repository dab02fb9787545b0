/** What a restore changes about the past that it brings back: its keys, its schedules, its objects. */
import type { DatabaseSync } from 'node:sqlite'
import { RECOUNT_USAGE } from '../../src/db/usage.ts'
import type { Query, Row } from '../cloudflare.ts'

/** Which keys of the backup are valid afterwards: as the backup has them, those that are still valid today, or none. */
export type KeyPolicy = 'as in the backup' | 'as today' | 'none'

const KEYS_A_STATEMENT = 2000

/** The keys that are not revoked, of a database that is to be replaced. Its schema may be an older one. */
export const SELECT_LIVE_KEYS = 'SELECT * FROM "apiKeys" WHERE "revokedAt" IS NULL'

/**
 * Counts usage again, which older backups have wrong, and revokes every key, unless they stay as they are: an interrupted
 * restore therefore leaves no revoked key valid.
 * @returns the hashes of the keys that were valid.
 */
export function prepareBackup(backup: DatabaseSync, policy: KeyPolicy, now: string): Set<string> {
  backup.exec(RECOUNT_USAGE)
  if (policy === 'as in the backup') return new Set()
  const hashes = backup.prepare('SELECT "hash" FROM "apiKeys" WHERE "revokedAt" IS NULL').all()
  backup.prepare('UPDATE "apiKeys" SET "revokedAt" = ? WHERE "revokedAt" IS NULL').run(now)
  return new Set(hashes.map(({ hash }) => String(hash)))
}

/** Makes the keys valid again that are valid both in the backup and today, with the expiry that they have today. */
export function reactivateKeys(
  hashes: ReadonlySet<string>,
  liveKeys: readonly Row[],
  policy: KeyPolicy,
): Query[] {
  if (policy !== 'as today') return []
  const keys = liveKeys
    .filter(({ hash }) => hashes.has(String(hash)))
    .map(({ hash, expiresAt = null, rotatedAt = null }) => ({ hash, expiresAt, rotatedAt }))
  const pages = Array.from({ length: Math.ceil(keys.length / KEYS_A_STATEMENT) }, (_, page) =>
    keys.slice(page * KEYS_A_STATEMENT, (page + 1) * KEYS_A_STATEMENT),
  )
  return pages.map((page) => ({
    sql: `UPDATE "apiKeys" SET "revokedAt" = NULL, "expiresAt" = "live".value ->> 'expiresAt',
      "rotatedAt" = "live".value ->> 'rotatedAt'
      FROM json_each(?) AS "live" WHERE "apiKeys"."hash" = "live".value ->> 'hash'`,
    parameters: [JSON.stringify(page)],
  }))
}

const WEEK_MS = 7 * 86_400_000
/** Longer than an upload may take. */
const UPLOADS_END_MS = 2 * 3_600_000

/**
 * The last statements: what came due since the backup does not fire, and the tick computes when it goes on, with the
 * time zones of the Worker; the tick looks for objects that no row refers to, once all uploads from before have ended;
 * objects that waited for deletion wait a week more, because what is replaced may refer to them.
 */
export function finishingQueries(): Query[] {
  const now = new Date().toISOString()
  const later = (ms: number) => new Date(Date.parse(now) + ms).toISOString()
  return [
    { sql: 'UPDATE "schedules" SET "nextRunAt" = NULL WHERE "nextRunAt" <= ?', parameters: [now] },
    { sql: 'DELETE FROM "nextRunRefresh"' },
    { sql: 'DELETE FROM "objectSearches"' },
    { sql: 'INSERT INTO "objectSearches" ("startedAt") VALUES (?)', parameters: [later(UPLOADS_END_MS)] },
    {
      sql: 'UPDATE "orphanedObjects" SET "deleteAfter" = max("deleteAfter", ?)',
      parameters: [later(WEEK_MS)],
    },
  ]
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
