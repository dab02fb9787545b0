/** A request whose input is valid: what its handler works with. */

import type { Rows, Statement, Step, Values } from '../db/statement.ts'
import { type Environment, type Limits, limitsOf } from '../environment.ts'
import { type AuditSubject, auditValues, isChanging, recordingChanges } from './audit.ts'
import type { Caller } from './caller.ts'
import type { Facts, Preconditions } from './preconditions.ts'
import { quotaValues } from './quotas.ts'

interface RequestFacts extends AuditSubject {
  /** True if the request may run twice with the same effect. */
  readonly isRepeatable: boolean
}

/** The limits and their values in statements. The environment of an isolate stays the same, so they are computed once. */
const computedLimits = new WeakMap<Environment, { readonly limits: Limits; readonly quotas: Values }>()

function limitsIn(environment: Environment) {
  const known = computedLimits.get(environment)
  if (known) return known
  const limits = limitsOf(environment)
  const computed = { limits, quotas: quotaValues(limits.quotas) }
  computedLimits.set(environment, computed)
  return computed
}

export class RequestContext {
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: Limits
  readonly #quotas: Values
  readonly #request: RequestFacts

  constructor(caller: Caller, environment: Environment, request: RequestFacts) {
    this.caller = caller
    this.environment = environment
    const { limits, quotas } = limitsIn(environment)
    this.limits = limits
    this.#quotas = quotas
    this.#request = request
  }

  /** See `Caller.now`. */
  get now(): string {
    return this.caller.now
  }

  /** The values of `recordRead`, for an operation that changes no row. */
  get auditValues(): Values {
    return auditValues(this.#request, {})
  }

  /**
   * The one trip: runs the check of the preconditions and the acting statements in one transaction. Each change is recorded
   * in the audit trail.
   * @returns the facts of the check, then the rows of each acting step.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the scope; then nothing has acted.
   */
  async run<Named, const Acting extends readonly Step[]>(
    { check }: Pick<Preconditions<Named>, 'check'>,
    acting: Acting,
    values: Values,
  ): Promise<[Facts<Named>, ...Rows<Acting>]> {
    const { isRepeatable } = this.#request
    const changes = isChanging(acting)
    const steps = changes ? recordingChanges(acting) : acting
    const recorded = changes && auditValues(this.#request, values)
    const bound = { ...values, ...this.#quotas, ...recorded }
    const [[facts], ...rows] = await this.caller.run([check, ...steps], bound, isRepeatable)
    // The rows are in the order of the statements, which the type checker can't follow through the spread.
    return [facts as Facts<Named>, ...(rows as unknown as Rows<Acting>)]
  }

  /**
   * The one trip of an operation that is done if its last statement returns a row.
   * @returns that row.
   * @throws {ApiError} also the error of the precondition that does not hold, if there is no row.
   */
  async runForRow<Named, const Acting extends readonly Step[]>(
    preconditions: Preconditions<Named>,
    acting: Acting,
    values: Values,
  ): Promise<LastRow<Acting>> {
    const [facts, ...rows] = await this.run(preconditions, acting, values)
    const [row] = rows.at(-1) as LastRow<Acting>[]
    if (!row) throw preconditions.refusal(facts, this)
    return row
  }
}

type LastRow<Steps extends readonly Step[]> = Steps extends readonly [...Step[], infer Last]
  ? Last extends Statement<infer Row> | readonly Statement<infer Row>[]
    ? Row
    : never
  : never
