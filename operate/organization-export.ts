/**
 * Writes all data of an organization to a folder: a file of JSON lines for each table, and the contents of session
 * files, profile pictures and skill archives. An export that was interrupted continues with the same folder.
 */
import {
  appendFileSync,
  createReadStream,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import { createInterface } from 'node:readline'
import { isUuid } from '../src/http/fields.ts'
import { numberText, startProgress, UsageError } from '../tools/command-line.ts'
import { stillReferenced } from './backups/objects.ts'
import type { Row } from './cloudflare.ts'
import { type CommandDatabase, listColumns, quoted } from './database.ts'
import { forEachAtOnce, OBJECTS_AT_ONCE, type ObjectStore } from './objects.ts'
import { pageSizeOf } from './organization-rows.ts'

/** The columns that an export leaves out: secrets, hashes and ciphertexts. */
const SECRETS = ['sealedValue', 'sealedSecret', 'previousSealedSecret', 'hash', 'idempotencyFingerprint']

/** The tables with contents in the object store. */
const CONTENT_TABLES = ['sessionFiles', 'profilePictures', 'skillVersions']

/** What the export is of and how far it is. */
const SUMMARY = 'export.json'
/** A line for each content, written when the content is complete. */
const CONTENTS = 'contents.jsonl'
const PARTIAL = '.partial'

interface Summary {
  readonly organizationId: string
  readonly startedAt: string
  readonly completedAt?: string
}

/** A line of `contents.jsonl`. */
interface Content {
  /** Relative to the folder; null if the object store does not have it. */
  readonly file: string | null
  readonly sizeBytes?: number
  readonly id?: string
  readonly sessionId?: string
  readonly path?: string
  readonly userId?: string
  readonly skillId?: string
  readonly version?: number
}

/** @param counts the tables with rows of the organization. @returns false if a content is missing. */
export async function exportOrganization(
  database: CommandDatabase,
  openStore: () => Promise<ObjectStore>,
  organization: Row,
  counts: readonly [table: string, rows: number][],
  output: string,
): Promise<boolean> {
  const folder = resolve(output)
  const summary = begin(folder, String(organization.id), output)
  const rows = await exportRows(database, organization, counts, folder)
  const contents = await exportContents(database, openStore, folder)
  rmSync(join(folder, PARTIAL), { recursive: true, force: true })
  const isComplete = contents.missing === 0
  const result = { ...summary, tables: counts.length + 1, rows, ...contents }
  const completedAt = isComplete ? { completedAt: new Date().toISOString() } : {}
  writeSummary(folder, { ...result, ...completedAt })
  console.log(
    `${output}: ${numberText(rows)} rows of ${result.tables} tables, ${numberText(contents.files)} files of ${numberText(contents.bytes)} bytes, ${numberText(contents.missing)} missing`,
  )
  if (!isComplete) {
    console.error(
      `The object store lacks ${numberText(contents.missing)} contents. Their "file" is null in ${CONTENTS}. The same command tries them again.`,
    )
  }
  return isComplete
}

/** Creates the folder, or continues the export in it. */
function begin(folder: string, organizationId: string, output: string): Summary {
  const file = join(folder, SUMMARY)
  if (!existsSync(folder) || readdirSync(folder).length === 0) {
    const summary = { organizationId, startedAt: new Date().toISOString() }
    mkdirSync(folder, { recursive: true })
    writeSummary(folder, summary)
    return summary
  }
  const found: Partial<Summary> = existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {}
  if (found.organizationId !== organizationId || found.startedAt === undefined || found.completedAt) {
    const what = found.completedAt ? `is a complete export of ${found.completedAt}` : 'exists already'
    throw new UsageError(
      `--output ${output} ${what}; allowed: a folder that does not exist yet, or that of an export of this organization that was interrupted.`,
    )
  }
  console.log(`Continuing the export of ${found.startedAt}`)
  return { organizationId, startedAt: found.startedAt }
}

/** A process that is killed leaves the earlier summary, or the new one. */
function writeSummary(folder: string, summary: Summary): void {
  const file = join(folder, SUMMARY)
  writeFileSync(`${file}.new`, lineOf(summary))
  renameSync(`${file}.new`, file)
}

/** Writes each table. A file gets its name when it is complete. @returns the number of rows. */
async function exportRows(
  database: CommandDatabase,
  organization: Row,
  counts: readonly [table: string, rows: number][],
  folder: string,
): Promise<number> {
  mkdirSync(join(folder, PARTIAL), { recursive: true })
  writeFileSync(join(folder, 'organizations.jsonl'), lineOf(organization))
  const total = counts.reduce((sum, [, rows]) => sum + rows, 0)
  const progress = startProgress('Rows', total)
  let sum = 1
  for (const [table, count] of counts) {
    const file = join(folder, `${table}.jsonl`)
    const rows = existsSync(file) ? await countLines(file) : 0
    if (rows === 0) sum += await exportTable(database, organization, table, folder, progress.add)
    else progress.add(count)
    sum += rows
  }
  progress.end()
  return sum
}

async function exportTable(
  database: CommandDatabase,
  { id = '' }: Row,
  table: string,
  folder: string,
  add: (count: number) => void,
): Promise<number> {
  const { all, key } = await listColumns(database, table)
  const isExported = (name: string) => !SECRETS.includes(name)
  const select = `SELECT ${quoted(all.filter((name) => isExported(name) || key.includes(name)))} FROM "${table}"
    WHERE "organizationId" = ?`
  // All rows have the same organization, so the rest of the key says where a page begins.
  const rest = key.filter((name) => name !== 'organizationId')
  const isAfter = ` AND (${quoted(rest)}) > (${rest.map(() => '?')})`
  const size = pageSizeOf(table)
  const partial = join(folder, PARTIAL, `${table}.jsonl`)
  writeFileSync(partial, '')
  let sum = 0
  for (let last: Row | undefined; ; ) {
    const [rows = []] = await database.batch([
      {
        sql: `${select}${last ? isAfter : ''} ORDER BY ${quoted(key)} LIMIT ${size}`,
        parameters: [id, ...(last ? rest.map((name) => last?.[name] ?? null) : [])],
      },
    ])
    const lines = rows.map((row) => lineOf(withoutSecrets(row)))
    appendFileSync(partial, lines.join(''))
    sum += rows.length
    add(rows.length)
    if (rows.length < size) break
    last = rows.at(-1)
  }
  renameSync(partial, join(folder, `${table}.jsonl`))
  console.log(`${table}: ${sum} rows`)
  return sum
}

/** Without the columns of `SECRETS`, also in the row that a deletion has as JSON. */
function withoutSecrets(row: Row): Record<string, unknown> {
  const entries = Object.entries(row).filter(([name]) => !SECRETS.includes(name))
  const { row: deleted, ...rest } = Object.fromEntries(entries)
  if (deleted === undefined) return rest
  return { ...rest, row: typeof deleted === 'string' ? withoutSecrets(JSON.parse(deleted)) : null }
}

function lineOf(value: object): string {
  return `${JSON.stringify(value)}\n`
}

async function countLines(file: string): Promise<number> {
  let count = 0
  for await (const line of linesOf(file)) if (line) count++
  return count
}

function linesOf(file: string): AsyncIterable<string> {
  return createInterface({ input: createReadStream(file), crlfDelay: Number.POSITIVE_INFINITY })
}

/** Reads the contents that the exported rows refer to, apart from those that are complete. */
async function exportContents(database: CommandDatabase, openStore: () => Promise<ObjectStore>, folder: string) {
  const names = new Names(folder)
  const complete = await readComplete(folder)
  for (const { file } of complete.values()) names.claim(String(file))
  let files = complete.size
  let bytes = [...complete.values()].reduce((sum, { sizeBytes = 0 }) => sum + sizeBytes, 0)
  const missing: string[] = []
  const total = await countContents(folder)
  if (total === files) return { files, bytes, missing: 0 }
  const progress = startProgress('Files', total)
  progress.add(files)
  const store = await openStore()
  try {
    await forEachAtOnce(contentRows(folder), OBJECTS_AT_ONCE, async ({ table, row }) => {
      const content = contentOf(table, row)
      if (complete.has(identityOf(content))) return
      const file = names.fileOf(table, row)
      const sizeBytes = await download(store, folder, file, row)
      const isThere = sizeBytes !== undefined
      appendFileSync(
        join(folder, CONTENTS),
        lineOf({ file: isThere ? file : null, ...content, ...(isThere && { sizeBytes }) }),
      )
      if (isThere) [files, bytes] = [files + 1, bytes + sizeBytes]
      else missing.push(String(row.objectKey))
      progress.add()
    })
  } finally {
    progress.end()
    await store.close()
  }
  // What was deleted or replaced since its row was exported is not missing.
  return { files, bytes, missing: (await stillReferenced(database, missing)).length }
}

/** @returns the size; undefined if the object store does not have the content, or has another size. */
async function download(
  store: ObjectStore,
  folder: string,
  file: string,
  { objectKey, sizeBytes: contentBytes, archiveBytes }: Row,
): Promise<number | undefined> {
  const sizeBytes = contentBytes ?? archiveBytes
  const path = join(folder, file)
  mkdirSync(dirname(path), { recursive: true })
  if (sizeBytes === 0) {
    // An empty content may have no object.
    writeFileSync(path, '')
    return 0
  }
  const expectedBytes = sizeBytes === undefined ? null : Number(sizeBytes)
  return store.download(String(objectKey), path, join(folder, PARTIAL, crypto.randomUUID()), expectedBytes)
}

/**
 * The contents that are complete: those whose file has the size that was recorded. The record is written again without
 * the others.
 */
async function readComplete(folder: string): Promise<Map<string, Content>> {
  const journal = join(folder, CONTENTS)
  const complete = new Map<string, Content>()
  if (existsSync(journal)) {
    for await (const line of linesOf(journal)) {
      const content = parsedLine(line)
      if (!content || typeof content.file !== 'string') continue
      const size = statSync(join(folder, content.file), { throwIfNoEntry: false })?.size
      if (size === content.sizeBytes) complete.set(identityOf(content), content)
    }
  }
  const partial = join(folder, PARTIAL, CONTENTS)
  writeFileSync(partial, '')
  for (const content of complete.values()) appendFileSync(partial, lineOf(content))
  renameSync(partial, journal)
  return complete
}

/** @returns undefined if the line was cut off. */
function parsedLine(line: string): Content | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}

function contentOf(table: string, row: Row): Record<string, unknown> {
  const { id, sessionId, path, userId, skillId, version } = row
  if (table === 'skillVersions') return { skillId, version }
  return table === 'sessionFiles' ? { id, sessionId, path } : { userId }
}

function identityOf(content: Partial<Record<keyof Content, unknown>>): string {
  const { id, userId, skillId, version } = content
  if (skillId !== undefined) return `skill ${skillId} ${version}`
  return userId === undefined ? `file ${id}` : `picture ${userId}`
}

/** The exported rows that refer to an object. */
async function* contentRows(folder: string): AsyncGenerator<{ table: string; row: Row }> {
  for (const table of CONTENT_TABLES) {
    const file = join(folder, `${table}.jsonl`)
    if (!existsSync(file)) continue
    for await (const line of linesOf(file)) {
      const row: Row = JSON.parse(line)
      if (typeof row.objectKey === 'string') yield { table, row }
    }
  }
}

async function countContents(folder: string): Promise<number> {
  let count = 0
  for await (const _ of contentRows(folder)) count++
  return count
}

/**
 * Names the file of each content: by its path if possible, otherwise by its ID. A path is not possible if it leads out
 * of the folder, is too long for the file system, or conflicts with another one (`a` and `a/b`; `A` and `a`, because
 * some file systems ignore case).
 */
class Names {
  readonly #folder: string
  readonly #files = new Set<string>()
  readonly #folders = new Set<string>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** @returns the file relative to the folder. */
  fileOf(table: string, row: Row): string {
    const { id, objectKey } = row
    const isFile = table === 'sessionFiles'
    const [folder, path] = placeOf(table, row)
    const parent = join(this.#folder, folder)
    const file = resolve(parent, path)
    if (parent.startsWith(this.#folder + sep) && file.startsWith(parent + sep)) {
      const name = relative(this.#folder, file)
      if (this.claim(name) && isPossible(file)) return name
    }
    const byId = isFile ? String(id) : String(objectKey).replace(/^.*\//, '')
    if (!isUuid(byId)) throw new Error(`The ID of a content is not a UUID; got "${byId}".`)
    return join('by-id', byId)
  }

  /** @returns false if another file is in its way. */
  claim(name: string): boolean {
    const parts = name.normalize('NFC').toUpperCase().toLowerCase().split(sep)
    const folders = parts.slice(1).map((_, index) => parts.slice(0, index + 1).join(sep))
    const file = parts.join(sep)
    if (this.#files.has(file) || this.#folders.has(file)) return false
    if (folders.some((each) => this.#files.has(each))) return false
    this.#files.add(file)
    for (const each of folders) this.#folders.add(each)
    return true
  }
}

/** The folder of a content and its path in there. */
function placeOf(table: string, row: Row): [folder: string, path: string] {
  if (table === 'sessionFiles') return [join('files', String(row.sessionId)), String(row.path)]
  if (table === 'skillVersions') return [join('skills', String(row.skillId)), `${row.version}.tar.gz`]
  return ['pictures', encodeURIComponent(String(row.userId))]
}

/** False if a name or the whole path is too long for the file system. */
function isPossible(file: string): boolean {
  try {
    mkdirSync(dirname(file), { recursive: true })
    lstatSync(file, { throwIfNoEntry: false })
    return true
  } catch {
    return false
  }
}
