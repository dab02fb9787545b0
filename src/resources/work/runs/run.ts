/** A run as the API returns it. */
import { sql } from 'drizzle-orm'
import type * as z from 'zod/mini'
import { runs, schedules } from '../../../db/schema.ts'
import { parentIdOf } from '../joins.ts'
import { unpostponed } from '../run-transitions.ts'
import type { run } from './contract.ts'

/** The columns of a run that is joined to its schedule. */
export const runFields = {
  id: runs.id,
  scheduleId: runs.scheduleId,
  scheduleName: sql<string | null>`${schedules.name}`.as('scheduleName'),
  projectId: parentIdOf(runs, 'project').as('projectId'),
  agentId: parentIdOf(runs, 'agent').as('agentId'),
  scheduledAt: runs.scheduledAt,
  status: runs.status,
  failure: runs.failure,
  attempts: runs.attempts,
  lastError: runs.lastError,
  lastAttempts: runs.lastAttempts,
  nextAttemptAt: runs.nextAttemptAt,
  /** JSON. The check of a claimed run is the end of its claim. */
  claim: sql<string | null>`case when ${runs.status} = 'delivered' and ${runs.claimId} is not null
    then json_insert(${runs.claimedBy}, '$.leaseExpiresAt', ${unpostponed(runs.checkAt)}) end`.as('claim'),
  startedAt: runs.startedAt,
  finishedAt: runs.finishedAt,
  message: runs.message,
  sessionId: runs.sessionId,
  createdAt: runs.createdAt,
  updatedAt: runs.updatedAt,
}

type Run = z.output<typeof run>
/** A row of these columns. */
type RunRow = Omit<Run, 'lastAttempts' | 'claim'> & Readonly<Record<'lastAttempts' | 'claim', string | null>>

/** The run as the API describes it. */
export function toRun({ lastAttempts, claim, ...rest }: RunRow): Run {
  return { ...rest, lastAttempts: JSON.parse(lastAttempts ?? '[]'), claim: claim === null ? null : JSON.parse(claim) }
}
