/** Session files as tools see them: text, or base64 for what is not text, in parts. */
import * as z from 'zod/mini'
import {
  boundedString,
  describeSent,
  docs,
  type listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
  text,
} from '../../src/contracts.ts'
import { type Answer, type Api, ApiFailure } from './api.ts'
import { type Data, withinLimit } from './output.ts'
import type { Input, Wrong } from './tool.ts'

/** A part of this size fits into a result, which has it twice, if it is text without many escapes. */
const PART_BYTES = 40_000
const MAX_CONTENT_UNITS = 4_000_000

const OFFSET = 'a whole number of bytes, at least 0'
const LENGTH = `a whole number of bytes from 1 to ${PART_BYTES}`

const { fileId } = retrieveSessionFileContentContract.params.shape
const { path } = putSessionFileContract.query.shape

export const readProperties = {
  fileId: z.optional(fileId),
  path: z.optional(path).register(docs, { description: 'Instead of `fileId`.' }),
  offset: z
    ._default(z.int(OFFSET).check(z.minimum(0, OFFSET)), 0)
    .register(docs, { description: 'The first byte of the part; the `nextOffset` of a result reads on.' }),
  length: z
    ._default(z.int(LENGTH).check(z.minimum(1, LENGTH), z.maximum(PART_BYTES, LENGTH)), PART_BYTES)
    .register(docs, { description: 'The bytes of the part, at most.' }),
}

/** The files of a page of the list. */
const PAGE_FILES = 1000
/** With the request that follows, no more than another tool or resource makes (index.ts, MAX_BATCH). */
const MAX_PAGES = 5

type FilePage = Answer<typeof listSessionFilesContract>

/** @returns the input with the ID of the file at its path, which the API finds in the list only. */
export async function withFileId(input: Input, api: Api): Promise<Input | Wrong> {
  const { sessionId, fileId, path } = input
  if ((fileId === undefined) === (path === undefined)) {
    return `fileId and path are both ${path === undefined ? 'missing' : 'given'}; allowed: one of them.`
  }
  if (path === undefined) return input
  const list = `/v1/sessions/${sessionId}/files?limit=${PAGE_FILES}`
  let cursor: string | null = ''
  for (let pages = 0; pages < MAX_PAGES && cursor !== null; pages++) {
    const page: FilePage = await api.json(cursor === '' ? list : `${list}&cursor=${cursor}`)
    const found = page.items.find((file) => file.path === path)
    if (found) return { ...input, fileId: found.id }
    cursor = page.nextCursor
  }
  const searched =
    cursor === null ? 'The session has no file' : `The first ${MAX_PAGES * PAGE_FILES} files of the session have none`
  throw ApiFailure.notFound(`${searched} at the path ${describeSent(path)}.`, 'session_file_not_found')
}

const rangeOf = (input: Input) => input as { offset: number; length: number }

export function fileRange(input: Input): RequestInit {
  const { offset, length } = rangeOf(input)
  return { headers: { Range: `bytes=${offset}-${offset + length - 1}` } }
}

export async function readFile(response: Response, input: Input): Promise<Data> {
  const { fileId } = input
  const { offset } = rangeOf(input)
  const bytes = Buffer.from(await response.arrayBuffer())
  const totalBytes = Number(response.headers.get('Content-Range')?.split('/')[1] ?? offset + bytes.length)
  return withinLimit(bytes.length, (length) => {
    const { content, encoding, used } = decoded(bytes.subarray(0, length), offset + length >= totalBytes)
    const end = offset + used
    return { fileId, content, encoding, offset, totalBytes, ...readOn(end, totalBytes) }
  })
}

/** No range of an empty file can be read. */
export function emptyFile({ code }: ApiFailure, input: Input): Data | undefined {
  const { offset } = rangeOf(input)
  if (code !== 'range_not_satisfiable' || offset > 0) return undefined
  return { content: '', encoding: 'utf-8', offset, totalBytes: 0, nextOffset: null }
}

function readOn(end: number, totalBytes: number): Data {
  if (end >= totalBytes) return { nextOffset: null }
  return { nextOffset: end, note: `The file continues: call again with offset ${end}.` }
}

/** @returns the text, without a character that the end of the part splits; base64 of bytes that are not UTF-8. */
function decoded(bytes: Buffer, isLast: boolean): { content: string; encoding: 'utf-8' | 'base64'; used: number } {
  try {
    const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
    const content = utf8.decode(bytes, { stream: !isLast })
    if (content !== '' || isLast) return { content, encoding: 'utf-8', used: Buffer.byteLength(content) }
  } catch {
    // The bytes are not text.
  }
  return { content: bytes.toString('base64'), encoding: 'base64', used: bytes.length }
}

export const writeProperties = {
  content: boundedString(MAX_CONTENT_UNITS, {
    wrong: 'is too large',
    allowed: `up to ${MAX_CONTENT_UNITS} characters`,
    advice: 'Upload larger files with the operation putSessionFile of the API.',
  }).register(docs, { description: 'Text, or base64 if `encoding` says so.' }),
  encoding: z._default(z.enum(['utf-8', 'base64'], '"utf-8" or "base64"'), 'utf-8'),
  contentType: z._default(text(1, 255), 'text/plain; charset=utf-8'),
}

/** @returns the request, or what is wrong with the input. */
export function sentFile(input: Input): RequestInit | Wrong {
  const { content, encoding, contentType } = input as Record<keyof typeof writeProperties, string>
  const body = Buffer.from(content, encoding as BufferEncoding)
  // Buffer skips what is not base64, and replaces lone surrogates.
  if (body.toString(encoding as BufferEncoding) !== content) {
    const wrong = encoding === 'base64' ? 'is not base64' : 'has a lone surrogate'
    return `content ${wrong}; allowed: well-formed Unicode, or base64 with padding and without line breaks.`
  }
  if (!PRINTABLE.test(contentType))
    return 'contentType is not a media type; allowed: such as "text/plain; charset=utf-8".'
  return { headers: { 'Content-Type': contentType }, body }
}

const PRINTABLE = /^[ -~]+$/
