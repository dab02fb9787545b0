/** Writes a consistent snapshot of the database to a SQLite file (docs/restore.md). */
import './private-files.ts'
import { existsSync, renameSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { stripCopy, tableNames, verifyBackup } from './backups/backup-file.ts'
import { snapshot } from './backups/snapshot.ts'
import { describeScript, parsed, targetOf, temporaryFolder, UsageError, withTarget } from './command-line.ts'
import { requireStateFolder } from './state-folder.ts'

const options = parsed(
  withTarget(
    describeScript(
      'backup',
      'Writes a consistent snapshot of the database to a SQLite file, also while the service runs, and verifies it as a restore does. docs/restore.md says what a backup contains.',
      ['--output backup.sqlite', '--output backup.sqlite --remote --env staging'],
    ).requiredOption('--output <file>', 'a file that does not exist yet'),
  ),
).opts()
const target = targetOf(options)

await backUp()

async function backUp(): Promise<void> {
  if (existsSync(options.output))
    throw new UsageError(
      `--output ${options.output} exists already; allowed: a file that does not exist yet.`,
    )
  const output = resolve(options.output)
  if (!existsSync(dirname(output)))
    throw new UsageError(`--output is in a folder that does not exist: ${dirname(output)}.`)
  requireStateFolder(target)
  await writeBackup(output, join(temporaryFolder(`${output}.`), 'backup.sqlite'))
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
