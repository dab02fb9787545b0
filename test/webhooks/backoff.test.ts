import { afterEach, describe, expect, it, vi } from 'vitest'
import { pauseAfter, retryAfterMs } from '../../src/webhooks/backoff.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

describe('pauseAfter', () => {
  it.each([
    [0, [60, 300, 900, 3600, 10_800, 21_600]],
    [0.5, [66, 330, 990, 3960, 11_880, 23_760]],
    [1, [72, 360, 1080, 4320, 12_960, 25_920]],
  ])('pauses longer after each attempt, with up to a fifth more at random: %d', (random, seconds) => {
    vi.spyOn(Math, 'random').mockReturnValue(random)
    expect([1, 2, 3, 4, 5, 6].map((attempts) => pauseAfter(attempts, 21_600_000) / 1000)).toEqual(seconds)
  })

  it.each([6, 7, 100])('is none after attempt %i', (attempts) => {
    expect(pauseAfter(attempts)).toBeUndefined()
  })
})

describe('retryAfterMs', () => {
  const now = Date.parse('2026-03-27T14:30:00.000Z')

  it.each([
    ['0', 0],
    ['90', 90_000],
    ['Fri, 27 Mar 2026 14:31:00 GMT', 60_000],
    ['Fri, 27 Mar 2026 14:29:00 GMT', 0],
    ['999999999', 21_600_000],
    ['', undefined],
    ['soon', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('of %j is %j', (header, expected) => {
    expect(retryAfterMs(header, now)).toBe(expected)
  })
})
