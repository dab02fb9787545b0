/** The processor time of the tests, by part: what they took, and what they may take. */
import { readFileSync } from 'node:fs'

/**
 * Seconds for each part in `npm test`: two to three times what it takes on a quiet machine, because processor time grows
 * on a busy one. A part that needs more first deletes tests with proof (CONTRIBUTING.md), or its commit says why they are
 * worth more.
 */
export const LIMITS: Limits = {
  checks: 90,
  test: 390,
  'test/access': 40,
  'test/alerts': 15,
  'test/cron': 20,
  'test/crypto': 10,
  'test/db': 10,
  'test/http': 25,
  'test/maintenance': 10,
  'test/node': 25,
  'test/objects': 10,
  'test/operate': 380,
  'test/resources': 600,
  'test/scripts': 140,
  'test/sign-in': 30,
  'test/upgrades': 10,
  'test/webhooks': 10,
  'cli/test': 320,
  'client/test': 110,
  'command-line/test': 10,
  'console/test': 110,
  'mcp/test': 50,
}

/** The same of `npm run test:slow`. */
export const SLOW_LIMITS: Limits = {
  test: 320,
  'test/access': 20,
  'test/alerts': 120,
  'test/browser': 200,
  'test/node': 70,
  'test/operate': 1500,
  'test/resources': 150,
  'test/scripts': 270,
  'cli/test': 60,
  'client/test': 100,
  'console/test': 1300,
  'mcp/test': 50,
}
/** How many times what the parts take on a quiet machine their limits are together. */
const ROOM = 2.5
/** The clock ticks of a second in /proc. */
const TICKS = 100

type Limits = Readonly<Record<string, number>>

/** What a file of tests took. */
export interface Cost {
  /** From the root of the repository. */
  readonly file: string
  readonly seconds: number
}

/** What this process and its children that ended have taken; undefined on systems other than Linux. */
export function processorSeconds(): number | undefined {
  if (process.platform !== 'linux') return undefined
  // The name of the process, in parentheses, may have spaces.
  const fields = readFileSync('/proc/self/stat', 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ')
    .map(Number)
  return fields.slice(11, 15).reduce((sum, ticks) => sum + ticks, 0) / TICKS
}

/**
 * Files in workerd share processes, so what those took is divided by the time of the files.
 * @param onNode what files took that have a process of their own.
 * @param durations of all files.
 */
export function costsOf(total: number, onNode: readonly Cost[], durations: readonly Cost[]): Cost[] {
  const rest = durations.filter(({ file }) => !onNode.some((cost) => cost.file === file))
  const shared = total - sumOf(onNode)
  return [...onNode, ...rest.map(({ file, seconds }) => ({ file, seconds: (shared * seconds) / sumOf(rest) }))]
}

/**
 * The table, and the parts that exceed their limits. On a slow or busy machine, where all parts together take more, each
 * limit is up to `ROOM` times as high, so that only a part fails that takes more than the others do.
 */
export function costTable(costs: readonly Cost[], limits: Limits): { lines: string[]; exceeded: string[] } {
  const all = Object.values(limits).reduce((sum, limit) => sum + limit, 0)
  const slowness = Math.min(Math.max((sumOf(costs) * ROOM) / all, 1), ROOM)
  const parts = [...Map.groupBy(costs, ({ file }) => partOf(file))]
    .map(([part, its]) => ({ part, seconds: sumOf(its), limit: limits[part] && limits[part] * slowness }))
    .sort((one, other) => other.seconds - one.seconds)
  const line = (part: string, seconds: string, limit: string) =>
    `${part.padEnd(20)} ${seconds.padStart(8)} ${limit.padStart(8)}`
  return {
    lines: [
      'Processor time in seconds. That of workerd is divided by the time its files took.',
      line('part', 'took', 'limit'),
      ...parts.map(({ part, seconds, limit }) => line(part, seconds.toFixed(0), limit?.toFixed(0) ?? '-')),
      line('all', sumOf(costs).toFixed(0), ''),
    ],
    exceeded: parts.filter(({ seconds, limit = seconds }) => seconds > limit).map(({ part }) => part),
  }
}

/** `test/resources` for `test/resources/pins/pins.test.ts`, `cli/test` for `cli/test/keys.test.ts`. */
function partOf(file: string): string {
  return file.split('/').slice(0, -1).slice(0, 2).join('/') || file
}

function sumOf(costs: readonly Cost[]): number {
  return costs.reduce((sum, { seconds }) => sum + seconds, 0)
}
