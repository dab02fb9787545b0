/** Makes screenshots smaller: Chromium writes three bytes for each pixel, and a page needs few colors. */
import { crc32, deflateSync, inflateSync } from 'node:zlib'

const CHANNELS = 3
const MAX_COLORS = 256
/** The most frequent colors are in the palette. The others are those that differ most, so that a small mark keeps its color. */
const MOST_FREQUENT = 128

/**
 * @param png of 8 bits and three channels, not interlaced, as Chromium writes it.
 * @returns the picture in 256 of its colors; each of the others becomes the nearest one.
 */
export function withPalette(png: Buffer): Buffer {
  const { header, rows } = decode(png)
  const counts = new Map<number, number>()
  for (const row of rows) {
    for (let at = 0; at < row.length; at += CHANNELS) {
      const color = row.readUIntBE(at, CHANNELS)
      counts.set(color, (counts.get(color) ?? 0) + 1)
    }
  }
  const colors = Array.from(counts.keys()).sort((a, b) => (counts.get(b) ?? 0) - (counts.get(a) ?? 0))
  const palette = paletteOf(colors)
  const indexes = new Map(colors.map((color) => [color, nearest(palette, color)]))
  const lines = rows.map((row) => {
    const pixels = Array.from({ length: row.length / CHANNELS }, (_, index) =>
      row.readUIntBE(index * CHANNELS, CHANNELS),
    )
    // The first byte of a line is its filter: none.
    return Buffer.from([0, ...pixels.map((color) => indexes.get(color) ?? 0)])
  })
  const indexed = Buffer.from(header)
  // The color type.
  indexed[9] = 3
  return Buffer.concat([
    png.subarray(0, 8),
    chunk('IHDR', indexed),
    chunk('PLTE', Buffer.from(palette.flatMap(channelsOf))),
    chunk('IDAT', deflateSync(Buffer.concat(lines), { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ])
}

const channelsOf = (color: number) => [color >> 16, (color >> 8) & 255, color & 255]

/** @param colors the most frequent first. */
function paletteOf(colors: readonly number[]): number[] {
  const palette = colors.slice(0, MOST_FREQUENT)
  const distances = colors.map((color) => Math.min(...palette.map((each) => distanceOf(each, color))))
  while (palette.length < Math.min(MAX_COLORS, colors.length)) {
    const farthest = colors[distances.indexOf(Math.max(...distances))] ?? 0
    palette.push(farthest)
    for (const [index, color] of colors.entries()) {
      distances[index] = Math.min(distances[index] ?? 0, distanceOf(farthest, color))
    }
  }
  return palette
}

function nearest(palette: readonly number[], color: number): number {
  const distances = palette.map((each) => distanceOf(each, color))
  return distances.indexOf(Math.min(...distances))
}

function distanceOf(one: number, other: number): number {
  const channels = channelsOf(other)
  return channelsOf(one).reduce((sum, value, index) => sum + (value - (channels[index] ?? 0)) ** 2, 0)
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type), data])
  const result = Buffer.alloc(typed.length + 8)
  result.writeUInt32BE(data.length, 0)
  typed.copy(result, 4)
  result.writeUInt32BE(crc32(typed), typed.length + 4)
  return result
}

function decode(png: Buffer): { header: Buffer; rows: Buffer[] } {
  const chunks: { type: string; data: Buffer }[] = []
  for (let at = 8; at < png.length; ) {
    const length = png.readUInt32BE(at)
    chunks.push({ type: png.toString('latin1', at + 4, at + 8), data: png.subarray(at + 8, at + 8 + length) })
    at += length + 12
  }
  const of = (wanted: string) => Buffer.concat(chunks.filter(({ type }) => type === wanted).map(({ data }) => data))
  const header = of('IHDR')
  if (header.toString('hex', 8) !== '0802000000')
    throw new Error('The screenshot is not a PNG of 8 bits and three channels.')
  const stride = header.readUInt32BE(0) * CHANNELS
  const data = inflateSync(of('IDAT'))
  const rows: Buffer[] = []
  for (let start = 0; start < data.length; start += stride + 1) {
    const row = Buffer.from(data.subarray(start + 1, start + 1 + stride))
    const above = rows.at(-1) ?? Buffer.alloc(stride)
    for (let at = 0; at < stride; at++) {
      const left = row[at - CHANNELS] ?? 0
      const up = above[at] ?? 0
      row[at] = (row[at] ?? 0) + predicted(data[start] ?? 0, left, up, above[at - CHANNELS] ?? 0)
    }
    rows.push(row)
  }
  return { header, rows }
}

/** By the filters of the PNG specification. */
function predicted(filter: number, left: number, up: number, upLeft: number): number {
  if (filter === 0) return 0
  if (filter === 1) return left
  if (filter === 2) return up
  if (filter === 3) return (left + up) >> 1
  const estimate = left + up - upLeft
  const [toLeft, toUp, toUpLeft] = [left, up, upLeft].map((value) => Math.abs(estimate - value)) as [
    number,
    number,
    number,
  ]
  if (toLeft <= toUp && toLeft <= toUpLeft) return left
  return toUp <= toUpLeft ? up : upLeft
}
