/** What differs between the files of two versions, and how changes of two people come together. */
import type { SkillFile } from './data.ts'

export interface FileChange {
  readonly filename: string
  /** Undefined: it was added. */
  readonly before: SkillFile | undefined
  /** Undefined: it was removed. */
  readonly after: SkillFile | undefined
}

export function changesOf(before: readonly SkillFile[], after: readonly SkillFile[]): FileChange[] {
  const old = byName(before)
  const now = byName(after)
  return Array.from(new Set([...old.keys(), ...now.keys()]))
    .sort()
    .map((filename) => ({ filename, before: old.get(filename), after: now.get(filename) }))
    .filter((change) => !areEqual(change.before, change.after))
}

/** In a word. */
export function wordOf({ before, after }: FileChange): 'added' | 'removed' | 'changed' {
  if (before === undefined) return 'added'
  return after === undefined ? 'removed' : 'changed'
}

/** Such as "1 file added, 2 changed". */
export function summaryOf(changes: readonly FileChange[]): string {
  const counts = Map.groupBy(changes, wordOf)
  const parts = (['added', 'changed', 'removed'] as const).flatMap((word) => {
    const count = counts.get(word)?.length
    return count === undefined ? [] : [`${count} ${word}`]
  })
  const [first = 'No file changed', ...others] = parts
  return [first.replace(/^\d+/, (count) => `${count} ${count === '1' ? 'file' : 'files'}`), ...others].join(', ')
}

const byName = (files: readonly SkillFile[]) => new Map(files.map((file) => [file.filename, file]))

export function areEqual(a: SkillFile | undefined, b: SkillFile | undefined): boolean {
  if (a === undefined || b === undefined) return a === b
  return a.content === b.content && a.encoding === b.encoding && a.executable === b.executable
}

/** A file that two people changed in different ways. */
export interface Conflict {
  readonly filename: string
  readonly yours: SkillFile | undefined
  readonly theirs: SkillFile | undefined
}

/**
 * What one person changed, together with what others did: each file as the one who changed it has it.
 * @returns of files that both changed, yours; what only one of you has removed is kept.
 */
export function mergeFiles(
  base: readonly SkillFile[],
  yours: readonly SkillFile[],
  theirs: readonly SkillFile[],
): { readonly files: SkillFile[]; readonly conflicts: Conflict[] } {
  const merged = byName(theirs)
  const newer = byName(theirs)
  const old = byName(base)
  const conflicts: Conflict[] = []
  for (const { filename, after } of changesOf(base, yours)) {
    const other = newer.get(filename)
    const isConflict = !areEqual(other, old.get(filename)) && !areEqual(other, after)
    if (isConflict) conflicts.push({ filename, yours: after, theirs: other })
    if (after !== undefined) merged.set(filename, after)
    else if (!isConflict) merged.delete(filename)
  }
  return { files: Array.from(merged.values()), conflicts }
}
