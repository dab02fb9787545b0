/** Compares and merges texts, line by line. */
import { isUtf8 } from 'node:buffer'

export interface Labels {
  readonly ours: string
  readonly theirs: string
}

export interface Merged {
  readonly text: string
  /** True if the text has conflict markers. */
  readonly isConflict: boolean
}

/** Lines of the text before and after a change. */
const CONTEXT = 3
/** The most cells of the table of the longest common subsequence, so that time and memory stay bounded. */
const MAX_CELLS = 2 ** 20

/** Only texts have lines. */
export function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

/** Each line with its line break, which the last one may lack. */
function toLines(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/)
}

/**
 * Merges both changes of a text (diff3). What changed on one side only is taken, and so is what is the same on both.
 * Otherwise both sides stay, between conflict markers.
 */
export function mergeTexts(base: string, ours: string, theirs: string, labels: Labels): Merged {
  const [baseLines, ourLines, theirLines] = [base, ours, theirs].map(toLines) as [string[], string[], string[]]
  const inOurs = matchLines(baseLines, ourLines)
  const inTheirs = matchLines(baseLines, theirLines)
  const merged: string[] = []
  let isConflict = false
  for (let [at, ourAt, theirAt] = [0, 0, 0]; ; ) {
    let end = at
    while (end < baseLines.length && (inOurs[end] === NONE || inTheirs[end] === NONE)) end++
    const kept = baseLines[end]
    const ourEnd = inOurs[end] ?? ourLines.length
    const theirEnd = inTheirs[end] ?? theirLines.length
    const before = baseLines.slice(at, end).join('')
    const ourChange = ourLines.slice(ourAt, ourEnd)
    const theirChange = theirLines.slice(theirAt, theirEnd)
    const [ourText, theirText] = [ourChange.join(''), theirChange.join('')]
    if (theirText === before || ourText === theirText) merged.push(ourText)
    else if (ourText === before) merged.push(theirText)
    else {
      merged.push(conflict(ourChange, theirChange, labels))
      isConflict = true
    }
    if (kept === undefined) return { text: merged.join(''), isConflict }
    merged.push(kept)
    ;[at, ourAt, theirAt] = [end + 1, ourEnd + 1, theirEnd + 1]
  }
}

/** Lines that are the same at the beginning or the end of both sides stay outside of the markers. */
function conflict(ours: readonly string[], theirs: readonly string[], labels: Labels): string {
  const shorter = Math.min(ours.length, theirs.length)
  let start = 0
  while (start < shorter && ours[start] === theirs[start]) start++
  let end = 0
  while (end < shorter - start && ours.at(-1 - end) === theirs.at(-1 - end)) end++
  const side = (lines: readonly string[]) =>
    lines
      .slice(start, lines.length - end)
      .join('')
      .replace(/[^\n]$/, '$&\n')
  return [
    ...ours.slice(0, start),
    `<<<<<<< ${labels.ours}\n`,
    side(ours),
    '=======\n',
    side(theirs),
    `>>>>>>> ${labels.theirs}\n`,
    ...ours.slice(ours.length - end),
  ].join('')
}

/** @returns the hunks of a unified diff; empty if the texts are the same. */
export function diffTexts(from: string, to: string): string {
  const [before, after] = [toLines(from), toLines(to)]
  const inAfter = matchLines(before, after)
  /** The lines with their signs, and where they are. */
  const lines: { sign: ' ' | '-' | '+'; line: string; from: number; to: number }[] = []
  let next = 0
  for (const [index, line] of before.entries()) {
    const match = inAfter[index] as number
    for (; next < match; next++) lines.push({ sign: '+', line: after[next] as string, from: index, to: next })
    if (match === NONE) lines.push({ sign: '-', line, from: index, to: next })
    else lines.push({ sign: ' ', line, from: index, to: next++ })
  }
  for (; next < after.length; next++) {
    lines.push({ sign: '+', line: after[next] as string, from: before.length, to: next })
  }
  const hunks: string[] = []
  for (let at = 0, first = 0; first < lines.length; first++) {
    if (lines[first]?.sign === ' ') continue
    let last = first
    for (let index = first; index <= last + 2 * CONTEXT + 1; index++) {
      if (lines[index] && lines[index]?.sign !== ' ') last = index
    }
    const hunk = lines.slice(Math.max(at, first - CONTEXT), last + CONTEXT + 1)
    at = last + CONTEXT + 1
    first = last
    const rangeOf = (side: 'from' | 'to', sign: string) => {
      const count = hunk.filter((each) => each.sign !== sign).length
      const start = hunk[0]?.[side] ?? 0
      // The line before, if there is no line of this side.
      return `${count === 0 ? start : start + 1}${count === 1 ? '' : `,${count}`}`
    }
    hunks.push(`@@ -${rangeOf('from', '+')} +${rangeOf('to', '-')} @@\n`)
    for (const { sign, line } of hunk) {
      hunks.push(sign, line, line.endsWith('\n') ? '' : '\n\\ No newline at end of file\n')
    }
  }
  return hunks.join('')
}

const NONE = -1

/**
 * Pairs equal lines of two texts, in order (patience diff): those at both ends, those that each text has once, and
 * between these the longest common subsequence if it is small enough to be found.
 * @returns for each line of `a` its index in `b`, or `NONE`.
 */
function matchLines(a: readonly string[], b: readonly string[]): number[] {
  const matches: number[] = a.map(() => NONE)
  const ranges = [[0, a.length, 0, b.length]]
  for (let range = ranges.pop(); range !== undefined; range = ranges.pop()) {
    let [start, end, bStart, bEnd] = range as [number, number, number, number]
    while (start < end && bStart < bEnd && a[start] === b[bStart]) matches[start++] = bStart++
    while (start < end && bStart < bEnd && a[end - 1] === b[bEnd - 1]) matches[--end] = --bEnd
    if (start === end || bStart === bEnd) continue
    const anchors = uniqueLines(a, start, end, b, bStart, bEnd)
    if (anchors.length === 0) matchSubsequence(matches, a.slice(start, end), start, b.slice(bStart, bEnd), bStart)
    for (const [index, match] of anchors) {
      ranges.push([start, index, bStart, match])
      matches[index] = match
      ;[start, bStart] = [index + 1, match + 1]
    }
    if (anchors.length > 0) ranges.push([start, end, bStart, bEnd])
  }
  return matches
}

/** @returns the pairs of lines that both ranges have once: as many as are in the same order. */
function uniqueLines(
  a: readonly string[],
  start: number,
  end: number,
  b: readonly string[],
  bStart: number,
  bEnd: number,
): [index: number, match: number][] {
  const inA = onceIn(a, start, end)
  const inB = onceIn(b, bStart, bEnd)
  // The longest increasing subsequence: the smallest last pair for each length, and the pair before each pair.
  const lasts: Pair[] = []
  for (const [line, index] of inA) {
    const match = inB.get(line)
    if (index === NONE || match === undefined || match === NONE) continue
    let [low, high] = [0, lasts.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((lasts[middle] as Pair).match < match) low = middle + 1
      else high = middle
    }
    lasts[low] = { index, match, previous: lasts[low - 1] }
  }
  const pairs: [number, number][] = []
  for (let pair = lasts.at(-1); pair; pair = pair.previous) pairs.push([pair.index, pair.match])
  return pairs.reverse()
}

interface Pair {
  readonly index: number
  readonly match: number
  readonly previous: Pair | undefined
}

/** @returns where each line is; `NONE` if the range has it several times. */
function onceIn(lines: readonly string[], start: number, end: number): Map<string, number> {
  const indexes = new Map<string, number>()
  for (let index = start; index < end; index++) {
    const line = lines[index] as string
    indexes.set(line, indexes.has(line) ? NONE : index)
  }
  return indexes
}

function matchSubsequence(
  matches: number[],
  a: readonly string[],
  aOffset: number,
  b: readonly string[],
  bOffset: number,
): void {
  const width = b.length + 1
  if (a.length * b.length > MAX_CELLS) return
  /** The length of the longest common subsequence of the lines from each pair on. */
  const lengths = new Uint32Array((a.length + 1) * width)
  const at = (i: number, j: number) => lengths[i * width + j] as number
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      lengths[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  for (let [i, j] = [0, 0]; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) matches[aOffset + i++] = bOffset + j++
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
}
