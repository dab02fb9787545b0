/** The operations on the schedules of projects and agents (docs/contract-work.md, Schedules). */
import * as z from 'zod/mini'
import {
  agentArchived,
  agentNotFound,
  alreadyExists,
  etagMismatch,
  projectArchived,
  projectForbidden,
  projectNotFound,
  quotaExceeded,
  scheduleLimitReached,
} from '../../../access/failures.ts'
import { problemOfCron } from '../../../cron/expression.ts'
import { isTimezone } from '../../../cron/timezone.ts'
import type { Problem } from '../../../errors.ts'
import { closest } from '../../../http/closest.ts'
import type { Contract } from '../../../http/contract.ts'
import { EXAMPLE_IDS } from '../../../http/example-ids.ts'
import {
  check,
  docs,
  ENTITY_TAG,
  flag,
  idempotencyKey,
  ifMatch,
  instant,
  integer,
  onlyToCreate,
  rule,
  someOf,
  text,
  time,
  uuid,
  wholeNumber,
} from '../../../http/fields.ts'
import { pageQuery, pageSchema, searchQuery } from '../../../http/paging.ts'
import { INVALID_INPUT, OTHER_PROJECTS, UNDO } from '../../../http/statuses.ts'
import { OUTCOMES } from '../outcomes.ts'
import { AGENT, type Parent, PROJECT, pathsOf } from '../parents.ts'
import {
  concurrentChange,
  keyReusedForSchedule,
  listRequiresUnrestricted,
  scheduleDeleted,
  scheduleIdTaken,
  scheduleNotFound,
  timeLimitRequired,
} from './failures.ts'

const cron = (max: number) =>
  text(1, max, {
    description:
      'Five fields: minute, hour, day of month, month, day of week. They may have numbers, names, lists, ranges and steps. ' +
      'Also allowed: @hourly @daily @midnight @weekly @monthly @yearly @annually.',
    example: '30 9 * * mon-fri',
  }).check(check(problemOfCron))

const timezone = text(1, 255, {
  description: 'An IANA time zone name. `EST`, `MST` and `HST` are such names, and never change to summer time.',
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
  lastRunAt: nullableInstant('The `scheduledAt` of the latest run that was not skipped; null before the first.'),
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

const OVERLAPS = ['allow', 'skip'] as const
const MAX_PAYLOAD_BYTES = 16 * 1024
/** The largest `pauseAfterFailures`. */
export const MAX_FAILURES = 100

/** What the responses to the two creations do not have. Those have no `cron` that is null either. */
const own = {
  name: z.nullable(z.string()),
  cron: z
    .nullable(z.string())
    .register(docs, { description: 'The cron expression; null if the schedule fires once, at `runAt`.' }),
  runAt: nullableInstant('The only time at which the schedule fires; null if it has a cron expression.'),
  nextRunAt: nullableInstant(
    'When the schedule fires next; null while it is paused, or if it fires once and has fired.',
  ),
  payload: z.unknown().register(docs, { description: 'The JSON that is delivered with every run.' }),
  overlap: z.enum(OVERLAPS),
  maxRunSeconds: z.nullable(z.int()),
  pauseAfterFailures: z
    .nullable(z.int())
    .register(docs, { description: 'Null: the default, 20 failed runs in a row.' }),
  note: z.nullable(z.string()),
  pausedReason: z.nullable(z.string()).register(docs, {
    description: 'Why the service paused the schedule; null if it did not. A PATCH with `enabled: true` clears it.',
  }),
}
const projectState = { ...projectFields, ...own }
const agentState = { ...agentFields, ...own }
export const projectScheduleState = z.strictObject(projectState).register(docs, { id: 'ProjectScheduleState' })
export const agentScheduleState = z.strictObject(agentState).register(docs, { id: 'AgentScheduleState' })

const count = () => z.int().check(z.minimum(0))
const statistics = {
  statistics: z
    .strictObject({
      since: instant(
        'The runs from this time on are counted: those of the last 30 days, or since `createdAt` if that is later; at most 2,500.',
      ),
      runs: count().register(docs, { description: 'The number of runs that were not skipped.' }),
      succeeded: count(),
      failed: count(),
      medianSeconds: z.nullable(z.number()).register(docs, {
        description: 'The median time from `startedAt` to an outcome; null without an outcome.',
      }),
    })
    .register(docs, { id: 'ScheduleStatistics' }),
}
const projectScheduleDetails = z
  .strictObject({ ...projectState, ...statistics })
  .register(docs, { id: 'ProjectScheduleDetails' })
const agentScheduleDetails = z
  .strictObject({ ...agentState, ...statistics })
  .register(docs, { id: 'AgentScheduleDetails' })

const exampleOwn = {
  name: 'Nightly build',
  runAt: null,
  payload: { branch: 'main' },
  overlap: 'skip',
  maxRunSeconds: 3600,
  pauseAfterFailures: 3,
  note: null,
  pausedReason: null,
} as const

const exampleStatistics = {
  statistics: { since: '2026-02-27T14:05:09.120Z', runs: 21, succeeded: 20, failed: 1, medianSeconds: 84.2 },
}

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

function problemOfPayload(value: unknown): Problem | undefined {
  let isTooLarge = false
  const text = JSON.stringify(value, (_, part) => {
    isTooLarge ||= typeof part === 'number' && !Number.isFinite(part)
    return part
  })
  if (isTooLarge) return { wrong: 'has a number that is too large', allowed: 'numbers up to 1.79e308' }
  const bytes = Buffer.byteLength(text)
  return bytes > MAX_PAYLOAD_BYTES
    ? { wrong: 'is too large', sent: `${bytes} bytes`, allowed: 'JSON of up to 16 KiB' }
    : undefined
}

/** The fields of a PUT and a PATCH. Null is the default. */
const settings = {
  name: z.optional(z.nullable(text(1, 255, { description: 'The name, for people.' }))),
  runAt: z.optional(time()).register(docs, {
    description: 'Instead of `cron`: the schedule fires once, at this time.',
    example: '2026-03-30T07:30:00.000Z',
  }),
  payload: z
    .optional(z.unknown().check(check(problemOfPayload)))
    .register(docs, { description: 'Any JSON of up to 16 KiB, delivered with every run.' }),
  overlap: z.optional(z.enum(OVERLAPS)).register(docs, {
    description:
      '`skip`, which requires `maxRunSeconds`: a time at which the run before is pending or active is recorded as skipped. ' +
      'Default: `allow`.',
  }),
  maxRunSeconds: z
    .optional(z.nullable(integer(60, 604_800, 'whole seconds', '(7 days)')))
    .register(docs, { description: 'An active run without an outcome after this time has failed.' }),
  pauseAfterFailures: z
    .optional(z.nullable(integer(1, MAX_FAILURES)))
    .register(docs, { description: 'The service pauses the schedule after so many failed runs in a row.' }),
  note: z.optional(z.nullable(text(1, 1000, { description: 'A note, for people.' }))),
}

const takenByPut = (operation: string) => ({ properties: [...Object.keys(settings), 'enabled'], operation })

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
  alsoUnder: 'Schedules',
  summary: 'Create a project schedule',
  description: 'Creates a recurring build schedule for a project.',
  scope: 'schedules:write',
  params: z.object({ projectId: PROJECT.id() }),
  headers,
  body: z.strictObject({ cron: cron(255), timezone }).register(docs, {
    id: 'NewProjectSchedule',
    example: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
  }),
  takenElsewhere: takenByPut('PUT /v1/projects/{projectId}/schedules/{scheduleId}'),
  success: {
    ...created,
    schema: projectSchedule,
    example: exampleProjectSchedule,
  },
  failures: [
    projectForbidden,
    projectNotFound,
    projectArchived,
    scheduleLimitReached('project'),
    quotaExceeded,
    keyReusedForSchedule,
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
  alsoUnder: 'Schedules',
  summary: 'Create an agent schedule',
  description: 'Creates a recurring schedule for an agent. Its cron expression is evaluated in UTC.',
  scope: 'schedules:write',
  params: z.object({ agentId: AGENT.id() }),
  headers,
  body: z.strictObject({ cron: cron(500) }).register(docs, { id: 'NewAgentSchedule', example: { cron: '0 6 * * *' } }),
  takenElsewhere: takenByPut('PUT /v1/agents/{agentId}/schedules/{scheduleId}'),
  success: {
    ...created,
    schema: agentSchedule,
    example: exampleAgentSchedule,
  },
  failures: [agentNotFound, agentArchived, scheduleLimitReached('agent'), quotaExceeded, keyReusedForSchedule],
  errors: {
    400: INVALID_INPUT,
    404: 'The organization has no agent with this agentId.',
    409:
      'The agent is archived, the agent or the organization has the maximum number of schedules, ' +
      'or the `Idempotency-Key` was used with another body.',
    500: 'The schedule could not be created.',
  },
} as const satisfies Contract

/** Fields of a PUT and a PATCH that depend on each other. The schedules of agents have no time zone. */
export interface SentSettings {
  readonly cron?: string | undefined
  readonly runAt?: string | undefined
  readonly timezone?: string | undefined
  readonly overlap?: (typeof OVERLAPS)[number] | undefined
  readonly maxRunSeconds?: number | null | undefined
}

const hasOneTiming = rule(
  ({ cron, runAt }: SentSettings) => cron === undefined || runAt === undefined,
  'has both cron and runAt',
  'one of them',
)
const hasTiming = rule(
  ({ cron, runAt }: SentSettings) => cron !== undefined || runAt !== undefined,
  'has neither cron nor runAt',
  'one of them',
)
const hasTimezone = rule(
  ({ cron, timezone }: SentSettings) => cron === undefined || timezone !== undefined,
  'has a cron expression and no timezone',
  'a cron expression with a timezone such as "Europe/Paris"',
)
const hasTimeLimit = rule(
  ({ overlap, maxRunSeconds }: SentSettings) => overlap !== 'skip' || typeof maxRunSeconds === 'number',
  'has overlap "skip" and no maxRunSeconds',
  'overlap "skip" with maxRunSeconds',
)

interface Schemas<Put extends z.ZodMiniObject, Update extends z.ZodMiniObject> {
  readonly state: z.ZodMiniObject
  readonly details: z.ZodMiniObject
  readonly example: object
  readonly put: Put
  readonly change: Update
}

/** The contracts of the schedules of a parent, except their creation by a POST. */
function crudContracts<const P extends Parent, Put extends z.ZodMiniObject, Update extends z.ZodMiniObject>(
  parent: P,
  { state, details, example, put, change }: Schemas<Put, Update>,
) {
  const { type, article, tag } = parent
  const { all, one, parentParams, params } = pathsOf(parent)
  const headers = z.object({ 'If-Match': ifMatch() })
  const success = {
    status: 200,
    description: 'The schedule.',
    schema: state,
    example,
    headers: ENTITY_TAG,
  } as const
  const failures = [...parent.failures, scheduleNotFound(type)]
  return {
    put: {
      operationId: `put${parent.name}Schedule`,
      method: 'PUT',
      path: one,
      tag,
      alsoUnder: 'Schedules',
      summary: `Create or replace ${article} ${type} schedule`,
      description:
        'Creates the schedule under an ID of your choice, or replaces its settings: fields that are left out get their ' +
        'defaults. The same body again changes nothing. A schedule that the service paused stays paused.',
      scope: 'schedules:write',
      params,
      headers: z.object({ 'If-Match': ifMatch(), 'If-None-Match': onlyToCreate() }),
      body: put,
      success: { ...success, created: 'The schedule was created.' },
      failures: [
        ...parent.failures,
        parent.archived,
        scheduleLimitReached(type),
        quotaExceeded,
        scheduleIdTaken,
        scheduleDeleted,
        etagMismatch,
        alreadyExists,
      ],
    },
    list: {
      operationId: `list${parent.name}Schedules`,
      method: 'GET',
      path: all,
      tag,
      alsoUnder: 'Schedules',
      summary: `List ${type} schedules`,
      description: `Lists the schedules of the ${type}, in the order of their IDs.`,
      scope: 'schedules:read',
      params: z.object(parentParams),
      query: z.object(pageQuery(uuid())),
      success: {
        status: 200,
        description: 'A page of schedules.',
        schema: pageSchema(`${parent.name}SchedulePage`, state, uuid()),
        example: { items: [example], nextCursor: null },
      },
      failures: parent.failures,
    },
    retrieve: {
      operationId: `retrieve${parent.name}Schedule`,
      method: 'GET',
      path: one,
      tag,
      alsoUnder: 'Schedules',
      summary: `Retrieve ${article} ${type} schedule`,
      description: 'Returns one schedule with its statistics.',
      scope: 'schedules:read',
      params,
      success: { ...success, schema: details, example: { ...example, ...exampleStatistics } },
      failures,
    },
    update: {
      operationId: `update${parent.name}Schedule`,
      method: 'PATCH',
      path: one,
      tag,
      alsoUnder: 'Schedules',
      summary: `Update ${article} ${type} schedule`,
      description:
        'Changes the settings of the schedule, pauses it or resumes it. Fields that are left out stay unchanged; null clears ' +
        'one that may be null. `cron` replaces `runAt`, and `runAt` replaces `cron`.',
      scope: 'schedules:write',
      params,
      headers,
      body: change,
      success,
      failures: [...failures, parent.archived, concurrentChange, timeLimitRequired, etagMismatch],
    },
    remove: {
      operationId: `delete${parent.name}Schedule`,
      method: 'DELETE',
      path: one,
      tag,
      alsoUnder: 'Schedules',
      summary: `Delete ${article} ${type} schedule`,
      description: `Deletes the schedule and its runs. Pending runs are not sent. ${UNDO}`,
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
      failures: [...failures, parent.archived, etagMismatch],
    },
  } as const satisfies Record<string, Contract>
}

const enabledOfPut = z
  .optional(z.boolean())
  .register(docs, { description: 'False pauses the schedule. Default: true.' })
const enabledOfChange = z
  .optional(z.boolean())
  .register(docs, { description: 'False pauses the schedule; true resumes it from now on.' })

const projectSettings = {
  cron: z.optional(cron(255)),
  timezone: z.optional(timezone).register(docs, { description: 'The time zone of the cron expression, an IANA name.' }),
  ...settings,
}
const exampleNightly = {
  name: 'Nightly build',
  cron: '30 9 * * mon-fri',
  timezone: 'Europe/Paris',
  payload: { branch: 'main' },
  overlap: 'skip',
  maxRunSeconds: 3600,
  pauseAfterFailures: 3,
}

export const projectScheduleContracts = crudContracts(PROJECT, {
  state: projectScheduleState,
  details: projectScheduleDetails,
  example: { ...exampleProjectSchedule, ...exampleOwn },
  put: z
    .strictObject({ ...projectSettings, enabled: enabledOfPut })
    .check(hasOneTiming, hasTiming, hasTimezone, hasTimeLimit)
    .register(docs, { id: 'ProjectScheduleSettings', example: exampleNightly }),
  change: someOf({ ...projectSettings, enabled: enabledOfChange })
    .check(hasOneTiming)
    .register(docs, { id: 'ProjectScheduleUpdate', example: { enabled: false } }),
})

const agentSettings = { cron: z.optional(cron(500)), ...settings }

export const agentScheduleContracts = crudContracts(AGENT, {
  state: agentScheduleState,
  details: agentScheduleDetails,
  example: { ...exampleAgentSchedule, ...exampleOwn },
  put: z
    .strictObject({ ...agentSettings, enabled: enabledOfPut })
    .check(hasOneTiming, hasTiming, hasTimeLimit)
    .register(docs, {
      id: 'AgentScheduleSettings',
      example: {
        name: 'Morning review',
        cron: '0 6 * * *',
        payload: { prompt: 'Review open pull requests.' },
      },
    }),
  change: someOf({ ...agentSettings, enabled: enabledOfChange })
    .check(hasOneTiming)
    .register(docs, { id: 'AgentScheduleUpdate', example: { enabled: false } }),
})

export const listSchedulesContract = {
  operationId: 'listSchedules',
  method: 'GET',
  path: '/v1/schedules',
  tag: 'Schedules',
  summary: 'List schedules',
  description:
    'Lists the schedules of all projects and agents, without their payloads. With a filter, a page examines up to 2,500 ' +
    'schedules: it may have few items or none, and still a `nextCursor`.',
  scope: 'schedules:read',
  params: z.object({}),
  query: z.object({
    enabled: z.optional(flag()).register(docs, { description: '`false`: the paused schedules.', example: true }),
    parentType: z
      .optional(z.enum(['project', 'agent']))
      .register(docs, { description: 'Of projects, or of agents.', example: 'project' }),
    nextRunBefore: z.optional(time()).register(docs, {
      description: 'Fires before this time.',
      example: '2026-03-31T00:00:00.000Z',
    }),
    ...searchQuery('name'),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of schedules.',
    schema: pageSchema(
      'SchedulePage',
      z
        .strictObject({
          id: uuid(),
          projectId: z.nullable(z.string()),
          agentId: z.nullable(uuid()),
          name: own.name,
          cron: own.cron,
          runAt: own.runAt,
          timezone: z.string(),
          enabledAt: times.enabledAt,
          pausedReason: own.pausedReason,
          nextRunAt: times.nextRunAt,
          lastRunAt: times.lastRunAt,
          lastOutcomes: z
            .array(z.enum(OUTCOMES))
            .register(docs, { description: 'The outcomes of the latest ten runs, the latest first.' }),
        })
        .register(docs, { id: 'ScheduleSummary' }),
      uuid(),
    ),
    example: {
      items: [
        {
          id: EXAMPLE_IDS.projectScheduleId,
          projectId: EXAMPLE_IDS.projectId,
          agentId: null,
          name: 'Nightly build',
          cron: '30 9 * * mon-fri',
          runAt: null,
          timezone: 'Europe/Paris',
          enabledAt: '2026-03-27T14:05:09.120Z',
          pausedReason: null,
          nextRunAt: '2026-03-31T07:30:00.000Z',
          lastRunAt: '2026-03-30T07:30:00.000Z',
          lastOutcomes: ['succeeded', 'succeeded', 'failed'],
        },
      ],
      nextCursor: null,
    },
  },
  failures: [listRequiresUnrestricted],
} as const satisfies Contract

const MAX_PREVIEW = 100

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
        time().check(rule((from) => from >= '1970' && from < '3000', 'is out of range', 'a time from 1970 to 2999')),
      )
      .register(docs, {
        description: 'The times are later than this one. It may have any form of RFC 3339. Default: now.',
        example: '2026-03-29T01:00:00.000Z',
      }),
    count: z
      ._default(wholeNumber(1, MAX_PREVIEW), '5')
      .register(docs, { description: `The number of times, up to ${MAX_PREVIEW}.`, default: 5, example: 5 }),
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
} as const satisfies Contract
