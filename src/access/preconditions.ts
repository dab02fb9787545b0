/**
 * The preconditions of an operation, each written once. From one list come the statement that checks them, the guard of
 * the statements that act, the rows that those begin from, and the error of the first precondition that does not hold.
 */
import { and, isNull, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type {
  SelectedFields,
  SQLiteSelectBase,
  SQLiteSelectDynamic,
  SQLiteTable,
} from 'drizzle-orm/sqlite-core'
import { apiKeys } from '../db/schema.ts'
import { guarded, query, type Statement } from '../db/statement.ts'
import type { Limits } from '../environment.ts'
import type { ApiError } from '../errors.ts'
import { type CallerFacts, callerFields, isCallersKey, mayAct } from './guard.ts'

/** What an error is made from, beside the fact. */
interface ErrorContext {
  readonly limits: Limits
}

/** What must hold for a request. Its SQL is over the caller's key in `apiKeys` and the joined tables. */
export interface Precondition<Fact = unknown> {
  readonly holds: SQL
  /** The value that the check returns; undefined if it is unchecked: then it failed if no other precondition did. */
  readonly fact: SQL<Fact> | undefined
  isMet(fact: Fact): boolean
  otherwise(context: ErrorContext, fact: Fact): ApiError
}

/** A condition. */
export function precondition(
  holds: SQL | undefined,
  otherwise: (context: ErrorContext) => ApiError,
): Precondition<0 | 1 | null> {
  return { holds: sql`(${holds})`, fact: sql`${holds}`, isMet: (fact) => fact === 1, otherwise }
}

/** A condition that costs too much to be checked as well: it failed if no other did. */
export function uncheckedPrecondition(
  holds: SQL | undefined,
  otherwise: (context: ErrorContext) => ApiError,
): Precondition {
  return { holds: sql`(${holds})`, fact: undefined, isMet: () => true, otherwise }
}

/**
 * A condition whose error is made from what stands in its way: NULL if nothing does. Name it after what is found.
 * @param holds the condition, if what is found does not always stand in the way of the statements that act.
 */
export function preconditionUnless<Found>(
  found: SQL<Found | null>,
  otherwise: (context: ErrorContext, found: Found) => ApiError,
  holds: SQL | undefined = isNull(found),
): Precondition<Found | null> {
  return {
    holds: sql`${holds}`,
    fact: found,
    isMet: (fact) => fact === null,
    otherwise: (context, fact) => otherwise(context, fact as Found),
  }
}

/** A table that is joined to the caller's key in `apiKeys`: at most one row. */
export interface Join {
  readonly table: SQLiteTable
  readonly on: SQL | undefined
}

/** A further fact of a PUT: 1 if it creates. The check runs before the change, in the same transaction. @param id of the named row. */
export function isNew(id: SQLWrapper): SQL<0 | 1> {
  return sql<0 | 1>`${isNull(id)}`
}

export type NamedPreconditions = Readonly<Record<string, Precondition>>
type NamedFacts = Readonly<Record<string, SQL>>

/** The row of the check: the caller, and a value for each precondition and each further fact. */
export type Facts<Values> = CallerFacts & Readonly<Values>

type FactsOf<Named, Further> = {
  [Name in keyof Named]: Named[Name] extends Precondition<infer Fact> ? Fact : never
} & { [Name in keyof Further]: Further[Name] extends SQL<infer Fact> ? Fact : never }

export interface Preconditions<Values = unknown> {
  /** The checking statement. No row: nobody has this key. */
  readonly check: Statement<Facts<Values>>
  /** True if the caller may act and every precondition holds. */
  readonly guard: SQL
  /** The caller's organization where the guard holds; else NULL, which matches no row. For updates and deletions. */
  readonly organizationId: SQL<string>
  /** One row if the guard, and the further condition, hold: what inserts and reads begin from. */
  rows<Fields extends SelectedFields>(fields: Fields, condition?: SQL): Selected<Fields>
  /**
   * Where nothing was done: the error of the precondition that does not hold. Of several, the first in the order of the
   * statuses (docs/contract.md, "The order of the checks"), then as listed.
   */
  refusal(facts: Facts<Values>, context: ErrorContext): ApiError
  /** @throws {ApiError} that error, if a checked precondition does not hold: for lists, which may be empty otherwise. */
  requireMet(facts: Facts<Values>, context: ErrorContext): void
}

/** docs/contract.md, "The order of the checks". */
const STATUS_ORDER = [400, 404, 403, 410, 409, 412]

/**
 * The preconditions of an operation.
 * @param joins left-joined in order, so that the check also returns a row if one is missing. A precondition requires that it exists.
 * @param preconditions by the name that the check gives them, in the order of the errors of one status.
 * @param further facts that the check also returns, such as a revision.
 */
export function requiring<
  const Named extends NamedPreconditions,
  const Further extends NamedFacts = Record<never, SQL>,
>(
  joins: readonly Join[],
  preconditions: Named,
  further: Further = {} as Further,
): Preconditions<FactsOf<Named, Further>> {
  const listed = Object.entries(preconditions) as [string, Precondition][]
  const guard = sql`${and(mayAct, ...listed.map(([, { holds }]) => holds))}`
  const checked = listed.flatMap(([name, { fact }]) => (fact ? [[name, fact] as const] : []))
  const columns = Object.fromEntries(
    [...checked, ...Object.entries(further)].map(([name, fact]) => [name, sql`${fact}`.as(name)]),
  )
  const rows = <Fields extends SelectedFields>(fields: Fields, condition?: SQL) =>
    selectRows(fields, joins, and(guard, condition))

  function errorOf(facts: object, context: ErrorContext, candidates: typeof listed) {
    const values = facts as Readonly<Record<string, unknown>>
    return candidates
      .map(([name, { otherwise }]) => otherwise(context, values[name]))
      .toSorted((a, b) => STATUS_ORDER.indexOf(a.status) - STATUS_ORDER.indexOf(b.status))[0]
  }
  const unmet = (facts: object) =>
    listed.filter(([name, { fact, isMet }]) => fact && !isMet((facts as Record<string, unknown>)[name]))

  return {
    // The check has the columns of its facts, which the type checker can't follow through `Object.fromEntries`.
    check: guarded(() => selectRows({ ...callerFields, ...columns }, joins, isCallersKey)) as never,
    guard,
    get organizationId() {
      return sql<string>`${rows({ organizationId: apiKeys.organizationId })}`
    },
    rows,
    refusal(facts, context) {
      const failed = unmet(facts)
      const unchecked = listed.filter(([, { fact }]) => fact === undefined)
      const error = errorOf(facts, context, failed.length > 0 ? failed : unchecked)
      if (!error) throw new Error('Every precondition holds, and nothing was done')
      return error
    },
    requireMet(facts, context) {
      const error = errorOf(facts, context, unmet(facts))
      if (error) throw error
    },
  }
}

type Selected<Fields extends SelectedFields> = SQLiteSelectDynamic<
  SQLiteSelectBase<string, 'async', D1Result, Fields, 'partial', Record<string, 'not-null'>>
>

function selectRows<Fields extends SelectedFields>(
  fields: Fields,
  joins: readonly Join[],
  condition: SQL | undefined,
) {
  const select = query.select(fields).from(apiKeys).$dynamic()
  for (const { table, on } of joins)
    (select as { leftJoin(table: SQLiteTable, on?: SQL): unknown }).leftJoin(table, on)
  // The type checker can't follow joins that it doesn't know, so each field has the type of its column.
  return select.where(condition) as unknown as Selected<Fields>
}

/** For operations that require nothing beside an API key that is live and has the scope. */
export const authorized = requiring([], {})
