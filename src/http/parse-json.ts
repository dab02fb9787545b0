/**
 * Parses JSON, and says where text stops being JSON: V8's messages repeat parts of the text, and not all have a
 * position.
 */
import type { Problem } from '../errors.ts'

export function parseJson(text: string): { value?: unknown; problem?: Problem } {
  try {
    return { value: JSON.parse(text) }
  } catch {
    return { problem: problemOf(text) }
  }
}

function problemOf(text: string): Problem {
  const { index, ...rest } = findEnd(text)
  let [line, lineStart] = [1, 0]
  for (let at = text.indexOf('\n'); at >= 0 && at < index; at = text.indexOf('\n', lineStart)) {
    line++
    lineStart = at + 1
  }
  let column = 1
  // Counts code points without an array of them: the line may have 15 MiB.
  for (const _ of text.slice(lineStart, index)) column++
  const end = index < text.length ? '' : ', where it ends'
  return { wrong: `is not valid JSON at line ${line}, column ${column}${end}`, ...rest }
}

/** Where text stops being JSON, and what is allowed there. */
interface End extends Pick<Problem, 'allowed' | 'advice'> {
  readonly index: number
}

const SPACE = /[ \t\n\r]*/y
const LITERAL = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has no control characters in strings
const CHARACTERS = /[^"\\\0-\x1f]*/y
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y

const NAME = 'a name in double quotes'
const VALUE = 'an object, an array, a string in double quotes, a number, true, false or null'

/** What was read last. A closing bracket completes a value. */
type Token = '' | '{' | '[' | ',' | ':' | 'name' | 'value'

/** Reads text token by token, as RFC 8259 has them, up to the first that is not allowed. */
function findEnd(text: string): End {
  /** The brackets that close what is open. */
  const closing: string[] = []
  let last = '' as Token
  let index = 0
  for (;;) {
    index = endOf(SPACE, text, index)
    const next = text[index]
    const close = closing.at(-1)
    const isName: boolean = close === '}' && last !== ':' && last !== 'name' && last !== 'value'
    if (next !== undefined && next === close && (last === 'value' || last === '{' || last === '[')) {
      closing.pop()
      last = 'value'
    } else if (last === 'value') {
      if (close === undefined) return { index, allowed: 'nothing after the JSON value' }
      if (next !== ',') return { index, allowed: `"," or "${close}"` }
      last = ','
    } else if (last === 'name') {
      if (next !== ':') return { index, allowed: '":"' }
      last = ':'
    } else if (next === '"') {
      const end = endOfString(text, index)
      if (end.allowed !== undefined) return { ...end, allowed: end.allowed }
      index = end.index
      last = isName ? 'name' : 'value'
      continue
    } else if (!isName && (next === '{' || next === '[')) {
      closing.push(next === '{' ? '}' : ']')
      last = next
    } else {
      const end = isName ? index : endOf(LITERAL, text, index)
      if (end === index) {
        const orClose = last === '{' || last === '[' ? ` or "${close}"` : ''
        const isTrailing = last === ',' && next === close
        const advice = isTrailing ? { advice: `Remove the comma before "${close}".` } : {}
        return { index, allowed: (isName ? NAME : VALUE) + orClose, ...advice }
      }
      index = end
      last = 'value'
      continue
    }
    index++
  }
}

/** The index after the string that begins at `start`; or where it is wrong, and what is allowed there. */
function endOfString(text: string, start: number): { index: number; allowed?: string } {
  for (let index = start + 1; ; ) {
    index = endOf(CHARACTERS, text, index)
    const next = text[index]
    if (next === '"') return { index: index + 1 }
    if (next === undefined) return { index, allowed: 'a double quote that ends the string' }
    const end = endOf(ESCAPE, text, index)
    if (next !== '\\') return { index, allowed: 'control characters as escapes, such as \\n for a line break' }
    if (end === index)
      return {
        index,
        allowed: 'the escapes \\" \\\\ \\/ \\b \\f \\n \\r \\t, and \\u with four hexadecimal digits',
      }
    index = end
  }
}

/** The index after the longest match at `index`; `index` itself if there is none. */
function endOf(pattern: RegExp, text: string, index: number): number {
  pattern.lastIndex = index
  return pattern.test(text) ? pattern.lastIndex : index
}
