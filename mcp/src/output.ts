/** The results of tools, within their size limit. */
import type { CallToolResult } from '@modelcontextprotocol/server'
import type { ApiFailure } from './api.ts'

/** The most bytes of a result as JSON. A model reads all of it. */
const LIMIT_BYTES = 100_000
/** What the protocol adds to a result. */
const ENVELOPE_BYTES = 1000

export type Data = Record<string, unknown>

/** The protocol wants structured content also as text, for older clients. */
function resultOf(data: Data): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data }
}

function fits(result: CallToolResult): boolean {
  return Buffer.byteLength(JSON.stringify(result)) <= LIMIT_BYTES - ENVELOPE_BYTES
}

/** @returns what `dataOf` makes of as much as fits: half of `length`, and so on, until it does. */
export function withinLimit(length: number, dataOf: (length: number) => Data): Data {
  const data = dataOf(length)
  return length <= 1 || fits(resultOf(data)) ? data : withinLimit(Math.floor(length / 2), dataOf)
}

/** A page of a list, whose cursors are the IDs of items. A shorter page ends at another one. */
interface Page {
  readonly items: readonly { readonly id?: string }[]
  readonly nextCursor: string | null
}

function isPage(data: Data): data is Data & Page {
  return Array.isArray(data.items)
}

function shortened(page: Data & Page): Data {
  return withinLimit(page.items.length, (length) => {
    if (length === page.items.length) return page
    const items = page.items.slice(0, length)
    const nextCursor = items.at(-1)?.id
    if (nextCursor !== undefined) return { ...page, items, nextCursor }
    return {
      ...page,
      items,
      note: `The list has ${page.items.length} items, of which this is the first part.`,
    }
  })
}

export function success(data: Data): CallToolResult {
  const result = resultOf(data)
  if (fits(result)) return result
  if (isPage(data)) return resultOf(shortened(data))
  const text = JSON.stringify(data)
  const cut = withinLimit(text.length, (length) => ({
    text: text.slice(0, length).toWellFormed(),
    note: 'The result is too large, and cut.',
  }))
  return resultOf(cut)
}

/** A tool error: a sentence for the model, and what a program needs. @param sentence instead of that of the API. */
export function failure({ message, code, status, retryAfter }: ApiFailure, sentence = message): CallToolResult {
  return errorResult({
    // The body of a request is a part of the input.
    error: sentence.replace(/^body /, 'The input '),
    code,
    status,
    ...(retryAfter !== null && { retryAfterSeconds: Number(retryAfter) }),
  })
}

export function invalidInput(sentence: string): CallToolResult {
  return errorResult({ error: sentence, code: 'invalid_input', status: 400 })
}

function errorResult(data: Data & { readonly error: string }): CallToolResult {
  return { content: [{ type: 'text', text: data.error }], structuredContent: data, isError: true }
}
