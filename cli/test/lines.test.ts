import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { diffTexts, mergeTexts } from '../src/skills/lines.ts'

const LABELS = { ours: 'yours', theirs: 'version 2 by Ada' }
/** Some lines are there several times, and the last one may have no line break. */
const text = fc
  .tuple(fc.array(fc.constantFrom('', 'a', 'b', 'c', '1', '2', '3', '4', '5', '6'), { maxLength: 20 }), fc.boolean())
  .map(([lines, hasBreak]) => lines.join('\n') + (hasBreak && lines.length > 0 ? '\n' : ''))

/** What one side adds and removes: in the place of each line, others. */
const edits = (name: string) =>
  fc.array(fc.tuple(fc.nat(20), fc.nat(2), fc.nat(2)), { maxLength: 4 }).map(
    (changes) => (before: string) =>
      changes
        .reduce((lines, [at, removed, added], index) => {
          const news = Array.from({ length: added }, (_, line) => `${name} ${index}.${line}`)
          return lines.toSpliced(Math.min(at, lines.length), removed, ...news)
        }, before.split('\n'))
        .join('\n'),
  )

/** Applies a unified diff. */
function patched(from: string, diff: string): string {
  const source = from === '' ? [] : from.split(/(?<=\n)/)
  const target: string[] = []
  let next = 0
  const lines = diff === '' ? [] : diff.split(/(?<=\n)/)
  for (const [index, line] of lines.entries()) {
    const [, start, count] = /^@@ -(\d+)(?:,(\d+))? \+\d+(?:,\d+)? @@\n$/.exec(line) ?? []
    if (start !== undefined) {
      const first = Number(start) - (count === '0' ? 0 : 1)
      target.push(...source.slice(next, first))
      next = first
      continue
    }
    if (line.startsWith('\\')) continue
    const content = lines[index + 1]?.startsWith('\\') ? line.slice(1, -1) : line.slice(1)
    // Faster than `expect`.
    if (line[0] !== '+' && source[next++] !== content) throw new Error(`${line} is not line ${next}`)
    if (line[0] !== '-') target.push(content)
  }
  return [...target, ...source.slice(next)].join('')
}

it('a diff has all changes and nothing else', () => {
  fc.assert(
    fc.property(text, text, (from, to) => {
      const diff = diffTexts(from, to)
      expect(patched(from, diff)).toBe(to)
      expect(diff === '').toBe(from === to)
    }),
  )
  expect(diffTexts('1\n2\n3\n4\n5\n', '1\n2\n3\n4\nfive')).toBe(
    '@@ -2,4 +2,4 @@\n 2\n 3\n 4\n-5\n+five\n\\ No newline at end of file\n',
  )
})

it('a merge takes the side that changed, and what both changed alike', () => {
  fc.assert(
    fc.property(text, text, (base, changed) => {
      const merged = { text: changed, isConflict: false }
      expect(mergeTexts(base, changed, base, LABELS)).toEqual(merged)
      expect(mergeTexts(base, base, changed, LABELS)).toEqual(merged)
      expect(mergeTexts(base, changed, changed, LABELS)).toEqual(merged)
    }),
  )
})

it('a merge has each line that a side added, and has markers for both or neither', () => {
  fc.assert(
    fc.property(text, edits('ours'), edits('theirs'), (base, editOurs, editTheirs) => {
      const [ours, theirs] = [editOurs(base), editTheirs(base)]
      const merged = mergeTexts(base, ours, theirs, LABELS)
      const lines = merged.text.split('\n')
      for (const line of [...ours.split('\n'), ...theirs.split('\n')]) {
        if (/^(ours|theirs) /.test(line)) expect(lines).toContain(line)
      }
      const marks = ['<<<<<<< yours', '=======', '>>>>>>> version 2 by Ada']
      const count = (mark: string) => lines.filter((line) => line === mark).length
      expect(new Set(marks.map(count)).size).toBe(1)
      expect(count('=======') > 0).toBe(merged.isConflict)
    }),
    { numRuns: 1000 },
  )
})

it('a merge of changes that do not touch has no conflict', () => {
  const base = ['1', '2', '3', '4', '5', ''].join('\n')
  const merge = (ours: string[], theirs: string[]) => mergeTexts(base, ours.join('\n'), theirs.join('\n'), LABELS)
  expect(merge(['one', '2', '3', '4', '5', ''], ['1', '2', '4', '5', 'six', ''])).toEqual({
    text: 'one\n2\n4\n5\nsix\n',
    isConflict: false,
  })
  expect(merge(['1', '2', 'ours', '4', '5', ''], ['1', '2', 'theirs', '4', '5', ''])).toEqual({
    text: '1\n2\n<<<<<<< yours\nours\n=======\ntheirs\n>>>>>>> version 2 by Ada\n4\n5\n',
    isConflict: true,
  })
})

it('texts of 1 MiB of which all lines differ, or are the same, are compared', () => {
  const lines = (of: (index: number) => unknown) =>
    Array.from({ length: 20_000 }, (_, index) => `${of(index)}`.padStart(52)).join('\n')
  const same = lines(() => 'x')
  const different = lines((index) => index)
  for (const other of [same, different, lines((index) => index % 7), lines((index) => 20_000 - index)]) {
    expect(mergeTexts(different, other, different, LABELS).text).toBe(other)
    expect(patched(same, diffTexts(same, other))).toBe(other)
  }
})
