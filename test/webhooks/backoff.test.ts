import { describe, expect, it } from 'vitest'
import { pauseAfter, retryAfterMs } from '../../src/webhooks/backoff.ts'

const HOUR_MS = 3_600_000

describe('the pause after failed attempts', () => {
  const seconds = (attempts: number, random: number) => Math.round(Number(pauseAfter(attempts, random)) / 1000)

  it('is longer after each attempt, with up to a fifth more at random', () => {
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 0))).toEqual([60, 300, 900, 3600, 10_800])
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 0.5))).toEqual([66, 330, 990, 3960, 11_880])
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 1))).toEqual([72, 360, 1080, 4320, 12_960])
  })

  it.each([6, 7, 100])('is none after attempt %i', (attempts) => {
    expect(pauseAfter(attempts, 0.5)).toBeUndefined()
  })
})

describe('Retry-After', () => {
  const now = Date.parse('2026-03-27T14:30:00.000Z')

  it.each<[string | null | undefined, number | undefined]>([
    ['0', 0],
    ['30', 30_000],
    ['000120', 120_000],
    ['21600', 6 * HOUR_MS],
    ['21601', 6 * HOUR_MS],
    ['999999999', 6 * HOUR_MS],
    ['Fri, 27 Mar 2026 14:31:00 GMT', 60_000],
    ['Fri, 27 Mar 2026 14:29:00 GMT', 0],
    ['Wed, 01 Jan 2098 00:00:00 GMT', 6 * HOUR_MS],
    ['', undefined],
    ['soon', undefined],
    ['NaN', undefined],
    ['Infinity', undefined],
    [null, undefined],
    [undefined, undefined],
  ])('%j is %j milliseconds', (header, ms) => {
    expect(retryAfterMs(header, now)).toBe(ms)
  })

  it.each(['-30', '1e3', '0x10', '+5', ' 5', '1.5', '9999999999'])(
    '%j is never a pause beyond its bounds',
    (header) => {
      const ms = retryAfterMs(header, now)
      if (ms !== undefined) expect(ms >= 0 && ms <= 6 * HOUR_MS).toBe(true)
    },
  )
})
