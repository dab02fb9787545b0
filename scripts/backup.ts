/**
 * Writes a consistent snapshot of the database to a SQLite file, also while the service runs, and verifies it as a
 * restore does. docs/restore.md says what a backup contains.
 *
 *     npm run backup -- --output backup.sqlite [--remote [--env staging] | --persist-to some/dir]
 */
import './private-files.ts'
import { existsSync, mkdtempSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { stripCopy, tableNames, verifyBackup } from './backups/backup-file.ts'
import { snapshot } from './backups/snapshot.ts'
import { TARGET_OPTIONS, targetOf } from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    output: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})

try {
  await backUp()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

async function backUp(): Promise<void> {
  if (!options.output || existsSync(options.output)) {
    throw new Error(
      options.output
        ? `--output ${options.output} exists already; allowed: a file that does not exist yet.`
        : '--output is missing; allowed: a file that does not exist yet.',
    )
  }
  const output = resolve(options.output)
  if (!existsSync(dirname(output)))
    throw new Error(`--output is in a folder that does not exist: ${dirname(output)}.`)
  const folder = mkdtempSync(`${output}.`)
  try {
    await writeBackup(output, join(folder, 'backup.sqlite'))
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeBackup(output: string, partial: string): Promise<void> {
  await snapshot(targetOf(options), partial)
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
