/**
 * Refuses every change of one organization while it moves to another database: triggers on each table with its rows.
 * They ask the table `halts`, so the guard is renewed, made final and lifted by one row. It ends by itself if nobody
 * renews it.
 */
import { MOVE_MESSAGE } from '../src/db/failures.ts'
import type { Query } from './cloudflare.ts'
import type { OrganizationTable } from './organization-rows.ts'

/** An instant by D1's clock, because the clock of this machine may be wrong. */
export const instant = (modifier = '') => `strftime('%Y-%m-%dT%H:%M:%fZ', 'now'${modifier})`

/** What is written of a key although it is not to change, and what the move itself writes. */
const EXCEPTED = ['lastUsedAt', 'movedTo']

/** What the name of each trigger begins with. */
export const MOVE_TRIGGERS = 'move '

const triggerOf = (organizationId: string, { name }: OrganizationTable, event: string) =>
  `"${MOVE_TRIGGERS}${organizationId} ${name} ${event}"`

/** The triggers of the guard. @param organizationId a UUID. */
export function guardQueries(tables: readonly OrganizationTable[], organizationId: string): Query[] {
  const isHalted = `EXISTS (SELECT 1 FROM "halts" WHERE "organizationId" = '${organizationId}'
    AND "kind" IN ('leaving', 'arriving', 'left') AND ("until" IS NULL OR "until" > ${instant()}))`
  return tables.flatMap((table) => {
    const columns = table.columns.filter((column) => !EXCEPTED.includes(column)).map((column) => `"${column}"`)
    const events = [
      ['insert', 'INSERT', 'new.'],
      ['update', `UPDATE OF ${columns.join(', ')}`, 'old.'],
      ['delete', 'DELETE', 'old.'],
    ] as const
    return events.map(([event, when, row]) => ({
      sql: `CREATE TRIGGER IF NOT EXISTS ${triggerOf(organizationId, table, event)} BEFORE ${when} ON "${table.name}"
        WHEN ${table.organizationOf(row)} = '${organizationId}' AND ${isHalted}
        BEGIN SELECT RAISE(ABORT, '${MOVE_MESSAGE}'); END`,
    }))
  })
}

export function unguardQueries(tables: readonly OrganizationTable[], organizationId: string): Query[] {
  return tables.flatMap((table) =>
    ['insert', 'update', 'delete'].map((event) => ({
      sql: `DROP TRIGGER IF EXISTS ${triggerOf(organizationId, table, event)}`,
    })),
  )
}
