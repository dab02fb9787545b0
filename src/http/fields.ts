/** The kinds of values that the wire has, each written once. Lengths count code points, as JSON Schema does. */
import * as z from 'zod/mini'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EXAMPLE_INSTANT = '2026-03-29T01:00:00.000Z'
const EXAMPLE_UUID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

/** Where a schema says what the OpenAPI document is to say of it. */
export const docs = z.globalRegistry

/** What the document says of a value, beyond its shape. */
interface Documentation {
  readonly description?: string
  readonly example?: string
}

/**
 * A string of up to `maxUnits` UTF-16 units. Every string of an input starts from it: a longer one is refused by its length
 * alone, so that no other check, some of which take time that grows with the square of the length, ever sees it.
 */
export function boundedString(maxUnits: number, problem: string, typeProblem?: string) {
  return z.string(typeProblem).check(refusing(({ length }) => (length > maxUnits ? problem : undefined)))
}

/** A header or a query parameter. All headers together have at most 16 KiB, and so has a URL on Cloudflare. */
export function parameter() {
  return boundedString(LONGEST_PARAMETER, `expected at most ${LONGEST_PARAMETER} characters`)
}

const LONGEST_PARAMETER = 16 * 1024

/**
 * Text that may have up to `max` code points. A code point has one or two units, and NFC makes one code point of up to
 * four units, such as U+1F82.
 */
function boundedText(min: number, max: number) {
  return boundedString(4 * max, `expected ${min} to ${max} characters, got more than ${max}`)
}

/** Text of `min` to `max` code points, without NUL and without lone surrogates. */
export function text(min: number, max: number, documentation: Documentation = {}) {
  return boundedText(min, max)
    .check(refusing((value) => problemOfText(value, min, max)))
    .register(docs, { minLength: min, maxLength: max, ...documentation })
}

/** The check that refuses a value with the sentence that says what is wrong with it, if anything is. */
function refusing(problemOf: (value: string) => string | undefined) {
  return (check: z.core.ParsePayload<string>) => {
    const message = problemOf(check.value)
    if (message) check.issues.push({ code: 'custom', input: check.value, message })
  }
}

function problemOfText(value: string, min: number, max: number): string | undefined {
  if (!value.isWellFormed()) return 'expected text without lone surrogates'
  if (value.includes('\0')) return 'expected text without NUL characters'
  // A string has at most as many code points as UTF-16 units, and at least half as many.
  const length = value.length <= max && value.length >= 2 * min ? value.length : [...value].length
  if (length < min || length > max) return `expected ${min} to ${max} characters, got ${length}`
  return undefined
}

/** Text of up to `maxBytes` bytes in UTF-8, without NUL and without lone surrogates. */
export function content(maxBytes: number, documentation: Documentation) {
  return boundedString(2 * maxBytes, `expected up to ${maxBytes} bytes, got more than ${2 * maxBytes}`)
    .check(
      refusing((value) => problemOfText(value, 0, Number.MAX_SAFE_INTEGER) ?? problemOfSize(value, maxBytes)),
    )
    .register(docs, { maxLength: maxBytes, ...documentation })
}

function problemOfSize(value: string, maxBytes: number): string | undefined {
  const bytes = Buffer.byteLength(value)
  return bytes > maxBytes ? `expected up to ${maxBytes} bytes, got ${bytes}` : undefined
}

/** A UUID of any version, in either case; kept and answered in lower case. */
export function uuid(description?: string) {
  return boundedString(EXAMPLE_UUID.length, 'expected a UUID', 'expected a UUID')
    .check(z.guid('expected a UUID'), z.toLowerCase())
    .register(docs, { example: EXAMPLE_UUID, ...(description && { description }) })
}

/** True if the text has the shape of a UUID, whatever its version bits. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** An id that the host platform already has: any text, but a UUID's case does not count. */
export function externalId(documentation: Documentation) {
  return text(1, 255)
    .check(
      z.refine((value) => value !== '.' && value !== '..', 'expected an id other than "." and ".."'),
      z.overwrite((value) => (isUuid(value) ? value.toLowerCase() : value)),
    )
    .register(docs, { minLength: 1, maxLength: 255, ...documentation })
}

/** An instant: ISO 8601, UTC, with milliseconds. */
export function instant() {
  const problem = `expected an instant such as "${EXAMPLE_INSTANT}"`
  return boundedString(EXAMPLE_INSTANT.length, problem, problem)
    .check(z.iso.datetime({ precision: 3, abort: true, error: problem }))
    .register(docs, { example: EXAMPLE_INSTANT })
}

/** A place below a folder, in the one form that it has: `a/b.md`. Kept in Unicode's normal form NFC. */
export function relativePath(max: number, documentation: Documentation = {}) {
  return boundedText(1, max)
    .check(
      z.normalize('NFC'),
      refusing((value) => problemOfText(value, 1, max)),
      z.refine(
        isRelativePath,
        'expected a relative path such as "src/app.ts", without empty, "." or ".." segments, backslashes and control characters',
      ),
    )
    .register(docs, { minLength: 1, maxLength: max, ...documentation })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: it is these that are refused
const NOT_IN_PATHS = /[\\\u0000-\u001f\u007f-\u009f]/

/** A place on a drive of Windows. */
const DRIVE = /^[A-Za-z]:/

function isRelativePath(path: string): boolean {
  const segments = path.split('/')
  return (
    !NOT_IN_PATHS.test(path) &&
    !DRIVE.test(path) &&
    !segments.some((segment) => ['', '.', '..'].includes(segment))
  )
}

/** The header `If-None-Match`. */
export function ifNoneMatch() {
  return z.optional(parameter()).register(docs, {
    description: 'ETags of the copies you hold. If one matches, the response is 304.',
    example: `"${EXAMPLE_UUID}"`,
  })
}

/** The header `Idempotency-Key`. @param answer what a request with the same key and an equal body is answered with. */
export function idempotencyKey(answer: string) {
  return z.optional(
    text(1, 255, {
      description: `Makes the request safe to repeat: the same key and an equal body again answer with ${answer}.`,
      example: 'nightly-build-1',
    }),
  )
}

const DAY_SECONDS = 86_400
const LONGEST_OVERLAP_SECONDS = 30 * DAY_SECONDS

/** How long what was rotated lives on: a day, if it is left out. */
export function overlapSeconds(description: string) {
  return z
    ._default(
      z
        .int('expected whole seconds')
        .check(
          z.minimum(0, 'expected at least 0'),
          z.maximum(LONGEST_OVERLAP_SECONDS, `expected at most ${LONGEST_OVERLAP_SECONDS} (30 days)`),
        ),
      DAY_SECONDS,
    )
    .register(docs, { description })
}

/** A change: an object of which every property may be left out, but not all. */
export function someOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const names = Object.keys(shape).join(', ')
  return z
    .strictObject(shape)
    .check(
      z.refine((change) => Object.keys(change as object).length > 0, `expected at least one of ${names}`),
    )
}
