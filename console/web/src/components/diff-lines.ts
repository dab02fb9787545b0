/** Two texts as the lines of one: what stays, what was removed and what was added. */

import { Chunk, presentableDiff } from '@codemirror/merge'
import { Text } from '@codemirror/state'
import { visible } from '../visible.ts'

export interface DiffLine {
  readonly kind: 'same' | 'removed' | 'added' | 'hidden'
  /** What people see. For hidden lines, how many there are. */
  readonly text: string
  /** The characters that differ from the line in its place. */
  readonly marks?: readonly Range[]
}

type Range = readonly [from: number, to: number]

/** Two texts that have nothing in common are not compared to the last character. */
const LINES_CONFIG = { scanLimit: 1000, timeout: 300 }
const MARKS_CONFIG = { scanLimit: 500, timeout: 20 }
const MAX_MARKED_LENGTH = 10_000

/** How many unchanged lines are shown around changed ones. */
const CONTEXT = 3

/** @param hidesUnchanged whether unchanged lines far from a change are counted only. */
export function diffLines(before: string, after: string, hidesUnchanged: boolean): DiffLine[] {
  // The lines are compared as they are: two characters that look the same can differ.
  const [a, b] = withoutLastBreak(before, after).map((text) => Text.of(text.split('\n'))) as [Text, Text]
  const lines: DiffLine[] = []
  const addUnchanged = (from: number, to: number, isLast: boolean) => {
    const start = from === 1 ? 0 : CONTEXT
    const hidden = to - from - start - (isLast ? 0 : CONTEXT)
    const add = (first: number, end: number) => {
      for (const text of textsOf(b, first, end)) lines.push({ kind: 'same', text })
    }
    if (!hidesUnchanged || hidden <= 1) return add(from, to)
    add(from, from + start)
    lines.push({ kind: 'hidden', text: `${hidden.toLocaleString('en')} unchanged lines` })
    add(from + start + hidden, to)
  }
  let next = 1
  for (const { fromA, toA, fromB, toB } of Chunk.build(a, b, LINES_CONFIG)) {
    const start = lineAt(b, fromB)
    addUnchanged(next, start, false)
    next = lineAt(b, toB)
    const removed = textsOf(a, lineAt(a, fromA), lineAt(a, toA))
    // One by one: there may be more of them than a call has arguments.
    for (const line of changedLines(removed, textsOf(b, start, next))) lines.push(line)
  }
  addUnchanged(next, b.lines + 1, true)
  return lines
}

/** The line break at the end of both is no line of its own. */
function withoutLastBreak(...texts: string[]): string[] {
  return texts.every((text) => text.endsWith('\n')) ? texts.map((text) => text.slice(0, -1)) : texts
}

/** All lines of a file that only one side has. */
export function wholeLines(text: string, kind: 'removed' | 'added'): DiffLine[] {
  const [lines = ''] = withoutLastBreak(text)
  return lines.split('\n').map((line) => ({ kind, text: visible(line) }))
}

/** The number of the line that begins at a position; one more than there are at the end. */
function lineAt(text: Text, position: number): number {
  return position > text.length ? text.lines + 1 : text.lineAt(position).number
}

function textsOf(text: Text, first: number, end: number): string[] {
  return Array.from({ length: end - first }, (_, index) => visible(text.line(first + index).text))
}

function changedLines(removed: readonly string[], added: readonly string[]): DiffLine[] {
  const [before, after] = [removed.join('\n'), added.join('\n')]
  const isMarked = before !== '' && after !== '' && before.length + after.length <= MAX_MARKED_LENGTH
  const changes = isMarked ? presentableDiff(before, after, MARKS_CONFIG) : []
  const marksBefore = changes.map(({ fromA, toA }) => [fromA, toA] as const)
  const marksAfter = changes.map(({ fromB, toB }) => [fromB, toB] as const)
  return [...withMarks('removed', removed, marksBefore), ...withMarks('added', added, marksAfter)]
}

function withMarks(kind: 'removed' | 'added', texts: readonly string[], ranges: readonly Range[]): DiffLine[] {
  let start = 0
  return texts.map((text) => {
    const [begin, end] = [start, start + text.length]
    start = end + 1
    const marks = ranges.flatMap(([from, to]) => {
      const range = [Math.max(from, begin) - begin, Math.min(to, end) - begin] as const
      return range[0] < range[1] ? [range] : []
    })
    return { kind, text, marks }
  })
}
