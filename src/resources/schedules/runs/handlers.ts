import { v4 as newUuid } from 'uuid'
import type { RequestContext } from '../../../access/request-context.ts'
import { startOfIds, timeOfId } from '../../../db/time-ids.ts'
import { ApiError } from '../../../errors.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { END, filtersOf, pageOf, pagingOf } from '../../../http/paging.ts'
import type { Parent } from '../parents.ts'
import { runIdOf } from '../run-id.ts'
import { enqueueRuns, FIRST_LEASE_MS } from '../run-queue.ts'
import {
  acknowledgeRunContract,
  agentScheduleRunContracts,
  claimRunsContract,
  completeRunContract,
  listRunsContract,
  projectScheduleRunContracts,
  type RunContracts,
  renewRunContract,
  retrieveRunContract,
} from './contract.ts'
import {
  accessible,
  acknowledge,
  acknowledgeable,
  agentScheduleRuns as agentStatements,
  allRuns,
  claimOfAll,
  claimOfProject,
  completable,
  complete,
  listable,
  pauseIfFailing,
  pendingRuns,
  projectScheduleRuns as projectStatements,
  renew,
  renewable,
  runsOfSchedule,
  selectAcknowledged,
  selectCompleted,
  selectRun,
} from './statements.ts'
import { workOf } from './work.ts'

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
     * (delivery/check-runs.ts).
     */
    create: endpoint(contracts.create, async ({ params, headers, path }, context) => {
      const { scheduleId } = params
      for (let time = Date.parse(context.now); ; time++) {
        const scheduledAt = new Date(time).toISOString()
        const [facts, , , [run]] = await context.run(changeable, [insert, updateLastRun, selectCreated], {
          ...params,
          scheduledAt,
          id: runIdOf(scheduleId, scheduledAt),
          checkAt: new Date(time + FIRST_LEASE_MS).toISOString(),
          idempotencyKey: headers['Idempotency-Key'] ?? null,
        })
        if (run) {
          const { id, attempts } = run
          const reference = { organizationId: facts.callerOrganizationId, id, attempts }
          if (run.scheduledAt === scheduledAt && run.status === 'pending')
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

/** Latest first, except pending runs. IDs and the times of a schedule's runs are in the same order. */
export const listRuns = endpoint(listRunsContract, async ({ query }, context) => {
  const { status = null, scheduleId = null, projectId = null, since, cursor } = query
  const isPending = status === 'pending'
  const list = isPending ? pendingRuns : scheduleId === null ? allRuns : runsOfSchedule
  // What the order of the list serves is no filter.
  const { isFiltered, values } = filtersOf(isPending ? { scheduleId, projectId } : { status, projectId })
  const steps = isFiltered ? ([list.select, list.selectLastExamined] as const) : ([list.select] as const)
  const [facts, runs, [lastExamined] = []] = await context.run(listable, steps, {
    ...pagingOf(query),
    ...values,
    status,
    scheduleId,
    projectId,
    cursor: cursor ?? (isPending ? '' : END),
    before: cursor === undefined ? END : timeOfId(cursor),
    since: since ?? '',
    firstId: since === undefined ? '' : startOfIds(since),
  })
  listable.requireMet(facts, context)
  return { body: pageOf(runs, query, ({ id }) => id, lastExamined) }
})

export const claimRuns = endpoint(claimRunsContract, async ({ body }, context) => {
  const { limit, leaseSeconds, projectId = null } = body
  const claimId = newUuid()
  const { selectClaimable, claim } = projectId === null ? claimOfAll : claimOfProject
  const [facts, claimed] = await context.run(listable, [selectClaimable, claim], {
    projectId,
    claimId,
    rowLimit: limit,
    leaseExpiresAt: endOfLease(leaseSeconds, context),
  })
  listable.requireMet(facts, context)
  const items = claimed.map(({ leaseExpiresAt, ...run }) => ({ ...workOf(run), claimId, leaseExpiresAt }))
  return { body: { items } }
})

export const renewRun = endpoint(renewRunContract, async ({ params, body }, context) => {
  const { claimId, leaseSeconds } = body
  const leaseExpiresAt = endOfLease(leaseSeconds, context)
  return { body: await context.runForRow(renewable, [renew], { ...params, claimId, leaseExpiresAt }) }
})

function endOfLease(seconds: number, { now }: RequestContext): string {
  return new Date(Date.parse(now) + seconds * 1000).toISOString()
}

export const completeRun = endpoint(completeRunContract, async ({ params, body }, context) => {
  const { outcome, message = null, sessionId = null, claimId = null } = body
  const run = await context.runForRow(completable, [complete, pauseIfFailing, selectCompleted], {
    ...params,
    outcome,
    message,
    sessionId,
    claimId,
  })
  return { body: run }
})

export const retrieveRun = endpoint(retrieveRunContract, async ({ params }, context) => {
  const run = await context.runForRow(accessible, [selectRun], params)
  return { body: run }
})

export const acknowledgeRun = endpoint(acknowledgeRunContract, async ({ params }, context) => {
  const run = await context.runForRow(acknowledgeable, [acknowledge, selectAcknowledged], params)
  if (run.status !== 'delivered') {
    throw new ApiError(
      'run_not_pending',
      `The run has the status "${run.status}". Only pending runs can be acknowledged.`,
    )
  }
  return { body: run }
})
