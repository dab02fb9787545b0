/**
 * What a statement reads has a bound, whatever others have, whatever was deleted, and whatever the past holds. After a change that moves
 * the rows that are read, write the page again: `npm run test:files -- test/growth.test.ts -u`.
 */
import { getTableName, is } from 'drizzle-orm'
import { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { describe, expect, it, vi } from 'vitest'
import writtenPage from '../docs/rows-read.md?raw'
import { namedStatements } from '../scripts/named-statements.ts'
import * as schema from '../src/db/schema.ts'
import type { DeliveryMessage, Environment, RunMessage } from '../src/environment.ts'
import { loadOperations } from '../src/operations.ts'
import { respond } from './support/api.ts'
import { type DatabaseUse, watchedDatabase } from './support/bindings.ts'
import { START } from './support/clock.ts'
import { addCrowd } from './support/crowd.ts'
import { env } from './support/env.ts'
import { type Example, exampleList, keyFor, listTables, withIds } from './support/examples.ts'
import { deliverBatch } from './support/queue.ts'
import { inOneBatch } from './support/set-up.ts'
import { newPerson, signIn } from './support/sign-in.ts'
import { tick } from './support/tick.ts'
import { Workspace } from './support/workspace.ts'

const modules = import.meta.glob(['../src/**/*.ts', '!../src/db/statement.ts'], { eager: true })
/** The name of each statement, by its SQL. */
const statements = new Map(
  Object.entries(modules).flatMap(([path, module]) =>
    namedStatements(module).map(([name, { sql }]) => [sql, `${path.replace('../src/', '')} ${name}`] as const),
  ),
)
const tables = Object.values(schema).filter((value) => is(value, SQLiteTable))

/**
 * Where a statement begins at the start or the end of a stored table or index, instead of at a key that it looks for, and
 * why it may. SQLite also does so after a look-up with IN that fails, to tell NULL from false: then it reads the whole
 * table, which no count of rows shows while look-ups succeed.
 */
const UNKEYED: Readonly<Record<string, string>> = {
  deletionsByEnd: 'The oldest deletions that are final and can still be restored, up to now, in pages.',
  variableRequestsByAge: 'The oldest Idempotency-Keys that are over a day old, in pages.',
  orphanedObjectsByDeleteAfter: 'The oldest orphaned objects, up to now, in pages.',
  missedSpansByAge: 'The oldest missed spans, in pages.',
  brakes: 'At most one row for each of the four kinds.',
  objectSearches: 'At most one row, after a restore.',
  eventEndpoints: 'The tick looks at each endpoint. An organization has at most ten.',
}

describe('the bytecode of every statement', () => {
  it('begins at a key, or where the list says why not', async () => {
    expect(statements.size).toBeGreaterThan(200)
    const { results } = await env.DB.prepare('SELECT "name", "rootpage" FROM "sqlite_schema"').all<{
      name: string
      rootpage: number
    }>()
    const stored = new Map(results.map(({ name, rootpage }) => [rootpage, name]))
    const found = new Map<string, string[]>()
    for (const [sql, name] of statements) {
      for (const table of await unkeyedIn(sql, stored)) found.set(table, [...(found.get(table) ?? []), name])
    }
    const unexplained = [...found].filter(([table]) => !(table in UNKEYED))
    expect(unexplained).toEqual([])
    expect(Object.keys(UNKEYED).filter((table) => !found.has(table))).toEqual([])
  })
})

/** The stored tables and indexes whose first or last row the statement goes to. */
async function unkeyedIn(sql: string, stored: ReadonlyMap<number, string>): Promise<string[]> {
  const parameters = Array.from(sql.matchAll(/\?/g), () => null)
  const { results } = await env.DB.prepare(`EXPLAIN ${sql}`)
    .bind(...parameters)
    .all<{ opcode: string; p1: number; p2: number }>()
  const opened = new Map<number, string | undefined>()
  return results.flatMap(({ opcode, p1, p2 }) => {
    // A trigger is a program of its own.
    if (opcode === 'Init') opened.clear()
    if (/^Open|^SorterOpen/.test(opcode)) opened.set(p1, /Read|Write/.test(opcode) ? stored.get(p2) : undefined)
    return /^(?:Rewind|Last)$/.test(opcode) ? (opened.get(p1) ?? []) : []
  })
}

const FEW = 50
const MANY = 10 * FEW
/** Instead of each larger limit of a statement, so that there are more rows than it reads at most. */
const PAGE = 20
/**
 * A page that ends exactly with the last row reads one or two rows less, and the search for event endpoints that wait reads
 * a page less for one whose delivery is not recorded yet.
 */
const TOLERANCE = PAGE + 2

/** The operations and the other statements that read more rows beside more rows, and what bounds them. */
const BOUNDS: Readonly<Record<string, string>> = {
  deleteApiKey:
    'With descendants: each person to whom a key gave a role; and each person once more for each rule that a descendant made, of at most 100.',
  updateSignInRule: 'Each person, to find those whom the rule admitted: up to USER_LIMIT.',
  deleteSignInRule: 'Each person, to find those whom the rule admitted: up to USER_LIMIT.',
  'resources/skill-feeds/offered.ts selectAllOffered': 'A feed of all skills lists each: up to SKILL_LIMIT.',
  'resources/work/firing/fire.ts selectDue':
    'Due schedules of suspended organizations: up to ORGANIZATION_SCHEDULE_LIMIT of each.',
  'resources/work/firing/record-missed.ts selectSpans':
    'Missed spans of organizations that move, until they have moved.',
  ...ofMoving('maintenance/ended-keys.ts', ['selectEnded', ...pages('endedPage', 7)], 'Ended keys'),
  ...ofMoving('maintenance/purge.ts', ['deleteExpiredRequests'], 'Keys of repeated requests that are over a day old'),
  claimRuns: 'If the oldest pending runs are of deleted schedules: each schedule, up to ORGANIZATION_SCHEDULE_LIMIT.',
  'resources/work/delivery/check-runs.ts selectToCheck':
    'Overdue runs of organizations that move, until they have moved.',
}

/** What organizations that move have stays until they have moved, and the tick passes over it. */
function ofMoving(path: string, names: readonly string[], what: string): Readonly<Record<string, string>> {
  return Object.fromEntries(
    names.map((name) => [`${path} ${name}`, `${what} of organizations that move, until they have moved.`]),
  )
}

function pages(name: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${name}.${index}`)
}

/** Statements that do not run here, and what they read. */
const NOT_RUN: readonly [RegExp, string][] = [
  [/^alerts\//, 'A row for each database and each alert.'],
  [/^db\/directory.ts /, 'The organizations that it names.'],
  [/^health.ts /, 'One row.'],
  [/^maintenance\/event-bytes.ts selectWriter$/, 'A sample of the latest events, when the operator is alerted.'],
  [/^maintenance\/reseal.ts /, 'A page by the index of the encryption key, after a rotation.'],
  [/^objects\//, 'The objects of a page of R2.'],
  [/^resources\/api-keys\/grants.ts /, 'A grant of a connected app: what a new key reads.'],
  [/^resources\/claim-links\//, 'One key by its hash.'],
  [/^resources\/environment-variables\/project-environments.ts /, 'A project: up to VARIABLE_LIMIT.'],
  [/ (?:recordUncomputable|recordPaused)$/, 'Schedules of a page whose time zone is unknown.'],
  [/ selectSkillByName$/, 'One skill by its name.'],
]

/** Their set-ups use a name that another one has used, and an organization has it once. */
const NOT_PREPARED = [
  'createSkill, the name is taken',
  'listSkills, it has a name',
  'updateSkill, the name is taken',
  'publishSkillVersion, its name is taken',
]

const operationIds = (await loadOperations()).map(({ contract }) => contract.operationId)

describe('the rows that are read', () => {
  it(`are as many beside ${MANY} as beside ${FEW} of each kind`, { tags: ['slow'] }, async () => {
    expect(tables.map(getTableName).sort()).toEqual(await listTables())
    vi.useFakeTimers({ toFake: ['Date'], now: START })
    // On a busy machine, a receiver may be slow. Then its runs are recorded in parts, each of which reads fewer rows.
    vi.spyOn(scheduler, 'wait').mockReturnValue(new Promise(() => {}))
    const few = await measure(FEW)
    await env.DB.batch(tables.map((table) => env.DB.prepare(`DELETE FROM "${getTableName(table)}"`)))
    vi.setSystemTime(START)
    const many = await measure(MANY)
    vi.useRealTimers()
    vi.restoreAllMocks()

    for (const { unprepared } of [few, many]) expect(unprepared).toEqual(NOT_PREPARED)
    const notRun = [...new Set(statements.values())].filter((name) => !many.ran.has(name))
    expect(notRun.filter((name) => !NOT_RUN.some(([pattern]) => pattern.test(name)))).toEqual([])
    expect(operationIds.filter((id) => !(id in most(many)))).toEqual([])

    const growing = Object.keys(many.rows).filter((name) => (many.rows[name] ?? 0) > (few.rows[name] ?? 0) + TOLERANCE)
    expect(growing.filter((name) => !(nameOf(name) in BOUNDS))).toEqual([])
    expect(Object.keys(BOUNDS).filter((name) => !growing.map(nameOf).includes(name))).toEqual([])
    const [mostOfFew, mostOfMany] = [most(few), most(many)]
    const lines = Object.entries(mostOfMany).map(([name, rows]) => {
      const [writtenFew, writtenMany] = WRITTEN.get(name) ?? []
      return [name, settled(writtenFew, mostOfFew[name] ?? 0), settled(writtenMany, rows)] as const
    })
    const isOperation = ([name]: (typeof lines)[number]) => operationIds.includes(name)
    const bounds = Object.entries(BOUNDS).map(([name, bound]) => `- \`${name}\`: ${bound}`)
    await expect(
      [
        INTRODUCTION,
        '## What reads more beside more',
        bounds.join('\n'),
        '## Operations',
        tableOf(lines.filter(isOperation)),
      ]
        .join('\n\n')
        .concat('\n'),
    ).toMatchFileSnapshot('../docs/rows-read.md')
  })
})

const INTRODUCTION = `# How many rows are read beside how many

This page is generated: \`test/growth.test.ts\` fills every table with ${FEW} and with ${MANY} rows of each kind, of the caller's organization,
of others, of suspended ones and of one that moves, and of each what exists, what is deleted and what is purged in part. Then it
sends every example of each operation, signs a person in, reads feeds, runs a tick and delivers what it queues. The numbers are the
most rows that D1 counts as read in one request, within two. Pages and other limits have ${PAGE} rows here, so only the growth says something about a
deployment.`

function tableOf(lines: readonly (readonly [name: string, few: number, many: number])[]): string {
  const head = ['operation', `beside ${FEW}`, `beside ${MANY}`]
  const width = Math.max(...lines.map(([name]) => name.length + 2))
  const row = ([name = '', few = '', many = '']: readonly string[]) =>
    `| ${name.padEnd(width)} | ${few.padStart(head[1]?.length ?? 0)} | ${many.padStart(head[2]?.length ?? 0)} |`
  const rule = `| ${'-'.repeat(width)} | --------: | ---------: |`
  return [row(head), rule, ...lines.map(([name, ...rows]) => row([`\`${name}\``, ...rows.map(String)]))].join('\n')
}

/** The numbers that the page has, by operation. */
const WRITTEN = new Map(
  Array.from(
    writtenPage.matchAll(/^\| `(\w+)` +\| +(\d+) \| +(\d+) \|$/gm),
    ([, name = '', few, many]) => [name, [Number(few), Number(many)]] as const,
  ),
)

/** A few operations read a row less in some runs, for a reason not found yet: the page keeps a number at most two rows away. */
const settled = (written = Number.NaN, rows: number) => (Math.abs(written - rows) <= 2 ? written : rows)

/** The operation of a request, or the statement. */
const nameOf = (name: string) => name.replace(/,.*/, '')

/** The most rows that each operation and each other statement reads, in order of the names. */
function most({ rows }: Measured): Record<string, number> {
  const byName = Map.groupBy(Object.keys(rows).sort(), nameOf)
  return Object.fromEntries([...byName].map(([name, all]) => [name, Math.max(...all.map((each) => rows[each] ?? 0))]))
}

interface Measured {
  /** By operation and what was asked; and by statement, those of the tick, of deliveries and of sign-ins: in one call. */
  readonly rows: Readonly<Record<string, number>>
  /** The statements that ran. */
  readonly ran: ReadonlySet<string>
  /** The variations that could not be prepared. */
  readonly unprepared: readonly string[]
}

/** In an organization with so many rows of each kind, beside others that have as many. */
async function measure(count: number): Promise<Measured> {
  const workspace = await Workspace.create()
  await addCrowd(workspace, count)
  const rows: Record<string, number> = {}
  const ran = new Set<string>()
  const unprepared: string[] = []
  const statementsOf = ({ statements: run }: DatabaseUse) =>
    run.map(({ sql, rowsRead }): [string, number] => {
      const name = statements.get(sql) ?? sql
      ran.add(name)
      return [name, rowsRead]
    })

  const ask = async (
    { operationId, contract }: (typeof exampleList)[number],
    name: string,
    example: Example,
    key: string,
  ) => {
    const use = watchedDatabase(PAGE)
    const { path, ids, projectIds, keyOptions, ...options } = example
    const environment = { ...options.environment, ...WIDE_QUOTAS, ...FORGETFUL, DB: use.DB }
    const response = await respond(contract.method, path, { ...options, environment, key })
    await response.arrayBuffer()
    statementsOf(use)
    rows[`${operationId}, ${name}: ${response.status}`] = use.rowsRead
  }
  const outsider = await (await Workspace.create()).addKey()
  const nobodys = await workspace.addKey()
  for (const each of exampleList) {
    const { row } = each
    for (const name of ['as it is', ...Object.keys(row.variations)]) {
      pass()
      const { example, key } = (await prepared(workspace, row, name).catch(() => null)) ?? {}
      if (example && key) await ask(each, name, example, key)
      else unprepared.push(`${each.operationId}, ${name}`)
    }
    pass()
    const { example, key } = await prepared(workspace, row)
    if (example.ids.length === 0) continue
    await ask(each, 'of nobody', withIds(example), nobodys)
    await ask(each, 'of another organization', example, outsider)
    const [projectId] = example.projectIds ?? []
    if (projectId === undefined || !(await workspace.has('project', projectId))) continue
    await workspace.delete('project', projectId)
    await ask(each, 'in a deleted project', example, key)
  }
  for (const work of [signInTwice, readFeeds, tickAndDeliver]) {
    pass()
    const use = watchedDatabase(PAGE)
    await work(workspace, use.DB)
    for (const [name, rowsRead] of statementsOf(use)) rows[name] = Math.max(rows[name] ?? 0, rowsRead)
  }
  return { rows, ran, unprepared }
}

/** Lets time pass: no example meets what the one before wrote at its time, or a second before. */
const pass = () => void vi.setSystemTime(Date.now() + 1700)

/** The example, after the variation and what it needs, and a key that succeeds. */
function prepared(workspace: Workspace, row: (typeof exampleList)[number]['row'], name = 'as it is') {
  return inOneBatch(async () => {
    const variation = row.variations[name]
    let example = await row.prepare(workspace)
    for (const each of [row.variations[variation?.needs ?? ''], variation])
      if (each) example = await each.apply(workspace, example)
    return { example, key: await keyFor(workspace, example) }
  })
}

/** More than there are. */
const WIDE_QUOTAS = {
  PROJECT_LIMIT: '20000',
  AGENT_LIMIT: '20000',
  USER_LIMIT: '20000',
  SKILL_LIMIT: '20000',
  API_KEY_LIMIT: '20000',
  ORGANIZATION_SCHEDULE_LIMIT: '20000',
  ORGANIZATION_VARIABLE_LIMIT: '20000',
}

/** A queue that forgets: when the real one delivers is not known. */
const queue = { send: async () => {}, sendBatch: async () => {} } as unknown as Environment['DELIVERIES']
const FORGETFUL = { DELIVERIES: queue, SLOW_DELIVERIES: queue }

/** A person who is new, and then is not. */
async function signInTwice(workspace: Workspace, DB: D1Database): Promise<void> {
  await workspace.addSignInRule({ claim: 'groups', value: 'growing' })
  const person = newPerson({ claims: [['groups', 'growing']] })
  for (let count = 0; count < 2; count++) {
    expect(await signIn(workspace, person, { DB, ...FORGETFUL })).toMatchObject({ token: expect.any(String) })
    pass()
  }
}

const INDEX = '/.well-known/agent-skills/index.json'

/** A feed of all skills, and one of a skill; their indexes and an archive. */
async function readFeeds(workspace: Workspace, DB: D1Database): Promise<void> {
  const key = await workspace.addKey()
  // An example has as many as the organization may have.
  await env.DB.prepare('DELETE FROM "skillFeeds" WHERE "organizationId" = ?').bind(workspace.organizationId).run()
  const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes' }, undefined, 'growing')
  for (const skills of [undefined, [{ skillId }]]) {
    const created = await respond('POST', '/v1/skill-feeds', {
      key,
      json: { name: 'Laptops', ...(skills && { skills }) },
      environment: FORGETFUL,
    })
    const { pathname } = new URL(((await created.json()) as { url: string }).url)
    for (const path of [INDEX, INDEX.replace('index.json', `${skillId}-1.tar.gz`)]) {
      const response = await respond('GET', pathname + path, { environment: { DB } })
      await response.arrayBuffer()
      expect([path, response.status]).toEqual([path, 200])
    }
  }
}

/** A tick, and what it puts into the queue: the messages for event endpoints, and the first runs of the organization. */
async function tickAndDeliver(workspace: Workspace, DB: D1Database): Promise<void> {
  await workspace.addRunEndpoint()
  const messages: DeliveryMessage[] = []
  const sendBatch = async (batch: Iterable<{ body: DeliveryMessage }>) => {
    for (const { body } of batch) messages.push(body)
  }
  const DELIVERIES = { sendBatch } as unknown as Environment['DELIVERIES']
  await tick({ ...env, DB, DELIVERIES, SLOW_DELIVERIES: DELIVERIES }, new Date(Date.now() + 2 * 3_600_000))
  const runs = messages.filter((message): message is RunMessage => 'runs' in message)
  const ownRuns = runs.filter((message) =>
    message.runs.some(({ organizationId }) => organizationId === workspace.organizationId),
  )
  const endpoints = messages.filter((message) => 'endpoint' in message)
  await deliverBatch([...ownRuns.slice(0, 3), ...endpoints], { DB, ...FORGETFUL })
}
