/**
 * Exports all data of an organization to files, or deletes it.
 *
 * An export has a file of JSON lines for each table, and the contents of session files and profile pictures.
 * It has no values of environment variables, no secrets and no hashes of API keys. A deletion removes every
 * row; the tick deletes the objects.
 */
import './private-files.ts'
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { Argument } from '@commander-js/extra-typings'
import type { Value } from '../src/db/statement.ts'
import { isUuid } from '../src/http/fields.ts'
import type { Row } from './cloudflare.ts'
import { describeScript, parsed, targetOf, withTarget } from './command-line.ts'
import { openDatabase } from './database.ts'
import { requireStateFolder } from './state-folder.ts'
import { readObject } from './wrangler.ts'

/** Bounds the memory of a page: a row has up to 1 MiB. */
const PAGE_SIZE = 100
const ROWS_PER_DELETION = 5000

/** The columns that an export leaves out: secrets, hashes and ciphertexts. */
const SECRETS = ['sealedValue', 'sealedSecret', 'previousSealedSecret', 'hash', 'idempotencyFingerprint']

/** The columns that refer to objects. */
const OBJECT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  sessionFiles: ['objectKey'],
  profilePictures: ['objectKey', 'uploadingObjectKey'],
}

const command = parsed(
  withTarget(
    describeScript('organization', 'Exports all data of an organization to files, or deletes it.', [
      'export 0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60 --output some/dir',
      'delete 0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60 --name Acme --remote',
    ])
      .addArgument(new Argument('<command>', 'what to do').choices(['export', 'delete']))
      .argument('<id>', 'the organization')
      .option('--output <folder>', 'for export: a folder that does not exist yet')
      .option('--name <name>', "for delete: the organization's name, as a confirmation"),
  ),
)
const options = command.opts()
const target = targetOf(options)
const [verb, id] = command.processedArgs
requireStateFolder(target)
const database = await openDatabase(target)

const [organization] = await rowsOf('SELECT * FROM "organizations" WHERE "id" = ?', id)
if (!organization) fail(`There is no organization with this ID; got "${id}".`)
else if (verb === 'export') await exportOrganization()
else await deleteOrganization()
database.close()

function fail(message: string): never {
  throw new Error(message)
}

async function rowsOf(sql: string, ...parameters: readonly Value[]): Promise<Row[]> {
  const [rows = []] = await database.batch([{ sql, parameters }])
  return rows
}

/** The tables with rows of the organization, and how many; API keys first. */
async function countRows(): Promise<[table: string, count: number][]> {
  const tables = await rowsOf(
    `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0
     ORDER BY "name" <> 'apiKeys', "name"`,
  )
  const counts = tables.map(
    ({ name }) => `(SELECT count(*) FROM "${name}" WHERE "organizationId" = ?1) AS "${name}"`,
  )
  const [row = {}] = await rowsOf(`SELECT ${counts.join(', ')}`, id)
  return Object.entries(row)
    .map(([table, count]): [string, number] => [table, Number(count)])
    .filter(([, count]) => count > 0)
}

async function exportOrganization(): Promise<void> {
  const folder = resolve(options.output ?? '')
  if (!options.output || existsSync(folder)) {
    fail(
      options.output
        ? `--output ${options.output} exists already; allowed: a folder that does not exist yet.`
        : '--output is missing; allowed: a folder that does not exist yet.',
    )
  }
  mkdirSync(folder, { recursive: true })
  writeRows(folder, 'organizations', [organization ?? {}])
  let missing = 0
  for (const [table] of await countRows()) {
    for (let last = 0; ; ) {
      const rows = await rowsOf(
        `SELECT rowid AS "rowid", * FROM "${table}" WHERE "organizationId" = ? AND rowid > ?
         ORDER BY rowid LIMIT ${PAGE_SIZE}`,
        id,
        last,
      )
      if (rows.length === 0) break
      last = Number(rows.at(-1)?.rowid)
      writeRows(folder, table, rows)
      for (const row of rows) if (!exportObject(folder, table, row)) missing++
      if (rows.length < PAGE_SIZE) break
    }
  }
  if (missing > 0) {
    console.error(`The object store lacks ${missing} contents. Their "file" is null in contents.jsonl.`)
    process.exitCode = 1
  }
}

function writeRows(folder: string, table: string, rows: readonly Row[]): void {
  const lines = rows.map(({ rowid, ...row }) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !SECRETS.includes(name)))),
  )
  appendFileSync(join(folder, `${table}.jsonl`), `${lines.join('\n')}\n`)
  console.log(`${table}: ${rows.length} rows`)
}

/**
 * Writes the content of a file or picture, and its place to a line of `contents.jsonl`.
 * @returns false if the object store does not have it.
 */
function exportObject(folder: string, table: string, row: Row): boolean {
  const { id, sessionId, path, userId, objectKey } = row
  if (typeof objectKey !== 'string' || (table !== 'sessionFiles' && table !== 'profilePictures')) return true
  const isFile = table === 'sessionFiles'
  const name = isFile
    ? createFile(folder, join('files', String(sessionId)), String(path), String(id))
    : createFile(folder, 'pictures', encodeURIComponent(String(userId)), objectKey.replace(/^.*\//, ''))
  let file: string | null = name
  try {
    // An empty content may have no object.
    if (row.sizeBytes !== 0) readObject(target, objectKey, join(folder, name))
  } catch {
    rmSync(join(folder, name), { force: true })
    file = null
  }
  const subject = isFile ? { id, sessionId, path } : { userId }
  appendFileSync(join(folder, 'contents.jsonl'), `${JSON.stringify({ file, ...subject })}\n`)
  return file !== null
}

/**
 * Creates an empty file for a content, at its path if possible, otherwise by its id. A path is not possible
 * if it leads out of the folder, is too long for the file system, or conflicts with another one (`a` and
 * `a/b`; `A` and `a`, if case is ignored).
 * @returns the path relative to the export.
 */
function createFile(folder: string, subfolder: string, path: string, id: string): string {
  const parent = join(folder, subfolder)
  const file = resolve(parent, path)
  if (parent.startsWith(folder + sep) && file.startsWith(parent + sep)) {
    try {
      mkdirSync(dirname(file), { recursive: true })
      closeSync(openSync(file, 'wx'))
      return relative(folder, file)
    } catch {
      // The file is named by its id.
    }
  }
  if (!isUuid(id)) throw new Error(`The ID of a content is not a UUID; got "${id}".`)
  const name = join('by-id', id)
  mkdirSync(join(folder, 'by-id'), { recursive: true })
  closeSync(openSync(join(folder, name), 'wx'))
  return name
}

async function deleteOrganization(): Promise<void> {
  if (options.name !== organization?.name) {
    fail(
      `--name is not the name of the organization; got "${options.name ?? ''}"; allowed: "${organization?.name}".`,
    )
  }
  // API keys are deleted first, so that the organization can make no more requests. Uploads in progress have
  // recorded their objects.
  for (let counts = await countRows(); counts.length > 0; counts = await countRows()) {
    for (const [table, count] of counts) {
      console.log(`${table}: ${count} rows to delete`)
      await deletePage(table)
    }
  }
  await rowsOf('DELETE FROM "organizations" WHERE "id" = ?', id)
  console.log(
    `Deleted. ${(await countRows()).length} tables have rows of the organization. The tick deletes its objects.`,
  )
}

/**
 * Deletes some rows and records their objects as orphaned, in one transaction: no object is lost without its
 * record.
 */
async function deletePage(table: string): Promise<void> {
  const page = `SELECT rowid FROM "${table}" WHERE "organizationId" = ? LIMIT ${ROWS_PER_DELETION}`
  const now = new Date().toISOString()
  const marks = (OBJECT_COLUMNS[table] ?? []).map((column) => ({
    sql: `INSERT INTO "orphanedObjects" ("objectKey", "deleteAfter") SELECT "${column}", ? FROM "${table}"
      WHERE rowid IN (${page}) AND "${column}" IS NOT NULL ON CONFLICT DO NOTHING`,
    parameters: [now, id],
  }))
  await database.batch([
    ...marks,
    { sql: `DELETE FROM "${table}" WHERE rowid IN (${page})`, parameters: [id] },
  ])
}
