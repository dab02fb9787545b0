/** The fields of events and of their filters, in requests and responses. */
import * as z from 'zod/mini'
import { EVENT_TYPES, type EventType, resourceOf } from '../../access/event-types.ts'
import { closest } from '../../http/closest.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { boundedString, check, docs, externalId, instant, rule, text, uuid } from '../../http/fields.ts'
import { describeSent } from '../../http/problems.ts'
import { isCursor } from './sequence.ts'

const TYPES = Object.keys(EVENT_TYPES) as EventType[]
/** What a filter of types can name: a type, or all of a resource. */
const PATTERNS = [...TYPES, ...new Set(TYPES.map((type) => `${resourceOf(type)}.*`))]
export const MAX_TYPES = 50
/** The most characters of a type or a cursor, before it is compared with those that exist. */
const MAX_TEXT_LENGTH = 255
const LONGEST_PATTERN = Math.max(...PATTERNS.map(({ length }) => length))
const ALLOWED_TYPES = `up to ${MAX_TYPES} types such as "skill.updated", or "skill.*" for all of a resource`

/** The problem of a type, or of `skill.*`. */
function problemOfType(type: string) {
  if (PATTERNS.includes(type)) return undefined
  const meant = closest(type, PATTERNS)
  const problem = { wrong: `has the unknown type ${describeSent(type)}`, allowed: ALLOWED_TYPES }
  return meant === undefined ? problem : { ...problem, advice: `Did you mean ${JSON.stringify(meant)}?` }
}

/** A type, or `skill.*`. */
export const typePattern = () =>
  boundedString(MAX_TEXT_LENGTH, { wrong: 'is too long', allowed: ALLOWED_TYPES }).check(check(problemOfType))

/** Types in a query, separated by commas. */
const typesParameter = () =>
  boundedString(MAX_TYPES * (LONGEST_PATTERN + 1), { wrong: 'is too long', allowed: ALLOWED_TYPES })
    .check(
      rule((types) => types.split(',').length <= MAX_TYPES, 'has too many types', ALLOWED_TYPES),
      check((types) =>
        types
          .split(',')
          .map(problemOfType)
          .find((problem) => problem !== undefined),
      ),
    )
    .register(docs, {
      description: 'Only events of these types, separated by commas; `skill.*` is all of a resource.',
      example: 'skill.*,environment-variable.set',
    })

export const eventSchema = z
  .strictObject({
    id: uuid(),
    type: z.enum(TYPES).register(docs, {
      description:
        'What happened: the type of the resource, and a verb. docs/events.md lists the types; later versions add some.',
    }),
    resource: z.strictObject({
      type: z.string().register(docs, { description: 'The part of `type` before the dot.' }),
      id: z.string().register(docs, {
        description:
          'The ID of the resource; the key of a variable, the user of a profile picture, the project of a lease, the organization of its run endpoint.',
      }),
      path: z.string().register(docs, { description: 'The path of the resource in this API.' }),
      name: z.nullable(z.string()).register(docs, { description: 'Its name at that time; null if it has none.' }),
    }),
    projectId: z
      .nullable(z.string())
      .register(docs, { description: 'The project that the resource belongs to, or is; null if there is none.' }),
    actor: z
      .nullable(
        z.strictObject({
          apiKeyId: uuid(),
          apiKeyName: z.string().register(docs, { description: 'The name of the API key at that time.' }),
          userId: z
            .nullable(z.string())
            .register(docs, { description: 'The user that the API key acts as; null if it acts as none.' }),
        }),
      )
      .register(docs, { description: 'Who made the change; null if the service did.' }),
    requestId: z
      .nullable(uuid())
      .register(docs, { description: 'The `X-Request-Id` of the response; null if no request made the change.' }),
    createdAt: instant(),
  })
  .register(docs, { id: 'Event' })

export const exampleEvent = {
  id: '019d2ff5-7f31-7c02-9d5b-40d6a0e20000',
  type: 'environment-variable.deleted',
  resource: {
    type: 'environment-variable',
    id: 'DATABASE_URL',
    path: '/v1/projects/website/environment-variables/DATABASE_URL',
    name: 'DATABASE_URL',
  },
  projectId: 'website',
  actor: { apiKeyId: EXAMPLE_IDS.apiKeyId, apiKeyName: 'laptop', userId: EXAMPLE_IDS.userId },
  requestId: '3f0e8a9c-52d7-4f7e-8a44-7d1b6c2e9f05',
  createdAt: '2026-03-27T14:30:01.457Z',
} as const

const RESOURCES = new Set<string>(TYPES.map(resourceOf))
const ALLOWED_RESOURCE = 'a type and an ID, such as "skill/0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"'

/** The filters of lists of events. */
export const eventFilters = {
  types: z.optional(typesParameter()),
  resource: z.optional(
    text(3, 300, {
      description: 'Only events of this resource: its type, a slash and its ID.',
      example: 'project/website',
    }).check(
      check((value) =>
        RESOURCES.has(value.slice(0, value.indexOf('/')))
          ? undefined
          : { wrong: 'names no resource', allowed: ALLOWED_RESOURCE },
      ),
    ),
  ),
  projectId: z.optional(externalId({ description: 'Only events of this project.', example: EXAMPLE_IDS.projectId })),
  apiKeyId: z.optional(uuid('Only the changes that this API key made.')),
  userId: z.optional(
    externalId({ description: 'Only the changes by API keys that act as this user.', example: EXAMPLE_IDS.userId }),
  ),
}

/** @param others what is accepted beside a cursor. */
export function cursorField(...others: readonly string[]) {
  const allowed = ['the nextCursor of another page', ...others.map((other) => JSON.stringify(other))].join(', or ')
  return boundedString(MAX_TEXT_LENGTH, { wrong: 'is too long', allowed }).check(
    rule((value) => others.includes(value) || isCursor(value), 'is not a cursor', allowed),
  )
}
