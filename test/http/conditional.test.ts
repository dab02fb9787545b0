import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCondition, matchesEntityTag, parseConditions } from '../../src/http/conditional.ts'

/** RFC 9110, section 8.8.3: what may stand between the quotes. */
const etagc = fc
  .oneof(fc.constantFrom(0x21), fc.integer({ min: 0x23, max: 0x7e }), fc.integer({ min: 0x80, max: 0xff }))
  .map((code) => String.fromCharCode(code))
const opaqueTag = fc.string({ unit: etagc, maxLength: 8 }).map((text) => `"${text}"`)
const weakness = fc.constantFrom('', 'W/')
const separator = fc.constantFrom(',', ', ', ' , ', ',\t', ', ,', ',,')

/** A list as it may stand in the header, of opaque tags that are weak or not. */
const listOf = (tags: readonly string[]) =>
  fc
    .tuple(fc.array(weakness, { minLength: 9, maxLength: 9 }), fc.array(separator, { minLength: 9, maxLength: 9 }))
    .map(([weak, between]) =>
      tags.map((tag, index) => (index > 0 ? between[index] : '') + (weak[index] ?? '') + tag).join(''),
    )

describe('matchesEntityTag', () => {
  it('does not match without the header', () => {
    expect(matchesEntityTag(undefined, '"a"')).toBe(false)
    expect(matchesEntityTag('', '"a"')).toBe(false)
  })

  it('matches anything by an asterisk alone', () => {
    for (const header of ['*', ' * ', '\t*']) expect(matchesEntityTag(header, '"a"')).toBe(true)
  })

  it.each([
    ['"a"', '"a"'],
    ['W/"a"', '"a"'],
    ['"b", "a"', '"a"'],
    ['"a", "b"', '"a"'],
    ['"b",W/"a","c"', '"a"'],
    [', ,"a",', '"a"'],
    ['"a,b"', '"a,b"'],
    ['"x", "a, b"'.replace(' b', 'b'), '"a,b"'],
    ['""', '""'],
    ['"*"', '"*"'],
    ['"W/"', '"W/"'],
    ['"back\\slash"', '"back\\slash"'],
    ['"\u00e9"', '"\u00e9"'],
  ])('finds in %s the tag %s', (header, tag) => {
    expect(matchesEntityTag(header, tag)).toBe(true)
  })

  it.each([
    ['"A"', '"a"'],
    ['"ab"', '"a"'],
    ['"ba"', '"a"'],
    ['"a', '"a"'],
    ['a', '"a"'],
    ['a"', '"a"'],
    ["'a'", '"a"'],
    ['"a,b"', '"a"'],
    ['"a,b"', '"b"'],
    ['"b", "c"', '", "'],
    ['"b","c"', '","'],
    ['""', '"a"'],
    ['"a"', '""'],
    ['"*"', '"a"'],
  ])('does not find in %s the tag %s', (header, tag) => {
    expect(matchesEntityTag(header, tag)).toBe(false)
  })

  it('finds a tag exactly if the list has it, weak or not', () => {
    const cases = fc
      .tuple(fc.array(opaqueTag, { minLength: 1, maxLength: 9 }), opaqueTag)
      .chain(([tags, other]) => fc.record({ tags: fc.constant(tags), other: fc.constant(other), header: listOf(tags) }))
    fc.assert(
      fc.property(cases, ({ tags, other, header }) => {
        for (const tag of tags) expect(matchesEntityTag(header, tag)).toBe(true)
        expect(matchesEntityTag(header, other)).toBe(tags.includes(other))
      }),
      { numRuns: 2000 },
    )
  })

  it('takes its time in proportion to the header', () => {
    for (const header of ['"'.repeat(100_000), 'W/'.repeat(50_000), `"${'x'.repeat(100_000)}`]) {
      expect(matchesEntityTag(header, '"a"')).toBe(false)
    }
  })
})

describe('parseConditions', () => {
  it.each([
    [undefined, null],
    ['*', '*'],
    [' *\t', '*'],
    ['"a"', '"a"'],
    [', "a" ,,"b",', '"a","b"'],
    ['W/"a"', '"a"'],
    ['"W/", W/"a", "b"', '"W/","a","b"'],
    ['"*"', '"*"'],
  ])('has for If-Match %s the tags %s', (header, expected) => {
    expect(parseConditions({ 'If-Match': header })).toEqual({ ifMatch: expected, ifNoneMatch: null })
  })

  it('has the tags of any list, in order', () => {
    const tagged = fc.array(fc.tuple(weakness, opaqueTag), { minLength: 1, maxLength: 9 })
    fc.assert(
      fc.property(tagged, separator, (tags, between) => {
        const header = tags.map((tag) => tag.join('')).join(between)
        expect(isCondition(header)).toBe(true)
        expect(parseConditions({ 'If-Match': header }).ifMatch).toBe(tags.map(([, tag]) => tag).join())
      }),
    )
  })
})
