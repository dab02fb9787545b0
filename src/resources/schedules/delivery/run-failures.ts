/** The events of runs that failed without a request: their delivery, the outcome in a response, or their time limit. */
import { eq } from 'drizzle-orm'
import { recordedByService } from '../../../access/events.ts'
import { jsonRows } from '../../../db/rows.ts'
import { runs, schedules } from '../../../db/schema.ts'
import { query } from '../../../db/statement.ts'
import { isScheduleOf, parentOf } from '../joins.ts'

export const failedRuns = jsonRows('failedRuns', 'organizationId', 'id', 'failure', 'finishedAt')

/** After the statement that stores the failures. A run that had another outcome meanwhile has no event. */
export const recordFailures = recordedByService(
  [failedRuns.parameter],
  { type: 'run.failed', organizationId: runs.organizationId, id: runs.id, name: schedules.name, ...parentOf(runs) },
  (row) =>
    query
      .select(row)
      .from(failedRuns.table)
      .innerJoin(runs, failedRuns.matches(runs, 'organizationId', 'id', 'failure', 'finishedAt'))
      .innerJoin(schedules, isScheduleOf(runs))
      .where(eq(runs.status, 'failed')),
)
