/** What an operation is to the outside: types only. Each resource's contract.ts has its operations. */
import type * as z from 'zod/mini'
import type { CallerScope } from '../access/caller.ts'

/** What an operation is about. */
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
  | 'Audit events'

/** The one source for an operation: from it come the route, the validation, the types, the document and the access tests. */
export interface Contract extends CallerScope {
  readonly operationId: string
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** The path template, as SPEC.txt writes it. */
  readonly path: `/v1/${string}`
  readonly tag: Tag
  readonly summary: string
  readonly description: string
  readonly params: z.ZodMiniObject
  readonly query?: z.ZodMiniObject
  readonly headers?: z.ZodMiniObject
  readonly body?: z.ZodMiniObject
  /** What the body may have, in bytes; 64 KiB without it. */
  readonly bodyLimitBytes?: number
  /** Stands in for `body` where the body is not JSON: the handler gets it as it comes. */
  readonly upload?: Upload
  readonly success: Success
  /** True if its answer has a secret that is shown once, so that a repetition is refused. */
  readonly answersOnce?: true
  /** True if its body has a secret: no error repeats a value of it. */
  readonly takesSecret?: true
  /** The documented errors (docs/contract.md, Answers): status and what it means here. */
  readonly errors: Readonly<Record<number, string>>
}

export interface Upload {
  readonly description: string
  readonly mediaTypes: readonly string[]
  /** True if it has to have a `Content-Length`; else 411. */
  readonly needsLength?: true
}

export type Success = JsonSuccess | ContentSuccess

export interface JsonSuccess extends SuccessBase {
  readonly status: 200 | 201
  readonly schema: z.ZodMiniObject
  readonly example: unknown
}

/** An answer that is not JSON. */
interface ContentSuccess extends SuccessBase {
  readonly status: 200
  readonly mediaTypes: readonly string[]
  /** True if a `Range` is answered with 206. */
  readonly partial?: true
}

interface SuccessBase {
  readonly description: string
  readonly headers?: Readonly<Record<string, string>>
  /** True if a matching `If-None-Match` is answered with 304. */
  readonly conditional?: true
}
