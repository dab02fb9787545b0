/** Parameters of statements: Drizzle's placeholders, with the type of their values. */
import { Placeholder } from 'drizzle-orm'

/** The value of a parameter. */
export type Value = string | number | null
export type Values = Readonly<Record<string, Value>>

export type Parameter = Placeholder

/**
 * Parameters by their names. A set of them is the list of a statement, and the columns that it writes: a column that a
 * request may set is one entry.
 */
export type NamedParameters = Readonly<Record<string, Parameter>>

export const valuesIn = <Own extends NamedParameters>(parameters: Own) => Object.values(parameters) as Own[keyof Own][]

/** The values of the parameters, by their names. */
export type ValuesOf<P extends Parameter> = { readonly [Name in P['name']]: ValueOf<P, Name> }

/** A value that every parameter of the name accepts. */
type ValueOf<P extends Parameter, Name extends string> = (
  P extends Placeholder<Name, infer Type>
    ? (value: Type) => void
    : never
) extends (value: infer Accepted extends Value) => void
  ? Accepted
  : never

export const text = <const Name extends string>(name: Name) => new Placeholder<Name, string>(name)
export const textOrNull = <const Name extends string>(name: Name) => new Placeholder<Name, string | null>(name)
export const number = <const Name extends string>(name: Name) => new Placeholder<Name, number>(name)
export const numberOrNull = <const Name extends string>(name: Name) => new Placeholder<Name, number | null>(name)

/** The time of the request or of the tick. Bound for every guarded statement. */
export const now = text('now')

/** The key after which a page begins, and the most rows it has (http/paging.ts). */
export const cursor = text('cursor')
export const rowLimit = number('rowLimit')
