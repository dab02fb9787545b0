/** Reads a request body within its limits. */
import type { MiddlewareHandler } from 'hono'
import type * as z from 'zod/mini'
import type { Caller } from '../access/caller.ts'
import { ApiError, failure, type Problem } from '../errors.ts'
import type { OperationEnvironment } from './context.ts'
import type { Contract } from './contract.ts'
import { problemOfJson } from './json-bounds.ts'
import { parseJson } from './parse-json.ts'
import { describeProblem, describeProblems, describeSent, describeSize } from './problems.ts'
import { readUpTo } from './read-up-to.ts'

/** The size limit of a body if the contract has none. A larger body is read only after its key was looked up. */
export const BODY_LIMIT_BYTES = 64 * 1024

const JSON_TYPE = /^application\/json\s*(;\s*charset\s*=\s*"?utf-8"?\s*)?$/i

/** @throws {ApiError} 413 if `Content-Length` is over the limit. */
export function requireLengthWithin(limitBytes: number, { headers }: Request): void {
  const bytes = Number(headers.get('Content-Length') ?? 0)
  if (bytes > limitBytes) throw new ApiError(failure('body_too_large', tooLarge(limitBytes, `${bytes} bytes`)))
}

/** @throws {ApiError} 411 if the request has no valid `Content-Length`. */
export function requireDeclaredLength({ headers }: Request): void {
  if (!/^\d+$/.test(headers.get('Content-Length') ?? '')) {
    const problem = { wrong: 'is missing', allowed: 'the number of bytes of the body' }
    throw new ApiError(failure('length_required', describeProblem('Content-Length', problem)))
  }
}

const TOKEN = String.raw`[\w!#$%&'*+.^\`|~-]+`
const QUOTED = String.raw`"(?:[\t !#-\[\]-~]|\\[\t -~])*"`
/** RFC 9110, section 8.3.1. */
const MEDIA_TYPE = new RegExp(String.raw`^${TOKEN}/${TOKEN}(?:[ \t]*;(?:[ \t]*${TOKEN}=(?:${TOKEN}|${QUOTED}))?)*$`)
const PARAMETER = new RegExp(String.raw`;[ \t]*(${TOKEN})=(?:(${TOKEN})|(${QUOTED}))`, 'g')
const MAX_MEDIA_TYPE_LENGTH = 255

/** What `curl --data-binary` sends if it is not told otherwise. No file has it. */
const CURL_DEFAULT_TYPE = 'application/x-www-form-urlencoded'

/**
 * The `Content-Type` of an upload, as it was sent; null without one.
 * @throws {ApiError} 400 if it is not a media type, or names an unknown charset.
 */
export async function parseMediaType({ headers }: Request, caller: Caller): Promise<string | null> {
  const type = headers.get('Content-Type')
  if (type === CURL_DEFAULT_TYPE) return null
  if (type === null) return null
  const problem = problemOfMediaType(type)
  if (problem) throw await caller.inputError(describeProblem('Content-Type', problem))
  return type
}

function problemOfMediaType(type: string): Problem | undefined {
  if (type.length > MAX_MEDIA_TYPE_LENGTH || !MEDIA_TYPE.test(type)) {
    const allowed = `a media type of up to ${MAX_MEDIA_TYPE_LENGTH} characters, such as "text/plain; charset=utf-8"`
    const advice = 'Without the header, the type is application/octet-stream.'
    return { wrong: 'is not a media type', sent: describeSent(type), allowed, advice }
  }
  for (const [, name = '', token, quoted = ''] of type.matchAll(PARAMETER)) {
    if (name.toLowerCase() !== 'charset') continue
    if (isCharset(token ?? quoted.slice(1, -1).replaceAll(/\\(.)/g, '$1'))) continue
    const allowed = 'a charset of the Encoding Standard, such as "utf-8"'
    return { wrong: 'has an unknown charset', sent: describeSent(type), allowed }
  }
  return undefined
}

function isCharset(label: string): boolean {
  try {
    return new TextDecoder(label).encoding !== ''
  } catch {
    return false
  }
}

/** True if all properties of the body are optional. A request may then have no body, which means `{}`. */
export const isBodyOptional = (body: z.ZodMiniObject): boolean => body.safeParse({}).success

/** Reads and validates a body in JSON, for `c.req.valid('json')`. */
export function jsonBody(
  schema: z.ZodMiniObject,
  limitBytes: number,
  { takesSecret, takenElsewhere }: Pick<Contract, 'takesSecret' | 'takenElsewhere'>,
): MiddlewareHandler<OperationEnvironment> {
  const isOptional = isBodyOptional(schema)
  return async (c, next) => {
    const caller = c.get('caller')
    const sent = isOptional && hasNoBody(c.req.raw) ? {} : await readJson(c.req.raw, limitBytes, caller)
    const { data, error } = schema.safeParse(sent)
    if (error) {
      const validated = { schema, data: sent, isSecret: takesSecret === true, takenElsewhere }
      throw await caller.inputError(describeProblems(error.issues, validated))
    }
    c.req.addValidatedData('json', data)
    await next()
  }
}

/** @throws {ApiError} 400 if the body is compressed. */
export async function requireUncompressed({ headers }: Request, caller: Caller): Promise<void> {
  const encoding = headers.get('Content-Encoding')
  if (encoding === null || /^(identity)?$/i.test(encoding)) return
  const advice = 'Send the body without compression.'
  const problem = { wrong: 'is not supported', sent: describeSent(encoding), allowed: '"identity"', advice }
  throw await caller.inputError(describeProblem('Content-Encoding', problem))
}

async function readJson(request: Request, limitBytes: number, caller: Caller): Promise<unknown> {
  const typeProblem = problemOfType(request.headers.get('Content-Type'))
  if (typeProblem) throw await caller.inputError(describeProblem('Content-Type', typeProblem))
  await requireUncompressed(request, caller)
  const { value, problem } = parseBody(await readBytes(request, limitBytes, caller))
  if (problem) throw await caller.inputError(describeProblem('body', problem))
  return value
}

function hasNoBody({ body, headers }: Request): boolean {
  return body === null || headers.get('Content-Length') === '0'
}

/**
 * Refuses a form, whose envelope would be stored with the file, and a compressed body. The body of an upload is the bytes
 * themselves.
 */
export const requireBytes: MiddlewareHandler<OperationEnvironment> = async (c, next) => {
  const [type = ''] = c.req.header('Content-Type')?.split(';') ?? []
  if (/^multipart\//i.test(type.trim())) {
    const problem = {
      wrong: 'is not supported',
      sent: describeSent(type.trim()),
      allowed: 'any media type except a form',
      advice: 'Send the bytes of the file as the body; with curl: --data-binary @file instead of --form.',
    }
    throw await c.get('caller').inputError(describeProblem('Content-Type', problem))
  }
  await requireUncompressed(c.req.raw, c.get('caller'))
  await next()
}

function problemOfType(contentType: string | null): Problem | undefined {
  const allowed = '"application/json" in UTF-8'
  const advice = 'Send the header "Content-Type: application/json".'
  if (contentType === null) return { wrong: 'is missing', allowed, advice }
  if (JSON_TYPE.test(contentType)) return undefined
  return { wrong: 'is not supported', sent: describeSent(contentType), allowed, advice }
}

/** Parses JSON that is within the limits of depth and values. */
export function parseBody(buffer: ArrayBuffer): { value?: unknown; problem?: Problem } {
  const bytes = new Uint8Array(buffer)
  const sizeProblem = problemOfJson(bytes)
  if (sizeProblem) return { problem: sizeProblem }
  const text = decode(bytes)
  if (text === undefined)
    return {
      problem: { wrong: 'is not valid UTF-8', sent: `${bytes.byteLength} bytes`, allowed: 'JSON in UTF-8' },
    }
  if (text.trim() === '') return { problem: { wrong: 'is empty', allowed: 'JSON in UTF-8' } }
  return parseJson(text)
}

/** The bytes of the body by `Content-Length`; NaN without one. */
const declaredBytesOf = ({ headers }: Request): number => Number(headers.get('Content-Length') ?? Number.NaN)

/** True if the body is read only after its key was looked up. */
export const needsLookUp = (request: Request): boolean => !(declaredBytesOf(request) <= BODY_LIMIT_BYTES)

/**
 * Reads a body into memory. A body over 64 KiB, or without `Content-Length`, is read only for a key that may act.
 * @throws {ApiError} 413 if the body is over the limit.
 */
export async function readBytes(request: Request, limitBytes: number, caller: Caller): Promise<ArrayBuffer> {
  if (needsLookUp(request)) await caller.requireAuthorized()
  const isDeclared = !Number.isNaN(declaredBytesOf(request))
  // The runtime ends a body at its `Content-Length`.
  const bytes = await (isDeclared ? request.arrayBuffer() : readUpTo(limitBytes, request.body))
  if (bytes && bytes.byteLength <= limitBytes) return bytes
  throw await caller.inputError(tooLarge(limitBytes), 'body_too_large')
}

function tooLarge(limitBytes: number, sent = `more than ${describeSize(limitBytes)}`): string {
  return describeProblem('body', {
    wrong: 'is too large',
    sent,
    allowed: `up to ${describeSize(limitBytes)}`,
  })
}

const PIECE_BYTES = 2 ** 20

/**
 * Decodes in pieces, because workerd's decoder needs 15 times the memory of the bytes that it decodes at once.
 * @returns the text, without a byte order mark; undefined if the bytes are not UTF-8.
 */
function decode(bytes: Uint8Array): string | undefined {
  const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
  let text = ''
  try {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES)
      text += utf8.decode(bytes.subarray(start, start + PIECE_BYTES), { stream: true })
    return text + utf8.decode()
  } catch {
    return undefined
  }
}
