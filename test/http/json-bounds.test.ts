import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { measureJson, problemOfJson } from '../../src/http/json-bounds.ts'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const sizeOf = (text: string) => measureJson(bytesOf(text))

/** The size by the parsed value, without what `measureJson` counts twice. */
function countedIn(value: unknown): { depth: number; values: number; empty: number } {
  if (typeof value !== 'object' || value === null) return { depth: 0, values: 1, empty: 0 }
  const inner = Object.values(value).map(countedIn)
  return {
    depth: 1 + Math.max(0, ...inner.map(({ depth }) => depth)),
    values: inner.reduce((sum, { values }) => sum + values, 1),
    empty: inner.reduce((sum, { empty }) => sum + empty, inner.length === 0 ? 1 : 0),
  }
}

/** Text that a scan could take for structure, or a byte of it for a character. */
const trickyText = fc.string({
  unit: fc.constantFrom('"', '\\', '[', ']', '{', '}', ',', ':', 'a', '\n', 'é', '\u{1f642}', '\ud83d', '\u2028'),
  maxLength: 12,
})

const value = fc.letrec<{ any: unknown }>((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, 0, -1.5e300, '', '\\', '"'),
    trickyText,
    fc.array(tie('any'), { maxLength: 6 }),
    fc.dictionary(trickyText, tie('any'), { maxKeys: 6 }),
  ),
})).any

describe('the measure of JSON', () => {
  it('is that of the parsed value, where an empty array or object counts as two', () => {
    fc.assert(
      fc.property(value, fc.constantFrom(undefined, 1, '\t', '\r\n '), (sent, space) => {
        const text = JSON.stringify(sent, null, space)
        const { depth, values, empty } = countedIn(JSON.parse(text))
        expect(sizeOf(text)).toEqual({ depth, values: values + empty })
      }),
      { numRuns: 2_000 },
    )
  })

  it.each([
    ['12', 0, 1],
    ['[]', 1, 2],
    ['[1]', 1, 2],
    ['[1,2]', 1, 3],
    ['{"a":1,"b":[]}', 2, 4],
    ['{"a":1,"a":2,"a":3}', 1, 4],
    ['"[[[,,,"', 0, 1],
    [String.raw`"\"[\\"`, 0, 1],
    [String.raw`["\\\"",[],"\\"]`, 2, 5],
    ['\ufeff[[1]]', 2, 3],
    ['{"\u65e5\u672c":"\u{1f642}[","[":{}}', 2, 4],
  ])('%s has a depth of %i and %i values', (text, depth, values) => {
    expect(sizeOf(text)).toEqual({ depth, values })
  })

  it.each(['"', '\\', '"\\', ']]]]', '[[[', '{"a', ''])('of %j, which is not JSON, does no harm', (text) => {
    expect(problemOfJson(bytesOf(text))).toBeUndefined()
  })
})

describe('the bounds of JSON', () => {
  const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth)
  const TOO_DEEP = { wrong: 'is nested too deeply', sent: '65 levels', allowed: 'up to 64 levels' }
  const tooMany = (values: number) => ({
    wrong: 'has too many values',
    sent: `${values} values`,
    allowed: 'up to 100000 values',
  })
  const many = (values: number) => `[${Array(values - 1).fill(0)}]`

  it.each([
    [nested(64), undefined],
    [nested(65), TOO_DEEP],
    ['{"a":'.repeat(65), TOO_DEEP],
    [many(100_000), undefined],
    [many(100_001), tooMany(100_001)],
    [`[${Array(60_000).fill('[]')}]`, tooMany(120_001)],
    [JSON.stringify('[,'.repeat(200_000)), undefined],
  ])('are kept to, %#', (text, problem) => {
    expect(problemOfJson(bytesOf(text))).toEqual(problem)
  })
})
