/** What the commands of an operator read and show about organizations. */

import { startOfIds } from '../src/db/time-ids.ts'
import { DAY_MS } from '../src/durations.ts'
import { type Quota, readLimits } from '../src/environment.ts'
import type { Row } from './cloudflare.ts'
import { numberText } from './command-line.ts'
import type { CommandDatabase } from './database.ts'
import { readConfiguration, type Target } from './wrangler.ts'

export interface Usage {
  readonly used: number
  readonly quota: number
}

/** The usage of each quota, the fullest first. */
export type UsageByQuota = Readonly<Record<string, Usage>>

export interface Overview {
  readonly id: string
  readonly name: string
  readonly createdAt: string
  /** The keys that are neither revoked nor expired. */
  readonly liveKeys: number
  readonly runsPending: number
  readonly runsFailedLastDay: number
  readonly usage: UsageByQuota
}

/** Every organization, or the one with this ID. */
export async function readOverviews(
  database: CommandDatabase,
  target: Target,
  now: Date,
  id?: string,
): Promise<Overview[]> {
  const { quotas } = readLimits(readConfiguration(target).vars)
  const dayAgo = new Date(now.getTime() - DAY_MS).toISOString()
  const [rows = []] = await database.batch([
    {
      // The ID of a run begins with its time, so the primary key finds the runs of the last day.
      sql: `SELECT "organizationUsage".*, "organizations".*,
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
      parameters: [now.toISOString(), startOfIds(dayAgo), id ?? null],
    },
  ])
  return rows.map((row) => overviewOf(row, quotas))
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
  return aligned([
    ['NAME', 'ID', 'LIVE KEYS', 'RUNS PENDING', 'FAILED (24 H)', 'FULLEST QUOTA'],
    ...overviews.map(({ name, id, liveKeys, runsPending, runsFailedLastDay, usage }) => {
      const [[quota, fullest] = ['', { used: 0, quota: 0 }]] = Object.entries(usage)
      const counts = [liveKeys, runsPending, runsFailedLastDay].map(numberText)
      return [name, id, ...counts, usageText(quota, fullest)]
    }),
  ])
}
