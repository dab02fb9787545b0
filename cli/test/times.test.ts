/** Times of the API. */
import { expect, it } from 'vitest'
import { time, timeText } from '../src/times.ts'

it('what is not a time stays text', () => {
  expect([time(null), time(undefined), time('x')]).toEqual([null, null, 'x'])
  expect([timeText('x', {}), timeText(null, {})]).toEqual(['x', '-'])
  const instant = '2026-03-27T14:30:00.000Z'
  expect(timeText(instant, { utc: true })).toBe(instant)
})
