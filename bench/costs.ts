/**
 * What it costs on Cloudflare: its published prices, and what follows from the counters of the bench. Prices and
 * allowances are those of November 2026, in US dollars.
 */

import { RUNS_PER_MESSAGE } from '../src/resources/work/run-queue.ts'
import { operations as documented } from './data.ts'
import type { DatabaseUse } from './load.ts'
import type { OperationCost, RunCost, Tick } from './measure.ts'
import type { Size } from './size.ts'

/** One thing that is charged for. Allowances of the paid plan are for a month, those of the free plan for a day. */
interface Price {
  readonly what: string
  readonly page: string
  readonly included: number
  /** Beyond what is included, for so many of it. */
  readonly usd: number
  readonly per: number
  /** Where the free plan counts by the day. */
  readonly freeADay?: number
  /** Where what is begun is charged whole. */
  readonly isRoundedUp?: true
}

const MILLION = 1_000_000
const WORKERS = 'https://developers.cloudflare.com/workers/platform/pricing/'
const D1 = 'https://developers.cloudflare.com/d1/platform/pricing/'
const R2 = 'https://developers.cloudflare.com/r2/pricing/'
const QUEUES = 'https://developers.cloudflare.com/queues/platform/pricing/'
/** The prices of logs as they are from December 2026 on. */
const LOGS = 'https://developers.cloudflare.com/observability/pricing/'

export const PAID_PLAN_USD = 5
/** What the free plan gives each request. */
export const FREE_CPU_MS = 10

export const PRICES = {
  requests: {
    what: 'requests',
    page: WORKERS,
    included: 10 * MILLION,
    usd: 0.3,
    per: MILLION,
    freeADay: 100_000,
  },
  cpuMs: { what: 'CPU ms', page: WORKERS, included: 30 * MILLION, usd: 0.02, per: MILLION },
  rowsRead: {
    what: 'rows read',
    page: D1,
    included: 25_000 * MILLION,
    usd: 0.001,
    per: MILLION,
    freeADay: 5 * MILLION,
  },
  rowsWritten: {
    what: 'rows written',
    page: D1,
    included: 50 * MILLION,
    usd: 1,
    per: MILLION,
    freeADay: 100_000,
  },
  databaseGb: { what: 'GB in D1', page: D1, included: 5, usd: 0.75, per: 1 },
  objectWrites: {
    what: 'R2 class A operations',
    page: R2,
    included: MILLION,
    usd: 4.5,
    per: MILLION,
    isRoundedUp: true,
  },
  objectReads: {
    what: 'R2 class B operations',
    page: R2,
    included: 10 * MILLION,
    usd: 0.36,
    per: MILLION,
    isRoundedUp: true,
  },
  objectGb: { what: 'GB in R2', page: R2, included: 10, usd: 0.015, per: 1, isRoundedUp: true },
  queueOperations: {
    what: 'queue operations',
    page: QUEUES,
    included: MILLION,
    usd: 0.4,
    per: MILLION,
    freeADay: 10_000,
  },
  logGb: { what: 'GB of logs', page: LOGS, included: 50, usd: 0.25, per: 1 },
  storedLogGb: { what: 'GB of logs kept', page: LOGS, included: 12, usd: 0.1, per: 1 },
} as const satisfies Record<string, Price>

export type Charged = keyof typeof PRICES
export type Usage = Partial<Readonly<Record<Charged, number>>>

export const CHARGED = Object.keys(PRICES) as Charged[]
const priceOf = (charged: Charged): Price => PRICES[charged]

/** Dollars for all of it, as if nothing were included. */
export function usdBeyond(charged: Charged, amount: number): number {
  const { usd, per } = priceOf(charged)
  return (amount / per) * usd
}

/** How many a day the free plan carries, and whose allowance ends first. */
export function freeADay(usage: Usage): { readonly times: number; readonly first: string } {
  let carried = { times: Number.POSITIVE_INFINITY, first: '' }
  for (const charged of CHARGED) {
    const { freeADay, what } = priceOf(charged)
    const times = Math.floor((freeADay ?? Number.POSITIVE_INFINITY) / (usage[charged] ?? 0))
    if (times < carried.times) carried = { times, first: what }
  }
  return carried
}

/** What the store of objects is asked for by one request. Deleting is free. */
const OBJECT_OPERATIONS: Readonly<Record<string, Usage>> = {
  putSessionFile: { objectWrites: 1 },
  putProfilePicture: { objectWrites: 1 },
  retrieveSessionFileContent: { objectReads: 1 },
  retrieveProfilePicture: { objectReads: 1 },
}

export interface Counted {
  readonly operations: readonly OperationCost[]
  readonly idle: Tick
  readonly runs: readonly RunCost[]
  readonly sizes: readonly Size[]
}

export interface NamedUsage {
  readonly name: string
  readonly usage: Usage
}

/** The usages of the seven operations of the specification. */
export function documentedUsages({ operations }: Counted): NamedUsage[] {
  return documented.map(({ name }) => ({ name, usage: usageOf(operations, name) }))
}

function usageOf(operations: readonly OperationCost[], name: string): Usage {
  const measured = operations.find(({ operation }) => operation === name)
  if (!measured) throw new Error(`${name} was not measured`)
  return { requests: 1, ...countersOf(measured), ...OBJECT_OPERATIONS[name] }
}

const countersOf = ({ database, cpuMs }: { readonly database: DatabaseUse; readonly cpuMs: number }): Usage => ({
  cpuMs,
  rowsRead: database.rowsRead,
  rowsWritten: database.rowsWritten,
})

const TICKS_PER_DAY = 24 * 60

/** Ticks of a day in which nothing is due. A tick is a request. */
export function idleDay({ idle }: Counted): Usage {
  return times({ requests: 1, ...countersOf(idle) }, TICKS_PER_DAY)
}

/** Written, read, deleted. */
const OPERATIONS_PER_MESSAGE = 3

/** A run from the claim to its end, with its share of a full message, which is at the most a request. */
export function runUsage({ runs }: Counted): Usage {
  const batch = { requests: 1 / RUNS_PER_MESSAGE, queueOperations: OPERATIONS_PER_MESSAGE / RUNS_PER_MESSAGE }
  return sum([batch, ...runs.map(countersOf)])
}

/**
 * The requests of a day of agents at work, by their share. Six of ten read. Each session is made once, gets files and a
 * pull request, and reads skills.
 */
export const MIX: Readonly<Record<string, number>> = {
  retrieveSkill: 0.2,
  listSessionFiles: 0.15,
  retrieveSessionFileContent: 0.15,
  listSkills: 0.05,
  listPins: 0.05,
  putSessionFile: 0.25,
  putSession: 0.05,
  putPullRequest: 0.05,
  updatePin: 0.02,
  createAgentSchedule: 0.01,
  setEnvironmentVariables: 0.01,
  deleteSessionFile: 0.01,
}

/** A month is 30 days. */
const DAYS_PER_MONTH = 30
/** The size of a session's file. */
const BYTES_OF_CONTENT = 10_000
/** The service's own line and Cloudflare's record of the request. */
const LOG_BYTES_PER_REQUEST = 2_000
const DAYS_KEPT = { auditEvents: 365, runs: 90, sessionFiles: 90, logs: 7 }
const GB = 1e9

export interface Month {
  readonly name: string
  readonly requestsADay: number
  readonly runsADay: number
}

export const MONTHS: readonly Month[] = [
  // 10 people with 150 requests a day each, 20 agents with 500, and 20 schedules of every hour.
  {
    name: 'a team of 10 with 20 agents',
    requestsADay: 10 * 150 + 20 * 500,
    runsADay: 20 * 24,
  },
  { name: '100,000 requests a day', requestsADay: 100_000, runsADay: 5_000 },
  {
    name: '10 million requests a day',
    requestsADay: 10 * MILLION,
    runsADay: 500_000,
  },
]

/** What a month takes, once what is kept for a while is as much as it gets. */
export function monthUsage(counted: Counted, { requestsADay, runsADay }: Month): Usage {
  const mixed = sum(Object.entries(MIX).map(([name, share]) => times(usageOf(counted.operations, name), share)))
  const day = sum([idleDay(counted), times(mixed, requestsADay), times(runUsage(counted), runsADay)])
  const changes = Object.entries(MIX).filter(([name]) => !/^(list|retrieve)/.test(name))
  const changesADay = requestsADay * changes.reduce((total, [, share]) => total + share, 0)
  const filesADay = requestsADay * (MIX.putSessionFile ?? 0)
  const databaseBytes =
    changesADay * DAYS_KEPT.auditEvents * bytesOf('audit event', counted) +
    runsADay * DAYS_KEPT.runs * bytesOf('run', counted) +
    filesADay * DAYS_KEPT.sessionFiles * bytesOf('session file', counted)
  const logGbADay = ((day.requests ?? 0) * LOG_BYTES_PER_REQUEST) / GB
  return {
    ...times(day, DAYS_PER_MONTH),
    databaseGb: databaseBytes / GB,
    objectGb: (filesADay * DAYS_KEPT.sessionFiles * BYTES_OF_CONTENT) / GB,
    logGb: logGbADay * DAYS_PER_MONTH,
    storedLogGb: logGbADay * DAYS_KEPT.logs,
  }
}

function bytesOf(name: string, { sizes }: Counted): number {
  const size = sizes.find((each) => each.name === name)
  if (!size) throw new Error(`There is no size of a ${name}`)
  return size.bytes
}

/** What the paid plan charges besides itself. */
export function usdOf(charged: Charged, usage: Usage): number {
  const { included, per, isRoundedUp } = priceOf(charged)
  const beyond = Math.max(0, (usage[charged] ?? 0) - included)
  return usdBeyond(charged, isRoundedUp ? Math.ceil(beyond / per) * per : beyond)
}

export function monthUsd(usage: Usage): number {
  return PAID_PLAN_USD + CHARGED.reduce((total, charged) => total + usdOf(charged, usage), 0)
}

/** The assumptions of the months, in words. */
export const ASSUMPTIONS = [
  `${Object.entries(MIX)
    .map(([name, share]) => `${Math.round(share * 100)} % ${name}`)
    .join(', ')}`,
  `session files of ${BYTES_OF_CONTENT / 1000} KB that are kept for ${DAYS_KEPT.sessionFiles} days`,
  `audit events are kept for ${DAYS_KEPT.auditEvents} days, runs for ${DAYS_KEPT.runs}, of the sizes above`,
  `logs of ${LOG_BYTES_PER_REQUEST / 1000} KB for every request, kept for ${DAYS_KEPT.logs} days`,
]

function times(usage: Usage, factor: number): Usage {
  return Object.fromEntries(Object.entries(usage).map(([charged, amount]) => [charged, amount * factor]))
}

function sum(usages: readonly Usage[]): Usage {
  return Object.fromEntries(
    CHARGED.map((charged) => [charged, usages.reduce((total, usage) => total + (usage[charged] ?? 0), 0)]),
  )
}
