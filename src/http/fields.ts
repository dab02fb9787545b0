/** The kinds of values in requests and responses. Lengths count code points, as in JSON Schema. */
import * as z from 'zod/mini'
import type { Problem } from '../errors.ts'
import { describeSize } from './problems.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EXAMPLE_INSTANT = '2026-03-29T01:00:00.000Z'
const EXAMPLE_UUID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

/** The registry from which the OpenAPI document describes a schema. */
export const docs = z.globalRegistry

interface Documentation {
  readonly description?: string
  readonly example?: string
}

/** A check that finds the first problem of a value. After a problem, no further check of the value runs. */
export function check<Value>(problemOf: (value: Value) => Problem | undefined) {
  return ({ value, issues }: z.core.ParsePayload<Value>) => {
    const problem = issues.length === 0 && problemOf(value)
    if (!problem) return
    const { allowed, ...params } = problem
    issues.push({ code: 'custom', input: value, message: allowed, params })
  }
}

/** A check of one claim. */
export function rule<Value>(holds: (value: Value) => boolean, wrong: string, allowed: string) {
  return check((value: Value) => (holds(value) ? undefined : { wrong, allowed }))
}

/**
 * A string of up to `maxUnits` UTF-16 units. Every string of an input starts from it, because other checks may take time that
 * grows with the square of the length.
 */
export function boundedString(maxUnits: number, tooLong: Problem) {
  return z.string(tooLong.allowed).check(check(({ length }) => (length > maxUnits ? tooLong : undefined)))
}

const MAX_PARAMETER_LENGTH = 16 * 1024

/** A header or a query parameter. All headers together have up to 16 KiB, and so has a URL on Cloudflare. */
export function parameter() {
  const allowed = `up to ${MAX_PARAMETER_LENGTH} characters`
  return boundedString(MAX_PARAMETER_LENGTH, { wrong: 'is too long', allowed })
}

const DIGITS = /^\d+$/

/** A whole number in the query. */
export function wholeNumber(min: number, max = Number.POSITIVE_INFINITY) {
  const allowed = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  return parameter()
    .check(
      rule((digits) => DIGITS.test(digits), 'is not a whole number', allowed),
      rule((digits) => Number(digits) >= min, 'is too small', allowed),
      rule((digits) => Number(digits) <= max, 'is too large', allowed),
    )
    .register(docs, { pattern: DIGITS.source })
}

const lengthOfText = (min: number, max: number) => `${min} to ${max} characters`

/** Text of up to `max` code points before NFC, which makes one code point of up to four units, such as U+1F82. */
function boundedText(min: number, max: number) {
  const sent = `more than ${max} characters`
  return boundedString(4 * max, { wrong: 'is too long', sent, allowed: lengthOfText(min, max) })
}

/** Text of `min` to `max` code points, without NUL and without lone surrogates. */
export function text(min: number, max: number, documentation: Documentation = {}) {
  return boundedText(min, max)
    .check(check(problemOfCharacters), check(problemOfLength(min, max)))
    .register(docs, { minLength: min, maxLength: max, ...documentation })
}

function problemOfCharacters(value: string): Problem | undefined {
  if (!value.isWellFormed()) return { wrong: 'has a lone surrogate', allowed: 'well-formed Unicode' }
  if (value.includes('\0')) return { wrong: 'has a NUL character', allowed: 'text without NUL characters' }
  return undefined
}

function problemOfLength(min: number, max: number) {
  return (value: string): Problem | undefined => {
    // A code point has one or two UTF-16 units, so most texts need not be split.
    const length = value.length <= max && value.length >= 2 * min ? value.length : [...value].length
    if (length >= min && length <= max) return undefined
    const wrong = length < min ? 'is too short' : 'is too long'
    return { wrong, sent: `${length} characters`, allowed: lengthOfText(min, max) }
  }
}

/** Text of up to `maxBytes` bytes in UTF-8, without NUL and without lone surrogates. */
export function content(maxBytes: number, documentation: Documentation) {
  const allowed = `text of up to ${describeSize(maxBytes)}`
  const sent = `more than ${describeSize(maxBytes)}`
  return boundedString(2 * maxBytes, { wrong: 'is too large', sent, allowed })
    .check(
      check(problemOfCharacters),
      check((value) => {
        const bytes = Buffer.byteLength(value)
        return bytes > maxBytes ? { wrong: 'is too large', sent: `${bytes} bytes`, allowed } : undefined
      }),
    )
    .register(docs, { maxLength: maxBytes, ...documentation })
}

/** A UUID of any version, in either case; stored and returned in lower case. */
export function uuid(description?: string) {
  const allowed = `a UUID such as "${EXAMPLE_UUID}"`
  return boundedString(EXAMPLE_UUID.length, { wrong: 'has the wrong format', allowed })
    .check(z.guid(allowed), z.toLowerCase())
    .register(docs, { example: EXAMPLE_UUID, ...(description && { description }) })
}

/** True for a UUID of any version. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** An id of the host platform: any text. A UUID is stored in lower case. */
export function externalId(documentation: Documentation) {
  return text(1, 255)
    .check(
      rule((value) => value !== '.' && value !== '..', 'is not an id', 'ids other than "." and ".."'),
      z.overwrite((value) => (isUuid(value) ? value.toLowerCase() : value)),
    )
    .register(docs, { minLength: 1, maxLength: 255, ...documentation })
}

/** An instant: ISO 8601 in UTC, with milliseconds. */
export function instant() {
  const allowed = `an instant such as "${EXAMPLE_INSTANT}"`
  return boundedString(EXAMPLE_INSTANT.length, { wrong: 'has the wrong format', allowed })
    .check(z.iso.datetime({ precision: 3, abort: true, error: allowed }))
    .register(docs, { example: EXAMPLE_INSTANT })
}

/** A path below a folder, in its only form: `a/b.md`, in Unicode's normal form NFC. */
export function relativePath(max: number, documentation: Documentation = {}) {
  return boundedText(1, max)
    .check(
      z.normalize('NFC'),
      check(problemOfCharacters),
      check(problemOfLength(1, max)),
      rule(
        isRelativePath,
        'is not a relative path',
        'a path such as "src/app.ts", without backslashes, control characters, and empty, "." or ".." segments',
      ),
    )
    .register(docs, { minLength: 1, maxLength: max, ...documentation })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const NOT_IN_PATHS = /[\\\u0000-\u001f\u007f-\u009f]/

/** The drive of a path on Windows. */
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

/** The header `Idempotency-Key`. @param result what repeated requests return. */
export function idempotencyKey(result: string) {
  return z.optional(
    text(1, 255, {
      description: `Makes the request safe to repeat: requests with the same key and an equal body return ${result}.`,
      example: 'nightly-build-1',
    }),
  )
}

const DAY_SECONDS = 86_400
const MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS

/** How long a rotated key or secret stays valid. The default is a day. */
export function overlapSeconds(description: string) {
  const allowed = `whole seconds from 0 to ${MAX_OVERLAP_SECONDS} (30 days)`
  return z
    ._default(
      z.int(allowed).check(z.minimum(0, allowed), z.maximum(MAX_OVERLAP_SECONDS, allowed)),
      DAY_SECONDS,
    )
    .register(docs, { description })
}

/** A change: an object with at least one of the properties. */
export function someOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const hasProperty = (change: object) => Object.keys(change).length > 0
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape).check(rule(hasProperty, 'has no properties', `at least one of ${names}`))
}
