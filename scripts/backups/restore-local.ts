/** Puts a verified backup into the place of the local database, in one transaction. */
import { existsSync, mkdirSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import type { Row } from '../cloudflare.ts'
import { inTransaction, openLocalFile, runQuery } from '../database.ts'
import { columnNames, schemaStatements, tableNames } from './backup-file.ts'
import {
  compareTables,
  finishingQueries,
  type KeyPolicy,
  measuringQuery,
  reactivateKeys,
  SELECT_LIVE_KEYS,
} from './restored-state.ts'
import { snapshotLocal } from './snapshot.ts'

export interface Replacement {
  /** The backup, verified, in a file of its own. */
  readonly backupFile: string
  readonly policy: KeyPolicy
  /** The hashes of the keys that acted in the backup. */
  readonly hashes: ReadonlySet<string>
}

/**
 * A service that runs on the database sees it as it was, or as it is afterwards; a process that is ended in between changes nothing.
 * @param safetyCopy the file that what is replaced is written to; undefined: nothing is there to keep.
 */
export function replaceLocal(file: string, safetyCopy: string | undefined, replacement: Replacement): void {
  const { backupFile, policy, hashes } = replacement
  const isNew = !existsSync(file)
  mkdirSync(dirname(file), { recursive: true })
  const database = openLocalFile(file)
  try {
    database.prepare('ATTACH ? AS "backup"').run(backupFile)
    inTransaction(database, () => {
      const liveKeys = readLiveKeys(database)
      // The transaction holds back all other changes, so the copy has the last one.
      if (safetyCopy !== undefined) snapshotLocal(file, safetyCopy)
      for (const table of tableNames(database)) database.exec(`DROP TABLE "${table}"`)
      copyBackup(database)
      for (const query of [...reactivateKeys(hashes, liveKeys, policy), ...finishingQueries()]) {
        runQuery(database, query)
      }
    })
  } catch (error) {
    if (isNew) rmSync(file, { force: true })
    throw error
  } finally {
    database.close()
  }
}

export function readLiveKeys(database: DatabaseSync): Row[] {
  return tableNames(database).includes('apiKeys') ? runQuery(database, { sql: SELECT_LIVE_KEYS }) : []
}

/** Indexes and triggers come last: a trigger would count the rows that the backup has counted. */
function copyBackup(database: DatabaseSync): void {
  const schema = schemaStatements(database, 'backup')
  const tables = tableNames(database, 'backup')
  for (const { type, sql } of schema) if (type === 'table') database.exec(sql)
  for (const table of tables) database.exec(`INSERT INTO main."${table}" SELECT * FROM "backup"."${table}"`)
  for (const { type, sql } of schema) if (type !== 'table') database.exec(sql)
  for (const table of tables) {
    const columns = columnNames(database, table)
    const [source, copy] = ['backup', 'main'].map(
      (name) => runQuery(database, measuringQuery(table, columns, name))[0],
    )
    compareTables(table, source, copy)
  }
}
