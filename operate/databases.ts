/**
 * The databases of a deployment or of a state folder: database 0, which the configuration names, and those that the table
 * `databases` of database 0 lists (docs/design-storage.md, "Operator commands and restores").
 */
import { basename } from 'node:path'
import { bindingOf, MAX_DATABASE_BYTES } from '../src/db/database.ts'
import { isMissingTable } from '../src/db/failures.ts'
import { getConfigFile, readConfiguration, type Target } from '../tools/wrangler.ts'
import { Account, type Row } from './cloudflare.ts'
import {
  type CommandDatabase,
  databaseConfiguration,
  deployedCommandDatabase,
  existingDatabaseFile,
  localDatabase,
  requireDeployedDatabase,
} from './database.ts'
import { forEachAtOnce } from './objects.ts'

/** A database of this size gets no new organizations. */
export const CLOSING_BYTES = 0.7 * MAX_DATABASE_BYTES

/** How many databases are used at once. */
export const DATABASES_AT_ONCE = 8

/** A row of the table `databases`. */
export interface ListedDatabase {
  readonly number: number
  /** The D1 database; null: the one that the configuration names, or that of a state folder. */
  readonly name: string | null
  /** `adding` until the first deployment with it is healthy. */
  readonly state: 'adding' | 'open' | 'closed'
}

/** Where a database is: a D1 database of an account, or a SQLite file. */
export type Source = { readonly account: Account; readonly uuid: string } | { readonly file: string }

export interface NumberedDatabase extends ListedDatabase {
  readonly database: CommandDatabase
  readonly source: Source
}

/** The database that has the rows of an organization; during a move, also the one that gets them. */
export interface Place {
  readonly database: number
  readonly movingTo: number | null
}

/** All databases, in order, those that are being added included. @param first database 0. */
export async function listDatabases(first: CommandDatabase): Promise<ListedDatabase[]> {
  const rows = await rowsIfThere(first, 'SELECT * FROM "databases" ORDER BY "number"')
  const listed = rows.map(({ number, name = null, state }) => ({ number, name, state }) as ListedDatabase)
  return listed.some(({ number }) => number === 0) ? listed : [{ number: 0, name: null, state: 'open' }, ...listed]
}

/** None in a database whose schema is older than the table. */
export async function rowsIfThere(first: CommandDatabase, sql: string): Promise<Row[]> {
  try {
    const [rows = []] = await first.batch([{ sql }])
    return rows
  } catch (error) {
    if (isMissingTable(error)) return []
    throw error
  }
}

/** What a command uses: every database but those that are being added. */
export class Databases {
  readonly all: readonly NumberedDatabase[]
  /** Those that are being added. */
  readonly adding: readonly ListedDatabase[]
  #places: Promise<Map<string, Place>> | undefined

  private constructor(all: readonly NumberedDatabase[], adding: readonly ListedDatabase[]) {
    this.all = all
    this.adding = adding
  }

  /** @throws if there is no database 0, or if the deployed Worker uses other databases than those that are listed. */
  static async open(target: Target): Promise<Databases> {
    const account = target.remote ? await Account.of(target) : undefined
    const source: Source = account
      ? { account, uuid: (await requireDeployedDatabase(account, target)).uuid }
      : { file: existingDatabaseFile(target) }
    const first = openSource(source)
    const listed = await listDatabases(first)
    const ids = account && listed.length > 1 ? await deployedIds(account, target, listed.slice(1)) : undefined
    const further = listed
      .filter(({ number, state }) => number !== 0 && state !== 'adding')
      .map((each) => {
        const own: Source = account
          ? { account, uuid: ids?.get(each.number) ?? '' }
          : { file: existingDatabaseFile(target, each.number) }
        return { ...each, source: own, database: openSource(own) }
      })
    const ofFirst = listed.filter(({ number }) => number === 0).map((each) => ({ ...each, source, database: first }))
    return new Databases(
      [...ofFirst, ...further],
      listed.filter(({ state }) => state === 'adding'),
    )
  }

  /** True if the commands have to name databases: with one they say nothing about it. */
  get areSeveral(): boolean {
    return this.all.length > 1
  }

  get first(): CommandDatabase {
    return this.get(0)
  }

  get numbers(): number[] {
    return this.all.map(({ number }) => number)
  }

  /** @throws if there is no such database. */
  get(number: number): CommandDatabase {
    return this.find(number).database
  }

  /** @throws if there is no such database. */
  find(number: number): NumberedDatabase {
    const found = this.all.find((each) => each.number === number)
    if (found) return found
    throw new Error(`There is no database ${number}; allowed: ${this.numbers.join(', ')}.`)
  }

  /** The work on each database, some at once. @returns the results in order. */
  async map<Result>(work: (database: CommandDatabase, number: number) => Promise<Result>): Promise<Result[]> {
    const results = new Map<number, Result>()
    await forEachAtOnce(this.all, DATABASES_AT_ONCE, async ({ number, database }) => {
      results.set(number, await work(database, number))
    })
    return this.numbers.map((number) => results.get(number) as Result)
  }

  /** The rows of one statement, of each database. @returns each with the number of its database. */
  async rows(
    sql: string,
    ...parameters: readonly (string | number | null)[]
  ): Promise<(Row & { inDatabase: number })[]> {
    const rows = await this.map(async (database, number) => {
      const [found = []] = await database.batch([{ sql, parameters }])
      return found.map((row) => ({ ...row, inDatabase: number }))
    })
    return rows.flat()
  }

  /** The directory. */
  async places(): Promise<Map<string, Place>> {
    this.#places ??= readPlaces(this.first)
    return this.#places
  }

  /**
   * True if the database is the one that has the organization. During a move, and after one that was interrupted, another
   * one has rows of it too.
   */
  async isPlace(organizationId: string, number: number): Promise<boolean> {
    if (!this.areSeveral) return true
    return ((await this.places()).get(organizationId)?.database ?? number) === number
  }

  /**
   * The number of the database for a new organization: of those that are open and not 70 % full, the one with the fewest
   * bytes. @throws if there is none.
   */
  async numberForNew(): Promise<number> {
    const sizes = await this.map((database) => database.sizeBytes())
    const candidates = this.all
      .map(({ number, state }, index) => ({ number, state, bytes: sizes[index] ?? 0 }))
      .sort((one, other) => one.bytes - other.bytes)
    const found = candidates.find(({ state, bytes }) => state === 'open' && bytes < CLOSING_BYTES)
    if (found) return found.number
    throw new Error(
      `No database is open to new organizations: each is closed or 70 % full. To add one: npm run operate -- database add`,
    )
  }

  close(): void {
    for (const { database } of this.all) database.close()
  }
}

function openSource(source: Source): CommandDatabase {
  return 'file' in source ? localDatabase(source.file) : deployedCommandDatabase(source.account, source.uuid)
}

export async function readPlaces(first: CommandDatabase): Promise<Map<string, Place>> {
  const rows = await rowsIfThere(first, 'SELECT * FROM "directory"')
  return new Map(
    rows.map(({ organizationId, database, movingTo }) => [
      String(organizationId),
      { database: Number(database), movingTo: movingTo === null ? null : Number(movingTo) },
    ]),
  )
}

/**
 * The IDs of further databases, by their numbers. One that is being added may not exist yet.
 * @param mayBeMissing if others may not exist either.
 * @throws if one is missing, or if the deployed Worker has another one under its number, or one that is not listed.
 */
export async function deployedIds(
  account: Account,
  target: Target,
  further: readonly ListedDatabase[],
  mayBeMissing = false,
): Promise<Map<number, string>> {
  const bound = await account.boundDatabases(readConfiguration(target).name ?? '')
  const { database_name: first = '' } = databaseConfiguration(target)
  const ids = new Map<number, string>()
  await forEachAtOnce(further, DATABASES_AT_ONCE, async ({ number, name, state }) => {
    const found = await account.get<{ uuid: string }>(`/d1/database/${name}`)
    if (!found && state !== 'adding' && !mayBeMissing) {
      throw new Error(`The account has no D1 database ${name}, which is database ${number} of this deployment.`)
    }
    const used = bound.get(bindingOf(number))
    const other =
      used !== undefined && used !== found?.uuid && (await account.get<{ name: string }>(`/d1/database/${used}`))
    if (other) {
      const { name: current } = other
      throw new Error(
        `The deployed Worker uses ${current} as database ${number}, but ${first} lists ${name}. If ${current} is right: npm run wrangler -- d1 execute ${first} --remote --command "UPDATE databases SET name = '${current}' WHERE number = ${number}"`,
      )
    }
    if (found) ids.set(number, found.uuid)
  })
  const known = ['DB', ...further.map(({ number }) => bindingOf(number))]
  const unknown = [...bound.keys()].find((binding) => /^DB(_\d+)?$/.test(binding) && !known.includes(binding))
  if (unknown === undefined) return ids
  throw new Error(
    `The deployed Worker has the binding ${unknown}, but ${first} does not list this database, so a deployment would remove it. Is ${first} the right database in ${basename(getConfigFile(target))}?`,
  )
}
