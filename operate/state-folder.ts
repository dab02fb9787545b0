/**
 * Checks the state folder of `npm run dev` before wrangler opens it: wrangler answers a damaged one with
 * stack traces.
 */
import { existsSync, globSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { stateFolder, type Target } from '../tools/wrangler.ts'
import { tableNames } from './backups/backup-file.ts'
import { existingDatabaseFile, LOCK_TIMEOUT_MS, localDatabaseFile } from './database.ts'
import { migrationNames } from './migrations.ts'

/**
 * SQLITE_CORRUPT, SQLITE_CANTOPEN and SQLITE_NOTADB. A lock, or a journal of a server that was killed, is no
 * damage.
 */
const DAMAGE_CODES = [11, 14, 26]

/** Where wrangler records the migrations that it applied. */
const MIGRATIONS = 'd1_migrations'
const [FIRST_MIGRATION = ''] = migrationNames()
const LAST_MIGRATION = migrationNames().at(-1) ?? ''

/** For commands that do not create a state folder. @throws if there is none. */
export function requireStateFolder(target: Target): void {
  if (target.remote) return
  existingDatabaseFile(target)
  requireDatabaseOfService(target)
}

/** For commands that may create a state folder. @throws if the folder has anything else. */
export function requireEmptyOrStateFolder(target: Target): void {
  const folder = stateFolder(target)
  if (target.remote || !existsSync(folder)) return
  if (!statSync(folder).isDirectory()) {
    throw new Error(`${folder} is a file, not a state folder; name a new or an empty folder with --persist-to.`)
  }
  const names = readdirSync(folder)
  if (names.length > 0 && !names.includes('v3')) {
    throw new Error(
      `${folder} is not a state folder: it has files, but no folder v3; name a new or an empty folder with --persist-to.`,
    )
  }
}

/** Changes nothing in the folder. @throws what is wrong and what to do, in one sentence. */
export function checkStateFolder(target: Target): void {
  const folder = stateFolder(target)
  requireEmptyOrStateFolder(target)
  for (const file of globSync('v3/**/*.sqlite', { cwd: folder })) {
    const problem = problemOf(join(folder, file))
    if (problem) {
      throw new Error(
        `The state in ${folder} is damaged: ${file}: ${problem}; move the folder away to start with an empty one, or name another with --persist-to.`,
      )
    }
  }
  if (existsSync(localDatabaseFile(target))) requireDatabaseOfService(target)
}

function requireDatabaseOfService(target: Target): void {
  if (!belongsToService(localDatabaseFile(target))) {
    throw new Error(
      `The database in ${stateFolder(target)} belongs to another project: it has tables, but not the migration ${FIRST_MIGRATION}; name a new or an empty folder with --persist-to.`,
    )
  }
}

/** @returns why SQLite cannot read the file; undefined: it can. */
function problemOf(file: string): string | undefined {
  try {
    return read(file, (database) => {
      const { quick_check: result } = database.prepare('PRAGMA quick_check(1)').get() ?? {}
      return result === 'ok' ? undefined : String(result).split('\n').at(-1)
    })
  } catch (error) {
    const { errcode, message } = error as Error & { errcode?: number }
    return DAMAGE_CODES.includes(Number(errcode) & 0xff) ? message : undefined
  }
}

/** True if no migration is left to apply. Needs no lock, so it also works beside a busy server. */
export function hasCurrentSchema(target: Target): boolean {
  const file = localDatabaseFile(target)
  return existsSync(file) && read(file, (database) => hasMigration(database, LAST_MIGRATION))
}

/** True if the database has no tables yet, or has the first migration of this service. */
function belongsToService(file: string): boolean {
  return read(
    file,
    (database) => tableNames(database).every((name) => name === MIGRATIONS) || hasMigration(database, FIRST_MIGRATION),
  )
}

function hasMigration(database: DatabaseSync, name: string): boolean {
  if (!tableNames(database).includes(MIGRATIONS)) return false
  return database.prepare(`SELECT 1 FROM "${MIGRATIONS}" WHERE "name" = ?`).get(name) !== undefined
}

/** Read-only: closing it does not write a log that was left over into the database. */
function read<Result>(file: string, work: (database: DatabaseSync) => Result): Result {
  const database = new DatabaseSync(file, { readOnly: true, timeout: LOCK_TIMEOUT_MS })
  try {
    return work(database)
  } finally {
    database.close()
  }
}
