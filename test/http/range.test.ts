import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { ApiError } from '../../src/errors.ts'
import { contentRange, parseRange } from '../../src/http/range.ts'

const TAG = '"a"'

/** What a content of ten bytes has of the range. */
const ofTen = (range: string) => parseRange(range, undefined, TAG, 10)

describe('parseRange', () => {
  it.each([
    ['bytes=0-0', 0, 1],
    ['bytes=0-9', 0, 10],
    ['bytes=3-5', 3, 3],
    ['bytes=9-9', 9, 1],
    ['bytes=0-', 0, 10],
    ['bytes=9-', 9, 1],
    ['bytes=-1', 9, 1],
    ['bytes=-10', 0, 10],
    ['bytes=003-005', 3, 3],
  ])('finds %s', (range, offset, length) => {
    expect(ofTen(range)).toEqual({ offset, length })
  })

  it.each([
    ['bytes=5-10', 5, 5],
    ['bytes=0-99999999999999999999999999', 0, 10],
    ['bytes=-11', 0, 10],
    ['bytes=-99999999999999999999999999', 0, 10],
  ])('finds of %s what there is', (range, offset, length) => {
    expect(ofTen(range)).toEqual({ offset, length })
  })

  it.each([
    ['bytes=10-', 10],
    ['bytes=10-20', 10],
    ['bytes=99999999999999999999999999-', 10],
    ['bytes=-0', 10],
    ['bytes=0-', 0],
    ['bytes=0-0', 0],
  ])('refuses %s of a content of %s bytes', (range, sizeBytes) => {
    const refused = () => parseRange(range, undefined, TAG, sizeBytes)
    expect(refused).toThrow(ApiError)
    expect(refused).toThrow(
      expect.objectContaining({ status: 416, headers: { 'Content-Range': `bytes */${sizeBytes}` } }),
    )
  })

  it.each([
    '',
    'bytes',
    'bytes=',
    'bytes=-',
    'bytes=3',
    'bytes=a-b',
    'bytes=--1',
    'bytes=1-2-3',
    'bytes=+1-2',
    'bytes=1.0-2',
    'bytes=0x1-2',
    'bytes=1e0-2',
    'bytes 0-1/10',
    'bytes:0-1',
    'items=0-1',
    'items=99-',
    'bytes=0-1,3-4',
    'bytes=0-1,99-',
  ])('ignores "%s"', (range) => {
    expect(ofTen(range)).toBeUndefined()
  })

  it('asks for the whole without a range', () => {
    expect(parseRange(undefined, undefined, TAG, 10)).toBeUndefined()
    expect(parseRange(undefined, TAG, TAG, 10)).toBeUndefined()
  })

  it('heeds a range if If-Range is the entity tag, by the strong comparison, and else ignores it', () => {
    expect(parseRange('bytes=0-1', TAG, TAG, 10)).toEqual({ offset: 0, length: 2 })
    expect(() => parseRange('bytes=99-', TAG, TAG, 10)).toThrow(ApiError)
    for (const ifRange of ['"b"', 'W/"a"', 'a', '', '*', '"a", "b"', 'Sat, 01 Jan 2999 00:00:00 GMT']) {
      for (const range of ['bytes=0-1', 'bytes=99-']) {
        expect(parseRange(range, ifRange, TAG, 10)).toBeUndefined()
      }
    }
  })

  it('finds the bytes between two places, as far as they are there', () => {
    const place = fc.nat(40)
    fc.assert(
      fc.property(place, place, fc.integer({ min: 1, max: 30 }), (one, other, sizeBytes) => {
        const [first, last] = [Math.min(one, other), Math.max(one, other)]
        fc.pre(first < sizeBytes)
        const range = parseRange(`bytes=${first}-${last}`, undefined, TAG, sizeBytes)
        const end = Math.min(last, sizeBytes - 1)
        expect(range).toEqual({ offset: first, length: end - first + 1 })
        expect(range && contentRange(range, sizeBytes)).toBe(`bytes ${first}-${end}/${sizeBytes}`)
      }),
      { numRuns: 1000 },
    )
  })
})
