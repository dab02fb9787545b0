/** Writes the figures as tables. */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import {
  ASSUMPTIONS,
  CHARGED,
  type Charged,
  type Counted,
  documentedUsages,
  FREE_CPU_MS,
  freeADay,
  idleDay,
  MONTHS,
  monthUsage,
  monthUsd,
  PAID_PLAN_USD,
  PRICES,
  runUsage,
  type Usage,
  usdBeyond,
  usdOf,
} from './costs.ts'
import type { Deliveries } from './delivery.ts'
import { median } from './load.ts'
import type { Distance, Gap, Growth, Loads, OperationCost, Speed, Tick } from './measure.ts'
import type { NextRuns } from './next-run.ts'
import type { Evaluation, FirstRequest } from './start-up.ts'

export interface Results {
  readonly quick: boolean
  readonly speed: readonly Speed[]
  readonly distance: ReadonlyMap<string, readonly Distance[]>
  readonly loads: readonly Loads[]
  readonly gap: Gap
  readonly growth: readonly Growth[]
  readonly nextRuns: readonly NextRuns[]
  readonly ticks: readonly Tick[]
  readonly deliveries: readonly Deliveries[]
  readonly counted: Counted
  readonly startUp: {
    readonly evaluations: readonly Evaluation[]
    readonly firstRequests: readonly FirstRequest[]
  }
}

const SERVICE = 'service'

export function report(results: Results): string {
  return [
    '# Results of the bench',
    '',
    `\`npm run bench${results.quick ? ' -- --quick' : ''}\` on ${new Date().toISOString().slice(0, 10)}, ${machine()}.`,
    '',
    'Every contender has the same data and gave the same answers, checked before. Workers run in workerd, each in a',
    'process of its own with its D1, without a proxy before it. Ratios are of one run; absolute figures are of one machine.',
    '',
    '## Speed',
    '',
    'Eight connections, rounds that alternate. Medians of the rounds; ratios of these medians, and in brackets the lowest',
    'and the highest of a round.',
    'A ratio above 1 says how many times faster the service is, or how much more CPU it takes than floor 2.',
    '',
    ...table(
      [
        'operation',
        'contender',
        'requests/s',
        'service is × as fast',
        'CPU ms',
        'service takes × the CPU',
        'p50 ms',
        'p99 ms',
      ],
      speedRows(results.speed),
    ),
    '',
    '## Distance',
    '',
    'One connection, each call to D1 delayed. The slope of latency over distance is the number of round trips. Peer c has',
    'its database in its own process.',
    '',
    ...table(
      [
        'operation',
        'contender',
        ...distancesOf(results.distance).map((ms) => `p50 at ${ms} ms`),
        'slope',
        'D1 calls',
        'rows read',
        'rows written',
      ],
      distanceRows(results.distance),
    ),
    '',
    '## Load',
    '',
    'The service, all operations in turn, on connections that are open. No request failed.',
    '',
    ...table(
      ['connections', 'requests/s', 'p50 ms', 'p99 ms'],
      results.loads.map((row) => [
        `${row.connections}`,
        whole(row.perSecond),
        fine(row.p50Ms),
        fine(row.p99Ms),
      ]),
    ),
    '',
    '## Growth',
    '',
    'The service, one connection, in a table of so many rows (and as many API keys), half of them of the one organization;',
    'cursors at nine tenths of its files.',
    '',
    ...table(
      ['operation', 'rows', 'median ms', '× the time at the fewest', 'rows read', 'rows written'],
      growthRows(results.growth),
    ),
    '',
    '## One gap',
    '',
    `${results.gap.placements} placements into the same gap wrote ${results.gap.rowsWritten} rows, ` +
      `${fine(results.gap.rowsWritten / results.gap.placements)} each with the renumberings, and none failed.`,
    '',
    '## Schedules',
    '',
    'A tick of the service on so many due schedules of 100 organizations, every other one with a run endpoint. Of other',
    'tasks there is nothing to do, and the queue has no consumer. CPU is that of the process, its D1 and its queue included.',
    '',
    ...table(
      [
        'due',
        'D1 calls',
        'D1 statements',
        'rows read each',
        'rows written each',
        'CPU ms',
        'CPU µs each',
        '× the CPU each at the fewest',
      ],
      tickRows(results.ticks),
    ),
    '',
    'The time from the request for a run to its arrival at the run endpoint, of 100 runs of one organization, through the queues',
    'of wrangler.toml; then beside 1,000 runs of another organization that are due at once, whose run endpoint never answers.',
    '',
    ...table(
      ['beside', 'delivered', 'p50 ms', 'p99 ms'],
      results.deliveries.map(({ beside, delivered, p50Ms, p99Ms }) => [
        beside,
        whole(delivered),
        fine(p50Ms),
        fine(p99Ms),
      ]),
    ),
    '',
    'The CPU of computing one next run, in microseconds: bundles in a loop in Node, each call with the parsing. Median and',
    'worst of the instants that it starts from, which lie all over some years and close to changes of the clock. The floor is',
    `the median for ${results.nextRuns[0]?.name}. The last patterns never fire: the service refuses them, croner finds none.`,
    '',
    ...table(
      [
        'pattern',
        'characters',
        'time zone',
        'median µs',
        'worst µs',
        'median × the floor',
        'worst × the floor',
        'croner median µs',
        'croner worst µs',
        'croner takes × the median',
      ],
      nextRunRows(results.nextRuns),
    ),
    '',
    ...everyOperation(results.counted.operations),
    ...databaseSizes(results.counted),
    ...costs(results.counted),
    '## Size and start-up',
    '',
    'Minified bundles. Evaluation is the median over fresh processes of Node, which take turns.',
    '',
    ...table(
      ['contender', 'bytes gzip', 'evaluation ms'],
      results.startUp.evaluations.map(({ contender, gzipBytes, ms }) => [
        contender,
        whole(gzipBytes),
        fine(ms),
      ]),
    ),
    '',
    'The code of a resource is loaded, and its statements are compiled, on the first request. Medians over fresh processes of',
    'workerd that answered one other request before.',
    '',
    ...table(
      ['operation', 'first request ms', 'second request ms'],
      results.startUp.firstRequests.map((row) => [row.operation, fine(row.firstMs), fine(row.secondMs)]),
    ),
    '',
  ].join('\n')
}

/** What the ratios of CPU are to. */
const CHEAPEST = 'retrieveMe'

function everyOperation(operations: readonly OperationCost[]): string[] {
  const floor = operations.find(({ operation }) => operation === CHEAPEST)?.cpuMs ?? Number.NaN
  return [
    '## Every operation',
    '',
    'One request that succeeds, of every operation, on one connection in an organization with a hundred of each; then the',
    'worst input of those tried: the longest headers and query, hostile text in place of every string, bodies at their limit',
    'that are refused, the largest page of a list (1,000 items, in an organization that has them), the most files, variables and',
    'bytes, the worst cron patterns.',
    "CPU is that of the process: the Worker's, and that of its D1 and its R2, which on Cloudflare is not the Worker's, so",
    `these are upper bounds. The free plan gives a request ${FREE_CPU_MS} ms: what is above it has **bold** figures. Memory is by how`,
    'much the process grew at its peak, its D1 and its R2 and garbage included; an isolate on Cloudflare has 128 MB.',
    '',
    ...table(
      [
        'operation',
        'D1 calls',
        'D1 statements',
        'rows read',
        'rows written',
        'CPU ms',
        `× the CPU of ${CHEAPEST}`,
        'CPU ms at the worst input',
        `× the CPU of ${CHEAPEST}`,
        'the worst input',
        'MiB at the largest input',
        'the largest input',
      ],
      operations.map(({ operation, database, cpuMs, worst, largest }) => [
        operation,
        fine(database.calls),
        fine(database.statements),
        fine(database.rowsRead),
        fine(database.rowsWritten),
        cpu(cpuMs),
        fine(cpuMs / floor),
        cpu(worst.cpuMs),
        fine(worst.cpuMs / floor),
        worst.what,
        fine(largest.memoryMb),
        largest.what,
      ]),
    ),
    '',
    ...aboveFree(operations),
  ]
}

function cpu(ms: number): string {
  return ms > FREE_CPU_MS ? `**${fine(ms)}**` : fine(ms)
}

/** Says why some are above what the free plan gives. */
function aboveFree(operations: readonly OperationCost[]): string[] {
  const above = operations.filter(({ worst }) => worst.cpuMs > FREE_CPU_MS)
  if (above.length === 0) return []
  return [
    `Above ${FREE_CPU_MS} ms are ${above.length} of ${operations.length} operations, and only at their worst input: megabytes to parse, seal, store or answer with,`,
    'thousands of problems to find in one body, or a hundred runs of the dearest pattern to compute. What bounds each is the limit',
    'of its body, of its page or of its pattern.',
    '',
  ]
}

const LARGEST_DATABASE_BYTES = 10e9

function databaseSizes({ sizes }: Counted): string[] {
  return [
    '## Size',
    '',
    'What a row takes in the database with all of its indexes, over 50,000 rows of 100 organizations, and how many fill the',
    '10 GB of a D1 database; and the same of a row whose ids, names, paths and keys are as long as they may be, in characters of',
    'four bytes. SQLite has pages of 4 KB: two rows of over 2 KB do not fit into one.',
    '',
    ...table(
      ['row', 'bytes', '10 GB hold', 'bytes at most'],
      sizes.map(({ name, bytes, mostBytes }) => [
        name,
        whole(bytes),
        whole(LARGEST_DATABASE_BYTES / bytes),
        whole(mostBytes),
      ]),
    ),
    '',
  ]
}

/** In the tables of costs, in this order. */
const OF_REQUESTS: readonly Charged[] = ['requests', 'cpuMs', 'rowsRead', 'rowsWritten', 'queueOperations']
const MILLION = 1_000_000

function costs(counted: Counted): string[] {
  const run = runUsage(counted)
  const usages = [...documentedUsages(counted), { name: 'a run, from the claim to its end', usage: run }]
  const idle = idleDay(counted)
  const ofIdle = (charged: 'requests' | 'rowsRead' | 'rowsWritten') => {
    const { what, freeADay } = PRICES[charged]
    const amount = idle[charged] ?? 0
    return `${whole(amount)} ${what} (${fine((amount / freeADay) * 100)} %)`
  }
  const months = MONTHS.map((month) => ({ month, usage: monthUsage(counted, month) }))
  return [
    '## Costs',
    '',
    `By Cloudflare's prices of November 2026 (\`bench/costs.ts\` has each with its page) and the counters above. The paid plan is ${PAID_PLAN_USD} USD a`,
    'month, with what it includes. CPU is the upper bound above.',
    '',
    'Beyond what is included, a million requests in USD; and how many a day the free plan carries, if there is nothing else.',
    '',
    ...table(
      [
        'operation',
        ...OF_REQUESTS.map((charged) => PRICES[charged].what),
        'total',
        'a day on the free plan',
        'what ends first',
      ],
      usages.map(({ name, usage }) => usageRow(name, usage)),
    ),
    '',
    'Five runs of an organization that are due together share a message of the queue, which is a batch and so a request. A run counts with its delivery and',
    'with its row being forgotten after 90 days. That an event of the audit trail is forgotten after a year, one row written, is not counted.',
    '',
    `A service that nobody calls ticks once a minute. A tick with nothing to do makes ${whole(counted.idle.database.statements)} D1 statements in ` +
      `${whole(counted.idle.database.calls)} calls, reads ${whole(counted.idle.database.rowsRead)} rows and takes ` +
      `${fine(counted.idle.cpuMs)} ms of CPU. So a day takes, of the free plan's allowances: ${ofIdle('requests')}, ` +
      `${ofIdle('rowsRead')} and ${ofIdle('rowsWritten')}.`,
    '',
    'Months on the paid plan in USD, where nothing is over what is included: 0. Assumed are:',
    '',
    ...ASSUMPTIONS.map((assumption) => `- ${assumption}`),
    '',
    ...table(
      ['', ...MONTHS.map(({ name }) => name)],
      [
        ['requests a day', ...MONTHS.map(({ requestsADay }) => whole(requestsADay))],
        ['runs a day', ...MONTHS.map(({ runsADay }) => whole(runsADay))],
        ['the plan', ...MONTHS.map(() => fine(PAID_PLAN_USD))],
        ...CHARGED.map((charged) => [
          PRICES[charged].what,
          ...months.map(({ usage }) => `${fine(usdOf(charged, usage))} (${amountOf(usage, charged)})`),
        ]),
        ['total', ...months.map(({ usage }) => `**${fine(monthUsd(usage))}**`)],
      ],
    ),
    '',
    'In brackets is how much it is, in a month or at its end. Above 10 GB in D1, organizations are divided over databases',
    '(docs/scaling.md), at the same price. `head_sampling_rate` lowers what is logged, and its price with it.',
    '',
  ]
}

function usageRow(name: string, usage: Usage): string[] {
  const usd = OF_REQUESTS.map((charged) => usdBeyond(charged, (usage[charged] ?? 0) * MILLION))
  const { times, first } = freeADay(usage)
  return [name, ...usd.map(fine), fine(usd.reduce((sum, each) => sum + each, 0)), whole(times), first]
}

function amountOf(usage: Usage, charged: Charged): string {
  const amount = usage[charged] ?? 0
  return amount < MILLION ? whole(amount) : `${fine(amount / MILLION)} million`
}

function speedRows(speed: readonly Speed[]): string[][] {
  return speed.map((row) => {
    const service = speed.find(
      (other) => other.operation === row.operation && other.contender === SERVICE,
    ) as Speed
    return [
      row.operation,
      row.contender,
      whole(median(row.perSecond)),
      row === service ? '' : ratio(service.perSecond, row.perSecond),
      fine(median(row.cpuMs)),
      row === service ? '' : ratio(service.cpuMs, row.cpuMs),
      fine(median(row.p50Ms)),
      fine(median(row.p99Ms)),
    ]
  })
}

function distanceRows(distance: Results['distance']): string[][] {
  return Array.from(distance).flatMap(([contender, rows]) =>
    rows.map(({ operation, p50Ms, slope, database }) => [
      operation,
      contender,
      ...Array.from(p50Ms.values(), fine),
      fine(slope),
      fine(database.calls),
      fine(database.rowsRead),
      fine(database.rowsWritten),
    ]),
  )
}

function distancesOf(distance: Results['distance']): number[] {
  return [...(distance.get(SERVICE)?.[0]?.p50Ms.keys() ?? [])]
}

function growthRows(growth: readonly Growth[]): string[][] {
  return [...growth]
    .sort((a, b) => a.operation.localeCompare(b.operation) || a.rows - b.rows)
    .map((row) => {
      const least = growth.find((other) => other.operation === row.operation) as Growth
      return [
        row.operation,
        whole(row.rows),
        fine(row.medianMs),
        fine(row.medianMs / least.medianMs),
        fine(row.database.rowsRead),
        fine(row.database.rowsWritten),
      ]
    })
}

function tickRows(ticks: readonly Tick[]): string[][] {
  const [fewest] = ticks
  return ticks.map(({ schedules, cpuMs, database }) => [
    whole(schedules),
    whole(database.calls),
    whole(database.statements),
    fine(database.rowsRead / schedules),
    fine(database.rowsWritten / schedules),
    fine(cpuMs),
    whole((cpuMs / schedules) * 1000),
    fine(cpuMs / schedules / (fewest ? fewest.cpuMs / fewest.schedules : Number.NaN)),
  ])
}

function nextRunRows(rows: readonly NextRuns[]): string[][] {
  const floor = rows[0]?.cpu.service.median ?? Number.NaN
  return rows.map(({ name, characters, timezone, cpu: { service, croner } }) => [
    name,
    whole(characters),
    timezone,
    fine(service.median),
    fine(service.worst),
    fine(service.median / floor),
    fine(service.worst / floor),
    fine(croner.median),
    fine(croner.worst),
    fine(croner.median / service.median),
  ])
}

/** The ratio of the medians, and how far the ratios of the single rounds spread. */
function ratio(values: readonly number[], others: readonly number[]): string {
  const ofRounds = values.map((value, round) => value / (others[round] ?? Number.NaN))
  const spread = `${fine(Math.min(...ofRounds))}–${fine(Math.max(...ofRounds))}`
  return `${fine(median(values) / median(others))} (${spread})`
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head, head.map(() => '---'), ...rows]
  return lines.map((cells) => `| ${cells.join(' | ')} |`)
}

function machine(): string {
  const version = (name: string) =>
    JSON.parse(readFileSync(join(import.meta.dirname, '..', 'node_modules', name, 'package.json'), 'utf8'))
      .version
  const packages = ['workerd', 'hono', 'drizzle-orm', 'zod', '@hono/zod-openapi', 'fastify']
  const versions = packages.map((name) => `${name} ${version(name)}`).join(', ')
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${versions}`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function fine(value: number): string {
  return value.toFixed(2)
}
