/**
 * The CPU that it takes to compute a next run: the service's way and croner's, for usual patterns and for the
 * worst.
 */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { median } from './load.ts'
import { bundle } from './servers.ts'

/** What is measured: each is given the expression, the time zone and the instant to start from. */
const CONTENDERS = {
  service: 'src/cron/next-run.ts',
  croner: 'bench/peers/croner.ts',
}

type NextRun = (expression: string, timezone: string, after: Date) => Date | null

interface Pattern {
  /** What the table says, where the expression is too long. */
  readonly name?: string
  readonly expression: string
  readonly timezone: string
}

const FLOOR: Pattern = { expression: '* * * * *', timezone: 'UTC' }

const all = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index).join()
const EVERY_MINUTE = `${all(0, 59)} ${all(0, 23)}`

/** Ranges of minutes, the widest first, no two alike. */
const RANGES = Array.from({ length: 60 }, (_, narrower) =>
  Array.from({ length: narrower + 1 }, (_, first) => `${first}-${59 - narrower + first}`),
).flat()

/** The items that an expression of this length has room for. */
function listOf(items: readonly string[], characters: number): string {
  const count = items.findLastIndex((_, index) => items.slice(0, index + 1).join().length <= characters) + 1
  return items.slice(0, count).join()
}

/** The dearest that is known, of so many characters. */
export function rangesOnLeapDay(characters: number): string {
  return `${listOf(RANGES, characters - 10)} 23 29 2 *`
}

export const ALL_FIELDS_LISTED = `${EVERY_MINUTE} ${all(1, 31)} ${all(1, 12)} ${all(0, 7)}`

const PATTERNS: readonly Pattern[] = [
  FLOOR,
  { expression: '*/15 * * * *', timezone: 'UTC' },
  { expression: '@monthly', timezone: 'UTC' },
  { expression: '30 9 * * mon-fri', timezone: 'Europe/Paris' },
  { expression: '30 2 * * *', timezone: 'America/New_York' },
  { expression: '*/5 9-17 * * 1-5', timezone: 'America/New_York' },
  // Sparse dates: up to eight years away.
  { expression: '59 23 29 2 *', timezone: 'America/New_York' },
  { expression: '59/1 23/1 29 2 *', timezone: 'America/New_York' },
  { expression: '59 23 29 2 sat', timezone: 'America/New_York' },
  // Two hours are repeated there.
  { expression: '0-59 0-23 * * *', timezone: 'Antarctica/Troll' },
  {
    name: 'every minute and hour, listed',
    expression: `${EVERY_MINUTE} * * *`,
    timezone: 'Antarctica/Troll',
  },
  {
    name: 'all five fields, listed',
    expression: ALL_FIELDS_LISTED,
    timezone: 'Antarctica/Troll',
  },
  // The most characters that a project's schedule may have, and an agent's.
  ...[255, 500].flatMap((characters) => [
    {
      name: '`*,*,*,…` as minutes',
      expression: `${listOf(Array(characters).fill('*'), characters - 8)} * * * *`,
      timezone: 'UTC',
    },
    {
      name: 'ranges as minutes, on 29 February',
      expression: rangesOnLeapDay(characters),
      timezone: 'UTC',
    },
  ]),
]

/** Patterns that never fire: the service refuses them. */
const NEVER_FIRING: readonly Pattern[] = [
  { name: 'never: `0 0 30 2 *`', expression: '0 0 30 2 *', timezone: 'UTC' },
  {
    name: 'never: ranges as minutes, on 30 February',
    expression: `${listOf(RANGES, 490)} 23 30 2 *`,
    timezone: 'UTC',
  },
]

/** When the clocks change. */
const CHANGES: Readonly<Record<string, readonly string[]>> = {
  'America/New_York': ['2026-03-08T07:00:00.000Z', '2026-11-01T06:00:00.000Z'],
  'Antarctica/Troll': ['2026-03-29T01:00:00.000Z', '2026-10-25T01:00:00.000Z'],
  'Europe/Paris': ['2026-03-29T01:00:00.000Z', '2026-10-25T01:00:00.000Z'],
}

const MINUTE_MS = 60_000

/** Instants all over some years, around the changes of the clock, and before a leap day that is eight years away. */
function instantsOf(timezone: string, spread: number): Date[] {
  const first = Date.UTC(2026, 0, 1, 0, 7)
  const days = Array.from({ length: spread }, (_, index) => first + index * 53 * 1447 * MINUTE_MS)
  const changes = (CHANGES[timezone] ?? []).flatMap((change) =>
    [-1500, -61, -1, 0, 1, 30].map((minutes) => Date.parse(change) + minutes * MINUTE_MS),
  )
  return [...days, ...changes, Date.UTC(2096, 2, 1)].map((instant) => new Date(instant))
}

export interface NextRuns {
  readonly name: string
  readonly characters: number
  readonly timezone: string
  /** By contender, in microseconds: over the instants that it starts from. */
  readonly cpu: Readonly<Record<keyof typeof CONTENDERS, { readonly median: number; readonly worst: number }>>
}

export async function nextRuns(
  folder: string,
  { spread, batchMs }: { spread: number; batchMs: number },
): Promise<NextRuns[]> {
  const service = await importBundled('service', folder)
  const croner = await importBundled('croner', folder)
  const measureAll = (patterns: readonly Pattern[], fires: boolean) =>
    patterns.map(({ expression, timezone, name = `\`${expression}\`` }) => {
      const instants = instantsOf(timezone, spread)
      const cpuOf = (nextRun: NextRun) => {
        const times = instants.map((after) => cpuMicroseconds(() => nextRun(expression, timezone, after), batchMs))
        return { median: median(times), worst: Math.max(...times) }
      }
      return {
        name,
        characters: expression.length,
        timezone,
        cpu: { service: cpuOf(fires ? service : refused(service)), croner: cpuOf(croner) },
      }
    })
  // Compiled before it is measured.
  measureAll(PATTERNS.slice(0, 6), true)
  return [...measureAll(PATTERNS, true), ...measureAll(NEVER_FIRING, false)]
}

async function importBundled(contender: keyof typeof CONTENDERS, folder: string): Promise<NextRun> {
  const { modules } = await bundle(`export { nextRun } from './${CONTENDERS[contender]}'`)
  const file = join(folder, `next-run-${contender}.mjs`)
  writeFileSync(file, modules[0]?.contents ?? '')
  return (await import(pathToFileURL(file).href)).nextRun
}

/** @throws if it is not refused. */
function refused(nextRun: NextRun): NextRun {
  return (...input) => {
    let next: Date | null
    try {
      next = nextRun(...input)
    } catch {
      return null
    }
    throw new Error(`${input[0]}: expected to be refused, got ${next}`)
  }
}

const BATCHES = 3

/** The CPU that a call takes: the median of batches that take so long that the system can tell. */
function cpuMicroseconds(call: () => unknown, batchMs: number): number {
  const cpuOf = (calls: number) => {
    const before = process.cpuUsage()
    for (let count = 0; count < calls; count++) call()
    const { user, system } = process.cpuUsage(before)
    return user + system
  }
  let calls = 1
  while (cpuOf(calls) < batchMs * 1000) calls *= 2
  return median(Array.from({ length: BATCHES }, () => cpuOf(calls) / calls))
}
