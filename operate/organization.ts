/** Lists, shows, exports and deletes organizations (docs/operate.md, docs/restore.md). */
import './private-files.ts'
import { setTimeout } from 'node:timers/promises'
import type { Value } from '../src/db/parameters.ts'
import { isUuid } from '../src/http/fields.ts'
import type { Row } from './cloudflare.ts'
import { describeScript, getTarget, numberText, parsed, startProgress, UsageError, withTarget } from './command-line.ts'
import { type CommandDatabase, listColumns, openDatabase, quoted } from './database.ts'
import { ObjectStore } from './objects.ts'
import { exportOrganization } from './organization-export.ts'
import { aligned, organizationLines, readOverviews, usageText } from './overview.ts'
import { requireStateFolder } from './state-folder.ts'

const ROWS_PER_DELETION = 5000
/** Locally, a page and a pause are so short that the service, which has the same file, can write between two pages. */
const LOCAL_ROWS_PER_DELETION = 500
const LOCAL_PAUSE_MS = 50

/** The columns that refer to objects. */
const OBJECT_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  sessionFiles: ['objectKey'],
  profilePictures: ['objectKey', 'uploadingObjectKey'],
  skillVersions: ['objectKey'],
}

const ORGANIZATION = ['<organization>', 'its ID, or its name if no other organization has it'] as const

const script = withTarget(
  describeScript('organization', 'Lists, shows, exports and deletes organizations.', [
    'list',
    'show Acme',
    'export Acme --output some/dir --remote',
    'delete 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 --name Acme',
  ]),
)
script
  .command('list')
  .description('list the organizations')
  .option('--json', 'print JSON')
  .action(({ json }) => run(() => list(json === true)))
script
  .command('show')
  .description('show the usage of each quota of an organization')
  .argument(...ORGANIZATION)
  .option('--json', 'print JSON')
  .action((given, { json }) => run(async () => show(await find(given), json === true)))
script
  .command('export')
  .description('write all data of an organization to a folder, without secrets; continues an interrupted export')
  .argument(...ORGANIZATION)
  .requiredOption('--output <folder>', 'a folder that does not exist yet, or that of an interrupted export')
  .action((given, { output }) => run(async () => exportTo(await find(given), output)))
script
  .command('delete')
  .description('delete all rows of an organization; the tick deletes its objects')
  .argument('<organization>', 'its ID')
  .requiredOption('--name <name>', 'its name, as a confirmation')
  .action((given, { name }) => {
    if (!isUuid(given)) throw new UsageError(`The organization to delete is not named by its ID; got "${given}".`)
    return run(async () => deleteOrganization(await find(given), name))
  })

script.argument('[command]', 'one of the commands below').action((command) => {
  const allowed = 'allowed: list, show, export, delete.'
  throw new UsageError(
    command === undefined
      ? `Missing required argument 'command'; ${allowed}`
      : `Unknown command '${command}'; ${allowed}`,
  )
})

let database: CommandDatabase
parsed(script)

async function run(work: () => Promise<void>): Promise<void> {
  const target = getTarget(script.opts())
  requireStateFolder(target)
  database = await openDatabase(target)
  try {
    await work()
  } finally {
    database.close()
  }
}

/** @param given an ID or a name. @throws if there is no such organization, or several. */
async function find(given: string): Promise<Row> {
  const id = given.toLowerCase()
  const rows = isUuid(id)
    ? await rowsOf('SELECT * FROM "organizations" WHERE "id" = ?', id)
    : await rowsOf('SELECT * FROM "organizations" WHERE "name" = ? ORDER BY "id"', given)
  const [organization] = rows
  if (!organization) {
    throw new Error(
      `There is no organization with this ${isUuid(id) ? 'ID' : 'name'}; got "${given}". To list them: npm run organization -- list`,
    )
  }
  if (rows.length > 1) {
    const ids = rows.map(({ id }) => id).join(', ')
    throw new UsageError(`${rows.length} organizations have the name "${given}"; pass one of their IDs: ${ids}.`)
  }
  return organization
}

async function rowsOf(sql: string, ...parameters: readonly Value[]): Promise<Row[]> {
  const [rows = []] = await database.batch([{ sql, parameters }])
  return rows
}

async function list(isJson: boolean): Promise<void> {
  const overviews = await readOverviews(database, getTarget(script.opts()), new Date())
  console.log(isJson ? JSON.stringify(overviews, null, 2) : organizationLines(overviews).join('\n'))
}

async function show({ id = '' }: Row, isJson: boolean): Promise<void> {
  const [overview] = await readOverviews(database, getTarget(script.opts()), new Date(), String(id))
  if (isJson) return console.log(JSON.stringify(overview, null, 2))
  const { name, createdAt, liveKeys, runsPending, runsFailedLastDay, usage } = overview ?? {}
  const lines = aligned([
    ['Name', String(name)],
    ['ID', String(id)],
    ['Created', String(createdAt)],
    ['API keys', `${numberText(Number(liveKeys))} live`],
    [
      'Runs',
      `${numberText(Number(runsPending))} pending; ${numberText(Number(runsFailedLastDay))} failed in the last 24 hours`,
    ],
    ...Object.entries(usage ?? {}).map(([quota, each], index) => [index === 0 ? 'Quotas' : '', usageText(quota, each)]),
  ])
  console.log(lines.join('\n'))
}

/** The tables with rows of the organization, and how many; API keys first. */
async function countRows(id: Value): Promise<[table: string, count: number][]> {
  const tables = await rowsOf(
    `SELECT "name" FROM sqlite_master WHERE "type" = 'table' AND instr("sql", 'organizationId') > 0
     ORDER BY "name" <> 'apiKeys', "name"`,
  )
  const counts = tables.map(({ name }) => `(SELECT count(*) FROM "${name}" WHERE "organizationId" = ?1) AS "${name}"`)
  const [row = {}] = await rowsOf(`SELECT ${counts.join(', ')}`, id)
  return Object.entries(row)
    .map(([table, count]): [string, number] => [table, Number(count)])
    .filter(([, count]) => count > 0)
}

async function exportTo(organization: Row, output: string): Promise<void> {
  const openStore = () => ObjectStore.open(getTarget(script.opts()))
  const counts = await countRows(organization.id ?? '')
  const isComplete = await exportOrganization(database, openStore, organization, counts, output)
  if (!isComplete) process.exitCode = 1
}

async function deleteOrganization({ id = '', name }: Row, given: string): Promise<void> {
  if (given !== name)
    throw new UsageError(
      `--name is not the name of the organization; got "${given}". See: npm run organization -- list`,
    )
  let counts = await countRows(id)
  const total = counts.reduce((sum, [, count]) => sum + count, 0)
  const progress = startProgress('Rows', total)
  // API keys are deleted first, so that the organization can make no more requests. Uploads in progress have
  // recorded their objects.
  const { remote } = getTarget(script.opts())
  const rows = remote ? ROWS_PER_DELETION : LOCAL_ROWS_PER_DELETION
  for (; counts.length > 0; counts = await countRows(id)) {
    for (const [table, count] of counts) {
      for (let left = count; left > 0; left -= rows) {
        await deletePage(table, id, rows)
        progress.add(Math.min(left, rows))
        if (!remote) await setTimeout(LOCAL_PAUSE_MS)
      }
    }
  }
  await rowsOf('DELETE FROM "organizations" WHERE "id" = ?', id)
  progress.end(`Deleted ${numberText(total)} rows. The tick deletes the objects of the organization.`)
}

/**
 * Deletes some rows and records their objects as orphaned, in one transaction: no object is lost without its
 * record.
 */
async function deletePage(table: string, id: Value, rows: number): Promise<void> {
  const key = quoted((await listColumns(database, table)).key)
  const isOnPage = `(${key}) IN
    (SELECT ${key} FROM "${table}" WHERE "organizationId" = ? ORDER BY ${key} LIMIT ${rows})`
  const now = new Date().toISOString()
  const marks = (OBJECT_COLUMNS[table] ?? []).map((column) => ({
    sql: `INSERT INTO "orphanedObjects" ("objectKey", "deleteAfter") SELECT "${column}", ? FROM "${table}"
      WHERE ${isOnPage} AND "${column}" IS NOT NULL ON CONFLICT DO NOTHING`,
    parameters: [now, id],
  }))
  await database.batch([...marks, { sql: `DELETE FROM "${table}" WHERE ${isOnPage}`, parameters: [id] }])
}
