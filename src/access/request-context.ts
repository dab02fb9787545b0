/** A request whose input is valid: what its handler works with. */

import type { Parameter, Values, ValuesOf } from '../db/parameters.ts'
import type { ParameterOf, RowOf, Statement, Step } from '../db/statement.ts'
import { type Environment, type Limits, readLimits } from '../environment.ts'
import type { Caller } from './caller.ts'
import { type Change, eventValues, type Recording } from './events.ts'
import type { CheckResult, Preconditions } from './preconditions.ts'
import { quotaValues } from './quotas.ts'
import { selectWakeable, wake } from './wake.ts'

interface RequestDetails {
  /** The path, with the prefix if the client used it, and with IDs in the form that responses have. */
  readonly path: string
  readonly requestId: string
  /** True if the request may run twice with the same effect. */
  readonly isRepeatable: boolean
}

/** A step that returns a row if its operation was done. */
interface One<S extends Step = Step> {
  readonly one: S
}

/** A step whose result is its only row. Without a row, the operation is refused. */
export const one = <S extends Step>(step: S): One<S> => ({ one: step })

/** `check` is the name of the checking statement. */
type NamedSteps = Readonly<Record<string, Step | One>> & { readonly check?: never }
type Unwrapped<Named extends Step | One> = Named extends One<infer S> ? S : Named extends Step ? Named : never

/** The row of the check, and for each step its rows, or its only row. */
type Results<Check, S extends NamedSteps> = { readonly check: CheckResult<Check> } & {
  readonly [Name in keyof S]: S[Name] extends One<infer Single> ? RowOf<Single> : RowOf<Unwrapped<S[Name]>>[]
}

/**
 * The limits and their values in statements. The environment of an isolate stays the same, so they are computed once.
 */
const computedLimits = new WeakMap<Environment, { readonly limits: Limits; readonly quotas: Values }>()

function limitsIn(environment: Environment) {
  const known = computedLimits.get(environment)
  if (known) return known
  const limits = readLimits(environment)
  const computed = { limits, quotas: quotaValues(limits.quotas) }
  computedLimits.set(environment, computed)
  return computed
}

export class RequestContext {
  readonly caller: Caller
  readonly environment: Environment
  readonly limits: Limits
  readonly #quotas: Values
  readonly #request: RequestDetails

  constructor(caller: Caller, environment: Environment, request: RequestDetails) {
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

  /** The path of the request, with the prefix if the client used it, and with IDs in the form that responses have. */
  get path(): string {
    return this.#request.path
  }

  /**
   * The one round trip: runs the check of the preconditions and the steps in one transaction. Each change is recorded
   * as an event.
   * @returns the row of the check as `check`, and what each step returns.
   * @throws {ApiError} 401 if the key is not live, 400 if it lacks the scope, or the error of the precondition that
   *   does not hold; then nothing has acted.
   */
  async run<Check, P extends Parameter, const S extends NamedSteps>(
    preconditions: Preconditions<Check, P>,
    steps: S,
    values: ValuesOf<P | ParameterOf<Unwrapped<S[keyof S]>>>,
  ): Promise<Results<Check, S>> {
    const results = await this.attempt(preconditions, steps, values)
    preconditions.requireMet(results.check, this)
    return results
  }

  /**
   * Like `run`, for a request that may repeat an earlier one (`Idempotency-Key`): then the preconditions need not hold
   * any more, and the rows tell.
   * @throws {ApiError} that error only if a step in `one` returned no row.
   */
  async attempt<Check, P extends Parameter, const S extends NamedSteps>(
    preconditions: Preconditions<Check, P>,
    steps: S,
    values: ValuesOf<P | ParameterOf<Unwrapped<S[keyof S]>>>,
  ): Promise<Results<Check, S>> {
    const named = Object.entries(steps).flatMap(([name, step]) => withRecording(name, statementsOf(step)))
    const isRecorded = named.some(([, statements]) => statements.some((statement) => 'isRecording' in statement))
    const { result, rows } = await this.caller.runChecked(
      preconditions.check,
      { ...Object.fromEntries(named), ...(isRecorded && { 'event.endpoints': selectWakeable }) },
      { ...(values as Values), ...this.#quotas, ...eventValues(this.now, this.#request) },
      this.#request.isRepeatable,
    )
    const endpoints = (rows['event.endpoints'] ?? []) as RowOf<typeof selectWakeable>[]
    if (endpoints.length > 0) this.caller.waitUntil(wake(this.environment, this.caller.databaseNumber, endpoints))
    const results = Object.entries(steps).map(([name, step]) => {
      if (!('one' in step)) return [name, rows[name]]
      const [row] = rows[name] ?? []
      if (row === undefined) throw preconditions.refusal(result, this)
      return [name, row]
    })
    // Each step has the rows of its name, which the type checker cannot follow through `Object.fromEntries`.
    return { check: result, ...Object.fromEntries(results) } as Results<Check, S>
  }
}

const statementsOf = (step: Step | One): Statement[] => ['one' in step ? step.one : step].flat()

type NamedStatements = [name: string, statements: readonly (Statement | Recording)[]]

/** A change is recorded before or after it, in a step of its own. */
function withRecording(name: string, statements: readonly (Statement | Change | Recording)[]): NamedStatements[] {
  const step: NamedStatements = [name, statements]
  const change = statements.find((statement) => 'recording' in statement)
  if (!change) return [step]
  const recording: NamedStatements = [`event.${name}`, [change.recording]]
  return change.recording.isBefore ? [recording, step] : [step, recording]
}
