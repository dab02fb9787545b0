/**
 * The rows and bytes that one request of each operation writes at worst. After a change that moves them, write the table
 * again: `npm run test:files -- test/worst-writes.test.ts -u`.
 */
import { expect, it, vi } from 'vitest'
import * as schema from '../src/db/schema.ts'
import type { Contract } from '../src/http/contract.ts'
import { docs } from '../src/http/fields.ts'
import { loadOperations } from '../src/operations.ts'
import { worstRequests } from './examples/worst-requests.ts'
import { watchedDatabase } from './support/bindings.ts'
import { stopClock } from './support/clock.ts'
import { env } from './support/env.ts'
import { type Example, examples, keyFor, send } from './support/examples.ts'
import { type InputPlace, inputPlacesOf, withText } from './support/inputs.ts'
import { inOneBatch, write } from './support/set-up.ts'
import { Workspace } from './support/workspace.ts'

stopClock()

const operations = await loadOperations()

/** Their rows have no quota: they are kept until their retention ends, and deletions forever. */
const WITHOUT_QUOTA = ['apiKeys', 'auditEvents', 'deletions', 'orphanedObjects', 'runs', 'variableRequests']

const USUAL_LENGTH = 255
/** The first has the most bytes; many names take only the second. */
const CHARACTERS = ['😀', 'x']
const longest = () => `${crypto.randomUUID()}${'😀'.repeat(255 - 36)}`

/** A workspace in which what may have an ID of the caller's has the longest. */
async function createWorkspace(): Promise<Workspace> {
  let isUser = true
  const workspace = await Workspace.create(() => {
    const id = isUser ? longest() : crypto.randomUUID()
    isUser = false
    return id
  })
  const { addProject, addUser } = workspace
  workspace.addProject = (id = longest()) => addProject.call(workspace, id)
  workspace.addUser = (id = longest()) => addUser.call(workspace, id)
  return workspace
}

type Change = (workspace: Workspace, example: Example) => Promise<Example>

interface Written {
  /** The body of the response, unless the request succeeded. */
  readonly refusal: unknown
  readonly rows: number
  /** By table. */
  readonly bytes: Readonly<Record<string, number>>
}

/** The example after the change, in a workspace of its own, and a key that succeeds. */
async function prepared(operationId: string, change: Change) {
  const listsPins = operationId === 'listPins'
  const workspace = await (listsPins ? Workspace.create() : createWorkspace())
  const row = examples[operationId]
  if (!row) throw new Error(`${operationId} has no example, so nobody knows what it writes at worst.`)
  const { example, key } = await inOneBatch(async () => {
    const example = await change(workspace, await row.prepare(workspace))
    const key = await keyFor(workspace, example)
    // Its first use within the hour would be recorded.
    await write(
      env.DB.prepare('UPDATE "apiKeys" SET "name" = ?, "lastUsedAt" = ? WHERE "organizationId" = ?').bind(
        '😀'.repeat(255),
        new Date().toISOString(),
        workspace.organizationId,
      ),
    )
    return { example, key }
  })
  return { workspace, example, key }
}

async function succeeds(operationId: string, change: Change): Promise<boolean> {
  const { example, key } = await prepared(operationId, change)
  return (await send(operationId, example, key)).status < 300
}

/** Sends the example after the change, and measures what it writes. */
async function measured(operationId: string, change: Change): Promise<Written> {
  const { workspace, example, key } = await prepared(operationId, change)
  // No two requests have the same time.
  vi.setSystemTime(Date.now() + 1)
  const before = await bytesOf(workspace.organizationId)
  const use = watchedDatabase()
  const { status, body } = await send(
    operationId,
    { ...example, environment: { ...example.environment, DB: use.DB } },
    key,
  )
  const after = await bytesOf(workspace.organizationId)
  const bytes = Object.fromEntries(Object.entries(after).map(([table, sum]) => [table, sum - (before[table] ?? 0)]))
  return { refusal: status < 300 ? undefined : body, rows: use.rowsWritten, bytes }
}

const total = ({ bytes }: Written, isCounted = (_: string) => true) =>
  Object.entries(bytes).reduce((sum, [table, grown]) => sum + (isCounted(table) ? grown : 0), 0)
const kept = (written: Written) => total(written, (table) => WITHOUT_QUOTA.includes(table))

/** An entry of a b-tree has its length, the length of its header, a pointer, and a type for each column. */
const BYTES_OF_ENTRY = 5

/** The bytes of each table with its indexes, in SQL: those of the values and of what SQLite stores with them. */
async function bytesQueries(): Promise<Map<string, string>> {
  const { results } = await env.DB.prepare(
    `SELECT "type", "tbl_name" AS "table", "sql" FROM sqlite_master WHERE "sql" IS NOT NULL AND "type" IN ('table', 'index')`,
  ).all<{ type: string; table: string; sql: string }>()
  const queries = new Map<string, string>()
  for (const { table, sql } of results.filter(({ type }) => type === 'table')) {
    if (!(table in schema)) continue
    const { results: columns } = await env.DB.prepare(`PRAGMA table_info("${table}")`).all<{
      name: string
      pk: number
    }>()
    const names = columns.map(({ name }) => `"${name}"`)
    const primary = columns.filter(({ pk }) => pk > 0).map(({ name }) => `"${name}"`)
    const where = names.includes('"organizationId"') ? '"organizationId" = ?1' : '?1 IS NOT NULL'
    const entries = [sumOf(names, where, table)]
    for (const index of results.filter((each) => each.type === 'index' && each.table === table)) {
      const [, list = '', condition] = /ON \S+ \((.*?)\)(?: WHERE (.*))?$/s.exec(index.sql) ?? []
      // An index over an expression has at most the column "kind" before it.
      const columnsOf = list.includes('(') ? [list.replace(/^kind,/, '')] : list.split(',')
      const indexed = columnsOf.map((each) => each.replaceAll('`', '"'))
      const row = /WITHOUT ROWID/.test(sql) ? primary.filter((name) => !indexed.includes(name)) : []
      entries.push(sumOf([...indexed, ...row], condition ? `${where} AND ${condition}` : where, table))
    }
    queries.set(table, `SELECT ${entries.join(' + ')} AS "bytes"`)
  }
  return queries
}

function sumOf(values: readonly string[], where: string, table: string): string {
  const lengths = values.map((value) => `coalesce(iif(typeof(${value}) = 'integer', 6, octet_length(${value})), 0)`)
  const entry = [...lengths, String(BYTES_OF_ENTRY + values.length)].join(' + ')
  return `(SELECT coalesce(sum(${entry}), 0) FROM "${table}" WHERE ${where})`
}

let queries: Map<string, string> | undefined

async function bytesOf(organizationId: string): Promise<Record<string, number>> {
  queries ??= await bytesQueries()
  const statements = Array.from(queries.values(), (sql) => env.DB.prepare(sql).bind(organizationId))
  const results = await env.DB.batch<{ bytes: number }>(statements)
  return Object.fromEntries(
    Array.from(queries.keys(), (table, index) => [table, results[index]?.results[0]?.bytes ?? 0]),
  )
}

/** The change, with the longest text that the place takes in a request that succeeds. */
async function lengthened(contract: Contract, change: Change, place: InputPlace): Promise<Change> {
  const maxLength = Number(docs.get(place.schema)?.maxLength ?? USUAL_LENGTH)
  for (const character of CHARACTERS) {
    const text = character.repeat(maxLength)
    const longer: Change = async (...parameters) => withText(await change(...parameters), contract, place, text)
    if (await succeeds(contract.operationId, longer)) return longer
  }
  return change
}

interface Worst {
  readonly operationId: string
  readonly rows: number
  readonly bytes: number
  /** In tables without a quota. */
  readonly kept: number
  /** The other requests that it takes. */
  readonly requests: number
}

const NUMBERS = ['rows', 'bytes', 'kept'] as const
type Numbers = Readonly<Record<(typeof NUMBERS)[number], number>>

const numbersOf = (written: Written): Numbers => ({ rows: written.rows, bytes: total(written), kept: kept(written) })

/** For each number, what it becomes. */
const each = (numberOf: (name: keyof Numbers) => number): Numbers => ({
  rows: numberOf('rows'),
  bytes: numberOf('bytes'),
  kept: numberOf('kept'),
})

/** What a request that ends up to so many others writes: each of them alike. */
const FEW = 2
const MORE = 12

async function worstOf({ contract }: (typeof operations)[number]): Promise<Worst> {
  const { operationId, method } = contract
  const row = examples[operationId]
  const { most, apply = async (_: Workspace, example: Example) => example } = worstRequests[operationId] ?? {}
  const written: Written[] = []
  for (const { status, apply: vary } of Object.values(row?.variations ?? {})) {
    // A project with the longest ID cannot be pinned, so some are refused here.
    const varied = status === undefined && (await measured(operationId, vary))
    if (varied && varied.refusal === undefined) written.push(varied)
  }
  const places = inputPlacesOf(contract).filter(
    ({ kind, part, path }) => kind === 'string' && part !== 'params' && !path.includes('0'),
  )
  /** With the longest texts, and so many of what it ends. */
  const longest = async (count: number) => {
    let change: Change = (workspace, example) => apply(workspace, example, count)
    for (const place of method === 'GET' ? [] : places) change = await lengthened(contract, change, place)
    const own = await measured(operationId, change)
    expect([operationId, own.refusal]).toEqual([operationId, undefined])
    return own
  }
  if (most === undefined) {
    written.push(await longest(FEW))
    const found = written.map(numbersOf)
    return { operationId, ...each((name) => Math.max(...found.map((one) => one[name]))), requests: 0 }
  }
  const [few, more] = [numbersOf(await longest(FEW)), numbersOf(await longest(MORE))]
  const scaled = each((name) => Math.round(few[name] + ((more[name] - few[name]) / (MORE - FEW)) * (most - FEW)))
  return { operationId, ...scaled, requests: most }
}

const KEY_REQUESTS_A_MINUTE = 600
const GIGABYTE = 1e9

/** How long a key needs that sends nothing else. */
function timeToFill({ kept, requests }: Worst): string {
  if (kept <= 0) return 'never'
  const minutes = GIGABYTE / ((kept * KEY_REQUESTS_A_MINUTE) / (1 + requests))
  if (minutes < 120) return `${Math.round(minutes)} minutes`
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)} hours` : `${Math.round(minutes / 1440)} days`
}

const HEADINGS = ['operation', 'rows', 'bytes', 'bytes without a quota', '1 GB of them after']
const formatted = (value: number) => new Intl.NumberFormat('en-GB').format(value)
/** To two digits, so that a new column changes no line. */
const roughly = (bytes: number) => formatted(Number(bytes.toPrecision(2)))

function tableOf(worst: readonly Worst[]): string {
  const lines = worst.map((one) => [
    `\`${one.operationId}\``,
    formatted(one.rows),
    roughly(one.bytes),
    roughly(Math.max(0, one.kept)),
    timeToFill(one),
  ])
  const widths = HEADINGS.map((heading, index) =>
    Math.max(...[HEADINGS, ...lines].map((line) => (line[index] ?? '').length, heading.length)),
  )
  const row = (line: readonly string[]) =>
    `| ${line.map((cell, index) => (index === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[index] ?? 0))).join(' | ')} |`
  const rule = `| ${widths.map((width, index) => (index === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`)).join(' | ')} |`
  return [row(HEADINGS), rule, ...lines.map(row)].join('\n')
}

it('is as docs/worst-writes.md says, for every operation', { tags: ['slow'] }, async () => {
  const worst: Worst[] = []
  for (const operation of operations) worst.push(await worstOf(operation))
  const writing = worst.filter(({ rows }) => rows > 0).sort((a, b) => perRequest(b) - perRequest(a))
  const reading = worst.filter(({ rows }) => rows === 0).length
  await expect(
    `${INTRODUCTION}\n${tableOf(writing)}\n\nThe other ${reading} operations write nothing.\n`,
  ).toMatchFileSnapshot('../docs/worst-writes.md')
})

/** Bytes that no quota limits, for each request. */
const perRequest = ({ kept, requests }: Worst) => kept / (1 + requests)

const INTRODUCTION = `# What one request writes at worst

This table is generated: \`test/worst-writes.test.ts\` sends the largest request of each operation and measures what it writes, with its
events, indexes and triggers. Bytes have two digits.

- **rows** are those that D1 counts as written.
- **bytes** are those by which values and index entries grow. The database file grows by up to a half more, because its pages are never full.
- **bytes without a quota** are in rows that no quota limits: events, runs, deletions, and API keys and other rows that have ended and wait
  to be removed. [Retention](limits.md) limits them.
- **1 GB of them after** is how long one key needs for 1 GB of such bytes at its rate limit of ${KEY_REQUESTS_A_MINUTE} requests a minute, if it sends nothing
  else. Requests that end many sessions need a request for each session before; those count too.
`
