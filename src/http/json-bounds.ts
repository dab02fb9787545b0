/** Limits of JSON that are checked before parsing: 15 MiB of `[],[],…` would need more memory than a Worker has. */
import type { Problem } from '../errors.ts'

const MAX_DEPTH = 64
const MAX_VALUES = 100_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** The depth of nested arrays and objects, and the number of values. An empty array or object counts as two values. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

/**
 * Measures JSON in one pass over its bytes: in UTF-8, a byte below 128 is always a character of its own. The result has
 * no meaning for text that is not JSON.
 */
export function measureJson(bytes: Uint8Array): JsonSize {
  let open = 0
  let depth = 0
  // Each value except the first comes after a comma or an opening bracket.
  let values = 1
  let isInString = false
  for (let index = 0; index < bytes.length; index++) {
    const byte = bytes[index]
    if (isInString) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) isInString = false
    } else if (byte === QUOTE) {
      isInString = true
    } else if (byte === COMMA) {
      values++
    } else if (byte === OPENING_BRACKET || byte === OPENING_BRACE) {
      values++
      open++
      if (open > depth) depth = open
    } else if (byte === CLOSING_BRACKET || byte === CLOSING_BRACE) {
      open--
    }
  }
  return { depth, values }
}

export function problemOfJson(bytes: Uint8Array): Problem | undefined {
  const { depth, values } = measureJson(bytes)
  if (depth > MAX_DEPTH)
    return { wrong: 'is nested too deeply', sent: `${depth} levels`, allowed: `up to ${MAX_DEPTH} levels` }
  if (values > MAX_VALUES)
    return { wrong: 'has too many values', sent: `${values} values`, allowed: `up to ${MAX_VALUES} values` }
  return undefined
}
