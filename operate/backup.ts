/** Writes a consistent snapshot of the database to a SQLite file (docs/restore.md). */
import './private-files.ts'
import { existsSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { stripCopy, tableNames, verifyBackup } from './backups/backup-file.ts'
import { objectFolder, saveObjects, stillReferenced } from './backups/objects.ts'
import { snapshot } from './backups/snapshot.ts'
import { describeScript, getTarget, parsed, temporaryFolder, UsageError, withTarget } from './command-line.ts'
import { openDatabase } from './database.ts'
import { ObjectStore } from './objects.ts'
import { requireStateFolder } from './state-folder.ts'

const options = parsed(
  withTarget(
    describeScript(
      'backup',
      'Writes a consistent snapshot of the database to a SQLite file, also while the service runs, and verifies it as a restore does. docs/restore.md says what a backup contains.',
      ['--output backup.sqlite', '--output backups/monday.sqlite --with-objects --remote'],
    )
      .requiredOption('--output <file>', 'a file that does not exist yet')
      .option(
        '--with-objects',
        'copy the contents of session files and pictures too, to the folder "objects" beside the file; what is there is not copied again',
      ),
  ),
).opts()
const target = getTarget(options)

const MAX_NAMED = 10

await backUp()

async function backUp(): Promise<void> {
  if (existsSync(options.output))
    throw new UsageError(`--output ${options.output} exists already; allowed: a file that does not exist yet.`)
  const output = resolve(options.output)
  if (!existsSync(dirname(output)))
    throw new UsageError(`--output is in a folder that does not exist: ${dirname(output)}.`)
  requireStateFolder(target)
  await writeBackup(output, join(temporaryFolder(`${output}.`), 'backup.sqlite'))
  if (options.withObjects) await backUpObjects(output)
}

/** After the snapshot, so that only objects can be missing whose rows were deleted since. */
async function backUpObjects(output: string): Promise<void> {
  const store = await ObjectStore.open(target)
  const database = new DatabaseSync(output, { readOnly: true })
  const missing = await saveObjects(store, database, objectFolder(output)).finally(() => {
    database.close()
    return store.close()
  })
  const current = await openDatabase(target)
  const lost = await stillReferenced(current, missing).finally(() => current.close())
  if (missing.length > lost.length)
    console.log(`${missing.length - lost.length} of them were deleted after the snapshot.`)
  if (lost.length === 0) return
  throw new Error(
    `The object store lacks ${lost.length} objects that rows refer to: ${lost.slice(0, MAX_NAMED).join(', ')}${lost.length > MAX_NAMED ? ', …' : ''}. Their files return 503.`,
  )
}

async function writeBackup(output: string, partial: string): Promise<void> {
  await snapshot(target, partial)
  const database = new DatabaseSync(partial)
  let rows: number
  let problem: string | undefined
  try {
    stripCopy(database)
    problem = problemOf(database)
    rows = countRows(database)
  } finally {
    database.close()
  }
  renameSync(partial, output)
  console.log(`${output}: ${rows} rows, ${statSync(output).size} bytes`)
  if (problem) throw new Error(`The backup was written, but it cannot be restored: ${problem}.`)
}

function problemOf(database: DatabaseSync): string | undefined {
  try {
    verifyBackup(database)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function countRows(database: DatabaseSync): number {
  return tableNames(database).reduce(
    (sum, table) => sum + Number(database.prepare(`SELECT count(*) AS "rows" FROM "${table}"`).get()?.rows),
    0,
  )
}
