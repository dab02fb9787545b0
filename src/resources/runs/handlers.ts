import { timeOfId } from '../../db/time-ids.ts'
import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, pageOf, pagingOf } from '../../http/paging.ts'
import { enqueueRuns, FIRST_LEASE_MS } from '../../queue.ts'
import { runIdOf } from '../schedules/firing/run-id.ts'
import type { Parent } from '../schedules/parents.ts'
import {
  acknowledgeRunContract,
  agentScheduleRunContracts,
  listRunsContract,
  projectScheduleRunContracts,
  type RunContracts,
  retrieveRunContract,
} from './contract.ts'
import {
  accessible,
  acknowledge,
  agentScheduleRuns as agentStatements,
  listable,
  projectScheduleRuns as projectStatements,
  selectLastExamined,
  selectPendingRuns,
  selectRun,
  selectRunsByStatus,
} from './statements.ts'

/** The operations on the runs of a parent's schedules. */
function handlersOf<const P extends Parent>(
  contracts: RunContracts<P>,
  { readable, list, changeable, insert, updateLastRun, selectCreated }: typeof projectStatements,
) {
  return {
    list: endpoint(contracts.list, async ({ params, query }, context) => {
      const [facts, runs] = await context.run(readable, [list], {
        ...params,
        ...pagingOf(query),
        before: query.cursor === undefined ? END : timeOfId(query.cursor),
      })
      readable.requireMet(facts, context)
      return { body: pageOf(runs, query, ({ id }) => id) }
    }),

    /**
     * One trip, unless the request has an `Idempotency-Key` and the schedule has a run of the same millisecond: then the next
     * millisecond is tried. The run is put into the queue after the response. If that fails, the tick does it
     * (delivery/outbox.ts).
     */
    create: endpoint(contracts.create, async ({ params, headers, path }, context) => {
      const { scheduleId } = params
      for (let time = Date.parse(context.now); ; time++) {
        const scheduledAt = new Date(time).toISOString()
        const [facts, , , [run]] = await context.run(changeable, [insert, updateLastRun, selectCreated], {
          ...params,
          scheduledAt,
          id: runIdOf(scheduleId, scheduledAt),
          sendAfter: new Date(time + FIRST_LEASE_MS).toISOString(),
          idempotencyKey: headers['Idempotency-Key'] ?? null,
        })
        if (run) {
          const { id, attempts } = run
          const reference = { organizationId: facts.callerOrganizationId, id, attempts }
          if (run.scheduledAt === scheduledAt)
            context.caller.waitUntil(enqueueRuns(context.environment.RUNS, [reference]))
          return { body: run, location: path.replace(/\/v1\/.*$/, `/v1/runs/${run.id}`) }
        }
        changeable.requireMet(facts, context)
      }
    }),
  }
}

export const projectScheduleRuns = handlersOf(projectScheduleRunContracts, projectStatements)
export const agentScheduleRuns = handlersOf(agentScheduleRunContracts, agentStatements)

export const listRuns = endpoint(listRunsContract, async ({ query }, context) => {
  const { status } = query
  const steps =
    status === 'pending'
      ? ([selectPendingRuns] as const)
      : ([selectRunsByStatus, selectLastExamined] as const)
  const [facts, runs, [lastExamined] = []] = await context.run(listable, steps, {
    ...pagingOf(query),
    status,
  })
  listable.requireMet(facts, context)
  const { items, nextCursor } = pageOf(runs, query, ({ id }) => id)
  return { body: { items, nextCursor: nextCursor ?? lastExamined?.id ?? null } }
})

export const retrieveRun = endpoint(retrieveRunContract, async ({ params }, context) => {
  const run = await context.runForRow(accessible, [selectRun], params)
  return { body: run }
})

export const acknowledgeRun = endpoint(acknowledgeRunContract, async ({ params }, context) => {
  const run = await context.runForRow(accessible, [acknowledge, selectRun], params)
  if (run.status !== 'delivered') {
    throw new ApiError(
      'run_not_pending',
      `The run has the status "${run.status}". Only pending runs can be acknowledged.`,
    )
  }
  return { body: run }
})
