/** Who sends a request: its API key, from the header to what the database says of it. */

import { type Database, type DatabaseUse, instrumented, noUse } from '../db/database.ts'
import { describeFailure, isTransient } from '../db/failures.ts'
import type { Values } from '../db/parameters.ts'
import { type Rows, runBatch, type Statement, type Steps } from '../db/statement.ts'
import { HOUR_MS } from '../durations.ts'
import type { Environment } from '../environment.ts'
import { ApiError, type ErrorCode, unauthorized } from '../errors.ts'
import { hashToken, isToken } from './api-key.ts'
import { type CallerResult, recordUse } from './guard.ts'
import { authorized } from './preconditions.ts'
import { count, countAgainst, countRefusedKey, getAddress, isLimiting, refuseBlocked } from './rate-limit.ts'
import { RecentMap } from './recent-map.ts'
import { openSession } from './replica.ts'
import type { Scope } from './scopes.ts'

const BEARER = /^Bearer(?: +(.*))?$/i

const MAX_ATTEMPTS = 3
/** Before the second attempt; twice as long before the third, and each up to twice that at random. */
const PAUSE_MS = 40

/** What an operation requires of the key (docs/contract.md, API keys). */
export interface CallerScope {
  /** Null if any live key will do. */
  readonly scope: Scope | null
  /** True if the key has to act as a user: the operation is about what belongs to that user. */
  readonly actsAsUser?: true
  /** True if the rate limits count the requests of the API that this one causes instead of this one. */
  readonly isCountedByItsCalls?: true
}

/** The keys that this isolate accepted last, by their hash. Whether a key may act is never taken from here. */
const acceptedKeys = new RecentMap<string, { readonly organizationId: string; readonly acceptedAt: number }>()

export class Caller {
  #now = new Date().toISOString()
  /** What the request has asked of the database so far. */
  readonly databaseUse: DatabaseUse = noUse()
  /** The organization of the key, once a round trip to the database found the key live. */
  organizationId: string | undefined
  readonly #environment: Environment
  readonly #session: D1DatabaseSession | undefined
  readonly #database: Database
  readonly #context: Pick<ExecutionContext, 'waitUntil'>
  readonly #callerScope: CallerScope
  readonly #keyHash: string
  readonly #address: string
  /** True once the request was counted against the rate limit of its organization. */
  #isCounted: boolean

  private constructor(
    request: Request,
    environment: Environment,
    context: Pick<ExecutionContext, 'waitUntil'>,
    callerScope: CallerScope,
    keyHash: string,
    address: string,
    isCounted: boolean,
  ) {
    this.#environment = environment
    this.#context = context
    this.#callerScope = callerScope
    this.#keyHash = keyHash
    this.#isCounted = isCounted
    this.#address = address
    this.#session = openSession(request, environment)
    this.#database = instrumented(this.#session ?? environment.DB, this.databaseUse)
  }

  /**
   * Reads the API key (RFC 6750, section 2.1), without a query.
   * @throws {ApiError} 401 if there is none or it cannot be one, 429 if the address, the key or its organization is
   *   over its rate limit.
   */
  static async open(
    request: Request,
    environment: Environment,
    context: Pick<ExecutionContext, 'waitUntil'>,
    callerScope: CallerScope,
  ): Promise<Caller> {
    const bearer = BEARER.exec(request.headers.get('Authorization') ?? '')
    if (!bearer) throw unauthorized.missing()
    const token = bearer[1] ?? ''
    if (!isToken(token)) throw unauthorized.invalid()
    const keyHash = hashToken(token)
    const accepted = acceptedKeys.get(keyHash)
    const address = getAddress(request)
    refuseBlocked(address, accepted?.acceptedAt, environment)
    const { isCountedByItsCalls = false } = callerScope
    if (!isCountedByItsCalls) {
      await countAgainst('KEY_RATE_LIMIT', keyHash, environment)
      if (accepted) await countAgainst('ORGANIZATION_RATE_LIMIT', accepted.organizationId, environment)
    }
    const isCounted = isCountedByItsCalls || accepted !== undefined
    return new Caller(request, environment, context, callerScope, keyHash, address, isCounted)
  }

  /** The time of the request, the same for everything that it does until `takeTime`. */
  get now(): string {
    return this.#now
  }

  /** Takes the time again, after the request waited for the object store. */
  takeTime(): Date {
    const now = new Date()
    this.#now = now.toISOString()
    return now
  }

  /** The state of the database that the request saw, where replicas are used; null if its key was not found live. */
  get bookmark(): string | null {
    return this.organizationId === undefined ? null : (this.#session?.getBookmark() ?? null)
  }

  /**
   * The one round trip: runs a checking statement, whose row says what the key is, and other steps in one transaction.
   * @param isRepeatable true if the steps may run twice; then a transient failure is retried.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the scope; then nothing has acted, because each
   *   statement carries the guard.
   */
  async runChecked<Result extends CallerResult>(
    check: Statement<Result>,
    steps: Steps,
    values: Values,
    isRepeatable: boolean,
  ): Promise<{ readonly result: Result; readonly rows: Rows<Steps> }> {
    const { check: [row] = [], ...rows } = await this.#runBatch({ check, ...steps }, values, isRepeatable)
    const result = await this.#requireLive(row as Result | undefined)
    this.#requireScope(result)
    return { result, rows }
  }

  /** The error for invalid input. A key that is not live is told that first, which costs a look-up of the key. */
  async inputError(message: string, code: ErrorCode = 'invalid_input'): Promise<ApiError> {
    if (this.organizationId === undefined) await this.#lookUp()
    return new ApiError(code, message)
  }

  /**
   * Asks in a round trip of its own whether the key may act now, before work that only such a key may cause.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the scope.
   */
  async requireAuthorized(): Promise<void> {
    this.#requireScope(await this.#lookUp())
  }

  /** Runs work that the response does not wait for. A failure is logged; something else has to make up for it. */
  waitUntil(work: Promise<unknown>): void {
    this.#context.waitUntil(work.catch((error) => console.error(JSON.stringify({ failure: describeFailure(error) }))))
  }

  /**
   * The organization that the key belongs to, for what has to be known before the one round trip. It never changes, so
   * it is remembered from the key's last request; whether the key may act is asked each time.
   * @throws {ApiError} 401 if the key is not live, where it is not remembered.
   */
  async expectedOrganizationId(): Promise<string> {
    return acceptedKeys.get(this.#keyHash)?.organizationId ?? (await this.#lookUp()).callerOrganizationId
  }

  #requireScope({ isInScope, callerUserId }: CallerResult): void {
    const { scope, actsAsUser } = this.#callerScope
    if (!isInScope)
      throw new ApiError(
        'missing_scope',
        `This API key lacks the scope "${scope}". Use a key that has it; GET /v1/me shows the scopes of a key.`,
      )
    if (actsAsUser && callerUserId === null) {
      throw new ApiError('user_required', 'This API key does not act as a user. Use a key that belongs to a user.')
    }
  }

  async #lookUp(): Promise<CallerResult> {
    const { check: [row] = [] } = await this.#runBatch({ check: authorized.check }, {}, true)
    return this.#requireLive(row as CallerResult | undefined)
  }

  async #runBatch(steps: Steps, values: Values, isRepeatable: boolean): Promise<Rows<Steps>> {
    const bound = { ...values, ...this.#guardValues() }
    for (let attempt = 1; ; attempt++) {
      try {
        return await runBatch(this.#database, steps, bound)
      } catch (error) {
        if (!isRepeatable || attempt === MAX_ATTEMPTS || !isTransient(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt * (1 + Math.random())))
      }
    }
  }

  #guardValues() {
    return {
      'caller.keyHash': this.#keyHash,
      'caller.scope': this.#callerScope.scope,
      now: this.now,
      'caller.hourAgo': new Date(Date.parse(this.now) - HOUR_MS).toISOString(),
    }
  }

  async #requireLive<Result extends CallerResult>(result: Result | undefined): Promise<Result> {
    if (!result || result.keyEnd) {
      acceptedKeys.delete(this.#keyHash)
      await countRefusedKey(this.#address, this.#environment)
      throw unauthorized[result?.keyEnd ?? 'invalid']()
    }
    const { callerOrganizationId: organizationId } = result
    this.organizationId = organizationId
    acceptedKeys.set(this.#keyHash, { organizationId, acceptedAt: Date.now() })
    // The request may have done its work by now, so it is counted and not refused.
    if (!this.#isCounted && isLimiting(this.#environment)) {
      this.waitUntil(count('ORGANIZATION_RATE_LIMIT', organizationId, this.#environment))
    }
    this.#isCounted = true
    if (result.isLastUsedStale) {
      this.waitUntil(runBatch(this.#environment.DB, { recordUse }, this.#guardValues()))
    }
    return result
  }
}
