/** What kind of picture some bytes are, by the signatures that they begin with. */

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** `.` stands for any byte, as in the length that a RIFF file has after its name. */
const SIGNATURES: readonly [RegExp, ImageType][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the signature has one
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBPVP8/s, 'image/webp'],
]
const LONGEST_SIGNATURE = 15

/** The kind of picture, or undefined if it is none of the four. */
export function imageTypeOf(bytes: ArrayBuffer): ImageType | undefined {
  const start = String.fromCharCode(...new Uint8Array(bytes.slice(0, LONGEST_SIGNATURE)))
  return SIGNATURES.find(([signature]) => signature.test(start))?.[1]
}
