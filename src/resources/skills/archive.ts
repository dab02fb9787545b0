/**
 * The archive of a skill: a `.tar.gz` whose tar is the same for the same files. It is plain ustar (POSIX.1-1988), because
 * installers do not read extended headers.
 */
import { packTar } from 'modern-tar'
import type { Problem } from '../../errors.ts'

export interface ArchivedFile {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

const MAX_NAME_BYTES = 100
const MAX_PREFIX_BYTES = 155

/** @throws {RangeError} if ustar can't hold a filename. */
export async function archiveOf(files: readonly ArchivedFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const tar = await packTar(
    sorted(files).map(({ filename, bytes, isExecutable }) => {
      // The library would write an extended header.
      if (!fitsUstar(filename)) throw new RangeError(`ustar can't hold the filename ${filename}`)
      const mode = isExecutable ? 0o755 : 0o644
      return { header: { name: filename, size: bytes.byteLength, mode, mtime: new Date(0) }, body: bytes }
    }),
  )
  const compressed = new Blob([tar as Uint8Array<ArrayBuffer>])
    .stream()
    .pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}

/** By the UTF-8 bytes of the filenames, as SQLite sorts text. */
function sorted(files: readonly ArchivedFile[]): ArchivedFile[] {
  return files
    .map((file) => ({ file, key: Buffer.from(file.filename) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ file }) => file)
}

export function problemOfArchivedFilename(filename: string): Problem | undefined {
  if (fitsUstar(filename)) return undefined
  return {
    wrong: 'is too long for an archive',
    sent: `${Buffer.byteLength(filename)} bytes in UTF-8`,
    allowed: `up to ${MAX_NAME_BYTES} bytes in UTF-8, or a folder of up to ${MAX_PREFIX_BYTES} bytes, "/" and up to ${MAX_NAME_BYTES} bytes`,
  }
}

/** True if the filename fits the field `name`, or the fields `prefix` and `name` without the "/" between them. */
function fitsUstar(filename: string): boolean {
  const bytes = Buffer.from(filename)
  if (bytes.length <= MAX_NAME_BYTES) return true
  const slash = bytes.subarray(0, MAX_PREFIX_BYTES + 1).lastIndexOf('/')
  return slash > 0 && bytes.length - slash - 1 <= MAX_NAME_BYTES
}
