/** What the commands print: tables and sentences for people, or JSON, one value per line. */

import { pipeline } from 'node:stream/promises'
import { printable, printableJson, printableLines } from '../../client/src/printable.ts'
import { localAndRelativeTime, relativeTime } from '../../command-line/src/times.ts'

export interface OutputOptions {
  readonly json?: true | undefined
  /** Times are exact. */
  readonly utc?: true | undefined
}

interface ListOptions extends OutputOptions {
  readonly limit?: number | undefined
  readonly output?: 'wide' | undefined
}

let onlyReads = false
let isClosed = false

/**
 * For when the reader of a pipe, such as `head`, stops early. A command that only reads ends. Every other one finishes
 * its work, and then fails, because what it printed is lost.
 */
export function surviveClosedOutput(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    if (onlyReads) process.exit()
    if (!isClosed) console.error('Standard output is closed: what follows is not printed.')
    isClosed = true
    process.exitCode = 1
  })
}

/** Prints one result. */
export function print({ json }: OutputOptions, value: object, text: string): void {
  console.log(json ? printableJson(value) : printable(text))
}

/**
 * The line for one of many things that a command works on.
 * @param detail for people; begins with a comma or a colon.
 * @param properties the same for programs; default: the detail as `message`.
 */
export function outcomeLine(
  { json }: OutputOptions,
  outcome: string,
  name: string,
  detail = '',
  properties: object = detail ? { message: detail.replace(/^[,:] /, '') } : {},
): string {
  return json ? printableJson({ outcome, name, ...properties }) : printable(`${outcome.padEnd(9)} ${name}${detail}`)
}

/** An attempt of a delivery. */
export function attemptText(attempt: {
  readonly status: number | null
  readonly milliseconds: number
  readonly error: string | null
}): string {
  const { status, milliseconds, error } = attempt
  return `${error ?? `HTTP ${status}`} (${milliseconds} ms)`
}

/** The last line of a command that changed nothing, because it was told so. */
export function dryRunNote(options: OutputOptions & { readonly dryRun?: true | undefined }) {
  return options.dryRun && !options.json ? 'Nothing was changed: this was a dry run.' : undefined
}

/** The columns of a table: its headings, and how to get a cell from an item. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => unknown>>

/**
 * Prints a list; as JSON, each item when it arrives. IDs are whole: the list may be a part of the things among which
 * the first characters of an ID would have to be the only ones.
 * @param wide the further columns of `-o wide`.
 */
export async function printList<Item>(
  options: ListOptions,
  items: AsyncIterable<Item> | Iterable<Item>,
  columns: Columns<Item>,
  wide: Columns<Item> = {},
): Promise<void> {
  onlyReads = true
  const { json, limit = Number.POSITIVE_INFINITY } = options
  const shown = options.output === 'wide' ? { ...columns, ...wide } : columns
  const rows: string[][] = []
  let count = 0
  for await (const item of items) {
    if (json) console.log(printableJson(item))
    else rows.push(Object.values(shown).map((cellOf) => cell(cellOf(item), options)))
    if (++count >= limit) break
  }
  if (json) return
  console.log(aligned([Object.keys(shown), ...rows]))
}

/** Prints each of what arrives over time, in a line of its own. */
export async function printEach<Item>(
  { json }: OutputOptions,
  items: AsyncIterable<Item>,
  lineOf: (item: Item) => string,
): Promise<void> {
  onlyReads = true
  for await (const item of items) console.log(json ? printableJson(item) : printable(lineOf(item)))
}

/** Prints text of several lines. */
export function printText(text: string): void {
  onlyReads = true
  process.stdout.write(printableLines(text))
}

/** Prints the properties of one thing. */
export function printProperties(
  options: OutputOptions,
  value: object,
  properties: Readonly<Record<string, unknown>>,
): void {
  onlyReads = true
  const rows = Object.entries(properties).map(([name, each]) => [
    name,
    each instanceof Date && !options.utc ? localAndRelativeTime(each) : cell(each, options),
  ])
  console.log(options.json ? printableJson(value) : aligned(rows))
}

/** Prints the content of a file. */
export async function printBytes(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  onlyReads = true
  await pipeline(content, process.stdout)
}

/** The text of a table's cell. */
function cell(value: unknown, { utc }: OutputOptions): string {
  if (value === null || value === undefined || value === '') return '-'
  if (value instanceof Date) return utc ? value.toISOString() : relativeTime(value)
  const text = Array.isArray(value) ? value.join(', ') : String(value)
  return printable(text)
}

function aligned(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, index) => Math.max(...rows.map((row) => row[index]?.length ?? 0))) ?? []
  return rows
    .map((row) =>
      row
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
