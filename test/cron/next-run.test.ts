import { Cron } from 'croner'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { problemOfCron } from '../../src/cron/expression.ts'
import { latestRun, nextRun } from '../../src/cron/next-run.ts'
import { sized } from '../support/long-form.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** A zone, and the years of its clock changes that are looked at. */
type ZoneYears = [zone: string, firstYear: number, lastYear: number]

/** Those that are walked through for years. */
const MAIN_ZONES: ZoneYears[] = [
  ['America/New_York', 2025, 2027],
  ['Europe/London', 2025, 2027],
  ['Australia/Lord_Howe', 2025, 2027],
  ['America/Santiago', 2024, 2026],
  ['Africa/Cairo', 2023, 2026],
  ['Pacific/Apia', 2010, 2013],
  ['Europe/Dublin', 2025, 2027],
  ['Antarctica/Troll', 2024, 2026],
]
const ZONES: ZoneYears[] = [
  ...MAIN_ZONES,
  ['America/Nuuk', 2022, 2026],
  // Summer time is off in Ramadan.
  ['Africa/Casablanca', 2023, 2025],
  ['Asia/Gaza', 2023, 2025],
  // The gap begins a minute after midnight.
  ['Asia/Gaza', 2010, 2011],
  ['America/St_Johns', 2009, 2011],
  // Midnight is skipped, and repeated.
  ['America/Havana', 2024, 2026],
  ['Asia/Tehran', 2020, 2022],
  // Between the zones of the west and the middle, and back.
  ['Europe/Lisbon', 1992, 1996],
  // A day that never was.
  ['Pacific/Kwajalein', 1993, 1993],
  ['Pacific/Kiritimati', 1994, 1995],
  // Changes of a quarter, half an hour, an hour and a half, three hours and seven.
  ['Asia/Kathmandu', 1985, 1986],
  ['Asia/Pyongyang', 2015, 2018],
  ['America/Caracas', 2007, 2016],
  ['America/Montevideo', 1974, 1974],
  ['Antarctica/Casey', 2009, 2012],
  ['Antarctica/Vostok', 1994, 1994],
  // From 44 minutes and 30 seconds behind.
  ['Africa/Monrovia', 1972, 1972],
]

// The oracle: every minute, or half minute, with what the wall clock shows.

const TICK_MS = MINUTE_MS / 2
const QUARTER_MS = 15 * MINUTE_MS
const DAY_MINUTES = 1440

/** What the clock of a zone shows at one instant, a tick later and so on, in minutes of a clock in UTC. */
interface Walk {
  readonly start: number
  readonly tickMs: number
  readonly readings: Float64Array
}

const formats = new Map<string, Intl.DateTimeFormat>()

function wallClockOf(zone: string): (instant: number) => number {
  const format =
    formats.get(zone) ??
    new Intl.DateTimeFormat('en-US', {
      timeZone: zone,
      hourCycle: 'h23',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
      hour: '2-digit',
      minute: '2-digit',
      second: '2-digit',
    })
  formats.set(zone, format)
  return (instant) => {
    const numbers = (format.format(instant).match(/\d+/g) ?? []).map(Number)
    const [month, day, year, ...time] = numbers as [number, number, number, number, number, number]
    return Date.UTC(year, month - 1, day, ...time)
  }
}

/** The instants at which the zone's clock changes in those years, to the tick. */
function changesOf(zone: string, firstYear: number, lastYear: number): number[] {
  const clock = wallClockOf(zone)
  const offset = (instant: number) => clock(instant) - instant
  const changes: number[] = []
  for (let day = Date.UTC(firstYear); day < Date.UTC(lastYear + 1); day += DAY_MS) {
    let [low, high] = [day, day + DAY_MS]
    if (offset(low) === offset(high)) continue
    while (high - low > TICK_MS) {
      const middle = low + Math.floor((high - low) / (2 * TICK_MS)) * TICK_MS
      if (offset(middle) === offset(low)) low = middle
      else high = middle
    }
    changes.push(high)
  }
  return changes
}

function walkOver(zone: string, start: number, end: number, tickMs: number): Walk {
  const clock = wallClockOf(zone)
  const readings = new Float64Array((end - start) / tickMs)
  let next = clock(start)
  for (let from = 0; from < readings.length; from += QUARTER_MS / tickMs) {
    // The runtime is asked for each tick of the quarter of an hour in which the clock changes, and once for the others.
    const instant = start + from * tickMs
    const reading = next
    next = clock(instant + QUARTER_MS)
    const isSteady = next - reading === QUARTER_MS
    for (let elapsed = 0; elapsed < QUARTER_MS; elapsed += tickMs) {
      readings[from + elapsed / tickMs] = (isSteady ? reading + elapsed : clock(instant + elapsed)) / MINUTE_MS
    }
  }
  return { start, tickMs, readings }
}

const endOf = ({ start, tickMs, readings }: Walk) => start + readings.length * tickMs

const walks = new Map<string, Walk>()

/** The days around a change, by half minutes: some offsets had them. */
function walkAround(zone: string, change: number): Walk {
  const name = `${zone} ${change}`
  const start = Math.floor(change / DAY_MS - 3) * DAY_MS
  const walk = walks.get(name) ?? walkOver(zone, start, start + 6 * DAY_MS, TICK_MS)
  walks.set(name, walk)
  return walk
}

const NAMES = 'jan feb mar apr may jun jul aug sep oct nov dec'.split(' ')
const DAYS = 'sun mon tue wed thu fri sat'.split(' ')

function valuesOf(field: string, min: number, max: number, names: string[] = []): Set<number> {
  const values = new Set<number>()
  const numberOf = (text: string) =>
    names.includes(text.toLowerCase()) ? names.indexOf(text.toLowerCase()) + min : Number(text)
  for (const item of field.split(',')) {
    const [range, step] = item.split('/') as [string, string?]
    const [first, last] = range.split('-') as [string, string?]
    const from = first === '*' ? min : numberOf(first)
    let to = last === undefined ? from : numberOf(last)
    if (first === '*' || (step && last === undefined)) to = Math.max(from, max)
    // A range of names may end on the Sunday that comes after.
    if (names === DAYS && last?.toLowerCase() === 'sun' && from > 0) to = 7
    for (let value = from; value <= to; value += Number(step ?? 1)) values.add(value)
  }
  return values
}

type FiveFields = [minute: string, hour: string, day: string, month: string, weekday: string]

const MACROS: Record<string, string> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

const fieldsOf = (expression: string) => (MACROS[expression] ?? expression).split(' ') as FiveFields

/** Whether the expression matches a reading, in minutes. */
function matcherOf(expression: string): (reading: number) => boolean {
  const [minute, hour, day, month, weekday] = fieldsOf(expression)
  const minutes = valuesOf(minute, 0, 59)
  const hours = valuesOf(hour, 0, 23)
  const days = valuesOf(day, 1, 31)
  const months = valuesOf(month, 1, 12, NAMES)
  const weekdays = new Set([...valuesOf(weekday, 0, 6, DAYS)].map((value) => value % 7))
  const times = Uint8Array.from({ length: DAY_MINUTES }, (_, time) =>
    Number(hours.has(Math.floor(time / 60)) && minutes.has(time % 60)),
  )
  const isDay = (date: Date) => {
    if (!months.has(date.getUTCMonth() + 1)) return false
    const isOfMonth = days.has(date.getUTCDate())
    const isOfWeek = weekdays.has(date.getUTCDay())
    return day !== '*' && weekday !== '*' ? isOfMonth || isOfWeek : isOfMonth && isOfWeek
  }
  let latest = { day: Number.NaN, matches: false }
  return (reading) => {
    if (times[reading % DAY_MINUTES] === 0) return false
    const day = Math.floor(reading / DAY_MINUTES)
    if (day !== latest.day) latest = { day, matches: isDay(new Date(day * DAY_MS)) }
    return latest.matches
  }
}

/** Every instant of the walk after this one at which the expression fires. */
function* firingsOf(
  expression: string,
  { start, tickMs, readings }: Walk,
  after = start,
): Generator<number, undefined> {
  const matches = matcherOf(expression)
  const isInterval = /[*/]/.test(fieldsOf(expression).slice(0, 2).join(''))
  // From two days before: no clock goes back by more than one.
  const first = Math.max(0, Math.floor((after - start - 2 * DAY_MS) / tickMs))
  let latest = Number.POSITIVE_INFINITY
  for (let index = first; index < readings.length; index++) {
    const reading = readings[index] as number
    const instant = start + index * tickMs
    // An interval fires with each minute that matches; a fixed time as the clock comes to it or past it, and once.
    const from = isInterval ? Math.ceil(reading) : Math.floor(latest) + 1
    if (instant > after && isAny(matches, from, reading)) yield instant
    latest = index === first ? reading : Math.max(latest, reading)
  }
}

function isAny(matches: (reading: number) => boolean, first: number, last: number): boolean {
  for (let reading = first; reading <= last; reading++) if (matches(reading)) return true
  return false
}

/** The first after an instant, and those that come within a span of time from it. */
function firingsUpTo(expression: string, walk: Walk, after: number, spanMs: number): number[] {
  const found: number[] = []
  for (const instant of firingsOf(expression, walk, after)) {
    if (instant > (found[0] ?? instant) + spanMs) break
    found.push(instant)
  }
  return found
}

const MAX_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function everFires(expression: string): boolean {
  const [, , day, month, weekday] = fieldsOf(expression)
  const earliest = Math.min(...valuesOf(day, 1, 31))
  const months = [...valuesOf(month, 1, 12, NAMES)]
  return weekday !== '*' || months.some((each) => earliest <= (MAX_MONTHS[each - 1] ?? 0))
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
const weekdayField = fc.constantFrom('*', '*', '*', '*', '0', '7', 'sun', 'SAT', '5-7', '1-5', 'thu,fri', '*/2', '0-7')
const expressions = fc
  .tuple(minuteField, hourField, dayField, monthField, weekdayField)
  .map((fields) => fields.join(' '))

const CHANGES = ZONES.flatMap(([zone, firstYear, lastYear]) =>
  changesOf(zone, firstYear, lastYear).map((change) => ({ zone, change })),
)

const STEADY_ZONES = [
  ...['Asia/Tokyo', 'Asia/Kathmandu', 'Australia/Eucla', 'Pacific/Kiritimati', 'Pacific/Marquesas'],
  ...['Pacific/Pago_Pago', 'America/Phoenix', 'Africa/Lagos', 'Etc/GMT+12'],
]

/** An instant, with milliseconds or on a whole minute. */
function instantOf(first: string, last: string): fc.Arbitrary<number> {
  const any = fc.integer({ min: Date.parse(first), max: Date.parse(last) })
  return fc.oneof(
    any,
    any.map((instant) => Math.floor(instant / MINUTE_MS) * MINUTE_MS),
  )
}

/** A field of any items that the grammar has; every other one is `*`. */
function fieldOf(min: number, max: number, names: string[] = []): fc.Arbitrary<string> {
  const value = fc.integer({ min, max })
  const range = fc
    .tuple(value, value)
    .map((ends) => ends.sort((a, b) => a - b))
    .map(([from, to]) => `${from}-${to}`)
  const step = fc.integer({ min: 1, max: max - min + 1 })
  const item = fc.oneof(
    { weight: 4, arbitrary: value.map(String) },
    { weight: 2, arbitrary: range },
    fc.tuple(range, step).map((parts) => parts.join('/')),
    step.map((size) => `*/${size}`),
    // croner ends a step of weekdays at 7, the grammar at 6.
    ...(names === DAYS ? [] : [fc.tuple(value, step).map((parts) => parts.join('/'))]),
    ...(names.length > 0 ? [fc.constantFrom(...names)] : []),
  )
  const list = fc.array(item, { minLength: 1, maxLength: 3 }).map((items) => items.join(','))
  return fc.oneof(fc.constant('*'), list)
}

const sparse = ['0 0 29 2 *', '* * 29 2 *', '59 23 31 12 *', '0 0 1 1 0', '30 6 29 feb *', '0 12 31 * *']
const dayNames = ['7', 'fri-sun', 'SAT-SUN', '5-7', 'mon-fri', 'sun-tue', '0,7', '0-7', 'sun']

/** Any expression: sparse ones too, and those where day of month and day of week are both restricted. */
const anyExpression = fc.oneof(
  {
    weight: 9,
    arbitrary: fc
      .tuple(
        fieldOf(0, 59),
        fieldOf(0, 23),
        fieldOf(1, 31),
        fieldOf(1, 12, NAMES),
        fc.oneof(fieldOf(0, 7, DAYS), fc.constantFrom(...dayNames)),
      )
      .map((fields) => fields.join(' '))
      .filter((expression) => problemOfCron(expression) === undefined),
  },
  { weight: 1, arbitrary: fc.constantFrom(...sparse) },
)

/** A field that mostly matches the value, in any writing that the grammar has. */
function fieldNear(value: number, min: number, max: number, names: string[] = []): fc.Arbitrary<string> {
  const any = fc.integer({ min, max })
  const step = fc.integer({ min: 1, max: max - min + 1 })
  const range = any.map((other) => `${Math.min(value, other)}-${Math.max(value, other)}`)
  const name = names[value - min]
  return fc.oneof(
    { weight: 6, arbitrary: fc.constant(String(value)) },
    { weight: 3, arbitrary: any.map((other) => `${other},${value}`) },
    { weight: 2, arbitrary: range },
    fc.tuple(range, step).map((parts) => parts.join('/')),
    { weight: 2, arbitrary: fc.integer({ min: 1, max: 12 }).map((size) => `*/${Math.min(size, max)}`) },
    fc.tuple(any, step).map((parts) => parts.join('/')),
    fieldOf(min, max, names),
    ...(name ? [{ weight: 4, arbitrary: fc.constantFrom(name, name.toUpperCase(), `${value},${name}`) }] : []),
    ...(names === DAYS ? [fc.constantFrom(...dayNames)] : []),
  )
}

/** Expressions of every kind, most of which match what the clock shows, or skips, within hours of a change. */
function expressionsAround(zone: string, change: number): fc.Arbitrary<string> {
  const clock = wallClockOf(zone)
  const readings = [-3, -1 / 60, 0, 3].map((hours) => clock(change + hours * HOUR_MS) / MINUTE_MS)
  const orStar = (starWeight: number, field: fc.Arbitrary<string>) =>
    fc.oneof({ weight: starWeight, arbitrary: fc.constant('*') }, { weight: 10, arbitrary: field })
  return fc
    .integer({ min: Math.min(...readings), max: Math.max(...readings) })
    .chain((reading) => {
      const date = new Date(reading * MINUTE_MS)
      return fc.oneof(
        {
          weight: 40,
          arbitrary: fc
            .tuple(
              orStar(1, fieldNear(date.getUTCMinutes(), 0, 59)),
              orStar(2, fieldNear(date.getUTCHours(), 0, 23)),
              orStar(15, fieldNear(date.getUTCDate(), 1, 31)),
              orStar(15, fieldNear(date.getUTCMonth() + 1, 1, 12, NAMES)),
              orStar(15, fieldNear(date.getUTCDay(), 0, 6, DAYS)),
            )
            .map((fields) => fields.join(' ')),
        },
        fc.constantFrom(...Object.keys(MACROS)),
      )
    })
    .filter(everFires)
}

function croner(expression: string, timezone: string, after: number): Date {
  const next = new Cron(expression, { timezone, mode: '5-part', sloppyRanges: true }).nextRun(new Date(after))
  if (!next) throw new Error(`croner finds no run of ${expression}`)
  return next
}

/** So many cases differ, of those that are made for one zone. */
const YEARS_OF_CASES = sized(500, 12_500)
const SPANS_OF_CASES = sized(40, 1000)

/** Milliseconds from a clock change: mostly within hours of it, often on a whole minute or the change itself. */
const fromChange = fc.oneof(
  fc.integer({ min: -4 * HOUR_MS, max: 4 * HOUR_MS }),
  fc.integer({ min: -4 * 60, max: 4 * 60 }).map((minutes) => minutes * MINUTE_MS),
  fc.integer({ min: -2 * DAY_MS, max: 2 * DAY_MS }),
  fc.constantFrom(-MINUTE_MS, -1000, -1, 0, 1, 1000, MINUTE_MS),
)

/** What is tried in a zone: a clock change, an expression, and instants from hours to months away. */
function casesAround([zone, firstYear, lastYear]: ZoneYears) {
  return fc.constantFrom(...changesOf(zone, firstYear, lastYear)).chain((change) =>
    fc.record({
      change: fc.constant(change),
      expression: expressionsAround(zone, change),
      distances: fc.array(fromChange, { minLength: 9, maxLength: 9 }),
      daysBefore: fc.integer({ min: 3, max: Math.floor((change - Date.UTC(firstYear)) / DAY_MS) - 3 }),
    }),
  )
}

/** All minutes of the years. */
function walkThrough([zone, firstYear, lastYear]: ZoneYears): Walk {
  const name = `${zone} ${firstYear} ${lastYear}`
  const walk = walks.get(name) ?? walkOver(zone, Date.UTC(firstYear), Date.UTC(lastYear + 1), MINUTE_MS)
  walks.set(name, walk)
  return walk
}

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
    const zones = new Set(CHANGES.map(({ zone }) => zone))
    expect(ZONES.filter(([zone]) => !zones.has(zone))).toEqual([])
    expect(CHANGES.length).toBeGreaterThan(110)
  })

  it(`agrees with a walk over every minute in ${sized(400, 6000)} cases around clock changes`, () => {
    const cases = fc.record({
      around: fc.constantFrom(...CHANGES),
      expression: expressions,
      distance: fromChange,
    })
    fc.assert(
      fc.property(cases, ({ around: { zone, change }, expression, distance }) => {
        const after = change + distance
        const walk = walkAround(zone, change)
        const expected = firingsOf(expression, walk, after).next().value
        const actual = nextRun(expression, zone, new Date(after)).getTime()
        if (expected === undefined) expect(actual).toBeGreaterThanOrEqual(endOf(walk))
        else expect(new Date(actual).toISOString()).toBe(new Date(expected).toISOString())
      }),
      { numRuns: sized(400, 6000) },
    )
  })

  it.each(MAIN_ZONES)(`agrees with a walk over every minute of years in ${YEARS_OF_CASES} cases: %s`, (...years) => {
    const [zone] = years
    const walk = walkThrough(years)
    const agreed = new Set<string>()
    const check = (expression: string, after: number, expected: number | undefined) => {
      const actual = nextRun(expression, zone, new Date(after)).getTime()
      if (expected === undefined) return expect(actual).toBeGreaterThanOrEqual(endOf(walk))
      expect([expression, after, actual]).toEqual([expression, after, expected])
      expect(actual).toBeGreaterThan(after)
      agreed.add(`${expression} after ${after}`)
    }
    fc.assert(
      fc.property(casesAround(years), ({ change, expression, distances, daysBefore }) => {
        const instants = distances.map((distance) => change + distance).sort((a, b) => a - b)
        const firings = firingsOf(expression, walk, instants[0])
        let expected = firings.next().value
        for (const after of instants) {
          while (expected !== undefined && expected <= after) expected = firings.next().value
          check(expression, after, expected)
        }
        if (expected !== undefined) check(expression, expected, firings.next().value)
        const longBefore = change - daysBefore * DAY_MS
        check(expression, longBefore, firingsOf(expression, walk, longBefore).next().value)
      }),
      { numRuns: sized(60, 1300) },
    )
    expect(agreed.size).toBeGreaterThan(YEARS_OF_CASES)
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
      const walk = walkAround(zone, change)
      for (const pattern of patterns) {
        const start = change - 1.5 * DAY_MS
        const expected = [...firingsOf(pattern, walk, start)]
        let last = new Date(start)
        const actual = expected.map(() => {
          last = nextRun(pattern, zone, last)
          return last.getTime()
        })
        expect([zone, pattern, actual]).toEqual([zone, pattern, expected])
      }
    }
  })

  it(`agrees with croner in ${sized(300, 4000)} cases in zones whose clock does not change`, () => {
    const cases = fc.record({
      zone: fc.constantFrom('UTC', 'UTC', ...STEADY_ZONES),
      expression: anyExpression,
      after: instantOf('2024-01-01', '2090-01-01'),
    })
    fc.assert(
      fc.property(cases, ({ zone, expression, after }) => {
        const actual = nextRun(expression, zone, new Date(after))
        expect(actual.toISOString()).toBe(croner(expression, zone, after).toISOString())
      }),
      { numRuns: sized(300, 4000) },
    )
  })

  it(`agrees with croner in ${sized(150, 2000)} cases away from clock changes`, () => {
    const zones = ['America/New_York', 'Europe/London', 'Australia/Lord_Howe', 'Antarctica/Troll']
    const cases = fc.record({
      zone: fc.constantFrom(...zones),
      expression: anyExpression,
      after: instantOf('2025-01-01', '2027-12-01'),
    })
    fc.assert(
      fc.property(cases, ({ zone, expression, after }) => {
        const expected = croner(expression, zone, after)
        const isBetween = (change: number) => after - DAY_MS < change && change < expected.getTime() + DAY_MS
        fc.pre(expected.getTime() < Date.UTC(2027, 11))
        fc.pre(!CHANGES.some((candidate) => candidate.zone === zone && isBetween(candidate.change)))
        expect(nextRun(expression, zone, new Date(after)).toISOString()).toBe(expected.toISOString())
      }),
      { numRuns: sized(150, 2000) },
    )
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
    expect(firings('59 23 31 12 *', 'Pacific/Kiritimati', '2026-12-31T09:59:00.000Z', 1)).toEqual(['2027-12-31T09:59Z'])
    expect(firings('* * 29 2 *', 'America/New_York', '2026-07-01T12:00:00.000Z', 1441).slice(-2)).toEqual([
      '2028-03-01T04:59Z',
      '2032-02-29T05:00Z',
    ])
    expect(firings('* 1 29 2 *', 'Australia/Lord_Howe', '2096-02-29T12:00:00.000Z', 1)).toEqual(['2104-02-28T14:00Z'])
  })

  it('takes either day where both are restricted', () => {
    expect(firings('0 0 1 1 0', 'Europe/London', '2026-01-20T00:00:00.000Z', 3)).toEqual([
      '2026-01-25T00:00Z',
      '2027-01-01T00:00Z',
      '2027-01-03T00:00Z',
    ])
    expect(firings('0 0 30 2 7', 'UTC', '2026-02-28T00:00:00.000Z', 1)).toEqual(['2027-02-07T00:00Z'])
    expect(firings('0 0 13 * */1', 'UTC', '2026-02-13T00:00:00.000Z', 1)).toEqual(['2026-02-14T00:00Z'])
  })
})

describe('the latest run', () => {
  it.each(MAIN_ZONES)(`agrees with a walk over every minute in ${SPANS_OF_CASES} cases: %s`, (...years) => {
    const [zone] = years
    const walk = walkThrough(years)
    const agreed = new Set<string>()
    const span = fc.oneof(
      { weight: 4, arbitrary: fc.integer({ max: 3 * DAY_MS, min: 0 }) },
      fc.integer({ max: 60 * DAY_MS, min: 0 }),
    )
    fc.assert(
      fc.property(casesAround(years), span, ({ change, expression, distances }, span) => {
        const [due, ...later] = firingsUpTo(expression, walk, change + (distances[0] ?? 0), span)
        fc.pre(due !== undefined)
        const runs = [due, ...later]
        const [last = due, secondLast] = runs.reverse()
        const check = (until: number, expected: number) => {
          const actual = latestRun(expression, zone, new Date(due), new Date(until)).getTime()
          expect([expression, due, until, actual]).toEqual([expression, due, until, expected])
          agreed.add(`${expression} from ${due} to ${until}`)
        }
        check(due, due)
        check(Math.min(due + span, endOf(walk) - 1), last)
        check(last, last)
        if (secondLast !== undefined) check(last - 1, secondLast)
      }),
      { numRuns: sized(20, 350) },
    )
    expect(agreed.size).toBeGreaterThan(SPANS_OF_CASES)
  })

  it('is found in ten years of minutes', () => {
    const [due, until] = [new Date('2026-03-29T01:00:00.000Z'), new Date('2036-03-29T01:00:59.999Z')]
    expect(latestRun('* * * * *', 'Europe/London', due, until).toISOString()).toBe('2036-03-29T01:00:00.000Z')
  })

  it('leaves the given instants as they are', () => {
    const [due, until] = [new Date('2026-03-29T01:00:00.000Z'), new Date('2026-03-30T01:00:00.000Z')]
    latestRun('0 * * * *', 'Europe/London', due, until)
    expect([due.toISOString(), until.toISOString()]).toEqual(['2026-03-29T01:00:00.000Z', '2026-03-30T01:00:00.000Z'])
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
    ['0 12 * * *', 'Pacific/Apia', '2011-12-29T12:00', ['2011-12-29T22:00Z', '2011-12-30T10:00Z', '2011-12-30T22:00Z']],
    // Kwajalein skipped 21 August 1993, Monrovia the first 44 minutes and 30 seconds of 7 January 1972.
    ['0 12 21 8 *', 'Pacific/Kwajalein', '1993-08-20T12:00', ['1993-08-21T12:00Z', '1994-08-21T00:00Z']],
    ['30 0 * * *', 'Africa/Monrovia', '1972-01-06T12:00', ['1972-01-07T00:44:30.000Z', '1972-01-08T00:30Z']],
    ['30 0 * * *', 'America/Havana', '2026-03-07T12:00', ['2026-03-08T05:00Z', '2026-03-09T04:30Z']],
    ['59 23 * * fri', 'Pacific/Apia', '2011-12-29T12:00', ['2011-12-30T10:00Z', '2012-01-06T09:59Z']],
  ])('fires so too where the gap touches midnight: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })

  it.each([
    ['0,15,30,45 2 * * *', 'America/New_York', '2026-03-07T12:00', ['2026-03-08T07:00Z', '2026-03-09T06:00Z']],
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
    for (const after of ['2026-11-01T05:30:00.000Z', '2026-11-01T06:00:00.000Z', '2026-11-01T06:15:00.000Z']) {
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
      ['2026-11-01T05:00Z', '2026-11-01T05:30Z', '2026-11-01T06:00Z', '2026-11-01T06:30Z', '2026-11-02T06:00Z'],
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
    ['@hourly', 'Europe/Dublin', '2026-10-24T23:30', ['2026-10-25T00:00Z', '2026-10-25T01:00Z', '2026-10-25T02:00Z']],
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
      ['2024-10-31T20:00Z', '2024-10-31T20:30Z', '2024-10-31T21:00Z', '2024-10-31T21:30Z', '2024-11-01T21:00Z'],
    ],
  ])('fires each time that repeated time matches: %s %s', (expression, zone, after, expected) => {
    expect(firings(expression, zone, `${after}:00.000Z`, expected.length)).toEqual(expected)
  })
})
