import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  bytesOfShown,
  DATA_URL_START,
  problemOfContent,
  readContent,
  type SentContent,
  type StoredContent,
  toContent,
} from '../../../src/resources/skills/content.ts'

const MEBIBYTE = 2 ** 20
/** The content as a response shows it (`selectFilesWhere` in statements.ts). */
const shownContentOf = ({ content, encoding }: StoredContent) =>
  encoding === 'base64' ? DATA_URL_START + content : content
const base64Of = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64')
const inBase64 = (bytes: Uint8Array): SentContent => ({ content: base64Of(bytes), encoding: 'base64' })
const problemOf = (content: string, encoding?: SentContent['encoding']) =>
  problemOfContent({ content, encoding }, MEBIBYTE)

describe('a content', () => {
  it.each([
    ['empty', ''],
    ['text', 'a\n'],
    ['a byte order mark', '\ufeffa'],
    ['all line breaks', 'a\r\nb\rc\u0085d\u2028e\n\n'],
    ['characters that are not in normal form', 'e\u0301 \u212b \uf900'],
    ['control characters', '\u0001\u001b\u007f\u009f'],
    ['noncharacters', '\uffff\ufffe\ufdd0\u{10ffff}'],
    ['the replacement character', '\ufffd'],
    ['four bytes', '😀'],
    ['a data URL of another form', 'data:text/plain;base64,AAAA'],
    ['a data URL further on', ` ${DATA_URL_START}`],
  ])('of text is stored as this text, however it is sent: %s', async (_, text) => {
    const bytes = new TextEncoder().encode(text)
    for (const sent of [{ content: text }, { content: text, encoding: 'utf-8' } as const, inBase64(bytes)]) {
      expect(problemOfContent(sent, MEBIBYTE)).toBeUndefined()
      const read = await readContent(sent)
      expect(read).toMatchObject({ content: text, encoding: 'utf-8' })
      expect([...read.bytes]).toEqual([...bytes])
      expect(shownContentOf(read)).toBe(text)
      expect([...bytesOfShown(text)]).toEqual([...bytes])
    }
  })

  it.each([
    ['a NUL character', [97, 0]],
    ['a picture', [0x89, 0x50, 0x4e, 0x47]],
    ['a surrogate in UTF-8', [0xed, 0xa0, 0x80]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a character that is cut', [0xf0, 0x9f, 0x98]],
    ['UTF-16', [0xff, 0xfe, 97, 0]],
    ['text that begins as what is shown', [...Buffer.from(`${DATA_URL_START}YQ==`)]],
  ])('of bytes is stored in base64 and shown as a data URL: %s', async (_, numbers) => {
    const bytes = Uint8Array.from(numbers)
    const sent = inBase64(bytes)
    expect(problemOfContent(sent, MEBIBYTE)).toBeUndefined()
    const read = await readContent(sent)
    expect(read).toMatchObject(sent)
    expect([...read.bytes]).toEqual(numbers)
    expect(shownContentOf(read)).toBe(DATA_URL_START + sent.content)
    expect([...bytesOfShown(shownContentOf(read))]).toEqual(numbers)
    expect(toContent(bytes)).toEqual(sent)
  })

  it('comes back from any bytes', async () => {
    const parts = fc.oneof(fc.uint8Array({ maxLength: 40 }), fc.string({ unit: 'binary' }))
    await fc.assert(
      fc.asyncProperty(fc.array(parts, { maxLength: 4 }), async (all) => {
        const bytes = Buffer.concat(all.map((part) => Buffer.from(part as string)))
        const sent = toContent(bytes)
        expect(problemOfContent(sent, MEBIBYTE)).toBeUndefined()
        const read = await readContent(sent)
        expect(bytes.equals(read.bytes)).toBe(true)
        expect(bytes.equals(bytesOfShown(shownContentOf(read)))).toBe(true)
        expect(await readContent(inBase64(bytes))).toEqual(read)
      }),
    )
  })

  it('has the SHA-256 of its bytes', async () => {
    const digest = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(await readContent({ content: 'abc' })).toMatchObject({ sha256: digest })
    expect(await readContent({ content: 'YWJj', encoding: 'base64' })).toMatchObject({ sha256: digest })
  })

  const AS_BASE64 = 'Send this file in base64, with "encoding": "base64".'
  it.each([
    ['a\0b', 'has a NUL character', 'text without NUL characters'],
    ['a\ud800b', 'has a lone surrogate', 'well-formed Unicode'],
    ['\udc00', 'has a lone surrogate', 'well-formed Unicode'],
    [
      `${DATA_URL_START}YQ==`,
      `begins with "${DATA_URL_START}"`,
      'text that does not begin as a data URL of bytes does',
    ],
  ])('that is not text has to be sent in base64: %j', (content, wrong, allowed) => {
    expect(problemOf(content)).toEqual({ wrong, allowed, advice: AS_BASE64 })
    expect(problemOf(content, 'utf-8')).toEqual(problemOf(content))
  })

  const BASE64 = 'base64 of RFC 4648: A to Z, a to z, 0 to 9, "+", "/", padded with "=", without line breaks'
  it.each([
    ['YWJ', 'is not base64: its length is not a multiple of 4'],
    ['YWJjZ', 'is not base64: its length is not a multiple of 4'],
    ['YQ=', 'is not base64: its length is not a multiple of 4'],
    ['=', 'is not base64: its length is not a multiple of 4'],
    ['YR==', 'is not base64: its last character has bits beyond the last byte'],
    ['YWK=', 'is not base64: its last character has bits beyond the last byte'],
    ['YWJj==', 'is not base64: its length is not a multiple of 4'],
    ['YWJjYQ==YQ==', 'is not base64 at character 7'],
    ['====', 'is not base64 at character 1'],
    ['YWJj\n', 'is not base64 at character 5'],
    [' YWJj', 'is not base64 at character 1'],
    ['YW-_', 'is not base64 at character 3'],
    ['YWJ\u00e9', 'is not base64 at character 4'],
    ['data:application/octet-stream;base64,YWJj', 'is not base64 at character 5'],
  ])('in base64 is in its only form, not %j', (content, wrong) => {
    expect(problemOf(content, 'base64')).toEqual({ wrong, allowed: BASE64 })
  })

  it('is limited in bytes, which are counted only if they may fit', () => {
    const tooLarge = (sent: string) => ({ wrong: 'is too large', sent, allowed: 'up to 1 MiB' })
    expect(problemOf('a'.repeat(MEBIBYTE))).toBeUndefined()
    expect(problemOf('a'.repeat(MEBIBYTE + 1))).toEqual(tooLarge('1048577 bytes'))
    expect(problemOf('\u00e9'.repeat(MEBIBYTE / 2))).toBeUndefined()
    expect(problemOf(`${'\u00e9'.repeat(MEBIBYTE / 2)}a`)).toEqual(tooLarge('1048577 bytes'))
    expect(problemOf(base64Of(new Uint8Array(MEBIBYTE)), 'base64')).toBeUndefined()
    expect(problemOf(base64Of(new Uint8Array(MEBIBYTE + 1)), 'base64')).toEqual(tooLarge('1048577 bytes'))
    expect(problemOf('\0'.repeat(2 * MEBIBYTE + 1))).toEqual(tooLarge('more than 1 MiB'))
  })
})
