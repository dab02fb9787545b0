/** Reads a body within its limits. */
import type { MiddlewareHandler } from 'hono'
import type { Caller } from '../access/caller.ts'
import { ApiError } from '../errors.ts'
import type { HonoEnvironment } from './context.ts'
import { problemOfJson } from './json-bounds.ts'
import { describeSent } from './problems.ts'

/** The most that a body may have where the contract doesn't say, and that is read before its key is looked up. */
export const BODY_LIMIT_BYTES = 64 * 1024

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** @throws {ApiError} 413 if the body declares more bytes than the limit. */
export function requireLengthWithin(limitBytes: number, { headers }: Request): void {
  if (Number(headers.get('Content-Length') ?? 0) > limitBytes) throw tooLarge(limitBytes)
}

/** @throws {ApiError} 411 if the body doesn't say how long it is. */
export function requireDeclaredLength({ headers }: Request): void {
  if (!/^\d+$/.test(headers.get('Content-Length') ?? '')) {
    throw new ApiError(411, 'Send the length of the body in the header "Content-Length".')
  }
}

/** Parses the body once and hands it to the validator that follows. */
export function readJson(limitBytes: number): MiddlewareHandler<HonoEnvironment> {
  return async (c, next) => {
    const contentType = c.req.header('Content-Type')
    if (!JSON_TYPE.test(contentType ?? '')) {
      const sent = contentType === undefined ? 'none' : describeSent(contentType)
      throw await c
        .get('caller')
        .inputError(`Content-Type: expected "application/json" in UTF-8, got ${sent}`)
    }
    const bytes = new Uint8Array(await readBytes(c.req.raw, limitBytes, c.get('caller')))
    const problem = problemOfJson(bytes)
    if (problem) throw await c.get('caller').inputError(`body: ${problem}`)
    const value = parse(bytes)
    if (value === undefined) {
      const sent = bytes.byteLength === 0 ? 'nothing' : `${bytes.byteLength} bytes that are not`
      throw await c.get('caller').inputError(`body: expected valid JSON in UTF-8, got ${sent}`)
    }
    c.req.json = async () => value as never
    await next()
  }
}

/**
 * Reads a body into memory. One that is large, or does not say how long it is, is read only for a key that may act.
 * @throws {ApiError} 413 if the body has more bytes than the limit.
 */
export async function readBytes(request: Request, limitBytes: number, caller: Caller): Promise<ArrayBuffer> {
  const declaredBytes = Number(request.headers.get('Content-Length') ?? Number.NaN)
  const isDeclared = !Number.isNaN(declaredBytes)
  if (!isDeclared || declaredBytes > BODY_LIMIT_BYTES) await caller.requireAuthorized()
  // The runtime ends a body at its declared length.
  const bytes = await (isDeclared ? request.arrayBuffer() : readUpTo(limitBytes, request.body))
  if (bytes && bytes.byteLength <= limitBytes) return bytes
  throw await caller.inputError(tooLarge(limitBytes).message, 413)
}

function tooLarge(limitBytes: number): ApiError {
  return new ApiError(413, `The body may have at most ${limitBytes} bytes.`)
}

/** The bytes of the stream, or undefined if there are more than the limit. */
async function readUpTo(
  limitBytes: number,
  stream: ReadableStream<Uint8Array> | null,
): Promise<ArrayBuffer | undefined> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of stream ?? []) {
    size += chunk.byteLength
    if (size > limitBytes) return undefined
    chunks.push(chunk)
  }
  return new Blob(chunks).arrayBuffer()
}

function parse(bytes: Uint8Array): unknown {
  try {
    return JSON.parse(decode(bytes))
  } catch {
    return undefined
  }
}

const PIECE_BYTES = 2 ** 20

/**
 * The text, without a byte order mark. The decoder of workerd takes 15 times the memory of what it decodes at once.
 * @throws {TypeError} if it is not UTF-8.
 */
function decode(bytes: Uint8Array): string {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  for (let start = 0; start < bytes.length; start += PIECE_BYTES)
    text += utf8.decode(bytes.subarray(start, start + PIECE_BYTES), { stream: true })
  return text + utf8.decode()
}
