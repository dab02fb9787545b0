/** Checks search parameters, because anyone can write an address. */

const MAX_LENGTH = 500

export function text(value: unknown, maxLength = MAX_LENGTH): string | undefined {
  // The router reads "123" as a number.
  const given = typeof value === 'number' ? String(value) : value
  return typeof given === 'string' && given !== '' && given.length <= maxLength ? given : undefined
}

export function choice<Value extends string>(value: unknown, allowed: readonly Value[]): Value | undefined {
  return allowed.find((each) => each === value)
}

const DAY = /^\d{4}-\d{2}-\d{2}$/

/** A day as `<input type="date">` has it, such as "2026-11-22". */
export function day(value: unknown): string | undefined {
  const given = text(value)
  return given !== undefined && DAY.test(given) && !Number.isNaN(Date.parse(`${given}T00:00`)) ? given : undefined
}

/** A whole number of at least 1. */
export function count(value: unknown): number | undefined {
  const given = Number(value)
  return Number.isSafeInteger(given) && given >= 1 ? given : undefined
}

/** The parameters of a page, each of which a link may leave out. */
export function search<Parameters extends object>(
  parameters: Parameters,
): { [Name in keyof Parameters]?: Parameters[Name] | undefined } {
  return parameters
}
