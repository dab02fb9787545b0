/** What the service does beside the seven operations, each with its floor: the raw SQL of the same work in a bare Worker. */
import { v7 as newUuid } from 'uuid'
import { DUE_TICK_AT, makeDue, NO_PASS_DUE, schema, seedDue, seedParentsOfDue } from './data.ts'
import { type BenchRequest, type DatabaseUse, load, median, perItem, sumOf, UNUSED } from './load.ts'
import { json, Place, RUN_ENDPOINT, times } from './place.ts'
import { bundleWorker, startWorker, UNLIMITED, type WorkerServer } from './servers.ts'

export interface Cost {
  readonly database: DatabaseUse
  readonly cpuMs: number
}

export interface BackgroundCost {
  readonly name: string
  readonly service: Cost
  readonly floor: Cost
}

/** A round of something, of which so many are done. */
interface Round {
  readonly count: number
  /** Does all of them. @param isFloor sends what the floor takes, where that differs. */
  readonly run: (server: WorkerServer, isFloor: boolean) => Promise<void>
  /** SQL of a number that has to be the same, and not 0, in both databases afterwards. */
  readonly check?: string
}

interface Servers {
  readonly service: WorkerServer
  readonly floor: WorkerServer
}

/** @returns what prepares a round; called once. */
type Work = (servers: Servers, share: number) => Promise<() => Promise<Round>>

const DUE = 1000
const RUNS_PER_DELIVERY = 5
const RUNS_OF_VIEW = 100

const WORK: Readonly<Record<string, Work>> = {
  'a tick with nothing due':
    async ({ service, floor }, share) =>
    async () => {
      for (const { database } of [service, floor]) await database.prepare(NO_PASS_DUE).run()
      const count = many(60, share)
      return { count, run: (server) => repeat(count, () => server.tick(new Date())) }
    },

  [`a delivery of ${RUNS_PER_DELIVERY} runs`]: async (servers, share) => {
    const place = await Place.open(servers.service)
    await place.send('PUT', '/v1/run-endpoint', RUN_ENDPOINT)
    const schedule = await place.addSchedule(`/v1/projects/${await place.put('projects')}`)
    return async () => {
      const count = many(40, share)
      const ids = await times(count * RUNS_PER_DELIVERY, () => place.addRun(schedule))
      await copyRows(servers)
      const { organizationId } = place
      const run = (server: WorkerServer) =>
        repeat(count, (index) => {
          const start = index * RUNS_PER_DELIVERY
          const runs = ids.slice(start, start + RUNS_PER_DELIVERY).map((id) => ({ organizationId, id, attempts: 0 }))
          return server.deliver({ database: 0, runs })
        })
      return { count, run, check: `SELECT count(*) AS n FROM "runs" WHERE "status" = 'delivered'` }
    }
  },

  'a claim of a run': async (servers, share) => {
    const place = await Place.open(servers.service)
    const schedule = await place.addSchedule(`/v1/projects/${await place.put('projects')}`)
    return async () => {
      const count = many(100, share)
      await times(count, () => place.addRun(schedule))
      await copyRows(servers)
      const request = { method: 'POST', path: '/v1/runs/claim', ...json({ leaseSeconds: 3600 }) } as const
      return {
        count,
        run: (server) => send(server.origin, place, Array(count).fill(request)),
        check: 'SELECT count("claimId") AS n FROM "runs"',
      }
    }
  },

  'a change with its event': async (servers, share) => {
    const place = await Place.open(servers.service)
    await place.addEventEndpoint()
    return async () => {
      const count = many(100, share)
      await copyRows(servers)
      const requests = Array.from({ length: count }, () => ({
        method: 'PUT' as const,
        path: `/v1/projects/${newUuid()}`,
        ...json({ name: 'Bench' }),
      }))
      const check = `SELECT count(*) AS n FROM "auditEvents" WHERE "type" = 'project.created'`
      return { count, run: (server) => send(server.origin, place, requests), check }
    }
  },

  'a delivery of an event': async (servers, share) => {
    const count = many(40, share)
    const endpoints = await times(count, async () => {
      const place = await Place.open(servers.service)
      const path = await place.addEventEndpoint(['project.*'])
      return { place, endpoint: { organizationId: place.organizationId, id: path.slice(path.lastIndexOf('/') + 1) } }
    })
    return async () => {
      await times(count, (index) => endpoints[index]?.place.put('projects') as Promise<string>)
      await copyRows(servers)
      const run = (server: WorkerServer) =>
        repeat(count, (index) => server.deliver({ database: 0, endpoint: endpoints[index]?.endpoint }))
      return { count, run, check: 'SELECT sum("deliveredSequence") AS n FROM "eventEndpoints"' }
    }
  },

  'the console’s page of runs': async (servers, share) => {
    const place = await Place.open(servers.service)
    const [project = ''] = await times(20, () => place.put('projects'))
    await times(20, () => place.put('agents'))
    const schedule = await place.addSchedule(`/v1/projects/${project}`)
    await times(RUNS_OF_VIEW, () => place.addRun(schedule))
    const consoleOrigin = await servers.service.originOf('console')
    const headers = { cookie: `__Host-session=${place.token}`, 'sec-fetch-site': 'same-origin' }
    const paths = [
      '/v1/events?after=now&limit=1',
      '/v1/me',
      '/v1/projects?limit=100',
      '/v1/agents?limit=100',
      '/v1/runs',
    ]
    const page: BenchRequest[] = paths.map((path) => ({ method: 'GET', path: `/api${path}`, headers }))
    return async () => {
      const count = many(40, share)
      await copyRows(servers)
      const run = (server: WorkerServer, isFloor: boolean) =>
        isFloor
          ? send(server.origin, place, Array(count).fill({ method: 'GET', path: '/view' }))
          : send(consoleOrigin, place, Array(count).fill(page).flat())
      return { count, run }
    }
  },

  'an MCP call that lists 50 pins': async (servers, share) => {
    const place = await Place.open(servers.service)
    const projectId = await place.put('projects')
    const sessions = await times(50, () => place.put('sessions', { projectId }))
    await times(50, (index) => place.send('PUT', `/v1/pins/session/${sessions[index]}`))
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_pins', arguments: {} } }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-11-25' }
    const request = { method: 'POST', path: '/mcp', ...json(message), headers } as const
    return async () => {
      const count = many(60, share)
      await copyRows(servers)
      return { count, run: (server) => send(server.origin, place, Array(count).fill(request)) }
    }
  },

  // Last, because its rows would be copied for each of the others.
  [`a tick with ${DUE.toLocaleString('en')} due schedules`]: async (servers) => {
    const { service, floor } = servers
    for (const { database } of [service, floor]) {
      for (const sql of [...seedParentsOfDue(), ...seedDue(DUE)]) await database.prepare(sql).run()
    }
    return async () => {
      for (const { database } of [service, floor]) for (const sql of makeDue()) await database.prepare(sql).run()
      return { count: 1, run: (server) => server.tick(DUE_TICK_AT), check: 'SELECT count(*) AS n FROM "runs"' }
    }
  },
}

/** @param share of the usual number of each; 0: one of each. */
export async function backgroundCosts({ rounds, share }: { rounds: number; share: number }): Promise<BackgroundCost[]> {
  const interfaces = {
    mcp: await bundleWorker('mcp/src/index.ts'),
    console: await bundleWorker('console/src/index.ts'),
  }
  const service = await startWorker(await bundleWorker('src/index.ts', true), UNLIMITED, { interfaces })
  const floor = await startWorker(await bundleWorker('bench/floors/background.ts', true), {})
  try {
    for (const { database } of [service, floor]) for (const sql of schema()) await database.prepare(sql).run()
    const results: BackgroundCost[] = []
    for (const [name, work] of Object.entries(WORK)) {
      results.push({ name, ...(await costOf(name, { service, floor }, await work({ service, floor }, share), rounds)) })
    }
    return results
  } finally {
    await Promise.all([service.stop(), floor.stop()])
  }
}

/** Medians of the rounds, after one that is not measured. */
async function costOf(name: string, servers: Servers, prepare: () => Promise<Round>, rounds: number) {
  const contenders = (['service', 'floor'] as const).map((key) => ({
    key,
    server: servers[key],
    cpuMs: [] as number[],
    database: UNUSED,
    count: 0,
  }))
  for (let round = -1; round < rounds; round++) {
    const { count, run, check } = await prepare()
    for (const contender of round % 2 === 0 ? contenders : contenders.toReversed()) {
      const { key, server } = contender
      await server.takeUse()
      const before = server.cpuMs()
      await run(server, key === 'floor')
      const cpuMs = server.cpuMs() - before
      const database = await server.takeUse()
      if (round < 0) continue
      contender.cpuMs.push(cpuMs / count)
      contender.database = sumOf(contender.database, database)
      contender.count += count
    }
    if (check === undefined) continue
    const [done, doneByFloor] = await Promise.all(
      contenders.map(({ server }) => server.database.prepare(check).first<number>('n')),
    )
    if (!done || done !== doneByFloor) throw new Error(`${name}: ${done} is not ${doneByFloor}`)
  }
  const [service, floor] = contenders.map(({ cpuMs, database, count }) => ({
    cpuMs: median(cpuMs),
    database: perItem(database, count),
  }))
  return { service: service as Cost, floor: floor as Cost }
}

const many = (usual: number, share: number) => Math.max(1, Math.round(usual * share))

async function repeat(count: number, run: (index: number) => Promise<void>): Promise<void> {
  for (let index = 0; index < count; index++) await run(index)
}

/** One after the other. @throws if one fails. */
async function send(origin: URL, place: Place, requests: readonly BenchRequest[]): Promise<void> {
  const withOrganization = (request: BenchRequest) => ({
    ...request,
    headers: { ...request.headers, 'x-organization': place.organizationId },
  })
  const { failures } = await load(origin, place.token, (index) => withOrganization(requests[index] as BenchRequest), {
    amount: requests.length,
    connections: 1,
  })
  if (failures.size > 0) throw new Error(JSON.stringify([...failures]))
}

const COPIED_AT_ONCE = 1000

/** Makes the rows of the floor those of the service. Triggers change the usage, so its rows come last. */
async function copyRows({ service, floor }: Servers): Promise<void> {
  const { results: tables } = await service.database
    .prepare(`SELECT "name" FROM sqlite_schema WHERE "type" = 'table' AND "name" NOT GLOB '[_s]*_*'
      ORDER BY "name" = 'organizationUsage'`)
    .all<{ name: string }>()
  const selected = await service.database.batch<object>(
    tables.map(({ name }) => service.database.prepare(`SELECT * FROM "${name}"`)),
  )
  const statements = tables.flatMap(({ name }, index) => {
    const rows = selected[index]?.results ?? []
    const columns = Object.keys(rows[0] ?? {})
    const values = columns.map((column) => `value ->> '${column}'`).join(', ')
    const insert = `INSERT INTO "${name}" ("${columns.join('", "')}") SELECT ${values} FROM json_each(?)`
    const pages = Array.from({ length: Math.ceil(rows.length / COPIED_AT_ONCE) }, (_, page) =>
      JSON.stringify(rows.slice(page * COPIED_AT_ONCE, (page + 1) * COPIED_AT_ONCE)),
    )
    return [
      floor.database.prepare(`DELETE FROM "${name}"`),
      ...pages.map((page) => floor.database.prepare(insert).bind(page)),
    ]
  })
  await floor.database.batch(statements)
}
