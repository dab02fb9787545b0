/**
 * Passes: work on every row of a table once a day, page by page. A tick works on some pages, and its batches store in the
 * table `passes` where the next tick continues.
 */
import { and, eq, sql } from 'drizzle-orm'
import { DAY_MS } from '../durations.ts'
import type { Database } from './database.ts'
import { passes } from './schema.ts'
import { query, runBatch, unguarded, type Values } from './statement.ts'

/** The pass that computes next runs again (resources/schedules/firing/refresh-next-runs.ts). */
export const NEXT_RUNS_PASS = 'next runs'

const PASS_INTERVAL_MS = DAY_MS

const name = sql`${sql.placeholder('pass')}`
const dueAt = sql`${sql.placeholder('dueAt')}`

export const selectPass = unguarded(() =>
  query.select({ dueAt: passes.dueAt, cursor: passes.cursor }).from(passes).where(eq(passes.name, name)),
)

export type Pass = NonNullable<(typeof selectPass)['row']>

/** The pass, if it is due. */
export async function duePass(database: Database, pass: string, now: string): Promise<Pass | undefined> {
  const [[current = { dueAt: now, cursor: '' }]] = await runBatch(database, [selectPass], { pass })
  return current.dueAt > now ? undefined : current
}

/** Begins a pass that has no row. */
export const insertPass = unguarded(() =>
  query.insert(passes).values({ name, dueAt, cursor: '' }).onConflictDoNothing(),
)

/** Does nothing if another tick moved the pass on or another pass began. */
export const movePass = unguarded(() =>
  query
    .update(passes)
    .set({ dueAt: sql`${sql.placeholder('nextDueAt')}`, cursor: sql`${sql.placeholder('nextCursor')}` })
    .where(
      and(eq(passes.name, name), eq(passes.dueAt, dueAt), eq(passes.cursor, sql.placeholder('passCursor'))),
    ),
)

/**
 * The values of `movePass`. The next pass is due a day after this one was, or at once if this one took longer.
 * @param next the key of the last row of the page; undefined after the last page.
 */
export function movedOn({ dueAt, cursor }: Pass, next: string | undefined, instant: Date): Values {
  const dayLater = new Date(Math.max(Date.parse(dueAt) + PASS_INTERVAL_MS, instant.getTime())).toISOString()
  return {
    dueAt,
    passCursor: cursor,
    nextDueAt: next === undefined ? dayLater : dueAt,
    nextCursor: next ?? '',
  }
}
