import { v7 as newUuid } from 'uuid'
import type { RequestContext } from '../../access/request-context.ts'
import { runsAfter } from '../../cron/next-run.ts'
import { localTime } from '../../cron/timezone.ts'
import type { Statement, Values } from '../../db/statement.ts'
import { DAY_MS } from '../../durations.ts'
import { conditionsOf, withEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { idempotencyOf } from '../../http/idempotency.ts'
import { filtersOf, pageOf, pagingOf } from '../../http/paging.ts'
import {
  agentScheduleContracts,
  createAgentScheduleContract,
  createProjectScheduleContract,
  listSchedulesContract,
  previewScheduleContract,
  projectScheduleContracts,
  type SentSettings,
} from './contract.ts'
import {
  agentSchedules as agentStatements,
  organizationListable,
  projectSchedules as projectStatements,
  selectLastExamined,
  selectSchedules,
} from './statements.ts'
import { nextTime, type Timing } from './timing.ts'

type Statements = typeof projectStatements | typeof agentStatements

export const createProjectSchedule = endpoint(
  createProjectScheduleContract,
  ({ params, headers, body, path }, context) => {
    const idempotency = idempotencyOf(headers['Idempotency-Key'], body)
    return create(context, path, projectStatements, { ...params, ...body, ...idempotency })
  },
)

export const createAgentSchedule = endpoint(
  createAgentScheduleContract,
  ({ params, headers, body, path }, context) => {
    const idempotency = idempotencyOf(headers['Idempotency-Key'], body)
    return create(context, path, agentStatements, { ...params, ...body, timezone: 'UTC', ...idempotency })
  },
)

async function create<Schedule extends { readonly id: string; readonly revision: string }>(
  context: RequestContext,
  path: string,
  {
    creatable,
    insert,
    selectCreated,
  }: Pick<Statements, 'creatable' | 'insert'> & { selectCreated: Statement<Schedule> },
  request: Values & { cron: string; timezone: string },
) {
  const schedule = await context.runForRow(creatable, [insert, selectCreated], {
    ...request,
    id: newUuid(),
    nextRunAt: nextTime({ ...request, runAt: null }, new Date(context.now)),
    scheduleLimit: context.limits.schedules,
  })
  return { ...withEntityTag(schedule), location: `${path}/${schedule.id}` }
}

/** The time from which runs are counted in the statistics of their schedule. */
const STATISTICS_MS = 30 * DAY_MS

/** A schedule as the API returns it: its payload is stored as JSON. */
function withPayload<Row extends { readonly payload: string | null }>({ payload, ...schedule }: Row) {
  return { ...schedule, payload: payload === null ? null : (JSON.parse(payload) as unknown) }
}

/** The median in seconds; null without times. */
function medianOf(milliseconds: readonly number[]): number | null {
  const sorted = milliseconds.toSorted((a, b) => a - b)
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]]
  return low === undefined || high === undefined ? null : Math.round((low + high) / 2) / 1000
}

/** The value of the column; null clears it. */
const payloadOf = (payload: unknown) =>
  payload === undefined || payload === null ? null : JSON.stringify(payload)

/**
 * The operations on the schedules of a parent, except their creation by a POST.
 * @param onlyTimezone the time zone of all schedules, if requests do not choose it.
 */
function handlersOf(
  contracts: typeof projectScheduleContracts | typeof agentScheduleContracts,
  statements: Statements,
  onlyTimezone?: string,
) {
  const { listable, list, readable, retrieve, selectStatistics, deletable, deletion } = statements
  const { puttable, put, updatable, update } = statements

  return {
    list: endpoint(contracts.list, async ({ params, query }, context) => {
      const [facts, schedules] = await context.run(listable, [list], { ...params, ...pagingOf(query) })
      listable.requireMet(facts, context)
      const { items, nextCursor } = pageOf(schedules, query, ({ id }) => id)
      return { body: { items: items.map(withPayload), nextCursor } }
    }),

    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => {
      const since = new Date(Date.parse(context.now) - STATISTICS_MS).toISOString()
      const [facts, [statistics], [schedule]] = await context.run(readable, [selectStatistics, retrieve], {
        ...params,
        since,
      })
      if (!schedule || !statistics) throw readable.refusal(facts, context)
      const { milliseconds, ...counts } = statistics
      const medianSeconds = medianOf(JSON.parse(milliseconds) as number[])
      return withEntityTag({ ...withPayload(schedule), statistics: { ...counts, medianSeconds } })
    }),

    put: endpoint(contracts.put, async ({ params, headers, body, path }, context) => {
      const { timezone = 'UTC' }: SentSettings = body
      const {
        name = null,
        cron = null,
        runAt = null,
        overlap = 'allow',
        maxRunSeconds = null,
        pauseAfterFailures = null,
        note = null,
        enabled = true,
        payload,
      } = body
      const [facts, , [schedule]] = await context.run(puttable, [put, retrieve], {
        ...params,
        ...conditionsOf(headers),
        name,
        cron,
        runAt,
        timezone,
        overlap,
        maxRunSeconds,
        pauseAfterFailures,
        note,
        payload: payloadOf(payload),
        enabled: Number(enabled),
        nextRunAt: nextTime({ cron, runAt, timezone }, new Date(context.now)),
        scheduleLimit: context.limits.schedules,
      })
      puttable.requireMet(facts, context)
      if (!schedule) throw puttable.refusal(facts, context)
      return { ...withEntityTag(withPayload(schedule)), location: facts.isNew ? path : undefined }
    }),

    /**
     * One trip or two. The next run is computed from the cron expression and the time zone, or from `runAt`: if the request
     * resumes the schedule or changes one of them, the others are read first, and the update requires that the schedule is
     * still the same.
     */
    update: endpoint(contracts.update, async ({ params, headers, body }, context) => {
      const { enabled, ...settings } = body
      const { cron, runAt, timezone: sentTimezone }: SentSettings = settings
      const timezone = onlyTimezone ?? sentTimezone
      const isComplete = runAt !== undefined || (cron !== undefined && timezone !== undefined)
      const changesTiming = cron !== undefined || sentTimezone !== undefined || enabled === true
      const isRead = changesTiming && !isComplete && enabled !== false
      const seen = isRead ? await context.runForRow(readable, [retrieve], params) : undefined
      const changes = {
        ...settings,
        ...(cron !== undefined && { runAt: null }),
        ...(runAt !== undefined && { cron: null }),
        ...('payload' in settings && { payload: payloadOf(settings.payload) }),
      }
      const timing: Timing = {
        cron: runAt === undefined ? (cron ?? seen?.cron ?? null) : null,
        runAt: cron === undefined ? (runAt ?? seen?.runAt ?? null) : null,
        timezone: timezone ?? (seen && 'timezone' in seen ? seen.timezone : 'UTC'),
      }
      const schedule = await context.runForRow(updatable, [update], {
        ...params,
        ...conditionsOf(headers),
        changes: JSON.stringify(changes),
        runAt: runAt ?? null,
        enabled: enabled === undefined ? null : Number(enabled),
        seenRevision: seen?.revision ?? null,
        nextRunAt: nextTime(timing, new Date(context.now)),
      })
      return withEntityTag(withPayload(schedule))
    }),

    remove: endpoint(contracts.remove, async ({ params, headers }, context) => {
      const values = { ...params, ...conditionsOf(headers) }
      const deleted = await context.runForRow(deletable, [deletion], values)
      return { body: { deleted: true as const, id: deleted.id } }
    }),
  }
}

export const projectSchedules = handlersOf(projectScheduleContracts, projectStatements)
export const agentSchedules = handlersOf(agentScheduleContracts, agentStatements, 'UTC')

export const listSchedules = endpoint(listSchedulesContract, async ({ query }, context) => {
  const { enabled, parentType = null, nextRunBefore = null } = query
  const { isFiltered, values } = filtersOf({
    enabled: enabled === undefined ? null : Number(enabled === 'true'),
    parentType,
    nextRunBefore,
  })
  const steps = isFiltered ? ([selectSchedules, selectLastExamined] as const) : ([selectSchedules] as const)
  const [facts, schedules, [lastExamined] = []] = await context.run(organizationListable, steps, {
    ...pagingOf(query),
    ...values,
  })
  organizationListable.requireMet(facts, context)
  return { body: pageOf(schedules, query, ({ id }) => id, lastExamined) }
})

export const previewSchedule = endpoint(previewScheduleContract, async ({ query }, context) => {
  await context.caller.requireAuthorized()
  const { cron, timezone, from = context.now } = query
  const items = runsAfter(cron, timezone, new Date(from))
    .take(Number(query.count))
    .map((at) => ({ at: at.toISOString(), localTime: localTime(timezone, at.getTime()) }))
  return { body: { items: [...items] } }
})
