/**
 * A large organization for the console: 10,000 sessions, 1,000 schedules, 100,000 runs and 100,000 events; a thousand
 * each of skills, API keys and deletions; 200 people; 500 variables of a project.
 */
import { SEQUENCES_PER_MS } from '../src/access/event-types.ts'
import { computeRunId } from '../src/resources/work/run-id.ts'
import { organization, organizationId, userId } from './data.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS

const PEOPLE = 200
const PROJECTS = 100
const AGENTS = 100
const SESSIONS = 10_000
/** Every so many sessions, one has 1,000 files. */
const SESSIONS_WITH_FILES_EVERY = 1000
const FILES = 1000
const SCHEDULES = 1000
const RUNS_OF_A_SCHEDULE = 100
const EVENTS = 100_000
const PINS = 50
const SKILLS = 1000
const KEYS = 1000
const DELETIONS = 1000
const VARIABLES = 500
const EVENT_ENDPOINTS = 20

type Kind =
  | 'person'
  | 'project'
  | 'agent'
  | 'session'
  | 'file'
  | 'schedule'
  | 'event'
  | 'skill'
  | 'key'
  | 'deletion'
  | 'endpoint'
type Row = Readonly<Record<string, string | number | null>>

const PREFIXES: Readonly<Record<Kind, string>> = {
  project: '1',
  agent: '2',
  session: '3',
  file: '4',
  schedule: '5',
  event: '6',
  skill: '7',
  key: '8',
  deletion: '9',
  endpoint: 'a',
  person: 'b',
}

/** The n-th ID of a kind. */
function id(kind: Kind, n: number): string {
  return `${PREFIXES[kind].padStart(8, '0')}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}

const range = (count: number) => Array.from({ length: count }, (_, index) => index)
const iso = (ms: number) => new Date(ms).toISOString()

/** What the addresses of the pages name. */
export interface Large {
  readonly token: string
  readonly runId: string
  readonly sessionId: string
  /** It has environment variables. */
  readonly projectId: string
  readonly schedulePath: string
}

/** Fills an empty database. The schedules fire hourly, each at a minute of its own. */
export async function fill(database: D1Database): Promise<Large> {
  const now = Date.now()
  const { token, rows } = await organization(organizationId, userId)
  await database.batch(rows.map((statement) => database.prepare(statement)))
  const own = { organizationId, createdAt: iso(now - 90 * 24 * HOUR_MS), updatedAt: iso(now - HOUR_MS) }
  await insert(
    database,
    'users',
    range(PEOPLE).map((n) => ({ ...own, id: id('person', n), name: `Person ${n}` })),
  )
  await insert(
    database,
    'projects',
    range(PROJECTS).map((n) => ({ ...own, id: id('project', n), name: `Project ${n}` })),
  )
  await insert(
    database,
    'agents',
    range(AGENTS).map((n) => ({ ...own, id: id('agent', n), name: `Agent ${n}` })),
  )
  await insert(
    database,
    'sessions',
    range(SESSIONS).map((n) => ({
      ...own,
      id: id('session', n),
      projectId: id('project', n % PROJECTS),
      name: `Review of change ${n}: the tests of the checkout`,
      createdAt: iso(now - (SESSIONS - n) * MINUTE_MS),
    })),
  )
  await insert(
    database,
    'pins',
    range(PINS).map((n) => ({
      organizationId,
      userId,
      resourceType: 'session',
      resourceId: id('session', n),
      position: n * 2 ** 30,
      createdAt: own.createdAt,
    })),
  )
  const withFiles = range(SESSIONS / SESSIONS_WITH_FILES_EVERY).map((n) => (n + 1) * SESSIONS_WITH_FILES_EVERY - 1)
  for (const session of withFiles) {
    await insert(
      database,
      'sessionFiles',
      range(FILES).map((n) => file(session, n, own)),
    )
  }
  const schedules = range(SCHEDULES).map((n) => schedule(n, own, now))
  await insert(database, 'schedules', schedules)
  const latest = schedules.toSorted((one, other) => other.lastRunAt.localeCompare(one.lastRunAt))[0]
  for (const each of schedules) {
    await insert(
      database,
      'runs',
      range(RUNS_OF_A_SCHEDULE).map((n) => run(each, n)),
    )
  }
  for (let start = 0; start < EVENTS; start += 1000) {
    await insert(
      database,
      'auditEvents',
      range(1000).map((n) => event(start + n, now)),
    )
  }
  await insert(
    database,
    'skills',
    range(SKILLS).map((n) => skill(n, own)),
  )
  await insert(
    database,
    'apiKeys',
    range(KEYS).map((n) => apiKey(n, now)),
  )
  await insert(
    database,
    'deletions',
    range(DELETIONS).map((n) => deletion(n, now)),
  )
  await insert(
    database,
    'eventEndpoints',
    range(EVENT_ENDPOINTS).map((n) => eventEndpoint(n, own, now)),
  )
  await insert(
    database,
    'environmentVariables',
    range(VARIABLES).map((n) => ({
      organizationId,
      projectId: id('project', 0),
      key: `SERVICE_${n}_TOKEN`,
      sealedValue: `sealed ${n}`,
      createdAt: own.createdAt,
      updatedAt: own.updatedAt,
    })),
  )
  if (!latest) throw new Error('There is no schedule.')
  return {
    token,
    runId: computeRunId(latest.id, latest.lastRunAt),
    sessionId: id('session', SESSIONS - 1),
    projectId: id('project', 0),
    schedulePath: `/${latest.parentType}s/${latest.parentId}/schedules/${latest.id}`,
  }
}

function file(session: number, n: number, own: Row): Row {
  const number = session * FILES + n
  return {
    ...own,
    sessionId: id('session', session),
    id: id('file', number),
    path: `packages/package-${Math.floor(n / 50)}/src/part-${Math.floor(n / 10) % 5}/file-${n}.ts`,
    objectKey: `session-files/${number}`,
    sizeBytes: 2000,
    contentType: 'text/plain',
    sha256: n.toString(16).padStart(64, '0'),
  }
}

function schedule(n: number, own: Row, now: number) {
  const parent = n % 2 === 0 ? ('project' as const) : ('agent' as const)
  const hour = Math.floor(now / HOUR_MS) * HOUR_MS
  const due = hour + (n % 60) * MINUTE_MS
  const last = due > now ? due - HOUR_MS : due
  const isPaused = n % 50 === 0
  return {
    ...own,
    id: id('schedule', n),
    parentType: parent,
    parentId: id(parent, Math.floor(n / 2) % PROJECTS),
    name: `Check of area ${n}, each hour`,
    cron: `${n % 60} * * * *`,
    timezone: 'UTC',
    enabledAt: isPaused ? null : iso(now - 30 * 24 * HOUR_MS),
    pausedReason: isPaused ? 'Paused after 5 failed runs in a row.' : null,
    lastRunAt: iso(last),
    nextRunAt: isPaused ? null : iso(last + HOUR_MS),
  }
}

/** The n-th latest run of a schedule. One in ten failed, and one in a hundred waits for a worker. */
function run(of: ReturnType<typeof schedule>, n: number): Row {
  const due = Date.parse(of.lastRunAt) - n * HOUR_MS
  const scheduledAt = iso(due)
  const digit = Number.parseInt(computeRunId(of.id, scheduledAt).slice(-2), 16)
  const isPending = n === 0 && digit < 3
  const status = isPending ? 'pending' : digit < 26 ? 'failed' : digit < 30 ? 'skipped' : 'succeeded'
  const isOver = status === 'failed' || status === 'succeeded'
  return {
    organizationId,
    scheduleId: of.id,
    scheduledAt,
    id: computeRunId(of.id, scheduledAt),
    parentType: of.parentType,
    parentId: of.parentId,
    status,
    failure: status === 'failed' ? 'task' : null,
    attempts: isOver ? 1 : 0,
    lastError: null,
    startedAt: isOver ? iso(due + 1000) : null,
    finishedAt: isOver ? iso(due + 1000 + digit * 3000) : null,
    message: status === 'failed' ? `${digit} of 412 tests failed: the checkout does not load.` : null,
    createdAt: scheduledAt,
    updatedAt: scheduledAt,
  }
}

function skill(n: number, own: Row): Row {
  const description = `How to review area ${n}: what to read first, which tests to run, and whom to ask when they fail.`
  return {
    ...own,
    id: id('skill', n),
    name: `review-area-${n}`,
    description,
    version: 3,
    latestVersion: 3,
    revision: `${n}`,
  }
}

/** A person's key for one project, as the person who measures sees no others. One in ten expires within a week. */
function apiKey(n: number, now: number): Row {
  return {
    organizationId,
    id: id('key', n),
    name: `laptop-${n} for project ${n % PROJECTS}`,
    kind: 'key',
    userId,
    hash: n.toString(16).padStart(64, '0'),
    scopes: JSON.stringify(['sessions:read', 'sessions:write', 'session-files:read', 'session-files:write']),
    projectIds: JSON.stringify([id('project', n % PROJECTS)]),
    expiresAt: iso(now + (n % 10 === 0 ? 5 : 60) * 24 * HOUR_MS),
    lastUsedAt: iso(now - n * MINUTE_MS),
    createdAt: iso(now - 30 * 24 * HOUR_MS),
  }
}

/** A session that was deleted. */
function deletion(n: number, now: number): Row {
  const deletedAt = now - (DELETIONS - n) * MINUTE_MS
  return {
    organizationId,
    resourceType: 'session',
    resourceId: id('session', SESSIONS + n),
    projectId: id('project', n % PROJECTS),
    deletedAt: iso(deletedAt),
    finalAt: iso(deletedAt + 7 * 24 * HOUR_MS),
    id: id('deletion', n),
    row: JSON.stringify({ name: `Review of change ${SESSIONS + n}: the tests of the checkout` }),
  }
}

function eventEndpoint(n: number, own: Row, now: number): Row {
  return {
    ...own,
    id: id('endpoint', n),
    format: 'standard',
    sealedUrl: `sealed ${n}`,
    url: `hooks-${n}.example.com/…${n.toString().padStart(4, '0')}`,
    batch: 1,
    deliveredSequence: now * SEQUENCES_PER_MS,
    failures: 0,
  }
}

const TYPES = ['session.created', 'session.updated', 'session-file.created', 'run.claimed', 'run.succeeded']

/** One event for each three minutes, the latest last. */
function event(n: number, now: number): Row {
  const at = now - (EVENTS - n) * 3 * MINUTE_MS
  const type = TYPES[n % TYPES.length] as string
  const ofSession = type.startsWith('session')
  return {
    organizationId,
    sequence: at * SEQUENCES_PER_MS,
    id: id('event', n),
    type,
    resourceId: ofSession ? id('session', n % SESSIONS) : computeRunId(id('schedule', n % SCHEDULES), iso(at)),
    parentId: type.startsWith('session-file') ? id('session', n % SESSIONS) : null,
    resourceName: ofSession ? `Review of change ${n}` : `Check of area ${n % SCHEDULES}, each hour`,
    projectId: id('project', n % PROJECTS),
    apiKeyId: id('agent', n % AGENTS),
    apiKeyName: `agent-${n % AGENTS}`,
    userId: n % 3 === 0 ? userId : null,
  }
}

/** Each value is one of JSON, so a statement has one parameter however many rows it inserts. */
async function insert(database: D1Database, table: string, rows: readonly Row[]): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  const names = columns.map((column) => `"${column}"`).join(', ')
  const values = columns.map((column) => `value ->> '${column}'`).join(', ')
  const sql = `INSERT INTO "${table}" (${names}) SELECT ${values} FROM json_each(?)`
  for (let start = 0; start < rows.length; start += 1000) {
    await database
      .prepare(sql)
      .bind(JSON.stringify(rows.slice(start, start + 1000)))
      .run()
  }
}
