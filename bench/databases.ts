/**
 * What several databases cost: the same 5,000 organizations in 1, 10 and 50 databases of one Worker, in workerd. It counts
 * the calls to D1 and the CPU time of a minute's ticks and of a search for orphaned objects.
 */
import { v7 as newUuid } from 'uuid'
import { describeScript, parsed } from '../operate/command-line.ts'
import { schema } from './data.ts'
import { LATEST_BATCH, LATEST_TICK } from './instrument.ts'
import { times } from './place.ts'
import { bundleWorker, startWorker, type WorkerServer } from './servers.ts'

parsed(
  describeScript(
    'bench:databases',
    'Counts what ticks and the search for orphaned objects cost with 5,000 organizations in 1, 10 and 50 databases.',
    [''],
  ),
)

const ORGANIZATIONS = 5000
const DATABASES = [1, 10, 50]
const MINUTE_MS = 60_000
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS

interface Cost {
  readonly calls: number
  readonly cpuMs: number
}

interface Row {
  readonly databases: number
  readonly idle: Cost
  readonly busy: Cost
  readonly search: Cost & { readonly minutes: number }
}

const bundle = await bundleWorker('src/index.ts', true)
const rows: Row[] = []
for (const databases of DATABASES) rows.push(await measure(databases))
const cells = (cost: Cost) => [cost.calls, Math.round(cost.cpuMs)]
console.log(`\n${ORGANIZATIONS} organizations, a schedule of each due in the busy minute, an orphaned object of each\n`)
print([
  ['databases', 'idle minute: calls', 'CPU ms', 'busy minute: calls', 'CPU ms', 'search: calls', 'CPU ms', 'minutes'],
  ...rows.map((row) => [
    row.databases,
    ...cells(row.idle),
    ...cells(row.busy),
    ...cells(row.search),
    row.search.minutes,
  ]),
])

async function measure(databases: number): Promise<Row> {
  const variables = {
    RATE_LIMIT: 'off',
    REQUEST_LOG: 'off',
    ENCRYPTION_KEYS: 'bench:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  }
  const server = await startWorker(bundle, variables, undefined, databases)
  try {
    await fill(server, databases)
    let at = Date.now()
    const next = () => {
      at += MINUTE_MS
      return new Date(at)
    }
    // The first has more to do: it begins the daily passes.
    for (let count = 0; count < 5; count++) await minute(server, databases, next())
    const idle = await minute(server, databases, next())
    await makeDue(server, databases, new Date(at))
    const busy = await minute(server, databases, next())
    const search = await searchForOrphans(server, databases, next)
    return { databases, idle, busy, search }
  } finally {
    await server.stop()
  }
}

/** Organizations with a schedule and an object, the same number in each database. */
async function fill(server: WorkerServer, databases: number): Promise<void> {
  const createdAt = new Date().toISOString()
  const places: { id: string; number: number }[] = []
  for (let number = 0; number < databases; number++) {
    const database = server.databaseAt(number)
    const ids = Array.from({ length: ORGANIZATIONS / databases }, () => newUuid())
    places.push(...ids.map((id) => ({ id, number })))
    const each = 'FROM json_each(?1) AS each'
    const filling = [
      `INSERT INTO "organizations" ("id", "name", "createdAt") SELECT value, 'Acme', ?2 ${each}`,
      `INSERT INTO "projects" ("organizationId", "id", "name", "createdAt", "updatedAt", "revision")
        SELECT value, 'p', 'P', ?2, ?2, value ${each}`,
      `INSERT INTO "schedules" ("organizationId", "id", "parentType", "parentId", "cron", "timezone", "createdAt", "updatedAt", "revision")
        SELECT value, value, 'project', 'p', '0 0 29 2 *', 'UTC', ?2, ?2, value ${each}`,
    ]
    await database.batch([
      ...schema().map((sql) => database.prepare(sql)),
      ...filling.map((sql) => database.prepare(sql).bind(JSON.stringify(ids), createdAt)),
    ])
  }
  await server.database
    .prepare(
      `INSERT INTO "directory" ("organizationId", "database") SELECT value ->> 'id', value ->> 'number' FROM json_each(?)`,
    )
    .bind(JSON.stringify(places))
    .run()
  await times(places.length, async (index) => server.objects.put(`profile-pictures/${places[index]?.id}/0`, 'x'))
}

async function makeDue(server: WorkerServer, databases: number, at: Date): Promise<void> {
  for (let number = 0; number < databases; number++) {
    await server
      .databaseAt(number)
      .prepare(`UPDATE "schedules" SET "nextRunAt" = ?, "enabledAt" = "createdAt"`)
      .bind(at.toISOString())
      .run()
  }
}

/** The ticks of all databases, as the Cron Trigger and the queue run them. */
async function minute(server: WorkerServer, databases: number, at: Date): Promise<Cost> {
  return counted(server, async () => {
    await server.tick(at)
    let calls = await callsOf(server, LATEST_TICK)
    for (let database = 1; database < databases; database++) {
      await server.deliver({ database, tickAt: at.toISOString() })
      calls += await callsOf(server, LATEST_BATCH)
    }
    return calls
  })
}

/** From the start of a search, as a restore begins one, until nothing that it found is left. */
async function searchForOrphans(server: WorkerServer, databases: number, next: () => Date): Promise<Row['search']> {
  const isIdle = await minute(server, databases, next())
  await server.database
    .prepare('INSERT INTO "objectSearches" ("startedAt") VALUES (?)')
    .bind(new Date().toISOString())
    .run()
  let [calls, cpuMs, minutes] = [0, 0, 0]
  while (await server.database.prepare('SELECT 1 FROM "objectSearches"').first()) {
    const cost = await minute(server, databases, next())
    calls += cost.calls - isIdle.calls
    cpuMs += cost.cpuMs - isIdle.cpuMs
    minutes++
  }
  const later = new Date(Date.now() + WEEK_MS + 60 * MINUTE_MS)
  while ((await server.objects.list({ limit: 1 })).objects.length > 0) {
    const cost = await minute(server, databases, later)
    calls += cost.calls - isIdle.calls
    cpuMs += cost.cpuMs - isIdle.cpuMs
    minutes++
  }
  return { calls, cpuMs, minutes }
}

async function counted(server: WorkerServer, work: () => Promise<number>): Promise<Cost> {
  const before = server.cpuMs()
  const calls = await work()
  return { calls, cpuMs: server.cpuMs() - before }
}

async function callsOf({ origin }: WorkerServer, path: string): Promise<number> {
  const { calls } = (await (await fetch(new URL(path, origin))).json()) as { calls: number }
  return calls
}

function print(table: readonly (readonly (string | number)[])[]): void {
  for (const row of table) console.log(`| ${row.join(' | ')} |`)
}
