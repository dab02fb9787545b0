/** Range requests (RFC 9110, section 14). */
import { ApiError, failure } from '../errors.ts'
import { describeProblem, describeSent } from './problems.ts'

/** `bytes=0-9`, `bytes=10-` or, for the last ten bytes, `bytes=-10`. */
const ONE_RANGE = /^bytes=(?:(\d+)-(\d*)|-(\d+))$/i

/**
 * The range of bytes to send; undefined to send the whole content: without `Range`, if it is malformed or has several
 * ranges, or if `If-Range` names another version.
 * @throws {ApiError} 416 if the content has no byte of the range.
 */
export function parseRange(
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
  const problem = {
    wrong: 'is outside the content',
    sent: describeSent(range),
    allowed: `a range within its ${sizeBytes} bytes`,
  }
  throw new ApiError(failure('range_not_satisfiable', describeProblem('Range', problem)), {
    'Content-Range': `bytes */${sizeBytes}`,
  })
}

/** The value of `Content-Range`. */
export function contentRange({ offset, length }: { offset: number; length: number }, sizeBytes: number): string {
  return `bytes ${offset}-${offset + length - 1}/${sizeBytes}`
}
