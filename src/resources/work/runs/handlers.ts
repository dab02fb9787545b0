import { v4 as newUuid } from 'uuid'
import type { CallerResult } from '../../../access/guard.ts'
import { one, type RequestContext } from '../../../access/request-context.ts'
import { startOfIds, timeOfId } from '../../../db/time-ids.ts'
import { ApiError, filled } from '../../../errors.ts'
import { endpoint } from '../../../http/endpoint.ts'
import { END, toExaminedPage, toPage, toPaging } from '../../../http/paging.ts'
import { namedSchedule } from '../parents.ts'
import { computeRunId } from '../run-id.ts'
import { enqueueRuns, FIRST_LEASE_MS } from '../run-queue.ts'
import {
  acknowledgeRunContract,
  agentScheduleRunContracts,
  claimRunsContract,
  completeRunContract,
  listRunsContract,
  projectScheduleRunContracts,
  redeliverRunContract,
  renewRunContract,
  retrieveRunContract,
} from './contract.ts'
import { runNotPending } from './failures.ts'
import { toRun } from './run.ts'
import {
  accessible,
  acknowledge,
  acknowledgeable,
  agentScheduleRuns as agentStatements,
  allRuns,
  claimable,
  claimOfAll,
  claimOfProject,
  completable,
  complete,
  listable,
  pauseIfFailing,
  pendingRuns,
  projectScheduleRuns as projectStatements,
  redeliver,
  redeliverable,
  renew,
  renewable,
  runsOfSchedule,
  selectAcknowledged,
  selectCompleted,
  selectRedelivered,
  selectRun,
} from './statements.ts'
import { toWork } from './work.ts'

/** The operations on the runs of a parent's schedules. */
function handlersOf(
  contracts: typeof projectScheduleRunContracts | typeof agentScheduleRunContracts,
  { readable, list, changeable, insert, updateLastRun, selectCreated }: typeof projectStatements,
) {
  return {
    list: endpoint(contracts.list, async (c, context) => {
      const query = c.req.valid('query')
      const { runs } = await context.run(
        readable,
        { runs: list },
        {
          ...namedSchedule(c.req.valid('param')),
          rowLimit: toPaging(query).rowLimit,
          before: query.cursor === undefined ? END : timeOfId(query.cursor),
        },
      )
      return { body: toPage(runs.map(toRun), query, ({ id }) => id) }
    }),

    /**
     * One round trip, unless the request has an `Idempotency-Key` and the schedule has a run of the same millisecond:
     * then the next millisecond is tried.
     */
    create: endpoint(contracts.create, async (c, context) => {
      const named = namedSchedule(c.req.valid('param'))
      for (let time = Date.parse(context.now); ; time++) {
        const scheduledAt = new Date(time).toISOString()
        const { check, created } = await context.attempt(
          changeable,
          { insert, updateLastRun, created: selectCreated },
          {
            ...named,
            scheduledAt,
            id: computeRunId(named.scheduleId, scheduledAt),
            checkAt: endOfFirstLease(time),
            idempotencyKey: c.req.valid('header')['Idempotency-Key'] ?? null,
          },
        )
        const [run] = created
        if (run) {
          if (run.scheduledAt === scheduledAt && run.status === 'pending') enqueue(context, check, run)
          return { body: toRun(run), location: context.path.replace(/\/v1\/.*$/, `/v1/runs/${run.id}`) }
        }
        changeable.requireMet(check, context)
      }
    }),
  }
}

export const projectScheduleRuns = handlersOf(projectScheduleRunContracts, projectStatements)
export const agentScheduleRuns = handlersOf(agentScheduleRunContracts, agentStatements)

/** The IDs or times that are given, in order. */
const inOrder = (...bounds: readonly (string | undefined)[]) => bounds.filter((bound) => bound !== undefined).sort()

/** Latest first, except pending runs. IDs and the times of a schedule's runs are in the same order. */
export const listRuns = endpoint(listRunsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { scheduleId = null, projectId = null, from, to, cursor } = query
  const status = query.status === 'running' ? 'delivered' : (query.status ?? null)
  const isPending = status === 'pending'
  const list = isPending ? pendingRuns : scheduleId === null ? allRuns : runsOfSchedule
  const { runs } = await context.run(
    listable,
    { runs: list },
    {
      ...toPaging(query),
      status,
      scheduleId,
      projectId,
      afterId: inOrder(from && startOfIds(from), isPending ? cursor : undefined).at(-1) ?? '',
      beforeId: inOrder(to && startOfIds(to), isPending ? undefined : cursor)[0] ?? END,
      before: inOrder(to, cursor && timeOfId(cursor))[0] ?? END,
      from: from ?? '',
    },
  )
  const { items, nextCursor } = toExaminedPage(runs, query, ({ id }) => id)
  return { body: { items: items.map(toRun), nextCursor } }
})

export const claimRuns = endpoint(claimRunsContract, async (c, context) => {
  const { limit, leaseSeconds, projectId = null } = c.req.valid('json')
  const claimId = newUuid()
  const { selectClaimable, claim } = projectId === null ? claimOfAll : claimOfProject
  const { claimed } = await context.run(
    claimable,
    { claimed: selectClaimable, claim },
    { projectId, claimId, rowLimit: limit, leaseExpiresAt: endOfLease(leaseSeconds, context) },
  )
  const items = claimed.map(({ leaseExpiresAt, ...run }) => ({ ...toWork(run), claimId, leaseExpiresAt }))
  return { body: { items } }
})

export const renewRun = endpoint(renewRunContract, async (c, context) => {
  const { claimId, leaseSeconds } = c.req.valid('json')
  const leaseExpiresAt = endOfLease(leaseSeconds, context)
  const values = { ...c.req.valid('param'), claimId, leaseExpiresAt }
  const { claim } = await context.run(renewable, { claim: one(renew) }, values)
  return { body: claim }
})

function endOfLease(seconds: number, { now }: RequestContext): string {
  return new Date(Date.parse(now) + seconds * 1000).toISOString()
}

export const completeRun = endpoint(completeRunContract, async (c, context) => {
  const { outcome, message = null, sessionId = null, claimId = null } = c.req.valid('json')
  const { run } = await context.run(
    completable,
    { complete, pauseIfFailing, run: one(selectCompleted) },
    { ...c.req.valid('param'), outcome, message, sessionId, claimId },
  )
  return { body: toRun(run) }
})

export const retrieveRun = endpoint(retrieveRunContract, async (c, context) => {
  const { run } = await context.run(accessible, { run: one(selectRun) }, c.req.valid('param'))
  return { body: toRun(run) }
})

export const acknowledgeRun = endpoint(acknowledgeRunContract, async (c, context) => {
  const steps = { acknowledge, run: one(selectAcknowledged) }
  const { run } = await context.run(acknowledgeable, steps, c.req.valid('param'))
  if (run.status !== 'delivered') {
    throw new ApiError(filled(runNotPending, { status: run.status }))
  }
  return { body: toRun(run) }
})

export const redeliverRun = endpoint(redeliverRunContract, async (c, context) => {
  const { check, run } = await context.run(
    redeliverable,
    { redeliver, run: one(selectRedelivered) },
    { ...c.req.valid('param'), checkAt: endOfFirstLease(Date.parse(context.now)) },
  )
  enqueue(context, check, run)
  return { body: toRun(run) }
})

const endOfFirstLease = (time: number) => new Date(time + FIRST_LEASE_MS).toISOString()

/** Puts the run into the queue after the response. If that fails, the tick does it (delivery/check-runs.ts). */
function enqueue(
  { caller, environment }: RequestContext,
  { callerOrganizationId: organizationId }: CallerResult,
  { id, attempts }: { readonly id: string; readonly attempts: number },
): void {
  caller.waitUntil(enqueueRuns(environment.DELIVERIES, caller.databaseNumber, [{ organizationId, id, attempts }]))
}
