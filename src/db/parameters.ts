/** Parameters of statements: Drizzle's placeholders, with the type of their values. */
import { Placeholder } from 'drizzle-orm'

/** The value of a parameter. */
export type Value = string | number | null
export type Values = Readonly<Record<string, Value>>

export type Parameter = Placeholder

/**
 * What a statement takes. Where a set is spread into the columns that a statement writes, the key is the column;
 * elsewhere only the parameter's own name counts, by which a request gives its value.
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
