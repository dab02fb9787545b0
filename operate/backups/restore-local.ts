/** Replaces the local database by a verified backup, in one transaction. */
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
  /** The verified backup. */
  readonly backupFile: string
  readonly policy: KeyPolicy
  /** The hashes of the keys that were valid in the backup. */
  readonly hashes: ReadonlySet<string>
  /** Live keys of other databases that are restored too. */
  readonly otherLiveKeys?: readonly Row[]
}

/**
 * A running service sees the database either before or after the restore. If the process is killed, nothing changes.
 * @param safetyCopy the file for a copy of the current database; undefined: it is empty.
 */
export function replaceLocal(file: string, safetyCopy: string | undefined, replacement: Replacement): void {
  const { backupFile, policy, hashes, otherLiveKeys = [] } = replacement
  const isNew = !existsSync(file)
  mkdirSync(dirname(file), { recursive: true })
  const database = openLocalFile(file)
  try {
    database.prepare('ATTACH ? AS "backup"').run(backupFile)
    inTransaction(database, () => {
      const liveKeys = [...readLiveKeys(database), ...otherLiveKeys]
      // The transaction blocks other writes, so the copy is complete.
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

/** Creates indexes and triggers last: a trigger would count rows that the backup has already counted. */
function copyBackup(database: DatabaseSync): void {
  const schema = schemaStatements(database, 'backup')
  const tables = tableNames(database, 'backup')
  for (const { type, sql } of schema) if (type === 'table') database.exec(sql)
  for (const table of tables) database.exec(`INSERT INTO main."${table}" SELECT * FROM "backup"."${table}"`)
  for (const { type, sql } of schema) if (type !== 'table') database.exec(sql)
  for (const table of tables) {
    const columns = columnNames(database, table)
    const [source, copy] = ['backup', 'main'].map((name) => runQuery(database, measuringQuery(table, columns, name))[0])
    compareTables(table, source, copy)
  }
}
