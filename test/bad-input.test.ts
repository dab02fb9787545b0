/**
 * Input of every kind of wrongness, for every operation: 10,000 requests each in the long form, a sample of them in
 * `npm test`.
 */
import * as fc from 'fast-check'
import { describe, expect, it, vi } from 'vitest'
import { type ApiResponse, request } from './support/api.ts'
import { type Example, exampleList, keyFor, send } from './support/examples.ts'
import { HOSTILE_BODIES, hostileHeader, hostileText, hostileValue, replaced } from './support/hostile.ts'
import { sized } from './support/long-form.ts'
import { Workspace } from './support/workspace.ts'

const REQUESTS = sized(10, 10_000)

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
      fc.constantFrom('limit', 'cursor', 'status', 'projectId', 'path', 'cron', 'timezone', 'from', 'count', 'other'),
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

/** Encodes a segment as a client does, apart from lone surrogates, which no URL can have. */
function encodeWhole(text: string): string {
  return encodeURIComponent(text.toWellFormed())
}

/** The request as a client can send it: a GET has no body, and a declared length is that of the body. */
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
    const property = fc.asyncProperty(fc.array(mutation, { minLength: 1, maxLength: 3 }), async (mutations) => {
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
    })
    await fc.assert(property, { numRuns: REQUESTS, endOnFailure: true })
    await expectReadable(workspace, hasContents)
    expect(errors.mock.calls).toEqual([])
    errors.mockRestore()
  }, 3_600_000)
})
