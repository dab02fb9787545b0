/** Lists, shows, exports, moves, suspends and deletes organizations (docs/operate.md, docs/restore.md). */
import './private-files.ts'
import { setTimeout } from 'node:timers/promises'
import type { Value } from '../src/db/parameters.ts'
import { isUuid } from '../src/http/fields.ts'
import {
  describeScript,
  getTarget,
  numberText,
  type Progress,
  parsed,
  startProgress,
  UsageError,
  withTarget,
} from '../tools/command-line.ts'
import { SELECT_STOPPED, stoppedOf, stoppedText } from './brakes.ts'
import type { Query, Row } from './cloudflare.ts'
import { type CommandDatabase, listColumns, quoted } from './database.ts'
import { Databases } from './databases.ts'
import { findOrganization } from './find-organization.ts'
import { ObjectStore } from './objects.ts'
import { exportOrganization } from './organization-export.ts'
import { type MoveDatabases, moveOrganization } from './organization-move.ts'
import { countRows, OBJECT_COLUMNS, OPERATOR_TABLES } from './organization-tables.ts'
import { aligned, organizationLines, readOverviews, usageText } from './overview.ts'
import { requireStateFolder } from './state-folder.ts'
import { reasonOfSuspension, resume, suspend } from './suspension.ts'

const ROWS_PER_DELETION = 5000
/** Locally, a page and a pause are so short that the service, which has the same file, can write between two pages. */
const LOCAL_ROWS_PER_DELETION = 500
const LOCAL_PAUSE_MS = 50
/** A move has many small batches. */
const LOCAL_MOVE_PAUSE_MS = 5
/** Cloudflare's API allows 1,200 calls in five minutes. Beyond that a call waits for longer than the halt lasts. */
const MS_PER_CALL = 250

/** The attempts of a call to a deployed database during a move. The pauses are shorter than the halt of the organization. */
const MAX_ATTEMPTS = 5
const PAUSE_MS = 500

const ORGANIZATION = ['<organization>', 'its ID, or its name if no other organization has it'] as const

const script = withTarget(
  describeScript('operate organization', 'Lists, shows, exports, moves, suspends and deletes organizations.', [
    'list',
    'show Acme',
    'export Acme --output some/dir --remote',
    'move Acme --to 1 --remote',
    "suspend Acme --reason 'Sends spam' --remote",
    'resume Acme --remote',
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
  .requiredOption('--output <folder>', 'a folder that does not exist yet, or the folder of an interrupted export')
  .action((given, { output }) => run(async () => exportTo(await find(given), output)))
script
  .command('move')
  .description(
    'move an organization to another database; continues an interrupted move, or undoes it with the first one',
  )
  .argument(...ORGANIZATION)
  .requiredOption('--to <number>', 'the number of the database')
  .action((given, { to }) => {
    const number = /^\d{1,4}$/.test(to) ? Number(to) : undefined
    if (number === undefined) throw new UsageError(`--to is not the number of a database; got "${to}".`)
    return run(async () => move(await find(given), number))
  })
script
  .command('suspend')
  .description('refuse all requests of an organization, and stop its schedules and deliveries')
  .argument(...ORGANIZATION)
  .requiredOption('--reason <text>', 'why, which only operators see')
  .action((given, { reason }) =>
    run(async () => {
      const { id, name } = await find(given)
      await suspend(database, String(id), reason)
      console.log(`${name} is suspended. To end that: npm run operate -- organization resume ${id}`)
    }),
  )
script
  .command('resume')
  .description('end the suspension of an organization')
  .argument(...ORGANIZATION)
  .action((given) =>
    run(async () => {
      const { id, name } = await find(given)
      console.log((await resume(database, String(id))) ? `${name} is resumed.` : `${name} is not suspended.`)
    }),
  )
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
  const allowed = 'allowed: list, show, export, move, suspend, resume, delete.'
  throw new UsageError(
    command === undefined
      ? `Missing required argument 'command'; ${allowed}`
      : `Unknown command '${command}'; ${allowed}`,
  )
})

let databases: Databases
/** The database of the organization, once it is found. */
let database: CommandDatabase
parsed(script)

async function run(work: () => Promise<void>): Promise<void> {
  const target = getTarget(script.opts())
  requireStateFolder(target)
  databases = await Databases.open(target)
  try {
    await work()
  } finally {
    databases.close()
  }
}

async function find(given: string): Promise<Row> {
  const found = await findOrganization(databases, given)
  database = found.database
  return found.organization
}

async function list(isJson: boolean): Promise<void> {
  const overviews = await readOverviews(databases, getTarget(script.opts()), new Date())
  console.log(isJson ? JSON.stringify(overviews, null, 2) : organizationLines(overviews).join('\n'))
}

async function show({ id = '' }: Row, isJson: boolean): Promise<void> {
  const [overview] = await readOverviews(databases, getTarget(script.opts()), new Date(), String(id))
  const { movingTo } = overview ?? {}
  const reason = await reasonOfSuspension(database, String(id))
  const suspension = reason === undefined ? {} : { suspended: reason }
  const [rows = []] = await database.batch([{ sql: SELECT_STOPPED }])
  const stopped = stoppedOf(rows).filter(({ organizationId }) => organizationId === null || organizationId === id)
  if (isJson)
    return console.log(JSON.stringify({ ...overview, ...suspension, ...(stopped.length > 0 && { stopped }) }, null, 2))
  const { name, createdAt, database: number, liveKeys, runsPending, runsFailedLastDay, usage } = overview ?? {}
  const lines = aligned([
    ['Name', String(name)],
    ['ID', String(id)],
    ['Created', String(createdAt)],
    ...(number === undefined ? [] : [['Database', String(number)]]),
    ...(movingTo === undefined
      ? []
      : [['Moving', `to database ${movingTo}; if no command does it: --to ${movingTo} continues`]]),
    ...(reason === undefined ? [] : [['Suspended', reason]]),
    ...stopped.map((each, index) => [index === 0 ? 'Stopped' : '', stoppedText(each)]),
    [
      'API keys',
      `${numberText(Number(liveKeys))} live; ${numberText(usage?.apiKeys?.used ?? 0)} count towards the quota`,
    ],
    [
      'Runs',
      `${numberText(Number(runsPending))} pending; ${numberText(Number(runsFailedLastDay))} failed in the last 24 hours`,
    ],
    ...Object.entries(usage ?? {}).map(([quota, each], index) => [index === 0 ? 'Quotas' : '', usageText(quota, each)]),
  ])
  console.log(lines.join('\n'))
}

async function exportTo(organization: Row, output: string): Promise<void> {
  const openStore = () => ObjectStore.open(getTarget(script.opts()))
  const counts = await countRows(database, organization.id ?? '')
  const exported = counts.filter(([table]) => !OPERATOR_TABLES.includes(table))
  const isComplete = await exportOrganization(database, openStore, organization, exported, output)
  if (!isComplete) process.exitCode = 1
}

async function move({ id = '', name }: Row, to: number): Promise<void> {
  const { remote } = getTarget(script.opts())
  let progress: Progress | undefined
  let rows = 0
  let copiedAt = 0
  const result = await moveOrganization(forMove(remote), String(id), to, {
    rowsPerDeletion: remote ? ROWS_PER_DELETION : LOCAL_ROWS_PER_DELETION,
    onCopying(total) {
      copiedAt = Date.now()
      progress = startProgress('Rows', total)
    },
    onCopied(count) {
      rows += count
      progress?.add(count)
    },
    onStep(what) {
      progress?.end(`Copied ${numberText(rows)} rows, ${numberText(rateOf(rows, copiedAt))} a second.`)
      progress = undefined
      console.log(what)
    },
  })
  const said = { moved: 'is in', undone: 'stays in', 'there already': 'is already in' }[result]
  console.log(`${name} ${said} database ${to}.`)
}

const rateOf = (rows: number, since: number) => Math.round(rows / Math.max(1, (Date.now() - since) / 1000))

/**
 * The databases for a move. Calls to a deployed one are repeated if they fail, because each batch of a move may be. A
 * local one is left to the service for a moment after each batch.
 */
function forMove(remote: boolean): MoveDatabases {
  let nextCallAt = 0
  const batchIn = async (number: number, queries: readonly Query[]) => {
    if (remote) {
      const waitMs = nextCallAt - Date.now()
      nextCallAt = Math.max(nextCallAt, Date.now()) + MS_PER_CALL
      if (waitMs > 0) await setTimeout(waitMs)
    }
    return databases.get(number).batch(queries)
  }
  return {
    numbers: databases.numbers,
    get: (number) => ({
      async batch(queries) {
        if (remote) return repeated(() => batchIn(number, queries))
        const rows = await batchIn(number, queries)
        await setTimeout(LOCAL_MOVE_PAUSE_MS)
        return rows
      },
    }),
  }
}

async function repeated<Result>(call: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await call()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error
      await setTimeout(PAUSE_MS * 2 ** attempt)
    }
  }
}

async function deleteOrganization({ id = '', name }: Row, given: string): Promise<void> {
  if (given !== name)
    throw new UsageError(
      `--name is not the name of the organization; got "${given}". See: npm run operate -- organization list`,
    )
  const { movingTo = null } = (await databases.places()).get(String(id)) ?? {}
  if (movingTo !== null) throw new Error(`The organization is moving to database ${movingTo}. Complete the move first.`)
  // After its own database those that it has left, which have the rows of its earlier API keys.
  const places = [database, ...databases.all.map((each) => each.database).filter((each) => each !== database)]
  const counts = await Promise.all(places.map((each) => countRows(each, id)))
  const total = counts.flat().reduce((sum, [, count]) => sum + count, 0)
  const progress = startProgress('Rows', total)
  for (const each of places) await deleteRows(each, id, progress.add)
  for (const each of places) {
    await each.batch([{ sql: 'DELETE FROM "organizations" WHERE "id" = ?', parameters: [id] }])
  }
  progress.end(`Deleted ${numberText(total)} rows. The tick deletes the objects of the organization.`)
}

/**
 * Deletes the rows of an organization, its API keys first, so that it can make no more requests. Uploads in progress have
 * recorded their objects.
 */
async function deleteRows(database: CommandDatabase, id: Value, add: (rows: number) => void): Promise<void> {
  const { remote } = getTarget(script.opts())
  const rows = remote ? ROWS_PER_DELETION : LOCAL_ROWS_PER_DELETION
  for (let counts = await countRows(database, id); counts.length > 0; counts = await countRows(database, id)) {
    for (const [table, count] of counts) {
      for (let left = count; left > 0; left -= rows) {
        await deletePage(database, table, id, rows)
        add(Math.min(left, rows))
        if (!remote) await setTimeout(LOCAL_PAUSE_MS)
      }
    }
  }
}

/**
 * Deletes some rows and records their objects as orphaned, in one transaction: no object is lost without its
 * record.
 */
async function deletePage(database: CommandDatabase, table: string, id: Value, rows: number): Promise<void> {
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
