/** Input of every kind of wrongness. */
import * as fc from 'fast-check'

const HOSTILE_TEXTS = [
  '',
  ' ',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udfff\ud800',
  '\ufeff',
  '\u202e\u200b',
  '𝕏'.repeat(300),
  'e\u0301'.repeat(200),
  'x'.repeat(5_000),
  "'; DROP TABLE pins; --",
  '%00%2F%2e%2e',
  '../../etc/passwd',
  '..\\..\\x',
  '__proto__',
  'constructor',
  'toString',
  'hasOwnProperty',
  'null',
  'undefined',
  'NaN',
  '9007199254740993',
  '1e400',
  '{"$ne":null}',
  '<script>alert(1)</script>',
  '2026-02-30T00:00:00.000Z',
  '00000000-0000-0000-0000-000000000000',
  '* * * * *',
  '@reboot',
  'Europe/Paris',
]

export const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.uuid(),
)

export const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -0, -1, 1e308, -1e308, 1.5, 2 ** 53, {}, [], [[]], [null]),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.array(hostileText, { maxLength: 200 }),
  fc.dictionary(hostileText, fc.constantFrom(null, 1, 'x'), { maxKeys: 5 }),
)

/** Text that is no JSON, or JSON that no client should send. */
export const HOSTILE_BODIES: readonly BodyInit[] = [
  '',
  ' ',
  '{',
  '}',
  '{"a":1,}',
  "{'a':1}",
  '{"a":1}{"b":2}',
  'NaN',
  'undefined',
  '"text"',
  '12',
  'null',
  '[]',
  '\ufeff{}',
  '{"name":"a","name":"b"}',
  '{"__proto__":{"admin":true},"constructor":{"prototype":{}}}',
  '{"name":"\\ud800"}',
  '{"name":"\\u0000"}',
  `{"a":${'9'.repeat(400)}}`,
  `{"a":1e${'9'.repeat(20)}}`,
  '['.repeat(10_000),
  `${'{"a":'.repeat(5_000)}1${'}'.repeat(5_000)}`,
  `{"name":"${'x'.repeat(70_000)}"}`,
  new Uint8Array([0xff, 0xfe, 0x7b, 0x00]),
  new Uint8Array([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x3a, 0x31, 0x7d]),
  new Uint8Array(1_000),
]

/** Header values are Latin-1 without line breaks, whatever a client wants. */
export const hostileHeader = fc.oneof(
  fc.constantFrom(
    '"',
    '*',
    'W/"x"',
    'bytes=0-',
    'bytes=-1',
    'bytes=9-1,3-',
    'text/plain',
    'application/json; charset=latin1',
  ),
  hostileText.map((text) => text.replaceAll(/[^\x20-\x7e\xa0-\xff]/g, '')),
)

/** The body with the value at some place in it exchanged; left out, if it is undefined. */
export function replaced(json: unknown, at: number, value: unknown): unknown {
  if (typeof json !== 'object' || json === null) return value ?? {}
  const names = Object.keys(json)
  const name = names[at % Math.max(names.length, 1)]
  if (name === undefined) return value ?? {}
  const inner = (json as Record<string, unknown>)[name]
  const isDeeper = typeof inner === 'object' && inner !== null && at % 3 > 0
  const next = isDeeper ? replaced(inner, Math.floor(at / 3), value) : value
  if (Array.isArray(json)) return json.map((item, index) => (String(index) === name ? next : item))
  const { [name]: _, ...others } = json as Record<string, unknown>
  return next === undefined ? others : { ...others, [name]: next }
}
