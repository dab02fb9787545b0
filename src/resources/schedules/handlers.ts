import { v7 as newUuid } from 'uuid'
import type { RequestContext } from '../../access/request-context.ts'
import { nextRun, runsAfter } from '../../cron/next-run.ts'
import { localTime } from '../../cron/timezone.ts'
import type { Statement, Values } from '../../db/statement.ts'
import { conditionsOf, withEntityTag } from '../../http/conditional.ts'
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
import { AGENT, type Parent, PROJECT } from './parents.ts'
import { agentSchedules as agentStatements, projectSchedules as projectStatements } from './statements.ts'

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
    nextRunAt: nextRun(request.cron, request.timezone, new Date(context.now)).toISOString(),
    scheduleLimit: context.limits.schedules,
  })
  return { ...withEntityTag(schedule), location: `${path}/${schedule.id}` }
}

/** The operations on the schedules of a parent, except their creation. */
function handlersOf<const P extends Parent>(parent: P, contracts: Contracts<P>, statements: Statements) {
  const { listable, list, readable, retrieve, updatable, update, deletable, deletion } = statements

  async function retrieveSchedule(context: RequestContext, params: Values) {
    const schedule = await context.runForRow(readable, [retrieve], params)
    return schedule
  }

  return {
    list: endpoint(contracts.list, async ({ params, query }, context) => {
      const [facts, schedules] = await context.run(listable, [list], { ...params, ...pagingOf(query) })
      listable.requireMet(facts, context)
      return { body: pageOf(schedules, query, ({ id }) => id) }
    }),

    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => {
      return withEntityTag(await retrieveSchedule(context, params))
    }),

    /**
     * One trip or two. The next run is computed from the cron expression and the time zone: if the request resumes or
     * changes the schedule and leaves one of them out, they are read first, and the update requires that they are the same.
     */
    update: endpoint(contracts.update, async ({ params, headers, body }, context) => {
      const timezone = parent.type === 'agent' ? 'UTC' : body.timezone
      const isComputable = body.enabled === false || (body.cron !== undefined && timezone !== undefined)
      const seen = isComputable ? undefined : await retrieveSchedule(context, params)
      const seenTimezone = seen && 'timezone' in seen ? seen.timezone : undefined
      const next = { cron: body.cron ?? seen?.cron, timezone: timezone ?? seenTimezone }
      const schedule = await context.runForRow(updatable, [update], {
        ...params,
        ...conditionsOf(headers),
        cron: body.cron ?? null,
        timezone: timezone ?? null,
        enabled: body.enabled === undefined ? null : Number(body.enabled),
        seenCron: seen?.cron ?? null,
        seenTimezone: seenTimezone ?? null,
        nextRunAt:
          next.cron === undefined || next.timezone === undefined
            ? null
            : nextRun(next.cron, next.timezone, new Date(context.now)).toISOString(),
      })
      return withEntityTag(schedule)
    }),

    remove: endpoint(contracts.remove, async ({ params, headers }, context) => {
      const values = { ...params, ...conditionsOf(headers) }
      const deleted = await context.runForRow(deletable, [deletion], values)
      return { body: { deleted: true as const, id: deleted.id } }
    }),
  }
}

export const projectSchedules = handlersOf(PROJECT, projectScheduleContracts, projectStatements)
export const agentSchedules = handlersOf(AGENT, agentScheduleContracts, agentStatements)

export const previewSchedule = endpoint(previewScheduleContract, async ({ query }, context) => {
  await context.caller.requireAuthorized()
  const { cron, timezone, from = context.now } = query
  const items = runsAfter(cron, timezone, new Date(from))
    .take(Number(query.count))
    .map((at) => ({ at: at.toISOString(), localTime: localTime(timezone, at.getTime()) }))
  return { body: { items: [...items] } }
})
