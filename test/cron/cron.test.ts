import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { parseCron, problemOfCron } from '../../src/cron/expression.ts'
import { nextRun } from '../../src/cron/next-run.ts'
import { describeProblem } from '../../src/http/problems.ts'

/** The first instants that the expression fires at in UTC, after one, as `MM-DD HH:MM`. */
function firings(expression: string, count: number, after = '2026-02-26T00:00:00.000Z'): string[] {
  const instants: string[] = []
  let last = new Date(after)
  while (instants.length < count) {
    last = nextRun(expression, 'UTC', last)
    instants.push(last.toISOString().slice(5, 16).replace('T', ' '))
  }
  return instants
}

/** The days of 2026 from 26 February at whose midnight the expression fires. */
const days = (expression: string, count: number) =>
  firings(expression, count).map((instant) => instant.replace(' 00:00', ''))

const NEVER_FIRING = [
  '0 0 30 2 *',
  '59 23 31 feb,4,jun,9,NOV *',
  '*/5 * 30,31 2 *',
  '* * 31 4-6/2 *',
  '0-59 0-23 30-31 2-2 *',
]

/** The result of a function while there is no `Date`. */
function withoutDates<Result>(act: () => Result): Result {
  vi.stubGlobal('Date', undefined)
  try {
    return act()
  } finally {
    vi.unstubAllGlobals()
  }
}

/** The error message of a function. */
function messageOf(act: () => unknown): string | undefined {
  try {
    act()
    return undefined
  } catch (error) {
    return String(error)
  }
}

describe('a cron expression', () => {
  it.each([
    '* * * * *',
    '0 0 1 1 0',
    '59 23 31 12 7',
    '0   9  * *    1',
    '*/1 */1 */1 */1 */1',
    '0-59 0-23 1-31 1-12 0-7',
    '5-5 5-5 5-5 5-5 5-5',
    '0,0,0 1,1 1,1 1,1 1,1',
    '10-30/5,45,50/3,*/20 * * * *',
    '0 0 * jan MON',
    '0 0 * Jan-dec Sun-sAt',
    '0 0 * feb,4,jun/2 wed,5-6',
    '0 0 29 2 *',
    '0 0 29,30,31 feb *',
    '0 0 31 2-3 *',
    '0 0 31 2/2 *',
    '0 0 30 2 1',
    '0 0 31 4 */2',
    '@hourly',
    '@daily',
    '@midnight',
    '@weekly',
    '@monthly',
    '@yearly',
    '@annually',
  ])('may be %j', (expression) => {
    expect(problemOfCron(expression)).toBeUndefined()
    expect(() => nextRun(expression, 'UTC', new Date('2026-03-29T01:00:00.000Z'))).not.toThrow()
  })

  it.each([
    ['@hourly', '0 * * * *'],
    ['@daily', '0 0 * * *'],
    ['@midnight', '0 0 * * *'],
    ['@weekly', '0 0 * * 0'],
    ['@monthly', '0 0 1 * *'],
    ['@yearly', '0 0 1 1 *'],
    ['@annually', '0 0 1 1 *'],
    ['30 9 * jan,FEB,Mar mon-fri', '30 9 * 1,2,3 1-5'],
    ['0 0 * apr-jun/2 *', '0 0 * 4,6 *'],
    ['0 0 * oct/1 *', '0 0 * 10,11,12 *'],
    ['0 0 * * sun,mon,tue,wed,thu,fri,sat', '0 0 * * 0,1,2,3,4,5,6'],
    ['0 0 * * 7', '0 0 * * 0'],
    ['0 0 * * 5-7', '0 0 * * 0,5,6'],
    ['0 0 * * 5-7/2', '0 0 * * 0,5'],
    ['0 0 * * 7/2', '0 0 * * 0'],
    ['0 0 * * 5/2', '0 0 * * 5'],
    ['0 0 * * 0/2', '0 0 * * 0,2,4,6'],
    ['0 0 * * 1,7', '0 0 * * sun,mon'],
    ['*/25 * * * *', '0,25,50 * * * *'],
    ['10-30/10 * * * *', '10,20,30 * * * *'],
    ['7/20 * * * *', '7,27,47 * * * *'],
    ['59/2 * * * *', '59 * * * *'],
    ['0 20/3 * * *', '0 20,23 * * *'],
    ['0 0 29/2 * *', '0 0 29,31 * *'],
    ['0 0 */15 * *', '0 0 1,16,31 * *'],
    ['0 0 1 */5 *', '0 0 1 1,6,11 *'],
    ['0   0 1  */5 *', '0 0 1 1,6,11 *'],
    ['05 08 09 01 *', '5 8 9 1 *'],
  ])('%j means %j', (expression, plainly) => {
    expect(firings(expression, 40)).toEqual(firings(plainly, 40))
  })

  it('fires at the minute, hour, day and month that it names', () => {
    expect(firings('5 4 * * *', 2)).toEqual(['02-26 04:05', '02-27 04:05'])
    expect(firings('30 12 1 * *', 2)).toEqual(['03-01 12:30', '04-01 12:30'])
    expect(firings('0 0 24 dec *', 2)).toEqual(['12-24 00:00', '12-24 00:00'])
    expect(days('0 0 * * sun', 2)).toEqual(['03-01', '03-08'])
    expect(days('0 0 * * sat', 2)).toEqual(['02-28', '03-07'])
  })

  it('restricts by the one of day of month and day of week that is not *', () => {
    expect(days('0 0 13 * *', 3)).toEqual(['03-13', '04-13', '05-13'])
    expect(days('0 0 * * fri', 3)).toEqual(['02-27', '03-06', '03-13'])
  })

  it('joins day of month and day of week by OR if neither is exactly *', () => {
    expect(days('0 0 10 * fri', 4)).toEqual(['02-27', '03-06', '03-10', '03-13'])
    expect(days('0 0 */10 * mon', 5)).toEqual(['03-01', '03-02', '03-09', '03-11', '03-16'])
    expect(days('0 0 5,6 3 7', 4)).toEqual(['03-01', '03-05', '03-06', '03-08'])
    expect(days('0 0 30 2 mon', 2)).toEqual(['02-01', '02-08'])
  })

  it.each([
    '0 0 13 * */1',
    '0 0 13 * 0-6',
    '0 0 13 * 1-7',
    '0 0 13 * *,1',
    '0 0 13 * *,*',
    '0 0 */1 * mon',
    '0 0 1-31 * mon',
    '0 0 *,13 * mon',
    '0 0 *,* * mon',
  ])('accepts only "*" for any day, so %j fires on every day', (expression) => {
    expect(days(expression, 4)).toEqual(['02-27', '02-28', '03-01', '03-02'])
  })

  it('keeps the months while days are joined by OR', () => {
    expect(days('0 0 31 apr,jun mon', 3)).toEqual(['04-06', '04-13', '04-20'])
  })

  it.each([
    ['0 9 * * *', true],
    ['0,30 9-17 */2 */3 *', true],
    ['0-59 0-23 * * *', true],
    ['@daily', true],
    ['@yearly', true],
    ['@hourly', false],
    ['* 9 * * *', false],
    ['0 * * * *', false],
    ['*/30 9 * * *', false],
    ['0 8-18/2 * * *', false],
    ['0 8/2 * * *', false],
    ['5,*/30 9 * * *', false],
  ])('%j has fixed times: %j', (expression, hasFixedTimes) => {
    expect(parseCron(expression).hasFixedTimes).toBe(hasFixedTimes)
  })

  const sentenceOn = (expression: string) => {
    const problem = problemOfCron(expression)
    return problem && describeProblem('cron', problem)
  }
  const FIVE_FIELDS = /five fields/
  it.each([
    // The number of fields.
    ['', FIVE_FIELDS],
    ['*', FIVE_FIELDS],
    ['0 0 * *', FIVE_FIELDS],
    ['0 0 0 * * *', FIVE_FIELDS],
    ['0 0 1 1 * 2027', FIVE_FIELDS],
    ['0 0 0 1 1 * 2027', FIVE_FIELDS],
    ['0 0 * * * echo', FIVE_FIELDS],
    ['TZ=Europe/Paris 0 9 * * *', FIVE_FIELDS],
    ['CRON_TZ=UTC 0 9 * * *', FIVE_FIELDS],
    ['2026-03-29T01:00:00', FIVE_FIELDS],
    ['2026-03-29T01:00:00Z', FIVE_FIELDS],
    ['2026-03-29 01:00', FIVE_FIELDS],
    // Macros that there are not.
    ['@reboot', /@daily/],
    ['@every 5m', /@daily/],
    ['@', /@daily/],
    ['@daily 1', /@daily/],
    ['@daily ', /@daily/],
    ['@constructor', /@daily/],
    // White space.
    [' ', /space/],
    [' 0 0 * * *', /space/],
    ['0 0 * * * ', /space/],
    ['0\t0 * * *', /space/],
    ['0 0\n* * *', /space/],
    ['0 0 * * *\n', /space/],
    ['0 0 * * *\r\n0 1 * * *', /space/],
    ['0 0 * *\u00a0*', /space/],
    ['0 0 * *\u2028*', /space/],
    ['0 0 * *\u3000*', /space/],
    ['\ufeff0 0 * * *', /space/],
    // Out of range.
    ['60 * * * *', / invalid minute; .*0 to 59/],
    ['* 24 * * *', / invalid hour; .*0 to 23/],
    ['* * 0 * *', / invalid day of month; .*1 to 31/],
    ['* * 32 * *', / invalid day of month; .*1 to 31/],
    ['* * * 0 *', / invalid month; .*1 to 12/],
    ['* * * 13 *', / invalid month; .*1 to 12/],
    ['* * * * 8', / invalid day of week; .*0 to 7/],
    ['0-60 * * * *', / invalid minute; .*0 to 59/],
    ['99999999999999999999999 * * * *', / invalid minute; .*0 to 59/],
    ['* * 9007199254740993 * *', / invalid day of month; .*1 to 31/],
    ['*/99999999999999999999999 * * * *', / step of the minute; .*steps from/],
    ['* * * 1/1e1 *', / step of the month; .*steps from/],
    // Steps and ranges.
    ['*/90 * * * *', / step of the minute; .*steps from 1 to 60/],
    ['5/61 * * * *', / step of the minute; .*steps from 1 to 60/],
    ['0 */25 * * *', / step of the hour; .*steps from 1 to 24/],
    ['0 0 * * */8', / step of the day of week; .*steps from 1 to 7/],
    ['*/0 * * * *', / step of the minute; .*steps from/],
    ['* 1-5/0 * * *', / step of the hour; .*steps from/],
    ['* * 5/0 * *', / step of the day of month; .*steps from/],
    ['* * * */00 *', / step of the month; .*steps from/],
    ['*/-1 * * * *', / invalid minute;/],
    ['*/ * * * *', / invalid minute;/],
    ['*/* * * * *', / invalid minute;/],
    ['/5 * * * *', / invalid minute;/],
    ['1//5 * * * *', / invalid minute;/],
    ['1/5/5 * * * *', / invalid minute;/],
    ['30-10 * * * *', / reversed range of the minute;/],
    ['* 22-6 * * *', / reversed range of the hour;/],
    ['* * * dec-jan *', / reversed range of the month;/],
    ['* * * * sat-mon', / reversed range of the day of week;/],
    ['* * * * 5-0', / reversed range of the day of week;/],
    ['* * * * 7-1', / reversed range of the day of week;/],
    ['1- * * * *', / invalid minute;/],
    ['-1 * * * *', / invalid minute;/],
    ['1-2-3 * * * *', / invalid minute;/],
    ['*-5 * * * *', / invalid minute;/],
    [', * * * *', / invalid minute;/],
    ['1, * * * *', / invalid minute;/],
    [',1 * * * *', / invalid minute;/],
    ['1,,2 * * * *', / invalid minute;/],
    // What other dialects have.
    ['0 0 L * *', / invalid day of month;/],
    ['0 0 L-3 * *', / invalid day of month;/],
    ['0 0 15W * *', / invalid day of month;/],
    ['0 0 LW * *', / invalid day of month;/],
    ['0 0 * * 5L', / invalid day of week;/],
    ['0 0 * * L', / invalid day of week;/],
    ['0 0 * * 5#3', / invalid day of week;/],
    ['0 0 * * fri#L', / invalid day of week;/],
    ['0 0 ? * 1', / invalid day of month;/],
    ['0 0 1 * ?', / invalid day of week;/],
    ['0 0 1 * +1', / invalid day of week;/],
    ['0 0 +1 * *', / invalid day of month;/],
    ['H 0 * * *', / invalid minute;/],
    ['R 0 * * *', / invalid minute;/],
    ['0 0 1..5 * *', / invalid day of month;/],
    ['0 0 ~ * *', / invalid day of month;/],
    // Numbers that are not digits.
    ['1.5 * * * *', / invalid minute;/],
    ['+1 * * * *', / invalid minute;/],
    ['0x1 * * * *', / invalid minute;/],
    ['1e1 * * * *', / invalid minute;/],
    ['\u0665 * * * *', / invalid minute;/],
    ['\uff15 * * * *', / invalid minute;/],
    ['5\u0301 * * * *', / invalid minute;/],
    ['\u{1f550} * * * *', / invalid minute;/],
    // Names that are not names, or not here.
    ['mon * * * *', / invalid minute;/],
    ['* jan * * *', / invalid hour;/],
    ['* * mon * *', / invalid day of month;/],
    ['* * * mon *', / invalid month;/],
    ['* * * * jan', / invalid day of week;/],
    ['* * * january *', / invalid month;/],
    ['* * * * monday', / invalid day of week;/],
    ['* * * * su', / invalid day of week;/],
    ['* * * * \u017fun', / invalid day of week;/],
    ['* * * constructor *', / invalid month;/],
    ['* * * __proto__ *', / invalid month;/],
    ['* * * */feb *', / step of the month;/],
    // Days that no month has.
    ['0 0 30 2 *', /never fires/],
    ['0 0 31 2 *', /never fires/],
    ['0 0 30,31 feb *', /never fires/],
    ['0 0 30-31 feb-feb *', /never fires/],
    ['0 0 31 4,6,9,11 *', /never fires/],
    ['0 0 31 4-6/2 *', /never fires/],
    ['0 0 31/1 jun *', /never fires/],
    ['*/5 * 30 2 *', /never fires/],
  ])('may not be %j', (expression, sentence) => {
    expect(sentenceOn(expression)).toMatch(sentence)
    expect(() => parseCron(expression)).toThrow()
  })

  it('is refused with the name of the first invalid field', () => {
    expect(sentenceOn('0 99 99 * *')).toBe('cron has an invalid hour; allowed: 0 to 23.')
  })

  it('is refused with its number of fields', () => {
    expect(problemOfCron('0 0 0 * * *')?.sent).toBe('6 fields')
    expect(problemOfCron('0 0 *')?.sent).toBe('3 fields')
  })

  it('is accepted or refused with a message, for random texts', () => {
    const token = fc.constantFrom(
      ...['*', '0', '1', '5', '7', '31', '60', 'jan', 'SUN', 'L', 'W', '#', '?', '+', '@', '='],
      ...['-', '-', '/', '/', ',', ',', ' ', ' ', ' ', ' ', '\n', '\t', '\u0665', '@daily'],
    )
    const expression = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 30 }),
      fc.array(token, { maxLength: 25 }).map((tokens) => tokens.join('')),
    )
    fc.assert(
      fc.property(expression, (text) => {
        const problem = problemOfCron(text)
        if (problem !== undefined) expect(problem.wrong).toMatch(/^\w.*\w$/)
        else expect(text).toMatch(/^(@[a-z]+|[\dA-Za-z*,/-]+( +[\dA-Za-z*,/-]+){4})$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('never fires if no month has such a day, and only then', () => {
    const longest = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    const list = (max: number) => fc.uniqueArray(fc.integer({ min: 1, max }), { minLength: 1, maxLength: 4 })
    fc.assert(
      fc.property(fc.oneof(list(31), fc.constantFrom([31], [30, 31])), list(12), (daysOfMonth, months) => {
        const fires = months.some((month) => daysOfMonth.some((day) => day <= (longest[month - 1] as number)))
        const problem = problemOfCron(`0 0 ${daysOfMonth} ${months} *`)
        if (fires) expect(problem).toBeUndefined()
        else expect(problem?.wrong).toBe('never fires')
      }),
      { numRuns: 1000 },
    )
  })

  it('is refused without a search through dates if it never fires', () => {
    const problems = withoutDates(() => NEVER_FIRING.map(problemOfCron))
    expect(problems).toEqual(NEVER_FIRING.map(() => expect.objectContaining({ wrong: 'never fires' })))
    const fires = withoutDates(() => problemOfCron('0 0 29 2 *'))
    expect(fires).toBeUndefined()
  })

  it('that never fires has no next run, and dates are not searched', () => {
    const after = new Date('2026-03-29T01:00:00.000Z')
    for (const expression of NEVER_FIRING) {
      const ask = () => nextRun(expression, 'America/New_York', after)
      expect(withoutDates(() => messageOf(ask))).toMatch(/never fires/)
    }
    // A search needs `Date`.
    expect(withoutDates(() => messageOf(() => nextRun('0 0 29 2 *', 'UTC', after)))).toMatch(/TypeError/)
  })

  it('is refused quickly, even if it is long', () => {
    for (const part of ['1,', '*/', '1-', ' ', '@', 'a', '0 ', ',']) {
      expect(problemOfCron(part.repeat(20_000))).toBeDefined()
    }
  })
})
