/** Writes a consistent snapshot of each database to a SQLite file (docs/restore.md). */
import './private-files.ts'
import { existsSync, mkdirSync, renameSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { isDeepStrictEqual } from 'node:util'
import { describeScript, getTarget, parsed, temporaryFolder, UsageError, withTarget } from '../tools/command-line.ts'
import { countRows, stripCopy, verifyBackup } from './backups/backup-file.ts'
import { type BackupFile, writeManifest } from './backups/manifest.ts'
import { objectFolder, saveObjects, sha256Of, stillReferenced } from './backups/objects.ts'
import { endMoves } from './backups/restored-places.ts'
import { snapshot } from './backups/snapshot.ts'
import type { CommandDatabase } from './database.ts'
import { Databases, type NumberedDatabase, type Place, readPlaces } from './databases.ts'
import { ObjectStore } from './objects.ts'
import { requireStateFolder } from './state-folder.ts'

const options = parsed(
  withTarget(
    describeScript(
      'operate backup',
      'Writes a consistent snapshot of each database to a SQLite file, also while the service runs, and verifies it as a restore does. docs/restore.md says what a backup contains.',
      ['--output backup.sqlite', '--output backups/monday.sqlite --with-objects --remote'],
    )
      .requiredOption(
        '--output <file>',
        'a file that does not exist yet; with several databases a folder, which gets a file for each and a manifest',
      )
      .option(
        '--with-objects',
        'copy the contents of session files and pictures too, to the folder "objects" beside the output; what is there is not copied again',
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
  const databases = await Databases.open(target)
  try {
    if (databases.areSeveral) await writeAll(databases, output)
    else await writeBackup(databases.find(0), output)
    if (options.withObjects) {
      for (const { number, database } of databases.all) {
        await backUpObjects(database, databases.areSeveral ? fileOf(output, number) : output, objectFolder(output))
      }
    }
  } finally {
    databases.close()
  }
}

/** One after another, so the databases are from different moments. @throws if an organization moved meanwhile. */
async function writeAll(databases: Databases, folder: string): Promise<void> {
  const createdAt = new Date().toISOString()
  const before = await readPlaces(databases.first)
  mkdirSync(folder)
  const written: BackupFile[] = []
  for (const each of databases.all) written.push(await writeBackup(each, fileOf(folder, each.number), before))
  const after = await readPlaces(databases.first)
  const moved = [...before].find(([id, place]) => !isDeepStrictEqual(after.get(id) ?? place, place))
  if (moved) throw new Error(`The organization ${moved[0]} was moved during the backup. Run it again.`)
  for (const [id, { database, movingTo }] of before) {
    if (movingTo !== null) console.log(`The organization ${id} is moving: the backup has it in database ${database}.`)
  }
  writeManifest(folder, createdAt, written)
}

function fileOf(folder: string, number: number): string {
  return join(folder, `database-${number}.sqlite`)
}

/** After the snapshot, so that only objects can be missing whose rows were deleted since. */
async function backUpObjects(current: CommandDatabase, file: string, folder: string): Promise<void> {
  const store = await ObjectStore.open(target)
  const database = new DatabaseSync(file, { readOnly: true })
  const missing = await saveObjects(store, database, folder).finally(() => {
    database.close()
    return store.close()
  })
  const lost = await stillReferenced(current, missing)
  if (missing.length > lost.length)
    console.log(`${missing.length - lost.length} of them were deleted after the snapshot.`)
  if (lost.length === 0) return
  throw new Error(
    `The object store lacks ${lost.length} objects that rows refer to: ${lost.slice(0, MAX_NAMED).join(', ')}${lost.length > MAX_NAMED ? ', …' : ''}. Their files return 503.`,
  )
}

/** @param places where organizations are; none if there is one database. */
async function writeBackup(
  { source, number }: NumberedDatabase,
  output: string,
  places: ReadonlyMap<string, Place> = new Map(),
): Promise<BackupFile> {
  const partial = join(temporaryFolder(`${output}.`), 'backup.sqlite')
  await snapshot(source, partial)
  const database = new DatabaseSync(partial)
  let rows: number
  let problem: string | undefined
  try {
    stripCopy(database)
    endMoves(database, number, places)
    problem = problemOf(database)
    rows = countRows(database)
  } finally {
    database.close()
  }
  renameSync(partial, output)
  const bytes = statSync(output).size
  console.log(`${output}: ${rows} rows, ${bytes} bytes`)
  if (problem) throw new Error(`The backup was written, but it cannot be restored: ${problem}.`)
  return { number, file: basename(output), rows, bytes, sha256: await sha256Of(output) }
}

function problemOf(database: DatabaseSync): string | undefined {
  try {
    verifyBackup(database)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
