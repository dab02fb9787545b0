import { describe, expect, it } from 'vitest'
import { readFrontMatter } from '../../../src/resources/skills/front-matter.ts'

const NAME = 'name: notes\n'
const DESCRIPTION = 'description: Writes notes.\n'
const skillOf = (yaml: string) => `---\n${yaml}---\n\n# Notes\n`
const notes = { name: 'notes', description: 'Writes notes.' }

describe('front matter', () => {
  it.each([
    ['plain', skillOf(NAME + DESCRIPTION)],
    ['after a byte order mark', `\ufeff${skillOf(NAME + DESCRIPTION)}`],
    ['with CRLF', skillOf(NAME + DESCRIPTION).replaceAll('\n', '\r\n')],
    ['at the end of the file', `---\n${NAME}${DESCRIPTION}---`],
    ['with white space after the last hyphens', `---\n${NAME}${DESCRIPTION}--- \t\n---\n`],
    ['with further keys', skillOf(`${NAME}license: MIT\nmetadata:\n  name: other\n${DESCRIPTION}`)],
    ['in JSON', skillOf('{"name": "notes", "description": "Writes notes."}\n')],
    ['with a folded description', skillOf(`${NAME}description: >\n  Writes\n  notes.\n\n`)],
    ['with an anchor and an alias', skillOf(`title: &a notes\nname: *a\n${DESCRIPTION}`)],
    ['with hyphens in a value', skillOf(`${NAME}${DESCRIPTION}text: |\n  ---\n  a\u2028---\n`)],
  ])('is read %s', (_, text) => {
    expect(readFrontMatter(text)).toEqual(notes)
  })

  it('counts the characters of a description as code points', () => {
    const description = '😀'.repeat(1024)
    expect(readFrontMatter(skillOf(`${NAME}description: ${description}\n`))).toEqual({
      name: 'notes',
      description,
    })
  })

  const SHAPE = 'allowed: a first line "---", YAML with name and description, and a line "---".'
  const YAML =
    'allowed: YAML 1.2 of up to 32 levels and 100 aliases. Put quotes around a value that contains ": " or " #".'
  const NAMES =
    'allowed: lower-case letters, digits and single hyphens, without a hyphen at either end, such as "release-notes".'
  const problems: readonly (readonly [what: string, text: string, line: number, sentence: string])[] = [
    ['no front matter', '# Notes\n', 1, `front matter is missing; got "# Notes"; ${SHAPE}`],
    ['an empty file', '', 1, `front matter is missing; got ""; ${SHAPE}`],
    ['a secret on the first line', 'wsk_a\n', 1, `front matter is missing; got a string; ${SHAPE}`],
    // The installer of the feeds does not recognize it.
    ['white space after the first hyphens', `--- \n${NAME}---\n`, 1, `front matter is missing; got "--- "; ${SHAPE}`],
    ['no end', `---\n${NAME}`, 1, 'front matter does not end; allowed: a line "---" within 16384 characters.'],
    [
      'an end that is too far',
      skillOf(`${NAME}${DESCRIPTION}text: ${'a'.repeat(16_384)}\n`),
      1,
      'front matter is too long or does not end; allowed: a line "---" within 16384 characters.',
    ],
    [
      'a value that is YAML',
      skillOf(`${NAME}description: Use it when: always\n`),
      3,
      `front matter is not valid YAML (bad indentation of a mapping entry); ${YAML}`,
    ],
    [
      'a tab, after CRLF',
      '---\r\nname: notes\r\nmetadata:\r\n\ta: b\r\n---\r\n',
      4,
      `front matter is not valid YAML (tab characters must not be used in indentation); ${YAML}`,
    ],
    ['a key twice', skillOf(NAME + NAME), 3, `front matter is not valid YAML (duplicated mapping key); ${YAML}`],
    [
      'several documents',
      skillOf(`${NAME}...\n${DESCRIPTION}`),
      2,
      `front matter is not valid YAML (expected a single document in the stream, but found more); ${YAML}`,
    ],
    [
      'an unknown alias, which is not repeated',
      skillOf(`${NAME}description: *wsk_a\n`),
      3,
      `front matter is not valid YAML (unidentified alias); ${YAML}`,
    ],
    [
      'an unknown tag, which is not repeated',
      skillOf('name: !wsk_a notes\n'),
      2,
      `front matter is not valid YAML (unknown scalar tag); ${YAML}`,
    ],
    [
      'a list',
      skillOf('- a\n'),
      2,
      'front matter is not a mapping; got an array of length 1; allowed: one "key: value" on each line, with the keys name and description.',
    ],
    ['no name', skillOf(DESCRIPTION), 1, 'name is missing; allowed: 1 to 64 characters, such as "release-notes".'],
    ['no description', skillOf(NAME), 1, 'description is missing; allowed: 1 to 1024 characters.'],
    [
      'a number as name',
      skillOf('license: MIT\nname: 7\n'),
      3,
      'name is not a string; got 7; allowed: 1 to 64 characters, such as "release-notes".',
    ],
    ['a wrong name', skillOf('name: Notes\n'), 2, `name has the wrong format; got "Notes"; ${NAMES}`],
    ['a name in quotes', skillOf('"name" : a--b\n'), 2, `name has the wrong format; got "a--b"; ${NAMES}`],
    [
      'a wrong name below another',
      skillOf('metadata:\n  name: a\nname: -a\n'),
      4,
      `name has the wrong format; got "-a"; ${NAMES}`,
    ],
    [
      'a name that is too long',
      skillOf(`name: ${'a'.repeat(65)}\n`),
      2,
      'name is too long; got 65 characters; allowed: 1 to 64 characters, such as "release-notes".',
    ],
    [
      'an empty description',
      skillOf(`${NAME}description: " "\n`),
      3,
      'description is too short; got 0 characters; allowed: 1 to 1024 characters.',
    ],
    [
      'a description that is too long',
      skillOf(`${NAME}description: |\n${'  😀\n'.repeat(513)}`),
      3,
      'description is too long; got 1025 characters; allowed: 1 to 1024 characters.',
    ],
    [
      'a NUL character',
      skillOf(`${NAME}description: "\\0"\n`),
      3,
      'description has a NUL character; got "\\u0000"; allowed: text without NUL characters.',
    ],
    [
      'a lone surrogate',
      skillOf(`${NAME}description: "\\ud800"\n`),
      3,
      'description has a lone surrogate; got "\ufffd"; allowed: well-formed Unicode.',
    ],
  ]

  it.each(problems)('is refused with %s, and the line is named', (_, text, line, sentence) => {
    expect(readFrontMatter(text)).toEqual({ line, message: `SKILL.md, line ${line}: ${sentence}` })
  })
})

describe('hostile front matter', () => {
  const LENGTH = 16_300
  const repeated = (text: string) => text.repeat(LENGTH / text.length)
  const letters = [...'abcdefghijklmnopqrst']
  const bomb = (width: number) =>
    letters.map((letter, index) => {
      const before = index === 0 ? 'x' : `*${letters[index - 1]}`
      return `${letter}: &${letter} [${Array(width).fill(before).join(',')}]\n`
    })

  it.each([
    ['nested lists', repeated('[')],
    ['nested mappings', repeated('{a: ')],
    ['nested block lists', repeated('- ')],
    ['nested keys', repeated('? ')],
    ['nested lines', Array.from({ length: 170 }, (_, index) => `${' '.repeat(index)}a:\n`).join('')],
    ['references to references', bomb(9).join('')],
    ['many references', `a: &a 1\nb: [${repeated('*a,')}]\n`],
    ['many tags', repeated('! ')],
    ['many documents', repeated('...\n')],
    ['many quotes', repeated('"')],
  ])('with %s is refused', (_, yaml) => {
    expect(readFrontMatter(skillOf(`${yaml}\n`))).toMatchObject({
      message: expect.stringContaining('front matter is not valid YAML'),
    })
  })

  it.each([
    ['keys', Array.from({ length: 2_000 }, (_, index) => `a${index}: \n`).join('')],
    ['anchors', `a: [${repeated('&a x,')}]\n`],
    ['lines', `a: >\n${repeated('  x\n   y\n')}`],
    ['escapes', `a: "${repeated('\\x41')}"\n`],
    ['comments', repeated('#\n')],
    ['references that are allowed', bomb(5).join('')],
  ])('with many %s is read', (_, yaml) => {
    expect(readFrontMatter(skillOf(NAME + DESCRIPTION + yaml))).toEqual(notes)
  })

  it('is not searched beyond its greatest length', () => {
    for (const rest of ['\n', '---', '--- a\n', '\r', '\n--- \ra']) {
      const text = `---\n${rest.repeat(1_000_000 / rest.length)}`
      expect(readFrontMatter(text)).toMatchObject({ line: 1 })
    }
  })
})
