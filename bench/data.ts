/** The data that every contender has, as plain SQL, and the seven requests on it. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { mintApiKey } from '../operate/provisioning.ts'
import { SCOPES } from '../src/access/scopes.ts'
import type { BenchRequest } from './load.ts'

const NOW = '2026-03-29T01:00:00.000Z'
const END_OF_TIME = '9999-12-31T00:00:00.000Z'

const KINDS = [
  'organization',
  'user',
  'project',
  'agent',
  'session',
  'file',
  'skill',
  'skillFile',
  'schedule',
  'key',
] as const
type Kind = (typeof KINDS)[number]

/** A value as SQL. */
function literal(value: string | number | null): string {
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value ?? 'NULL')
}

/** The n-th id of a kind. */
function id(kind: Kind, n: number): string {
  const prefix = KINDS.indexOf(kind).toString(16).padStart(8, '0')
  return `${prefix}-0000-7000-8000-${n.toString(16).padStart(12, '0')}`
}

/** The same, as SQL, for the number that an SQL expression gives. */
function idSql(kind: Kind, expression: string): string {
  return `printf('%08x-0000-7000-8000-%012x', ${KINDS.indexOf(kind)}, ${expression})`
}

export const organizationId = id('organization', 0)
export const userId = id('user', 0)

/** An organization with a user, and a key that was used just now, so that no use of it is news. */
export async function organization(id: string, user: string): Promise<{ token: string; rows: string[] }> {
  const { token, row } = await keyOf(id, user)
  const rows = [
    insert('organizations', 1, { id: literal(id), name: "'Bench'", createdAt: now }),
    insert('users', 1, {
      organizationId: literal(id),
      id: literal(user),
      name: "'Ada'",
      createdAt: now,
      updatedAt: now,
    }),
    row,
  ]
  return { token, rows }
}

/** A key with all scopes. @param columns what it has besides. */
export async function keyOf(organizationId: string, userId: string, columns: Readonly<Record<string, string>> = {}) {
  const { token, row } = await mintApiKey({ organizationId, name: 'bench', scopes: SCOPES, userId, createdAt: NOW })
  const values = Object.entries({ ...row, lastUsedAt: END_OF_TIME, ...columns })
  const literals = Object.fromEntries(values.map(([column, value]) => [column, literal(value)]))
  return { id: row.id, token, row: insert('apiKeys', 1, literals) }
}

/** A person who signed in as the user. */
export function identity(organizationId: string, id: string, userId: string): string {
  const columns = { organizationId, id, issuer: 'https://login.example.com', subject: id, userId, role: 'admin' }
  const values = Object.entries({ ...columns, ruleIds: '[]', lastSignInAt: NOW, createdAt: NOW })
  return insert('identities', 1, Object.fromEntries(values.map(([column, value]) => [column, literal(value)])))
}

const now = literal(NOW)
const mine = literal(organizationId)

const { token, rows } = await organization(organizationId, userId)

/** The key that every request carries. */
export { token }

const PARENTS = 1000
const SESSIONS = 100
const FILES_OF_A_SESSION = 200
const SKILLS = 100
const FILES_OF_A_SKILL = 5
const PINS = 50
const PIN_GAP = 2 ** 30

/** The schema, a statement each. */
export function schema(): string[] {
  const folder = join(import.meta.dirname, '..', 'migrations')
  const files = readdirSync(folder).filter((name) => name.endsWith('.sql'))
  return files.sort().flatMap((name) => readFileSync(join(folder, name), 'utf8').split('--> statement-breakpoint'))
}

/** An organization of usual size. */
export function seed(): string[] {
  const times = { createdAt: now, updatedAt: now }
  const named = (kind: Kind, name: string) => ({
    organizationId: mine,
    id: idSql(kind, 'v'),
    name: literal(name),
    ...times,
  })
  return [
    ...rows,
    insert('projects', PARENTS, named('project', 'Project')),
    insert('agents', PARENTS, named('agent', 'Agent')),
    insert('sessions', SESSIONS, { ...named('session', 'Session'), projectId: idSql('project', 'v') }),
    insert('sessionFiles', SESSIONS * FILES_OF_A_SESSION, sessionFile(mine, `v / ${FILES_OF_A_SESSION}`, 'v')),
    insert('skills', SKILLS, skill(mine, 'v')),
    insert('skillVersions', SKILLS, skillVersion(mine, 'v')),
    insert('skillContents', SKILLS * FILES_OF_A_SKILL, skillContent(mine, 'v')),
    insert('pins', PINS, pin(mine, literal(userId), 'v')),
  ]
}

export interface Operation {
  readonly name: string
  readonly writes: boolean
  /** What is done to the database before a round of so many requests. */
  prepare(amount: number): string[]
  requestAt(index: number): BenchRequest
  /** Fills the table that the operation touches: half of the rows are the organization's, the rest are others'. */
  grow(from: number, to: number): string[]
  /** The request to ask for when the table has so many rows: as deep in it as can be. */
  deepRequestAt?(index: number, rows: number): BenchRequest
}

/** Only the schedules of the seeded parents; those of grown rows come after them. */
const clearSchedules = (parent: 'project' | 'agent') => [
  `DELETE FROM "schedules" WHERE "organizationId" = ${mine} AND "parentType" = '${parent}'
    AND "parentId" < ${literal(id(parent, PARENTS))}`,
]

export const operations: readonly Operation[] = [
  {
    name: 'updatePin',
    writes: true,
    prepare: () => [],
    requestAt: (index) => {
      // Knuth's multiplicative hash: the same for every contender, and nearly every placement is a move.
      const hash = Math.imul(index + 1, 2654435761) >>> 0
      const pinned = (hash >>> 8) % PINS
      const target = (pinned + 1 + ((hash >>> 16) % (PINS - 1))) % PINS
      const position = hash % 2 === 0 ? 'before' : 'after'
      return {
        method: 'PATCH',
        path: `/v1/pins/session/${id('session', pinned)}`,
        body: JSON.stringify({
          placement: { target: { type: 'session', id: id('session', target) }, position },
        }),
      }
    },
    grow: (from, to) => [
      insert('pins', to - from, pin(owner(from), idSql('user', `1 + (v + ${from}) / ${PINS}`), 'v')),
    ],
  },
  {
    name: 'createProjectSchedule',
    writes: true,
    prepare: () => clearSchedules('project'),
    requestAt: (index) => ({
      method: 'POST',
      path: `/v1/projects/${id('project', index % PARENTS)}/schedules`,
      body: JSON.stringify({ cron: '30 9 * * 1-5', timezone: 'Europe/Paris' }),
    }),
    grow: (from, to) => [insert('schedules', to - from, schedule("'project'", 'project', from))],
  },
  {
    name: 'createAgentSchedule',
    writes: true,
    prepare: () => clearSchedules('agent'),
    requestAt: (index) => ({
      method: 'POST',
      path: `/v1/agents/${id('agent', index % PARENTS)}/schedules`,
      body: JSON.stringify({ cron: '0 6 * * *' }),
    }),
    grow: (from, to) => [insert('schedules', to - from, schedule("'agent'", 'agent', from + 1e9))],
  },
  {
    name: 'listSessionFiles',
    writes: false,
    prepare: () => [],
    requestAt: (index) => {
      const session = index % SESSIONS
      const cursor = id('file', session * FILES_OF_A_SESSION + (index % 100))
      return { method: 'GET', path: `/v1/sessions/${id('session', session)}/files?limit=50&cursor=${cursor}` }
    },
    // The organization's half is in one session.
    grow: (from, to) => [insert('sessionFiles', to - from, sessionFile(owner(from), '0', `v + ${GROWN + from}`))],
    deepRequestAt: (index, rows) => {
      const cursor = id('file', GROWN + Math.floor(rows * 0.9) - (index % 100))
      return { method: 'GET', path: `/v1/sessions/${id('session', 0)}/files?limit=50&cursor=${cursor}` }
    },
  },
  {
    name: 'retrieveSkill',
    writes: false,
    prepare: () => [],
    requestAt: (index) => ({ method: 'GET', path: `/v1/skills/${id('skill', index % SKILLS)}` }),
    grow: (from, to) => [
      insert('skills', Math.ceil((to - from) / 5), skill(owner(from), `v + ${GROWN + from}`)),
      insert('skillVersions', Math.ceil((to - from) / 5), skillVersion(owner(from), `v + ${GROWN + from}`)),
      insert('skillContents', to - from, skillContent(owner(from), `v + ${GROWN * 5 + from}`)),
    ],
  },
  {
    name: 'deleteProfilePicture',
    writes: true,
    prepare: () => [],
    requestAt: () => ({ method: 'DELETE', path: `/v1/users/${userId}/profile-picture` }),
    grow: (from, to) => [
      insert('profilePictures', to - from, {
        organizationId: owner(from),
        userId: idSql('user', `1 + v + ${from}`),
        objectKey: `'profile-pictures/' || v`,
        contentType: "'image/png'",
        updatedAt: now,
      }),
    ],
  },
  {
    name: 'deleteEnvironmentVariable',
    writes: true,
    prepare: (amount) => [
      `DELETE FROM "environmentVariables" WHERE "organizationId" = ${mine} AND "key" LIKE 'BENCH%'`,
      insert('environmentVariables', amount, variable(mine, `v % ${PARENTS}`, "'BENCH_' || v")),
    ],
    requestAt: (index) => ({
      method: 'DELETE',
      path: `/v1/projects/${id('project', index % PARENTS)}/environment-variables/BENCH_${index}`,
    }),
    grow: (from, to) => [
      insert('environmentVariables', to - from, variable(owner(from), `v % ${PARENTS}`, `'GROWN_' || (v + ${from})`)),
    ],
  },
]

/** Placements into one gap: two pins take turns between their two neighbours. */
export function sameGapRequestAt(index: number): BenchRequest {
  return {
    method: 'PATCH',
    path: `/v1/pins/session/${id('session', 1 + (index % 2))}`,
    body: JSON.stringify({
      placement: { target: { type: 'session', id: id('session', 0) }, position: 'after' },
    }),
  }
}

/** Further keys: every operation looks one up. */
export function growKeys(from: number, to: number): string[] {
  const hash = `printf('%064x', v + ${from} + 1)`
  return [
    insert('apiKeys', to - from, {
      organizationId: owner(from),
      id: idSql('key', `v + ${from} + 1`),
      name: "'grown'",
      hash,
      scopes: "'[]'",
      createdAt: now,
    }),
  ]
}

/** What is due at the same instant: in UTC of an agent, else of a project. */
const DUE_PATTERNS = [
  { cron: '* * * * *', timezone: 'UTC' },
  { cron: '0 14 * * mon-fri', timezone: 'Europe/Paris' },
  { cron: '*/15 * * * *', timezone: 'UTC' },
  { cron: '0 8 1 * *', timezone: 'America/New_York' },
  { cron: '0 12 * * *', timezone: 'UTC' },
  { cron: '*/30 8-17 * * *', timezone: 'Europe/London' },
]
const DUE_AT = '2026-06-01T12:00:00.000Z'
/** The trigger comes a little late. */
export const DUE_TICK_AT = new Date('2026-06-01T12:00:20.000Z')

const DUE_ORGANIZATIONS = 100
const DUE_PARENTS = 50

const dueOrganization = idSql('organization', `1 + v % ${DUE_ORGANIZATIONS}`)

/** Organizations with projects and agents; every other organization has a run endpoint. */
export function seedParentsOfDue(): string[] {
  const parents = (kind: 'project' | 'agent') =>
    insert(`${kind}s`, DUE_ORGANIZATIONS * DUE_PARENTS, {
      organizationId: dueOrganization,
      id: idSql(kind, `v / ${DUE_ORGANIZATIONS}`),
      name: `'${kind}'`,
      createdAt: now,
      updatedAt: now,
    })
  return [
    insert('organizations', DUE_ORGANIZATIONS, { id: dueOrganization, name: "'Bench'", createdAt: now }),
    parents('project'),
    parents('agent'),
    insert('runEndpoints', DUE_ORGANIZATIONS / 2, {
      organizationId: idSql('organization', '1 + 2 * v'),
      url: "'https://receiver.example.com/'",
      sealedSecret: "'v1.k.iv.ciphertext'",
      createdAt: now,
      updatedAt: now,
    }),
  ]
}

/** So many schedules, spread over the organizations and their parents. */
export function seedDue(count: number): string[] {
  const pattern = `v / 2 % ${DUE_PATTERNS.length}`
  const ofPattern = (sqlOf: (pattern: (typeof DUE_PATTERNS)[number]) => string) =>
    `CASE ${pattern} ${DUE_PATTERNS.map((each, index) => `WHEN ${index} THEN ${sqlOf(each)}`).join(' ')} END`
  const parent = `v / ${DUE_ORGANIZATIONS} % ${DUE_PARENTS}`
  return [
    'DELETE FROM "schedules"',
    insert('schedules', count, {
      organizationId: dueOrganization,
      parentType: ofPattern(({ timezone }) => (timezone === 'UTC' ? "'agent'" : "'project'")),
      parentId: ofPattern(({ timezone }) => idSql(timezone === 'UTC' ? 'agent' : 'project', parent)),
      id: idSql('schedule', 'v'),
      cron: ofPattern(({ cron }) => literal(cron)),
      timezone: ofPattern(({ timezone }) => literal(timezone)),
      enabledAt: now,
      createdAt: now,
      updatedAt: now,
    }),
  ]
}

/** No pass over next runs is due: it goes once a day, and is no part of what a run costs. */
export const NO_PASS_DUE = `INSERT OR REPLACE INTO "passes" VALUES ('next runs', '9999-12-31T23:59:59.999Z', ''), ('retention', '9999-12-31T23:59:59.999Z', '')`

/** Nothing has fired, and every schedule is due. */
export function makeDue(): string[] {
  return [
    'DELETE FROM "runs"',
    `UPDATE "schedules" SET "nextRunAt" = ${literal(DUE_AT)}, "lastRunAt" = NULL`,
    NO_PASS_DUE,
  ]
}

/** Those that moved on and have a row in the ledger, sent if somebody hears of it. */
export const COUNT_FIRED = `
  SELECT count(*) AS fired FROM "schedules" JOIN "runs" ON "runs"."organizationId" = "schedules"."organizationId"
    AND "scheduleId" = "schedules"."id" AND "scheduledAt" = ${literal(DUE_AT)}
  WHERE "nextRunAt" > "scheduledAt" AND "lastRunAt" = "scheduledAt" AND "status" = 'pending'
    AND ("checkAt" > ${literal(DUE_TICK_AT.toISOString())}) IS
      CASE WHEN "runs"."organizationId" IN (SELECT "organizationId" FROM "runEndpoints") THEN 1 END`

/** Where the numbers of grown rows begin: beyond those of the seed. */
const GROWN = 1_000_000

/** Every other row is the organization's; the rest belong to a hundred others. */
function owner(from: number): string {
  return `CASE v % 2 WHEN 0 THEN ${mine} ELSE ${idSql('organization', `1 + (v + ${from}) / 2 % 100`)} END`
}

/** A row: SQL for each column, in which `v` is the number of the row. */
export type Row = Readonly<Record<string, string>>

/** `INSERT` of a row for each `v` from 0 to `count` − 1. */
export function insert(table: string, count: number, row: Row): string {
  const columns = Object.keys(row).map((column) => `"${column}"`)
  return `INSERT INTO "${table}" (${columns.join(', ')})
    SELECT ${Object.values(row).join(', ')} FROM (WITH RECURSIVE n(v) AS
    (SELECT 0 UNION ALL SELECT v + 1 FROM n WHERE v + 1 < ${count}) SELECT v FROM n)`
}

function pin(organizationId: string, user: string, v: string): Row {
  return {
    organizationId,
    userId: user,
    resourceType: "'session'",
    resourceId: idSql('session', `${v} % ${PINS}`),
    position: `(${v} + 1) * ${PIN_GAP}`,
    createdAt: now,
  }
}

function schedule(parentType: string, parent: Kind, from: number): Row {
  return {
    organizationId: owner(from),
    parentType,
    parentId: idSql(parent, `${GROWN} + (v + ${from}) / 50`),
    id: idSql('schedule', `v + ${from}`),
    cron: "'0 6 * * *'",
    timezone: "'UTC'",
    enabledAt: now,
    nextRunAt: now,
    createdAt: now,
    updatedAt: now,
  }
}

function sessionFile(organizationId: string, session: string, v: string): Row {
  return {
    organizationId,
    sessionId: idSql('session', session),
    id: idSql('file', v),
    path: `'src/file-' || (${v}) || '.ts'`,
    objectKey: `'session-files/' || (${v})`,
    sizeBytes: '0',
    sha256: `printf('%064x', ${v})`,
    createdAt: now,
    updatedAt: now,
  }
}

function skill(organizationId: string, v: string): Row {
  return {
    organizationId,
    id: idSql('skill', v),
    name: `'skill-' || (${v})`,
    description: "'A skill.'",
    version: '1',
    latestVersion: '1',
    revision: "'r1'",
    createdAt: now,
    updatedAt: now,
  }
}

/** The only version of a skill. */
function skillVersion(organizationId: string, v: string): Row {
  const files = Array.from({ length: FILES_OF_A_SKILL }, (_, index) => {
    const number = `(${v}) * ${FILES_OF_A_SKILL} + ${index}`
    return `json_object('id', ${idSql('skillFile', number)}, 'filename', 'file-' || (${number}) || '.md',
      'sha256', ${sha256OfFile(number)}, 'sizeBytes', 2000, 'encoding', 'utf-8', 'executable', json('false'))`
  })
  return {
    organizationId,
    skillId: idSql('skill', v),
    version: '1',
    name: `'skill-' || (${v})`,
    description: "'A skill.'",
    digest: 'hex(zeroblob(32))',
    objectKey: `'skills/' || (${v})`,
    archiveBytes: '500',
    files: `json_array(${files.join(', ')})`,
    apiKeyId: "'key'",
    createdAt: now,
  }
}

/** Has the 64 hexadecimal digits of a SHA-256. */
const sha256OfFile = (v: string) => `printf('%064x', ${v})`

/** 2 KB of content. */
function skillContent(organizationId: string, v: string): Row {
  return {
    organizationId,
    skillId: idSql('skill', `(${v}) / ${FILES_OF_A_SKILL}`),
    sha256: sha256OfFile(v),
    content: "replace(hex(zeroblob(250)), '00', 'contents')",
  }
}

function variable(organizationId: string, project: string, name: string): Row {
  return {
    organizationId,
    projectId: idSql('project', project),
    key: name,
    sealedValue: "'v1.k.iv.ciphertext'",
    createdAt: now,
    updatedAt: now,
  }
}
