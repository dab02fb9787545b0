/** What a run endpoint receives, and a worker that claims a run: the run with the work of its schedule. */
import { sql } from 'drizzle-orm'
import type * as z from 'zod/mini'
import { runs, schedules } from '../../../db/schema.ts'
import { parentIdOf } from '../joins.ts'
import type { work } from './contract.ts'

/** How many earlier runs are examined for one that was not skipped. */
const MAX_SKIPPED = 100

/** The run before, as JSON; NULL if there is none. */
const previous = sql<string | null>`(select json_object('id', "id", 'scheduledAt', "scheduledAt", 'status', "status",
    'failure', "failure", 'message', "message", 'sessionId', "sessionId")
  from (
    select * from ${runs} as "earlier"
    where "earlier"."organizationId" = ${runs.organizationId} and "earlier"."scheduleId" = ${runs.scheduleId}
      and "earlier"."scheduledAt" < ${runs.scheduledAt}
    order by "earlier"."scheduledAt" desc limit ${sql.raw(String(MAX_SKIPPED))}
  ) where "status" <> 'skipped' limit 1)`

/** The columns of a run that is joined to its schedule. */
export const workFields = {
  id: sql<string>`${runs.id}`.as('id'),
  scheduleId: runs.scheduleId,
  name: schedules.name,
  projectId: parentIdOf(runs, 'project').as('projectId'),
  agentId: parentIdOf(runs, 'agent').as('agentId'),
  cron: schedules.cron,
  runAt: schedules.runAt,
  timezone: schedules.timezone,
  scheduledAt: runs.scheduledAt,
  payload: schedules.payload,
  attempts: runs.attempts,
  previous: previous.as('previous'),
}

export type Work = z.output<typeof work>
/** A row of these columns. */
type WorkRow = Omit<Work, 'payload' | 'attempt' | 'previous'> &
  Readonly<{ payload: string | null; attempts: number; previous: string | null }>

/** The run as the API describes it. */
export function toWork(row: WorkRow): Work {
  const { id, scheduleId, name, projectId, agentId, cron, runAt, timezone, scheduledAt } = row
  const parse = (json: string | null) => (json === null ? null : JSON.parse(json))
  return {
    id,
    scheduleId,
    name,
    projectId,
    agentId,
    cron,
    runAt,
    timezone,
    scheduledAt,
    payload: parse(row.payload),
    attempt: row.attempts + 1,
    previous: parse(row.previous),
  }
}
