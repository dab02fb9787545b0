/** What the commands of an operator read and show about organizations. */

import { MAX_DATABASE_BYTES } from '../src/db/database.ts'
import { startOfIds } from '../src/db/time-ids.ts'
import { DAY_MS } from '../src/durations.ts'
import { type Quota, readLimits } from '../src/environment.ts'
import { numberText } from '../tools/command-line.ts'
import { readConfiguration, type Target } from '../tools/wrangler.ts'
import type { Row } from './cloudflare.ts'
import { CLOSING_BYTES, type Databases } from './databases.ts'

export interface Usage {
  readonly used: number
  readonly quota: number
}

/** The usage of each quota, the fullest first. */
export type UsageByQuota = Readonly<Record<string, Usage>>

export interface Overview {
  readonly id: string
  /** The number of the database that has it; left out if there is one. */
  readonly database?: number
  /** Left out if it does not move. */
  readonly movingTo?: number
  readonly name: string
  readonly createdAt: string
  /** The keys that are neither revoked nor expired. */
  readonly liveKeys: number
  readonly runsPending: number
  readonly runsFailedLastDay: number
  readonly usage: UsageByQuota
}

/** Every organization, or the one with this ID. */
export async function readOverviews(databases: Databases, target: Target, now: Date, id?: string): Promise<Overview[]> {
  const { quotas } = readLimits(readConfiguration(target).vars)
  const dayAgo = new Date(now.getTime() - DAY_MS).toISOString()
  // The ID of a run begins with its time, so the primary key finds the runs of the last day.
  const rows = await databases.rows(
    `SELECT "organizationUsage".*, "organizations".*,
          (SELECT count(*) FROM "apiKeys" WHERE "organizationId" = "organizations"."id" AND "revokedAt" IS NULL
            AND ("expiresAt" IS NULL OR "expiresAt" > ?1)) AS "liveKeys",
          (SELECT count(*) FROM "apiKeys" WHERE "organizationId" = "organizations"."id" AND "kind" = 'key'
            AND "revokedAt" IS NULL AND "rotatedAt" IS NULL AND ("expiresAt" IS NULL OR "expiresAt" > ?1)) AS "apiKeys",
          (SELECT count(*) FROM "runs" WHERE "organizationId" = "organizations"."id" AND "status" = 'pending') AS "runsPending",
          (SELECT count(*) FROM "runs" WHERE "organizationId" = "organizations"."id" AND "status" = 'failed'
            AND "id" >= ?2) AS "runsFailedLastDay"
        FROM "organizations" LEFT JOIN "organizationUsage" ON "organizationUsage"."organizationId" = "organizations"."id"
        WHERE ?3 IS NULL OR "organizations"."id" = ?3
        ORDER BY "organizations"."name", "organizations"."id"`,
    now.toISOString(),
    startOfIds(dayAgo),
    id ?? null,
  )
  const overviews: Overview[] = []
  for (const row of rows) {
    if (!(await databases.isPlace(String(row.id), row.inDatabase))) continue
    const { movingTo = null } = (databases.areSeveral && (await databases.places()).get(String(row.id))) || {}
    overviews.push({
      ...overviewOf(row, quotas),
      ...(databases.areSeveral && { database: row.inDatabase }),
      ...(movingTo !== null && { movingTo }),
    })
  }
  return databases.areSeveral ? overviews.sort(byName) : overviews
}

/** The order of SQLite. */
function byName(one: Overview, other: Overview): number {
  const [first, second] = [one, other].map(({ name, id }) => Buffer.from(`${name}\0${id}`))
  return Buffer.compare(first ?? Buffer.of(), second ?? Buffer.of())
}

function overviewOf(row: Row, quotas: Readonly<Record<Quota, number>>): Overview {
  const usage = Object.entries(quotas).map(([name, quota]) => ({ name, used: Number(row[name] ?? 0), quota }))
  usage.sort((one, other) => shareOf(other) - shareOf(one))
  return {
    id: String(row.id),
    name: String(row.name),
    createdAt: String(row.createdAt),
    liveKeys: Number(row.liveKeys),
    runsPending: Number(row.runsPending),
    runsFailedLastDay: Number(row.runsFailedLastDay),
    usage: Object.fromEntries(usage.map(({ name, used, quota }) => [name, { used, quota }])),
  }
}

function shareOf({ used, quota }: Usage): number {
  return used === 0 ? 0 : used / quota
}

/** For example "12 of 1,000 schedules (1 %)". */
export function usageText(name: string, usage: Usage): string {
  const noun = name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replace('api ', 'API ')
  return `${numberText(usage.used)} of ${numberText(usage.quota)} ${noun} (${percentText(shareOf(usage))})`
}

export function percentText(share: number): string {
  return share > 0 && share < 0.01 ? '< 1 %' : `${Math.floor(share * 100)} %`
}

/** Lines with aligned columns. */
export function aligned(rows: readonly (readonly string[])[]): string[] {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? []
  return rows.map((row) =>
    row
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  )
}

/** A table of organizations, each with its fullest quota. */
export function organizationLines(overviews: readonly Overview[]): string[] {
  const areSeveral = overviews.some(({ database }) => database !== undefined)
  const numberOf = (database: string) => (areSeveral ? [database] : [])
  return aligned([
    ['NAME', 'ID', ...numberOf('DATABASE'), 'LIVE KEYS', 'RUNS PENDING', 'FAILED (24 H)', 'FULLEST QUOTA'],
    ...overviews.map(({ name, id, database, movingTo, liveKeys, runsPending, runsFailedLastDay, usage }) => {
      const [[quota, fullest] = ['', { used: 0, quota: 0 }]] = Object.entries(usage)
      const counts = [liveKeys, runsPending, runsFailedLastDay].map(numberText)
      return [
        name,
        id,
        ...numberOf(`${database}${movingTo === undefined ? '' : `, moving to ${movingTo}`}`),
        ...counts,
        usageText(quota, fullest),
      ]
    }),
  ])
}

/** For example "412.3 MB, 4 % of 10 GB". */
export function sizeText(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB, ${percentText(bytes / MAX_DATABASE_BYTES)} of 10 GB`
}

export interface DatabaseOverview {
  readonly number: number
  readonly name: string
  readonly state: string
  readonly sizeBytes: number
  readonly organizations: number
  readonly schema: string
  readonly lastTick?: string
}

/** A table of databases. */
export function databaseLines(databases: readonly DatabaseOverview[]): string[] {
  const hasTicks = databases.some(({ lastTick }) => lastTick !== undefined)
  return aligned([
    ['DATABASE', 'NAME', 'STATE', 'SIZE', 'ORGANIZATIONS', 'SCHEMA', ...(hasTicks ? ['LAST TICK'] : [])],
    ...databases.map(({ number, name, state, sizeBytes, organizations, schema, lastTick }) => [
      String(number),
      name,
      stateText(state, sizeBytes),
      sizeText(sizeBytes),
      numberText(organizations),
      schema,
      ...(lastTick === undefined ? [] : [lastTick]),
    ]),
  ])
}

/** An open database that is 70 % full is closed to new organizations. */
function stateText(state: string, sizeBytes: number): string {
  return state === 'open' && sizeBytes >= CLOSING_BYTES ? 'closed (70 % full)' : state
}
