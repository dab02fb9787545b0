/** What ticks tell the operator: that ticks are late, that calls fail, and that a database becomes full. */
import { and, eq, isNotNull, lte, or, sql } from 'drizzle-orm'
import { type DatabaseHealth, databaseNumbers, MAX_DATABASE_BYTES } from '../db/database.ts'
import { now, number, text } from '../db/parameters.ts'
import { excluded } from '../db/rows.ts'
import { alerts, tickReports } from '../db/schema.ts'
import { query, runBatch, unguarded } from '../db/statement.ts'
import type { EventExcess } from '../db/usage.ts'
import { DAY_MS } from '../durations.ts'
import type { Environment } from '../environment.ts'
import {
  type Alert,
  type Message,
  minuteOf,
  onState,
  REPEATED,
  selectAlerts,
  send,
  sendMessages,
  store,
} from './alerts.ts'
import { deadLettersEnded, deadLettersText } from './dead-letters.ts'

/** The minute after that of the last tick, and five more. */
export const LATE_MS = 6 * 60_000

/** So many failed calls, in one tick or in ticks that follow each other, are no passing failure. */
const MAX_FAILED_CALLS = 3

const SIZES = [70, 85, 95] as const
/** An alert about the size ends so far below it, so that it does not begin and end again and again. */
const BELOW_PERCENT = 2

/** The next daily pass prolongs the alert. */
const EXCESS_LASTS_MS = 1.5 * DAY_MS

/** The most databases that a sentence names. */
const MAX_NAMED = 10

const numbers = text('numbers')
const lateBefore = text('lateBefore')
const ofTick = number('ofTick')
const failed = number('failed')

const isBound = sql`${tickReports.database} in (select value from json_each(${numbers}))`

/** A database whose ticks never ran becomes late too. */
export const insertReports = unguarded({ numbers, now }, () =>
  query
    .insert(tickReports)
    .select(sql`select value, ${now}, 0 from json_each(${numbers}) where true`)
    .onConflictDoNothing(),
)

/** The databases whose ticks are late, or were when the last tick looked. */
export const selectLate = unguarded({ numbers, lateBefore }, () =>
  query
    .select({
      database: tickReports.database,
      scheduledAt: tickReports.scheduledAt,
      begunAt: alerts.begunAt,
      sentAt: alerts.sentAt,
    })
    .from(tickReports)
    .leftJoin(alerts, and(eq(alerts.database, tickReports.database), sql`${alerts.name} = 'late'`))
    .where(and(isBound, or(lte(tickReports.scheduledAt, lateBefore), isNotNull(alerts.name)))),
)

export const reportTick = unguarded({ ofTick, now, failed }, () =>
  query
    .insert(tickReports)
    .values({ database: sql`${ofTick}`, scheduledAt: sql`${now}`, failedCalls: sql`${failed}` })
    .onConflictDoUpdate({
      target: tickReports.database,
      set: {
        scheduledAt: sql`max(${tickReports.scheduledAt}, ${excluded('scheduledAt')})`,
        failedCalls: sql`iif(${excluded('failedCalls')} = 0, 0, ${tickReports.failedCalls} + ${excluded('failedCalls')})`,
      },
    })
    .returning({ failedCalls: tickReports.failedCalls }),
)

/**
 * Looks for databases whose last completed tick is too long ago. Database 0 reads the reports of all, so that ticks that
 * do not run are noticed, and nothing has to be asked of each database.
 * @returns false if database 0 does not answer. The operator was told.
 */
export async function alertOfLateTicks(environment: Environment, instant: Date): Promise<boolean> {
  if (!environment.OPERATOR_ALERT_URL) return true
  const ms = Math.max(instant.getTime(), Date.now())
  const lateBefore = new Date(ms - LATE_MS).toISOString()
  const values = { numbers: JSON.stringify(databaseNumbers(environment)), now: instant.toISOString(), lateBefore }
  const look = () => onState(environment, (zero) => runBatch(zero, { insertReports, reports: selectLate }, values))
  let state = await look()
  for (let calls = 1; calls < MAX_FAILED_CALLS && !state; calls++) state = await look()
  if (!state) {
    await send(environment, `database 0 does not answer. ${REPEATED}`)
    return false
  }
  const isLate = ({ scheduledAt }: { scheduledAt: string }) => scheduledAt <= lateBefore
  // Without ticks of database 0, nothing has run the others.
  const zero = state.reports.find((report) => report.database === 0 && isLate(report))
  const reports = zero ? [zero] : state.reports
  const begun = reports.filter((report) => isLate(report) && report.sentAt === null)
  const ended = reports.filter((report) => !isLate(report))
  const keyOf = ({ database }: { database: number }) => ({ database, name: 'late' as const })
  const messages: Message[] = []
  if (begun.length > 0) {
    const since = begun.map(({ scheduledAt }) => scheduledAt).sort()[0] ?? ''
    const text = `no completed tick of ${namesOf(begun)} is recorded since ${minuteOf(since)}.`
    messages.push({ text, begun: begun.map(keyOf) })
  }
  if (ended.length > 0) {
    const lateAt = ended.map(({ begunAt }) => begunAt ?? '').sort()[0] ?? ''
    const text = `ticks of ${namesOf(ended)} complete again. They were late at ${minuteOf(lateAt)}.`
    messages.push({ text, ended: ended.map(keyOf) })
  }
  await sendMessages(environment, messages, instant)
  return true
}

/** For example "database 3" or "databases 1, 2, 5". */
function namesOf(databases: readonly { readonly database: number }[]): string {
  const numbers = databases.map(({ database }) => database)
  const others = numbers.length - MAX_NAMED
  const named = numbers.slice(0, MAX_NAMED).join(', ')
  return `database${numbers.length > 1 ? 's' : ''} ${named}${others > 0 ? ` and ${others} more` : ''}`
}

/**
 * After the tasks of a tick: reports that it is completed, and alerts of what it has found. If the state is unknown, it
 * repeats that calls fail with each tick, and leaves the size to a later one.
 * @param isTold whether the operator was told in this tick that database 0 does not answer.
 * @param excess what the daily pass has found, if it did.
 */
export async function alertOfDatabase(
  environment: Environment,
  database: number,
  instant: Date,
  health: DatabaseHealth,
  isTold: boolean,
  excess?: EventExcess,
): Promise<void> {
  if (!environment.OPERATOR_ALERT_URL) return
  const { failedCalls } = health
  const values = { ofTick: database, about: database, now: instant.toISOString(), failed: failedCalls }
  const state = await onState(environment, (zero) => runBatch(zero, { report: reportTick, open: selectAlerts }, values))
  if (state) {
    const failedSince = state.report[0]?.failedCalls ?? failedCalls
    const found = conditionsOf(database, { ...health, failedCalls: failedSince }, state.open, instant)
    if (excess) found.set('events', excessText(excess))
    const endsAt = new Date(instant.getTime() + EXCESS_LASTS_MS).toISOString()
    const known = state.open.find(({ name }) => name === 'events')
    if (excess && known) await store(environment, [{ ...known, endsAt }])
    await sendMessages(environment, changesOf(database, found, state.open, health, endsAt), instant)
  } else if (failedCalls >= MAX_FAILED_CALLS && !isTold) {
    await send(environment, `${failingText(database, failedCalls)} ${REPEATED}`)
  }
}

/** What lasts, and the sentence that says that it has begun. */
type Conditions = Map<Alert['name'], string>

function conditionsOf(
  database: number,
  { failedCalls, sizeBytes }: DatabaseHealth,
  open: readonly Alert[],
  instant: Date,
): Conditions {
  const conditions = new Map<Alert['name'], string>()
  if (failedCalls >= MAX_FAILED_CALLS) conditions.set('failing', failingText(database, failedCalls))
  const percent = percentOf(sizeBytes)
  for (const size of SIZES) {
    const name = `size-${size}` as const
    const lowest = open.some((alert) => alert.name === name) ? size - BELOW_PERCENT : size
    if (percent >= lowest) conditions.set(name, `database ${database} is ${sizeText(sizeBytes)}.`)
  }
  const isLasting = ({ endsAt }: Alert) => endsAt !== null && endsAt > instant.toISOString()
  for (const { name } of open.filter(isLasting)) {
    conditions.set(name, name === 'events' ? tooManyEventsText(database) : deadLettersText(database))
  }
  return conditions
}

function changesOf(
  database: number,
  conditions: Conditions,
  open: readonly Alert[],
  { sizeBytes }: DatabaseHealth,
  excessEndsAt: string,
): Message[] {
  const stored = new Map(open.map((alert) => [alert.name, alert]))
  const begun = [...conditions].flatMap(([name, text]): Message[] => {
    const { sentAt = null, endsAt = name === 'events' ? excessEndsAt : null } = stored.get(name) ?? {}
    return sentAt === null ? [{ text, begun: [{ database, name, ...(endsAt && { endsAt }) }] }] : []
  })
  const ended = open.flatMap((alert): Message[] => {
    const isSize = alert.name.startsWith('size-')
    if (conditions.has(alert.name) || (isSize && sizeBytes === 0)) return []
    return [{ text: endedText(alert, sizeBytes), ended: [alert] }]
  })
  return [...begun, ...ended]
}

function endedText({ database, name, begunAt }: Alert, sizeBytes: number): string {
  if (name === 'failing') return `calls to database ${database} succeed again. They failed since ${minuteOf(begunAt)}.`
  if (name === 'dead-letters') return deadLettersEnded(database)
  if (name === 'events')
    return `no organization of database ${database} has more events than EVENT_BYTE_LIMIT any more.`
  return `database ${database} is below ${name.replace('size-', '')} % again: ${sizeText(sizeBytes)}.`
}

const tooManyEventsText = (database: number) =>
  `an organization of database ${database} has more events than EVENT_BYTE_LIMIT.`

function excessText({ organizationId, bytes, byteLimit, apiKeyId }: EventExcess): string {
  const writer =
    apiKeyId === undefined ? 'No API key wrote its latest events.' : `Most were written by the API key ${apiKeyId}.`
  return `organization ${organizationId} has ${megabytes(bytes)} of events, more than EVENT_BYTE_LIMIT (${megabytes(byteLimit)}). ${writer}`
}

const megabytes = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`

const failingText = (database: number, calls: number) => `${calls} calls of ticks to database ${database} failed.`

const percentOf = (bytes: number) => (bytes / MAX_DATABASE_BYTES) * 100

const sizeText = (bytes: number) =>
  `${Math.floor(percentOf(bytes))} % full (${(bytes / 1e9).toFixed(1)} of ${MAX_DATABASE_BYTES / 1e9} GB)`
