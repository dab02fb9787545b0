import { describe, expect, it } from 'vitest'
import { detectImageType } from '../../../src/resources/profile-pictures/image-type.ts'

const bytesOf = (binary: string) => Uint8Array.from(binary, (character) => character.charCodeAt(0))
const typeOf = (binary: string) => detectImageType(bytesOf(binary).buffer)

const signatures = [
  ['\x89PNG\r\n\x1a\n', 'image/png'],
  ['\xff\xd8\xff', 'image/jpeg'],
  ['GIF87a', 'image/gif'],
  ['GIF89a', 'image/gif'],
  ['RIFF\x24\x00\x00\x00WEBPVP8', 'image/webp'],
] as const

describe.each(signatures)('%j', (signature, type) => {
  it(`is ${type}, whatever follows`, () => {
    for (const rest of ['', '\0', '<svg>', '\xff'.repeat(100_000)]) expect(typeOf(signature + rest)).toBe(type)
  })

  it('is nothing if it is cut, changed or not at the very beginning', () => {
    for (let index = 0; index < signature.length; index++) {
      expect(typeOf(signature.slice(0, index))).toBeUndefined()
      if (type === 'image/webp' && index >= 4 && index < 8) continue
      const changed = String.fromCharCode(signature.charCodeAt(index) ^ 0x80)
      expect(typeOf(signature.slice(0, index) + changed + signature.slice(index + 1))).toBeUndefined()
    }
    for (const before of [' ', '\n', '\0', '\xef\xbb\xbf']) expect(typeOf(before + signature)).toBeUndefined()
  })
})

describe('detectImageType', () => {
  it('takes any length in a WebP, and each of its kinds', () => {
    for (const length of ['\0\0\0\0', '\n\n\n\n', '\r\n\xff\xff']) {
      for (const kind of ['VP8 ', 'VP8L', 'VP8X']) {
        expect(typeOf(`RIFF${length}WEBP${kind}`)).toBe('image/webp')
      }
    }
  })

  it.each([
    ['nothing', ''],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"/>'],
    ['XML', '<?xml version="1.0"?><svg/>'],
    ['HTML', '<!DOCTYPE html><script>alert(1)</script>'],
    ['text that names one', 'PNG GIF89a'],
    ['BMP', 'BM\x46\0\0\0\0\0\0\0\x36\0\0\0\x28\0'],
    ['TIFF', 'II*\0\x08\0\0\0\0\0\0\0\0\0\0\0'],
    ['an icon', '\0\0\x01\0\x01\0\x10\x10\0\0\x01\0\x20\0\0\0'],
    ['AVIF', '\0\0\0\x20ftypavif\0\0\0\0avif'],
    ['PDF', '%PDF-1.7\n%\xe2\xe3\xcf\xd3\n1 0'],
    ['a sound', 'RIFF\x24\0\0\0WAVEfmt '],
    ['GIF of no version', 'GIF88a\x01\0\x01\0'],
  ])('knows no type for %s', (_, binary) => {
    expect(typeOf(binary)).toBeUndefined()
  })
})
