/** The kinds of values in requests and responses. Lengths count code points, as in JSON Schema. */
import * as z from 'zod/mini'
import type { Problem } from '../errors.ts'
import { isAny, isCondition } from './conditional.ts'
import { describeSize } from './problems.ts'

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i
const EXAMPLE_INSTANT = '2026-03-29T01:00:00.000Z'
const EXAMPLE_UUID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

/** The registry from which the OpenAPI document describes a schema. */
export const docs = z.globalRegistry

interface Documentation<Value = string> {
  readonly description?: string
  readonly example?: Value
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
 * A string of up to `maxUnits` UTF-16 units. Every string of an input starts from it, because other checks may take
 * time that grows with the square of the length.
 */
export function boundedString(maxUnits: number, tooLong: Problem, ...checks: readonly StringCheck[]) {
  return z.string(tooLong.allowed).check(
    check(({ length }) => (length > maxUnits ? tooLong : undefined)),
    ...checks,
  )
}

/** Each call of zod's `.check` copies the schema, so the functions of this file pass on all checks to one call. */
type StringCheck = Parameters<ReturnType<typeof z.string>['check']>[number]

const MAX_PARAMETER_LENGTH = 16 * 1024

/** A header or a query parameter. All headers together have up to 16 KiB, and so has a URL on Cloudflare. */
export function parameter(...checks: readonly StringCheck[]) {
  const allowed = `up to ${MAX_PARAMETER_LENGTH} characters`
  return boundedString(MAX_PARAMETER_LENGTH, { wrong: 'is too long', allowed }, ...checks)
}

const DIGITS = /^\d+$/

/** A whole number in the path or the query, which the OpenAPI document describes as text. */
export function digits(min: number, max = Number.POSITIVE_INFINITY) {
  const allowed = max === Number.POSITIVE_INFINITY ? `at least ${min}` : `${min} to ${max}`
  return parameter(
    rule((digits: string) => DIGITS.test(digits), 'is not a whole number', allowed),
    rule((digits: string) => Number(digits) >= min, 'is too small', allowed),
    rule((digits: string) => Number(digits) <= max, 'is too large', allowed),
  ).register(docs, { pattern: DIGITS.source })
}

/** A whole number in the path or the query, which the OpenAPI document describes as a number. */
export function wholeNumber(min: number, max?: number, documentation: Documentation<number> = {}) {
  const maximum = max !== undefined && { maximum: max }
  return digits(min, max).register(docs, { type: 'integer', minimum: min, ...maximum, ...documentation })
}

/** What the OpenAPI document says of a boolean in the query, instead of the texts that it has there. */
const FLAG = { type: 'boolean', enum: undefined }

/** A boolean in the query. */
export function flag() {
  return z.enum(['true', 'false']).register(docs, FLAG)
}

function lengthOfText(min: number, max: number, { example }: Documentation): string {
  const length = `${min} to ${max} characters`
  return example === undefined ? length : `${length}, such as ${JSON.stringify(example)}`
}

/** Text of up to `max` code points before NFC, which makes one code point of up to four units, such as U+1F82. */
function boundedText(max: number, allowed: string, ...checks: readonly StringCheck[]) {
  return boundedString(4 * max, { wrong: 'is too long', sent: `more than ${max} characters`, allowed }, ...checks)
}

/** Text of `min` to `max` code points, without NUL and without lone surrogates. */
export function text(min: number, max: number, documentation: Documentation = {}) {
  const allowed = lengthOfText(min, max, documentation)
  const checks = [check(problemOfCharacters), check(problemOfLength(min, max, allowed))]
  return boundedText(max, allowed, ...checks).register(docs, { minLength: min, maxLength: max, ...documentation })
}

function problemOfCharacters(value: string): Problem | undefined {
  if (!value.isWellFormed()) return { wrong: 'has a lone surrogate', allowed: 'well-formed Unicode' }
  if (value.includes('\0')) return { wrong: 'has a NUL character', allowed: 'text without NUL characters' }
  return undefined
}

function problemOfLength(min: number, max: number, allowed: string) {
  return (value: string): Problem | undefined => {
    // A code point has one or two UTF-16 units, so most texts need not be split.
    const length = value.length <= max && value.length >= 2 * min ? value.length : [...value].length
    if (length >= min && length <= max) return undefined
    const wrong = length < min ? 'is too short' : 'is too long'
    return { wrong, sent: `${length} characters`, allowed }
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

/** A UUID of any version, in either case; stored and returned in lower case. @param reason why nothing else is allowed. */
export function uuid(description?: string, example?: string, reason = '') {
  const allowed = `a UUID such as "${EXAMPLE_UUID}"${reason}`
  const tooLong = { wrong: 'has the wrong format', allowed }
  return boundedString(EXAMPLE_UUID.length, tooLong, z.guid(allowed), z.toLowerCase()).register(docs, {
    ...(description && { description }),
    ...(example && { example }),
  })
}

/** True for a UUID of any version. */
export function isUuid(value: string): boolean {
  return UUID.test(value)
}

/** An ID that your platform chose: any text. A UUID is stored in lower case. */
export function externalId(documentation: Documentation) {
  return text(1, 255, documentation)
    .check(
      rule((value) => value !== '.' && value !== '..', 'is not an id', 'ids other than "." and ".."'),
      z.overwrite((value) => (isUuid(value) ? value.toLowerCase() : value)),
    )
    .register(docs, { minLength: 1, maxLength: 255, ...documentation })
}

const MAX_PROJECTS = 100
/** Every successor and every session of a key has a copy of its projects. */
const MAX_PROJECT_BYTES = 8192
const isShort = (ids: readonly string[]) => new TextEncoder().encode(ids.join('')).length <= MAX_PROJECT_BYTES

/** The projects that a key or a role is restricted to; null: all projects. */
export function projectIdList() {
  return z.nullable(
    z
      .array(externalId({}), `an array of up to ${MAX_PROJECTS} projects`)
      .check(
        z.maxLength(MAX_PROJECTS),
        rule(isUnique, 'has a project several times', 'each project once'),
        rule(isShort, 'has IDs of more than 8 KiB together', 'up to 8 KiB in UTF-8'),
      ),
  )
}

/** True if no text is there twice. */
export const isUnique = (values: readonly string[]) => new Set(values).size === values.length

/** An instant of a response: RFC 3339 in UTC, with milliseconds. */
export function instant(description?: string) {
  const allowed = `an instant such as "${EXAMPLE_INSTANT}"`
  const tooLong = { wrong: 'has the wrong format', allowed }
  const format = z.iso.datetime({ precision: 3, abort: true, error: allowed })
  return boundedString(EXAMPLE_INSTANT.length, tooLong, format).register(docs, description ? { description } : {})
}

const MAX_TIME_LENGTH = 255
/** A space is the `+` of an offset that a query was sent with as it is. */
const TIME = /^(\d{4}-\d\d-\d\d)T(?:[01]\d|2[0-3]):[0-5]\d:([0-5]\d|60)(?:\.\d+)?(Z|[ +-](?:[01]\d|2[0-3]):[0-5]\d)?$/i
const EXAMPLE_TIMES = '"2026-03-29T01:00:00Z" or "2026-03-29T03:00:00+02:00"'

/**
 * An instant of a request: any form of RFC 3339, which becomes the form of `instant`, without what is below a
 * millisecond.
 */
export function time() {
  const allowed = `an RFC 3339 time such as ${EXAMPLE_TIMES}`
  const tooLong = { wrong: 'is too long', sent: `more than ${MAX_TIME_LENGTH} characters`, allowed }
  return boundedString(MAX_TIME_LENGTH, tooLong, check(problemOfTime(allowed)), z.overwrite(instantOf)).register(docs, {
    format: 'date-time',
  })
}

function problemOfTime(allowed: string) {
  return (text: string): Problem | undefined => {
    const match = TIME.exec(text)
    if (!match) return { wrong: 'is not an RFC 3339 time', allowed }
    const [, date = '', second, offset] = match
    if (offset === undefined) return { wrong: 'has no UTC offset', allowed }
    if (offset.startsWith(' ')) {
      const advice = 'In a query, a "+" means a space; write it as "%2B".'
      return { wrong: 'has a space before its UTC offset', allowed, advice }
    }
    if (second === '60') return { wrong: 'is a leap second', allowed: 'seconds from 00 to 59' }
    // JavaScript reads 30 February as 2 March.
    if (!new Date(`${date}T00:00:00Z`).toJSON()?.startsWith(date))
      return {
        wrong: 'has a date that does not exist',
        allowed: 'months 01 to 12, and days that the month has',
      }
    return /^\d{4}-/.test(instantOf(text))
      ? undefined
      : { wrong: 'is out of range', allowed: 'years 0000 to 9999 in UTC' }
  }
}

function instantOf(time: string): string {
  return new Date(time.toUpperCase()).toISOString()
}

/** A path below a folder, in its only form: `a/b.md`, in Unicode's normal form NFC. */
export function relativePath(max: number, documentation: Documentation = {}) {
  const allowed = lengthOfText(1, max, documentation)
  return boundedText(
    max,
    allowed,
    z.normalize('NFC'),
    check(problemOfCharacters),
    check(problemOfLength(1, max, allowed)),
    rule(
      isRelativePath,
      'is not a relative path',
      'a path such as "src/app.ts", without backslashes and control characters, and without empty, "." or ".." segments',
    ),
  ).register(docs, { minLength: 1, maxLength: max, ...documentation })
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it finds
const NOT_IN_PATHS = /[\\\u0000-\u001f\u007f-\u009f]/

/** The drive of a path on Windows. */
const DRIVE = /^[A-Za-z]:/

function isRelativePath(path: string): boolean {
  const segments = path.split('/')
  return !NOT_IN_PATHS.test(path) && !DRIVE.test(path) && !segments.some((segment) => ['', '.', '..'].includes(segment))
}

/** The header `If-None-Match`. */
export function ifNoneMatch() {
  return z.optional(parameter()).register(docs, {
    description: 'ETags of the copies you hold. If one matches, the response is 304.',
  })
}

/** The header `If-Match` of a request that changes or deletes a resource. */
export function ifMatch() {
  return z
    .optional(
      parameter(rule(isCondition, 'is not a list of ETags', 'ETags in double quotes, separated by commas, or "*"')),
    )
    .register(docs, {
      description:
        'The ETag of the copy that you edited. If the resource has another one by now, the response is 412 and nothing changes. ' +
        '`*`: the resource has to exist.',
    })
}

/** The header `If-None-Match` of a PUT. */
export function onlyToCreate() {
  return z.optional(parameter(rule(isAny, 'is not "*"', '"*", so that the request only creates'))).register(docs, {
    description: '`*`: only create. If the resource exists already, the response is 412 and nothing changes.',
  })
}

/** The response header of what can be edited. */
export const ENTITY_TAG = {
  ETag: 'The entity tag of the resource, for `If-Match`. It changes with every edit by a request.',
}

/** The header `Idempotency-Key`. */
export function idempotencyKey(note = '') {
  return z.optional(
    text(1, 255, {
      description:
        'Makes the request safe to repeat: a request with the same key and an equal body changes nothing and returns ' +
        `what the first one created, as it is now. With another body, it gets 409.${note}`,
      example: 'nightly-build-1',
    }),
  )
}

/** A whole number of a body. @param unit of the numbers: "whole seconds". @param note on the largest: "(7 days)". */
export function integer(min: number, max: number, unit = 'whole numbers', note = '') {
  const allowed = `${unit} from ${min} to ${max}${note && ` ${note}`}`
  return z.int(allowed).check(z.minimum(min, allowed), z.maximum(max, allowed))
}

const DAY_SECONDS = 86_400
const MAX_OVERLAP_SECONDS = 30 * DAY_SECONDS

/** How long a rotated key or secret stays valid. The default is a day. */
export function overlapSeconds(description: string) {
  return z
    ._default(integer(0, MAX_OVERLAP_SECONDS, 'whole seconds', '(30 days)'), DAY_SECONDS)
    .register(docs, { description })
}

/** A change: an object with at least one of the properties. */
export function someOf<Shape extends z.core.$ZodLooseShape>(shape: Shape) {
  const hasProperty = (change: object) => Object.keys(change).length > 0
  const names = Object.keys(shape).join(', ')
  return z.strictObject(shape).check(rule(hasProperty, 'has no properties', `at least one of ${names}`))
}
