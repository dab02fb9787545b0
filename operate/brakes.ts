/** What the operator has stopped: rows that the statements of the service read (src/db/halts.ts). */
import { type BRAKES, ON_RESUMPTION } from '../src/brakes.ts'
import type { Value } from '../src/db/parameters.ts'
import type { Query, Row } from './cloudflare.ts'
import type { CommandDatabase } from './database.ts'
import type { Databases } from './databases.ts'

export type Part = (typeof BRAKES)[number]

export interface Stopped {
  readonly what: string
  readonly since: string
  /** Null: all organizations. */
  readonly organizationId: Value
}

/** What is stopped already keeps its time. */
export function insertOf({ what, since, organizationId }: Stopped): Query {
  if (organizationId === null) {
    return {
      sql: 'INSERT INTO "brakes" ("kind", "since") VALUES (?, ?) ON CONFLICT DO NOTHING',
      parameters: [what, since],
    }
  }
  return {
    sql: 'INSERT INTO "organizationBrakes" ("organizationId", "kind", "since") VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
    parameters: [organizationId, what, since],
  }
}

/**
 * Lets it go on. Runs that were put off are checked with the next tick, and endpoints that failed before get three days
 * again. @returns false if it was not stopped.
 */
export async function release(database: CommandDatabase, part: Part, organizationId: Value): Promise<boolean> {
  const ofOrganization = organizationId === null ? '' : ' AND "organizationId" = ?2'
  const query = (sql: string, first: Value): Query => ({
    sql: sql + ofOrganization,
    parameters: organizationId === null ? [first] : [first, organizationId],
  })
  const table = organizationId === null ? '"brakes"' : '"organizationBrakes"'
  const remove = query(`DELETE FROM ${table} WHERE "kind" = ?1`, part)
  const [rows = []] = await database.batch([
    { ...remove, sql: `${remove.sql} RETURNING 1` },
    ...(part === 'deliveries'
      ? [
          // Its own time follows the one that it was put off to. Those of suspended organizations stay.
          query(
            `UPDATE "runs" INDEXED BY "runsToCheck" SET "checkAt" = substr("checkAt", -24)
              WHERE "checkAt" LIKE '% %' AND "checkAt" < ?1`,
            ON_RESUMPTION,
          ),
          query(
            'UPDATE "eventEndpoints" SET "failingSince" = ?1 WHERE "failingSince" IS NOT NULL',
            new Date().toISOString(),
          ),
        ]
      : []),
  ])
  return rows.length > 0
}

export const SELECT_STOPPED = `SELECT "kind" AS "what", "since", NULL AS "organizationId" FROM "brakes"
  UNION ALL SELECT "kind", "since", "organizationId" FROM "organizationBrakes"`

/** What is stopped in any of the databases, once each, with the earliest time. */
export async function readStopped(databases: Databases): Promise<Stopped[]> {
  return stoppedOf((await databases.map(async (database) => database.batch([{ sql: SELECT_STOPPED }]))).flat(2))
}

export function stoppedOf(rows: readonly Row[]): Stopped[] {
  const found = new Map<string, Stopped>()
  for (const { what, since, organizationId = null } of rows) {
    const key = `${what} ${organizationId ?? ''}`
    const earlier = found.get(key)?.since
    if (earlier === undefined || String(since) < earlier)
      found.set(key, { what: String(what), since: String(since), organizationId })
  }
  return [...found.entries()].sort(([one], [other]) => one.localeCompare(other)).map(([, stopped]) => stopped)
}

/** `firing of all organizations, since …`. */
export function stoppedText({ what, since, organizationId }: Stopped): string {
  const whose = organizationId === null ? 'all organizations' : `the organization ${organizationId}`
  return `${what} of ${whose}, since ${since}`
}

/** The command that lets it go on. @param flags those of the deployment. */
export function releasing({ what, organizationId }: Pick<Stopped, 'what' | 'organizationId'>, flags: string): string {
  const organization = organizationId === null ? '' : ` --organization ${organizationId}`
  return `npm run operate -- brake ${what}${organization} --off${flags}`
}

/** A new database stops what the first one has stopped for all. */
export async function copyBrakes(first: CommandDatabase, added: CommandDatabase): Promise<void> {
  const [rows = []] = await first.batch([{ sql: SELECT_STOPPED }])
  const stopped = stoppedOf(rows).filter(({ organizationId }) => organizationId === null)
  if (stopped.length > 0) await added.batch(stopped.map(insertOf))
}
