/** What a pull does with files that were changed in the folder and in the version: it merges them, and loses nothing. */
import { readFile } from '../local-files.ts'
import { computeFingerprint, computeSha256, type Entry, type Fingerprint, isExecutable, sha256Of } from './folder.ts'
import { isText, type Labels, mergeTexts } from './lines.ts'
import type { VersionFile } from './versions.ts'

/** A file to write or to remove. */
export interface Change {
  readonly filename: string
  /** What is there now. */
  readonly entry: Entry | undefined
  readonly found: Fingerprint | undefined
  /** Undefined if the version does not have the file. */
  readonly wanted: Fingerprint | undefined
}

/** A file that was changed in the folder, and is different in the version. */
export interface Conflict extends Change {
  /** What both have changed; undefined if both have added the file. */
  readonly base: Fingerprint | undefined
}

/** A file to write with another content than the version has. */
export interface MergedChange extends Conflict {
  readonly content: { readonly bytes: Buffer; readonly executable: boolean }
}

/** The line for a file. */
export interface Note {
  readonly outcome: 'merged' | 'conflict' | 'restored' | 'kept'
  readonly filename: string
  readonly detail: string
}

export interface Resolution {
  readonly changes: readonly (Change | MergedChange)[]
  readonly note: Note
}

/** The version that is pulled. */
export interface Theirs {
  readonly version: number
  /** It, and who made it. */
  readonly label: string
  readonly files: ReadonlyMap<string, VersionFile>
}

const YOURS = 'yours'
/** The lines of a conflict in a text, and the file beside one that is not text. */
const MARKER = new RegExp(`^(?:<<<<<<< ${YOURS}|>>>>>>> version \\d+ by .*)\\r?$`, 'm')
const OTHER_SIDE = /\.theirs-version-\d+$/

/** @returns what is left of a conflict in a file. */
export function findConflict(filename: string, bytes: Buffer): string | undefined {
  if (OTHER_SIDE.test(filename)) {
    return `${filename} is the other side of a conflict; rename the one that is right, and delete the other`
  }
  const text = bytes.toString()
  const index = text.search(MARKER)
  if (index < 0) return undefined
  const line = text.slice(0, index).split('\n').length
  return `${filename}, line ${line}: a conflict; keep what is right, and delete the lines that begin with <<<<<<<, ======= and >>>>>>>`
}

/**
 * @param base the content that both have changed; undefined if no version has it.
 * @param entryAt what is in the folder.
 * @throws if the file cannot be merged.
 */
export function resolveConflict(
  conflict: Conflict,
  base: Buffer | undefined,
  theirs: Theirs,
  entryAt: (filename: string) => Entry | undefined,
): Resolution {
  const { filename, entry, found, wanted } = conflict
  const both = `changed here and in ${theirs.label}`
  if (found === undefined) {
    const detail = `deleted here, and changed in ${theirs.label}`
    return { changes: [conflict], note: { outcome: 'restored', filename, detail } }
  }
  if (entry?.kind !== 'file') throw new Error(`${filename} is a ${entry?.kind} here; --force overwrites it`)
  const file = theirs.files.get(filename)
  if (wanted === undefined || !file) {
    const detail = `changed here, and deleted in ${theirs.label}`
    return { changes: [], note: { outcome: 'kept', filename, detail } }
  }
  const ours = readFile(entry.path)
  const other = Buffer.from(file.content, file.encoding)
  const executable = mergeExecutable(conflict, isExecutable(found), isExecutable(wanted))
  const withBytes = (bytes: Buffer): MergedChange => ({
    ...conflict,
    wanted: computeFingerprint({ sha256: computeSha256(bytes), executable }),
    content: { bytes, executable },
  })
  const oneSide = onlyChange(conflict, ours, other)
  if (oneSide) return { changes: [withBytes(oneSide)], note: { outcome: 'merged', filename, detail: both } }
  if (isText(ours) && isText(other)) {
    const left = findConflict(filename, ours)
    if (left !== undefined) throw new Error(left)
    const labels: Labels = { ours: YOURS, theirs: theirs.label }
    const merged = mergeTexts(String(base ?? ''), String(ours), String(other), labels)
    const detail = merged.isConflict ? `${both}; see the lines between <<<<<<< and >>>>>>>` : both
    return {
      changes: [withBytes(Buffer.from(merged.text))],
      note: { outcome: merged.isConflict ? 'conflict' : 'merged', filename, detail },
    }
  }
  const otherSide = `${filename}.theirs-version-${theirs.version}`
  const there = entryAt(otherSide)
  // An interrupted pull may have written it.
  const isWritten = there?.kind === 'file' && readFile(there.path).equals(other)
  if (there && !isWritten) throw new Error(`${there.path} is in the way of a file; move it away`)
  const content = { bytes: other, executable: isExecutable(wanted) }
  const added = { filename: otherSide, entry: there, found: undefined, wanted, base: undefined, content }
  const detail = `${both}, which is in ${otherSide}`
  return { changes: [added, withBytes(ours)], note: { outcome: 'conflict', filename, detail } }
}

/** Whether the side that changed it has it so. */
function mergeExecutable({ base }: Conflict, ours: boolean, theirs: boolean): boolean {
  return base !== undefined && isExecutable(base) === ours ? theirs : ours
}

/** @returns the content of the side that changed it, or the same change of both. */
function onlyChange({ base, found, wanted }: Conflict, ours: Buffer, theirs: Buffer): Buffer | undefined {
  const [before, here, there] = [base, found, wanted].map((each) => each && sha256Of(each))
  if (here === there || there === before) return ours
  return here === before ? theirs : undefined
}
