import { ApiError } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, pageOf, pagingOf } from '../../http/paging.ts'
import { enqueueRuns } from '../../queue.ts'
import { instantOfRunId, runIdOf } from '../schedules/firing/run-id.ts'
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
  selectRun,
  selectRuns,
} from './statements.ts'

/** How long the queue has to deliver a run that a request created, before the tick puts it into the queue again. */
const GRACE_MS = 60_000

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
        before: query.cursor === undefined ? END : instantOfRunId(query.cursor),
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
          sendAfter: new Date(time + GRACE_MS).toISOString(),
          idempotencyKey: headers['Idempotency-Key'] ?? null,
        })
        if (run) {
          const { attempts } = run
          const reference = { organizationId: facts.callerOrganizationId, scheduleId, scheduledAt, attempts }
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
  const values = { ...pagingOf(query), status: query.status }
  const [facts, runs] = await context.run(listable, [selectRuns], values)
  listable.requireMet(facts, context)
  return { body: pageOf(runs, query, ({ id }) => id) }
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
