/** The schedules of projects and agents (SPEC.txt, Endpoints, 2 and 3; docs/contract.md, Schedules). */
import * as z from 'zod/mini'
import { problemOfCron } from '../../cron/expression.ts'
import { isTimezone } from '../../cron/timezone.ts'
import type { Contract } from '../../http/contract.ts'
import {
  check,
  docs,
  idempotencyKey,
  instant,
  rule,
  someOf,
  text,
  uuid,
  wholeNumber,
} from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_PROJECTS, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { AGENT, type Owner, PROJECT, pathsOf } from './owners.ts'

const cron = (max: number) =>
  text(1, max, {
    description:
      'Five fields (minute, hour, day of month, month, day of week) with numbers, names, lists, ranges and steps, ' +
      'or one of @hourly @daily @midnight @weekly @monthly @yearly @annually.',
    example: '30 9 * * mon-fri',
  }).check(check(problemOfCron))

const timezone = text(1, 255, {
  description: 'An IANA time zone name.',
  example: 'Europe/Paris',
}).check(rule(isTimezone, 'is not an IANA time zone', 'a name such as "Europe/Paris" or "UTC"'))

const headers = z.object({ 'Idempotency-Key': idempotencyKey('the schedule that the first made') })

const nullableInstant = (description: string) => z.nullable(instant()).register(docs, { description })

const times = {
  enabledAt: nullableInstant('Since when it is enabled; null while it is paused.'),
  lastRunAt: nullableInstant('Its latest run; null before the first.'),
  nextRunAt: nullableInstant('The next instant that it fires at; null while it is paused.'),
  createdAt: instant(),
  updatedAt: instant(),
}

const exampleTimes = {
  enabledAt: '2026-03-27T14:05:09.120Z',
  lastRunAt: null,
  nextRunAt: '2026-03-30T07:30:00.000Z',
  createdAt: '2026-03-27T14:05:09.120Z',
  updatedAt: '2026-03-27T14:05:09.120Z',
}

const projectFields = {
  id: uuid(),
  projectId: z.string(),
  cron: z.string(),
  timezone: z.string(),
  ...times,
}
const agentFields = { id: uuid(), agentId: uuid(), cron: z.string(), ...times }

const projectSchedule = z.strictObject(projectFields).register(docs, { id: 'ProjectSchedule' })
const agentSchedule = z.strictObject(agentFields).register(docs, { id: 'AgentSchedule' })

/** What there is to say of a schedule once it has been running. */
const state = {
  pausedReason: z.nullable(z.string()).register(docs, {
    description: 'Why the service paused it; null if it did not. Resuming it forgets the reason.',
  }),
}
const projectScheduleState = z
  .strictObject({ ...projectFields, ...state })
  .register(docs, { id: 'ProjectScheduleState' })
const agentScheduleState = z
  .strictObject({ ...agentFields, ...state })
  .register(docs, { id: 'AgentScheduleState' })

const exampleProjectSchedule = {
  id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
  projectId: 'website',
  cron: '30 9 * * mon-fri',
  timezone: 'Europe/Paris',
  ...exampleTimes,
}

const exampleAgentSchedule = {
  id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
  agentId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  cron: '0 6 * * *',
  ...exampleTimes,
  nextRunAt: '2026-03-28T06:00:00.000Z',
}

const created = {
  status: 201,
  description: 'The schedule is created, or was by an earlier request with this `Idempotency-Key`.',
  headers: { Location: 'The path of the schedule.' },
} as const

export const createProjectScheduleContract = {
  operationId: 'createProjectSchedule',
  method: 'POST',
  path: '/v1/projects/{projectId}/schedules',
  tag: 'Projects',
  summary: 'Create a project schedule',
  description: 'Creates a recurring build schedule for a project.',
  scope: 'schedules:write',
  params: z.object({ projectId: PROJECT.id() }),
  headers,
  body: z.strictObject({ cron: cron(255), timezone }).register(docs, {
    id: 'NewProjectSchedule',
    example: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
  }),
  success: {
    ...created,
    schema: projectSchedule,
    example: exampleProjectSchedule,
  },
  errors: {
    400: 'The path or body is wrong, or the key lacks the caller scope.',
    403: 'The key is limited to other projects.',
    404: 'The organization has no project with this id.',
    409:
      'The project is archived, the project or the organization has the most schedules allowed, ' +
      'or the `Idempotency-Key` was used with another body.',
    500: 'The schedule could not be created.',
  },
} as const satisfies Contract

export const createAgentScheduleContract = {
  operationId: 'createAgentSchedule',
  method: 'POST',
  path: '/v1/agents/{agentId}/schedules',
  tag: 'Agents',
  summary: 'Create an agent schedule',
  description: 'Creates a recurring schedule for an agent. Its cron expression is in UTC.',
  scope: 'schedules:write',
  params: z.object({ agentId: AGENT.id() }),
  headers,
  body: z
    .strictObject({ cron: cron(500) })
    .register(docs, { id: 'NewAgentSchedule', example: { cron: '0 6 * * *' } }),
  success: {
    ...created,
    schema: agentSchedule,
    example: exampleAgentSchedule,
  },
  errors: {
    400: 'The path or body is wrong, or the key lacks the caller scope.',
    404: 'The organization has no agent with this id.',
    409:
      'The agent is archived, the agent or the organization has the most schedules allowed, ' +
      'or the `Idempotency-Key` was used with another body.',
    500: 'The schedule could not be created.',
  },
} as const satisfies Contract

/** An agent's schedule has no time zone. */
type Change = {
  cron: z.ZodMiniOptional<z.ZodMiniType<string, string>>
  timezone: z.ZodMiniOptional<z.ZodMiniType<string, string>>
  enabled: z.ZodMiniOptional<z.ZodMiniType<boolean, boolean>>
}

export type Contracts<O extends Owner> = ReturnType<typeof contractsOf<O>>

/** The contracts of the schedules of an owner, apart from their creation. */
function contractsOf<const O extends Owner>(
  owner: O,
  schedule: z.ZodMiniObject,
  newSchedule: object,
  change: z.ZodMiniObject,
) {
  const { noun, tag } = owner
  const example = { ...newSchedule, pausedReason: null }
  const { all, one, parentParams, params } = pathsOf(owner)
  const success = { status: 200, description: 'The schedule.', schema: schedule, example } as const
  const errors = {
    400: INVALID_INPUT,
    ...(noun === 'project' && { 403: OTHER_PROJECTS }),
    404: `The organization has no such ${noun}, or it has no such schedule.`,
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  }
  return {
    list: {
      operationId: `list${owner.name}Schedules`,
      method: 'GET',
      path: all,
      tag,
      summary: `List ${noun} schedules`,
      description: `Lists the schedules of the ${noun} in order of creation.`,
      scope: 'schedules:read',
      params: z.object(parentParams),
      query: z.object(pageQuery(uuid())),
      success: {
        status: 200,
        description: 'A page of schedules.',
        schema: pageSchema(`${owner.name}SchedulePage`, schedule, uuid()),
        example: { items: [example], nextCursor: null },
      },
      errors: { ...errors, 404: `The organization has no such ${noun}.` },
    },
    retrieve: {
      operationId: `retrieve${owner.name}Schedule`,
      method: 'GET',
      path: one,
      tag,
      summary: `Retrieve a ${noun} schedule`,
      description: 'Answers with one schedule.',
      scope: 'schedules:read',
      params,
      success,
      errors,
    },
    update: {
      operationId: `update${owner.name}Schedule`,
      method: 'PATCH',
      path: one,
      tag,
      summary: `Update a ${noun} schedule`,
      description:
        'Changes when the schedule fires, pauses it or resumes it. What is left out stays as it is.',
      scope: 'schedules:write',
      params,
      body: change as unknown as z.ZodMiniObject<Change>,
      success,
      errors: {
        ...errors,
        409: `The ${noun} is archived, or the schedule was changed by another request meanwhile.`,
      },
    },
    remove: {
      operationId: `delete${owner.name}Schedule`,
      method: 'DELETE',
      path: one,
      tag,
      summary: `Delete a ${noun} schedule`,
      description: 'Deletes the schedule and its runs. It fires no more, and what is pending is not sent.',
      scope: 'schedules:write',
      params,
      success: {
        status: 200,
        description: 'The schedule is deleted.',
        schema: z
          .strictObject({ deleted: z.literal(true), id: uuid() })
          .register(docs, { id: `${owner.name}ScheduleDeletion` }),
        example: { deleted: true, id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70' },
      },
      errors: { ...errors, 409: `The ${noun} is archived: unarchive it first.` },
    },
  } as const satisfies Record<string, Contract>
}

const enabled = z
  .optional(z.boolean())
  .register(docs, { description: 'False pauses it; true resumes it, from now on.' })

export const projectScheduleContracts = contractsOf(
  PROJECT,
  projectScheduleState,
  exampleProjectSchedule,
  someOf({ cron: z.optional(cron(255)), timezone: z.optional(timezone), enabled }).register(docs, {
    id: 'ProjectScheduleUpdate',
    example: { enabled: false },
  }),
)

export const agentScheduleContracts = contractsOf(
  AGENT,
  agentScheduleState,
  exampleAgentSchedule,
  someOf({ cron: z.optional(cron(500)), enabled }).register(docs, {
    id: 'AgentScheduleUpdate',
    example: { enabled: false },
  }),
)

const MOST_PREVIEWED = 100

export const previewScheduleContract = {
  operationId: 'previewSchedule',
  method: 'GET',
  path: '/v1/schedule-preview',
  tag: 'Schedules',
  summary: 'Preview a schedule',
  description: 'Answers with the next instants at which a cron expression fires, and the wall clock there.',
  scope: null,
  params: z.object({}),
  query: z.object({
    cron: cron(500),
    timezone: z._default(timezone, 'UTC'),
    from: z
      .optional(
        instant().check(
          rule((from) => from >= '1970' && from < '3000', 'is out of range', 'an instant from 1970 to 2999'),
        ),
      )
      .register(docs, { description: 'The instants come after this one; now, if it is left out.' }),
    count: z
      ._default(wholeNumber(1, MOST_PREVIEWED), '5')
      .register(docs, { description: `How many, up to ${MOST_PREVIEWED}.`, example: '5' }),
  }),
  success: {
    status: 200,
    description: 'The next instants.',
    schema: z
      .strictObject({
        items: z.array(
          z.strictObject({
            at: instant(),
            localTime: z
              .string()
              .register(docs, { description: 'The wall clock of the time zone, with its offset.' }),
          }),
        ),
      })
      .register(docs, { id: 'SchedulePreview' }),
    example: { items: [{ at: '2026-03-30T07:30:00.000Z', localTime: '2026-03-30T09:30:00+02:00' }] },
  },
  errors: { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE },
} as const satisfies Contract
