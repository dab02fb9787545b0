/**
 * What each operation and each background job asks of D1, the size of its response, and the size of the bundles: what can
 * be counted, and so is the same on every machine. `counters.json` has the numbers that a change may not make worse.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { describeScript, parsed } from '../tools/command-line.ts'
import { backgroundCosts } from './background.ts'
import { schema } from './data.ts'
import { ask, type DatabaseUse } from './load.ts'
import { execute } from './measure.ts'
import { everyOperation, openPlaces, USUAL_COUNT } from './operations.ts'
import { bundleWorker, QUIET, startWorker } from './servers.ts'

const FILE = join(import.meta.dirname, 'counters.json')
const COMMAND = 'npm run generate -- counters'

/** By operation, job or bundle: its counters, by name. */
export type Counters = Readonly<Record<string, Readonly<Record<string, number>>>>

export const committedCounters = (): Counters => JSON.parse(readFileSync(FILE, 'utf8'))

const BUNDLES = {
  'API Worker': 'src/index.ts',
  'MCP Worker': 'mcp/src/index.ts',
  'console Worker': 'console/src/index.ts',
}

export async function measureCounters(): Promise<Counters> {
  const bundles = await Promise.all(
    Object.entries(BUNDLES).map(async ([name, entry]): Promise<[string, { 'KB gzip': number }]> => {
      const { gzipBytes } = await bundleWorker(entry)
      return [name, { 'KB gzip': Math.round(gzipBytes / 1000) }]
    }),
  )
  const background = await backgroundCosts({ rounds: 1, share: 0 })
  return {
    ...Object.fromEntries(bundles),
    ...Object.fromEntries(background.map(({ name, service }) => [name, named(service.database)])),
    ...(await ofOperations()),
  }
}

/** What a request leaves to do after its response has been done by then. */
const SETTLE_MS = 30

/** What the typical request of each operation costs. */
async function ofOperations(): Promise<Counters> {
  const server = await startWorker(await bundleWorker('src/index.ts', true), { ...QUIET, ...WIDE_LIMITS })
  try {
    await execute(server.database, schema())
    const places = await openPlaces(server, USUAL_COUNT)
    const counters: [string, Counters[string]][] = []
    for (const { name, typical } of await everyOperation()) {
      const request = await typical(places, 0)
      await setTimeout(SETTLE_MS)
      await server.takeUse()
      const { status, headers, text } = await ask(server.origin, '', request)
      if (status >= 300) throw new Error(`${name}: ${status}`)
      await setTimeout(SETTLE_MS)
      const isJson = headers.get('content-type')?.includes('json')
      const database = named(await server.takeUse())
      // An archive compresses names that differ from run to run, and the time of an attempt has one digit or two.
      counters.push([
        name,
        isJson ? { ...database, 'response bytes': text.replace(/(?<="milliseconds":)\d+/, '').length } : database,
      ])
    }
    return Object.fromEntries(counters)
  } finally {
    await server.stop()
  }
}

/** As many schedules and variables of a project as a page of a list may have. */
export const WIDE_LIMITS = { SCHEDULE_LIMIT: '1000', VARIABLE_LIMIT: '1000' }

function named({ calls, rowsRead, rowsWritten }: DatabaseUse): Counters[string] {
  return { 'D1 calls': calls, 'rows read': rowsRead, 'rows written': rowsWritten }
}

interface Difference {
  readonly text: string
  /** What to do, in a sentence that `COMMAND` ends; undefined if the counter is worse. */
  readonly advice?: string
}

function compared(committed: Counters, measured: Counters): Difference[] {
  const names = new Set([...Object.keys(committed), ...Object.keys(measured)])
  return Array.from(names).flatMap((name): Difference[] => {
    const [before, now] = [committed[name], measured[name]]
    if (!now) return [{ text: `${name} is gone`, advice: 'Remove it' }]
    if (!before) return [{ text: `${name} is new`, advice: 'Add it' }]
    return Object.entries(now).flatMap(([counter, value]): Difference[] => {
      const change = value - (before[counter] ?? 0)
      if (change === 0) return []
      const text = `${name}: ${counter} ${before[counter]} → ${value} (${change > 0 ? '+' : ''}${change})`
      return [change > 0 ? { text } : { text: `${text}. Better`, advice: 'Lower the committed number' }]
    })
  })
}

/** @returns a sentence for each counter that is worse, and for each that is better and has to be lowered. */
export function differences(committed: Counters, measured: Counters): string[] {
  return compared(committed, measured).map(({ text, advice }) => (advice ? `${text}. ${advice}: ${COMMAND}` : text))
}

if (import.meta.main) {
  parsed(
    describeScript(
      'generate counters',
      'Counts what each operation asks of D1, the bytes of its response and the size of the bundles, and writes bench/counters.json.',
      [''],
    ),
  )
  const measured = await measureCounters()
  for (const { text } of compared(committedCounters(), measured)) console.log(text)
  const lines = Object.entries(measured).map(([name, counters]) => {
    const pairs = Object.entries(counters).map(([counter, value]) => `${JSON.stringify(counter)}: ${value}`)
    return `  ${JSON.stringify(name)}: { ${pairs.join(', ')} }`
  })
  writeFileSync(FILE, `{\n${lines.join(',\n')}\n}\n`)
}
