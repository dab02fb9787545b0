/** The public description of an operation: types only. Each resource has its contracts in contract.ts. */
import type * as z from 'zod/mini'
import type { CallerScope } from '../access/caller.ts'
import type { Failure } from '../errors.ts'

/** The group of an operation in the OpenAPI document. */
export type Tag =
  | 'Pins'
  | 'Projects'
  | 'Agents'
  | 'Sessions'
  | 'Schedules'
  | 'Runs'
  | 'Skills'
  | 'Users'
  | 'Pull requests'
  | 'API keys'
  | 'Sign-in'
  | 'Events'
  | 'Deletions'

/**
 * The single source of an operation: its route, validation, types, OpenAPI document and access tests derive from it.
 */
export interface Contract extends CallerScope {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path template: `/v1/pins/{resourceType}`. */
  readonly path: `/v1/${string}`
  readonly tag: Tag
  /** A second group in which readers look for the operation. */
  readonly alsoUnder?: Tag
  readonly summary: string
  readonly description: string
  readonly params: z.ZodMiniObject
  readonly query?: z.ZodMiniObject
  readonly headers?: z.ZodMiniObject
  readonly body?: z.ZodMiniObject
  /** Properties that the body does not have, and the operation that takes them, for the error. */
  readonly takenElsewhere?: TakenElsewhere
  /** The size limit of the body; 64 KiB by default. */
  readonly bodyLimitBytes?: number
  /** Instead of `body`, for a body that is not JSON: the handler reads it. */
  readonly upload?: Upload
  readonly success: Success
  /** True if the response has a secret that is shown once, so that a repeated request fails. */
  readonly showsSecretOnce?: true
  /** True if a POST without `Idempotency-Key` has no further effect when it is repeated. */
  readonly isRepeatable?: true
  /** Whether it works while the database is nearly full. By default, all but what can create (full-database.ts). */
  readonly worksWhenFull?: boolean
  /** True if the body has a secret: no error message repeats a value of it. */
  readonly takesSecret?: true
  /** Its own failures. Those that any operation may have are listed in openapi/document.ts. */
  readonly failures?: readonly Failure[]
  /** Where a specification says what each status of an error means, and which there are. */
  readonly errors?: Readonly<Record<number, string>>
}

export interface TakenElsewhere {
  readonly properties: readonly string[]
  /** Method and path. */
  readonly operation: string
}

export interface Upload {
  readonly description: string
  readonly mediaTypes: readonly string[]
  /** True if `Content-Length` is required (411). */
  readonly needsLength?: true
}

export type Success = JsonSuccess | ContentSuccess

export interface JsonSuccess extends SuccessBase {
  readonly status: 200 | 201
  /** What 201 means, if a PUT can create. That response has the same schema, and `Location`. */
  readonly created?: string
  readonly schema: z.ZodMiniObject
  readonly example: unknown
}

/** A response that is not JSON. */
interface ContentSuccess extends SuccessBase {
  readonly status: 200
  readonly mediaTypes: readonly string[]
  /** True if a `Range` gets a 206. */
  readonly partial?: true
}

interface SuccessBase {
  readonly description: string
  readonly headers?: Readonly<Record<string, string>>
  /** True if a matching `If-None-Match` gets a 304. */
  readonly conditional?: true
}
