/**
 * Where organizations are after a restore, if there are several databases. An organization that is in a database that is
 * not restored stays there: what the backup of another database has of it is from before it moved.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { Row } from '../cloudflare.ts'
import { type CommandDatabase, inTransaction } from '../database.ts'
import type { ListedDatabase, Place } from '../databases.ts'
import { columnNames, tableNames } from './backup-file.ts'

/** In the rows of an organization that has left a database, what sends its callers to the other one. */
const REDIRECTS = [
  ['apiKeys', '"movedTo" IS NOT NULL'],
  ['skillFeeds', '"movedTo" IS NOT NULL'],
  ['halts', `"kind" = 'left'`],
] as const

/**
 * The directory after the restore.
 * @param today that of now; empty if there is no database yet.
 * @param backups the verified backup of each database that is restored.
 */
export function placesAfter(
  today: ReadonlyMap<string, Place>,
  backups: ReadonlyMap<number, DatabaseSync>,
): Map<string, Place> {
  const first = backups.get(0)
  // Consistent with the others only if they are of the same backup.
  const then = first && backups.size > 1 ? readDirectory(first) : new Map<string, Place>()
  const after = new Map([...(today.size > 0 ? today : then)])
  for (const [number, backup] of backups) {
    for (const id of organizationIds(backup)) {
      const place = today.get(id)
      if (place && !backups.has(place.database)) continue
      if ((then.get(id)?.database ?? number) === number) after.set(id, { database: number, movingTo: null })
    }
  }
  return after
}

/** The organizations of today that the backup of their database does not have. */
export function lostOrganizations(
  today: ReadonlyMap<string, Place>,
  backups: ReadonlyMap<number, DatabaseSync>,
): string[] {
  const kept = new Set([...backups.values()].flatMap(organizationIds))
  return [...today].filter(([id, { database }]) => backups.has(database) && !kept.has(id)).map(([id]) => id)
}

/**
 * Removes from a backup the rows of organizations that are elsewhere after the restore, and adds the rows with which the
 * current database sends callers there.
 */
export function removeElsewhere(
  backup: DatabaseSync,
  number: number,
  after: ReadonlyMap<string, Place>,
  redirects: ReadonlyMap<string, readonly Row[]>,
): void {
  const elsewhere = [...after].filter(([, { database }]) => database !== number).map(([id]) => id)
  const isElsewhere = (column: string) => `"${column}" IN (SELECT value FROM json_each(?))`
  const tables = tableNames(backup).filter((table) => columnNames(backup, table).includes('organizationId'))
  inTransaction(backup, () => {
    for (const table of tables.filter((each) => each !== 'directory')) {
      backup.prepare(`DELETE FROM "${table}" WHERE ${isElsewhere('organizationId')}`).run(JSON.stringify(elsewhere))
    }
    backup.prepare(`DELETE FROM "organizations" WHERE ${isElsewhere('id')}`).run(JSON.stringify(elsewhere))
    for (const [table, rows] of redirects) {
      for (const row of rows) {
        if (elsewhere.includes(String(row.organizationId))) insertRow(backup, table, row)
      }
    }
    // Triggers count the rows that are added, also for organizations that have none.
    backup
      .prepare(`DELETE FROM "organizationUsage" WHERE ${isElsewhere('organizationId')}`)
      .run(JSON.stringify(elsewhere))
  })
}

/** The rows with which a current database sends callers elsewhere, by their table. */
export async function readRedirects(database: CommandDatabase): Promise<Map<string, Row[]>> {
  const answers = await database.batch(
    REDIRECTS.map(([table, condition]) => ({ sql: `SELECT * FROM "${table}" WHERE ${condition}` })),
  )
  return new Map(REDIRECTS.map(([table], index) => [table, answers[index] ?? []]))
}

/** Writes the directory and the list of databases into the backup of database 0. */
export function writeFirst(
  backup: DatabaseSync,
  after: ReadonlyMap<string, Place>,
  databases: readonly ListedDatabase[],
): void {
  inTransaction(backup, () => {
    backup.exec('DELETE FROM "directory"')
    for (const [organizationId, { database, movingTo }] of after) {
      insertRow(backup, 'directory', { organizationId, database, movingTo })
    }
    backup.exec('DELETE FROM "databases"')
    for (const { number, name, state } of databases) insertRow(backup, 'databases', { number, name, state })
  })
}

/** Brings the directory to what it is after the restore of another database. */
export function directoryQueries(after: ReadonlyMap<string, Place>, number: number) {
  const rows = [...after].filter(([, { database }]) => database === number).map(([id]) => id)
  return {
    sql: `INSERT INTO "directory" ("organizationId", "database") SELECT value, ? FROM json_each(?) WHERE true
      ON CONFLICT ("organizationId") DO UPDATE SET "database" = excluded."database", "movingTo" = NULL`,
    parameters: [number, JSON.stringify(rows)],
  }
}

function insertRow(database: DatabaseSync, table: string, row: Row): void {
  const names = Object.keys(row)
  database
    .prepare(`INSERT INTO "${table}" (${names.map((name) => `"${name}"`)}) VALUES (${names.map(() => '?')})`)
    .run(...Object.values(row))
}

function readDirectory(backup: DatabaseSync): Map<string, Place> {
  const rows = backup.prepare('SELECT "organizationId", "database" FROM "directory"').all()
  return new Map(
    rows.map(({ organizationId, database }) => [
      String(organizationId),
      { database: Number(database), movingTo: null },
    ]),
  )
}

function organizationIds(backup: DatabaseSync): string[] {
  return backup
    .prepare('SELECT "id" FROM "organizations"')
    .all()
    .map(({ id }) => String(id))
}
