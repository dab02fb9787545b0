/** The bounds of JSON, which are checked before it is parsed: parsed, 15 MiB of `[],[],…` would take more memory than a Worker has. */

const DEEPEST_NESTING = 64
const MOST_VALUES = 100_000

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COMMA = 0x2c
const OPENING_BRACKET = 0x5b
const CLOSING_BRACKET = 0x5d
const OPENING_BRACE = 0x7b
const CLOSING_BRACE = 0x7d

/** How deep arrays and objects are nested, and how many values there are; an empty array or object counts as two. */
export interface JsonSize {
  readonly depth: number
  readonly values: number
}

/**
 * One pass over JSON in UTF-8, where a byte below 128 is always a character of its own. Of text that is not JSON the
 * figures mean nothing.
 */
export function measureJson(bytes: Uint8Array): JsonSize {
  let open = 0
  let depth = 0
  // Each value but the first comes after a comma or at the beginning of an array or object.
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

/** Says which bound the JSON exceeds, if it exceeds one. */
export function problemOfJson(bytes: Uint8Array): string | undefined {
  const { depth, values } = measureJson(bytes)
  if (depth > DEEPEST_NESTING) return `expected at most ${DEEPEST_NESTING} levels of nesting, got ${depth}`
  if (values > MOST_VALUES) return `expected at most ${MOST_VALUES} values, got more`
  return undefined
}
