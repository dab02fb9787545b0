/**
 * The content of a skill's file: as clients send it, as it is stored, as responses show it, and its bytes.
 *
 * Nothing is lost: bytes that are text are stored and shown as this text, with its byte order mark and line breaks;
 * other bytes are stored in base64 and shown as a data URL (RFC 2397).
 */
import { isUtf8 } from 'node:buffer'
import { sha256 } from '../../crypto/digest.ts'
import type { Problem } from '../../errors.ts'
import { describeSize } from '../../http/problems.ts'

export type Encoding = 'utf-8' | 'base64'

/** A content in a request. */
export interface SentContent {
  readonly content: string
  /** UTF-8 if it is left out. */
  readonly encoding?: Encoding | undefined
}

/** A content as the database has it. It is in base64 only if it cannot be stored as text. */
export interface StoredContent {
  readonly content: string
  readonly encoding: Encoding
}

export interface ReadContent extends StoredContent {
  readonly bytes: Uint8Array
  /** The hash of the bytes, in lower-case hexadecimal. */
  readonly sha256: string
}

/** What a content that is not text begins with in a response. */
export const DATA_URL_START = 'data:application/octet-stream;base64,'

const AS_BASE64 = 'Send this file in base64, with "encoding": "base64".'
const BASE64 = /^[A-Za-z0-9+/]*={0,2}$/
const ALLOWED_BASE64 = 'base64 of RFC 4648: A to Z, a to z, 0 to 9, "+", "/", padded with "=", without line breaks'

/** @returns what is wrong with a content, or undefined if it can be read. */
export function problemOfContent(sent: SentContent, maxBytes: number): Problem | undefined {
  const { content, encoding } = sent
  // A byte takes at most 4 / 3 characters, so a content that is several times too long is not read.
  const bytes = content.length > 2 * maxBytes ? Number.POSITIVE_INFINITY : Buffer.byteLength(content, encoding)
  if (bytes > maxBytes) {
    const isCounted = Number.isFinite(bytes)
    return {
      wrong: 'is too large',
      sent: isCounted ? `${bytes} bytes` : `more than ${describeSize(maxBytes)}`,
      allowed: `up to ${describeSize(maxBytes)}`,
    }
  }
  return encoding === 'base64' ? problemOfBase64(content) : problemOfText(content)
}

function problemOfText(content: string): Problem | undefined {
  const problem = (wrong: string, allowed: string) => ({ wrong, allowed, advice: AS_BASE64 })
  if (!content.isWellFormed()) return problem('has a lone surrogate', 'well-formed Unicode')
  if (content.includes('\0')) return problem('has a NUL character', 'text without NUL characters')
  if (content.startsWith(DATA_URL_START)) {
    return problem(`begins with "${DATA_URL_START}"`, 'text that does not begin as a data URL of bytes does')
  }
  return undefined
}

/** RFC 4648, section 4, in its only form: `Buffer` skips what it does not know. */
function problemOfBase64(content: string): Problem | undefined {
  const problem = (wrong: string) => ({ wrong, allowed: ALLOWED_BASE64 })
  if (!BASE64.test(content)) {
    return problem(`is not base64 at character ${content.search(/[^A-Za-z0-9+/]/) + 1}`)
  }
  if (content.length % 4 !== 0) return problem('is not base64: its length is not a multiple of 4')
  const last = content.slice(-4)
  if (Buffer.from(last, 'base64').toString('base64') !== last) {
    return problem('is not base64: its last character has bits beyond the last byte')
  }
  return undefined
}

/** Reads a content without a problem. */
export async function readContent({ content, encoding = 'utf-8' }: SentContent): Promise<ReadContent> {
  const bytes = Buffer.from(content, encoding)
  const stored = encoding === 'base64' ? toContent(bytes, content) : { content, encoding }
  return { ...stored, bytes, sha256: await sha256(bytes) }
}

/** The content to store or to send for the bytes of a file. @param base64 of the bytes, where it is known. */
export function toContent(bytes: Uint8Array, base64?: string): StoredContent {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  if (isUtf8(buffer) && !buffer.includes(0)) {
    const content = buffer.toString('utf8')
    if (!content.startsWith(DATA_URL_START)) return { content, encoding: 'utf-8' }
  }
  return { content: base64 ?? buffer.toString('base64'), encoding: 'base64' }
}

/** The bytes of a file in a response. */
export function bytesOfShown(content: string): Uint8Array {
  return content.startsWith(DATA_URL_START)
    ? Buffer.from(content.slice(DATA_URL_START.length), 'base64')
    : Buffer.from(content)
}
