/**
 * Input that is made to cost time or memory. A check whose time grows with the square of a text's length
 * would run into the time-out of its test.
 */
import { describe, expect, it } from 'vitest'
import type { Contract } from '../src/http/contract.ts'
import { exampleList, keyFor, send } from './support/examples.ts'
import { type InputPlace, inputPlacesOf, isTooLong, withText, withValue } from './support/inputs.ts'
import { sampled } from './support/long-form.ts'
import { skillOf } from './support/skills.ts'
import { Workspace } from './support/workspace.ts'

/** Repeated, they are the worst input known of normalization and of the patterns and parsers of the service. */
const UNITS = [
  '\u0323\u0307',
  'e\u0301',
  'a-',
  '-',
  'x',
  'A_',
  '9',
  ' ',
  '* ',
  '0,',
  '/',
  'a/',
  '../',
  '\\',
  '@',
  '%',
  '+/',
  '0-',
  '\u{1f642}',
  '\ud800',
]

/** All headers together have up to 16 KiB. */
const HEADER_UNITS = ['"', '"a",', '"a" ', ', ', ',', ' ,', 'W/', 'W/"', '*', 'x', 'bytes=', 'bytes=9', '0-,', '9']
const MAX_HEADER_LENGTH = 15_000

const MAX_TEXT_LENGTH = 100_000
const MEBIBYTE = 2 ** 20
/** What the rest of a body has room in. */
const REST_OF_BODY = 4096

const limitOf = ({ bodyLimitBytes = 64 * 1024 }: Contract) => bodyLimitBytes

const bytesOf = (text: string) => Buffer.byteLength(JSON.stringify(text))

/** The unit, repeated as often as there is room. */
function filled(unit: string, room: number, measure: (text: string) => number): string {
  return unit.repeat(Math.floor(room / measure(unit)))
}

/** Some units of a list, others at the next place; all in the long form. */
const unitsAt = (units: readonly string[], place: number) => sampled(10, units, place)

/** The texts to send at a place. */
function textsAt({ part, path }: InputPlace, contract: Contract, place: number): string[] {
  if (part === 'headers')
    return unitsAt(HEADER_UNITS, place).map((unit) => filled(unit, MAX_HEADER_LENGTH, ({ length }) => length))
  const units = unitsAt(UNITS, place)
  if (part !== 'body') return units.map((unit) => filled(unit.toWellFormed(), MAX_TEXT_LENGTH, ({ length }) => length))
  const room = limitOf(contract) - REST_OF_BODY
  const texts = units.map((unit) => filled(unit, Math.min(room, 6 * MAX_TEXT_LENGTH), bytesOf))
  return limitOf(contract) >= 8 * MEBIBYTE && path.at(-1) !== 'content'
    ? [...texts, filled('a-', Math.min(room, 8 * MEBIBYTE), ({ length }) => length)]
    : texts
}

/** A workspace with the example of an operation, and a key for it. */
async function prepared(row: (typeof exampleList)[number]['row']) {
  const workspace = await Workspace.create()
  const example = await row.prepare(workspace)
  return { example, key: await keyFor(workspace, example) }
}

const numberOf = (operationId: string) => exampleList.findIndex((each) => each.operationId === operationId)

const withInput = exampleList.map((each) => ({ ...each, places: inputPlacesOf(each.contract) }))
const ofKind = (kind: InputPlace['kind']) =>
  withInput
    .map(({ places, ...each }) => ({ ...each, places: places.filter((place) => place.kind === kind) }))
    .filter(({ places }) => places.length > 0)

describe('long texts', () => {
  it.each(ofKind('string'))(
    'are refused by $operationId, wherever they are',
    async ({ operationId, contract, row, places }) => {
      const { example, key } = await prepared(row)
      for (const [index, place] of places.entries()) {
        const where = [place.part, ...place.path].join('.')
        for (const text of textsAt(place, contract, numberOf(operationId) + index)) {
          const { status } = await send(operationId, withText(example, contract, place, text), key)
          const unit = JSON.stringify(text.slice(0, 4))
          if (isTooLong(place, text)) expect([where, unit, status]).toEqual([where, unit, 400])
          else expect(status, `${where}: ${unit}`).toBeLessThan(500)
        }
      }
    },
  )
})

describe('long lists', () => {
  it.each(ofKind('list'))(
    'are refused by $operationId before their items are looked at',
    async ({ operationId, row, places }) => {
      const { example, key } = await prepared(row)
      for (const { path } of places) {
        const count = 30_000
        const json = withValue(example.json, path, Array(count).fill(0))
        const { status, body } = await send(operationId, { ...example, json }, key)
        expect([status, body.error]).toEqual([
          400,
          expect.stringMatching(
            new RegExp(
              `^${path.join('.')} has too many items; got an array of length ${count}; allowed: [^;]*\\d+ \\w+\\.$`,
            ),
          ),
        ])
      }
    },
  )
})

describe('JSON that is out of bounds', () => {
  const sized = (text: string, bytes: number) => text.repeat(Math.floor(bytes / text.length))

  it.each(withInput.filter(({ contract }) => contract.body))(
    'is refused by $operationId',
    async ({ operationId, contract, row }) => {
      const { example, key } = await prepared(row)
      const { json, ...rest } = example
      const post = (body: string) =>
        send(operationId, { ...rest, body, headers: { 'Content-Type': 'application/json', ...rest.headers } }, key)
      const limit = limitOf(contract)
      const deep = [sized('[', limit), sized('{"a":', limit), `${sized('[', limit / 2)}${sized(']', limit / 2)}`]
      for (const body of deep) {
        expect(await post(body)).toMatchObject({
          status: 400,
          body: {
            error: expect.stringMatching(/^body is nested too deeply; got \d+ levels; allowed: up to 64 levels\.$/),
          },
        })
      }
      const wide = [`[${sized('[],', limit - 4)}[]]`, `{${sized('"a":0,', limit - 9)}"a":0}`]
      for (const body of wide) {
        const { status, body: answer } = await post(body)
        expect(status).toBe(400)
        if (limit >= MEBIBYTE)
          expect(answer.error).toMatch(/^body has too many values; got \d+ values; allowed: up to 100000 values\.$/)
      }
    },
  )
})

describe('filenames of a skill', () => {
  const post = async (filenames: readonly string[]) => {
    const key = await (await Workspace.create()).addKey()
    const files = filenames.map((filename) => ({ filename, content: '' }))
    return send('createSkill', { path: '/v1/skills', json: skillOf({ files }), ids: [] }, key)
  }

  it('may be 499 of the longest in the worst order of marks, and too long for an archive', async () => {
    const marks = (count: number) => '\u0307'.repeat(count) + '\u0323'.repeat(count)
    const folder = marks(38)
    const names = (name: string) =>
      Array.from({ length: 499 }, (_, index) => `${folder}/${`${index}`.padStart(3, '0')}${name}`)
    expect((await post(names(marks(24)))).status).toBe(201)
    const { status, body } = await post(names(marks(84)))
    expect([status, body.error]).toEqual([400, expect.stringContaining('is too long for an archive;')])
  })

  it.each([
    [['a', 'a/b'], 400],
    [['a/b', 'a'], 400],
    [['a', 'a-b', 'a.b', 'a/b'], 400],
    [['a/b/c', 'b', 'a'], 400],
    [['a', 'ab/c', 'a-/d'], 201],
    [['a/b', 'a/bc', 'a/c/d'], 201],
  ])('%j: none is a folder of another, in any order', async (filenames, expected) => {
    const { status, body } = await post(filenames)
    expect(status).toBe(expected)
    if (status === 400) expect(body.error).toContain('files has a filename that is a folder of another;')
  })
})
