/** Which filenames an archive can hold. Apart from archive.ts, whose library only a change of a skill needs. */
import type { Problem } from '../../errors.ts'

const MAX_NAME_BYTES = 100
const MAX_PREFIX_BYTES = 155

export function problemOfArchivedFilename(filename: string): Problem | undefined {
  if (fitsUstar(filename)) return undefined
  return {
    wrong: 'is too long for an archive',
    sent: `${Buffer.byteLength(filename)} bytes in UTF-8`,
    allowed: `up to ${MAX_NAME_BYTES} bytes in UTF-8, or a folder of up to ${MAX_PREFIX_BYTES} bytes, "/" and up to ${MAX_NAME_BYTES} bytes`,
  }
}

/** True if the filename fits the field `name`, or the fields `prefix` and `name` without the "/" between them. */
export function fitsUstar(filename: string): boolean {
  const bytes = Buffer.from(filename)
  if (bytes.length <= MAX_NAME_BYTES) return true
  const slash = bytes.subarray(0, MAX_PREFIX_BYTES + 1).lastIndexOf('/')
  return slash > 0 && bytes.length - slash - 1 <= MAX_NAME_BYTES
}
