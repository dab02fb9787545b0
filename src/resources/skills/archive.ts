/**
 * The archive of a skill: a `.tar.gz` whose tar is the same for the same files. It is plain ustar (POSIX.1-1988),
 * because installers do not read extended headers.
 */
import { packTar } from 'modern-tar'
import { fitsUstar } from './archived-filename.ts'

export interface ArchivedFile {
  readonly filename: string
  readonly bytes: Uint8Array
  readonly isExecutable: boolean
}

/** @throws {RangeError} if ustar cannot hold a filename. */
export async function createArchive(files: readonly ArchivedFile[]): Promise<Uint8Array<ArrayBuffer>> {
  const tar = await packTar(
    sorted(files).map(({ filename, bytes, isExecutable }) => {
      // The library would write an extended header.
      if (!fitsUstar(filename)) throw new RangeError(`ustar can't hold the filename ${filename}`)
      const mode = isExecutable ? 0o755 : 0o644
      return { header: { name: filename, size: bytes.byteLength, mode, mtime: new Date(0) }, body: bytes }
    }),
  )
  const compressed = new Blob([tar as Uint8Array<ArrayBuffer>]).stream().pipeThrough(new CompressionStream('gzip'))
  return new Uint8Array(await new Response(compressed).arrayBuffer())
}

/** By the UTF-8 bytes of the filenames, as SQLite sorts text. */
function sorted(files: readonly ArchivedFile[]): ArchivedFile[] {
  return files
    .map((file) => ({ file, key: Buffer.from(file.filename) }))
    .sort((a, b) => Buffer.compare(a.key, b.key))
    .map(({ file }) => file)
}
