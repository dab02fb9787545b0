/** The operations on the runs of schedules (docs/contract.md, Runs). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, idempotencyKey, instant, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_PROJECTS, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { AGENT, type Parent, PROJECT, parentCodesOf, pathsOf } from '../schedules/parents.ts'

const run = z
  .strictObject({
    id: uuid('The ID is the same for every delivery of the run. IDs sort by `scheduledAt`.'),
    scheduleId: uuid(),
    projectId: z
      .nullable(z.string())
      .register(docs, { description: 'The project of the schedule; null for the schedule of an agent.' }),
    agentId: z
      .nullable(uuid())
      .register(docs, { description: 'The agent of the schedule; null for the schedule of a project.' }),
    scheduledAt: instant().register(docs, {
      description: 'When the run was due; for a run that was created by a request, the time of the request.',
    }),
    status: z.enum(['pending', 'delivered', 'failed', 'skipped']).register(docs, {
      description:
        '`pending`: to be sent or pulled. `delivered`: accepted by the run endpoint, or acknowledged. ' +
        '`failed`: all delivery attempts failed. `skipped`: missed, or due while the project or agent was archived.',
    }),
    attempts: z.int().check(z.minimum(0)).register(docs, { description: 'The number of delivery attempts.' }),
    lastError: z
      .nullable(z.string())
      .register(docs, { description: 'The error of the last delivery attempt, or why the run was skipped.' }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'Run' })

const runPage = pageSchema('RunPage', run, uuid())

const exampleRun = {
  id: EXAMPLE_IDS.runId,
  scheduleId: EXAMPLE_IDS.projectScheduleId,
  projectId: EXAMPLE_IDS.projectId,
  agentId: null,
  scheduledAt: '2026-03-30T07:30:00.000Z',
  status: 'delivered',
  attempts: 1,
  lastError: null,
  createdAt: '2026-03-30T07:30:01.204Z',
  updatedAt: '2026-03-30T07:30:02.871Z',
} as const

const exampleAgentRun = {
  ...exampleRun,
  scheduleId: EXAMPLE_IDS.agentScheduleId,
  projectId: null,
  agentId: EXAMPLE_IDS.agentId,
} as const

const success = {
  status: 200,
  description: 'The run.',
  schema: run,
  example: exampleRun,
} as const

const errors = { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE } as const

export type RunContracts<P extends Parent> = ReturnType<typeof scheduleRunContracts<P>>

/** The contracts of the runs of a parent's schedules. */
function scheduleRunContracts<const P extends Parent>(parent: P) {
  const { type, article, tag } = parent
  const example = type === 'project' ? exampleRun : exampleAgentRun
  const { one, params } = pathsOf(parent)
  const path = `${one}/runs` as `${typeof one}/runs`
  const codes = [...parentCodesOf(type), 'schedule_not_found'] as const
  const scheduleErrors = {
    ...errors,
    ...(type === 'project' && { 403: OTHER_PROJECTS }),
    404: `The organization has no such ${type}, or the ${type} has no such schedule.`,
  }
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
      errorCodes: codes,
      errors: scheduleErrors,
    },
    create: {
      operationId: `create${parent.name}ScheduleRun`,
      method: 'POST',
      path,
      tag,
      summary: `Run ${article} ${type} schedule now`,
      description: 'Creates a run now, even if the schedule is paused. The request has no body.',
      scope: 'runs:write',
      params,
      headers: z.object({ 'Idempotency-Key': idempotencyKey() }),
      success: {
        status: 201,
        description: 'The run was created, now or by an earlier request with this `Idempotency-Key`.',
        schema: run,
        example: { ...example, status: 'pending', attempts: 0 },
        headers: { Location: 'The path of the run.' },
      },
      errorCodes: [...codes, `${type}_archived`],
      errors: { ...scheduleErrors, 409: `The ${type} is archived.` },
    },
  } as const satisfies Record<string, Contract>
}

export const projectScheduleRunContracts = scheduleRunContracts(PROJECT)
export const agentScheduleRunContracts = scheduleRunContracts(AGENT)

export const listRunsContract = {
  operationId: 'listRuns',
  method: 'GET',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'List runs',
  description:
    'Lists the runs of all schedules with a given status, oldest first. Without a run endpoint, pull the `pending` runs ' +
    'and acknowledge each. With another status, a page examines up to 2,500 runs: it may have few items or none, and still ' +
    'a `nextCursor`.',
  scope: 'runs:read',
  params: z.object({}),
  query: z.object({
    status: z
      ._default(z.enum(['pending', 'delivered', 'failed', 'skipped']), 'pending')
      .register(docs, { description: 'The status of the runs.', example: 'pending' }),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of runs.',
    schema: runPage,
    example: { items: [{ ...exampleRun, status: 'pending', attempts: 0 }], nextCursor: null },
  },
  errorCodes: ['unrestricted_key_required'],
  errors: { ...errors, 403: 'The API key is restricted to projects.' },
} as const satisfies Contract

const params = z.object({ runId: uuid('The run.', EXAMPLE_IDS.runId) })
const NO_RUN = 'The organization has no such run, or its schedule was deleted.'

export const retrieveRunContract = {
  operationId: 'retrieveRun',
  method: 'GET',
  path: '/v1/runs/{runId}',
  tag: 'Runs',
  summary: 'Retrieve a run',
  description: 'Returns one run.',
  scope: 'runs:read',
  params,
  success,
  errorCodes: ['project_forbidden', 'run_not_found'],
  errors: { ...errors, 403: OTHER_PROJECTS, 404: NO_RUN },
} as const satisfies Contract

export const acknowledgeRunContract = {
  operationId: 'acknowledgeRun',
  method: 'POST',
  path: '/v1/runs/{runId}/acknowledge',
  tag: 'Runs',
  summary: 'Acknowledge a run',
  description:
    'Marks a pending run as `delivered`, so that it is not sent again. Safe to repeat. The request has no body.',
  scope: 'runs:write',
  params,
  success,
  errorCodes: ['project_forbidden', 'run_not_found', 'run_not_pending'],
  errors: {
    ...errors,
    403: OTHER_PROJECTS,
    404: NO_RUN,
    409: 'The run failed or was skipped.',
  },
} as const satisfies Contract
