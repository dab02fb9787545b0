/** What the commands print: tables and sentences for people, or JSON, one value per line. */

import { pipeline } from 'node:stream/promises'
import { printable, printableJson, printableLines } from '../../client/src/printable.ts'

export interface OutputOptions {
  readonly json?: true | undefined
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

export function countOf(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

/** The last line of a command that changed nothing, because it was told so. */
export function dryRunNote(options: OutputOptions & { readonly dryRun?: true | undefined }) {
  return options.dryRun && !options.json ? 'Nothing was changed: this was a dry run.' : undefined
}

/** The columns of a table: its headings, and how to get a cell from an item. */
export type Columns<Item> = Readonly<Record<string, (item: Item) => unknown>>

/** Prints a list; as JSON, each item when it arrives. */
export async function printList<Item>(
  { json, limit = Number.POSITIVE_INFINITY }: OutputOptions & { readonly limit?: number | undefined },
  items: AsyncIterable<Item> | Iterable<Item>,
  columns: Columns<Item>,
): Promise<void> {
  onlyReads = true
  const rows = [Object.keys(columns)]
  let count = 0
  for await (const item of items) {
    if (json) console.log(printableJson(item))
    else rows.push(Object.values(columns).map((cellOf) => cell(cellOf(item))))
    if (++count >= limit) break
  }
  if (!json) console.log(aligned(rows))
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
  { json }: OutputOptions,
  value: object,
  properties: Readonly<Record<string, unknown>>,
): void {
  onlyReads = true
  const rows = Object.entries(properties).map(([name, each]) => [name, cell(each)])
  console.log(json ? printableJson(value) : aligned(rows))
}

/** Prints the content of a file. */
export async function printBytes(content: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): Promise<void> {
  onlyReads = true
  await pipeline(content, process.stdout)
}

/** The text of a table's cell. */
function cell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '-'
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
