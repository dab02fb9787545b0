/** What a restore changes about the past that it brings back: its keys, its schedules, its objects. */
import type { DatabaseSync } from 'node:sqlite'
import { RECOUNT_USAGE } from '../../src/db/usage.ts'
import type { Query, Row } from '../cloudflare.ts'

/** Which keys of the backup act afterwards: as the backup has them, those that still act today, or none. */
export type KeyPolicy = 'as in the backup' | 'as today' | 'none'

const KEYS_A_STATEMENT = 2000

/** The keys that act, of a database that is to be replaced. Its schema may be an older one. */
export const SELECT_LIVE_KEYS = 'SELECT * FROM "apiKeys" WHERE "revokedAt" IS NULL'

/**
 * Revokes every key of the backup, unless they stay as they are. So a restore that is cut off leaves none alive that
 * was revoked since.
 * @returns the hashes of those that acted.
 */
export function revokeAllKeys(backup: DatabaseSync, policy: KeyPolicy, now: string): Set<string> {
  if (policy === 'as in the backup') return new Set()
  const hashes = backup.prepare('SELECT "hash" FROM "apiKeys" WHERE "revokedAt" IS NULL').all()
  backup.prepare('UPDATE "apiKeys" SET "revokedAt" = ? WHERE "revokedAt" IS NULL').run(now)
  return new Set(hashes.map(({ hash }) => String(hash)))
}

/** Lets the keys act again that acted in the backup and act today, until when they act today. */
export function revivals(hashes: ReadonlySet<string>, liveKeys: readonly Row[], policy: KeyPolicy): Query[] {
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

/**
 * The last statements: what came due since the backup does not fire, and the tick computes when it goes on, with the
 * time zones of the Worker; the tick looks for objects that no row refers to; usage is counted again.
 */
export function finishingQueries(now: string): Query[] {
  return [
    { sql: 'UPDATE "schedules" SET "nextRunAt" = NULL WHERE "nextRunAt" <= ?', parameters: [now] },
    { sql: 'DELETE FROM "nextRunRefresh"' },
    { sql: 'DELETE FROM "objectSearches"' },
    { sql: 'INSERT INTO "objectSearches" ("startedAt") VALUES (?)', parameters: [now] },
    { sql: RECOUNT_USAGE },
  ]
}

/** Counts the rows of each table. */
export function countingQuery(tables: readonly string[], schema = 'main'): Query {
  const counts = tables.map((table) => `(SELECT count(*) FROM "${schema}"."${table}") AS "${table}"`)
  return { sql: `SELECT ${counts.join(', ')}` }
}

/** @throws if a table has other rows than the backup. */
export function compareCounts(backup: Row, restored: Row): void {
  for (const [table, rows] of Object.entries(backup)) {
    if (restored[table] !== rows) {
      throw new Error(
        `The table ${table} would have ${restored[table]} rows instead of ${rows}. Nothing was changed.`,
      )
    }
  }
}
