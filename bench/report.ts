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
import type { FirstRequest, StartUp } from './start-up.ts'

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
    readonly startUps: readonly StartUp[]
    readonly firstRequests: readonly FirstRequest[]
  }
}

const SERVICE = 'service'

export function report(results: Results): string {
  return [
    '# Benchmark results',
    '',
    `\`npm run bench${results.quick ? ' -- --quick' : ''}\` on ${new Date().toISOString().slice(0, 10)}, ${machine()}.`,
    '',
    '[Speed and cost](../docs/benchmarks.md) says what these tables mean. All contenders have the same data and return the same responses,',
    'which is checked first. Each Worker runs in workerd, in a process of its own with its D1 and without a proxy. Ratios compare contenders within one run;',
    'absolute figures depend on the machine.',
    '',
    '## Speed',
    '',
    'Eight connections, in alternating rounds. The figures are medians of the rounds. A ratio is the ratio of two medians, with the lowest and the',
    'highest ratio of a round in brackets. "service is × as fast" above 1 means that the service is faster than the contender; "service takes × the CPU" above 1',
    'means that it uses more CPU.',
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
    'One connection, with a delay for each call to D1. The slope of latency over delay is the number of round trips. Peer b is left out, because its',
    'database is in its own process.',
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
    'The service, all seven operations in turn, on open connections. No request failed.',
    '',
    ...table(
      ['connections', 'requests/s', 'p50 ms', 'p99 ms'],
      results.loads.map((row) => [`${row.connections}`, whole(row.perSecond), fine(row.p50Ms), fine(row.p99Ms)]),
    ),
    '',
    '## Growth',
    '',
    'The service, one connection, in a table with this number of rows and as many API keys, half of them of the organization that calls. Lists start at nine',
    'tenths of the files.',
    '',
    ...table(
      ['operation', 'rows', 'median ms', '× the time with the fewest rows', 'rows read', 'rows written'],
      growthRows(results.growth),
    ),
    '',
    '## One gap',
    '',
    `${results.gap.placements} moves of a pin into the same gap wrote ${results.gap.rowsWritten} rows, ` +
      `${fine(results.gap.rowsWritten / results.gap.placements)} each including renumbering. None failed.`,
    '',
    '## Schedules',
    '',
    'A tick, the Cron Trigger of one minute, with due schedules of 100 organizations, half of them with a run endpoint. The other tasks have nothing',
    'to do, and the queue has no consumer. CPU is of the whole process, including its D1 and its queue.',
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
        '× the CPU each with the fewest',
      ],
      tickRows(results.ticks),
    ),
    '',
    'The time from the request for a run to its arrival at the run endpoint, for 100 runs of one organization through the queues of `wrangler.toml`. In the',
    'second line, 1,000 runs of another organization are due at the same time, and its run endpoint never responds.',
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
    'The CPU time of computing one next run, including parsing: the bundle in a loop in Node. Median and worst of many start times, spread over',
    `some years and close to clock changes. The floor is the median for ${results.nextRuns[0]?.name}. The last expressions never match: the service rejects them,`,
    'croner finds no run.',
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
    'Minified bundles. Medians of new processes of workerd, which take turns: from the start of the process to its first response, 401',
    'without an API key, less what an empty Worker takes. CPU is that of all threads of the process.',
    '',
    ...table(
      ['contender', 'bytes gzip', 'start-up ms', 'start-up CPU ms'],
      results.startUp.startUps.map(({ contender, gzipBytes, ms, cpuMs }) => [
        contender,
        whole(gzipBytes),
        fine(ms),
        fine(cpuMs),
      ]),
    ),
    '',
    'The first request to a resource loads its code and compiles its statements. Medians of new workerd processes that answered one',
    'request to another resource before. What the floor takes longer for its first request is what D1 takes longer.',
    '',
    ...table(
      ['contender', 'operation', 'first request ms', 'second request ms', 'difference ms'],
      results.startUp.firstRequests.map(({ contender, operation, firstMs, secondMs }) => [
        contender,
        operation,
        fine(firstMs),
        fine(secondMs),
        fine(firstMs - secondMs),
      ]),
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
    'For every operation: one successful request on one connection, in an organization with a hundred resources of each kind; and the worst of these inputs: the',
    'longest headers and query, hostile text in place of every string, rejected bodies at their limit, the largest page of a list (1,000 items), the most',
    'files, variables and bytes, the slowest cron expressions.',
    '',
    'CPU is of the whole process, including its D1 and its R2. On Cloudflare these do not run in the Worker, so the figures are upper bounds. The free plan',
    `allows a request ${FREE_CPU_MS} ms; figures above that are **bold**. Memory is the growth of the process at its peak, including D1, R2 and garbage; an isolate on`,
    'Cloudflare has 128 MB.',
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
    `${above.length} of ${operations.length} operations need more than ${FREE_CPU_MS} ms, and only with their worst input: megabytes to parse, encrypt, store or return, thousands of`,
    'problems in one body, or a hundred runs of the slowest cron expression. The limit of the body, page or expression bounds each of them.',
    '',
  ]
}

const LARGEST_DATABASE_BYTES = 10e9

function databaseSizes({ sizes }: Counted): string[] {
  return [
    '## Size',
    '',
    'Bytes of one row in the database with all of its indexes, measured with 50,000 rows of 100 organizations, and how many rows fill the 10 GB of a D1',
    'database. "bytes at most" is a row whose IDs, names, paths and keys have the maximum length, in characters of four bytes. SQLite has pages of 4 KiB, so two',
    'rows of more than 2 KiB need two pages.',
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
  const usages = [...documentedUsages(counted), { name: 'a run, from its creation to its deletion', usage: run }]
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
    `Cloudflare's prices of November 2026 (\`bench/costs.ts\` has each price and its page), applied to the counters above. The paid plan costs ${PAID_PLAN_USD} USD a month and`,
    'includes allowances. CPU is the upper bound above.',
    '',
    'The price of a million requests in USD beyond the allowances, and the number of requests a day that the free plan carries if there are no others:',
    '',
    ...table(
      [
        'operation',
        ...OF_REQUESTS.map((charged) => PRICES[charged].what),
        'total',
        'a day on the free plan',
        'first limit reached',
      ],
      usages.map(({ name, usage }) => usageRow(name, usage)),
    ),
    '',
    'Five runs of an organization that are due together share a message of the queue, which is one batch and one request. A run includes its delivery',
    'and its deletion after 90 days. The deletion of an audit event after one year, one row written, is not included.',
    '',
    `A service without requests still has one tick a minute. A tick with nothing to do makes ${whole(counted.idle.database.statements)} D1 statements in ` +
      `${whole(counted.idle.database.calls)} calls, reads ${whole(counted.idle.database.rowsRead)} rows and takes ` +
      `${fine(counted.idle.cpuMs)} ms of CPU. A day uses, of the free plan's allowances: ${ofIdle('requests')}, ` +
      `${ofIdle('rowsRead')} and ${ofIdle('rowsWritten')}.`,
    '',
    'The price of a month on the paid plan in USD, where 0 means within the allowances. The assumptions:',
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
    'The amount in a month, or at its end, is in brackets. Above 10 GB in D1, organizations are distributed over databases ([Growth](../docs/scaling.md)) at',
    'the same price. `head_sampling_rate` reduces the log and its price.',
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
    const service = speed.find((other) => other.operation === row.operation && other.contender === SERVICE) as Speed
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
    JSON.parse(readFileSync(join(import.meta.dirname, '..', 'node_modules', name, 'package.json'), 'utf8')).version
  const packages = ['workerd', 'hono', 'drizzle-orm', 'zod', 'fastify']
  const versions = packages.map((name) => `${name} ${version(name)}`).join(', ')
  return `${cpus().length} × ${cpus()[0]?.model.trim()}, Node ${process.versions.node}, ${versions}`
}

function whole(value: number): string {
  return Math.round(value).toLocaleString('en-US')
}

function fine(value: number): string {
  return value.toFixed(2)
}
