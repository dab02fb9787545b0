/** What `npm run operate -- status --check` finds wrong: what the operator gets alerts of (src/alerts), and the same without them. */

import { LATE_MS } from '../src/alerts/ticks.ts'
import { MAX_DATABASE_BYTES } from '../src/db/database.ts'
import type { Value } from '../src/db/parameters.ts'
import type { Query, Row } from './cloudflare.ts'
import { CLOSING_BYTES } from './databases.ts'
import { percentText } from './overview.ts'

export interface DatabaseState {
  readonly number: number
  readonly sizeBytes: number
  /** The minute of its last tick; null: none has run. */
  readonly lastTickAt: Value
}

/** In database 0: the alerts that still last, and that nothing but ticks and queues knows. */
export function selectLastingAlerts(now: Date): Query {
  return {
    // Without the receiver of alerts, the tick does not end them.
    sql: `SELECT "alerts".* FROM "alerts" LEFT JOIN "tickReports" USING ("database")
      WHERE ("name" = 'failing' AND "scheduledAt" > ?1) OR ("name" = 'dead-letters' AND "endsAt" > ?2)
      ORDER BY "alerts"."database", "name"`,
    parameters: [new Date(now.getTime() - LATE_MS).toISOString(), now.toISOString()],
  }
}

/** In database 0: the moves that are in progress or were interrupted. */
export const SELECT_MOVES: Query = {
  sql: 'SELECT "organizationId", "movingTo" FROM "directory" WHERE "movingTo" IS NOT NULL ORDER BY 1',
}

/**
 * @param alerts the rows of `selectLastingAlerts`.
 * @param moves the rows of `SELECT_MOVES`.
 * @param stopped a sentence for each brake.
 */
export function problemsOf(
  databases: readonly DatabaseState[],
  alerts: readonly Row[],
  moves: readonly Row[],
  stopped: readonly string[],
  now: Date,
): string[] {
  const ofDatabases = databases.flatMap(({ number, sizeBytes, lastTickAt }) => {
    const share = sizeBytes / MAX_DATABASE_BYTES
    const isLate = lastTickAt === null || Date.parse(String(lastTickAt)) <= now.getTime() - LATE_MS
    return [
      sizeBytes >= CLOSING_BYTES && `Database ${number} is ${percentText(share)} full.`,
      isLate &&
        `The tick of database ${number} is late: ${lastTickAt === null ? 'none has run' : `the last one was ${lastTickAt}`}.`,
    ]
  })
  const ofAlerts = alerts.map(({ database, name, begunAt }) =>
    name === 'failing'
      ? `Calls of ticks to database ${database} have failed since ${begunAt}.`
      : `Messages of database ${database} have become dead letters since ${begunAt}.`,
  )
  const ofMoves = moves.map(
    ({ organizationId, movingTo }) =>
      `The organization ${organizationId} is moving to database ${movingTo}. If no command does it: npm run operate -- organization move ${organizationId} --to ${movingTo}`,
  )
  return [...ofDatabases, ...ofAlerts, ...ofMoves, ...stopped].filter((problem) => problem !== false)
}
