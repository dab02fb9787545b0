/** The runs of schedules: the ledger of what came due, and what became of it (docs/contract.md, Runs). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { docs, idempotencyKey, instant, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_PROJECTS, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { AGENT, type Owner, PROJECT, pathsOf } from '../schedules/owners.ts'

const run = z
  .strictObject({
    id: uuid('Derived from schedule and instant, so that a repetition can be told; in order of time.'),
    scheduleId: uuid(),
    projectId: z
      .nullable(z.string())
      .register(docs, { description: 'The project of the schedule; null if it is an agent’s.' }),
    agentId: z
      .nullable(uuid())
      .register(docs, { description: 'The agent of the schedule; null if it is a project’s.' }),
    scheduledAt: instant().register(docs, {
      description: 'The instant that it was due at; of a run on request, that of the request.',
    }),
    status: z.enum(['pending', 'delivered', 'failed', 'skipped']).register(docs, {
      description:
        '`pending`: to be sent, or to be pulled. `delivered`: the run endpoint took it, or it was acknowledged. ' +
        '`failed`: it was sent for the last time, in vain. `skipped`: it was missed, or the parent was archived.',
    }),
    attempts: z.int().check(z.minimum(0)).register(docs, { description: 'How often it was sent.' }),
    lastError: z
      .nullable(z.string())
      .register(docs, { description: 'What was wrong with the last attempt, or why it was skipped.' }),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'Run' })

const exampleRun = {
  id: '019d2ff5-7960-8a31-b0c4-6d8f2e1a9b57',
  scheduleId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
  projectId: 'website',
  agentId: null,
  scheduledAt: '2026-03-27T14:30:00.000Z',
  status: 'delivered',
  attempts: 1,
  lastError: null,
  createdAt: '2026-03-27T14:30:01.204Z',
  updatedAt: '2026-03-27T14:30:02.871Z',
} as const

const success = {
  status: 200,
  description: 'The run.',
  schema: run,
  example: exampleRun,
} as const

const errors = { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE } as const

export type RunContracts<O extends Owner> = ReturnType<typeof contractsOf<O>>

/** The contracts of the runs of an owner's schedules. */
function contractsOf<const O extends Owner>(owner: O) {
  const { noun, tag } = owner
  const { one, params } = pathsOf(owner)
  const path = `${one}/runs` as `${typeof one}/runs`
  const ownErrors = {
    ...errors,
    ...(noun === 'project' && { 403: OTHER_PROJECTS }),
    404: `The organization has no such ${noun}, or it has no such schedule.`,
  }
  return {
    list: {
      operationId: `list${owner.name}ScheduleRuns`,
      method: 'GET',
      path,
      tag,
      summary: `List the runs of a ${noun} schedule`,
      description: 'Lists what became of each instant of the schedule, the latest first, for 90 days.',
      scope: 'runs:read',
      params,
      query: z.object(pageQuery(uuid())),
      success: {
        status: 200,
        description: 'A page of runs.',
        schema: pageSchema(`${owner.name}ScheduleRunPage`, run, uuid()),
        example: {
          items: [
            noun === 'project'
              ? exampleRun
              : { ...exampleRun, projectId: null, agentId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903' },
          ],
          nextCursor: null,
        },
      },
      errors: ownErrors,
    },
    create: {
      operationId: `create${owner.name}ScheduleRun`,
      method: 'POST',
      path,
      tag,
      summary: `Run a ${noun} schedule now`,
      description: 'Makes a run at this instant, also while the schedule is paused. It has no body.',
      scope: 'runs:write',
      params,
      headers: z.object({ 'Idempotency-Key': idempotencyKey('the run that the first made') }),
      success: {
        status: 201,
        description: 'The run is made, or was by an earlier request with this `Idempotency-Key`.',
        schema: run,
        example: { ...exampleRun, status: 'pending', attempts: 0 },
        headers: { Location: 'The path of the run.' },
      },
      errors: { ...ownErrors, 409: `The ${noun} is archived: unarchive it first.` },
    },
  } as const satisfies Record<string, Contract>
}

export const projectScheduleRunContracts = contractsOf(PROJECT)
export const agentScheduleRunContracts = contractsOf(AGENT)

export const listRunsContract = {
  operationId: 'listRuns',
  method: 'GET',
  path: '/v1/runs',
  tag: 'Runs',
  summary: 'List runs',
  description:
    'Lists the runs of all schedules that have a status, the oldest first. Whoever has no run endpoint pulls what is ' +
    '`pending`, and acknowledges each.',
  scope: 'runs:read',
  params: z.object({}),
  query: z.object({
    status: z
      ._default(z.enum(['pending', 'delivered', 'failed', 'skipped']), 'pending')
      .register(docs, { description: 'Which runs.', example: 'pending' }),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of runs.',
    schema: pageSchema('RunPage', run, uuid()),
    example: { items: [{ ...exampleRun, status: 'pending', attempts: 0 }], nextCursor: null },
  },
  errors: { ...errors, 403: 'The key is limited to projects: list the runs of a schedule.' },
} as const satisfies Contract

const params = z.object({ runId: uuid('The run.') })
const NO_RUN = 'The organization has no such run, or its schedule is deleted.'

export const retrieveRunContract = {
  operationId: 'retrieveRun',
  method: 'GET',
  path: '/v1/runs/{runId}',
  tag: 'Runs',
  summary: 'Retrieve a run',
  description: 'Answers with one run.',
  scope: 'runs:read',
  params,
  success,
  errors: { ...errors, 403: OTHER_PROJECTS, 404: NO_RUN },
} as const satisfies Contract

export const acknowledgeRunContract = {
  operationId: 'acknowledgeRun',
  method: 'POST',
  path: '/v1/runs/{runId}/acknowledge',
  tag: 'Runs',
  summary: 'Acknowledge a run',
  description:
    'Says that a pending run was taken: it is `delivered` then, and is not sent any more. Safe to repeat. It has no body.',
  scope: 'runs:write',
  params,
  success,
  errors: {
    ...errors,
    403: OTHER_PROJECTS,
    404: NO_RUN,
    409: 'The run failed or was skipped: there is nothing to acknowledge.',
  },
} as const satisfies Contract
