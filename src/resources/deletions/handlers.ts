import { one } from '../../access/request-context.ts'
import { nextTime, type Timing } from '../../cron/timing.ts'
import { describeFailure } from '../../db/failures.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, toExaminedPage, toPaging } from '../../http/paging.ts'
import {
  listDeletionsContract,
  purgeDeletionContract,
  restoreDeletionContract,
  retrieveDeletionContract,
} from './contract.ts'
import {
  accessible,
  listable,
  listInProject,
  listOfAll,
  nextRuns,
  purge,
  RESTORATIONS,
  restorable,
  selectDeletion,
  selectDue,
  selectTiming,
  storeNextRuns,
} from './statements.ts'

export const listDeletions = endpoint(listDeletionsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { resourceType = null, projectId = null, cursor = END } = query
  const { deletions } = await context.run(
    listable,
    { deletions: projectId === null ? listOfAll : listInProject },
    { ...toPaging({ ...query, cursor }), resourceType, projectId },
  )
  return { body: toExaminedPage(deletions, query, ({ id }) => id) }
})

export const retrieveDeletion = endpoint(retrieveDeletionContract, async (c, context) => {
  const { deletion } = await context.run(accessible, { deletion: one(selectDeletion) }, c.req.valid('param'))
  return { body: deletion }
})

/** The next run is computed between two round trips, for schedules whose time has come while they were deleted. */
export const restoreDeletion = endpoint(restoreDeletionContract, async (c, context) => {
  const values = { ...c.req.valid('param'), scheduleLimit: context.limits.schedules }
  const { timing, due } = await context.run(restorable, { timing: one(selectTiming), due: selectDue }, values)
  const { resourceType, enabledAt, ...ofSchedule } = timing
  const now = new Date(context.now)
  const { insert, remove } = RESTORATIONS[resourceType]
  const { restored } = await context.run(
    restorable,
    { restored: one(insert), storeNextRuns, remove },
    {
      ...values,
      nextRunAt: resourceType === 'schedule' && enabledAt !== null ? computeNextRun(ofSchedule, now) : null,
      nextRuns: nextRuns.value(due.map((schedule) => ({ ...schedule, nextRunAt: computeNextRun(schedule, now) }))),
    },
  )
  return { body: { restored: true, resourceType, resourceId: restored.id } }
})

/** Null if the runtime no longer knows the time zone. The daily pass over next runs pauses such a schedule. */
function computeNextRun({ cron, runAt, timezone }: Timing, now: Date): string | null {
  try {
    return nextTime({ cron, runAt, timezone }, now)
  } catch (error) {
    console.error(JSON.stringify({ failure: describeFailure(error) }))
    return null
  }
}

export const purgeDeletion = endpoint(purgeDeletionContract, async (c, context) => {
  const params = c.req.valid('param')
  await context.run(accessible, { purged: one(purge) }, params)
  return { body: { deleted: true, id: params.deletionId } }
})
