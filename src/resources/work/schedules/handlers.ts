import { v7 as newUuid } from 'uuid'
import { deletionValues } from '../../../access/deletions.ts'
import { one, type RequestContext } from '../../../access/request-context.ts'
import { rowAfter } from '../../../access/revision.ts'
import { runsAfter } from '../../../cron/next-run.ts'
import { localTime } from '../../../cron/timezone.ts'
import { nextTime, type Timing } from '../../../cron/timing.ts'
import type { ParameterOf, Statement } from '../../../db/statement.ts'
import { DAY_MS } from '../../../durations.ts'
import { parseConditions, withEntityTag } from '../../../http/conditional.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { toIdempotency } from '../../../http/idempotency.ts'
import { toExaminedPage, toPage, toPaging } from '../../../http/paging.ts'
import type { OUTCOMES } from '../outcomes.ts'
import { getParentId, namedSchedule } from '../parents.ts'
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
  selectSchedules,
} from './statements.ts'

type Statements = typeof projectStatements | typeof agentStatements

export const createProjectSchedule = endpoint(createProjectScheduleContract, async (c, context) => {
  const { projectId: parentId } = c.req.valid('param')
  const body = c.req.valid('json')
  const idempotency = await toIdempotency(c.req.valid('header')['Idempotency-Key'], body)
  return create(context, projectStatements, { parentId, ...body, ...idempotency })
})

export const createAgentSchedule = endpoint(createAgentScheduleContract, async (c, context) => {
  const { agentId: parentId } = c.req.valid('param')
  const body = c.req.valid('json')
  const idempotency = await toIdempotency(c.req.valid('header')['Idempotency-Key'], body)
  return create(context, agentStatements, { parentId, ...body, timezone: 'UTC', ...idempotency })
})

type Insertion<Schedule> = Pick<Statements, 'creatable' | 'insert'> & {
  readonly selectCreated: Statement<Schedule, ParameterOf<Statements['selectCreated']>>
}

interface NewSchedule {
  readonly parentId: string
  readonly cron: string
  readonly timezone: string
  readonly idempotencyKey: string | null
  readonly idempotencyFingerprint: string | null
}

async function create<Schedule extends { readonly id: string; readonly revision: string }>(
  context: RequestContext,
  { creatable, insert, selectCreated }: Insertion<Schedule>,
  request: NewSchedule,
) {
  const { schedule } = await context.attempt(
    creatable,
    { insert, schedule: one(selectCreated) },
    {
      ...request,
      id: newUuid(),
      nextRunAt: nextTime({ ...request, runAt: null }, new Date(context.now)),
      scheduleLimit: context.limits.schedules,
    },
  )
  return { ...withEntityTag(schedule), location: `${context.path}/${schedule.id}` }
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
const payloadOf = (payload: unknown) => (payload === undefined || payload === null ? null : JSON.stringify(payload))

/**
 * The operations on the schedules of a parent, except their creation by a POST.
 * @param onlyTimezone the time zone of all schedules, if requests do not choose it.
 */
function handlersOf(
  contracts: typeof projectScheduleContracts | typeof agentScheduleContracts,
  statements: Statements,
  onlyTimezone?: string,
) {
  const { listable, list, readable, retrieve, selectStatistics } = statements
  const { puttable, put, updatable, update, deletable, copyDeleted, remove } = statements

  return {
    list: endpoint(contracts.list, async (c, context) => {
      const query = c.req.valid('query')
      const values = { parentId: getParentId(c.req.valid('param')), ...toPaging(query) }
      const { schedules } = await context.run(listable, { schedules: list }, values)
      const { items, nextCursor } = toPage(schedules, query, ({ id }) => id)
      return { body: { items: items.map(withPayload), nextCursor } }
    }),

    retrieve: endpoint(contracts.retrieve, async (c, context) => {
      const start = new Date(Date.parse(context.now) - STATISTICS_MS).toISOString()
      const { statistics, schedule } = await context.run(
        readable,
        { statistics: one(selectStatistics), schedule: one(retrieve) },
        { ...namedSchedule(c.req.valid('param')), since: start },
      )
      const { milliseconds, since: counted, ...counts } = statistics
      const since = counted === start && schedule.createdAt > start ? schedule.createdAt : counted
      const medianSeconds = medianOf(JSON.parse(milliseconds) as number[])
      return withEntityTag({ ...withPayload(schedule), statistics: { since, ...counts, medianSeconds } })
    }),

    put: endpoint(contracts.put, async (c, context) => {
      const body = c.req.valid('json')
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
      const { check, schedule } = await context.run(
        puttable,
        { put, schedule: one(retrieve) },
        {
          ...namedSchedule(c.req.valid('param')),
          ...parseConditions(c.req.valid('header')),
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
        },
      )
      return {
        ...withEntityTag(withPayload(schedule)),
        location: check.isNew ? context.path : undefined,
      }
    }),

    /**
     * One round trip or two. The next run is computed from the cron expression and the time zone, or from `runAt`: if
     * the request resumes the schedule or changes one of them, the others are read first, and the update requires that
     * the schedule is still the same.
     */
    update: endpoint(contracts.update, async (c, context) => {
      const named = namedSchedule(c.req.valid('param'))
      const { enabled, ...settings } = c.req.valid('json')
      const { cron, runAt, timezone: sentTimezone }: SentSettings = settings
      const timezone = onlyTimezone ?? sentTimezone
      const isComplete = runAt !== undefined || (cron !== undefined && timezone !== undefined)
      const changesTiming = cron !== undefined || sentTimezone !== undefined || enabled === true
      const isRead = changesTiming && !isComplete && enabled !== false
      const { seen } = isRead ? await context.run(readable, { seen: one(retrieve) }, named) : {}
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
      const { check, updated } = await context.run(
        updatable,
        { updated: update },
        {
          ...named,
          ...parseConditions(c.req.valid('header')),
          changes: JSON.stringify(changes),
          runAt: runAt ?? null,
          enabled: enabled === undefined ? null : Number(enabled),
          seenRevision: seen?.revision ?? null,
          nextRunAt: nextTime(timing, new Date(context.now)),
        },
      )
      return withEntityTag(withPayload(rowAfter(updated, check)))
    }),

    remove: endpoint(contracts.remove, async (c, context) => {
      const values = {
        ...namedSchedule(c.req.valid('param')),
        ...parseConditions(c.req.valid('header')),
        ...deletionValues(context),
      }
      const { removed } = await context.run(deletable, { copyDeleted, removed: one(remove) }, values)
      return { body: { deleted: true, id: removed.id } }
    }),
  }
}

export const projectSchedules = handlersOf(projectScheduleContracts, projectStatements)
export const agentSchedules = handlersOf(agentScheduleContracts, agentStatements, 'UTC')

export const listSchedules = endpoint(listSchedulesContract, async (c, context) => {
  const query = c.req.valid('query')
  const { enabled, parentType = null, nextRunBefore = null, query: nameQuery = null } = query
  const { schedules } = await context.run(
    organizationListable,
    { schedules: selectSchedules },
    {
      ...toPaging(query),
      enabled: enabled === undefined ? null : Number(enabled === 'true'),
      parentType,
      nextRunBefore,
      query: nameQuery,
    },
  )
  const { items, nextCursor } = toExaminedPage(schedules, query, ({ id }) => id)
  const parsed = items.map(({ lastOutcomes, ...schedule }) => ({
    ...schedule,
    lastOutcomes: JSON.parse(lastOutcomes) as (typeof OUTCOMES)[number][],
  }))
  return { body: { items: parsed, nextCursor } }
})

export const previewSchedule = endpoint(previewScheduleContract, async (c, context) => {
  await context.caller.requireAuthorized()
  const { cron, timezone, count, from = context.now } = c.req.valid('query')
  const items = runsAfter(cron, timezone, new Date(from))
    .take(Number(count))
    .map((at) => ({ at: at.toISOString(), localTime: localTime(timezone, at.getTime()) }))
    .toArray()
  return { body: { items } }
})
