/**
 * What several databases cost: the same organizations in 1, 10 and 50 databases of one Worker, in workerd. It counts the
 * calls to D1 and the CPU time of a minute's ticks and of a search for orphaned objects.
 */
import { v7 as newUuid } from 'uuid'
import { schema } from './data.ts'
import { times } from './place.ts'
import { type Bundle, bundleWorker, QUIET, startWorker, type WorkerServer } from './servers.ts'

const DATABASES = [1, 10, 50]
const MINUTE_MS = 60_000
const WEEK_MS = 7 * 24 * 60 * MINUTE_MS

interface Cost {
  readonly calls: number
  readonly cpuMs: number
}

export interface DatabasesCost {
  readonly databases: number
  readonly idle: Cost
  readonly busy: Cost
  readonly search: Cost & { readonly minutes: number }
}

export async function byDatabases(organizations: number): Promise<DatabasesCost[]> {
  const bundle = await bundleWorker('src/index.ts', true)
  const rows: DatabasesCost[] = []
  for (const databases of DATABASES) rows.push(await measure(bundle, databases, organizations))
  return rows
}

async function measure(bundle: Bundle, databases: number, organizations: number): Promise<DatabasesCost> {
  const server = await startWorker(bundle, QUIET, { databases })
  try {
    await fill(server, databases, organizations)
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
async function fill(server: WorkerServer, databases: number, organizations: number): Promise<void> {
  const createdAt = new Date().toISOString()
  const places: { id: string; number: number }[] = []
  for (let number = 0; number < databases; number++) {
    const database = server.databaseAt(number)
    const ids = Array.from({ length: organizations / databases }, () => newUuid())
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
    for (let database = 1; database < databases; database++) {
      await server.deliver({ database, tickAt: at.toISOString() })
    }
  })
}

/** From the start of a search, as a restore begins one, until nothing that it found is left. */
async function searchForOrphans(
  server: WorkerServer,
  databases: number,
  next: () => Date,
): Promise<DatabasesCost['search']> {
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

async function counted(server: WorkerServer, work: () => Promise<void>): Promise<Cost> {
  await server.takeUse()
  const before = server.cpuMs()
  await work()
  const cpuMs = server.cpuMs() - before
  return { calls: (await server.takeUse()).calls, cpuMs }
}
