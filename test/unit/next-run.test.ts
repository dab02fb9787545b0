import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { nextRun } from '../../src/schedules/next-run.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Each with the years of clock changes that are looked at. */
const ZONES: [zone: string, firstYear: number, lastYear: number][] = [
  ['America/New_York', 2025, 2027],
  ['Europe/London', 2025, 2027],
  ['Australia/Lord_Howe', 2025, 2027],
  ['America/Santiago', 2024, 2026],
  ['Africa/Cairo', 2023, 2026],
  ['Pacific/Apia', 2010, 2013],
  ['Europe/Dublin', 2025, 2027],
  ['Antarctica/Troll', 2024, 2026],
  ['America/Nuuk', 2022, 2026],
]

// The oracle: every minute of a few days around a clock change, with what the wall clock shows.

interface Minute {
  readonly instant: number
  /** What the wall clock shows, as the epoch milliseconds of the same reading in UTC. */
  readonly reading: number
}

function wallClockOf(zone: string): (instant: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    year: 'numeric',
    month: '2-digit',
    day: '2-digit',
    hour: '2-digit',
    minute: '2-digit',
  })
  return (instant) => {
    const numbers = (format.format(instant).match(/\d+/g) ?? []).map(Number)
    const [month, day, year, hour, minute] = numbers as [number, number, number, number, number]
    return Date.UTC(year, month - 1, day, hour, minute)
  }
}

/** The instants at which the zone's clock changes in those years, to the minute. */
function changesOf(zone: string, firstYear: number, lastYear: number): number[] {
  const clock = wallClockOf(zone)
  const offset = (instant: number) => clock(instant) - instant
  const changes: number[] = []
  for (let day = Date.UTC(firstYear); day < Date.UTC(lastYear + 1); day += DAY_MS) {
    let [low, high] = [day, day + DAY_MS]
    if (offset(low) === offset(high)) continue
    while (high - low > MINUTE_MS) {
      const middle = low + Math.floor((high - low) / (2 * MINUTE_MS)) * MINUTE_MS
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    changes.push(high)
  }
  return changes
}

const minutesCache = new Map<string, Minute[]>()

function minutesAround(zone: string, change: number): Minute[] {
  const name = `${zone} ${change}`
  const known = minutesCache.get(name)
  if (known) return known
  const clock = wallClockOf(zone)
  const minutes = Array.from({ length: (6 * DAY_MS) / MINUTE_MS }, (_, index) => {
    const instant = change - 3 * DAY_MS + index * MINUTE_MS
    return { instant, reading: clock(instant) }
  })
  minutesCache.set(name, minutes)
  return minutes
}

const NAMES = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

function valuesOf(field: string, min: number, max: number, names: string[] = []): Set<number> {
  const values = new Set<number>()
  const numberOf = (text: string) =>
    names.includes(text.toLowerCase()) ? names.indexOf(text.toLowerCase()) + min : Number(text)
  for (const item of field.split(',')) {
    const [range, step] = item.split('/') as [string, string?]
    const [from, to] = range === '*' ? [min, max] : range.split('-').map(numberOf)
    const end = to ?? (step ? max : from)
    for (let value = from as number; value <= (end as number); value += Number(step ?? 1)) values.add(value)
  }
  return values
}

function matcherOf(expression: string): (reading: number) => boolean {
  const [minute, hour, day, month, weekday] = expression.split(' ') as [
    string,
    string,
    string,
    string,
    string,
  ]
  const minutes = valuesOf(minute, 0, 59)
  const hours = valuesOf(hour, 0, 23)
  const days = valuesOf(day, 1, 31)
  const months = valuesOf(month, 1, 12, NAMES)
  const weekdays = new Set([...valuesOf(weekday, 0, 6, DAYS)].map((value) => value % 7))
  return (reading) => {
    const date = new Date(reading)
    if (!minutes.has(date.getUTCMinutes()) || !hours.has(date.getUTCHours())) return false
    if (!months.has(date.getUTCMonth() + 1)) return false
    const isDay = days.has(date.getUTCDate())
    const isWeekday = weekdays.has(date.getUTCDay())
    return day !== '*' && weekday !== '*' ? isDay || isWeekday : isDay && isWeekday
  }
}

/** Every instant at which the expression fires, but for the first minute. */
function firingsOf(expression: string, minutes: Minute[]): number[] {
  const matches = matcherOf(expression)
  const isInterval = /[*/]/.test(expression.split(' ', 2).join(''))
  if (isInterval)
    return minutes
      .slice(1)
      .filter(({ reading }) => matches(reading))
      .map(({ instant }) => instant)

  const firings: number[] = []
  let latest = (minutes[0] as Minute).reading
  for (const { instant, reading } of minutes.slice(1)) {
    let fires = false
    // The readings that have not been shown yet, skipped ones included: none while time is repeated.
    for (let fresh = latest + MINUTE_MS; fresh <= reading && !fires; fresh += MINUTE_MS)
      fires = matches(fresh)
    if (fires) firings.push(instant)
    latest = Math.max(latest, reading)
  }
  return firings
}

const minuteField = fc.constantFrom(
  ...['0', '30', '15', '59', '1', '0,30', '5,35,55', '0-10', '0-59', '*', '*', '*/5', '*/7', '*/30'],
  ...['7/20', '10-50/20', '0,*/45', '45/1'],
)
const hourField = fc.constantFrom(
  ...['0', '1', '2', '3', '22', '23', '0,1', '1,2', '2,3', '0-3', '22,23,0', '0-23', '12', '*', '*', '*/2'],
  ...['*/3', '1/2', '0-6/2', '22/1', '23,*/4', '1-3/1'],
)
const dayField = fc.constantFrom('*', '*', '*', '*', '1-31', '*/2', '1-15', '8,28-31', '24/2', '30')
const monthField = fc.constantFrom('*', '*', '*', '3,10', 'mar-may', 'SEP-dec', '*/2', '4-12', '12')
const weekdayField = fc.constantFrom(
  '*',
  '*',
  '*',
  '*',
  '0',
  '7',
  'sun',
  'SAT',
  '5-7',
  '1-5',
  'thu,fri',
  '*/2',
  '0-7',
)
const expressions = fc
  .tuple(minuteField, hourField, dayField, monthField, weekdayField)
  .map((fields) => fields.join(' '))

const CHANGES = ZONES.flatMap(([zone, firstYear, lastYear]) =>
  changesOf(zone, firstYear, lastYear).map((change) => ({ zone, change })),
)

/** Milliseconds from a clock change: mostly within hours of it, often on a whole minute or the change itself. */
const fromChange = fc.oneof(
  fc.integer({ min: -4 * HOUR_MS, max: 4 * HOUR_MS }),
  fc.integer({ min: -4 * 60, max: 4 * 60 }).map((minutes) => minutes * MINUTE_MS),
  fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  fc.constantFrom(-MINUTE_MS, -1000, -1, 0, 1, 1000, MINUTE_MS),
)

/** The first few firings, as `MM-DDTHH:MM` in UTC. */
function firings(expression: string, zone: string, after: string, count: number): string[] {
  const instants: string[] = []
  let last = new Date(after)
  while (instants.length < count) {
    last = nextRun(expression, zone, last)
    instants.push(last.toISOString())
  }
  return instants.map((instant) => instant.replace(':00.000Z', 'Z'))
}

describe('the next run', () => {
  it('knows clock changes in every zone of the oracle', () => {
    const counts = ZONES.map(([zone]) => CHANGES.filter((candidate) => candidate.zone === zone).length)
    expect(Math.min(...counts)).toBeGreaterThanOrEqual(6)
  })

  it('agrees with a walk over every minute in 4,000 cases around clock changes', () => {
    const cases = fc.record({
      around: fc.constantFrom(...CHANGES),
      expression: expressions,
      distance: fromChange,
    })
    fc.assert(
      fc.property(cases, ({ around: { zone, change }, expression, distance }) => {
        const after = change + distance
        const minutes = minutesAround(zone, change)
        const expected = firingsOf(expression, minutes).find((instant) => instant > after)
        const actual = nextRun(expression, zone, new Date(after)).getTime()
        if (expected === undefined) expect(actual).toBeGreaterThan((minutes.at(-1) as Minute).instant)
        else expect(new Date(actual).toISOString()).toBe(new Date(expected).toISOString())
      }),
      { numRuns: 4000, seed: 20260329 },
    )
  })

  it('agrees with every instant of the walk, run after run, across each clock change', () => {
    const patterns = [
      '30 0 * * *',
      '15,45 1 * * *',
      '0,30 2 * * *',
      '30 23 * * *',
      '0-59/1 0-3 * * 0',
      '0 0,1,2,3,22,23 * * *',
      '59 0-23 * * *',
      '*/20 * * * *',
      '10 */2 * * *',
      '*/30 0-3 * * *',
      '5/25 23 * * *',
      '0 * * * sat,sun',
    ]
    for (const { zone, change } of CHANGES) {
      const minutes = minutesAround(zone, change)
      for (const pattern of patterns) {
        const expected = firingsOf(pattern, minutes)
        let last = new Date((minutes[0] as Minute).instant)
        const actual = expected.map(() => {
          last = nextRun(pattern, zone, last)
          return last.getTime()
        })
        expect([zone, pattern, actual]).toEqual([zone, pattern, expected])
      }
    }
  })

  it('is strictly later, to the millisecond', () => {
    const at = '2026-03-10T12:00:00.000Z'
    expect(firings('0 12 * * *', 'UTC', at, 1)).toEqual(['2026-03-11T12:00Z'])
    expect(firings('* * * * *', 'UTC', at, 1)).toEqual(['2026-03-10T12:01Z'])
    expect(firings('0 12 * * *', 'UTC', '2026-03-10T11:59:59.999Z', 1)).toEqual(['2026-03-10T12:00Z'])
    expect(firings('* * * * *', 'UTC', '2026-03-10T11:59:59.999Z', 1)).toEqual(['2026-03-10T12:00Z'])
    expect(firings('0 12 * * *', 'UTC', '2026-03-10T12:00:00.001Z', 1)).toEqual(['2026-03-11T12:00Z'])
    expect(firings('* * * * *', 'UTC', '2026-03-10T12:00:00.001Z', 1)).toEqual(['2026-03-10T12:01Z'])
  })

  it('leaves the given instant as it is', () => {
    const after = new Date('2026-03-10T12:00:00.000Z')
    nextRun('0 12 * * *', 'Europe/London', after)
    expect(after.toISOString()).toBe('2026-03-10T12:00:00.000Z')
  })

  it('finds days that are years away', () => {
    expect(firings('0 0 29 2 *', 'UTC', '2096-02-29T00:00:00.000Z', 1)).toEqual(['2104-02-29T00:00Z'])
    expect(firings('0 0 29 feb *', 'Asia/Tokyo', '2026-03-01T00:00:00.000Z', 2)).toEqual([
      '2028-02-28T15:00Z',
      '2032-02-28T15:00Z',
    ])
    expect(firings('59 23 31 12 *', 'Pacific/Kiritimati', '2026-12-31T09:59:00.000Z', 1)).toEqual([
      '2027-12-31T09:59Z',
    ])
  })
})

describe('a fixed time in skipped time', () => {
  it.each([
    // New York skips 02:00 to 03:00.
    ['30 2 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-08T07:00Z', '2026-03-09T06:30Z']],
    ['0 2 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-08T07:00Z', '2026-03-09T06:00Z']],
    ['59 2 8 3 *', 'America/New_York', '2026-03-01T00:00', ['2026-03-08T07:00Z', '2027-03-08T07:59Z']],
    // London skips 01:00 to 02:00, Dublin too, although its winter is the exception there.
    ['15 1 * * sun', 'Europe/London', '2026-03-28T12:00', ['2026-03-29T01:00Z', '2026-04-05T00:15Z']],
    ['15 1 * * sun', 'Europe/Dublin', '2026-03-28T12:00', ['2026-03-29T01:00Z', '2026-04-05T00:15Z']],
    // Lord Howe skips half an hour, Troll two.
    ['15 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00', ['2026-10-03T15:30Z', '2026-10-04T15:15Z']],
    ['30 2 * * *', 'Australia/Lord_Howe', '2026-10-03T00:00', ['2026-10-03T15:30Z', '2026-10-04T15:30Z']],
    ['30 2 * * *', 'Antarctica/Troll', '2026-03-28T12:00', ['2026-03-29T01:00Z', '2026-03-30T00:30Z']],
  ])('fires at the first instant after the gap: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })

  it.each([
    // Nuuk skips 23:00 to 24:00 of a Saturday.
    ['30 23 * * *', 'America/Nuuk', '2024-03-30T12:00', ['2024-03-31T01:00Z', '2024-04-01T00:30Z']],
    ['30 23 30 3 *', 'America/Nuuk', '2024-03-30T12:00', ['2024-03-31T01:00Z', '2025-03-31T00:30Z']],
    ['0 23 * * sat', 'America/Nuuk', '2024-03-30T12:00', ['2024-03-31T01:00Z', '2024-04-07T00:00Z']],
    ['59 23 * mar *', 'America/Nuuk', '2024-03-30T12:00', ['2024-03-31T01:00Z', '2024-04-01T00:59Z']],
    // Cairo and Santiago skip 00:00 to 01:00.
    ['30 0 * * fri', 'Africa/Cairo', '2024-04-25T12:00', ['2024-04-25T22:00Z', '2024-05-02T21:30Z']],
    ['0 0 * * *', 'Africa/Cairo', '2024-04-25T12:00', ['2024-04-25T22:00Z', '2024-04-26T21:00Z']],
    ['@daily', 'America/Santiago', '2025-09-06T12:00', ['2025-09-07T04:00Z', '2025-09-08T03:00Z']],
    // Apia skipped 30 December 2011.
    ['0 12 30 12 *', 'Pacific/Apia', '2011-12-29T12:00', ['2011-12-30T10:00Z', '2012-12-29T22:00Z']],
    [
      '0 12 * * *',
      'Pacific/Apia',
      '2011-12-29T12:00',
      ['2011-12-29T22:00Z', '2011-12-30T10:00Z', '2011-12-30T22:00Z'],
    ],
    ['59 23 * * fri', 'Pacific/Apia', '2011-12-29T12:00', ['2011-12-30T10:00Z', '2012-01-06T09:59Z']],
  ])('fires so too where the gap touches midnight: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })

  it.each([
    [
      '0,15,30,45 2 * * *',
      'America/New_York',
      '2026-03-07T12:00',
      ['2026-03-08T07:00Z', '2026-03-09T06:00Z'],
    ],
    ['30 2,3 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-08T07:00Z', '2026-03-08T07:30Z']],
    ['0 2,3 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-08T07:00Z', '2026-03-09T06:00Z']],
    ['30 1,2 * * *', 'Antarctica/Troll', '2026-03-28T12:00', ['2026-03-29T01:00Z', '2026-03-29T23:30Z']],
    ['0 23,0 * * *', 'America/Nuuk', '2024-03-30T12:00', ['2024-03-31T01:00Z', '2024-04-01T00:00Z']],
    ['0 0,6,12,18 30 12 *', 'Pacific/Apia', '2011-12-29T11:00', ['2011-12-30T10:00Z', '2012-12-29T10:00Z']],
  ])('fires once for all that falls there: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })
})

describe('a fixed time in repeated time', () => {
  it.each([
    ['30 1 * * *', 'America/New_York', '2026-10-31T12:00', ['2026-11-01T05:30Z', '2026-11-02T06:30Z']],
    ['0 1 * * *', 'America/New_York', '2026-10-31T12:00', ['2026-11-01T05:00Z', '2026-11-02T06:00Z']],
    ['30 1 1 11 *', 'America/New_York', '2026-10-31T12:00', ['2026-11-01T05:30Z', '2027-11-01T05:30Z']],
    ['0,30 1,2 * * *', 'America/New_York', '2026-11-01T05:00', ['2026-11-01T05:30Z', '2026-11-01T07:00Z']],
    ['45 1 * * *', 'Europe/London', '2026-10-24T12:00', ['2026-10-25T00:45Z', '2026-10-26T01:45Z']],
    ['45 1 * * *', 'Europe/Dublin', '2026-10-24T12:00', ['2026-10-25T00:45Z', '2026-10-26T01:45Z']],
    ['45 1 * * *', 'Australia/Lord_Howe', '2026-04-04T12:00', ['2026-04-04T14:45Z', '2026-04-05T15:15Z']],
    ['15 1 * * *', 'Antarctica/Troll', '2026-10-24T12:00', ['2026-10-24T23:15Z', '2026-10-26T01:15Z']],
    ['30 23 * * *', 'Africa/Cairo', '2024-10-31T12:00', ['2024-10-31T20:30Z', '2024-11-01T21:30Z']],
    ['30 23 * * sat', 'America/Santiago', '2026-04-04T12:00', ['2026-04-05T02:30Z', '2026-04-12T03:30Z']],
    ['30 23 * * *', 'America/Nuuk', '2024-10-26T12:00', ['2024-10-27T00:30Z', '2024-10-28T01:30Z']],
    ['0 0 * * *', 'America/Nuuk', '2024-10-26T12:00', ['2024-10-27T02:00Z', '2024-10-28T02:00Z']],
  ])('fires the first time only: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })

  it('does not fire the second time, asked between the two', () => {
    for (const after of [
      '2026-11-01T05:30:00.000Z',
      '2026-11-01T06:00:00.000Z',
      '2026-11-01T06:15:00.000Z',
    ]) {
      expect(firings('30 1 * * *', 'America/New_York', after, 1)).toEqual(['2026-11-02T06:30Z'])
    }
  })
})

describe('an interval', () => {
  it.each([
    [
      '*/30 * * * *',
      'America/New_York',
      '2026-03-08T06:00',
      ['2026-03-08T06:30Z', '2026-03-08T07:00Z', '2026-03-08T07:30Z'],
    ],
    [
      '*/30 1-3 * * *',
      'America/New_York',
      '2026-03-08T06:00',
      ['2026-03-08T06:30Z', '2026-03-08T07:00Z', '2026-03-08T07:30Z'],
    ],
    ['*/30 2 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-09T06:00Z', '2026-03-09T06:30Z']],
    ['30 * * * *', 'America/New_York', '2026-03-08T06:00', ['2026-03-08T06:30Z', '2026-03-08T07:30Z']],
    ['0 */2 * * *', 'America/New_York', '2026-03-08T05:00', ['2026-03-08T08:00Z', '2026-03-08T10:00Z']],
    [
      '*/15 2 * * *',
      'Australia/Lord_Howe',
      '2026-10-03T14:00',
      ['2026-10-03T15:30Z', '2026-10-03T15:45Z', '2026-10-04T15:00Z'],
    ],
    ['*/30 23 30 3 *', 'America/Nuuk', '2024-03-30T12:00', ['2025-03-31T00:00Z', '2025-03-31T00:30Z']],
    ['* 0 * * *', 'Africa/Cairo', '2024-04-25T12:00', ['2024-04-26T21:00Z', '2024-04-26T21:01Z']],
    ['0 */6 30 12 *', 'Pacific/Apia', '2011-12-29T12:00', ['2012-12-29T10:00Z', '2012-12-29T16:00Z']],
  ])('does not fire for skipped time: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })

  it.each([
    [
      '*/30 1 * * *',
      'America/New_York',
      '2026-11-01T04:59',
      [
        '2026-11-01T05:00Z',
        '2026-11-01T05:30Z',
        '2026-11-01T06:00Z',
        '2026-11-01T06:30Z',
        '2026-11-02T06:00Z',
      ],
    ],
    [
      '30 * * * *',
      'America/New_York',
      '2026-11-01T05:00',
      ['2026-11-01T05:30Z', '2026-11-01T06:30Z', '2026-11-01T07:30Z'],
    ],
    [
      '0 1/12 * * *',
      'Europe/London',
      '2026-10-24T23:00',
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T13:00Z'],
    ],
    [
      '@hourly',
      'Europe/Dublin',
      '2026-10-24T23:30',
      ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z'],
    ],
    [
      '*/15 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:40',
      ['2026-04-04T14:45Z', '2026-04-04T15:00Z', '2026-04-04T15:15Z', '2026-04-04T15:30Z'],
    ],
    [
      '45 * * * *',
      'Australia/Lord_Howe',
      '2026-04-04T14:00',
      ['2026-04-04T14:45Z', '2026-04-04T15:15Z', '2026-04-04T16:15Z'],
    ],
    [
      '*/30 23 * * *',
      'Africa/Cairo',
      '2024-10-31T19:59',
      [
        '2024-10-31T20:00Z',
        '2024-10-31T20:30Z',
        '2024-10-31T21:00Z',
        '2024-10-31T21:30Z',
        '2024-11-01T21:00Z',
      ],
    ],
  ])('fires each time that repeated time matches: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })
})
