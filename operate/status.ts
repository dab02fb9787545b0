/**
 * Shows what is inside a database: organizations, runs, schedules, size, schema and the last tick (docs/operate.md).
 */

import type { Value } from '../src/db/parameters.ts'
import { migrationNames } from './backups/backup-file.ts'
import { describeScript, getTarget, numberText, parsed, withTarget } from './command-line.ts'
import { type CommandDatabase, databaseConfiguration, openDatabase } from './database.ts'
import { aligned, type Overview, organizationLines, percentText, readOverviews } from './overview.ts'
import { requireStateFolder } from './state-folder.ts'
import { stateFolder } from './wrangler.ts'

/** The size of a D1 database on the paid plan. */
const LARGEST_DATABASE_BYTES = 10_000_000_000
const TICK_MS = 60_000
/** The organizations that the text shows. */
const MAX_SHOWN = 20

interface Status {
  readonly database: { readonly sizeBytes: number; readonly limitBytes: number }
  readonly schema: { readonly migration: string; readonly isCurrent: boolean }
  readonly lastTickAt: Value
  readonly schedules: { readonly nextDueAt: Value; readonly late: number }
  readonly runs: { readonly pending: number; readonly failedLastDay: number }
  readonly liveKeys: number
  readonly objectsToDelete: { readonly waiting: number; readonly overdue: number }
  readonly organizations: readonly Overview[]
}

const options = parsed(
  withTarget(
    describeScript(
      'status',
      'Shows what is inside: organizations with their usage, runs, schedules, the size of the database, its schema and the last tick.',
      ['', '--remote', '--remote --json'],
    ).option('--json', 'print JSON, with the usage of every quota of every organization'),
  ),
).opts()
const target = getTarget(options)
requireStateFolder(target)
const database = await openDatabase(target)
try {
  await showStatus(database)
} finally {
  database.close()
}

async function showStatus(database: CommandDatabase): Promise<void> {
  const now = new Date()
  const newest = migrationNames().at(-1) ?? ''
  const [applied = []] = await database.batch([{ sql: 'SELECT "name" FROM "d1_migrations" ORDER BY "id"' }])
  const migration = String(applied.at(-1)?.name)
  const schema = { migration, isCurrent: migration === newest }
  if (!applied.some(({ name }) => name === newest)) {
    throw new Error(
      `The schema is older than this code: the newest migration is ${migration}, but the code has ${newest}. Run ${target.remote ? 'npm run deploy' : 'npm run dev'}, which applies migrations, or check out the code that is deployed.`,
    )
  }
  const organizations = await readOverviews(database, target, now)
  const [[row = {}] = []] = await database.batch([
    {
      sql: `SELECT (SELECT max("scheduledAt") FROM "lastTick") AS "lastTickAt",
        (SELECT min("nextRunAt") FROM "schedules" WHERE "nextRunAt" IS NOT NULL) AS "nextDueAt",
        (SELECT count(*) FROM "schedules" WHERE "nextRunAt" < ?1) AS "late",
        (SELECT count(*) FROM "orphanedObjects") AS "objects",
        (SELECT count(*) FROM "orphanedObjects" WHERE "deleteAfter" < ?1) AS "overdueObjects"`,
      parameters: [new Date(now.getTime() - TICK_MS).toISOString()],
    },
  ])
  const sum = (count: 'liveKeys' | 'runsPending' | 'runsFailedLastDay') =>
    organizations.reduce((total, organization) => total + organization[count], 0)
  const status: Status = {
    database: { sizeBytes: await database.sizeBytes(), limitBytes: LARGEST_DATABASE_BYTES },
    schema,
    lastTickAt: row.lastTickAt ?? null,
    schedules: { nextDueAt: row.nextDueAt ?? null, late: Number(row.late) },
    runs: { pending: sum('runsPending'), failedLastDay: sum('runsFailedLastDay') },
    liveKeys: sum('liveKeys'),
    objectsToDelete: { waiting: Number(row.objects), overdue: Number(row.overdueObjects) },
    organizations,
  }
  console.log(options.json ? JSON.stringify(status, null, 2) : textOf(status, now))
}

function textOf(status: Status, now: Date): string {
  const { sizeBytes, limitBytes } = status.database
  const { schedules, runs, objectsToDelete, organizations } = status
  const shown = organizations.slice(0, MAX_SHOWN)
  const hidden = organizations.length - shown.length
  return [
    ...aligned([
      ['Database', target.remote ? String(databaseConfiguration(target).database_name) : stateFolder(target)],
      ['Size', `${(sizeBytes / 1e6).toFixed(1)} MB, ${percentText(sizeBytes / limitBytes)} of 10 GB`],
      ['Schema', `${status.schema.migration}${status.schema.isCurrent ? ', current' : ', newer than this code'}`],
      ['Last tick', instantText(status.lastTickAt, now)],
      ['Schedules', `next due: ${instantText(schedules.nextDueAt, now)}; ${numberText(schedules.late)} late`],
      ['Runs', `${numberText(runs.pending)} pending; ${numberText(runs.failedLastDay)} failed in the last 24 hours`],
      ['API keys', `${numberText(status.liveKeys)} live`],
      ['Objects', `${numberText(objectsToDelete.waiting)} to delete, ${numberText(objectsToDelete.overdue)} overdue`],
    ]),
    '',
    ...(organizations.length === 0 ? ['No organizations.'] : organizationLines(shown)),
    ...(hidden > 0 ? [`and ${numberText(hidden)} more: npm run organization -- list`] : []),
  ].join('\n')
}

function instantText(instant: unknown, now: Date): string {
  if (typeof instant !== 'string') return 'none'
  const seconds = Math.round((now.getTime() - Date.parse(instant)) / 1000)
  return `${instant} (${seconds >= 0 ? `${numberText(seconds)} s ago` : `in ${numberText(-seconds)} s`})`
}
