/**
 * Everything that an organization has, as files; or nothing of it any more.
 *
 *     npm run organization -- export <id> --output some/dir [--remote [--env staging] | --persist-to some/dir]
 *     npm run organization -- delete <id> --name <its name> [--remote [--env staging] | --persist-to some/dir]
 *
 * An export has a file of JSON lines for each table, and the contents of files and pictures; no value of an environment variable,
 * no secret, no hash of a key. A deletion leaves no row; the tick deletes the objects.
 */
import { appendFileSync, existsSync, mkdirSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { executeSql, literal, readObject, TARGET_OPTIONS, targetOf } from './wrangler.ts'

/** A row may have 1 MiB. */
const PAGE_SIZE = 100
const ROWS_AT_ONCE = 5000

/** What an export leaves out: it would be of use to nobody who may not have it. */
const SECRETS = ['sealedValue', 'sealedSecret', 'previousSealedSecret', 'hash', 'idempotencyFingerprint']

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

const [organization] = executeSql(target, `SELECT * FROM "organizations" WHERE "id" = ${literal(id)}`)
if (!organization) fail(`There is no organization "${id}"`)
else if (verb === 'export') exportOrganization()
else if (verb === 'delete') deleteOrganization()
else fail('Expected "export <id>" or "delete <id>"')

function fail(message: string): never {
  console.error(message)
  process.exit(1)
}

/** How many rows the organization has in each table, where it has any; its keys first. */
function countRows(): [table: string, count: number][] {
  const tables = executeSql(
    target,
    `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0
     ORDER BY "name" <> 'apiKeys', "name"`,
  )
  const counts = tables.map(
    ({ name }) => `(SELECT count(*) FROM "${name}" WHERE "organizationId" = ${literal(id)}) AS "${name}"`,
  )
  const [row = {}] = executeSql(target, `SELECT ${counts.join(', ')}`)
  return Object.entries(row)
    .map(([table, count]): [string, number] => [table, Number(count)])
    .filter(([, count]) => count > 0)
}

function exportOrganization(): void {
  const folder = resolve(options.output ?? '')
  if (!options.output || existsSync(folder)) fail('--output: expected a folder that does not exist yet')
  mkdirSync(folder, { recursive: true })
  write(folder, 'organizations', [organization ?? {}])
  for (const [table] of countRows()) {
    for (let last = 0; ; ) {
      const rows = executeSql(
        target,
        `SELECT rowid AS "rowid", * FROM "${table}" WHERE "organizationId" = ${literal(id)} AND rowid > ${last}
         ORDER BY rowid LIMIT ${PAGE_SIZE}`,
      )
      if (rows.length === 0) break
      last = Number(rows.at(-1)?.rowid)
      write(folder, table, rows)
      for (const row of rows) exportObject(folder, table, row)
      if (rows.length < PAGE_SIZE) break
    }
  }
}

function write(folder: string, table: string, rows: readonly Record<string, unknown>[]): void {
  const lines = rows.map(({ rowid, ...row }) =>
    JSON.stringify(Object.fromEntries(Object.entries(row).filter(([name]) => !SECRETS.includes(name)))),
  )
  appendFileSync(join(folder, `${table}.jsonl`), `${lines.join('\n')}\n`)
  console.log(`${table}: ${rows.length} rows`)
}

function exportObject(folder: string, table: string, row: Record<string, unknown>): void {
  if (typeof row.objectKey !== 'string' || (table !== 'sessionFiles' && table !== 'profilePictures')) return
  // Paths of files are relative and stay below their folder (http/fields.ts, relativePath).
  const name =
    table === 'sessionFiles'
      ? join('files', String(row.sessionId), String(row.path))
      : join('pictures', encodeURIComponent(String(row.userId)))
  const file = join(folder, name)
  mkdirSync(dirname(file), { recursive: true })
  readObject(target, row.objectKey, file)
}

function deleteOrganization(): void {
  if (options.name !== organization?.name) {
    fail(`--name: expected "${organization?.name}", so that no other is deleted by mistake`)
  }
  const now = literal(new Date().toISOString())
  for (const [table, column] of [
    ['sessionFiles', 'objectKey'],
    ['profilePictures', 'objectKey'],
    ['profilePictures', 'uploadingObjectKey'],
  ]) {
    executeSql(
      target,
      `INSERT INTO "doomedObjects" ("objectKey", "sweepAfter") SELECT "${column}", ${now} FROM "${table}"
       WHERE "organizationId" = ${literal(id)} AND "${column}" IS NOT NULL ON CONFLICT DO NOTHING`,
    )
  }
  // Its keys go first: from then on nothing comes to what is being deleted.
  for (let counts = countRows(); counts.length > 0; counts = countRows()) {
    for (const [table, count] of counts) {
      console.log(`${table}: ${count} rows to delete`)
      executeSql(
        target,
        `DELETE FROM "${table}" WHERE rowid IN
         (SELECT rowid FROM "${table}" WHERE "organizationId" = ${literal(id)} LIMIT ${ROWS_AT_ONCE})`,
      )
    }
  }
  executeSql(target, `DELETE FROM "organizations" WHERE "id" = ${literal(id)}`)
  console.log(`${countRows().length} tables have rows of the organization. The tick deletes its objects.`)
}
