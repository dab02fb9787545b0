/** The folders of skills on this machine, and what was last pulled into them or pushed from them. */
import { createHash } from 'node:crypto'
import { type Dirent, existsSync, lstatSync, mkdirSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { readFile, readFolder, replaceFile } from '../local-files.ts'

/** Beside the skills of a folder: a record of the last pull or push of each skill, in a file with the folder's name. */
export const RECORDS = '.workspace-skills'
/** What is not part of a skill, in lower case: some file systems ignore the case. */
const IGNORED = ['.git', '.ds_store', RECORDS]

/** What one file has: the SHA-256 of its bytes, and whether it is executable. */
export type Fingerprint = string
const EXECUTABLE = ' executable'
/** By filename. */
export type Fingerprints = ReadonlyMap<string, Fingerprint>

/** What the last pull wrote into the folder of a skill, or the last push published from it. */
export interface SkillRecord {
  /** The same name has another ID on another service, in another organization, or after the skill was deleted. */
  readonly skillId: string
  /** The ETag of the skill then. Null if the version was not the current one. */
  readonly etag: string | null
  readonly files: Fingerprints
  /** What a pull began to write and did not finish. */
  readonly pending?: Fingerprints
  /** What this pull writes in the place of files that it merges. */
  readonly merged?: Fingerprints
}

/** A file or folder, or what else there may be, in the folder of a skill. */
export interface Entry {
  /** Relative to the folder. */
  readonly filename: string
  readonly path: string
  readonly kind: 'file' | 'folder' | 'symbolic link' | 'special file'
}

export function isIgnored(filename: string): boolean {
  return filename.split('/').some((segment) => IGNORED.includes(segment.toLowerCase()))
}

/** The SHA-256 that a fingerprint has. */
export function sha256Of(fingerprint: Fingerprint): string {
  return fingerprint.slice(0, 64)
}

export function isExecutable(fingerprint: Fingerprint): boolean {
  return fingerprint.endsWith(EXECUTABLE)
}

export function computeFingerprint(file: { readonly sha256: string; readonly executable: boolean }): Fingerprint {
  return `${file.sha256}${file.executable ? EXECUTABLE : ''}`
}

export function areEqual(some: Fingerprints, others: Fingerprints): boolean {
  return some.size === others.size && [...some].every(([name, value]) => others.get(name) === value)
}

/** A folder comes before what is in it. */
export function entriesBelow(folder: string, prefix = ''): Entry[] {
  return readFolder(folder).flatMap((entry) => {
    if (isIgnored(entry.name)) return []
    const path = join(folder, entry.name)
    const filename = prefix + entry.name
    const below = entry.isDirectory() ? entriesBelow(path, `${filename}/`) : []
    return [{ filename, path, kind: kindOf(entry) }, ...below]
  })
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'symbolic link' : 'special file'
}

export function computeSha256(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** What the owner may execute is executable, as for Git. */
export function readLocalFile(path: string) {
  const bytes = readFile(path)
  return { bytes, sha256: computeSha256(bytes), executable: (statSync(path).mode & 0o100) !== 0 }
}

/** @param folder of the skill. @returns undefined if no skill was pulled there or pushed from there. */
export function readRecord(folder: string): SkillRecord | undefined {
  const file = recordFile(folder)
  if (!existsSync(file)) return undefined
  try {
    const { skillId, etag, files, pending, merged = {} } = JSON.parse(readFileSync(file, 'utf8'))
    const mapOf = (object: object) => new Map<string, string>(Object.entries(object))
    return { skillId, etag, files: mapOf(files), ...(pending && { pending: mapOf(pending), merged: mapOf(merged) }) }
  } catch {
    throw new Error(`${file} is damaged; delete it, and pull again`)
  }
}

export async function writeRecord(folder: string, record: SkillRecord): Promise<void> {
  const file = recordFile(folder)
  mkdirSync(dirname(file), { recursive: true })
  const replacer = (_: string, value: unknown) => (value instanceof Map ? Object.fromEntries(value) : value)
  await replaceFile(file, `${JSON.stringify(record, replacer, 2)}\n`)
}

function recordFile(folder: string): string {
  const path = resolve(folder)
  return join(recordsIn(dirname(path)), `${basename(path)}.json`)
}

/** @param folder of the skills' folders. @returns the folder of their records, which may not exist. */
export function recordsIn(folder: string): string {
  const records = join(folder, RECORDS)
  if (lstatSync(records, { throwIfNoEntry: false })?.isSymbolicLink()) {
    throw new Error(`${records} is a symbolic link; allowed: a folder`)
  }
  return records
}
