/** Writes the figures as tables. */
import { readFileSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { median } from './load.ts'
import type { Distance, Gap, Growth, Loads, Speed, Tick } from './measure.ts'
import type { NextRuns } from './next-run.ts'

export interface Results {
  readonly quick: boolean
  readonly speed: readonly Speed[]
  readonly distance: ReadonlyMap<string, readonly Distance[]>
  readonly loads: readonly Loads[]
  readonly gap: Gap
  readonly growth: readonly Growth[]
  readonly nextRuns: readonly NextRuns[]
  readonly ticks: readonly Tick[]
  readonly startUps: readonly { contender: string; gzipBytes: number; evaluationMs: number }[]
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
    '## Size and start-up',
    '',
    'Minified bundles. Evaluation is the median over fresh processes of Node.',
    '',
    ...table(
      ['contender', 'bytes gzip', 'evaluation ms'],
      results.startUps.map((row) => [row.contender, whole(row.gzipBytes), fine(row.evaluationMs)]),
    ),
    '',
  ].join('\n')
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
