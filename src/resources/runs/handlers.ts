import { type CallerFacts, explainUnlimited } from '../../access/guard.ts'
import type { Statement } from '../../db/statement.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, pageOf, pagingOf } from '../../http/paging.ts'
import { enqueueRuns } from '../../queue.ts'
import { instantOfRunId, runIdOf } from '../schedules/firing/run-id.ts'
import {
  AGENT,
  archived,
  idsOf,
  type Owner,
  PROJECT,
  refusalOf,
  type ScheduleFacts,
} from '../schedules/owners.ts'
import { agentSchedules, projectSchedules } from '../schedules/statements.ts'
import {
  acknowledgeRunContract,
  agentScheduleRunContracts,
  listRunsContract,
  projectScheduleRunContracts,
  type RunContracts,
  retrieveRunContract,
} from './contract.ts'
import {
  acknowledge,
  agentScheduleRuns as agentStatements,
  explainRun,
  listRuns as listOfStatus,
  projectScheduleRuns as projectStatements,
  selectRun,
} from './statements.ts'

/** How long the queue has, before the tick puts a run on request into it again. */
const GRACE_MS = 60_000

/** The operations on the runs of an owner's schedules. */
function runsOf<const O extends Owner>(
  owner: O,
  contracts: RunContracts<O>,
  explain: Statement<ScheduleFacts>,
  { list, insert, recordRun, selectCreated }: typeof projectStatements,
) {
  return {
    list: endpoint(contracts.list, async ({ params, query }, context) => {
      const [facts, runs] = await context.run({ check: explain }, [list], {
        ...idsOf(owner, params),
        ...pagingOf(query),
        before: query.cursor === undefined ? END : instantOfRunId(query.cursor),
      })
      const refusal = refusalOf(owner, facts)
      if (refusal) throw refusal
      return { body: pageOf(runs, query, ({ id }) => id) }
    }),

    /**
     * One trip, unless another run has this very millisecond: then the next is taken. It is put into the queue after
     * the answer; if that fails, the tick finds it in the ledger.
     */
    create: endpoint(contracts.create, async ({ params, headers, path }, context) => {
      const ids = idsOf(owner, params)
      for (let time = Date.parse(context.now); ; time++) {
        const scheduledAt = new Date(time).toISOString()
        const [facts, , , [run]] = await context.run({ check: explain }, [insert, recordRun, selectCreated], {
          ...ids,
          scheduledAt,
          id: runIdOf(ids.scheduleId, scheduledAt),
          sendAfter: new Date(time + GRACE_MS).toISOString(),
          idempotencyKey: headers['Idempotency-Key'] ?? null,
        })
        if (run) {
          const { scheduleId, attempts } = run
          const reference = { organizationId: facts.callerOrganizationId, scheduleId, scheduledAt, attempts }
          if (run.scheduledAt === scheduledAt)
            context.caller.waitUntil(enqueueRuns(context.environment.RUNS, [reference]))
          return { body: run, headers: { Location: path.replace(/\/v1\/.*$/, `/v1/runs/${run.id}`) } }
        }
        const refusal = refusalOf(owner, facts)
        if (refusal) throw refusal
        if (facts.isArchived) throw archived(owner)
      }
    }),
  }
}

export const projectScheduleRuns = runsOf(
  PROJECT,
  projectScheduleRunContracts,
  projectSchedules.explain,
  projectStatements,
)
export const agentScheduleRuns = runsOf(
  AGENT,
  agentScheduleRunContracts,
  agentSchedules.explain,
  agentStatements,
)

export const listRuns = endpoint(listRunsContract, async ({ query }, context) => {
  const values = { ...pagingOf(query), status: query.status }
  const [facts, runs] = await context.run({ check: explainUnlimited }, [listOfStatus], values)
  if (!facts.inReach) {
    throw new ApiError(403, 'This API key is limited to projects: list the runs of one of their schedules')
  }
  return { body: pageOf(runs, query, ({ id }) => id) }
})

interface RunFacts extends CallerFacts {
  runExists: 0 | 1
  inReach: 0 | 1
}

function refusalOfRun(facts: RunFacts): ApiError {
  return facts.runExists ? outOfReach() : new ApiError(404, 'runId: there is no run with this id')
}

export const retrieveRun = endpoint(retrieveRunContract, async ({ params }, context) => {
  const [facts, [run]] = await context.run({ check: explainRun }, [selectRun], params)
  if (!run) throw refusalOfRun(facts)
  return { body: run }
})

export const acknowledgeRun = endpoint(acknowledgeRunContract, async ({ params }, context) => {
  const [facts, , [run]] = await context.run({ check: explainRun }, [acknowledge, selectRun], params)
  if (!run) throw refusalOfRun(facts)
  if (run.status !== 'delivered')
    throw new ApiError(409, `The run is ${run.status}: there is nothing to take`)
  return { body: run }
})
