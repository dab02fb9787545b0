/**
 * Everything that an organization has, as files; or nothing of it any more.
 *
 *     npm run organization -- export <id> --output some/dir [--remote [--env staging] | --persist-to some/dir]
 *     npm run organization -- delete <id> --name <its name> [--remote [--env staging] | --persist-to some/dir]
 *
 * An export has a file of JSON lines for each table, and the contents of files and pictures; no value of an environment variable,
 * no secret, no hash of a key. A deletion leaves no row; the tick deletes the objects.
 */
import './private-files.ts'
import { appendFileSync, closeSync, existsSync, mkdirSync, openSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { parseArgs } from 'node:util'
import type { Value } from '../src/db/statement.ts'
import { isUuid } from '../src/http/fields.ts'
import type { Row } from './cloudflare.ts'
import { openDatabase } from './database.ts'
import { readObject, TARGET_OPTIONS, targetOf } from './wrangler.ts'

/** A row may have 1 MiB. */
const PAGE_SIZE = 100
const ROWS_AT_ONCE = 5000

/** What an export leaves out: secrets, hashes and ciphertexts. */
const SECRETS = ['sealedValue', 'sealedSecret', 'previousSealedSecret', 'hash', 'idempotencyFingerprint']

/** Where rows refer to objects. */
const OBJECT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  sessionFiles: ['objectKey'],
  profilePictures: ['objectKey', 'uploadingObjectKey'],
}

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    output: { type: 'string' },
    name: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})
const target = targetOf(options)
const [verb, id = ''] = positionals
const database = await openDatabase(target).catch((error: Error) => fail(error.message))

const [organization] = await rowsOf('SELECT * FROM "organizations" WHERE "id" = ?', id)
if (!organization) fail(`There is no organization "${id}"`)
else if (verb === 'export') await exportOrganization()
else if (verb === 'delete') await deleteOrganization()
else fail('Expected "export <id>" or "delete <id>"')
database.close()

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

async function rowsOf(sql: string, ...parameters: readonly Value[]): Promise<Row[]> {
  const [rows = []] = await database.batch([{ sql, parameters }])
  return rows
}

/** How many rows the organization has in each table, where it has any; its keys first. */
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
  if (!options.output || existsSync(folder)) fail('--output: expected a folder that does not exist yet')
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
    console.error(`${missing} contents are missing in the object store: "file" is null in contents.jsonl.`)
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
 * Writes the content of a file or picture, and a line of `contents.jsonl` that says where it is.
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
 * Creates an empty file for a content, at its path if the file system takes it: not one that leads out of its folder, that is too long,
 * or that another path stands in the way of (`a` beside `a/b`, `A` beside `a`). Such a content is named by its id.
 * @returns its path relative to the export.
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
      // The file system does not take the path.
    }
  }
  if (!isUuid(id)) throw new Error('A content has an id that is not a UUID')
  mkdirSync(join(folder, 'by-id'), { recursive: true })
  return join('by-id', id)
}

async function deleteOrganization(): Promise<void> {
  if (options.name !== organization?.name) {
    fail(`--name: expected "${organization?.name}", so that no other is deleted by mistake`)
  }
  // Its keys go first: from then on no request of the organization is accepted. An upload that is under way marked its object before.
  for (let counts = await countRows(); counts.length > 0; counts = await countRows()) {
    for (const [table, count] of counts) {
      console.log(`${table}: ${count} rows to delete`)
      await deletePage(table)
    }
  }
  await rowsOf('DELETE FROM "organizations" WHERE "id" = ?', id)
  console.log(
    `${(await countRows()).length} tables have rows of the organization. The tick deletes its objects.`,
  )
}

/** Deletes some rows, and marks their objects for deletion in the same transaction: the tick deletes no object that a row refers to. */
async function deletePage(table: string): Promise<void> {
  const page = `SELECT rowid FROM "${table}" WHERE "organizationId" = ? LIMIT ${ROWS_AT_ONCE}`
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
