import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import type { Contract } from '../../src/http/contract.ts'
import worker from '../../src/index.ts'
import { loadOperations } from '../../src/operations.ts'
import { mintSecret } from '../../src/webhooks/signature.ts'
import { ORIGIN, PREFIX, type RequestOptions, request } from '../support/api.ts'
import { failingDatabase, watchedDatabase } from '../support/bindings.ts'
import { deployed, env } from '../support/env.ts'
import { type Example, exampleList, keyFor, send as sendExample } from '../support/examples.ts'
import { newToken } from '../support/tokens.ts'
import { now, Workspace } from '../support/workspace.ts'

const operations = await loadOperations()

const ID = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'
const LIMIT_BYTES = 64 * 1024

const OPERATIONS = [
  ['PATCH', `/v1/pins/session/${ID}`],
  ['POST', '/v1/projects/website/schedules'],
  ['POST', `/v1/agents/${ID}/schedules`],
  ['GET', `/v1/sessions/${ID}/files`],
  ['GET', `/v1/skills/${ID}`],
  ['DELETE', '/v1/users/ada/profile-picture'],
  ['DELETE', '/v1/projects/website/environment-variables/DATABASE_URL'],
] as const

const BASE_PATHS = ['', PREFIX]
const tooLong = { 'Content-Length': String(LIMIT_BYTES + 1) }
const refusing: Partial<Cloudflare.Env> = {
  RATE_LIMIT: 'on',
  KEY_RATE_LIMIT: { limit: async () => ({ success: false }) },
}

/** The response as it is, for methods whose answers have no body. */
async function send(method: string, path: string, headers: Record<string, string> = {}, origin = ORIGIN) {
  const context = createExecutionContext()
  const response = await worker.fetch(new Request(origin + path, { method, headers }), deployed(env), context)
  await waitOnExecutionContext(context)
  return { status: response.status, headers: response.headers, text: await response.text() }
}

const bearer = (key: string) => ({ Authorization: `Bearer ${key}` })

async function withKey() {
  const workspace = await Workspace.create()
  return { workspace, key: await workspace.addKey() }
}

async function withRevokedKey() {
  const workspace = await Workspace.create()
  const { token, id } = await workspace.addKeyWithId()
  await workspace.revokeKey(id)
  return { workspace, key: token }
}

/** Sends bodies to an operation that creates a schedule of an agent. */
async function withAgent() {
  const { workspace, key } = await withKey()
  const agentId = await workspace.addAgent()
  const post = (body: BodyInit | undefined, headers: Record<string, string> = {}) =>
    request('POST', `/v1/agents/${agentId}/schedules`, {
      key,
      headers: { 'Content-Type': 'application/json', ...headers },
      ...(body !== undefined && { body }),
    })
  return { workspace, key, agentId, post }
}

const SCHEDULE = '{"cron":"0 6 * * *"}'

const bytesOf = (text: string) => new TextEncoder().encode(text)
const notUtf8 = ({ length }: Uint8Array) => ({
  error: `body is not valid UTF-8; got ${length} bytes; allowed: JSON in UTF-8.`,
})

function streamOf(bytes: Uint8Array): ReadableStream {
  return new ReadableStream({
    start(controller) {
      for (let start = 0; start < bytes.length; start += 10_000) controller.enqueue(bytes.slice(start, start + 10_000))
      controller.close()
    },
  })
}

describe('paths and methods', () => {
  it.each(OPERATIONS)('%s %s answers under both base paths', async (method, path) => {
    for (const basePath of BASE_PATHS) expect((await request(method, basePath + path)).status).toBe(401)
  })

  it('answers the same under both base paths', async () => {
    const { workspace, key } = await withKey()
    const skillId = await workspace.addSkill({ 'SKILL.md': 'x' })
    const [plain, prefixed] = await Promise.all(
      BASE_PATHS.map((basePath) => request('GET', `${basePath}/v1/skills/${skillId}`, { key })),
    )
    expect([plain?.status, prefixed?.status]).toEqual([200, 200])
    expect(prefixed?.body).toEqual(plain?.body)
  })

  it.each([
    '/v1',
    '/v1/',
    '/v1/skills/',
    `/v2/skills/${ID}`,
    `/V1/skills/${ID}`,
    `/v1/Skills/${ID}`,
    `/skills/${ID}`,
    `/api/v1/skills/${ID}`,
    `/public-api/v1/skills/${ID}`,
    `${PREFIX}${PREFIX}/v1/skills/${ID}`,
    `/v1/skills/${ID}/files`,
    `/v1/pins/${ID}`,
    '/v1/projects//schedules',
    '/v1/projects/website/environment-variables/',
  ])('%s is 404, with a key or without', async (path) => {
    const { key } = await withKey()
    for (const options of [{}, { key }]) expect((await request('GET', path, options)).status).toBe(404)
  })

  it.each([
    `/v1/skills/${ID}/`,
    `//v1/skills/${ID}`,
    `/v1//skills/${ID}`,
    `/v1/skills//${ID}`,
    `${PREFIX}//v1/skills/${ID}`,
    `${PREFIX}/v1/skills/${ID}/`,
  ])('%s has a slash too many: 404', async (path) => {
    const { key } = await withKey()
    expect((await request('GET', path, { key })).status).toBe(404)
  })

  it.each(OPERATIONS)('%s %s: another method is 405 with Allow', async (method, path) => {
    const allowed = methodsOf(path)
    expect(allowed).toContain(method)
    const others = ['GET', 'PUT', 'POST', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND'].filter(
      (other) => !allowed.includes(other),
    )
    for (const basePath of BASE_PATHS) {
      for (const other of others) {
        const answer = await request(other, basePath + path)
        const found = [other, answer.status, answer.headers.get('Allow')]
        expect(found).toEqual([other, 405, allowed.join(', ')])
      }
    }
  })

  it('answers 405 to HEAD where GET is not answered', async () => {
    for (const [, path] of OPERATIONS) {
      const allowed = methodsOf(path)
      if (allowed.includes('GET')) continue
      const { status, headers, text } = await send('HEAD', path)
      expect([path, status, headers.get('Allow'), text]).toEqual([path, 405, allowed.join(', '), ''])
    }
  })

  it('answers HEAD as GET, without the body', async () => {
    const { workspace, key } = await withKey()
    const skillId = await workspace.addSkill({ 'SKILL.md': 'x' })
    const path = `/v1/skills/${skillId}`
    const get = await send('GET', path, bearer(key))
    const head = await send('HEAD', path, bearer(key))
    expect([head.status, head.text]).toEqual([200, ''])
    for (const header of ['ETag', 'Content-Type', 'Cache-Control']) {
      expect([header, head.headers.get(header)]).toEqual([header, get.headers.get(header)])
    }
    const etag = get.headers.get('ETag') ?? ''
    expect((await send('HEAD', path, { ...bearer(key), 'If-None-Match': etag })).status).toBe(304)
    expect((await send('HEAD', path)).status).toBe(401)
    expect((await send('HEAD', `/v1/skills/${ID}`, bearer(key))).status).toBe(404)
    expect((await send('HEAD', '/v1/nothing', bearer(key))).status).toBe(404)
  })

  it('refuses parameters that the operation does not know, and one that is sent twice', async () => {
    const { workspace, key } = await withKey()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const files = `/v1/sessions/${sessionId}/files`
    for (const [query, names] of [
      ['?x', ['x']],
      ['?x=1&y=2', ['x', 'y']],
      ['?__proto__=1&constructor=2', ['__proto__', 'constructor']],
      ['?a+b=1', ['a b']],
    ] as const) {
      const error = names.map((name) => `${name} is not a known query parameter; known: limit, cursor.`).join(' ')
      const answer = await request('GET', files + query, { key })
      expect([query, answer.status, answer.body.error]).toEqual([query, 400, error])
    }
    for (const query of ['?', '?&', '?limit=1&', '?#page=2']) {
      expect([query, (await request('GET', files + query, { key })).status]).toEqual([query, 200])
    }
    for (const query of ['?%zz=1', '?x=%zz', '?limit=1&limit=2', '?limit=1&limit=1', `?cursor=${ID}&cursor=${ID}`]) {
      expect([query, (await request('GET', files + query, { key })).status]).toEqual([query, 400])
    }
  })

  it.each(exampleList)('refuses an unknown parameter of $operationId', async ({ operationId, contract, row }) => {
    const workspace = await Workspace.create()
    const example = await row.prepare(workspace)
    const path = `${example.path}${example.path.includes('?') ? '&' : '?'}unknown=1`
    const { status, body } = await sendExample(operationId, { ...example, path }, await keyFor(workspace, example))
    const known = Object.keys(contract.query?.shape ?? {}).join(', ') || 'none'
    // An error of an operation that takes a secret repeats no name.
    const name = contract.takesSecret ? '…' : 'unknown'
    const error = `${name} is not a known query parameter; known: ${known}.`
    expect([status, body]).toEqual([400, { error }])
  })
})

/** The methods that a path answers, in the order of the list of operations. */
function methodsOf(path: string): string[] {
  const contracts = operations
    .map(({ contract }) => contract)
    .filter((contract) =>
      new RegExp(`^${contract.path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path.replace(/\?.*/, '')),
    )
  return contracts.flatMap(({ method }) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
}

describe('the order of the checks', () => {
  it('looks at the path before the method and the length', async () => {
    const answer = await request('PUT', '/v1/nothing', { headers: tooLong, body: 'x' })
    expect([answer.status, answer.headers.has('Allow')]).toEqual([404, false])
  })

  it('looks at the method before the length', async () => {
    const answer = await request('POST', `/v1/pins/session/${ID}`, { headers: tooLong, body: 'x' })
    expect([answer.status, answer.headers.get('Allow')]).toEqual([405, 'PATCH, PUT, DELETE'])
  })

  it('looks at the declared length before the token, and reads nothing', async () => {
    let pulled = 0
    const body = new ReadableStream(
      {
        pull: () => {
          pulled++
        },
      },
      { highWaterMark: 0 },
    )
    for (const headers of [tooLong, { ...tooLong, Authorization: 'Bearer wsk_x' }]) {
      const answer = await request('PATCH', `/v1/pins/session/${ID}`, { headers, body })
      expect(answer.status).toBe(413)
    }
    expect(pulled).toBe(0)
  })

  it('looks at the form of the token before it counts the request', async () => {
    const environment = refusing
    expect((await request('GET', `/v1/skills/${ID}`, { environment })).status).toBe(401)
    expect((await request('GET', `/v1/skills/${ID}`, { environment, key: 'wsk_x' })).status).toBe(401)
  })

  it('counts the request before it asks whether the key is live, or reads the input', async () => {
    const { key } = await withRevokedKey()
    const use = watchedDatabase()
    const environment = { ...refusing, DB: use.DB }
    for (const path of [`/v1/skills/${ID}`, '/v1/skills/7', '/v1/skills/%zz']) {
      const answer = await request('GET', path, { key, environment })
      expect([path, answer.status, answer.headers.get('Retry-After')]).toEqual([path, 429, '60'])
    }
    expect(use.calls).toBe(0)
  })

  it.each<[string, string, string, Omit<RequestOptions, 'key'>]>([
    ['a wrong path parameter', 'GET', '/v1/skills/7', {}],
    ['a path that does not decode', 'GET', '/v1/skills/%zz', {}],
    ['a wrong query parameter', 'GET', `/v1/sessions/${ID}/files?limit=x`, {}],
    ['an unknown query parameter', 'GET', '/v1/me?page=2', {}],
    ['a query parameter given twice', 'GET', `/v1/sessions/${ID}/files?limit=1&limit=1`, {}],
    ['a wrong header', 'POST', `/v1/agents/${ID}/schedules`, { headers: { 'Idempotency-Key': '' } }],
    [
      'another content type',
      'PATCH',
      `/v1/pins/session/${ID}`,
      { body: '{}', headers: { 'Content-Type': 'text/plain' } },
    ],
    [
      'malformed JSON',
      'PATCH',
      `/v1/pins/session/${ID}`,
      { body: '{', headers: { 'Content-Type': 'application/json' } },
    ],
    [
      'a body over the limit that is not declared',
      'PATCH',
      `/v1/pins/session/${ID}`,
      {
        body: streamOf(new Uint8Array(LIMIT_BYTES + 1)),
        headers: { 'Content-Type': 'application/json' },
      },
    ],
    ['a wrong property', 'PATCH', `/v1/pins/session/${ID}`, { json: { placement: 3 } }],
    ['an unknown property', 'POST', `/v1/agents/${ID}/schedules`, { json: { cron: '0 6 * * *', x: 1 } }],
    ['a cron that never fires', 'POST', `/v1/agents/${ID}/schedules`, { json: { cron: '0 0 30 2 *' } }],
  ])('%s with a key that is not live is 401 and costs one trip', async (_name, method, path, options) => {
    const { key } = await withRevokedKey()
    const use = watchedDatabase()
    const answer = await request(method, path, { ...options, key, environment: { DB: use.DB } })
    expect([answer.status, answer.headers.get('WWW-Authenticate')]).toEqual([401, 'Bearer error="invalid_token"'])
    expect(use.calls).toBe(1)
  })

  it('looks at the input before the caller scope', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ scopes: [], userId: null })
    const path = await request('GET', '/v1/skills/7', { key })
    expect([path.status, path.body.error]).toEqual([
      400,
      `skillId has the wrong format; got "7"; allowed: a UUID such as "${ID}".`,
    ])
    const body = await request('PATCH', `/v1/pins/session/${ID}`, { key, json: { placement: 3 } })
    expect([body.status, body.body.error]).toEqual([
      400,
      'placement is not an object; got 3; allowed: an object with target, position.',
    ])
  })

  it('looks at the caller scope before what there is', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ scopes: ['pins:write'] })
    const skill = await request('GET', `/v1/skills/${ID}`, { key })
    expect([skill.status, skill.body.error]).toEqual([
      400,
      'This API key lacks the scope "skills:read". Use a key that has it; GET /v1/me shows the scopes of a key.',
    ])
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await request('DELETE', '/v1/users/nobody/profile-picture', { key: withoutUser })).status).toBe(400)
  })

  it('looks at what there is before what the key may touch', async () => {
    const workspace = await Workspace.create()
    const projectId = await workspace.addProject()
    const key = await workspace.addKey({ projectIds: [] })
    const variables = `/v1/projects/${projectId}/environment-variables`
    await workspace.addVariable(projectId, 'HERE')
    expect((await request('DELETE', `${variables}/MISSING`, { key })).status).toBe(404)
    expect((await request('DELETE', `${variables}/HERE`, { key })).status).toBe(403)
    expect((await request('GET', `/v1/sessions/${ID}/files`, { key })).status).toBe(404)
  })

  it('looks at what the key may touch before the states: 403, 410, 409', async () => {
    const workspace = await Workspace.create()
    const projectId = await workspace.addProject()
    const sessionId = await workspace.addSession(projectId)
    const cursor = await workspace.addSessionFile(await workspace.addSession(projectId), 'a.ts')
    const files = `/v1/sessions/${sessionId}/files?cursor=${cursor}`
    const limited = await workspace.addKey({ projectIds: [] })
    const unlimited = await workspace.addKey()

    expect((await request('GET', files, { key: limited })).status).toBe(403)
    expect((await request('GET', files, { key: unlimited })).status).toBe(409)
    await workspace.deleteSession(sessionId)
    expect((await request('GET', files, { key: limited })).status).toBe(403)
    expect((await request('GET', files, { key: unlimited })).status).toBe(410)

    await workspace.addVariable(projectId, 'HERE')
    await workspace.archiveProject(projectId)
    const variable = `/v1/projects/${projectId}/environment-variables/HERE`
    expect((await request('DELETE', variable, { key: limited })).status).toBe(403)
    expect((await request('DELETE', variable, { key: unlimited })).status).toBe(409)
    const schedules = `/v1/projects/${projectId}/schedules`
    const json = { cron: '0 6 * * *', timezone: 'UTC' }
    expect((await request('POST', schedules, { key: limited, json })).status).toBe(403)
    expect((await request('POST', schedules, { key: unlimited, json })).status).toBe(409)
  })
})

describe('bodies', () => {
  it('that are compressed are refused, also those of uploads and of /mcp', async () => {
    const { post, key, workspace } = await withAgent()
    const error =
      'Content-Encoding is not supported; got "gzip"; allowed: "identity". Send the body without compression.'
    const gzip = { 'Content-Encoding': 'gzip' }
    const zipped = await new Response(
      new Blob([SCHEDULE]).stream().pipeThrough(new CompressionStream('gzip')),
    ).arrayBuffer()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const upload = { key, body: bytesOf('x'), headers: gzip }
    for (const answer of [
      await post(zipped, gzip),
      await request('PUT', `/v1/sessions/${sessionId}/files?path=x`, upload),
      await request('POST', '/mcp', upload),
    ]) {
      expect([answer.status, answer.body]).toEqual([400, { error }])
    }
    expect((await post(SCHEDULE, { 'Content-Encoding': 'Identity' })).status).toBe(201)
  })

  it.each([
    'application/json',
    'Application/JSON',
    'application/json; charset=utf-8',
    'application/json;charset=UTF-8',
    'application/json; charset="utf-8"',
    'application/json ; charset=utf-8',
  ])('takes %s', async (type) => {
    const { post } = await withAgent()
    expect((await post(bytesOf(SCHEDULE), { 'Content-Type': type })).status).toBe(201)
  })

  it.each([
    'text/plain',
    'text/json',
    'application/jsonp',
    'application/problem+json',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'application/json, text/plain',
    'application/x-www-form-urlencoded',
  ])('refuses %s', async (type) => {
    const { workspace, post } = await withAgent()
    const answer = await post(bytesOf(SCHEDULE), { 'Content-Type': type })
    const error = expect.stringContaining(`Content-Type is not supported; got ${JSON.stringify(type)};`)
    expect([answer.status, answer.body]).toEqual([400, { error }])
    expect(await workspace.dump('schedules')).toEqual([])
  })

  it.each<[string, RequestOptions]>([
    ['without a content type', {}],
    ['with the content type of JSON', { headers: { 'Content-Type': 'application/json' } }],
    ['of length 0, as forms are sent', { body: '', headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }],
  ])('may be left out where all properties are optional, %s', async (_name, options) => {
    const { key } = await withKey()
    const answer = await request('POST', '/v1/run-endpoint/rotate', { key, ...options })
    expect([answer.status, answer.headers.get('Error-Code')]).toEqual([404, 'run_endpoint_not_found'])
  })

  it('needs a content type where all properties are optional, if it is sent', async () => {
    const { key } = await withKey()
    const { status, body } = await request('POST', '/v1/run-endpoint/rotate', { key, body: bytesOf('{}') })
    expect([status, body.error]).toEqual([400, expect.stringContaining('Content-Type is missing')])
  })

  it.each([
    ['a stray byte', [0xff]],
    ['a sequence cut short', [0xe2, 0x82]],
    ['an overlong slash', [0xc0, 0xaf]],
    ['an encoded surrogate', [0xed, 0xa0, 0x80]],
  ])('refuses invalid UTF-8: %s', async (_name, bytes) => {
    const { post } = await withAgent()
    const body = new Uint8Array([...bytesOf('{"cron":"0 6 * * *'), ...bytes, ...bytesOf('"}')])
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([400, notUtf8(body)])
  })

  it('refuses UTF-8 that is cut short at the end of the body', async () => {
    const { post } = await withAgent()
    const body = new Uint8Array([...bytesOf(SCHEDULE), 0xe2, 0x82])
    const answer = await post(body)
    expect([answer.status, answer.body]).toEqual([400, notUtf8(body)])
  })

  it('refuses UTF-16', async () => {
    const { post } = await withAgent()
    const units = Uint16Array.from(`\ufeff${SCHEDULE}`, (character) => character.charCodeAt(0))
    expect((await post(new Uint8Array(units.buffer))).status).toBe(400)
  })

  it('ignores a byte order mark, as RFC 8259 allows, and only one', async () => {
    const { post } = await withAgent()
    expect((await post(bytesOf(`\ufeff${SCHEDULE}`))).status).toBe(201)
    expect((await post(bytesOf(`\ufeff\ufeff${SCHEDULE}`))).status).toBe(400)
  })

  it('takes the last of duplicate keys, and checks that one', async () => {
    const { post } = await withAgent()
    expect((await post('{"cron":"nonsense","cron":"0 6 * * *"}')).body.cron).toBe('0 6 * * *')
    expect((await post('{"cron":"0 6 * * *","cron":"nonsense"}')).status).toBe(400)
  })

  it.each(['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', ''])(
    'refuses the unknown property "%s" at every level',
    async (name) => {
      const { key } = await withKey()
      const extra = `${JSON.stringify(name)}:{"cron":"x"}`
      const target = (more: string) => `"target":{"type":"session","id":"${ID}"${more}}`
      const bodies = [
        `{${extra},"placement":{${target('')},"position":"before"}}`,
        `{"placement":{${extra},${target('')},"position":"before"}}`,
        `{"placement":{${target(`,${extra}`)},"position":"before"}}`,
      ]
      for (const body of bodies) {
        const answer = await request('PATCH', `/v1/pins/session/${ID}`, {
          key,
          body,
          headers: { 'Content-Type': 'application/json' },
        })
        expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining('is not a known property')])
      }
    },
  )

  it('names what every object has, also where it may be a secret', async () => {
    const { key } = await withKey()
    const [json, url] = [{ 'Content-Type': 'application/json' }, 'https://hooks.example.com']
    const { body } = await request('PUT', '/v1/run-endpoint', {
      key,
      body: `{"url":"${url}","__proto__":1,"secret":1}`,
      headers: json,
    })
    expect(body.error).toBe('__proto__ is not a known property; known: url. … is not a known property; known: url.')
  })

  it('does not take a property from "__proto__"', async () => {
    const { post } = await withAgent()
    expect((await post('{"__proto__":{"cron":"0 6 * * *"}}')).status).toBe(400)
    expect(Object.hasOwn(Object.prototype, 'cron')).toBe(false)
  })

  it('refuses deep nesting wherever it stands', async () => {
    const { post } = await withAgent()
    const deep = (open: string, close: string, depth: number) => open.repeat(depth) + close.repeat(depth)
    for (const nested of [deep('[', ']', 30_000), `${'{"a":'.repeat(9000)}1${'}'.repeat(9000)}`]) {
      for (const body of [nested, `{"cron":${nested}}`, `{"cron":"0 6 * * *","x":${nested}}`]) {
        expect((await post(body)).status).toBe(400)
      }
    }
    expect((await post('['.repeat(LIMIT_BYTES))).status).toBe(400)
  })

  it('names unknown properties in few words, whatever they are called', async () => {
    const { post } = await withAgent()
    const names = Array.from({ length: 2000 }, (_, index) => `"${index}${'x'.repeat(20)}":1`)
    const many = await post(`{"cron":"0 6 * * *",${names.join()}}`)
    expect([many.status, many.body.error.length < 1000]).toEqual([400, true])
    const long = await post(`{"cron":"0 6 * * *","${'x'.repeat(60_000)}":1}`)
    expect([long.status, long.body.error.length < 1000]).toEqual([400, true])
    const lone = await post('{"cron":"0 6 * * *","\\ud83d":1}')
    expect([lone.status, lone.body.error.isWellFormed()]).toEqual([400, true])
  })

  it.each([
    ['a high surrogate', '\\ud83d', 'a lone surrogate'],
    ['a low surrogate', '\\udc00', 'a lone surrogate'],
    ['surrogates in the wrong order', '\\udc00\\ud83d', 'a lone surrogate'],
    ['NUL', '\\u0000', 'a NUL character'],
  ])('refuses %s in a string, and says so', async (_name, escaped, word) => {
    const { workspace, key, post } = await withAgent()
    const projectId = await workspace.addProject()
    const cron = await post(`{"cron":"0 6 * * *${escaped}"}`)
    expect([cron.status, cron.body.error]).toEqual([400, expect.stringContaining(word)])
    const timezone = await request('POST', `/v1/projects/${projectId}/schedules`, {
      key,
      body: `{"cron":"0 6 * * *","timezone":"UTC${escaped}"}`,
      headers: { 'Content-Type': 'application/json' },
    })
    expect([timezone.status, timezone.body.error]).toEqual([400, expect.stringContaining(word)])
    const target = await request('PATCH', `/v1/pins/session/${ID}`, {
      key,
      body: `{"placement":{"target":{"type":"session","id":"${ID}${escaped}"},"position":"before"}}`,
      headers: { 'Content-Type': 'application/json' },
    })
    expect(target.status).toBe(400)
    expect(await workspace.dump('schedules')).toEqual([])
  })

  it('takes 64 KiB and not one byte more, declared', async () => {
    const { post } = await withAgent()
    const declare = (bytes: number) => post(SCHEDULE.padEnd(bytes), { 'Content-Length': String(bytes) })
    expect((await declare(LIMIT_BYTES)).status).toBe(201)
    expect((await declare(LIMIT_BYTES + 1)).status).toBe(413)
  })

  it('takes 64 KiB and not one byte more, not declared or declared wrongly', async () => {
    const { workspace, post } = await withAgent()
    const stream = (bytes: number, headers = {}) => post(streamOf(bytesOf(SCHEDULE.padEnd(bytes))), headers)
    expect((await stream(LIMIT_BYTES)).status).toBe(201)
    expect((await stream(LIMIT_BYTES + 1)).status).toBe(413)
    expect((await stream(10 * LIMIT_BYTES, { 'Content-Length': '20' })).status).toBe(413)
    expect(await workspace.dump('schedules')).toHaveLength(1)
  })

  it('counts bytes and not characters', async () => {
    const { post } = await withAgent()
    const inBytes = (bytes: number) => {
      const name = 'é'.repeat(1000)
      return `{"cron":"0 6 * * *","${name}":1}`.padEnd(bytes - 1000)
    }
    expect((await post(streamOf(bytesOf(inBytes(LIMIT_BYTES))))).status).toBe(400)
    expect((await post(streamOf(bytesOf(inBytes(LIMIT_BYTES + 1))))).status).toBe(413)
  })

  it.each(OPERATIONS)('%s %s refuses a declared length over the limit', async (method, path) => {
    const { key } = await withKey()
    const body = method === 'GET' ? {} : { body: 'x' }
    expect((await request(method, path, { key, headers: tooLong, ...body })).status).toBe(413)
  })
})

describe('segments', () => {
  const templates = [
    ['PATCH', (segment: string) => `/v1/pins/${segment}/${ID}`],
    ['PATCH', (segment: string) => `/v1/pins/session/${segment}`],
    ['POST', (segment: string) => `/v1/projects/${segment}/schedules`],
    ['POST', (segment: string) => `/v1/agents/${segment}/schedules`],
    ['GET', (segment: string) => `/v1/sessions/${segment}/files`],
    ['GET', (segment: string) => `/v1/skills/${segment}`],
    ['DELETE', (segment: string) => `/v1/users/${segment}/profile-picture`],
    ['DELETE', (segment: string) => `/v1/projects/${segment}/environment-variables/KEY`],
    ['DELETE', (segment: string) => `/v1/projects/website/environment-variables/${segment}`],
  ] as const

  it.each(['%', '%z', '%zz', '%4', 'a%', '%C3', '%C0%AF', '%ED%A0%80', '%FF', '%F4%90%80%80', '%00', 'a%00b'])(
    'refuses the segment %s, after the token',
    async (segment) => {
      const { key } = await withKey()
      for (const [method, path] of templates) {
        expect([path(segment), (await request(method, path(segment))).status]).toEqual([path(segment), 401])
        for (const basePath of BASE_PATHS) {
          const answer = await request(method, basePath + path(segment), { key })
          expect([path(segment), answer.status]).toEqual([path(segment), 400])
        }
      }
    },
  )

  it('decodes a segment once, and leaves an encoded slash in it', async () => {
    const { workspace, key } = await withKey()
    for (const id of ['a/b', '/', '//', '../etc', 'a%2Fb', '%', '%2e%2e', '...', 'a?b#c', ' ', '+', 'é\u0301']) {
      await workspace.addProject(id)
      await workspace.addVariable(id, 'KEY')
      const path = `/v1/projects/${encodeURIComponent(id)}/environment-variables/KEY`
      const answer = await request('DELETE', path, { key })
      expect([id, answer.status, answer.body]).toEqual([id, 200, { deleted: true, key: 'KEY' }])
    }
    expect(await workspace.dump('environmentVariables')).toEqual([])
  })

  it('leaves a segment encoded where it leads back to the caller', async () => {
    const { workspace, key } = await withKey()
    const json = { cron: '0 6 * * *', timezone: 'UTC' }
    for (const id of ['a/b', 'a b', '50%', '%2F', '\u00e9?#', 'x"y']) {
      await workspace.addProject(id)
      for (const basePath of BASE_PATHS) {
        const path = `${basePath}/v1/projects/${encodeURIComponent(id)}/schedules`
        const { status, headers, body } = await request('POST', path, { key, json })
        expect([status, headers.get('Location')]).toEqual([201, `${path}/${body.id}`])
      }
    }
  })

  it.each(['.', '..', '%2e', '%2E', '%2e%2e', '.%2E'])('finds nothing at the segment %s', async (segment) => {
    const { key } = await withKey()
    expect((await request('DELETE', `/v1/users/${segment}/profile-picture`, { key })).status).toBe(404)
    const variable = `/v1/projects/${segment}/environment-variables/KEY`
    expect((await request('DELETE', variable, { key })).status).toBe(404)
  })
})

describe('headers', () => {
  it('gives each response an id of its own, whatever the request brings', async () => {
    const { key } = await withKey()
    const ids = new Set<string | null>()
    const headers = { 'X-Request-Id': ID }
    const paths = ['/v1/nothing', `/v1/skills/${ID}`, '/v1/skills/7', '/health', '/openapi.json']
    for (const path of [...paths, ...paths]) {
      for (const options of [{ headers }, { headers, key }]) {
        ids.add((await request('GET', path, options)).headers.get('X-Request-Id'))
      }
    }
    expect(ids.size).toBe(4 * paths.length)
    expect(ids.has(ID)).toBe(false)
  })

  it('lets nothing be stored, and an entity tag be asked about again', async () => {
    const { workspace, key } = await withKey()
    const skillId = await workspace.addSkill({})
    const skill = await request('GET', `/v1/skills/${skillId}`, { key })
    expect(skill.headers.get('Cache-Control')).toBe('private, no-cache')
    const headers = { 'If-None-Match': skill.headers.get('ETag') ?? '' }
    const current = await request('GET', `/v1/skills/${skillId}`, { key, headers })
    expect([current.status, current.headers.get('Cache-Control')]).toEqual([304, 'private, no-cache'])
    for (const path of [`/v1/skills/${ID}`, '/v1/nothing', '/health']) {
      expect((await request('GET', path, { key })).headers.get('Cache-Control')).toBe('no-store')
    }
  })

  it('answers in JSON, errors included', async () => {
    const { key } = await withKey()
    for (const [method, path] of [
      ['GET', '/v1/nothing'],
      ['PUT', `/v1/skills/${ID}`],
      ['GET', '/v1/skills/7'],
      ['DELETE', '/v1/users/ada/profile-picture'],
    ] as const) {
      const { headers } = await request(method, path, { key })
      expect(headers.get('Content-Type')).toMatch(/^application\/json\b/)
    }
  })
})

describe('what is unforeseen', () => {
  it('is logged with the request id and the stack, without values, and answered in a constant sentence', async () => {
    const { key } = await withKey()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error(`secret value of ${now()}`))
    const first = await request('GET', `/v1/skills/${ID}`, { key, environment: { DB } })
    const second = await request('GET', `/v1/sessions/${ID}/files`, { key, environment: { DB } })
    const lines = logged.mock.calls.map(([line]) => String(line))
    logged.mockRestore()

    expect([first.status, second.status]).toEqual([500, 500])
    expect(second.body).toEqual(first.body)
    expect(lines).toHaveLength(2)
    expect(JSON.parse(lines[0] ?? '').requestId).toBe(first.headers.get('X-Request-Id'))
    expect(JSON.parse(lines[0] ?? '').failure.stack).not.toHaveLength(0)
    for (const text of [...lines, first.body.error]) {
      expect(text).not.toContain('secret value')
      expect(text).not.toContain(key)
      expect(text).not.toContain(ID)
    }
  })

  it('includes a setting that is no number', async () => {
    const { key } = await withKey()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const answer = await request('GET', `/v1/skills/${ID}`, { key, environment: { PIN_LIMIT: 'many' } })
    logged.mockRestore()
    expect([answer.status, answer.body.error]).toEqual([500, expect.not.stringContaining('PIN_LIMIT')])
  })
})

/**
 * The example with the token in place of each part of its path that may change, and of its query, and of what
 * is in its headers and body.
 */
function* withToken(example: Example, contract: Contract, token: string): Generator<Example> {
  const [pathname = ''] = example.path.split('?')
  for (const [index, part] of contract.path.split('/').entries()) {
    if (!part.startsWith('{')) continue
    for (const text of [token, `%zz${token}`])
      yield { ...example, path: pathname.split('/').with(index, encode(text)).join('/') }
  }
  for (const name of Object.keys(contract.query?.shape ?? {})) {
    for (const query of [`${name}=${encode(token)}`, `${name}=%zz${token}`, `${name}=${token}&${name}=${token}`])
      yield { ...example, path: `${pathname}?${query}` }
  }
  for (const name of Object.keys(contract.headers?.shape ?? {}))
    yield { ...example, headers: { ...example.headers, [name]: token } }
  if (!contract.body) return
  const { json, ...rest } = example
  for (const body of [token, [token], { [token]: token }, ...spoiled(json, token)]) yield { ...rest, json: body }
  yield { ...rest, body: token, headers: { 'Content-Type': 'application/json' } }
  yield { ...rest, body: '{}', headers: { 'Content-Type': token } }
}

const encode = (text: string) => encodeURIComponent(text).replaceAll('%25zz', '%zz')

/** The value with the token in place of each value in it, in turn, and as the name of one more. */
function spoiled(value: unknown, token: string): unknown[] {
  if (Array.isArray(value)) {
    return [token, ...value.flatMap((item, index) => spoiled(item, token).map((other) => value.with(index, other)))]
  }
  if (typeof value !== 'object' || value === null) return [token, [token], { [token]: token }, `${token}\0`]
  const changed = Object.entries(value).flatMap(([name, inner]) =>
    spoiled(inner, token).map((other) => ({ ...value, [name]: other })),
  )
  return [token, { ...value, [token]: token }, ...changed]
}

describe('a token at the wrong place', () => {
  it.each(exampleList)('is not repeated by a refusal of $operationId', async ({ operationId, contract, row }) => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    let refusals = 0
    for (const token of [newToken(), mintSecret()]) {
      const example = await row.prepare(workspace)
      for (const wrong of withToken(example, contract, token)) {
        const { status, headers, body } = await sendExample(operationId, wrong, key)
        if (status < 400) continue
        refusals++
        expect(status).toBeLessThan(500)
        expect(JSON.stringify([body, ...headers])).not.toContain(token.slice(6, 20))
      }
    }
    const isAllSaid = contract.path.includes('{') || contract.query || contract.body
    expect(refusals > 0).toBe(isAllSaid !== undefined)
  })
})

describe('/mcp', () => {
  it.each(['', PREFIX])('is forwarded to the MCP Worker under "%s"', async (base) => {
    const sent: Request[] = []
    const MCP = {
      fetch: async (received: Request) => sent.push(received) && Response.json('answered'),
    } as unknown as Fetcher
    const { key } = await withKey()
    const { status, headers, body } = await request('POST', `${base}/mcp`, {
      key,
      json: {},
      environment: { MCP },
    })
    expect([status, body, headers.get('Cache-Control')]).toEqual([200, 'answered', 'no-store'])
    expect(sent.map(({ url }) => url)).toEqual([`${ORIGIN}${base}/mcp`])
    expect(sent[0]?.headers.get('Authorization')).toBe(`Bearer ${key}`)
  })

  it.each(['GET', 'DELETE', 'OPTIONS'])('says that it has no %s, under both base paths', async (method) => {
    for (const base of ['', PREFIX]) {
      const { status, headers, body } = await request(method, `${base}/mcp`)
      expect([status, headers.get('Allow'), headers.get('Error-Code')]).toEqual([405, 'POST', 'method_not_allowed'])
      expect(body).toEqual({
        error: `method is not allowed for this path; got "${method}"; allowed: POST.`,
      })
    }
  })

  it('is an unknown path without the MCP Worker', async () => {
    const environment = { MCP: undefined } as unknown as Partial<Cloudflare.Env>
    const { status, headers } = await request('POST', '/mcp', { environment })
    expect([status, headers.get('Error-Code')]).toEqual([404, 'path_not_found'])
  })

  it.each(['https://app.example.com', 'http://workspace.example'])(
    'refuses pages of %s without CORS_ORIGINS, and lets them read why',
    async (origin) => {
      const headers = { Origin: origin, 'Access-Control-Request-Method': 'POST' }
      for (const base of ['', PREFIX]) {
        const preflight = await request('OPTIONS', `${base}/mcp`, { headers })
        expect([preflight.status, preflight.headers.get('Access-Control-Allow-Origin')]).toEqual([204, origin])
        const refused = await request('POST', `${base}/mcp`, { headers: { Origin: origin } })
        expect([refused.status, refused.headers.get('Error-Code')]).toEqual([403, 'origin_forbidden'])
        expect(refused.headers.get('Access-Control-Allow-Origin')).toBe(origin)
        expect(refused.headers.get('Access-Control-Expose-Headers')).toContain('WWW-Authenticate')
      }
    },
  )

  it.each([
    [ORIGIN, 401],
    ['http://localhost:8787', 401],
    ['http://[::1]:8787', 401],
    // DNS rebinding: a website has made its own name mean this machine.
    ['http://rebound.example.com:8787', 403],
  ])('answers pages of its own origin %s with %i', async (origin, status) => {
    expect((await send('POST', '/mcp', { Origin: origin }, origin)).status).toBe(status)
  })
})
