/**
 * Mixed traffic over all operations, for minutes, on stores that fail now and then; then a check of what must always
 * hold.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { v7 as newUuid } from 'uuid'
import { COUNT_USAGE, USAGE_COUNTS } from '../src/db/usage.ts'
import { computeRunId } from '../src/resources/work/run-id.ts'
import { describeScript, parsed, positiveNumber } from '../tools/command-line.ts'
import { organization, schema } from './data.ts'
import { mean } from './load.ts'
import { execute } from './measure.ts'
import { bundle, startWorker, type WorkerServer } from './servers.ts'

const options = parsed(
  describeScript(
    'bench soak',
    'Sends mixed traffic to all operations while the stores fail now and then, and checks what must always hold. Fails if anything but an injected fault went wrong.',
    ['', '--minutes 1 --connections 8'],
  )
    .option('--minutes <number>', 'the duration', positiveNumber, 10)
    .option('--connections <number>', 'requests at a time', positiveNumber, 64),
).opts()
const MINUTE_MS = 60_000
const DURATION_MS = options.minutes * MINUTE_MS
const CONNECTIONS = options.connections
const ORGANIZATIONS = 8
const SAMPLE_MS = 5_000
const TICK_MS = 10_000
const IDS_REMEMBERED = 20

// biome-ignore lint/suspicious/noExplicitAny: a document is walked by names that only it knows
const document: any = JSON.parse(readFileSync(join(import.meta.dirname, '..', 'public', 'openapi.json'), 'utf8'))

interface Operation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly body: object | undefined
  readonly isUpload: boolean
}

/** Every operation, with the body that the document has as its example. */
const operations: readonly Operation[] = Object.entries<Record<string, never>>(document.paths).flatMap(
  ([path, methods]) =>
    // biome-ignore lint/suspicious/noExplicitAny: see above
    Object.entries<any>(methods).map(([method, operation]) => {
      const content = operation.requestBody?.content ?? {}
      const reference = content['application/json']?.schema?.$ref?.split('/').at(-1)
      return {
        id: operation.operationId,
        method: method.toUpperCase(),
        path,
        body: reference && document.components.schemas[reference].example,
        isUpload: operation.requestBody !== undefined && reference === undefined,
      }
    }),
)

/** An organization, and the ids that its requests name: those of what it has, and some of what it had. */
class Place {
  readonly organizationId: string
  readonly token: string
  readonly #ids: Record<string, string[]> = {
    projectId: ['website', 'mobile', newUuid()],
    agentId: [newUuid(), newUuid()],
    sessionId: [newUuid(), newUuid(), newUuid()],
    pullRequestId: [newUuid(), newUuid()],
    userId: ['ada', 'grace'],
    key: ['TOKEN', 'DATABASE_URL'],
    resourceType: ['session', 'pull_request', 'project'],
  }
  readonly rows: readonly string[]

  private constructor(organizationId: string, token: string, rows: readonly string[]) {
    this.organizationId = organizationId
    this.token = token
    this.rows = rows
  }

  static async make(): Promise<Place> {
    const organizationId = newUuid()
    const { token, rows } = await organization(organizationId, 'ada')
    return new Place(organizationId, token, rows)
  }

  /** The parameter of a path. A pin names something of any kind. */
  idOf(name: string): string {
    if (name === 'resourceId') return this.idOf(choose(['sessionId', 'pullRequestId', 'projectId']) ?? '')
    return choose(this.#ids[name] ?? []) ?? newUuid()
  }

  /** Another id for what was deleted. */
  replace(name: string, id: string): void {
    this.#ids[name] = (this.#ids[name] ?? []).map((each) => (each === id ? newUuid() : each))
  }

  /** Remembers what was made, among the last few. */
  remember(name: string, id: string): void {
    this.#ids[name] = [...(this.#ids[name] ?? []), id].slice(-IDS_REMEMBERED)
  }
}

function choose<Item>(items: readonly Item[]): Item | undefined {
  return items[Math.floor(Math.random() * items.length)]
}

/** What the ids in answers are called in paths. */
const MADE: Record<string, string> = {
  createSkill: 'skillId',
  createApiKey: 'apiKeyId',
  createProjectSchedule: 'scheduleId',
  createAgentSchedule: 'scheduleId',
  putSessionFile: 'fileId',
  createProjectScheduleRun: 'runId',
  createAgentScheduleRun: 'runId',
  listRuns: 'runId',
}

/**
 * What ends much at once is left to few requests. What was deleted never comes back, so something new takes
 * its place.
 */
const RARE: Record<string, string> = {
  deleteProject: 'projectId',
  deleteAgent: 'agentId',
  deleteUser: 'userId',
  deleteSession: 'sessionId',
  deletePullRequest: 'pullRequestId',
}

const statuses = new Map<string, number>()
const wrong: string[] = []
let faults = 0

async function ask(origin: URL, place: Place, operation: Operation): Promise<void> {
  const { id, method, path, body, isUpload } = operation
  if (id in RARE && Math.random() < 0.9) return
  const ids = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name = '']) => place.idOf(name))
  // The key acts for this user.
  if (id === 'deleteUser' && ids[0] === 'ada') return
  let index = 0
  const named = path.replaceAll(/\{\w+\}/g, () => encodeURIComponent(ids[index++] ?? ''))
  const query =
    id === 'putSessionFile' ? `?path=${choose(['a', 'b', 'c'])}.txt` : id === 'previewSchedule' ? '?cron=@daily' : ''
  const response = await fetch(new URL(named + query, origin), {
    method,
    headers: {
      Authorization: `Bearer ${place.token}`,
      ...(body && { 'Content-Type': 'application/json' }),
    },
    ...(body && { body: JSON.stringify(varied(id, place, body)) }),
    ...(isUpload && { body: id === 'putProfilePicture' ? 'GIF89a picture' : `content ${Math.random()}` }),
  })
  const injected = Number(response.headers.get('X-Soak-Faults'))
  faults += injected
  const { status } = response
  statuses.set(`${status}`, (statuses.get(`${status}`) ?? 0) + 1)
  const text = await response.text()
  if (status >= 500 && injected === 0) wrong.push(`${status} ${method} ${named}: ${text}`)
  if (status >= 500 && !/Try again/.test(text)) wrong.push(`${status} ${method} ${named}: ${text}`)
  if (status === 401) wrong.push(`${status} ${method} ${named}: ${text}`)
  if (id in RARE && status === 200) place.replace(RARE[id] ?? '', ids[0] ?? '')
  const name = MADE[id]
  if (name && status < 300) {
    const answer = JSON.parse(text)
    const made = answer.id ?? answer.items?.[0]?.id
    if (made) place.remember(name, made)
  }
}

/** The example of the document, with ids of the place and names of its own. */
function varied(operationId: string, place: Place, body: object): object {
  const own: Record<string, unknown> = { ...body }
  if ('projectId' in own) own.projectId = place.idOf('projectId')
  if (operationId === 'createSkill' || operationId === 'updateSkill')
    own.name = `skill-${Math.floor(Math.random() * 30)}`
  if (operationId === 'createApiKey')
    Object.assign(own, { userId: 'ada', projectIds: null, expiresAt: null, scopes: [] })
  if (operationId === 'updatePin') {
    const type = choose(['session', 'pull_request', 'project'])
    own.placement = { target: { type, id: place.idOf('sessionId') }, position: choose(['before', 'after']) }
  }
  return own
}

const server = await startWorker(
  await bundle(
    `import worker from './src/index.ts'\nimport { faulty } from './bench/faulty.ts'\nexport default faulty(worker)`,
    true,
  ),
  { RATE_LIMIT: 'off', ENCRYPTION_KEYS: 'soak:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=' },
)
try {
  process.exitCode = (await soak(server)) ? 0 : 1
} finally {
  await server.stop()
}

async function soak({ origin, database, tick, memoryMb }: WorkerServer): Promise<boolean> {
  await execute(database, schema())
  const places = await Promise.all(Array.from({ length: ORGANIZATIONS }, Place.make))
  const untouched = await Place.make()
  for (const place of [...places, untouched]) await execute(database, place.rows)
  const quiet = operations.filter(({ method, id }) => method === 'PUT' && /put(Project|Agent|Session)$/.test(id))
  for (let round = 0; round < 20; round++) {
    for (const operation of quiet) await ask(origin, untouched, operation)
  }
  const before = await dumpOf(database, untouched)

  const end = Date.now() + DURATION_MS
  const memory: number[] = []
  const isOn = () => Date.now() < end
  const connection = async (_: unknown, index: number) => {
    const place = places[index % places.length] as Place
    while (isOn()) await ask(origin, place, choose(operations) as Operation)
  }
  const watch = async () => {
    while (isOn()) {
      await setTimeout(SAMPLE_MS)
      memory.push(memoryMb())
    }
  }
  const ticks = async () => {
    while (isOn()) {
      await setTimeout(TICK_MS)
      await tick(new Date())
    }
  }
  await Promise.all([...Array.from({ length: CONNECTIONS }, connection), watch(), ticks()])

  for (let count = 0; count < 30; count++) await tick(new Date(Date.now() + 3 * 60 * MINUTE_MS))
  const broken = [...wrong.slice(0, 20), ...(await brokenInvariants(server))]
  if (JSON.stringify(await dumpOf(database, untouched)) !== JSON.stringify(before)) {
    broken.push('Rows of an organization changed that nobody asked for')
  }
  const third = Math.floor(memory.length / 3)
  const [second, last] = [mean(memory.slice(third, 2 * third)), mean(memory.slice(-third))]
  if (third > 3 && last > second * 1.25) broken.push(`Memory grew from ${second} to ${last} MB`)

  const requests = [...statuses.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `${requests} requests in ${options.minutes} minutes at ${CONNECTIONS} connections, ${faults} faults injected`,
  )
  console.log(
    `Answers: ${[...statuses]
      .sort()
      .map(([status, count]) => `${status}: ${count}`)
      .join(', ')}`,
  )
  console.log(`Memory: ${Math.round(second)} MB in the second third, ${Math.round(last)} MB in the last`)
  console.log(broken.length === 0 ? 'Nothing is broken.' : `Broken:\n${broken.join('\n')}`)
  return broken.length === 0
}

async function rows(database: D1Database, sql: string): Promise<Record<string, unknown>[]> {
  return (await database.prepare(sql).all()).results
}

async function dumpOf(database: D1Database, { organizationId }: Place): Promise<unknown[]> {
  const tables = ['projects', 'agents', 'sessions', 'users', 'apiKeys', 'auditEvents', 'pins', 'schedules', 'runs']
  const dumps = tables.map((table) =>
    rows(database, `SELECT * FROM "${table}" WHERE "organizationId" = '${organizationId}' ORDER BY 1, 2, 3`),
  )
  return (await Promise.all(dumps)).map((dump) => dump.map((row) => ({ ...row, lastUsedAt: null })))
}

/** What must always hold, whatever was asked and whatever failed. */
async function brokenInvariants({ database, objects }: WorkerServer): Promise<string[]> {
  const broken: string[] = []
  const none = async (what: string, sql: string) => {
    const found = await rows(database, sql)
    if (found.length > 0) broken.push(`${what}: ${JSON.stringify(found.slice(0, 3))}`)
  }
  await none(
    'Two pins at one position',
    'SELECT "userId", "position", count(*) AS n FROM "pins" GROUP BY "organizationId", "userId", "position" HAVING n > 1',
  )
  for (const [child, parent, id] of [
    ['sessions', 'projects', 'projectId'],
    ['pullRequests', 'projects', 'projectId'],
    ['environmentVariables', 'projects', 'projectId'],
    ['sessionFiles', 'sessions', 'sessionId'],
    ['skillVersions', 'skills', 'skillId'],
    ['skillContents', 'skills', 'skillId'],
    ['runs', 'schedules', 'scheduleId'],
    ['missedSpans', 'schedules', 'scheduleId'],
    ['profilePictures', 'users', 'userId'],
  ]) {
    await none(
      `A row of ${child} without its parent`,
      `SELECT c.* FROM "${child}" AS c WHERE NOT EXISTS (SELECT 1 FROM "${parent}" AS p
       WHERE p."organizationId" = c."organizationId" AND p."id" = c."${id}") LIMIT 3`,
    )
  }
  await none(
    'A usage that is not what is there',
    `SELECT * FROM (${COUNT_USAGE}) AS counted JOIN "organizationUsage" AS kept USING ("organizationId")
     WHERE ${Object.keys(USAGE_COUNTS)
       .map((quota) => `counted."${quota}" <> kept."${quota}"`)
       .join(' OR ')}`,
  )
  await none('A deletion that does not end', 'SELECT * FROM "deletions" WHERE "purgedAt" IS NULL AND "id" IS NULL')
  for (const { id, scheduleId, scheduledAt } of await rows(database, 'SELECT * FROM "runs"')) {
    if (id !== computeRunId(String(scheduleId), String(scheduledAt))) broken.push(`A run with another id: ${id}`)
  }
  const linked = new Set(
    (
      await rows(
        database,
        'SELECT "objectKey" FROM "sessionFiles" UNION SELECT "objectKey" FROM "profilePictures" WHERE "objectKey" IS NOT NULL',
      )
    ).map(({ objectKey }) => String(objectKey)),
  )
  const orphaned = new Set(
    (await rows(database, 'SELECT "objectKey" FROM "orphanedObjects"')).map((row) => row.objectKey),
  )
  const stored = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const page = await objects.list(cursor === undefined ? {} : { cursor })
    for (const { key } of page.objects) stored.add(key)
    if (!page.truncated) break
    cursor = page.cursor
  }
  for (const key of linked) if (!stored.has(key)) broken.push(`A row whose object is gone: ${key}`)
  for (const key of stored) if (!linked.has(key) && !orphaned.has(key)) broken.push(`An object of no row: ${key}`)
  return broken.slice(0, 20)
}
