/**
 * The preconditions of an operation, each written once. From one list come the statement that checks them, the guard of
 * the statements that act, the rows that those begin from, and the error of the first precondition that does not hold.
 */
import { and, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SelectedFields, SQLiteSelectBase, SQLiteSelectDynamic, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type NamedParameters, type Parameter, valuesIn } from '../db/parameters.ts'
import { apiKeys } from '../db/schema.ts'
import { guarded, query, type Statement } from '../db/statement.ts'
import type { Limits } from '../environment.ts'
import { ApiError, ERROR_STATUSES, type Failure } from '../errors.ts'
import { type CallerResult, callerFields, isCallersKey, mayAct } from './guard.ts'

/** What the message of a failure may need, beside the result of the check. */
interface FailureContext {
  readonly limits: Limits
}

/** What must hold for a request. Its SQL is over the caller's key in `apiKeys` and the joined tables. */
export interface Precondition<Result = unknown, P extends Parameter = Parameter> {
  readonly holds: SQL
  /** What the check returns for it; undefined if it is unchecked: then it failed if no other precondition did. */
  readonly result: SQL<Result> | undefined
  readonly takes: readonly P[]
  isMet(result: Result): boolean
  failure(context: FailureContext, result: Result): Failure
}

type FailureOf = Failure | ((context: FailureContext) => Failure)

const toFunction = (failure: FailureOf) => (typeof failure === 'function' ? failure : () => failure)

/** A condition. */
export function precondition<Own extends NamedParameters = Record<never, never>>(
  condition: SQL | undefined,
  failure: FailureOf,
  takes?: Own,
): Precondition<0 | 1 | null, Own[keyof Own]> {
  return {
    holds: sql`(${condition})`,
    result: sql`${condition}`,
    takes: valuesIn(takes ?? ({} as Own)),
    isMet: (result) => result === 1,
    failure: toFunction(failure),
  }
}

/** A condition that costs too much to be checked as well: it failed if no other did. */
export function uncheckedPrecondition<Own extends NamedParameters = Record<never, never>>(
  condition: SQL | undefined,
  failure: FailureOf,
  takes?: Own,
): Precondition<unknown, Own[keyof Own]> {
  return {
    holds: sql`(${condition})`,
    result: undefined,
    takes: valuesIn(takes ?? ({} as Own)),
    isMet: () => true,
    failure: toFunction(failure),
  }
}

/**
 * A condition whose failure says what was found: NULL where it holds. Name it after what is found.
 * @param holds the condition of the statements that act, if it is not simply that nothing was found.
 */
export function preconditionUnless<Found, Own extends NamedParameters = Record<never, never>>(
  found: SQL<Found | null>,
  failure: (context: FailureContext, found: Found) => Failure,
  takes?: Own,
  holds: SQL | undefined = isNull(found),
): Precondition<Found | null, Own[keyof Own]> {
  return {
    holds: sql`${holds}`,
    result: found,
    takes: valuesIn(takes ?? ({} as Own)),
    isMet: (result) => result === null,
    failure: (context, result) => failure(context, result as Found),
  }
}

/** A table that is joined to the caller's key in `apiKeys`: at most one row. */
export interface Join<Own extends NamedParameters = NamedParameters> {
  readonly table: SQLiteTable
  readonly on: SQL | undefined
  readonly takes: Own
}

/**
 * A further result of the check of a PUT: 1 if it creates. The check runs before the change, in the same transaction.
 * @param id of the named row.
 */
export function isNew(id: SQLWrapper): SQL<0 | 1> {
  return sql<0 | 1>`${isNull(id)}`
}

export type NamedPreconditions = Readonly<Record<string, Precondition>>
type NamedResults = Readonly<Record<string, SQL>>

/** The row of the check: the caller, and a value for each precondition and each further column. */
export type CheckResult<Values> = CallerResult & Readonly<Values>

type ResultsOf<Named, Further> = {
  [Name in keyof Named]: Named[Name] extends Precondition<infer Result> ? Result : never
} & { [Name in keyof Further]: Further[Name] extends SQL<infer Result> ? Result : never }

type InJoins<Each extends Join> = Each extends { readonly takes: infer Taken } ? Taken[keyof Taken] : never

type TakenBy<Joins extends readonly Join[], Named extends NamedPreconditions, Own extends NamedParameters> =
  | InJoins<Joins[number]>
  | Named[keyof Named]['takes'][number]
  | Own[keyof Own]

export interface Preconditions<Values = unknown, P extends Parameter = Parameter> {
  /** The parameters of the joins, of the preconditions and of the further results. */
  readonly takes: readonly P[]
  /** The checking statement. No row: nobody has this key. */
  readonly check: Statement<CheckResult<Values>, P>
  /** True if the caller may act and every precondition holds. */
  readonly guard: SQL
  /** The caller's organization where the guard holds; else NULL, which matches no row. For updates and deletions. */
  readonly organizationId: SQL<string>
  /** The same where the further condition holds, too. */
  organizationIdIf(condition: SQL): SQL<string>
  /** One row if the guard, and the further condition, hold: what inserts and reads begin from. */
  rows<Fields extends SelectedFields>(fields: Fields, condition?: SQL): Selected<Fields>
  /**
   * Where nothing was done: the error of the precondition that does not hold. Of several, the first in the order of the
   * statuses (docs/contract.md, "The order of the checks"), then as listed.
   */
  refusal(result: CheckResult<Values>, context: FailureContext): ApiError
  /** @throws {ApiError} that error, if a checked precondition does not hold. */
  requireMet(result: CheckResult<Values>, context: FailureContext): void
}

/** docs/contract.md, "The order of the checks". */
const STATUS_ORDER = [400, 404, 403, 410, 409, 412, 503]

/**
 * The preconditions of an operation.
 * @param joins left-joined in order, so that the check also returns a row if one is missing. A precondition requires
 *   that it exists.
 * @param preconditions by the name that the check gives them, in the order of the errors of one status.
 * @param further what the check also returns, such as a revision.
 * @param parameters of the further results.
 */
export function requiring<
  const Joins extends readonly Join[],
  const Named extends NamedPreconditions,
  const Further extends NamedResults = Record<never, SQL>,
  Own extends NamedParameters = Record<never, never>,
>(
  joins: Joins,
  preconditions: Named,
  further: Further = {} as Further,
  parameters?: Own,
): Preconditions<ResultsOf<Named, Further>, TakenBy<Joins, Named, Own>> {
  const listed = Object.entries(preconditions) as [string, Precondition][]
  const guard = sql`${and(mayAct, ...listed.map(([, { holds }]) => holds))}`
  const checked = listed.flatMap(([name, { result }]) => (result ? [[name, result] as const] : []))
  const columns = Object.fromEntries(
    [...checked, ...Object.entries(further)].map(([name, result]) => [name, sql`${result}`.as(name)]),
  )
  const takes = [
    ...joins.flatMap((join) => valuesIn(join.takes)),
    ...listed.flatMap(([, precondition]) => precondition.takes),
    ...valuesIn(parameters ?? {}),
  ] as TakenBy<Joins, Named, Own>[]
  const rows = <Fields extends SelectedFields>(fields: Fields, condition?: SQL) =>
    selectRows(fields, joins, and(guard, condition))

  function errorOf(results: object, context: FailureContext, candidates: typeof listed) {
    const values = results as Readonly<Record<string, unknown>>
    const rank = ({ code }: Failure) => STATUS_ORDER.indexOf(ERROR_STATUSES[code])
    const [first] = candidates
      .map(([name, { failure }]) => failure(context, values[name]))
      .toSorted((a, b) => rank(a) - rank(b))
    return first && new ApiError(first)
  }
  const unmet = (results: object) =>
    listed.filter(([name, { result, isMet }]) => result && !isMet((results as Record<string, unknown>)[name]))

  return {
    takes,
    // The check has the columns of its results, which the type checker cannot follow through `Object.fromEntries`.
    check: guarded({ takes }, {}, () => selectRows({ ...callerFields, ...columns }, joins, isCallersKey)) as Statement<
      CheckResult<ResultsOf<Named, Further>>,
      TakenBy<Joins, Named, Own>
    >,
    guard,
    get organizationId() {
      return sql<string>`${rows({ organizationId: apiKeys.organizationId })}`
    },
    organizationIdIf: (condition) => sql<string>`${rows({ organizationId: apiKeys.organizationId }, condition)}`,
    rows,
    refusal(results, context) {
      const failed = unmet(results)
      const unchecked = listed.filter(([, { result }]) => result === undefined)
      const error = errorOf(results, context, failed.length > 0 ? failed : unchecked)
      if (!error) throw new Error('Every precondition holds, and nothing was done')
      return error
    },
    requireMet(results, context) {
      const error = errorOf(results, context, unmet(results))
      if (error) throw error
    },
  }
}

type Selected<Fields extends SelectedFields> = SQLiteSelectDynamic<
  SQLiteSelectBase<string, 'async', D1Result, Fields, 'partial', Record<string, 'not-null'>>
>

function selectRows<Fields extends SelectedFields>(fields: Fields, joins: readonly Join[], condition: SQL | undefined) {
  const select = query.select(fields).from(apiKeys).$dynamic()
  for (const { table, on } of joins) (select as { leftJoin(table: SQLiteTable, on?: SQL): unknown }).leftJoin(table, on)
  // The type checker cannot follow joins that it does not know, so each field has the type of its column.
  return select.where(condition) as unknown as Selected<Fields>
}

/** For operations that require nothing beside an API key that is live and has the scope. */
export const authorized = requiring([], {})
