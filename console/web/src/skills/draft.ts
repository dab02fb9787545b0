/** A version that somebody writes. */
import { areEqual, changesOf, mergeFiles } from './changes.ts'
import type { SkillFile, VersionSummary } from './data.ts'

export interface DraftFile extends SkillFile {
  /** It stays when the file gets another name. */
  readonly id: string
  /** What another person made of the file, or what you did: the one of the two that the draft does not have now. */
  readonly other?: Side
}

/** What one of two people made of a file. */
interface Side extends Pick<SkillFile, 'content' | 'encoding' | 'executable'> {
  readonly isYours: boolean
}

export interface Draft {
  /** The files of the version that it begins from. */
  readonly base: readonly SkillFile[]
  readonly files: readonly DraftFile[]
}

const toDraftFile = (file: SkillFile): DraftFile => ({ ...file, id: crypto.randomUUID() })

export function draftOf(files: readonly SkillFile[]): Draft {
  return { base: files, files: files.map(toDraftFile) }
}

export const changesOfDraft = ({ base, files }: Draft) => changesOf(base, files)

export function withFile(draft: Draft, id: string, changed: Partial<SkillFile>): Draft {
  return { ...draft, files: draft.files.map((file) => (file.id === id ? { ...file, ...changed } : file)) }
}

export function withoutFile(draft: Draft, id: string): Draft {
  return { ...draft, files: draft.files.filter((file) => file.id !== id) }
}

export function withNewFile(draft: Draft, file: SkillFile): { readonly draft: Draft; readonly id: string } {
  const added = toDraftFile(file)
  return { draft: { ...draft, files: [...draft.files, added] }, id: added.id }
}

/** Takes the other side of a conflict. What the draft had becomes the other side. */
export function withOtherSide(draft: Draft, id: string): Draft {
  const swapped = draft.files.map((file) => {
    if (file.id !== id || !file.other) return file
    const { isYours, ...content } = file.other
    return { ...file, ...content, other: sideOf(file, !isYours) }
  })
  return { ...draft, files: swapped }
}

function sideOf({ content, encoding, executable }: SkillFile, isYours: boolean): Side {
  return { content, encoding, executable, isYours }
}

export interface Merge {
  readonly draft: Draft
  /** The files that both changed. */
  readonly conflicts: readonly string[]
}

/** Somebody else made a version while this one was written. */
export interface Meanwhile {
  readonly version: VersionSummary
  /** The files that both changed. */
  readonly conflicts: readonly string[]
}

/** Begins from the version that somebody else made, with the changes of the draft. Nothing that was typed is lost. */
export function rebase(draft: Draft, theirs: readonly SkillFile[]): Merge {
  const { files, conflicts } = mergeFiles(draft.base, draft.files, theirs)
  const merged = files.map((file): DraftFile => {
    const { other, ...known } = draft.files.find(({ filename }) => filename === file.filename) ?? toDraftFile(file)
    const conflict = conflicts.find(({ filename }) => filename === file.filename)
    if (conflict?.theirs && conflict.yours) return { ...known, other: sideOf(conflict.theirs, false) }
    // The other side of an earlier conflict stays until the draft is saved.
    return { ...known, ...file, ...(other && { other }) }
  })
  return { draft: { base: theirs, files: merged }, conflicts: conflicts.map(({ filename }) => filename) }
}

export const isChanged = ({ base }: Draft, file: DraftFile) =>
  !areEqual(
    base.find(({ filename }) => filename === file.filename),
    file,
  )

/** Why a file cannot have this name, as far as the draft tells; the service checks the rest. */
export function problemOfName({ files }: Draft, filename: string, id?: string): string | undefined {
  if (filename === '') return 'Enter a path.'
  const isTaken = files.some((file) => file.id !== id && file.filename.toLowerCase() === filename.toLowerCase())
  return isTaken ? 'Another file has this path.' : undefined
}

/** Errors of the service name files by their place. */
export function withFilenames(message: string, { files }: Draft): string {
  return message.replaceAll(/\bfiles\.(\d+)/g, (place, index) => files[index]?.filename ?? place)
}
