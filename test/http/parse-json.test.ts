import { describe, expect, it } from 'vitest'
import { parseJson } from '../../src/http/parse-json.ts'

/** What is said of text that is not JSON. */
const wrongWith = (text: string) => parseJson(text).problem?.wrong

const BODIES = [
  '{"cron":"0 6 * * *","files":[1,2.5e3,{"a":null}],"enabled":true}',
  '{\n  "a": [\n    {},\n    "\\n\\u00e9"\n  ]\n}',
  '[[],[{}],-1.5,"é🙂",false]',
]
const CHARACTERS = [...'{}[]",:\\\n 01-.eEt/a\u0001']

/** Each body with each character in place of, and before, each of its own, and each body cut short. */
function* mistakes(): Generator<string> {
  for (const body of BODIES) {
    for (let at = 0; at <= body.length; at++) {
      yield body.slice(0, at)
      for (const character of CHARACTERS) {
        yield body.slice(0, at) + character + body.slice(at)
        yield body.slice(0, at) + character + body.slice(at + 1)
      }
    }
  }
}

/** V8's own position, where its message has one and it is not within a word, a number or an escape. */
function positionInV8(text: string): string | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (error) {
    const { message } = error as Error
    if (/escape|number/i.test(message)) return undefined
    const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? []
    return line && `line ${line}, column ${column}`
  }
}

describe('parseJson', () => {
  it('accepts what JSON.parse accepts, with the same value, and nothing else', () => {
    for (const text of mistakes()) {
      const { value, problem } = parseJson(text)
      const parse = () => JSON.parse(text)
      if (problem) expect(parse, text).toThrow()
      else expect(value).toEqual(parse())
    }
  })

  it('finds the same place as V8, counted in code points', () => {
    let compared = 0
    for (const text of mistakes()) {
      const position = text.includes('🙂') ? undefined : positionInV8(text)
      // V8 points into a word such as "tru", and this parser at its beginning.
      if (!position || /[a-z]/i.test(text.slice(-1))) continue
      const [, line = 0, column = 0] = /line (\d+), column (\d+)/.exec(wrongWith(text) ?? '') ?? []
      const [, lineInV8, columnInV8] = /line (\d+), column (\d+)/.exec(position) ?? []
      expect([text, Number(line)]).toEqual([text, Number(lineInV8)])
      if (Number(column) === Number(columnInV8)) compared++
      else expect(text.split('\n')[Number(line) - 1]?.slice(Number(column) - 1)).toMatch(/^[a-z\d-]/i)
    }
    expect(compared).toBeGreaterThan(1000)
    expect(wrongWith('["🙂🙂" 1]')).toBe('is not valid JSON at line 1, column 7')
  })

  it.each([
    ['a long string', `["${'x'.repeat(4_000_000)}"`, 'line 1, column 4000004, where it ends'],
    ['many escapes', `["${'\\n'.repeat(2_000_000)}"`, 'line 1, column 4000004, where it ends'],
    ['a long number', `[${'1'.repeat(4_000_000)}`, 'line 1, column 4000002, where it ends'],
    ['many lines', `[${'\n'.repeat(4_000_000)}`, 'line 4000001, column 1, where it ends'],
  ])('takes time in proportion to its length: %s', (_name, text, position) => {
    expect(wrongWith(text)).toBe(`is not valid JSON at ${position}`)
  })
})
