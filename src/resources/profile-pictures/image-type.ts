/** Detects the format of an image by the signature that its bytes begin with. */

type ImageType = 'image/png' | 'image/jpeg' | 'image/gif' | 'image/webp'

/** In the last one, `.{4}` is the length of the RIFF file, which may be any bytes. */
const SIGNATURES: readonly [RegExp, ImageType][] = [
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the PNG signature has control characters
  [/^\x89PNG\r\n\x1a\n/, 'image/png'],
  [/^\xff\xd8\xff/, 'image/jpeg'],
  [/^GIF8[79]a/, 'image/gif'],
  [/^RIFF.{4}WEBPVP8/s, 'image/webp'],
]
const MAX_SIGNATURE_LENGTH = 15

/** The media type, or undefined for another format. */
export function detectImageType(bytes: ArrayBuffer): ImageType | undefined {
  const start = String.fromCharCode(...new Uint8Array(bytes.slice(0, MAX_SIGNATURE_LENGTH)))
  return SIGNATURES.find(([signature]) => signature.test(start))?.[1]
}
