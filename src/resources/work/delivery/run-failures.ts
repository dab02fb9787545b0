/** The events of runs that fail without a request: by their delivery, the outcome in a response, or their time limit. */
import { and, type SQL } from 'drizzle-orm'
import { recordedByService } from '../../../access/events.ts'
import { jsonRows } from '../../../db/rows.ts'
import { runs, schedules } from '../../../db/schema.ts'
import { query } from '../../../db/statement.ts'
import { isScheduleOf, parentOf } from '../joins.ts'

/** The runs of `recordFailures`, with what its conditions compare. */
export const failedRuns = jsonRows(
  'failedRuns',
  'organizationId',
  'id',
  'status',
  'failure',
  'redeliveredAt',
  'checkAt',
)

/** For the statement before that which stores the failures. @param isFailing the condition of that statement. */
export const recordFailures = (isFailing: SQL | undefined) =>
  recordedByService(
    { parameter: failedRuns.parameter },
    { type: 'run.failed', organizationId: runs.organizationId, id: runs.id, name: schedules.name, ...parentOf(runs) },
    (row) =>
      query
        .select(row)
        .from(failedRuns.table)
        .innerJoin(runs, and(failedRuns.matches(runs, 'organizationId', 'id'), isFailing))
        .innerJoin(schedules, isScheduleOf(runs)),
  )
