import { describe, expect, it } from 'vitest'
import { nextAttempt } from '../../../src/resources/schedules/run-transitions.ts'

describe('nextAttempt', () => {
  const now = new Date('2026-03-27T14:30:00.000Z')
  const seconds = (attempts: number, random: number) =>
    (Number(nextAttempt(attempts, now, random)?.getTime()) - now.getTime()) / 1000

  it('pauses longer after each attempt, with up to a fifth more at random', () => {
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 0))).toEqual([60, 300, 900, 3600, 10_800])
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 0.5))).toEqual([66, 330, 990, 3960, 11_880])
    expect([1, 2, 3, 4, 5].map((attempts) => seconds(attempts, 1))).toEqual([72, 360, 1080, 4320, 12_960])
  })

  it.each([6, 7, 100])('is none after attempt %i', (attempts) => {
    expect(nextAttempt(attempts, now, 0.5)).toBeUndefined()
  })
})
