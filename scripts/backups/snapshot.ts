/** Copies a database at one instant into a SQLite file. */
import { existsSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { Account } from '../cloudflare.ts'
import { localDatabaseFile, openLocalFile, requireDeployedDatabase } from '../database.ts'
import { stateFolder, type Target } from '../wrangler.ts'
import { loadDump } from './sql-dump.ts'

/** @param file is made. */
export async function snapshot(target: Target, file: string): Promise<void> {
  if (target.remote) {
    const account = await Account.of(target)
    const { uuid } = await requireDeployedDatabase(account, target)
    await snapshotOf(account, uuid, file)
    return
  }
  const source = localDatabaseFile(target)
  if (!existsSync(source)) throw new Error(`There is no database in ${stateFolder(target)}.`)
  snapshotLocal(source, file)
}

/** Reads one state of the database, whatever a running service writes meanwhile. */
export function snapshotLocal(source: string, file: string): void {
  const database = openLocalFile(source)
  try {
    database.prepare('VACUUM INTO ?').run(file)
  } finally {
    database.close()
  }
}

/** Loads what D1 exports: it holds back changes until the export is complete. */
export async function snapshotOf(account: Account, databaseId: string, file: string): Promise<void> {
  const dump = await account.export(databaseId)
  const database = new DatabaseSync(file)
  try {
    await loadDump(database, dump.pipeThrough(new TextDecoderStream()) as unknown as AsyncIterable<string>)
  } finally {
    database.close()
  }
}
