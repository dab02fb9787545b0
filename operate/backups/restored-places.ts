/**
 * Where organizations are after a restore, if there are several databases. An organization that is in a database that is
 * not restored stays there: what the backup of another database has of it is from before it moved.
 */
import type { DatabaseSync } from 'node:sqlite'
import { insertOf, stoppedOf } from '../brakes.ts'
import type { Row } from '../cloudflare.ts'
import { type CommandDatabase, inTransaction, runQuery } from '../database.ts'
import type { ListedDatabase, Place } from '../databases.ts'
import type { Batches } from '../organization-rows.ts'
import { suspend } from '../suspension.ts'
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
 * Removes from a backup the rows of organizations that are elsewhere after the restore, but for those that send callers
 * there. If the other database is not restored, these are as they are today, not as in the backup.
 * @param isRestored whether a database is restored too.
 * @param redirects of the current database.
 */
export function removeElsewhere(
  backup: DatabaseSync,
  number: number,
  after: ReadonlyMap<string, Place>,
  isRestored: (database: number) => boolean,
  redirects: ReadonlyMap<string, readonly Row[]>,
): void {
  const others = [...after].filter(([, { database }]) => database !== number)
  const elsewhere = others.map(([id]) => id)
  const asToday = others.filter(([, { database }]) => !isRestored(database)).map(([id]) => id)
  const isElsewhere = (column: string) => `"${column}" IN (SELECT value FROM json_each(?))`
  const tables = tableNames(backup).filter((table) => columnNames(backup, table).includes('organizationId'))
  inTransaction(backup, () => {
    for (const table of tables.filter((each) => each !== 'directory')) {
      const remove = (condition: string, ids: readonly string[]) =>
        backup
          .prepare(`DELETE FROM "${table}" WHERE ${isElsewhere('organizationId')} AND ${condition}`)
          .run(JSON.stringify(ids))
      const isRedirect = REDIRECTS.find(([name]) => name === table)?.[1] ?? 'false'
      remove(`NOT (${isRedirect})`, elsewhere)
      remove(isRedirect, asToday)
    }
    backup.prepare(`DELETE FROM "organizations" WHERE ${isElsewhere('id')}`).run(JSON.stringify(elsewhere))
    for (const [table, rows] of redirects) {
      for (const row of rows) {
        if (asToday.includes(String(row.organizationId))) insertRow(backup, table, row)
      }
    }
    // Triggers count the rows that are added, also for organizations that have none.
    backup
      .prepare(`DELETE FROM "organizationUsage" WHERE ${isElsewhere('organizationId')}`)
      .run(JSON.stringify(elsewhere))
  })
}

/**
 * In a backup, ends each move where the organization is: it is complete there, however far the move came. The rows in
 * another database, which a restore removes but for the keys and feeds, send callers there.
 * @param places the directory; it did not change while the databases were copied.
 */
export function endMoves(backup: DatabaseSync, number: number, places: ReadonlyMap<string, Place>): void {
  inTransaction(backup, () => {
    for (const [id, { database, movingTo }] of places) {
      if (movingTo === null) continue
      const isHere = database === number
      for (const table of ['apiKeys', 'skillFeeds']) {
        backup
          .prepare(`UPDATE "${table}" SET "movedTo" = ? WHERE "organizationId" = ?`)
          .run(isHere ? null : database, id)
      }
      const halt = isHere
        ? 'DELETE FROM "halts"'
        : `UPDATE "halts" SET "kind" = 'left', "until" = NULL, "reason" = NULL`
      backup.prepare(`${halt} WHERE "organizationId" = ? AND "kind" IN ('leaving', 'arriving', 'left')`).run(id)
      backup.prepare('UPDATE "directory" SET "movingTo" = NULL WHERE "organizationId" = ?').run(id)
    }
  })
}

/** The rows with which a current database sends callers elsewhere, by their table. */
export async function readRedirects(database: CommandDatabase): Promise<Map<string, Row[]>> {
  const answers = await database.batch(
    REDIRECTS.map(([table, condition]) => ({ sql: `SELECT * FROM "${table}" WHERE ${condition}` })),
  )
  return new Map(REDIRECTS.map(([table], index) => [table, answers[index] ?? []]))
}

export const SELECT_SUSPENSIONS = `SELECT "organizationId", "reason" FROM "halts" WHERE "kind" = 'suspended'`

/** Suspends in a backup the organizations that are suspended today and that it has. @param halts the suspensions. */
export async function keepSuspended(
  backup: DatabaseSync,
  number: number,
  after: ReadonlyMap<string, Place>,
  halts: readonly Row[],
): Promise<void> {
  const own = new Set(organizationIds(backup))
  const batches: Batches = { batch: async (queries) => queries.map((query) => runQuery(backup, query)) }
  for (const { organizationId, reason } of halts) {
    const id = String(organizationId)
    if (own.has(id) && (after.get(id)?.database ?? number) === number) await suspend(batches, id, String(reason))
  }
}

/** Stops in a backup what is stopped today, and nothing else. @param stopped rows of `SELECT_STOPPED`. */
export function keepStopped(backup: DatabaseSync, stopped: readonly Row[]): void {
  const own = new Set(organizationIds(backup))
  inTransaction(backup, () => {
    backup.exec('DELETE FROM "brakes"; DELETE FROM "organizationBrakes"')
    for (const each of stoppedOf(stopped)) {
      if (each.organizationId !== null && !own.has(String(each.organizationId))) continue
      runQuery(backup, insertOf(each))
    }
  })
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
