/**
 * Alerts: what the operator is told at `OPERATOR_ALERT_URL`, once when it begins and once when it ends. The table
 * `alerts` of database 0 has those that have not ended. That the operator was told is stored after the receiver took it, so
 * an alert is never lost, and may be sent twice.
 */
import { sql } from 'drizzle-orm'
import { type Database, requireDatabase } from '../db/database.ts'
import { describeFailure } from '../db/failures.ts'
import { number } from '../db/parameters.ts'
import { excluded, insertRow, jsonRows } from '../db/rows.ts'
import { alerts } from '../db/schema.ts'
import { query, type RowOf, runBatch, unguarded } from '../db/statement.ts'
import type { Environment } from '../environment.ts'
import { isDoneWithin } from '../webhooks/deliveries.ts'
import { post } from '../webhooks/post.ts'

const about = number('about')

/** The alerts about a database that have not ended, apart from late ticks, which only the tick of database 0 knows. */
export const selectAlerts = unguarded({ about }, () =>
  query.select().from(alerts).where(sql`${alerts.database} = ${about} and ${alerts.name} <> 'late'`),
)

export type Alert = RowOf<typeof selectAlerts>
export type AlertKey = Pick<Alert, 'database' | 'name'>

/** A sentence for the operator. */
export interface Message {
  readonly text: string
  /** The alerts that it says have begun. */
  readonly begun?: readonly (AlertKey & { readonly endsAt?: string })[]
  /** The alerts that it says have ended. */
  readonly ended?: readonly AlertKey[]
}

const stored = jsonRows('stored', 'database', 'name', 'begunAt', 'sentAt', 'endsAt')
const removed = jsonRows('removed', 'database', 'name')

export const storeAlerts = unguarded({ parameter: stored.parameter }, () =>
  query
    .insert(alerts)
    .select(
      query
        .select(
          insertRow(alerts, {
            database: stored.column('database'),
            name: stored.column('name'),
            begunAt: stored.column('begunAt'),
            sentAt: stored.column('sentAt'),
            endsAt: stored.column('endsAt'),
          }),
        )
        .from(stored.table)
        .where(sql`true`),
    )
    .onConflictDoUpdate({
      target: [alerts.database, alerts.name],
      set: { sentAt: sql`coalesce(${alerts.sentAt}, ${excluded('sentAt')})`, endsAt: excluded('endsAt') },
    })
    .returning({ sentAt: alerts.sentAt }),
)

export const removeAlerts = unguarded({ parameter: removed.parameter }, () =>
  query
    .delete(alerts)
    .where(
      sql`(${alerts.database}, ${alerts.name}) in (select ${removed.column('database')}, ${removed.column('name')} from ${removed.table})`,
    ),
)

/** Added to what is sent while the state is unknown. */
export const REPEATED = 'This is repeated until database 0 answers.'

/** A database that hangs must not keep an alert waiting. */
const STATE_TIMEOUT_MS = 10_000

/**
 * Calls database 0, which has the state.
 * @returns undefined if it fails or does not answer in time.
 */
export async function onState<Result>(
  environment: Environment,
  call: (database: Database) => Promise<Result>,
): Promise<Result | undefined> {
  try {
    const result = call(requireDatabase(environment, 0))
    if (await isDoneWithin(STATE_TIMEOUT_MS, result)) return await result
    throw new Error('Database 0 did not answer in time.')
  } catch (error) {
    console.error(JSON.stringify({ task: 'alerts', failure: describeFailure(error) }))
    return undefined
  }
}

/** Sends a sentence. @returns whether the receiver took it. */
export async function send({ OPERATOR_ALERT_URL: url }: Environment, text: string): Promise<boolean> {
  if (!url) return false
  const { attempt } = await post(url, {}, JSON.stringify({ text: `Workspace API: ${text}` }))
  if (attempt.error !== null) console.error(JSON.stringify({ alert: text, failure: attempt.error }))
  return attempt.error === null
}

/** Sends the messages and stores what they say. */
export async function sendMessages(environment: Environment, messages: readonly Message[], now: Date): Promise<void> {
  const begun: Alert[] = []
  const ended: AlertKey[] = []
  for (const message of messages) {
    const isSent = await send(environment, message.text)
    const sentAt = isSent ? now.toISOString() : null
    for (const alert of message.begun ?? []) {
      begun.push({ ...alert, begunAt: now.toISOString(), sentAt, endsAt: alert.endsAt ?? null })
    }
    if (isSent) ended.push(...(message.ended ?? []))
  }
  if (begun.length > 0 || ended.length > 0) await store(environment, begun, ended)
}

/** @returns the begun alerts as they are stored; undefined if that fails. */
export async function store(
  environment: Environment,
  begun: readonly Alert[],
  ended: readonly AlertKey[] = [],
): Promise<Pick<Alert, 'sentAt'>[] | undefined> {
  const values = { stored: stored.value(begun), removed: removed.value(ended) }
  const rows = await onState(environment, (database) => runBatch(database, { storeAlerts, removeAlerts }, values))
  return rows?.storeAlerts
}

/** The minute of a time. */
export function minuteOf(time: string): string {
  return `${time.slice(0, 10)} ${time.slice(11, 16)} UTC`
}
