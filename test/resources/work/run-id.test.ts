import { createHash } from 'node:crypto'
import { v4, v7 } from 'uuid'
import { describe, expect, it } from 'vitest'
import { timeOfId } from '../../../src/db/time-ids.ts'
import { computeRunId } from '../../../src/resources/work/run-id.ts'

const SCHEDULE = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const INSTANT = '2026-03-27T14:30:00.000Z'

/** The 128 bits of a UUID, from the most significant on. */
const bitsOf = (uuid: string) =>
  [...uuid.replaceAll('-', '')].map((digit) => Number.parseInt(digit, 16).toString(2).padStart(4, '0')).join('')

const minutesFrom = (start: number, count: number) =>
  Array.from({ length: count }, (_, minute) => new Date(start + minute * 60_000).toISOString())

describe('the id of a run', () => {
  it('is the same at all times', () => {
    expect(computeRunId(SCHEDULE, INSTANT)).toBe('019d2fb3-b640-892e-9522-365dae0ed610')
    expect(computeRunId(SCHEDULE, INSTANT)).toBe(computeRunId(SCHEDULE, INSTANT))
  })

  it('has the layout of version 8 (RFC 9562, section 5.8): the instant, the version, the variant, a digest', () => {
    for (let count = 0; count < 1000; count++) {
      const scheduleId = v4()
      const instant = new Date(Math.floor((count / 1000) * Date.UTC(9999, 11, 31))).toISOString()
      const id = computeRunId(scheduleId, instant)
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
      const bits = bitsOf(id)
      expect(Number.parseInt(bits.slice(0, 48), 2)).toBe(Date.parse(instant))
      expect(bits.slice(48, 52)).toBe('1000')
      expect(bits.slice(64, 66)).toBe('10')
      const digest = bitsOf(createHash('sha256').update(`${scheduleId} ${instant}`).digest('hex'))
      expect(bits.slice(52, 64) + bits.slice(66)).toBe(digest.slice(0, 12) + digest.slice(14, 76))
    }
  })

  it.each([
    '1970-01-01T00:00:00.000Z',
    '1970-01-01T00:00:00.001Z',
    '1999-12-31T23:59:59.999Z',
    '9999-12-31T23:59:59.999Z',
  ])('contains the instant %s', (instant) => {
    const id = computeRunId(SCHEDULE, instant)
    expect(id).toHaveLength(36)
    expect(timeOfId(id)).toBe(instant)
    expect(timeOfId(id.toUpperCase())).toBe(instant)
  })

  it('differs for each of 100,000 schedules and instants, and uses every variant digit', () => {
    const ids = new Set<string>()
    const minutes = minutesFrom(Date.parse(INSTANT), 100)
    for (let count = 0; count < 1000; count++) {
      const scheduleId = v7()
      for (const minute of minutes) ids.add(computeRunId(scheduleId, minute))
    }
    expect(ids.size).toBe(100_000)
    const differing = new Set([...ids].map((id) => id.slice(15)))
    expect(differing.size).toBe(100_000)
    expect(new Set([...ids].map((id) => id[19]))).toEqual(new Set('89ab'))
  })

  it('is in order of time across schedules', () => {
    const instants = [...minutesFrom(0, 100), ...minutesFrom(Date.parse(INSTANT), 1000), '9999-12-31T23:59:59.999Z']
    const ids = instants.map((instant) => computeRunId(v4(), instant))
    expect(ids.toSorted()).toEqual(ids)
  })
})

describe('the time of an id', () => {
  it('is a position in time for any UUID', () => {
    expect(timeOfId('00000000-0000-0000-0000-000000000000')).toBe('1970-01-01T00:00:00.000Z')
    expect(timeOfId('ffffffff-ffff-ffff-ffff-ffffffffffff')).toBe('9999-12-31T23:59:59.999Z')
    for (let count = 0; count < 1000; count++)
      expect(timeOfId(v4())).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(timeOfId(v7({ msecs: Date.parse(INSTANT) }))).toBe(INSTANT)
  })
})
