/**
 * Moves an organization to another database while its clients keep working. All state is in the databases, so a move
 * that was interrupted anywhere is continued by the same call, or undone by a move to where the organization is.
 *
 * 1. The source halts the organization (`leaving`): its schedules do not fire. Once deliveries in progress have ended,
 *    triggers refuse every change, while reads continue. Both end by themselves unless each page renews them.
 * 2. The rows are copied to the target, where the organization is halted (`arriving`) and its API keys and feeds refer
 *    to the source. Then each table is compared.
 * 3. The source refuses changes for good (`left`), by the statement that requires that the halt never lapsed. From here
 *    on the move is only continued.
 * 4. API keys and feeds become valid in the target, which refuses changes still, then refer to the target in every
 *    earlier database and in the source. So a token is valid at each moment, no token leads through two other databases,
 *    and no key is revoked in one database while it is valid in another.
 * 5. The directory names the target, which now accepts changes and fires the schedules. The rows in the source are
 *    deleted. The API keys and feeds stay there: tokens that name the source find the target by them.
 */
import { hash } from 'node:crypto'
import type { Value } from '../src/db/parameters.ts'
import type { Query, Row } from './cloudflare.ts'
import { guardQueries, instant, unguardQueries } from './move-guard.ts'
import {
  type Batches,
  countRows,
  deletePage,
  type OrganizationTable,
  organizationTables,
  selectPage,
} from './organization-rows.ts'
import { insertingQueries } from './row-pages.ts'

/** How long the source halts the organization after the last page: a killed process does not block it for longer. */
const PAUSE_SECONDS = 120
/** While the source is not read, its halt is renewed only as often as this: Cloudflare's API limits the calls. */
const RENEWAL_MS = 30_000
/** Longer than a delivery in progress takes (src/webhooks/post.ts). */
const MAX_DRAIN_MS = 20_000
const DRAIN_POLL_MS = 500
/** How many databases are asked at once. */
const DATABASES_AT_ONCE = 8

/** The databases of the deployment, by their numbers. */
export interface MoveDatabases {
  readonly numbers: readonly number[]
  get(number: number): Batches
}

export interface MoveOptions {
  /** How many rows one transaction deletes. */
  readonly rowsPerDeletion: number
  /** @param rows the rows of the organization. */
  readonly onCopying: (rows: number) => void
  readonly onCopied: (rows: number) => void
  /** @param what a sentence. */
  readonly onStep: (what: string) => void
}

export interface Place {
  readonly database: number
  /**
   * During a move, the database that gets the organization; the same as `database` while only the rest of the move is
   * left.
   */
  readonly movingTo: number | null
}

/** @throws if no database has the organization. */
export async function readPlace(databases: MoveDatabases, organizationId: string): Promise<Place> {
  const [[place] = [], [organization] = []] = await databases.get(0).batch([
    { sql: 'SELECT "database", "movingTo" FROM "directory" WHERE "organizationId" = ?', parameters: [organizationId] },
    { sql: 'SELECT 1 FROM "organizations" WHERE "id" = ?', parameters: [organizationId] },
  ])
  if (place) {
    return { database: Number(place.database), movingTo: place.movingTo == null ? null : Number(place.movingTo) }
  }
  if (organization) return { database: 0, movingTo: null }
  throw new Error(`No database has the organization ${organizationId}.`)
}

/** Moves the organization to the database, or undoes the move of which it is the source. @returns what was done. */
export async function moveOrganization(
  databases: MoveDatabases,
  organizationId: string,
  to: number,
  options: MoveOptions,
): Promise<'moved' | 'undone' | 'there already'> {
  const { database: from, movingTo } = await readPlace(databases, organizationId)
  if (from === to && movingTo === null) return 'there already'
  if (from === to && movingTo !== to) {
    await new Move(databases, organizationId, from, movingTo ?? to, options).undo()
    return 'undone'
  }
  if (movingTo !== null && movingTo !== to) {
    const undo = from === movingTo ? '' : `, or undo it with --to ${from}`
    throw new Error(`A move to database ${movingTo} was interrupted. Continue it with --to ${movingTo}${undo}.`)
  }
  const move = new Move(databases, organizationId, from, to, options)
  if (from !== to) {
    if ((await move.haltIn(from)) !== 'left') await move.copy()
    await move.switch()
  }
  await move.finish()
  return 'moved'
}

class Move {
  readonly #databases: MoveDatabases
  readonly #id: string
  readonly #from: number
  readonly #to: number
  readonly #source: Batches
  readonly #target: Batches
  readonly #options: MoveOptions
  /** If several commands move the organization at once, the one that began last continues. */
  readonly #attempt: string = crypto.randomUUID()
  #earlierNumbers: readonly number[] | undefined
  #renewedAt = 0

  constructor(databases: MoveDatabases, id: string, from: number, to: number, options: MoveOptions) {
    this.#databases = databases
    this.#id = id
    this.#from = from
    this.#to = to
    this.#source = databases.get(from)
    this.#target = databases.get(to)
    this.#options = options
  }

  /** The kind of the organization's halt in a database. */
  async haltIn(number: number): Promise<string | undefined> {
    const [[halt] = []] = await this.#databases.get(number).batch([this.#query(SELECT_HALT)])
    return halt?.kind == null ? undefined : String(halt.kind)
  }

  /** Copies the organization, until the source refuses changes for good. */
  async copy(): Promise<void> {
    const tables = await this.#requireTables()
    await this.#requireCopyable()
    await this.#enterDirectory()
    await this.#lock()
    try {
      await this.#target.batch([
        ...unguardQueries(tables, this.#id),
        this.#query(`INSERT INTO "halts" ("organizationId", "kind") VALUES (?1, 'arriving')
          ON CONFLICT DO UPDATE SET "kind" = 'arriving', "until" = NULL, "reason" = NULL`),
      ])
      await this.#purge(this.#target, tables)
      // Asked before changes are refused.
      await this.#earlier()
      await this.#halt()
      await this.#drain()
      await this.#renew([...unguardQueries(tables, this.#id), ...guardQueries(tables, this.#id)])
      const copied = await this.#copyTables(tables)
      await this.#target.batch(guardQueries(tables, this.#id))
      await this.#compareTables(tables, copied)
      await this.#leave()
    } catch (error) {
      await this.#resume().catch(() => undefined)
      throw error
    }
  }

  /** From the source, which refuses changes, to the target. */
  async switch(): Promise<void> {
    const tables = await organizationTables(this.#target)
    const kept = tables.filter(isKept)
    const ifHalted = (kind: string) =>
      `EXISTS (SELECT 1 FROM "halts" WHERE "organizationId" = ?1 AND "kind" = '${kind}')`
    await this.#target.batch(
      kept.map(({ name }) =>
        this.#query(`UPDATE "${name}" SET "movedTo" = NULL WHERE "organizationId" = ?1 AND ${ifHalted('arriving')}`),
      ),
    )
    const refer = (name: string, where: string) =>
      this.#query(`UPDATE "${name}" SET "movedTo" = ?2 WHERE "organizationId" = ?1 AND ${where}`, this.#to)
    for (const number of await this.#earlier()) {
      if (number === this.#from) continue
      await this.#databases.get(number).batch(kept.map(({ name }) => refer(name, '"movedTo" IS NOT NULL')))
    }
    await this.#source.batch([
      ...kept.map(({ name }) => refer(name, ifHalted('left'))),
      ...unguardQueries(tables, this.#id),
    ])
    await this.#databases
      .get(0)
      .batch([
        this.#query(
          `UPDATE "directory" SET "database" = ?2, "movingTo" = ?2 WHERE "organizationId" = ?1 AND "movingTo" = ?2`,
          this.#to,
        ),
      ])
  }

  /** Lets the target go on, and deletes the rows in the other databases. */
  async finish(): Promise<void> {
    const tables = await organizationTables(this.#target)
    if ((await this.haltIn(this.#to)) === 'arriving') await this.#activate(tables)
    this.#options.onStep(`Database ${this.#to} has the organization. Deleting its rows elsewhere.`)
    this.#earlierNumbers = undefined
    for (const number of await this.#earlier()) await this.#purge(this.#databases.get(number), tables)
    await this.#leaveDirectory()
  }

  /** Lets the target accept changes. */
  async #activate(tables: readonly OrganizationTable[]): Promise<void> {
    const isArriving = `EXISTS (SELECT 1 FROM "halts" WHERE "organizationId" = ?1 AND "kind" = 'arriving')`
    const inAMinute = instant(", '+60 seconds'")
    await this.#target.batch([
      ...unguardQueries(tables, this.#id),
      // The consumer of the queues finds nothing of a message that names the source, so the next tick queues again.
      this.#query(`UPDATE "runs" SET "checkAt" = ${instant()} WHERE "organizationId" = ?1 AND "status" = 'pending'
        AND "checkAt" > ${instant()} AND "nextAttemptAt" IS NULL AND ${isArriving}`),
      // Renewals and outcomes were refused meanwhile.
      this.#query(`UPDATE "runs" SET "checkAt" = ${inAMinute} WHERE "organizationId" = ?1 AND "status" = 'delivered'
        AND "checkAt" < ${inAMinute} AND ${isArriving}`),
      this.#query(`UPDATE "eventEndpoints" SET "leaseId" = NULL, "leaseExpiresAt" = NULL
        WHERE "organizationId" = ?1 AND "leaseExpiresAt" IS NOT NULL AND ${isArriving}`),
      this.#query(`DELETE FROM "halts" WHERE "organizationId" = ?1 AND "kind" = 'arriving'`),
    ])
  }

  /** The numbers of the databases that the organization has left: the target is none of them. */
  async #earlier(): Promise<readonly number[]> {
    if (this.#earlierNumbers) return this.#earlierNumbers
    const others = this.#databases.numbers.filter((number) => number !== this.#to)
    const earlier: number[] = []
    for (let start = 0; start < others.length; start += DATABASES_AT_ONCE) {
      const page = others.slice(start, start + DATABASES_AT_ONCE)
      const halts = await Promise.all(page.map((number) => this.haltIn(number)))
      earlier.push(...page.filter((_, index) => halts[index] === 'left'))
    }
    this.#earlierNumbers = earlier
    return earlier
  }

  /** Ends a move that was interrupted before the source refused changes for good. */
  async undo(): Promise<void> {
    const tables = await organizationTables(this.#source)
    await this.#resume(`"kind" = 'leaving'`)
    if ((await this.haltIn(this.#from)) === 'left') {
      throw new Error(
        `The move to database ${this.#to} has been completed but for the rest: it cannot be undone. Continue it with --to ${this.#to}, then move the organization back.`,
      )
    }
    await this.#source.batch(unguardQueries(tables, this.#id))
    // It stays halted there, in case that another process still copies.
    await this.#target.batch([
      ...unguardQueries(tables, this.#id),
      this.#query(`UPDATE "halts" SET "kind" = 'left' WHERE "organizationId" = ?1 AND "kind" = 'arriving'`),
    ])
    await this.#purge(this.#target, tables)
    await this.#leaveDirectory()
  }

  #query(sql: string, ...more: readonly Value[]): Query {
    return { sql, parameters: [this.#id, ...more] }
  }

  /** @throws if the two databases do not have the same columns. */
  async #requireTables(): Promise<OrganizationTable[]> {
    const [tables, others] = await Promise.all([this.#source, this.#target].map(organizationTables))
    const described = (each: readonly OrganizationTable[] = []) => each.map(({ name, columns }) => [name, columns])
    if (JSON.stringify(described(tables)) !== JSON.stringify(described(others))) {
      throw new Error(
        `The databases ${this.#from} and ${this.#to} do not have the same schema. \`npm run deploy\` applies migrations.`,
      )
    }
    return tables ?? []
  }

  /** @throws if the source does not have the organization, or the target has it too. */
  async #requireCopyable(): Promise<void> {
    const ask = async (database: Batches) => {
      const sql = 'SELECT "name" FROM "organizations" WHERE "id" = ?1'
      const [[organization] = [], [halt] = []] = await database.batch([this.#query(sql), this.#query(SELECT_HALT)])
      return { isThere: organization !== undefined, kind: halt?.kind }
    }
    const source = await ask(this.#source)
    if (source.kind === 'suspended') {
      throw new Error(
        'The organization is suspended. To move it, resume it first: npm run operate -- organization resume',
      )
    }
    if (!source.isThere) throw new Error(`Database ${this.#from} does not have the organization.`)
    const target = await ask(this.#target)
    if (target.isThere && target.kind === undefined) {
      throw new Error(`Database ${this.#to} already has rows of the organization, and no move to it was interrupted.`)
    }
  }

  /** Before the first row is copied: from now on, the search for orphaned objects leaves the organization out. */
  async #enterDirectory(): Promise<void> {
    const [, [place] = []] = await this.#databases.get(0).batch([
      this.#query(
        `INSERT INTO "directory" ("organizationId", "database", "movingTo") VALUES (?1, ?2, ?3)
        ON CONFLICT DO UPDATE SET "movingTo" = ?3 WHERE "database" = ?2 AND coalesce("movingTo", ?3) = ?3`,
        this.#from,
        this.#to,
      ),
      this.#query('SELECT "database", "movingTo" FROM "directory" WHERE "organizationId" = ?1'),
    ])
    if (place?.database !== this.#from || place?.movingTo !== this.#to) throw this.#overtaken()
  }

  async #leaveDirectory(): Promise<void> {
    const sql = 'UPDATE "directory" SET "movingTo" = NULL WHERE "organizationId" = ?1'
    await this.#databases.get(0).batch([this.#query(sql)])
  }

  /** Takes the source from any other command, without halting the organization yet. */
  async #lock(): Promise<void> {
    const [, [halt] = []] = await this.#source.batch([
      this.#query(
        `INSERT INTO "halts" ("organizationId", "kind", "until", "reason") VALUES (?1, 'leaving', ${instant()}, ?2)
        ON CONFLICT DO UPDATE SET "until" = "excluded"."until", "reason" = ?2 WHERE "kind" = 'leaving'`,
        this.#attempt,
      ),
      this.#query('SELECT "reason" FROM "halts" WHERE "organizationId" = ?1'),
    ])
    if (halt?.reason !== this.#attempt) throw this.#overtaken()
  }

  async #halt(): Promise<void> {
    await this.#setHalt(`"until" = ${instant(`, '+${PAUSE_SECONDS} seconds'`)}`, `"kind" = 'leaving'`)
  }

  /** Extends the halt, and runs the queries in the same transaction. @throws if the halt has lapsed. */
  #renew(queries: readonly Query[] = []): Promise<Row[][]> {
    const until = instant(`, '+${PAUSE_SECONDS} seconds'`)
    this.#renewedAt = Date.now()
    return this.#setHalt(`"until" = ${until}`, `"kind" = 'leaving' AND "until" > ${instant()}`, queries)
  }

  /** Refuses changes in the source for good, if its halt never lapsed. */
  async #leave(): Promise<void> {
    // A repetition, whose first answer was lost, finds that it has left.
    const never = `("kind" = 'left' OR "kind" = 'leaving' AND "until" > ${instant()})`
    await this.#setHalt(`"kind" = 'left', "until" = NULL`, never)
  }

  /** @returns the rows of each query. @throws if the condition does not hold. */
  async #setHalt(values: string, condition: string, queries: readonly Query[] = []): Promise<Row[][]> {
    const [halts = [], ...results] = await this.#source.batch([
      this.#query(
        `UPDATE "halts" SET ${values} WHERE "organizationId" = ?1 AND "reason" = ?2 AND ${condition} RETURNING "kind"`,
        this.#attempt,
      ),
      ...queries,
    ])
    if (halts.length === 0) throw this.#overtaken()
    return results
  }

  /** Lets the source go on, if it has not left. */
  async #resume(condition = `"kind" = 'leaving' AND "reason" = '${this.#attempt}'`): Promise<void> {
    await this.#source.batch([this.#query(`DELETE FROM "halts" WHERE "organizationId" = ?1 AND ${condition}`)])
  }

  #overtaken(): Error {
    return new Error(
      `The copy was interrupted for more than ${PAUSE_SECONDS} seconds, or another command moves the organization. Run the command again.`,
    )
  }

  /** Waits until no delivery is in progress, so that its outcome is not refused and it is not sent twice. */
  async #drain(): Promise<void> {
    const inProgress =
      this.#query(`SELECT EXISTS (SELECT 1 FROM "runs" WHERE "organizationId" = ?1 AND "status" = 'pending'
        AND "checkAt" > ${instant()} AND "nextAttemptAt" IS NULL) OR EXISTS (SELECT 1 FROM "eventEndpoints"
        WHERE "organizationId" = ?1 AND "leaseId" IS NOT NULL AND "leaseExpiresAt" > ${instant()}) AS "inProgress"`)
    for (let waited = 0; waited < MAX_DRAIN_MS; waited += DRAIN_POLL_MS) {
      const [[row] = []] = await this.#renew([inProgress])
      if (row?.inProgress !== 1) return
      if (waited === 0) this.#options.onStep('Waiting for deliveries in progress.')
      await new Promise((resolve) => setTimeout(resolve, DRAIN_POLL_MS))
    }
  }

  /** @returns a checksum of each table. */
  async #copyTables(tables: readonly OrganizationTable[]): Promise<Map<string, string>> {
    const [[counts = {}] = []] = await this.#renew([countRows(tables, this.#id)])
    this.#options.onCopying(Object.values(counts).reduce<number>((sum, count) => sum + Number(count), 0))
    const checksums = new Map<string, string>()
    for (const table of tables) {
      const checksum = new Checksum(table)
      for await (const { rows, last, isLast } of this.#pages(table, this.#source)) {
        checksum.add(rows)
        await this.#insert(table, rows, last, isLast)
        this.#options.onCopied(rows.length)
      }
      checksums.set(table.name, checksum.value)
    }
    return checksums
  }

  async #insert(table: OrganizationTable, rows: readonly Row[], after: Row | undefined, isLast: boolean) {
    const copies = isKept(table) ? rows.map((row) => ({ ...row, movedTo: this.#from })) : rows
    const removal = isKept(table) ? [this.#removeOthers(table, rows, after, isLast)] : []
    if (removal.length > 0) await this.#target.batch(removal)
    const { name, columns, key } = table
    for (const { queries } of insertingQueries({ table: name, columns, key }, copies, 'REPLACE')) {
      await this.#target.batch(queries)
    }
  }

  /**
   * Removes API keys and feeds that stayed in the target when the organization left it, and that it does not have
   * any more, so that no key is valid again.
   */
  #removeOthers({ name }: OrganizationTable, rows: readonly Row[], after: Row | undefined, isLast: boolean): Query {
    const ids = JSON.stringify(rows.map(({ id }) => id))
    return this.#query(
      `DELETE FROM "${name}" WHERE "organizationId" = ?1 AND "id" > ?2 AND (?3 IS NULL OR "id" <= ?3)
        AND "id" NOT IN (SELECT value FROM json_each(?4))`,
      after?.id ?? '',
      isLast ? null : (rows.at(-1)?.id ?? null),
      ids,
    )
  }

  /** @throws if a table of the target differs. */
  async #compareTables(tables: readonly OrganizationTable[], expected: ReadonlyMap<string, string>): Promise<void> {
    this.#options.onStep('Comparing the tables.')
    for (const table of tables) {
      const checksum = new Checksum(table)
      for await (const { rows } of this.#pages(table, this.#target)) {
        checksum.add(rows)
        if (Date.now() - this.#renewedAt >= RENEWAL_MS) await this.#renew()
      }
      if (checksum.value === expected.get(table.name)) continue
      // Fails if another command has begun to copy.
      await this.#renew()
      throw new Error(
        `The copy of the table ${table.name} has ${checksum.value} instead of ${expected.get(table.name)}. Run the command again.`,
      )
    }
  }

  /** The rows of a table, page by page; of the source, each page renews its halt. */
  async *#pages(table: OrganizationTable, database: Batches) {
    for (let last: Row | undefined; ; ) {
      const select = selectPage(table, this.#id, last)
      const [rows = []] = await (database === this.#source ? this.#renew([select]) : database.batch([select]))
      const isLast = rows.length < table.pageSize
      yield { rows, last, isLast }
      if (isLast) return
      last = rows.at(-1)
    }
  }

  /** Deletes the rows of the organization, but for its API keys and feeds. Nothing refers to its objects any more there. */
  async #purge(database: Batches, tables: readonly OrganizationTable[]): Promise<void> {
    const { rowsPerDeletion } = this.#options
    const purged = tables.filter((table) => !isKept(table))
    for (;;) {
      const [[counts = {}] = []] = await database.batch([countRows(purged, this.#id)])
      const left = purged.filter(({ name }) => Number(counts[name]) > 0)
      if (left.length === 0) return
      for (const table of left) {
        for (let rows = Number(counts[table.name]); rows > 0; rows -= rowsPerDeletion) {
          await database.batch([deletePage(table, this.#id, rowsPerDeletion)])
        }
      }
    }
  }
}

const SELECT_HALT = 'SELECT "kind" FROM "halts" WHERE "organizationId" = ?1'

/** True for API keys and feeds: their rows stay, and name the database that the organization moved to. */
const isKept = ({ columns }: OrganizationTable) => columns.includes('movedTo')

/** What may differ: see move-guard.ts. */
const NOT_COMPARED = ['lastUsedAt', 'movedTo']

/** The number of rows, and a checksum of their values in order. */
class Checksum {
  readonly #columns: readonly string[]
  #rows = 0
  #digest = ''

  constructor({ columns }: OrganizationTable) {
    this.#columns = columns.filter((column) => !NOT_COMPARED.includes(column))
  }

  add(rows: readonly Row[]): void {
    if (rows.length === 0) return
    this.#rows += rows.length
    this.#digest = hash(
      'sha256',
      this.#digest + JSON.stringify(rows.map((row) => this.#columns.map((name) => row[name]))),
    )
  }

  get value(): string {
    return `${this.#rows} rows with the checksum ${this.#digest.slice(0, 16) || 'none'}`
  }
}
