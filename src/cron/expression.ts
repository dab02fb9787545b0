/**
 * The grammar of cron expressions:
 *
 *     expression = "@hourly" | "@daily" | … | minute hour day-of-month month day-of-week
 *     field      = item { "," item }
 *     item       = "*" [ "/" step ] | value [ "-" value ] [ "/" step ]
 */

import type { Problem } from '../errors.ts'

export interface Cron {
  readonly minutes: ReadonlySet<number>
  readonly hours: ReadonlySet<number>
  /** Days of the month, and of the week (0 is Sunday): a day has to match one of both if neither field is exactly `*`. */
  readonly daysOfMonth: ReadonlySet<number>
  readonly daysOfWeek: ReadonlySet<number>
  readonly isAnyDayOfMonth: boolean
  readonly isAnyDayOfWeek: boolean
  /** 1 is January. */
  readonly months: ReadonlySet<number>
  /**
   * True if neither the minute nor the hour has a `*` or a step: such times follow the wall clock across clock changes.
   */
  readonly hasFixedTimes: boolean
}

interface Field {
  readonly name: string
  readonly min: number
  readonly max: number
  readonly names?: readonly string[]
}

const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC']
const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT']
const DAYS_OF_MONTHS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

const MINUTE: Field = { name: 'minute', min: 0, max: 59 }
const HOUR: Field = { name: 'hour', min: 0, max: 23 }
const DAY_OF_MONTH: Field = { name: 'day of month', min: 1, max: 31 }
const MONTH: Field = { name: 'month', min: 1, max: 12, names: MONTHS }
/** 7 is Sunday too, but a step without a range ends at 6. */
const DAY_OF_WEEK: Field = { name: 'day of week', min: 0, max: 6, names: WEEKDAYS }
const SUNDAY = 7

const MACROS: Readonly<Record<string, string>> = {
  '@hourly': '0 * * * *',
  '@daily': '0 0 * * *',
  '@midnight': '0 0 * * *',
  '@weekly': '0 0 * * 0',
  '@monthly': '0 0 1 * *',
  '@yearly': '0 0 1 1 *',
  '@annually': '0 0 1 1 *',
}

class CronError extends Error {
  readonly problem: Problem

  constructor(wrong: string, allowed: string, sent?: string) {
    super(wrong)
    this.problem = { wrong, allowed, ...(sent && { sent }) }
  }
}

/** The first problem of an expression, if any. */
export function problemOfCron(expression: string): Problem | undefined {
  try {
    parseCron(expression)
    return undefined
  } catch (error) {
    if (error instanceof CronError) return error.problem
    throw error
  }
}

/** @throws {CronError} if the expression has a problem. */
export function parseCron(expression: string): Cron {
  const fields = split(expression)
  const [minute, hour, dayOfMonth, month, dayOfWeek] = fields
  const cron = {
    minutes: parseField(MINUTE, minute),
    hours: parseField(HOUR, hour),
    daysOfMonth: parseField(DAY_OF_MONTH, dayOfMonth),
    months: parseField(MONTH, month),
    daysOfWeek: new Set(Array.from(parseField(DAY_OF_WEEK, dayOfWeek), (day) => day % SUNDAY)),
    isAnyDayOfMonth: dayOfMonth === '*',
    isAnyDayOfWeek: dayOfWeek === '*',
    hasFixedTimes: !/[*/]/.test(minute + hour),
  }
  if (cron.isAnyDayOfWeek && !hasAnyDay(cron.daysOfMonth, cron.months)) {
    throw new CronError('never fires', 'a day of month that one of its months has')
  }
  return cron
}

type FiveFields = [minute: string, hour: string, dayOfMonth: string, month: string, dayOfWeek: string]

function split(expression: string): FiveFields {
  if (expression.startsWith('@')) {
    const macro = MACROS[expression]
    if (macro) return macro.split(' ') as FiveFields
    throw new CronError('is not a known macro', `${Object.keys(MACROS).join(', ')} or five fields`)
  }
  const fields = expression.split(/ +/)
  if (expression.trim() !== expression || /[^\S ]/.test(expression)) {
    throw new CronError('has invalid white space', 'spaces between the fields')
  }
  if (fields.length !== 5) {
    const allowed = 'minute, hour, day of month, month and day of week'
    throw new CronError(
      'does not have five fields',
      allowed,
      `${fields.length} ${fields.length === 1 ? 'field' : 'fields'}`,
    )
  }
  return fields as FiveFields
}

const ITEM = /^(?:(\*)|(\w+)(?:-(\w+))?)(?:\/(\w+))?$/

/** The values that the field matches. */
function parseField(field: Field, text: string): Set<number> {
  const parts = new Set(text.split(','))
  return new Set([...parts].flatMap((part) => parseItem(field, part)))
}

function parseItem(field: Field, part: string): number[] {
  const match = ITEM.exec(part)
  if (!match) {
    const values = field.names ? 'numbers, names' : 'numbers'
    throw new CronError(`has an invalid ${field.name}`, `${values}, lists, ranges and steps, such as ${example(field)}`)
  }
  const [, wild, first, last, stepText] = match
  const step = stepText === undefined ? 1 : parseStep(field, stepText)
  if (wild !== undefined) return steps(field.min, field.max, step)
  const from = parseValue(field, first ?? '')
  const to = last === undefined ? endOf(field, from, stepText) : parseRangeEnd(field, last, from)
  if (to < from)
    throw new CronError(`has a reversed range of the ${field.name}`, 'ranges from the lower to the higher value')
  return steps(from, to, step)
}

function steps(from: number, to: number, step: number): number[] {
  return Array.from({ length: Math.floor((to - from) / step) + 1 }, (_, index) => from + index * step)
}

/** The last value of an item without a range: its only value or, with a step, the maximum of the field. */
function endOf(field: Field, from: number, stepText: string | undefined): number {
  return stepText === undefined ? from : Math.max(from, field.max)
}

/** `fri-sun` ends on the Sunday after the Friday, which is 7. */
function parseRangeEnd(field: Field, text: string, from: number): number {
  const to = parseValue(field, text)
  return field === DAY_OF_WEEK && to === 0 && from > 0 && !/^\d/.test(text) ? SUNDAY : to
}

function parseValue(field: Field, text: string): number {
  const named = field.names?.indexOf(text.toUpperCase()) ?? -1
  if (named >= 0) return named + field.min
  const value = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  const max = field === DAY_OF_WEEK ? SUNDAY : field.max
  if (value >= field.min && value <= max) return value
  const names = field.names ? ` or a name such as ${field.names[1]}` : ''
  throw new CronError(`has an invalid ${field.name}`, `${field.min} to ${max}${names}`)
}

function parseStep(field: Field, text: string): number {
  const size = field.max - field.min + 1
  const step = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN
  if (step >= 1 && step <= size) return step
  throw new CronError(`has an invalid step of the ${field.name}`, `steps from 1 to ${size}`)
}

function example(field: Field): string {
  const first = field.names?.[1] ?? String(field.min)
  return `${first}, ${field.min}-${field.min + 3} or */2`
}

function hasAnyDay(daysOfMonth: ReadonlySet<number>, months: ReadonlySet<number>): boolean {
  const earliest = Math.min(...daysOfMonth)
  return [...months].some((month) => earliest <= (DAYS_OF_MONTHS[month - 1] ?? 0))
}
