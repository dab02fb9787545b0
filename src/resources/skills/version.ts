/** A new version of a skill, made from the files of a request. */
import { isUtf8 } from 'node:buffer'
import { v5 as nameBasedUuid } from 'uuid'
import { type Encoding, type ReadContent, readContent, type SentContent } from './content.ts'
import { ENTRY_FILE } from './contract.ts'
import type { FrontMatter, FrontMatterProblem } from './front-matter.ts'

export interface NewFile extends SentContent {
  readonly filename: string
  readonly executable?: boolean | undefined
}

export interface ReadFile extends ReadContent {
  readonly filename: string
  readonly isExecutable: boolean
}

/** A file in the column `files` of a version. Its content is in `skillContents`. */
export interface StoredFile {
  readonly id: string
  readonly filename: string
  /** The hash of the bytes, in lower-case hexadecimal. */
  readonly sha256: string
  readonly sizeBytes: number
  /** How the content is stored. */
  readonly encoding: Encoding
  readonly executable: boolean
}

/** What SKILL.md says of the skill, or what is wrong with it. The YAML parser is loaded on first use. */
export async function describedBy(files: readonly NewFile[]): Promise<FrontMatter | FrontMatterProblem> {
  const { readFrontMatter } = await import('./front-matter.ts')
  const { content = '', encoding = 'utf-8' } = files.find(({ filename }) => filename === ENTRY_FILE) ?? {}
  if (encoding === 'utf-8') return readFrontMatter(content)
  const bytes = Buffer.from(content, encoding)
  return isUtf8(bytes) ? readFrontMatter(bytes.toString()) : problemOfBytes(bytes)
}

function problemOfBytes(bytes: Buffer): FrontMatterProblem {
  const lines = bytes.toString('latin1').split('\n')
  const line = lines.findIndex((each) => !isUtf8(Buffer.from(each, 'latin1'))) + 1
  return { line, message: `${ENTRY_FILE}, line ${line}: text is not UTF-8; allowed: a text file in UTF-8.` }
}

/** The files in the order of a version: by the UTF-8 bytes of their names. */
export async function readFiles(files: readonly NewFile[]): Promise<ReadFile[]> {
  const read = await Promise.all(
    files.map(async ({ filename, executable = false, ...sent }) => ({
      filename,
      isExecutable: executable,
      ...(await readContent(sent)),
    })),
  )
  return read.sort((a, b) => Buffer.compare(Buffer.from(a.filename), Buffer.from(b.filename)))
}

/**
 * The column `files` of a version: the same text for the same files. The ID of a file is derived, so a file whose
 * filename stays the same keeps its ID.
 */
export function storedFiles(skillId: string, files: readonly ReadFile[]): string {
  const stored: StoredFile[] = files.map(({ filename, sha256, bytes, encoding, isExecutable }) => ({
    id: nameBasedUuid(`${skillId}/${filename}`, nameBasedUuid.URL),
    filename,
    sha256,
    sizeBytes: bytes.byteLength,
    encoding,
    executable: isExecutable,
  }))
  return JSON.stringify(stored)
}

/** Equal contents once. */
export function toContents(files: readonly ReadFile[]) {
  return [...new Map(files.map(({ sha256, content }) => [sha256, { sha256, content }])).values()]
}
