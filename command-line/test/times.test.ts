/** How people read times. */
import { describe, expect, it } from 'vitest'
import { localAndRelativeTime, relativeTime } from '../src/times.ts'

const NOW = Date.parse('2026-03-27T14:30:00.000Z')
const at = (seconds: number) => new Date(NOW + seconds * 1000)
const [MINUTE, HOUR, DAY] = [60, 3600, 86_400]

describe('a relative time', () => {
  it.each([
    [0, '0 s ago'],
    [1, 'in 1 s'],
    [-59.9, '59 s ago'],
    [MINUTE, 'in 1 min'],
    [-HOUR + 1, '59 min ago'],
    [3 * HOUR, 'in 3 h'],
    [-47 * HOUR, '47 h ago'],
    [-2 * DAY, '2 days ago'],
    [14 * DAY - 1, 'in 13 days'],
  ])('of %d seconds is %s', (seconds, text) => expect(relativeTime(at(seconds), NOW)).toBe(text))

  it('is a date if it is two weeks away', () => {
    expect(relativeTime(at(14 * DAY), NOW)).toMatch(/^2026-04-1\d$/)
    expect(localAndRelativeTime(at(14 * DAY), NOW)).toMatch(/^2026-04-1\d \d\d:\d\d:\d\d$/)
    expect(localAndRelativeTime(at(-HOUR), NOW)).toMatch(/^2026-03-2\d \d\d:\d\d:00, 1 h ago$/)
  })
})
