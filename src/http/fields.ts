/** The kinds of values that the wire has, each written once. Lengths count code points, as JSON Schema does. */
import * as z from 'zod'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EXAMPLE_UUID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

/** Text of `min` to `max` code points, without NUL and without lone surrogates. */
export function text(min: number, max: number) {
  return z
    .string()
    .check((check) => {
      const problem = problemOfText(check.value, min, max)
      if (problem) check.issues.push({ code: 'custom', input: check.value, message: problem })
    })
    .meta({ minLength: min, maxLength: max })
}

function problemOfText(value: string, min: number, max: number): string | undefined {
  if (!value.isWellFormed()) return 'expected text without lone surrogates'
  if (value.includes('\0')) return 'expected text without NUL characters'
  // A string has at most as many code points as UTF-16 units, and at least half as many.
  const length = value.length <= max && value.length >= 2 * min ? value.length : [...value].length
  if (length < min || length > max) return `expected ${min} to ${max} characters, got ${length}`
  return undefined
}

/** A UUID of any version, in either case; kept and answered in lower case. */
export function uuid() {
  return z.guid('expected a UUID').toLowerCase().meta({ format: 'uuid', example: EXAMPLE_UUID })
}

/** True if the text has the shape of a UUID, whatever its version bits. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** An id that the host platform already has: any text, but a UUID's case does not count. */
export function externalId(example: string) {
  return text(1, 255)
    .refine((value) => value !== '.' && value !== '..', 'expected an id other than "." and ".."')
    .overwrite((value) => (isUuid(value) ? value.toLowerCase() : value))
    .meta({ minLength: 1, maxLength: 255, example })
}

/** An instant: ISO 8601, UTC, with milliseconds. */
export function instant(example = '2026-03-29T01:00:00.000Z') {
  return z.iso.datetime({ precision: 3 }).meta({ example })
}
