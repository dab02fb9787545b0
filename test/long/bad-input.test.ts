/**
 * Input of every kind of wrongness, for every operation: 10,000 requests each whole, a seeded sample in `npm
 * test` and in its long form.
 */
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type ApiResponse, request } from '../support/api.ts'
import { type Example, exampleList, keyFor, send } from '../support/examples.ts'
import { sized } from '../support/long-form.ts'
import { Workspace } from '../support/workspace.ts'

const REQUESTS = env.LONG === 'whole' ? 10_000 : sized(30, 300)

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

const hostileText = fc.oneof(
  fc.constantFrom(...HOSTILE_TEXTS),
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({ unit: 'grapheme', maxLength: 300 }),
  fc.uuid(),
)

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  hostileText,
  fc.constantFrom(null, true, false, 0, -0, -1, 1e308, -1e308, 1.5, 2 ** 53, {}, [], [[]], [null]),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.array(hostileText, { maxLength: 200 }),
  fc.dictionary(hostileText, fc.constantFrom(null, 1, 'x'), { maxKeys: 5 }),
)

/** Text that is no JSON, or JSON that no client should send. */
const HOSTILE_BODIES: readonly BodyInit[] = [
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

const HOSTILE_SEGMENTS = ['%', '%zz', '%ff', '%00', '%2F', '%c0%ae', '%ed%a0%80', '%F0%9F%92%A9', '~', '*']

const HEADERS = [
  'Idempotency-Key',
  'If-Match',
  'If-None-Match',
  'If-Range',
  'Range',
  'Content-Type',
  'X-Request-Id',
  'Cookie',
]

/** Header values are Latin-1 without line breaks, whatever a client wants. */
const hostileHeader = fc.oneof(
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

type Mutation = (example: Example) => Example

const mutation: fc.Arbitrary<Mutation> = fc.oneof(
  fc.tuple(fc.nat(), fc.oneof(hostileText.map(encodeWhole), fc.constantFrom(...HOSTILE_SEGMENTS))).map(
    ([at, segment]): Mutation =>
      (example) => {
        const [path = '', query] = example.path.split('?')
        const segments = path.split('/')
        segments[2 + (at % Math.max(segments.length - 2, 1))] = segment
        return { ...example, path: segments.join('/') + (query === undefined ? '' : `?${query}`) }
      },
  ),
  fc
    .tuple(
      fc.constantFrom(
        'limit',
        'cursor',
        'status',
        'projectId',
        'path',
        'cron',
        'timezone',
        'from',
        'count',
        'other',
      ),
      fc.oneof(hostileText.map(encodeWhole), fc.constantFrom(...HOSTILE_SEGMENTS)),
    )
    .map(
      ([name, value]): Mutation =>
        (example) => ({
          ...example,
          path: `${example.path}${example.path.includes('?') ? '&' : '?'}${name}=${value}`,
        }),
    ),
  fc.tuple(fc.constantFrom(...HEADERS), hostileHeader).map(
    ([name, value]): Mutation =>
      (example) => ({ ...example, headers: { ...example.headers, [name]: value } }),
  ),
  fc.tuple(fc.nat(), fc.option(hostileValue, { nil: undefined })).map(
    ([at, value]): Mutation =>
      (example) => ({ ...example, json: replaced(example.json, at, value) }),
  ),
  fc.tuple(hostileText, hostileValue).map(
    ([name, value]): Mutation =>
      (example) => ({ ...example, json: { ...(example.json as object), [name]: value } }),
  ),
  fc.constantFrom(...HOSTILE_BODIES).map(
    (body): Mutation =>
      ({ json, ...example }) => ({
        ...example,
        body,
        headers: { 'Content-Type': 'application/json', ...example.headers },
      }),
  ),
)

/** As a client encodes a segment, apart from lone surrogates, which no URL can have. */
function encodeWhole(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The body with the value at some place in it exchanged; left out, if it is undefined. */
function replaced(json: unknown, at: number, value: unknown): unknown {
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

/** As a client can send it: a GET has no body, and a declared length is that of the body. */
function sendable(method: string, { json, body, ...example }: Example): Example {
  if (method === 'GET') return example
  const content = json === undefined ? body : JSON.stringify(json)
  const length = new Blob(content === undefined ? [] : [content as string]).size
  const headers = { ...(json !== undefined && { 'Content-Type': 'application/json' }), ...example.headers }
  if ('Content-Length' in headers) headers['Content-Length'] = String(length)
  return { ...example, headers, ...(content !== undefined && { body: content }) }
}

/** An error message of 400 says what is wrong and what is allowed, or what the API key lacks. */
const TEACHES = /^\S.*? (is|are|has|does|never|cannot) .*; (allowed|known): \S.*\.$|^This API key /s

const LISTS = ['projects', 'agents', 'sessions', 'pull-requests', 'users', 'skills']

/** Fails if something is stored that no list has, or that can't be retrieved by the id that the list says. */
async function expectReadable(workspace: Workspace, hasContents: boolean): Promise<void> {
  const key = await workspace.addKey()
  const get = async (path: string): Promise<ApiResponse> => {
    const answer = await request('GET', path, { key })
    expect([path, answer.status]).toEqual([path, 200])
    return answer
  }
  for (const list of LISTS) {
    const { body } = await get(`/v1/${list}?limit=1000`)
    for (const { id } of body.items.slice(0, 20)) await get(`/v1/${list}/${encodeURIComponent(id)}`)
    if (list !== 'projects' && list !== 'agents') continue
    for (const { id } of body.items.slice(0, 20)) {
      const schedules = `/v1/${list}/${encodeURIComponent(id)}/schedules`
      for (const schedule of (await get(schedules)).body.items) await get(`${schedules}/${schedule.id}/runs`)
      if (list === 'projects') await get(`/v1/projects/${encodeURIComponent(id)}/environment-variables`)
    }
  }
  for (const { id } of (await get('/v1/sessions?limit=1000')).body.items.slice(0, 5)) {
    const { body } = await get(`/v1/sessions/${id}/files?limit=1000`)
    const files = hasContents ? body.items.slice(0, 20) : []
    for (const file of files) await get(`/v1/sessions/${id}/files/${file.id}/content`)
  }
  await get('/v1/pins')
  for (const path of ['/v1/api-keys', '/v1/runs', '/v1/audit-events']) await get(`${path}?limit=1000`)
}

describe.each(exampleList)('$operationId', ({ operationId, contract, row }) => {
  it(`answers ${REQUESTS} wrong requests as documented, and stores nothing that can't be read`, async () => {
    const errors = vi.spyOn(console, 'error')
    // Its example has files without contents, for there are many.
    const hasContents = operationId !== 'listSessionFiles'
    let workspace = await Workspace.create()
    let example = await row.prepare(workspace)
    let key = await keyFor(workspace, example)
    let count = 0
    const property = fc.asyncProperty(
      fc.array(mutation, { minLength: 1, maxLength: 3 }),
      async (mutations) => {
        const sent = sendable(
          contract.method,
          mutations.reduce((changed, mutate) => mutate(changed), example),
        )
        const { status, body } = await send(operationId, sent, key)
        expect(status).toBeLessThan(500)
        if (status === 400) expect(body.error).toMatch(TEACHES)
        if (++count % 50 > 0) return
        await expectReadable(workspace, hasContents)
        workspace = await Workspace.create()
        example = await row.prepare(workspace)
        key = await keyFor(workspace, example)
      },
    )
    await fc.assert(property, { numRuns: REQUESTS, endOnFailure: true })
    await expectReadable(workspace, hasContents)
    expect(errors.mock.calls).toEqual([])
    errors.mockRestore()
  }, 3_600_000)
})
