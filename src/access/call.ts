/** One authenticated request: from the token in the header to the one trip that the operation makes. */

import { type Database, type DatabaseUse, instrumented, noUse } from '../db/database.ts'
import { describeFailure, isTransient } from '../db/failures.ts'
import { type Rows, runBatch, type Statement, type Step, type Values } from '../db/statement.ts'
import { type Environment, isOn, type Limits, limitsOf } from '../environment.ts'
import { ApiError, unauthorized } from '../errors.ts'
import type { RunMessage } from '../queue.ts'
import { hashToken, isToken } from './api-key.ts'
import { type AuditSubject, areChanging, auditValues, recordingChanges } from './audit.ts'
import { type CallerFacts, explainCaller, recordUse } from './guard.ts'
import { quotaValues } from './quotas.ts'
import { addressOf, count, countAgainst, countRefusedKey, isLimiting, refuseBlocked } from './rate-limit.ts'
import { RecentMap } from './recent-map.ts'
import { sessionOf } from './replica.ts'
import type { Scope } from './scopes.ts'

const BEARER = /^Bearer(?: +(.*))?$/i
const HOUR_MS = 3_600_000

const MOST_ATTEMPTS = 3
/** Before the second attempt; twice as long before the third, and each up to twice that at random. */
const PAUSE_MS = 40

interface RequestFacts extends AuditSubject {
  /** True if it may run twice and its answer is the same. */
  readonly isRepeatable: boolean
}

/** What an operation asks of the key: the caller scope (docs/contract.md, Keys). */
export interface CallerScope {
  /** Null if any live key will do. */
  readonly scope: Scope | null
  /** True if the operation is a user's own, so that the key has to act as one. */
  readonly actsAsUser?: true
}

/** What this isolate remembers of the keys that it accepted last, by their hash. Whether a key may act is asked each time. */
const acceptedKeys = new RecentMap<string, { readonly organizationId: string; readonly acceptedAt: number }>()

export class Call {
  /** The instant of the request, the same for all that it does. */
  readonly now = new Date().toISOString()
  readonly limits: Limits
  readonly objects: R2Bucket
  readonly runs: Queue<RunMessage>
  /** The text of the secret. */
  readonly encryptionKeys: string
  readonly allowsLocalRunEndpoints: boolean
  /** What it has asked of the database so far. */
  readonly databaseUse: DatabaseUse = noUse()
  /** Once the key has been looked up. */
  callerOrganizationId: string | undefined
  readonly #environment: Environment
  readonly #session: D1DatabaseSession | undefined
  readonly #database: Database
  readonly #context: Pick<ExecutionContext, 'waitUntil'>
  readonly #callerScope: CallerScope
  readonly #keyHash: string
  readonly #address: string
  #request: RequestFacts | undefined
  /** True once the request was counted against the rate limit of its organization. */
  #isCounted: boolean

  private constructor(
    request: Request,
    environment: Environment,
    context: Pick<ExecutionContext, 'waitUntil'>,
    callerScope: CallerScope,
    keyHash: string,
    isCounted: boolean,
  ) {
    this.limits = limitsOf(environment)
    this.objects = environment.OBJECTS
    this.runs = environment.RUNS
    this.encryptionKeys = environment.ENCRYPTION_KEYS ?? ''
    this.allowsLocalRunEndpoints = isOn(environment.LOCAL_RUN_ENDPOINTS)
    this.#environment = environment
    this.#context = context
    this.#callerScope = callerScope
    this.#keyHash = keyHash
    this.#isCounted = isCounted
    this.#address = addressOf(request)
    this.#session = sessionOf(request, environment)
    this.#database = instrumented(this.#session ?? environment.DB, this.databaseUse)
  }

  /**
   * Reads the token (RFC 6750, section 2.1). No query yet.
   * @throws {ApiError} 401 if there is none or it can't be one, 429 if the address, the key or its organization is over its limit.
   */
  static async open(
    request: Request,
    environment: Environment,
    context: Pick<ExecutionContext, 'waitUntil'>,
    callerScope: CallerScope,
  ): Promise<Call> {
    const bearer = BEARER.exec(request.headers.get('Authorization') ?? '')
    if (!bearer) throw unauthorized.missing()
    const token = bearer[1] ?? ''
    if (!isToken(token)) throw unauthorized.invalid()
    const keyHash = hashToken(token)
    const accepted = acceptedKeys.get(keyHash)
    refuseBlocked(addressOf(request), accepted?.acceptedAt, environment)
    await countAgainst('KEY_RATE_LIMIT', keyHash, environment)
    if (accepted) await countAgainst('ORGANIZATION_RATE_LIMIT', accepted.organizationId, environment)
    return new Call(request, environment, context, callerScope, keyHash, accepted !== undefined)
  }

  /** The state of the database that it saw, where replicas are used; nothing for strangers. */
  get bookmark(): string | null {
    return this.callerOrganizationId === undefined ? null : (this.#session?.getBookmark() ?? null)
  }

  /** Says what the request is, once its input is known to be right. */
  begin(request: RequestFacts): void {
    this.#request = request
  }

  /**
   * The one trip: runs the explaining statement and the acting ones in one transaction.
   * @returns the explanation, then the rows of each acting step.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the caller scope; then nothing has acted,
   *   because each acting statement has the guard in itself.
   */
  async run<Facts extends CallerFacts, const Acting extends readonly Step[]>(
    explaining: Statement<Facts>,
    acting: Acting,
    values: Values,
  ): Promise<[Facts, ...Rows<Acting>]> {
    const [[facts], ...rows] = areChanging(acting)
      ? await this.#batch([explaining, ...recordingChanges(acting)], {
          ...(this.#request && auditValues(this.#request, values)),
          ...values,
        })
      : await this.#batch([explaining, ...acting], values)
    const explanation = await this.#live(facts as Facts | undefined)
    this.#requireScope(explanation)
    // The rows are in the order of the statements, which the type checker can't follow through the spread.
    return [explanation, ...(rows as unknown as Rows<Acting>)]
  }

  /** The refusal of wrong input. A key that is not live is told that first, so this costs the look-up of the key. */
  async inputError(message: string, status = 400): Promise<ApiError> {
    if (this.callerOrganizationId === undefined) await this.#lookUp()
    return new ApiError(status, message)
  }

  /**
   * Asks in a trip of its own whether the key may act now, before work that only such a key may cause.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the caller scope.
   */
  async requireCaller(): Promise<void> {
    this.#requireScope(await this.#lookUp())
  }

  /** Goes on with what the answer doesn't wait for. If it fails, that is logged; something else has to make it good. */
  afterwards(work: Promise<unknown>): void {
    this.#context.waitUntil(
      work.catch((error) => console.error(JSON.stringify({ failure: describeFailure(error) }))),
    )
  }

  /**
   * The organization that the key belongs to, for what has to be known before the one trip. It never changes, so it
   * is remembered from the key's last call; whether the key may act is asked each time.
   * @throws {ApiError} 401 if the key is not live, where it isn't remembered.
   */
  async organizationId(): Promise<string> {
    return acceptedKeys.get(this.#keyHash)?.organizationId ?? (await this.#lookUp()).callerOrganizationId
  }

  #requireScope({ inScope, callerUserId }: CallerFacts): void {
    const { scope, actsAsUser } = this.#callerScope
    if (!inScope) throw new ApiError(400, `This API key lacks the scope "${scope}".`)
    if (actsAsUser && callerUserId === null) {
      throw new ApiError(400, 'This API key acts for no user. Use a key that belongs to a user.')
    }
  }

  async #lookUp(): Promise<CallerFacts> {
    const [[facts]] = await this.#batch([explainCaller], {}, true)
    return this.#live(facts)
  }

  /** What may be repeated is, where the database is away for a moment. Nothing else is tried again. */
  async #batch<const Steps extends readonly Step[]>(
    steps: Steps,
    values: Values,
    isRepeatable = this.#request?.isRepeatable ?? false,
  ): Promise<Rows<Steps>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await runBatch(this.#database, steps, { ...this.#key(), ...values })
      } catch (error) {
        if (!isRepeatable || attempt === MOST_ATTEMPTS || !isTransient(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, PAUSE_MS * attempt * (1 + Math.random())))
      }
    }
  }

  #key(): Values {
    return {
      keyHash: this.#keyHash,
      scope: this.#callerScope.scope,
      now: this.now,
      hourAgo: this.#hourAgo(),
      ...quotaValues(this.limits.quotas),
    }
  }

  #hourAgo(): string {
    return new Date(Date.parse(this.now) - HOUR_MS).toISOString()
  }

  async #live<Facts extends CallerFacts>(facts: Facts | undefined): Promise<Facts> {
    if (!facts?.live) {
      acceptedKeys.delete(this.#keyHash)
      await countRefusedKey(this.#address, this.#environment)
      throw unauthorized.invalid()
    }
    const { callerOrganizationId: organizationId } = facts
    this.callerOrganizationId = organizationId
    acceptedKeys.set(this.#keyHash, { organizationId, acceptedAt: Date.now() })
    // The request may have done its work by now, so it is counted and not refused.
    if (!this.#isCounted && isLimiting(this.#environment)) {
      this.afterwards(count('ORGANIZATION_RATE_LIMIT', organizationId, this.#environment))
    }
    this.#isCounted = true
    if (facts.isLastUsedStale) this.afterwards(runBatch(this.#environment.DB, [recordUse], this.#key()))
    return facts
  }
}
