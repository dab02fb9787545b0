/**
 * Shows what is inside: organizations, runs, schedules, and of each database its size, schema and last tick
 * (docs/operate.md).
 */

import { relativeTime } from '../command-line/src/times.ts'
import { MAX_DATABASE_BYTES } from '../src/db/database.ts'
import type { Value } from '../src/db/parameters.ts'
import { describeScript, getTarget, numberText, parsed, withTarget } from '../tools/command-line.ts'
import { flagsOf, stateFolder } from '../tools/wrangler.ts'
import { releasing, SELECT_STOPPED, type Stopped, stoppedOf, stoppedText } from './brakes.ts'
import type { Row } from './cloudflare.ts'
import { type CommandDatabase, databaseNameOf } from './database.ts'
import { Databases } from './databases.ts'
import { migrationNames, readMigrations } from './migrations.ts'
import { aligned, databaseLines, type Overview, organizationLines, readOverviews, sizeText } from './overview.ts'
import { problemsOf, SELECT_MOVES, selectLastingAlerts } from './problems.ts'
import { requireStateFolder } from './state-folder.ts'

const TICK_MS = 60_000
/** The organizations that the text shows. */
const MAX_SHOWN = 20

interface DatabaseStatus {
  readonly database: { readonly sizeBytes: number; readonly limitBytes: number }
  readonly schema: { readonly migration: string; readonly isCurrent: boolean }
  readonly lastTickAt: Value
  readonly schedules: { readonly nextDueAt: Value; readonly late: number }
  readonly objectsToDelete: { readonly waiting: number; readonly overdue: number }
}

/** With several databases, the sums, and of the size, the schema and the last tick the worst. */
interface Status extends DatabaseStatus {
  readonly runs: { readonly pending: number; readonly failedLastDay: number }
  readonly liveKeys: number
  readonly stopped: readonly Stopped[]
  /** With several databases. */
  readonly databases?: readonly (DatabaseStatus & {
    readonly number: number
    readonly name: string
    readonly state: string
  })[]
  readonly organizations: readonly Overview[]
}

const options = parsed(
  withTarget(
    describeScript(
      'operate status',
      'Shows what is inside: organizations with their usage, runs, schedules, the size of the database, its schema and the last tick.',
      ['', '--remote', '--remote --json', '--remote --check'],
    )
      .option('--json', 'print JSON, with the usage of every quota of every organization')
      .option('--check', 'for a monitor: print only what is wrong, and exit with 1 if something is'),
  ),
).opts()
const target = getTarget(options)
requireStateFolder(target)
const databases = await Databases.open(target)
try {
  await (options.check ? check() : showStatus())
} finally {
  databases.close()
}

async function showStatus(): Promise<void> {
  const now = new Date()
  const stopped: Row[] = []
  const each = await databases.map((database, number) => readStatus(database, number, now, stopped))
  const organizations = await readOverviews(databases, target, now)
  const sum = (count: 'liveKeys' | 'runsPending' | 'runsFailedLastDay') =>
    organizations.reduce((total, organization) => total + organization[count], 0)
  const status: Status = {
    ...worstOf(each),
    runs: { pending: sum('runsPending'), failedLastDay: sum('runsFailedLastDay') },
    liveKeys: sum('liveKeys'),
    stopped: stoppedOf(stopped),
    ...(databases.areSeveral && {
      databases: databases.all.map(({ number, name, state }, index) => ({
        number,
        name: name ?? databaseNameOf(target, number),
        state,
        ...(each[index] as DatabaseStatus),
      })),
    }),
    organizations,
  }
  console.log(options.json ? JSON.stringify(status, null, 2) : textOf(status, now))
}

/** Reads no organization, so that a monitor may run it each minute. A database that does not answer is a problem too. */
async function check(): Promise<void> {
  const now = new Date()
  let alerts: Row[] = []
  let moves: Row[] = []
  const failures: string[] = []
  const stopped: Row[] = []
  const states = await databases.map(async (database, number) => {
    try {
      await readSchema(database, number)
      const [ticks = [], rows = []] = await database.batch([
        { sql: 'SELECT max("scheduledAt") AS "lastTickAt" FROM "lastTick"' },
        { sql: SELECT_STOPPED },
      ])
      stopped.push(...rows)
      if (number === 0) [alerts = [], moves = []] = await database.batch([selectLastingAlerts(now), SELECT_MOVES])
      return [{ number, sizeBytes: await database.sizeBytes(), lastTickAt: ticks[0]?.lastTickAt ?? null }]
    } catch (error) {
      failures.push(`Database ${number}: ${(error as Error).message}`)
      return []
    }
  })
  const brakes = stoppedOf(stopped).map(
    (each) => `Stopped: ${stoppedText(each)}. To let it go on: ${releasing(each, flagsOf(target))}`,
  )
  const problems = [...failures.sort(), ...problemsOf(states.flat(), alerts, moves, brakes, now)]
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) process.exitCode = 1
  else console.log('Nothing is wrong.')
}

/** @throws if the schema is older than this code. */
async function readSchema(database: CommandDatabase, number: number): Promise<DatabaseStatus['schema']> {
  const newest = migrationNames().at(-1) ?? ''
  const { applied = [] } = await readMigrations(database)
  const migration = String(applied.at(-1))
  if (!applied.includes(newest)) {
    throw new Error(
      `The schema${databases.areSeveral ? ` of database ${number}` : ''} is older than this code: the newest migration is ${migration}, but the code has ${newest}. Run ${target.remote ? 'npm run deploy' : 'npm run dev'}, which applies migrations, or check out the code that is deployed.`,
    )
  }
  return { migration, isCurrent: migration === newest }
}

/** @param stopped gets what is stopped in the database. */
async function readStatus(
  database: CommandDatabase,
  number: number,
  now: Date,
  stopped: Row[],
): Promise<DatabaseStatus> {
  const schema = await readSchema(database, number)
  const [[row = {}] = [], brakes = []] = await database.batch([
    {
      sql: `SELECT (SELECT max("scheduledAt") FROM "lastTick") AS "lastTickAt",
        (SELECT min("nextRunAt") FROM "schedules" WHERE "nextRunAt" IS NOT NULL) AS "nextDueAt",
        (SELECT count(*) FROM "schedules" WHERE "nextRunAt" < ?1) AS "late",
        (SELECT count(*) FROM "orphanedObjects") AS "objects",
        (SELECT count(*) FROM "orphanedObjects" WHERE "deleteAfter" < ?1) AS "overdueObjects"`,
      parameters: [new Date(now.getTime() - TICK_MS).toISOString()],
    },
    { sql: SELECT_STOPPED },
  ])
  stopped.push(...brakes)
  return {
    database: { sizeBytes: await database.sizeBytes(), limitBytes: MAX_DATABASE_BYTES },
    schema,
    lastTickAt: row.lastTickAt ?? null,
    schedules: { nextDueAt: row.nextDueAt ?? null, late: Number(row.late) },
    objectsToDelete: { waiting: Number(row.objects), overdue: Number(row.overdueObjects) },
  }
}

function worstOf(each: readonly DatabaseStatus[]): DatabaseStatus {
  const [first, ...others] = each
  if (!first) throw new Error('There is no database.')
  const earliest = (one: Value, other: Value) => (String(one ?? '') < String(other ?? '') ? one : other)
  return others.reduce(
    (worst, next) => ({
      database: worst.database.sizeBytes >= next.database.sizeBytes ? worst.database : next.database,
      schema: worst.schema.isCurrent ? next.schema : worst.schema,
      lastTickAt: earliest(worst.lastTickAt, next.lastTickAt),
      schedules: {
        nextDueAt:
          worst.schedules.nextDueAt === null || next.schedules.nextDueAt === null
            ? (worst.schedules.nextDueAt ?? next.schedules.nextDueAt)
            : earliest(worst.schedules.nextDueAt, next.schedules.nextDueAt),
        late: worst.schedules.late + next.schedules.late,
      },
      objectsToDelete: {
        waiting: worst.objectsToDelete.waiting + next.objectsToDelete.waiting,
        overdue: worst.objectsToDelete.overdue + next.objectsToDelete.overdue,
      },
    }),
    first,
  )
}

function textOf(status: Status, now: Date): string {
  const { schedules, runs, objectsToDelete, organizations } = status
  const shown = organizations.slice(0, MAX_SHOWN)
  const hidden = organizations.length - shown.length
  const schemaText = ({ schema }: DatabaseStatus) =>
    `${schema.migration}${schema.isCurrent ? ', current' : ', newer than this code'}`
  const ofDatabase = [
    ['Database', target.remote ? databaseNameOf(target) : stateFolder(target)],
    ['Size', sizeText(status.database.sizeBytes)],
    ['Schema', schemaText(status)],
    ['Last tick', instantText(status.lastTickAt, now)],
  ]
  const several = status.databases?.map((each) => ({
    ...each,
    sizeBytes: each.database.sizeBytes,
    organizations: organizations.filter(({ database }) => database === each.number).length,
    schema: schemaText(each),
    lastTick: instantText(each.lastTickAt, now),
  }))
  return [
    ...(several ? [...databaseLines(several), ''] : []),
    ...aligned([
      ...(several ? [] : ofDatabase),
      ['Schedules', `next due: ${instantText(schedules.nextDueAt, now)}; ${numberText(schedules.late)} late`],
      ['Runs', `${numberText(runs.pending)} pending; ${numberText(runs.failedLastDay)} failed in the last 24 hours`],
      ...status.stopped.map((each, index) => [index === 0 ? 'Stopped' : '', stoppedText(each)]),
      ['API keys', `${numberText(status.liveKeys)} live`],
      ['Objects', `${numberText(objectsToDelete.waiting)} to delete, ${numberText(objectsToDelete.overdue)} overdue`],
    ]),
    '',
    ...(organizations.length === 0 ? ['No organizations.'] : organizationLines(shown)),
    ...(hidden > 0 ? [`and ${numberText(hidden)} more: npm run operate -- organization list`] : []),
  ].join('\n')
}

function instantText(instant: unknown, now: Date): string {
  return typeof instant === 'string' ? `${instant} (${relativeTime(new Date(instant), now.getTime())})` : 'none'
}
