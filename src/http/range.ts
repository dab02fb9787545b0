/** Range requests (RFC 9110, section 14). */
import { ApiError } from '../errors.ts'

/** From one byte to another or to the end, or the last so many. */
const ONE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/**
 * The one range of bytes that a request asks for; undefined if the whole is to be sent: without `Range`, with one
 * that is malformed or has several ranges, or if `If-Range` names another version.
 * @throws {ApiError} 416 if no byte of it exists.
 */
export function rangeOf(
  range: string | undefined,
  ifRange: string | undefined,
  entityTag: string,
  sizeBytes: number,
): { offset: number; length: number } | undefined {
  if (range === undefined || (ifRange !== undefined && ifRange !== entityTag)) return undefined
  const match = ONE_RANGE.exec(range)
  if (!match) return undefined
  const [, first, last, suffix] = match
  if (first && last && Number(last) < Number(first)) return undefined
  const start = first === undefined ? Math.max(sizeBytes - Number(suffix), 0) : Number(first)
  const end = Math.min(last ? Number(last) : sizeBytes - 1, sizeBytes - 1)
  if (start <= end) return { offset: start, length: end - start + 1 }
  throw new ApiError(416, `Range: the content has ${sizeBytes} bytes`, {
    'Content-Range': `bytes */${sizeBytes}`,
  })
}

/** The value of `Content-Range`. */
export function contentRange(
  { offset, length }: { offset: number; length: number },
  sizeBytes: number,
): string {
  return `bytes ${offset}-${offset + length - 1}/${sizeBytes}`
}
