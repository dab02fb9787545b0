/** The kinds of values that the wire has, each written once. Lengths count code points, as JSON Schema does. */
import * as z from 'zod/mini'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EXAMPLE_UUID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

/** Where a schema says what the OpenAPI document is to say of it. */
export const docs = z.globalRegistry

/** What the document says of a value, beyond its shape. */
interface Words {
  readonly description?: string
  readonly example?: string
}

/** Text of `min` to `max` code points, without NUL and without lone surrogates. */
export function text(min: number, max: number, words: Words = {}) {
  return z
    .string()
    .check((check) => {
      const problem = problemOfText(check.value, min, max)
      if (problem) check.issues.push({ code: 'custom', input: check.value, message: problem })
    })
    .register(docs, { minLength: min, maxLength: max, ...words })
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
export function uuid(description?: string) {
  return z
    .guid('expected a UUID')
    .check(z.toLowerCase())
    .register(docs, { example: EXAMPLE_UUID, ...(description && { description }) })
}

/** True if the text has the shape of a UUID, whatever its version bits. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** An id that the host platform already has: any text, but a UUID's case does not count. */
export function externalId(words: Words) {
  return text(1, 255)
    .check(
      z.refine((value) => value !== '.' && value !== '..', 'expected an id other than "." and ".."'),
      z.overwrite((value) => (isUuid(value) ? value.toLowerCase() : value)),
    )
    .register(docs, { minLength: 1, maxLength: 255, ...words })
}

/** An instant: ISO 8601, UTC, with milliseconds. */
export function instant() {
  return z.iso.datetime({ precision: 3 }).register(docs, { example: '2026-03-29T01:00:00.000Z' })
}
