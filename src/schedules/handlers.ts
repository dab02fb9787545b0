import { v7 as newUuid } from 'uuid'
import type { Call } from '../access/call.ts'
import type { CallerFacts } from '../access/caller.ts'
import type { Statement, Values } from '../db/statement.ts'
import { endpoint } from '../http/endpoint.ts'
import { outOfReach, Refusal } from '../http/errors.ts'
import { idempotencyOf } from '../http/idempotency.ts'
import { createAgentScheduleContract, createProjectScheduleContract } from './contract.ts'
import { nextRun } from './next-run.ts'
import { agentSchedules, projectSchedules } from './statements.ts'

export const createProjectSchedule = endpoint(
  createProjectScheduleContract,
  async ({ params, headers, body, path }, call) => {
    const schedule = await create(call, 'project', projectSchedules, {
      parentId: params.projectId,
      ...body,
      ...idempotencyOf(headers['Idempotency-Key'], body),
    })
    return { body: schedule, headers: { Location: `${path}/${schedule.id}` } }
  },
)

export const createAgentSchedule = endpoint(
  createAgentScheduleContract,
  async ({ params, headers, body, path }, call) => {
    const schedule = await create(call, 'agent', agentSchedules, {
      parentId: params.agentId,
      ...body,
      timezone: 'UTC',
      ...idempotencyOf(headers['Idempotency-Key'], body),
    })
    return { body: schedule, headers: { Location: `${path}/${schedule.id}` } }
  },
)

interface ScheduleFacts extends CallerFacts {
  parentExists: 0 | 1
  inReach: 0 | 1
  isArchived: 0 | 1
  isRepeated: 0 | 1
  scheduleCount: number
}

interface CreateStatements<Schedule> {
  explain: Statement<ScheduleFacts>
  insert: Statement
  selectCreated: Statement<Schedule>
}

async function create<Schedule>(
  call: Call,
  parentType: 'project' | 'agent',
  { explain, insert, selectCreated }: CreateStatements<Schedule>,
  request: Values & { cron: string; timezone: string },
): Promise<Schedule> {
  const limit = call.limits.schedules
  const [explanation, , [schedule]] = await call.run(explain, [insert, selectCreated], {
    ...request,
    id: newUuid(),
    nextRunAt: nextRun(request.cron, request.timezone, new Date(call.now)).toISOString(),
    scheduleLimit: limit,
  })
  if (schedule) return schedule
  if (!explanation.parentExists)
    throw new Refusal(404, `${parentType}Id: there is no ${parentType} with this id`)
  if (!explanation.inReach) throw outOfReach()
  if (explanation.isRepeated) {
    throw new Refusal(409, 'Idempotency-Key: it was used with another body; use a new key for a new schedule')
  }
  if (explanation.isArchived) throw new Refusal(409, `The ${parentType} is archived: unarchive it first`)
  throw new Refusal(409, `The ${parentType} has ${limit} schedules, the most allowed: delete one first`)
}
