/** SPEC.txt, Endpoints, 2 and 3; docs/contract.md, Schedules. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, externalId, instant, text, uuid } from '../http/fields.ts'
import { problemOfCron } from './cron.ts'
import { isTimezone } from './timezone.ts'

const cron = (max: number) =>
  text(1, max, {
    description:
      'Five fields (minute, hour, day of month, month, day of week) with numbers, names, lists, ranges and steps, ' +
      'or one of @hourly @daily @midnight @weekly @monthly @yearly @annually.',
    example: '30 9 * * mon-fri',
  }).check((context) => {
    const message = problemOfCron(context.value)
    if (message) context.issues.push({ code: 'custom', input: context.value, message })
  })

const timezone = text(1, 255, { description: 'An IANA time zone name.', example: 'Europe/Paris' }).check(
  z.refine(isTimezone, 'expected an IANA time zone such as "Europe/Paris" or "UTC"'),
)

const headers = z.object({
  'Idempotency-Key': z.optional(
    text(1, 255, {
      description:
        'Makes the request safe to repeat: the same key and an equal body again answer with the schedule that the first made.',
      example: 'nightly-build-1',
    }),
  ),
})

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
  params: z.object({ projectId: externalId({ description: 'The project.', example: 'website' }) }),
  headers,
  body: z.strictObject({ cron: cron(255), timezone }).register(docs, {
    id: 'NewProjectSchedule',
    example: { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
  }),
  success: {
    ...created,
    schema: z
      .strictObject({ id: uuid(), projectId: z.string(), cron: z.string(), timezone: z.string(), ...times })
      .register(docs, { id: 'ProjectSchedule' }),
    example: {
      id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
      projectId: 'website',
      cron: '30 9 * * mon-fri',
      timezone: 'Europe/Paris',
      ...exampleTimes,
    },
  },
  errors: {
    400: 'The path or body is wrong, or the key lacks the caller scope.',
    403: 'The key is limited to other projects.',
    404: 'The organization has no project with this id.',
    409: 'The project is archived or has the most schedules allowed, or the `Idempotency-Key` was used with another body.',
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
  params: z.object({ agentId: uuid('The agent.') }),
  headers,
  body: z
    .strictObject({ cron: cron(500) })
    .register(docs, { id: 'NewAgentSchedule', example: { cron: '0 6 * * *' } }),
  success: {
    ...created,
    schema: z
      .strictObject({ id: uuid(), agentId: uuid(), cron: z.string(), ...times })
      .register(docs, { id: 'AgentSchedule' }),
    example: {
      id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
      agentId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
      cron: '0 6 * * *',
      ...exampleTimes,
      nextRunAt: '2026-03-28T06:00:00.000Z',
    },
  },
  errors: {
    400: 'The path or body is wrong, or the key lacks the caller scope.',
    404: 'The organization has no agent with this id.',
    409: 'The agent is archived or has the most schedules allowed, or the `Idempotency-Key` was used with another body.',
    500: 'The schedule could not be created.',
  },
} as const satisfies Contract
