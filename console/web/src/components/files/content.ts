/** What a file contains, as far as its name, its type and its bytes tell. */

export interface NamedFile {
  readonly path: string
  /** Empty if it is not known. */
  readonly contentType: string
}

export const SVG = 'image/svg+xml'

const IMAGES: Readonly<Record<string, string>> = {
  avif: 'image/avif',
  bmp: 'image/bmp',
  gif: 'image/gif',
  ico: 'image/x-icon',
  jpeg: 'image/jpeg',
  jpg: 'image/jpeg',
  png: 'image/png',
  svg: SVG,
  webp: 'image/webp',
}

const FORMATTED: Readonly<Record<string, Kind>> = {
  htm: 'html',
  html: 'html',
  json: 'json',
  markdown: 'markdown',
  md: 'markdown',
}

export type Kind = 'markdown' | 'html' | 'json' | 'text'

function extensionOf({ path }: NamedFile): string {
  return /\.(\w+)$/.exec(path)?.[1]?.toLowerCase() ?? ''
}

/** The media type of a picture that browsers show. */
export function imageTypeOf(file: NamedFile): string | undefined {
  return IMAGES[extensionOf(file)] ?? Object.values(IMAGES).find((type) => type === mediaTypeOf(file))
}

export function kindOf(file: NamedFile): Kind {
  const byName = FORMATTED[extensionOf(file)]
  if (byName) return byName
  const [, name = ''] = /^(?:text|application)\/(markdown|html|json)$/.exec(mediaTypeOf(file)) ?? []
  return FORMATTED[name] ?? 'text'
}

/** Such as `text/html`, without parameters. */
export function mediaTypeOf({ contentType }: NamedFile): string {
  return contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
}

/** The share of characters in text that may not be valid UTF-8. */
const MAX_INVALID = 0.1

/**
 * Parts of a text, in order. The first may begin and the last may end within a character.
 * @returns undefined if the bytes are not text.
 */
export function decode(parts: readonly Uint8Array<ArrayBuffer>[], isFromStart: boolean): string | undefined {
  const decoder = new TextDecoder()
  let begin = 0
  // The bytes of a character after its first.
  while (!isFromStart && begin < 3 && ((parts[0]?.[begin] ?? 0) & 0b1100_0000) === 0b1000_0000) begin++
  const texts = parts.map((part, index) => decoder.decode(index === 0 ? part.subarray(begin) : part, { stream: true }))
  const text = texts.join('').replaceAll(/\r\n?/g, '\n')
  const invalid = text.match(/\ufffd/g)?.length ?? 0
  return text.includes('\0') || invalid > text.length * MAX_INVALID ? undefined : text
}

/** The path of a file that another one names: `../a.md` in the folder `docs/b` is `docs/a.md`. */
export function resolvePath(path: string, folder: string): string {
  const base = new URL(`file:///${folder.split('/').map(encodeURIComponent).join('/')}/`)
  const url = URL.parse(path.replaceAll('\\', '/'), base)
  if (url?.protocol !== 'file:' || url.host !== '') return ''
  try {
    return decodeURIComponent(url.pathname).replace(/^\/+/, '')
  } catch {
    return ''
  }
}

/** The folder of a file, without the slash at its end. */
export const folderOf = (path: string) => path.slice(0, Math.max(path.lastIndexOf('/'), 0))

const MAX_USES = 30
const USE = /<(?:[^\s<>/:]+:)?use[\s/>]/gi
/** Pictures and entities may have further copies in them, and an encoding other than UTF-8 hides both. */
const NOT_COUNTED = /\0|<!ENTITY|<(?:[^\s<>/:]+:)?(?:fe)?image[\s/>]/i

/** True if an SVG picture could be one of a billion shapes: copies of copies of copies. */
export function mayBeHuge(svg: Uint8Array<ArrayBuffer>): boolean {
  const text = new TextDecoder().decode(svg)
  return (text.match(USE)?.length ?? 0) > MAX_USES || NOT_COUNTED.test(text)
}

const MAX_DEPTH = 50

/**
 * JSON with a line for each value. Only its white space differs: numbers keep all their digits.
 * @returns undefined if the text is not JSON, or nests too deep to be read.
 */
export function formatJson(text: string): string | undefined {
  try {
    JSON.parse(text)
  } catch {
    return undefined
  }
  const lines: string[] = []
  let line = ''
  let depth = 0
  const breakLine = () => {
    lines.push(line)
    line = '  '.repeat(depth)
  }
  let previous = ''
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g)) {
    const isEnd = token === '}' || token === ']'
    const isAfterStart = previous === '{' || previous === '['
    if (isEnd) depth--
    // Not between the brackets of an empty value.
    if (isEnd !== isAfterStart) breakLine()
    line += token
    if (token === '{' || token === '[') depth++
    if (depth > MAX_DEPTH) return undefined
    if (token === ',') breakLine()
    if (token === ':') line += ' '
    previous = token
  }
  lines.push(line)
  return lines.join('\n')
}

/** Such as "812 bytes", "13.4 KB" or "95 MB". */
export function toSize(bytes: number): string {
  if (bytes < 1000) return `${bytes} ${bytes === 1 ? 'byte' : 'bytes'}`
  const [amount, unit] = bytes < 1_000_000 ? [bytes / 1000, 'KB'] : [bytes / 1_000_000, 'MB']
  return `${amount < 10 ? amount.toFixed(1) : Math.round(amount)} ${unit}`
}
