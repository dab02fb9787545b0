/** The operations on the schedules of projects and agents (docs/contract.md, Schedules). */
import * as z from 'zod/mini'
import { problemOfCron } from '../../cron/expression.ts'
import { isTimezone } from '../../cron/timezone.ts'
import type { Problem } from '../../errors.ts'
import { closest } from '../../http/closest.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  check,
  docs,
  ENTITY_TAG,
  idempotencyKey,
  ifMatch,
  instant,
  rule,
  someOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import {
  INTERNAL_ERROR,
  INVALID_INPUT,
  OTHER_ETAG,
  OTHER_PROJECTS,
  STORE_UNAVAILABLE,
} from '../../http/statuses.ts'
import { AGENT, type Parent, PROJECT, parentCodesOf, pathsOf } from './parents.ts'

const cron = (max: number) =>
  text(1, max, {
    description:
      'Five fields (minute, hour, day of month, month, day of week) with numbers, names, lists, ranges and steps, ' +
      'or one of @hourly @daily @midnight @weekly @monthly @yearly @annually.',
    example: '30 9 * * mon-fri',
  }).check(check(problemOfCron))

const timezone = text(1, 255, {
  description:
    'An IANA time zone name. `EST`, `MST` and `HST` are such names, and never change to summer time.',
  example: 'Europe/Paris',
}).check(check(problemOfTimezone))

function problemOfTimezone(name: string): Problem | undefined {
  if (isTimezone(name)) return undefined
  const names = Intl.supportedValuesOf('timeZone')
  const isCity = (zone: string) => zone.toLowerCase().endsWith(`/${name.toLowerCase()}`)
  const meant = closest(name, names) ?? names.find(isCity)
  return {
    wrong: 'is not an IANA time zone',
    allowed: 'a name such as "Europe/Paris" or "UTC"',
    ...(meant && { advice: `Did you mean "${meant}"?` }),
  }
}

const headers = z.object({ 'Idempotency-Key': idempotencyKey() })

const nullableInstant = (description: string) => z.nullable(instant()).register(docs, { description })

const times = {
  enabledAt: nullableInstant('The time since which the schedule is enabled; null while it is paused.'),
  lastRunAt: nullableInstant(
    'The `scheduledAt` of the latest run that was not skipped; null before the first.',
  ),
  nextRunAt: nullableInstant('When the schedule fires next; null while it is paused.'),
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

/** A field of existing schedules. The response to a creation does not have it. */
const state = {
  pausedReason: z.nullable(z.string()).register(docs, {
    description: 'Why the service paused the schedule; null if it did not. Resuming the schedule clears it.',
  }),
}
const projectScheduleState = z
  .strictObject({ ...projectFields, ...state })
  .register(docs, { id: 'ProjectScheduleState' })
const agentScheduleState = z
  .strictObject({ ...agentFields, ...state })
  .register(docs, { id: 'AgentScheduleState' })

const exampleProjectSchedule = {
  id: EXAMPLE_IDS.projectScheduleId,
  projectId: EXAMPLE_IDS.projectId,
  cron: '30 9 * * mon-fri',
  timezone: 'Europe/Paris',
  ...exampleTimes,
}

const exampleAgentSchedule = {
  id: EXAMPLE_IDS.agentScheduleId,
  agentId: EXAMPLE_IDS.agentId,
  cron: '0 6 * * *',
  ...exampleTimes,
  nextRunAt: '2026-03-28T06:00:00.000Z',
}

const created = {
  status: 201,
  description: 'The schedule was created, now or by an earlier request with this `Idempotency-Key`.',
  headers: { Location: 'The path of the schedule.', ...ENTITY_TAG },
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
  errorCodes: [
    'project_forbidden',
    'project_not_found',
    'project_archived',
    'schedule_limit',
    'quota_exceeded',
    'idempotency_key_reused',
  ],
  errors: {
    400: INVALID_INPUT,
    403: OTHER_PROJECTS,
    404: 'The organization has no project with this projectId.',
    409:
      'The project is archived, the project or the organization has the maximum number of schedules, ' +
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
  description: 'Creates a recurring schedule for an agent. Its cron expression is evaluated in UTC.',
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
  errorCodes: [
    'agent_not_found',
    'agent_archived',
    'schedule_limit',
    'quota_exceeded',
    'idempotency_key_reused',
  ],
  errors: {
    400: INVALID_INPUT,
    404: 'The organization has no agent with this agentId.',
    409:
      'The agent is archived, the agent or the organization has the maximum number of schedules, ' +
      'or the `Idempotency-Key` was used with another body.',
    500: 'The schedule could not be created.',
  },
} as const satisfies Contract

/** The schedules of agents have no time zone to change. */
type Change = {
  cron: z.ZodMiniOptional<z.ZodMiniType<string, string>>
  timezone: z.ZodMiniOptional<z.ZodMiniType<string, string>>
  enabled: z.ZodMiniOptional<z.ZodMiniType<boolean, boolean>>
}

export type Contracts<P extends Parent> = ReturnType<typeof crudContracts<P>>

/** The contracts of the schedules of a parent, except their creation. */
function crudContracts<const P extends Parent>(
  parent: P,
  schedule: z.ZodMiniObject,
  newSchedule: object,
  change: z.ZodMiniObject,
) {
  const { type, article, tag } = parent
  const example = { ...newSchedule, pausedReason: null }
  const { all, one, parentParams, params } = pathsOf(parent)
  const headers = z.object({ 'If-Match': ifMatch() })
  const success = {
    status: 200,
    description: 'The schedule.',
    schema: schedule,
    example,
    headers: ENTITY_TAG,
  } as const
  const parentCodes = parentCodesOf(type)
  const codes = [...parentCodes, 'schedule_not_found'] as const
  const errors = {
    400: INVALID_INPUT,
    ...(type === 'project' && { 403: OTHER_PROJECTS }),
    404: `The organization has no such ${type}, or the ${type} has no such schedule.`,
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  }
  return {
    list: {
      operationId: `list${parent.name}Schedules`,
      method: 'GET',
      path: all,
      tag,
      summary: `List ${type} schedules`,
      description: `Lists the schedules of the ${type}, oldest first.`,
      scope: 'schedules:read',
      params: z.object(parentParams),
      query: z.object(pageQuery(uuid())),
      success: {
        status: 200,
        description: 'A page of schedules.',
        schema: pageSchema(`${parent.name}SchedulePage`, schedule, uuid()),
        example: { items: [example], nextCursor: null },
      },
      errorCodes: parentCodes,
      errors: { ...errors, 404: `The organization has no such ${type}.` },
    },
    retrieve: {
      operationId: `retrieve${parent.name}Schedule`,
      method: 'GET',
      path: one,
      tag,
      summary: `Retrieve ${article} ${type} schedule`,
      description: 'Returns one schedule.',
      scope: 'schedules:read',
      params,
      success,
      errorCodes: codes,
      errors,
    },
    update: {
      operationId: `update${parent.name}Schedule`,
      method: 'PATCH',
      path: one,
      tag,
      summary: `Update ${article} ${type} schedule`,
      description:
        'Changes when the schedule fires, pauses it or resumes it. Fields that are left out stay unchanged.',
      scope: 'schedules:write',
      params,
      headers,
      body: change as unknown as z.ZodMiniObject<Change>,
      success,
      errorCodes: [...codes, `${type}_archived`, 'concurrent_change', 'etag_mismatch'],
      errors: {
        ...errors,
        409: `The ${type} is archived, or another request changed the schedule at the same time.`,
        412: OTHER_ETAG,
      },
    },
    remove: {
      operationId: `delete${parent.name}Schedule`,
      method: 'DELETE',
      path: one,
      tag,
      summary: `Delete ${article} ${type} schedule`,
      description: 'Deletes the schedule and its runs. Pending runs are not sent.',
      scope: 'schedules:write',
      params,
      headers,
      success: {
        status: 200,
        description: 'The schedule was deleted.',
        schema: z
          .strictObject({ deleted: z.literal(true), id: uuid() })
          .register(docs, { id: `${parent.name}ScheduleDeletion` }),
        example: { deleted: true, id: parent.exampleScheduleId },
      },
      errorCodes: [...codes, `${type}_archived`, 'etag_mismatch'],
      errors: { ...errors, 409: `The ${type} is archived.`, 412: OTHER_ETAG },
    },
  } as const satisfies Record<string, Contract>
}

const enabled = z
  .optional(z.boolean())
  .register(docs, { description: 'False pauses the schedule. True resumes it from now on.' })

export const projectScheduleContracts = crudContracts(
  PROJECT,
  projectScheduleState,
  exampleProjectSchedule,
  someOf({ cron: z.optional(cron(255)), timezone: z.optional(timezone), enabled }).register(docs, {
    id: 'ProjectScheduleUpdate',
    example: { enabled: false },
  }),
)

export const agentScheduleContracts = crudContracts(
  AGENT,
  agentScheduleState,
  exampleAgentSchedule,
  someOf({ cron: z.optional(cron(500)), enabled }).register(docs, {
    id: 'AgentScheduleUpdate',
    example: { enabled: false },
  }),
)

const LARGEST_PREVIEW = 100

export const previewScheduleContract = {
  operationId: 'previewSchedule',
  method: 'GET',
  path: '/v1/schedule-preview',
  tag: 'Schedules',
  summary: 'Preview a schedule',
  description: 'Returns the next times at which a cron expression fires, in UTC and in the time zone.',
  scope: null,
  params: z.object({}),
  query: z.object({
    cron: cron(500),
    timezone: z._default(timezone, 'UTC'),
    from: z
      .optional(
        time().check(
          rule((from) => from >= '1970' && from < '3000', 'is out of range', 'a time from 1970 to 2999'),
        ),
      )
      .register(docs, {
        description: 'The times are later than this one, which may have any form of RFC 3339. Default: now.',
        example: '2026-03-29T01:00:00.000Z',
      }),
    count: z
      ._default(wholeNumber(1, LARGEST_PREVIEW), '5')
      .register(docs, { description: `The number of times, up to ${LARGEST_PREVIEW}.`, example: '5' }),
  }),
  success: {
    status: 200,
    description: 'The next times.',
    schema: z
      .strictObject({
        items: z.array(
          z.strictObject({
            at: instant(),
            localTime: z
              .string()
              .register(docs, { description: 'The local time in the time zone, with its UTC offset.' }),
          }),
        ),
      })
      .register(docs, { id: 'SchedulePreview' }),
    example: { items: [{ at: '2026-03-30T07:30:00.000Z', localTime: '2026-03-30T09:30:00+02:00' }] },
  },
  errors: { 400: INVALID_INPUT, 500: INTERNAL_ERROR, 503: STORE_UNAVAILABLE },
} as const satisfies Contract
