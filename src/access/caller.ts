/** Who sends a request: its API key, from the header to what the database says of it. */

import {
  type Database,
  type DatabaseHealth,
  type DatabaseUse,
  databaseOf,
  instrumented,
  isNearlyFull,
  noUse,
  requireDatabase,
  unknownHealth,
} from '../db/database.ts'
import { describeFailure, isTransient, StoreUnavailable } from '../db/failures.ts'
import type { Values } from '../db/parameters.ts'
import { type Rows, runBatch, type Statement, type Steps } from '../db/statement.ts'
import { HOUR_MS } from '../durations.ts'
import type { Environment } from '../environment.ts'
import { ApiError, type ErrorCode, failure, unauthorized } from '../errors.ts'
import { getAddress } from './address.ts'
import { type ParsedToken, parseToken } from './api-key.ts'
import { type CallerResult, recordUse } from './guard.ts'
import { authorized } from './preconditions.ts'
import { count, countAgainst, countRefusedKey, isLimiting, refuseBlocked } from './rate-limit.ts'
import { RecentMap } from './recent-map.ts'
import { bookmarkOf, openSession } from './replica.ts'
import type { Scope } from './scopes.ts'

const BEARER = /^Bearer(?: +(.*))?$/i

const MAX_ATTEMPTS = 3
/** Before the second attempt; twice as long before the third, and each up to twice that at random. */
const PAUSE_MS = 40

/** What an operation requires of the key (docs/contract-keys.md, API keys). */
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

/**
 * The databases of keys that moved with their organization, by their hash. It saves the way through the database that
 * the token names; the database that has the key still decides.
 */
const movedKeys = new RecentMap<string, number>()

/** By number: what this isolate knows of the databases from its last batches. */
const healths = new Map<number, DatabaseHealth>()

function healthOf(databaseNumber: number): DatabaseHealth {
  const known = healths.get(databaseNumber) ?? unknownHealth()
  healths.set(databaseNumber, known)
  return known
}

/** One leads to the database that has the key, and a second one is needed while its organization moves on. */
export const MAX_HOPS = 2

export class Caller {
  #now = new Date().toISOString()
  /** What the request has asked of the database so far. */
  readonly databaseUse: DatabaseUse = noUse()
  /** The organization of the key, once a round trip to the database found the key live. */
  organizationId: string | undefined
  readonly #environment: Environment
  readonly #request: Request
  #databaseNumber: number
  #session: D1DatabaseSession | undefined
  #database: Database | undefined
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
    { hash, databaseNumber }: ParsedToken,
    address: string,
    isCounted: boolean,
  ) {
    this.#request = request
    this.#environment = environment
    this.#context = context
    this.#callerScope = callerScope
    this.#keyHash = hash
    this.#isCounted = isCounted
    this.#address = address
    this.#databaseNumber = movedKeys.get(hash) ?? databaseNumber
    this.#open()
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
    const parsed = await parseToken(token)
    if (!parsed) throw unauthorized.invalid()
    const accepted = acceptedKeys.get(parsed.hash)
    const address = getAddress(request)
    refuseBlocked(address, accepted?.acceptedAt, environment)
    const { isCountedByItsCalls = false } = callerScope
    if (!isCountedByItsCalls) {
      await countAgainst('KEY_RATE_LIMIT', parsed.hash, environment)
      if (accepted) await countAgainst('ORGANIZATION_RATE_LIMIT', accepted.organizationId, environment)
    }
    const isCounted = isCountedByItsCalls || accepted !== undefined
    return new Caller(request, environment, context, callerScope, parsed, address, isCounted)
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
    if (this.organizationId === undefined || !this.#session) return null
    return bookmarkOf(this.#session, this.#databaseNumber)
  }

  /** The number of the database that has the key, once a round trip found the key live. */
  get databaseNumber(): number {
    return this.#databaseNumber
  }

  get isDatabaseNearlyFull(): boolean {
    return isNearlyFull(healths.get(this.#databaseNumber) ?? unknownHealth())
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
    return new ApiError(failure(code, message))
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
        failure(
          'missing_scope',
          `This API key lacks the scope "${scope}". Use a key that has it; GET /v1/me shows the scopes of a key.`,
        ),
      )
    if (actsAsUser && callerUserId === null) {
      throw new ApiError(
        failure('user_required', 'This API key does not act as a user. Use a key that belongs to a user.'),
      )
    }
  }

  async #lookUp(): Promise<CallerResult> {
    const { check: [row] = [] } = await this.#runBatch({ check: authorized.check }, {}, true)
    return this.#requireLive(row as CallerResult | undefined)
  }

  #open(): void {
    this.#session = openSession(this.#request, this.#environment, this.#databaseNumber)
    const database = this.#session ?? databaseOf(this.#environment, this.#databaseNumber)
    this.#database = database && instrumented(database, this.databaseUse, healthOf(this.#databaseNumber))
  }

  /**
   * Runs the batch, again in the next database if the key has moved there: then nothing has acted in the first. While the
   * organization moves on, it may move again in between.
   */
  async #runBatch(steps: CheckedSteps, values: Values, isRepeatable: boolean): Promise<Rows<Steps>> {
    for (let hops = 0; ; hops++) {
      const rows = await this.#runBatchOnce(steps, values, isRepeatable)
      const movedTo = movedToOf(rows)
      if (movedTo === null) return rows
      if (hops === MAX_HOPS) throw new StoreUnavailable('The API key moves to another database')
      movedKeys.set(this.#keyHash, movedTo)
      this.#databaseNumber = movedTo
      this.#open()
    }
  }

  async #runBatchOnce(steps: CheckedSteps, values: Values, isRepeatable: boolean): Promise<Rows<Steps>> {
    // A key that names a database that does not exist is as unknown as any other.
    if (!this.#database) return {}
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
    const end = result?.keyEnd
    if (!result || end) {
      acceptedKeys.delete(this.#keyHash)
      await countRefusedKey(this.#address, this.#environment)
      throw unauthorized[end && end !== 'moved' ? end : 'invalid']()
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
      const database = requireDatabase(this.#environment, this.#databaseNumber)
      this.waitUntil(runBatch(database, { recordUse }, this.#guardValues()))
    }
    return result
  }
}

type CheckedSteps = Steps & { readonly check: Statement<CallerResult> }

/** The database that the check names; null if it found the key. */
function movedToOf({ check }: Rows<Steps>): number | null {
  return (check?.[0] as CallerResult | undefined)?.movedTo ?? null
}
