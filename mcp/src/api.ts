/** Calls the API Worker with the API key of the MCP request. */

import type * as z from 'zod/mini'
import { bundlesIn, bundleWith, type retrieveMeContract } from '../../src/contracts.ts'

/** The headers of the MCP request that the API needs: the key, and the address that refused keys are counted by. */
const PASSED_ON = ['Authorization', 'CF-Connecting-IP']

const UNAUTHORIZED = 401
/** The statuses of checks that come before the look-up of the key. */
const BEFORE_LOOK_UP = [411, 413, 429, 431]
/** The codes of paths and methods that no operation has, which say nothing about the key. */
const NOT_ROUTED = ['path_not_found', 'method_not_allowed']
const SERVER_ERROR = 500

/** True if the API looked up the key. */
function isVerdict({ status }: Response): boolean {
  return !BEFORE_LOOK_UP.includes(status) && status < SERVER_ERROR
}

/** A response of the API that is not a success, as its sentence and its code. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | null
  readonly retryAfter: string | null

  private constructor(message: string, { status, headers }: Response) {
    super(message)
    this.status = status
    this.code = headers.get('Error-Code')
    this.retryAfter = headers.get('Retry-After')
  }

  /** The failure of what no operation finds, in the same form. */
  static notFound(sentence: string, code: string): ApiFailure {
    return new ApiFailure(sentence, new Response(null, { status: 404, headers: { 'Error-Code': code } }))
  }

  static async of(response: Response): Promise<ApiFailure> {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string }
    return new ApiFailure(error ?? `The API answered with the status ${response.status}.`, response)
  }
}

/** The JSON of an operation's response. */
export type Answer<Operation extends { readonly success: { readonly schema: z.ZodMiniObject } }> = z.output<
  Operation['success']['schema']
>

export class Api {
  readonly #binding: Fetcher
  readonly #origin: string
  readonly #headers: [string, string][]
  #isKeyAccepted = false
  /** A response of the API to a key that it refused or did not look up. */
  #refused: Response | undefined
  /** A failure because the key lacks a scope. */
  #unscoped: ApiFailure | undefined

  constructor(binding: Fetcher, { url, headers }: Request) {
    this.#binding = binding
    this.#origin = new URL(url).origin
    this.#headers = PASSED_ON.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    })
  }

  /** @throws {ApiFailure} if the response is not a success. */
  async call(path: string, { headers, ...request }: RequestInit = {}): Promise<Response> {
    const all = new Headers(headers)
    for (const [name, value] of this.#headers) all.set(name, value)
    // Where the API reads from replicas. Calls of tools share no bookmark, and a model expects to see its own changes.
    all.set('X-Bookmark', 'latest')
    const response = await this.#binding.fetch(`${this.#origin}${path}`, { ...request, headers: all })
    if (!NOT_ROUTED.includes(response.headers.get('Error-Code') ?? '')) this.#judge(response)
    if (response.ok) return response
    const failure = await ApiFailure.of(response)
    if (failure.code === 'missing_scope') this.#unscoped = failure
    throw failure
  }

  #judge(response: Response): void {
    this.#isKeyAccepted = response.status !== UNAUTHORIZED && (this.#isKeyAccepted || isVerdict(response))
    if (!this.#isKeyAccepted) this.#refused = response.clone()
  }

  /** True if the API did not accept the key of a call. */
  get isRefused(): boolean {
    return !this.#isKeyAccepted && this.#refused !== undefined
  }

  /**
   * Asks the API about the key, unless a call has.
   * @returns the response of the API if it did not accept the key. It answers the MCP request, whatever else was asked.
   */
  async refusal(): Promise<Response | undefined> {
    if (!this.#isKeyAccepted && !this.#refused) {
      await this.call('/v1/me').catch((error) => {
        if (!(error instanceof ApiFailure)) throw error
      })
    }
    return this.isRefused ? this.#refused : undefined
  }

  /**
   * @returns the response of a request of which a call lacked a scope (RFC 6750, section 3.1). It names the OAuth scope
   *   that has it, and those that the key has: clients ask their person for these instead of the ones they had.
   */
  async insufficientScope(): Promise<Response | undefined> {
    if (!this.#unscoped) return undefined
    const { message, code } = this.#unscoped
    const [, scope = ''] = /"([\w:-]+)"/.exec(message) ?? []
    const caller = await this.json<Answer<typeof retrieveMeContract>>('/v1/me').catch((error) => {
      if (!(error instanceof ApiFailure)) throw error
    })
    if (!caller) return undefined
    const scopes = new Set<string>([...bundlesIn(caller.apiKey.scopes), bundleWith(scope) ?? scope])
    const challenge = `Bearer error="insufficient_scope", scope="${[...scopes].join(' ')}"`
    const headers = { 'Error-Code': code ?? '', 'WWW-Authenticate': challenge }
    return Response.json({ error: message }, { status: 403, headers })
  }

  /** The response of an operation, which is JSON. */
  async json<Body>(path: string): Promise<Body> {
    return (await this.call(path)).json()
  }
}
