import { v7 as newUuid } from 'uuid'
import { explainCaller } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import type { RequestContext } from '../../access/request-context.ts'
import { nextRun, runsAfter } from '../../cron/next-run.ts'
import { localTime } from '../../cron/timezone.ts'
import type { Statement, Values } from '../../db/statement.ts'
import type { Quota } from '../../environment.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { idempotencyOf } from '../../http/idempotency.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import {
  agentScheduleContracts,
  type Contracts,
  createAgentScheduleContract,
  createProjectScheduleContract,
  previewScheduleContract,
  projectScheduleContracts,
} from './contract.ts'
import {
  AGENT,
  archived,
  idsOf,
  noParent,
  type Owner,
  type ParentFacts,
  PROJECT,
  refusalOf,
  type ScheduleFacts,
} from './owners.ts'
import { agentSchedules as agentStatements, projectSchedules as projectStatements } from './statements.ts'

export const createProjectSchedule = endpoint(
  createProjectScheduleContract,
  async ({ params, headers, body, path }, context) => {
    const schedule = await create(context, PROJECT, projectStatements, {
      parentId: params.projectId,
      ...body,
      ...idempotencyOf(headers['Idempotency-Key'], body),
    })
    return { body: schedule, headers: { Location: `${path}/${schedule.id}` } }
  },
)

export const createAgentSchedule = endpoint(
  createAgentScheduleContract,
  async ({ params, headers, body, path }, context) => {
    const schedule = await create(context, AGENT, agentStatements, {
      parentId: params.agentId,
      ...body,
      timezone: 'UTC',
      ...idempotencyOf(headers['Idempotency-Key'], body),
    })
    return { body: schedule, headers: { Location: `${path}/${schedule.id}` } }
  },
)

interface CreationFacts extends ParentFacts {
  isRepeated: 0 | 1
  exceededQuota: Quota | null
}

interface CreateStatements<Schedule> {
  explainCreation: Statement<CreationFacts>
  insert: Statement
  selectCreated: Statement<Schedule>
}

async function create<Schedule>(
  context: RequestContext,
  owner: Owner,
  { explainCreation, insert, selectCreated }: CreateStatements<Schedule>,
  request: Values & { cron: string; timezone: string },
): Promise<Schedule> {
  const limit = context.limits.schedules
  const [explanation, , [schedule]] = await context.run({ check: explainCreation }, [insert, selectCreated], {
    ...request,
    id: newUuid(),
    nextRunAt: nextRun(request.cron, request.timezone, new Date(context.now)).toISOString(),
    scheduleLimit: limit,
  })
  if (schedule) return schedule
  if (!explanation.parentExists) throw noParent(owner)
  if (!explanation.inReach) throw outOfReach()
  if (explanation.isRepeated) {
    throw new ApiError(
      409,
      'Idempotency-Key: it was used with another body; use a new key for a new schedule',
    )
  }
  if (explanation.isArchived) throw archived(owner)
  if (explanation.exceededQuota) throw quotaExceeded(explanation.exceededQuota, context.limits)
  throw new ApiError(409, `The ${owner.noun} has ${limit} schedules, the most allowed: delete one first`)
}

interface LifeStatements<Schedule> {
  explain: Statement<ScheduleFacts>
  list: Statement<Schedule>
  retrieve: Statement<Schedule>
  update: Statement<Schedule>
  removals: readonly Statement[]
}

type Schedule = { readonly id: string; readonly cron: string; readonly timezone?: string } & object

/** The operations on the schedules of an owner, apart from their creation. */
function lifeOf<const O extends Owner>(
  owner: O,
  contracts: Contracts<O>,
  { explain, list, retrieve, update, removals }: LifeStatements<object>,
) {
  function refusal(facts: ScheduleFacts): ApiError {
    const unreadable = refusalOf(owner, facts)
    if (unreadable) return unreadable
    if (facts.isArchived) return archived(owner)
    return new ApiError(409, 'Another request changed the schedule meanwhile: try again')
  }

  async function retrieveSchedule(context: RequestContext, ids: Values): Promise<Schedule> {
    const [facts, [schedule]] = await context.run({ check: explain }, [retrieve], ids)
    if (!schedule) throw refusal(facts)
    return schedule as Schedule
  }

  return {
    list: endpoint(contracts.list, async ({ params, query }, context) => {
      const values = { ...idsOf(owner, params), ...pagingOf(query) }
      const [facts, schedules] = await context.run({ check: explain }, [list], values)
      if (!facts.parentExists) throw noParent(owner)
      if (!facts.inReach) throw outOfReach()
      return { body: pageOf(schedules as Schedule[], query, ({ id }) => id) }
    }),

    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => {
      return { body: await retrieveSchedule(context, idsOf(owner, params)) }
    }),

    /**
     * One trip or two. The next run follows from expression and time zone: where the change leaves one of them out
     * and doesn't pause, they are read first, and the update asks that they are still the same.
     */
    update: endpoint(contracts.update, async ({ params, body }, context) => {
      const ids = idsOf(owner, params)
      const timezone = owner.noun === 'agent' ? 'UTC' : body.timezone
      const isComputable = body.enabled === false || (body.cron !== undefined && timezone !== undefined)
      const seen = isComputable ? undefined : await retrieveSchedule(context, ids)
      const next = { cron: body.cron ?? seen?.cron, timezone: timezone ?? seen?.timezone }
      const [facts, [schedule]] = await context.run({ check: explain }, [update], {
        ...ids,
        cron: body.cron ?? null,
        timezone: timezone ?? null,
        enabled: body.enabled === undefined ? null : Number(body.enabled),
        seenCron: seen?.cron ?? null,
        seenTimezone: seen?.timezone ?? null,
        nextRunAt:
          next.cron === undefined || next.timezone === undefined
            ? null
            : nextRun(next.cron, next.timezone, new Date(context.now)).toISOString(),
      })
      if (!schedule) throw refusal(facts)
      return { body: schedule as Schedule }
    }),

    remove: endpoint(contracts.remove, async ({ params }, context) => {
      const ids = idsOf(owner, params)
      const [facts, [removed]] = await context.run({ check: explain }, [removals], ids)
      if (!removed) throw refusal(facts)
      return { body: { deleted: true as const, id: ids.scheduleId } }
    }),
  }
}

export const projectSchedules = lifeOf(PROJECT, projectScheduleContracts, projectStatements)
export const agentSchedules = lifeOf(AGENT, agentScheduleContracts, agentStatements)

export const previewSchedule = endpoint(previewScheduleContract, async ({ query }, context) => {
  await context.run({ check: explainCaller }, [], {})
  const { cron, timezone, from = context.now } = query
  const items = runsAfter(cron, timezone, new Date(from))
    .take(Number(query.count))
    .map((at) => ({ at: at.toISOString(), localTime: localTime(timezone, at.getTime()) }))
  return { body: { items: [...items] } }
})
