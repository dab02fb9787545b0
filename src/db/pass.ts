/**
 * Passes: work on every row of a table once a day, page by page. A tick works on some pages, and its batches store in
 * the table `passes` where the next tick continues.
 */
import { and, eq, sql } from 'drizzle-orm'
import { DAY_MS } from '../durations.ts'
import type { Database } from './database.ts'
import { text } from './parameters.ts'
import { passes } from './schema.ts'
import { query, type RowOf, runBatch, unguarded } from './statement.ts'

/** The pass that computes next runs again (resources/work/firing/refresh-next-runs.ts). */
export const NEXT_RUNS_PASS = 'next runs'

const PASS_INTERVAL_MS = DAY_MS

const pass = text('pass')
const dueAt = text('dueAt')
const passCursor = text('passCursor')
const nextDueAt = text('nextDueAt')
const nextCursor = text('nextCursor')

export const selectPass = unguarded({ pass }, () =>
  query.select({ dueAt: passes.dueAt, cursor: passes.cursor }).from(passes).where(eq(passes.name, pass)),
)

export type Pass = RowOf<typeof selectPass>

/** The pass, if it is due. */
export async function duePass(database: Database, name: string, now: string): Promise<Pass | undefined> {
  const { current } = await runBatch(database, { current: selectPass }, { pass: name })
  const [{ dueAt, cursor } = { dueAt: now, cursor: '' }] = current
  return dueAt > now ? undefined : { dueAt, cursor }
}

/** Begins a pass that has no row. */
export const insertPass = unguarded({ pass, dueAt }, () =>
  query
    .insert(passes)
    .values({ name: sql`${pass}`, dueAt: sql`${dueAt}`, cursor: '' })
    .onConflictDoNothing(),
)

/** Does nothing if another tick moved the pass on or another pass began. */
export const movePass = unguarded({ pass, dueAt, passCursor, nextDueAt, nextCursor }, () =>
  query
    .update(passes)
    .set({ dueAt: sql`${nextDueAt}`, cursor: sql`${nextCursor}` })
    .where(and(eq(passes.name, pass), eq(passes.dueAt, dueAt), eq(passes.cursor, passCursor))),
)

/**
 * The values of `movePass` but its name. The next pass is due a day after this one was, or at once if this one took
 * longer.
 * @param next the key of the last row of the page; undefined after the last page.
 */
export function movedOn({ dueAt, cursor }: Pass, next: string | undefined, instant: Date) {
  const dayLater = new Date(Math.max(Date.parse(dueAt) + PASS_INTERVAL_MS, instant.getTime())).toISOString()
  return {
    dueAt,
    passCursor: cursor,
    nextDueAt: next === undefined ? dayLater : dueAt,
    nextCursor: next ?? '',
  }
}
