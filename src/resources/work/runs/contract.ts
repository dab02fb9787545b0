/** The operations on the runs of schedules (docs/contract-work.md, Runs). */
import * as z from 'zod/mini'
import { projectForbidden, projectNotFound, projectRequired, sessionNotFound } from '../../../access/failures.ts'
import type { Contract } from '../../../http/contract.ts'
import { EXAMPLE_IDS } from '../../../http/example-ids.ts'
import { docs, idempotencyKey, instant, integer, text, time, uuid } from '../../../http/fields.ts'
import { pageQuery, pageSchema } from '../../../http/paging.ts'
import { deliveryAttempt } from '../../../webhooks/contract.ts'
import { OUTCOMES } from '../outcomes.ts'
import { AGENT, type Parent, PROJECT, pathsOf } from '../parents.ts'
import { runEndpointNotFound } from '../run-endpoint/failures.ts'
import { scheduleNotFound } from '../schedules/failures.ts'
import {
  claimedNotPending,
  claimedNotRedeliverable,
  claimIdMissing,
  claimMismatch,
  claimsStopped,
  newerRunExists,
  notRedeliverable,
  outcomeAfterNewerRun,
  outcomeExists,
  outcomeTooLate,
  redeliveryTooLate,
  runNotFound,
  runNotPending,
} from './failures.ts'

export const STATUSES = ['pending', 'delivered', 'succeeded', 'failed', 'skipped'] as const
/** The statuses that a list is filtered by. */
export const STATUS_FILTERS = [...STATUSES, 'running'] as const
const FAILURES = ['delivery', 'task', 'timeout'] as const

const parent = {
  projectId: z
    .nullable(z.string())
    .register(docs, { description: 'The project of the schedule; null for the schedule of an agent.' }),
  agentId: z
    .nullable(uuid())
    .register(docs, { description: 'The agent of the schedule; null for the schedule of a project.' }),
}
const failure = z.nullable(z.enum(FAILURES)).register(docs, {
  description:
    'Why the run failed. `delivery`: all delivery attempts failed. `task`: its outcome is `failed`. `timeout`: it had no ' +
    'outcome in time.',
})
const outcomeMessage = z.nullable(z.string()).register(docs, { description: 'The message that came with the outcome.' })
const outcomeSession = z
  .nullable(uuid())
  .register(docs, { description: 'The session in which the work was done, if the outcome named it.' })

export const run = z
  .strictObject({
    id: uuid('The ID is the same for every delivery of the run. IDs sort by `scheduledAt`.'),
    scheduleId: uuid(),
    scheduleName: z.nullable(z.string()).register(docs, { description: 'The name of the schedule.' }),
    ...parent,
    scheduledAt: instant('When the run was due; for a run that was created by a request, the time of the request.'),
    status: z.enum(STATUSES).register(docs, {
      description:
        '`pending`: to be sent or claimed. `delivered`: taken by the run endpoint or a worker, and without an outcome. ' +
        '`succeeded`, `failed`: finished. `skipped`: missed, due while the project or agent was archived, or due while the ' +
        'previous run was unfinished (overlap `skip`).',
    }),
    failure,
    attempts: z
      .int()
      .check(z.minimum(0))
      .register(docs, { description: 'How many times the run was sent or claimed.' }),
    lastError: z.nullable(z.string()).register(docs, {
      description: 'The error of the last delivery attempt, or why the run timed out or was skipped.',
    }),
    lastAttempts: z
      .array(deliveryAttempt)
      .register(docs, { description: 'Up to six delivery attempts, the latest first.' }),
    nextAttemptAt: z.nullable(instant()).register(docs, {
      description: 'When a pending run is sent again; null in the queue.',
    }),
    claim: z
      .nullable(
        z
          .strictObject({
            apiKeyId: uuid(),
            apiKeyName: z.string(),
            leaseExpiresAt: instant(),
          })
          .register(docs, { id: 'RunHolder' }),
      )
      .register(docs, { description: 'Who has claimed the run.' }),
    startedAt: z.nullable(instant()).register(docs, { description: 'When the run was taken.' }),
    finishedAt: z.nullable(instant()).register(docs, { description: 'When the run succeeded or failed.' }),
    message: outcomeMessage,
    sessionId: outcomeSession,
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'Run' })

const runPage = pageSchema('RunPage', run, uuid())

const exampleRun = {
  id: EXAMPLE_IDS.runId,
  scheduleId: EXAMPLE_IDS.projectScheduleId,
  scheduleName: 'Nightly build',
  projectId: EXAMPLE_IDS.projectId,
  agentId: null,
  scheduledAt: '2026-03-30T07:30:00.000Z',
  status: 'succeeded',
  failure: null,
  attempts: 1,
  lastError: null,
  lastAttempts: [],
  nextAttemptAt: null,
  claim: null,
  startedAt: '2026-03-30T07:30:02.512Z',
  finishedAt: '2026-03-30T07:31:26.734Z',
  message: 'Built 14 pages.',
  sessionId: EXAMPLE_IDS.sessionId,
  createdAt: '2026-03-30T07:30:01.204Z',
  updatedAt: '2026-03-30T07:31:26.734Z',
} as const

const examplePendingRun = {
  ...exampleRun,
  status: 'pending',
  attempts: 0,
  startedAt: null,
  finishedAt: null,
  message: null,
  sessionId: null,
} as const

const exampleAgentRun = {
  ...exampleRun,
  scheduleId: EXAMPLE_IDS.agentScheduleId,
  projectId: null,
  agentId: EXAMPLE_IDS.agentId,
} as const

const parentIdsOf = ({ scheduleId, projectId, agentId }: typeof exampleRun | typeof exampleAgentRun) => ({
  scheduleId,
  projectId,
  agentId,
})

const success = {
  status: 200,
  description: 'The run.',
  schema: run,
  example: exampleRun,
} as const

/** The contracts of the runs of a parent's schedules. */
function scheduleRunContracts<const P extends Parent>(parent: P) {
  const { type, article, tag } = parent
  const example = type === 'project' ? exampleRun : exampleAgentRun
  const { one, params } = pathsOf(parent)
  const path = `${one}/runs` as `${typeof one}/runs`
  const failures = [...parent.failures, scheduleNotFound(type)]
  return {
    list: {
      operationId: `list${parent.name}ScheduleRuns`,
      method: 'GET',
      path,
      tag,
      summary: `List the runs of ${article} ${type} schedule`,
      description: 'Lists the runs of the schedule, latest first. Runs are kept for 90 days.',
      scope: 'runs:read',
      params,
      query: z.object(pageQuery(uuid())),
      success: {
        status: 200,
        description: 'A page of runs.',
        schema: runPage,
        example: { items: [example], nextCursor: null },
      },
      failures,
    },
    create: {
      operationId: `create${parent.name}ScheduleRun`,
      method: 'POST',
      path,
      tag,
      summary: `Run ${article} ${type} schedule now`,
      description:
        'Creates a run now, even if the schedule is paused. With the overlap `skip`, the run is `skipped` if the run before is ' +
        'pending or active. The request has no body.',
      scope: 'runs:write',
      params,
      headers: z.object({ 'Idempotency-Key': idempotencyKey() }),
      success: {
        status: 201,
        description: 'The run was created, now or by an earlier request with this `Idempotency-Key`.',
        schema: run,
        example: { ...examplePendingRun, ...parentIdsOf(example) },
        headers: { Location: 'The path of the run.' },
      },
      failures: [...failures, parent.archived],
    },
  } as const satisfies Record<string, Contract>
}

export const projectScheduleRunContracts = scheduleRunContracts(PROJECT)
export const agentScheduleRunContracts = scheduleRunContracts(AGENT)

const projectOfRestrictedKey = () =>
  z.optional(PROJECT.id()).register(docs, {
    description: 'The runs of this project. Required for an API key that is restricted to projects.',
  })

export const listRunsContract = {
  operationId: 'listRuns',
  method: 'GET',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'List runs',
  description:
    'Lists runs, latest first; with `status=pending`, oldest first. With `projectId`, a `status` ' +
    'other than `pending`, or `scheduleId` and a `status`, a page examines up to 2,500 runs: it may have few items or none, ' +
    'and still a `nextCursor`.',
  scope: 'runs:read',
  params: z.object({}),
  query: z.object({
    status: z.optional(z.enum(STATUS_FILTERS)).register(docs, {
      description:
        'The status of the runs. `running` means `delivered`: claimed, or delivered without an outcome. Default: all.',
      example: 'pending',
    }),
    scheduleId: z.optional(uuid('The schedule.')),
    projectId: projectOfRestrictedKey(),
    from: z.optional(time()).register(docs, {
      description: 'Due at this time or later.',
      example: '2026-03-30T00:00:00.000Z',
    }),
    to: z.optional(time()).register(docs, { description: 'Due before this time.' }),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of runs.',
    schema: runPage,
    example: { items: [examplePendingRun], nextCursor: null },
  },
  failures: [projectRequired, projectForbidden, projectNotFound],
} as const satisfies Contract

/** A run with the work of its schedule: what a run endpoint receives. */
const workFields = {
  id: uuid(
    'The ID of the run. It is the same for every attempt, so that a receiver can recognize a repeated delivery.',
  ),
  scheduleId: uuid(),
  name: z.nullable(z.string()).register(docs, { description: 'The name of the schedule.' }),
  ...parent,
  cron: z.nullable(z.string()),
  runAt: z.nullable(instant()),
  timezone: z.string(),
  scheduledAt: instant(),
  payload: z.unknown().register(docs, { description: 'The payload of the schedule; null if it has none.' }),
  attempt: z
    .int()
    .check(z.minimum(1))
    .register(docs, { description: 'How many times the run was sent or claimed, including this time.' }),
  previous: z
    .nullable(
      z.strictObject({
        id: uuid(),
        scheduledAt: instant(),
        status: z.enum(['pending', 'delivered', 'succeeded', 'failed']),
        failure,
        message: outcomeMessage,
        sessionId: outcomeSession,
      }),
    )
    .register(docs, {
      description: 'The run before of the same schedule that was not skipped, if it is among the 100 runs before.',
    }),
}
export const work = z.strictObject(workFields).register(docs, { id: 'RunWork' })

export const exampleWork = {
  id: EXAMPLE_IDS.runId,
  scheduleId: EXAMPLE_IDS.projectScheduleId,
  name: 'Nightly build',
  projectId: EXAMPLE_IDS.projectId,
  agentId: null,
  cron: '30 9 * * mon-fri',
  runAt: null,
  timezone: 'Europe/Paris',
  scheduledAt: '2026-03-30T07:30:00.000Z',
  payload: { branch: 'main' },
  attempt: 1,
  previous: null,
} as const

const leaseSeconds = integer(60, 86_400, 'whole seconds', '(1 day)').register(docs, {
  description: 'How long the claim lasts. A run whose claim has ended is pending again, up to a minute later.',
})
/** Each claimed run has an event, so this limits what one request writes. */
export const MAX_CLAIMED = 20

const leaseExpiresAt = instant('When the claim ends. With `maxRunSeconds`, it never lasts longer than the run may.')
const EXAMPLE_CLAIM = {
  claimId: EXAMPLE_IDS.claimId,
  leaseExpiresAt: '2026-03-30T07:35:01.204Z',
}

export const claimRunsContract = {
  operationId: 'claimRuns',
  method: 'POST',
  path: '/v1/runs/claim',
  tag: 'Runs',
  summary: 'Claim runs',
  description:
    'Takes the oldest pending runs. No other claim gets them until `leaseExpiresAt`. Renew a claim before it ends, and complete ' +
    'the run with its `claimId`. Runs that are on their way to a run endpoint cannot be claimed.',
  scope: 'runs:write',
  params: z.object({}),
  body: z
    .strictObject({
      limit: z._default(integer(1, MAX_CLAIMED), 1).register(docs, { description: 'How many runs to take at most.' }),
      leaseSeconds,
      projectId: projectOfRestrictedKey(),
    })
    .register(docs, { id: 'RunClaimRequest', example: { limit: 1, leaseSeconds: 300 } }),
  success: {
    status: 200,
    description: 'The claimed runs, oldest first.',
    schema: z
      .strictObject({
        items: z.array(
          z
            .strictObject({
              ...workFields,
              claimId: uuid('Renews the claim, and completes the run.'),
              leaseExpiresAt,
            })
            .register(docs, { id: 'ClaimedRun' }),
        ),
      })
      .register(docs, { id: 'ClaimedRuns' }),
    example: { items: [{ ...exampleWork, ...EXAMPLE_CLAIM }] },
  },
  failures: [projectRequired, projectForbidden, projectNotFound, claimsStopped],
} as const satisfies Contract

const runParams = (example: string) => z.object({ runId: uuid('The run.', example) })
const params = runParams(EXAMPLE_IDS.runId)

export const retrieveRunContract = {
  operationId: 'retrieveRun',
  method: 'GET',
  path: '/v1/runs/{runId}',
  tag: 'Runs',
  summary: 'Retrieve a run',
  description: 'Returns one run.',
  scope: 'runs:read',
  params,
  success: {
    ...success,
    example: {
      ...exampleRun,
      lastAttempts: [{ startedAt: exampleRun.startedAt, status: 202, milliseconds: 184, error: null }],
    },
  },
  failures: [projectForbidden, runNotFound],
} as const satisfies Contract

export const acknowledgeRunContract = {
  operationId: 'acknowledgeRun',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/runs/{runId}/acknowledge',
  tag: 'Runs',
  summary: 'Acknowledge a run',
  description:
    'Marks a pending run as `delivered`, so that it is neither sent nor claimed. Safe to repeat. The request has no body.',
  scope: 'runs:write',
  params: runParams(EXAMPLE_IDS.deliveredRunId),
  success,
  failures: [projectForbidden, runNotFound, claimedNotPending, runNotPending],
} as const satisfies Contract

export const redeliverRunContract = {
  operationId: 'redeliverRun',
  method: 'POST',
  path: '/v1/runs/{runId}/redeliver',
  tag: 'Runs',
  summary: 'Send a run again',
  description:
    'Puts a run into the queue again that is pending, was delivered and has no outcome, or failed by `delivery`. Its ID ' +
    'stays, and its attempts start from the beginning. The request has no body.',
  scope: 'runs:write',
  params: runParams(EXAMPLE_IDS.deliveredRunId),
  success: { ...success, example: examplePendingRun },
  failures: [
    projectForbidden,
    runNotFound,
    runEndpointNotFound,
    claimedNotRedeliverable,
    notRedeliverable,
    redeliveryTooLate,
    newerRunExists,
  ],
} as const satisfies Contract

const claimId = uuid('The claim.', EXAMPLE_CLAIM.claimId)

export const renewRunContract = {
  operationId: 'renewRun',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/runs/{runId}/renew',
  tag: 'Runs',
  summary: 'Renew the claim of a run',
  description: 'Extends the claim to `leaseSeconds` from now.',
  scope: 'runs:write',
  params: runParams(EXAMPLE_IDS.claimedRunId),
  body: z
    .strictObject({ claimId, leaseSeconds })
    .register(docs, { id: 'RunRenewal', example: { claimId: EXAMPLE_CLAIM.claimId, leaseSeconds: 300 } }),
  success: {
    status: 200,
    description: 'The claim.',
    schema: z.strictObject({ id: uuid(), claimId, leaseExpiresAt }).register(docs, { id: 'RunClaim' }),
    example: { id: EXAMPLE_IDS.claimedRunId, ...EXAMPLE_CLAIM },
  },
  failures: [projectForbidden, runNotFound, claimMismatch],
} as const satisfies Contract

const outcomeFields = {
  outcome: z.enum(OUTCOMES),
  message: z.optional(text(1, 1000, { description: 'What happened, for people.' })),
  sessionId: z.optional(uuid('The session in which the work was done.', EXAMPLE_IDS.sessionId)),
}

/** What a run endpoint may respond to a delivery with. Many languages write null for what is absent. */
export const reportedOutcome = z
  .strictObject({
    ...outcomeFields,
    message: z.nullish(outcomeFields.message),
    sessionId: z.nullish(outcomeFields.sessionId),
  })
  .register(docs, {
    id: 'RunOutcome',
    example: { outcome: 'succeeded', message: 'Built 14 pages.' },
  })

export const completeRunContract = {
  operationId: 'completeRun',
  isRepeatable: true,
  method: 'POST',
  path: '/v1/runs/{runId}/complete',
  tag: 'Runs',
  summary: 'Complete a run',
  description: 'Records the outcome of a run within its `maxRunSeconds`. Safe to repeat: the first outcome stands.',
  scope: 'runs:write',
  params,
  body: z
    .strictObject({
      ...outcomeFields,
      claimId: z
        .optional(uuid())
        .register(docs, { description: 'The claim of the run; required if the run is claimed.' }),
    })
    .register(docs, {
      id: 'RunCompletion',
      example: { outcome: 'succeeded', message: 'Built 14 pages.', sessionId: EXAMPLE_IDS.sessionId },
    }),
  success,
  failures: [
    projectForbidden,
    runNotFound,
    sessionNotFound,
    claimIdMissing,
    claimMismatch,
    outcomeExists,
    outcomeTooLate,
    outcomeAfterNewerRun,
  ],
} as const satisfies Contract
