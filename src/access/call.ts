/** One authenticated request: from the token in the header to the one trip that the operation makes. */

import { type Rows, runBatch, type Statement, type Values } from '../db/statement.ts'
import { type Environment, type Limits, limitsOf } from '../environment.ts'
import { Refusal, tooManyRequests, unauthorized } from '../http/errors.ts'
import { hashToken, isToken } from './api-key.ts'
import { type CallerFacts, explainCaller, recordUse } from './caller.ts'
import type { Scope } from './scopes.ts'

const BEARER = /^Bearer(?: +(.*))?$/i
const HOUR_MS = 3_600_000

/** What an operation asks of the key: the caller scope (docs/contract.md, Keys). */
export interface CallerScope {
  readonly scope: Scope
  /** True if the operation is a user's own, so that the key has to act as one. */
  readonly actsAsUser?: true
}

export class Call {
  /** The instant of the request, the same for all that it does. */
  readonly now = new Date().toISOString()
  readonly limits: Limits
  readonly objects: R2Bucket
  readonly #environment: Environment
  readonly #context: Pick<ExecutionContext, 'waitUntil'>
  readonly #callerScope: CallerScope
  readonly #keyHash: string
  readonly #address: string

  private constructor(
    environment: Environment,
    context: Pick<ExecutionContext, 'waitUntil'>,
    callerScope: CallerScope,
    keyHash: string,
    address: string,
  ) {
    this.limits = limitsOf(environment)
    this.objects = environment.OBJECTS
    this.#environment = environment
    this.#context = context
    this.#callerScope = callerScope
    this.#keyHash = keyHash
    this.#address = address
  }

  /**
   * Reads the token (RFC 6750, section 2.1). No query yet.
   * @throws {Refusal} 401 if there is none or it can't be one, 429 if the key asks too often.
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
    const address = request.headers.get('CF-Connecting-IP') ?? ''
    const call = new Call(environment, context, callerScope, keyHash, address)
    await call.#countAgainst(environment.KEY_RATE_LIMIT, keyHash)
    return call
  }

  /**
   * The one trip: runs the explaining statement and the acting ones in one transaction.
   * @returns the explanation, then the rows of each acting statement.
   * @throws {Refusal} 401 if the key is not live, 400 if it lacks the caller scope; then nothing has acted,
   *   because each acting statement has the guard in itself.
   */
  async run<Facts extends CallerFacts, const Acting extends readonly Statement[]>(
    explaining: Statement<Facts>,
    acting: Acting,
    values: Values,
  ): Promise<[Facts, ...Rows<Acting>]> {
    const [[facts], ...rows] = await this.#batch([explaining, ...acting], values)
    const explanation = await this.#live(facts as Facts | undefined)
    const { scope, actsAsUser } = this.#callerScope
    if (!explanation.inScope) throw new Refusal(400, `This API key lacks the scope "${scope}".`)
    if (actsAsUser && explanation.callerUserId === null) {
      throw new Refusal(400, 'This API key acts for no user. Use a key that belongs to a user.')
    }
    // The rows are in the order of the statements, which the type checker can't follow through the spread.
    return [explanation, ...(rows as unknown as Rows<Acting>)]
  }

  /** @throws {Refusal} 401 if the key is not live. It is the one look-up that wrong input costs. */
  async requireLiveKey(): Promise<void> {
    const [[facts]] = await this.#batch([explainCaller], {})
    await this.#live(facts)
  }

  #batch<const Statements extends readonly Statement[]>(statements: Statements, values: Values) {
    return runBatch(this.#environment.DB, statements, { ...this.#key(), ...values })
  }

  #key(): Values {
    return { keyHash: this.#keyHash, scope: this.#callerScope.scope, now: this.now, hourAgo: this.#hourAgo() }
  }

  #hourAgo(): string {
    return new Date(Date.parse(this.now) - HOUR_MS).toISOString()
  }

  async #live<Facts extends CallerFacts>(facts: Facts | undefined): Promise<Facts> {
    if (!facts?.live) {
      await this.#countAgainst(this.#environment.REFUSAL_RATE_LIMIT, this.#address)
      throw unauthorized.invalid()
    }
    if (facts.useIsNews) this.#context.waitUntil(runBatch(this.#environment.DB, [recordUse], this.#key()))
    return facts
  }

  async #countAgainst(limit: RateLimit, key: string): Promise<void> {
    if (this.#environment.RATE_LIMIT === 'off') return
    const { success } = await limit.limit({ key })
    if (!success) throw tooManyRequests()
  }
}
