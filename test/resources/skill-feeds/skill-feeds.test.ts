import { hash } from 'node:crypto'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type ApiResponse, ORIGIN, PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { databaseWith, failingDatabase, failingObjects, objectsWith, watchedDatabase } from '../../support/bindings.ts'
import { summariesOf } from '../../support/events.ts'
import { dumpStores } from '../../support/examples.ts'
import { hashOf, newToken } from '../../support/tokens.ts'
import { type KeyOptions, Workspace } from '../../support/workspace.ts'

const INDEX = '/.well-known/agent-skills/index.json'
const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const FAR_AHEAD = '2999-01-01T00:00:00.000Z'
const MINUTE_MS = 60_000

interface Offer {
  readonly name: string
  readonly description: string
  readonly type: string
  readonly url: string
  readonly digest: string
}

interface NewFeed {
  readonly name?: string
  readonly skills?: readonly { readonly skillId: string; readonly version?: number }[]
  readonly expiresAt?: string | null
}

afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

const bodyOf = (name: string, text = 'First.', description = `Writes ${name}.`) => ({
  files: [
    { filename: 'SKILL.md', content: `---\nname: ${name}\ndescription: ${description}\n---\n\n${text}\n` },
    { filename: 'bin/run.sh', content: '#!/bin/sh\n', executable: true },
  ],
})

/** A client of the API with a key of its own. */
async function newClient(options: KeyOptions = {}, workspace?: Workspace) {
  const place = workspace ?? (await Workspace.create())
  const { token: key, id: keyId } = await place.addKeyWithId(options)
  const send = async (method: string, path: string, json?: object) => {
    const response = await request(method, path, { key, ...(json && { json }) })
    expect(response.status, JSON.stringify(response.body)).toBeLessThan(300)
    return response
  }
  return {
    workspace: place,
    key,
    keyId,
    send,
    /** @returns the ID of the skill. */
    addSkill: async (...args: Parameters<typeof bodyOf>): Promise<string> =>
      (await send('POST', '/v1/skills', bodyOf(...args))).body.id,
    updateSkill: (skillId: string, ...args: Parameters<typeof bodyOf>) =>
      send('PATCH', `/v1/skills/${skillId}`, bodyOf(...args)),
    async addFeed(feed: NewFeed = {}) {
      const { body } = await send('POST', '/v1/skill-feeds', { name: 'Laptops', ...feed })
      const url: string = body.url
      return { id: String(body.id), url, path: url.slice(ORIGIN.length), token: url.slice(-53) }
    },
  }
}

const indexOf = (feed: { readonly path: string }, options?: RequestOptions) =>
  request('GET', feed.path + INDEX, options)

/** @param offer an entry of the index, whose `url` is relative to it. */
const archiveOf = (feed: { readonly path: string }, { url }: Pick<Offer, 'url'>, options?: RequestOptions) =>
  request('GET', new URL(url, ORIGIN + feed.path + INDEX).pathname, options)

async function offersOf(feed: { readonly path: string }): Promise<Offer[]> {
  const { status, body } = await indexOf(feed)
  expect(status).toBe(200)
  return body.skills
}

/** What a feed offers, as `name description`, after each archive was found under its URL and with its digest. */
async function offered(feed: { readonly path: string }): Promise<string[]> {
  const offers = await offersOf(feed)
  for (const offer of offers) {
    const { status, body } = await archiveOf(feed, offer)
    expect([status, `sha256:${hash('sha256', body)}`]).toEqual([200, offer.digest])
  }
  return offers.map(({ name, description }) => `${name} ${description}`)
}

const NOT_FOUND = { status: 404, code: 'skill_feed_not_found', body: { error: expect.any(String) } }

const refusalOf = ({ status, headers, body }: ApiResponse) => ({
  status,
  code: headers.get('Error-Code'),
  body,
})

/** Fails unless the feed answers 404 to both kinds of requests. */
async function expectEnded(feed: { readonly path: string }, offer: Offer): Promise<void> {
  const index = refusalOf(await indexOf(feed))
  expect(index).toEqual(NOT_FOUND)
  expect(refusalOf(await archiveOf(feed, offer))).toEqual(index)
}

/** A client with a skill and a feed that offers it. */
async function withFeed(options: KeyOptions = {}, feed: NewFeed = {}) {
  const client = await newClient(options)
  const skillId = await client.addSkill('notes')
  const made = await client.addFeed(feed)
  const [offer] = await offersOf(made)
  return { ...client, skillId, feed: made, offer: offer as Offer }
}

describe('a feed', () => {
  it('is created, listed without its URL, and deleted', async () => {
    const { send, addSkill, keyId, workspace } = await newClient()
    const skillId = await addSkill('notes')
    const json = { name: 'Laptops', skills: [{ skillId }, { skillId: await addSkill('plans'), version: 1 }] }
    const { status, headers, body } = await send('POST', '/v1/skill-feeds', {
      ...json,
      expiresAt: '2999-01-01T01:00:00+01:00',
    })
    const { url, ...feed } = body
    expect([status, headers.get('Location')]).toEqual([201, `/v1/skill-feeds/${feed.id}`])
    expect(feed).toEqual({
      id: expect.any(String),
      name: 'Laptops',
      skills: [
        { skillId, version: null },
        { skillId: json.skills[1]?.skillId, version: 1 },
      ],
      expiresAt: FAR_AHEAD,
      apiKeyId: keyId,
      createdAt: expect.any(String),
    })
    expect(url).toMatch(new RegExp(`^${ORIGIN}/feeds/wsf[12]?_[0-9A-Za-z]{49}$`))
    const { body: second } = await send('POST', '/v1/skill-feeds', { name: 'Build' })
    expect([second.skills, second.expiresAt]).toEqual([null, null])
    expect(second.url).not.toBe(url)

    const { url: _, ...secondFeed } = second
    const list = (query = '') => send('GET', `/v1/skill-feeds${query}`)
    expect((await list()).body).toEqual({ items: [feed, secondFeed], nextCursor: null })
    expect((await list('?limit=1')).body).toEqual({ items: [feed], nextCursor: feed.id })
    expect((await list(`?cursor=${feed.id}`)).body.items).toEqual([secondFeed])

    expect((await send('DELETE', `/v1/skill-feeds/${feed.id}`)).body).toEqual({ deleted: true, id: feed.id })
    expect((await list()).body.items).toEqual([secondFeed])
    expect(await workspace.dump('skillFeeds')).toHaveLength(1)
  })

  it('has an index, byte for byte as the specification has it', async () => {
    const { addSkill, addFeed } = await newClient()
    const ids = [await addSkill('second'), await addSkill('first', 'x', 'Äußerst "nützlich" \u{1f680}')]
    const feed = await addFeed()
    const { status, headers, body } = await indexOf(feed)
    const bytes = await Promise.all(ids.map(async (id) => (await archiveOf(feed, { url: `${id}-1.tar.gz` })).body))
    const entry = (index: number, name: string, description: string) =>
      `{"name":"${name}","description":${JSON.stringify(description)},"type":"archive",` +
      `"url":"${ids[index]}-1.tar.gz","digest":"sha256:${hash('sha256', bytes[index])}"}`
    // In order of creation.
    const expected = `{"$schema":"${SCHEMA}","skills":[${entry(0, 'second', 'Writes second.')},${entry(1, 'first', 'Äußerst "nützlich" \u{1f680}')}]}`
    expect(JSON.stringify(body)).toBe(expected)
    // The ETag is the digest of the bytes that were sent, before they were parsed.
    expect([status, headers.get('ETag'), headers.get('Content-Type')]).toEqual([
      200,
      `"${hash('sha256', expected)}"`,
      'application/json',
    ])
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  it('has the archives that the API has', async () => {
    const { feed, offer, skillId, key } = await withFeed()
    const { status, headers, body } = await archiveOf(feed, offer)
    const { body: own } = await request('GET', `/v1/skills/${skillId}/archive`, { key })
    expect([status, headers.get('Content-Type')]).toEqual([200, 'application/gzip'])
    expect(Buffer.from(body).equals(own)).toBe(true)
    expect(offer.digest).toBe(`sha256:${hash('sha256', body)}`)
    expect(headers.get('ETag')).toBe(`"${hash('sha256', body)}"`)
    expect(headers.get('Referrer-Policy')).toBe('no-referrer')
  })

  it('answers 304 and HEAD for both', async () => {
    const { feed, offer, skillId, updateSkill } = await withFeed()
    const archivePath = new URL(offer.url, ORIGIN + feed.path + INDEX).pathname
    for (const path of [feed.path + INDEX, archivePath]) {
      const { headers } = await request('GET', path)
      const ETag = headers.get('ETag') ?? ''
      for (const tag of [ETag, `W/${ETag}`, `"other", ${ETag}`, '*']) {
        const response = await request('GET', path, { headers: { 'If-None-Match': tag } })
        expect([tag, response.status, response.headers.get('ETag')]).toEqual([tag, 304, ETag])
        expect(response.body?.length ?? 0).toBe(0)
      }
      expect((await request('GET', path, { headers: { 'If-None-Match': '"other"' } })).status).toBe(200)
      const head = await request('HEAD', path)
      expect([head.status, head.headers.get('ETag')]).toEqual([200, ETag])
      expect(head.body?.length ?? 0).toBe(0)
    }
    const before = (await indexOf(feed)).headers.get('ETag') ?? ''
    await updateSkill(skillId, 'notes', 'Second.')
    expect((await indexOf(feed, { headers: { 'If-None-Match': before } })).status).toBe(200)
    // No object is read for 304.
    const OBJECTS = failingObjects(new Error('read'))
    const headers = { 'If-None-Match': '*' }
    const [now] = await offersOf(feed)
    expect((await archiveOf(feed, now as Offer, { headers, environment: { OBJECTS } })).status).toBe(304)
  })

  it('is found under the base path that made it, and under the other', async () => {
    const { key, feed, offer } = await withFeed()
    const { body } = await request('POST', `${PREFIX}/v1/skill-feeds`, { key, json: { name: 'Prefixed' } })
    expect(body.url).toMatch(new RegExp(`^${ORIGIN}${PREFIX}/feeds/wsf[12]?_`))
    const prefixed = { path: body.url.slice(ORIGIN.length) }
    for (const each of [prefixed, { path: PREFIX + feed.path }, feed]) {
      expect((await offersOf(each)).map(({ url }) => url)).toEqual([offer.url])
      expect((await archiveOf(each, offer)).status).toBe(200)
    }
  })

  it('makes one call to the database for the index, and one for an archive, and reads what it offers', async () => {
    const { addSkill, addFeed } = await newClient()
    const [skillId] = [await addSkill('a'), await addSkill('b')]
    const [all, named] = [await addFeed(), await addFeed({ skills: [{ skillId }] })]
    const url = `${skillId}-1.tar.gz`
    const readFor = async (send: (options: RequestOptions) => Promise<ApiResponse>) => {
      const use = watchedDatabase()
      expect((await send({ environment: { DB: use.DB } })).status).toBe(200)
      expect([use.calls, use.rowsWritten]).toEqual([1, 0])
      return use.rowsRead
    }
    const rowsRead = async () => [
      await readFor((options) => indexOf(all, options)),
      await readFor((options) => archiveOf(all, { url }, options)),
      await readFor((options) => indexOf(named, options)),
      await readFor((options) => archiveOf(named, { url }, options)),
    ]
    const before = await rowsRead()
    for (const rows of before) expect(rows).toBeLessThanOrEqual(20)
    for (const name of ['c', 'd', 'e', 'f']) await addSkill(name)
    const [index = 0, ...others] = before
    // Each skill and its version.
    expect(await rowsRead()).toEqual([index + 4 * 2, ...others])
  })

  it('is not created beyond the limit of 100', async () => {
    const { key, send, addFeed } = await newClient()
    const { id } = await addFeed()
    for (let count = 1; count < 100; count++) await addFeed()
    const create = () => request('POST', '/v1/skill-feeds', { key, json: { name: 'One more' } })
    expect(refusalOf(await create())).toEqual({
      status: 409,
      code: 'skill_feed_limit',
      body: { error: 'The organization has reached the limit of feeds: 100. Delete one first.' },
    })
    await (await newClient()).addFeed()
    await send('DELETE', `/v1/skill-feeds/${id}`)
    expect((await create()).status).toBe(201)
  })
})

describe('what a feed offers', () => {
  it('are all skills, those of later too, or those that it names', async () => {
    const { addSkill, addFeed, send } = await newClient()
    const [one, two] = [await addSkill('one'), await addSkill('two')]
    const all = await addFeed()
    const named = await addFeed({ skills: [{ skillId: two }] })
    const none = await addFeed({ skills: [] })
    expect(await offered(all)).toEqual(['one Writes one.', 'two Writes two.'])
    expect(await offered(named)).toEqual(['two Writes two.'])
    await addSkill('three')
    await send('DELETE', `/v1/skills/${one}`)
    expect(await offered(all)).toEqual(['two Writes two.', 'three Writes three.'])
    expect(await offered(named)).toEqual(['two Writes two.'])
    // In the order of the feed.
    const [{ id: three }] = (await send('GET', '/v1/skills?name=three')).body.items
    const ordered = await addFeed({ skills: [{ skillId: three }, { skillId: two }] })
    expect(await offered(ordered)).toEqual(['three Writes three.', 'two Writes two.'])
    await send('DELETE', `/v1/skills/${two}`)
    expect(await offered(named)).toEqual([])
    expect(await offered(none)).toEqual([])
  })

  it('are not the archives of a skill that was deleted', async () => {
    const { feed, offer, skillId, send } = await withFeed()
    await send('DELETE', `/v1/skills/${skillId}`)
    expect(refusalOf(await archiveOf(feed, offer))).toEqual(NOT_FOUND)
  })

  it('follows the current version, or stays at the one that it names', async () => {
    const { addSkill, updateSkill, addFeed, send } = await newClient()
    const skillId = await addSkill('notes', 'First.', 'First.')
    const current = await addFeed({ skills: [{ skillId }] })
    const pinned = await addFeed({ skills: [{ skillId, version: 1 }] })
    const all = await addFeed()
    const three = async () => [await offered(current), await offered(all), await offered(pinned)]
    const [first] = await offersOf(current)
    await updateSkill(skillId, 'notes', 'Second.', 'Second.')
    expect(await three()).toEqual([['notes Second.'], ['notes Second.'], ['notes First.']])
    expect(refusalOf(await archiveOf(current, first as Offer))).toEqual(NOT_FOUND)
    expect((await archiveOf(pinned, first as Offer)).status).toBe(200)
    await send('POST', `/v1/skills/${skillId}/publish`, { version: 1 })
    expect(await three()).toEqual([['notes First.'], ['notes First.'], ['notes First.']])
    const [again] = await offersOf(current)
    expect(again).toEqual(first)
  })

  it('keeps the version that it names, although the skill has too many versions', async () => {
    const { addSkill, key, addFeed } = await newClient()
    const skillId = await addSkill('notes', '1')
    const feed = await addFeed({ skills: [{ skillId, version: 1 }] })
    for (const text of ['2', '3', '4']) {
      const options = { key, json: bodyOf('notes', text), environment: { SKILL_VERSION_LIMIT: '1' } }
      expect((await request('PATCH', `/v1/skills/${skillId}`, options)).status).toBe(200)
    }
    expect((await request('GET', `/v1/skills/${skillId}/versions/2`, { key })).status).toBe(404)
    expect(await offered(feed)).toEqual(['notes Writes notes.'])
  })

  it('has the name of the version, once', async () => {
    const { addSkill, updateSkill, addFeed } = await newClient()
    const skillId = await addSkill('old')
    const current = await addFeed({ skills: [{ skillId }] })
    const pinned = await addFeed({ skills: [{ skillId, version: 1 }] })
    await updateSkill(skillId, 'new')
    expect(await offered(current)).toEqual(['new Writes new.'])
    expect(await offered(pinned)).toEqual(['old Writes old.'])

    const other = await addSkill('old', 'Another.', 'Another.')
    const both = await addFeed({ skills: [{ skillId, version: 1 }, { skillId: other }] })
    expect(await offered(both)).toEqual(['old Writes old.'])
    const reverse = await addFeed({ skills: [{ skillId: other }, { skillId, version: 1 }] })
    expect(await offered(reverse)).toEqual(['old Another.'])
    expect(await offered(await addFeed())).toEqual(['new Writes new.', 'old Another.'])
  })

  it('has descriptions that the installer accepts', async () => {
    const { addSkill, addFeed } = await newClient()
    const rocket = '\u{1f680}'
    // 1,024 code points, and twice as many UTF-16 units but one.
    await addSkill('long', 'x', `a${rocket.repeat(1023)}`)
    await addSkill('exact', 'x', 'é'.repeat(1024))
    const [long, exact] = await offersOf(await addFeed())
    expect(long?.description).toBe(`a${rocket.repeat(511)}`)
    expect(exact?.description).toBe('é'.repeat(1024))
  })
})

describe('a feed ends at once', () => {
  it('when it is deleted, and no other feed does', async () => {
    const { feed, offer, send, addFeed } = await withFeed()
    const other = await addFeed()
    await send('DELETE', `/v1/skill-feeds/${feed.id}`)
    await expectEnded(feed, offer)
    expect(await offered(other)).toEqual(['notes Writes notes.'])
  })

  it('when it expires', async () => {
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const expiresAt = new Date(start + MINUTE_MS).toISOString()
    const { feed, offer } = await withFeed({}, { expiresAt })
    vi.setSystemTime(start + MINUTE_MS - 1)
    expect((await indexOf(feed)).status).toBe(200)
    expect((await archiveOf(feed, offer)).status).toBe(200)
    vi.setSystemTime(start + MINUTE_MS)
    await expectEnded(feed, offer)
  })

  it('when its API key expires', async () => {
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const expiresAt = new Date(start + MINUTE_MS).toISOString()
    const { feed, offer } = await withFeed({ expiresAt }, { expiresAt: FAR_AHEAD })
    expect((await indexOf(feed)).status).toBe(200)
    vi.setSystemTime(start + MINUTE_MS)
    await expectEnded(feed, offer)
  })

  it('when its API key is revoked, although conditional requests have all of it', async () => {
    const { feed, offer, keyId, workspace } = await withFeed()
    const admin = await newClient({}, workspace)
    await admin.send('DELETE', `/v1/api-keys/${keyId}`)
    await expectEnded(feed, offer)
    const headers = { 'If-None-Match': '*' }
    expect(refusalOf(await indexOf(feed, { headers }))).toEqual(NOT_FOUND)
    expect(refusalOf(await archiveOf(feed, offer, { headers }))).toEqual(NOT_FOUND)
    // It is still listed, so that it can be deleted.
    const { items } = (await admin.send('GET', '/v1/skill-feeds')).body
    expect(items.map(({ id }: { id: string }) => id)).toEqual([feed.id])
  })

  it('when its API key is revoked as a descendant', async () => {
    const { workspace, send, keyId } = await newClient({ userId: null })
    const { body: child } = await send('POST', '/v1/api-keys', {
      name: 'child',
      scopes: ['skills:write', 'skill-feeds:write'],
    })
    await send('POST', '/v1/skills', bodyOf('notes'))
    const { body } = await request('POST', '/v1/skill-feeds', { key: child.token, json: { name: 'Child' } })
    const feed = { path: body.url.slice(ORIGIN.length) }
    const [offer] = await offersOf(feed)
    const admin = await newClient({ userId: null }, workspace)
    await admin.send('DELETE', `/v1/api-keys/${keyId}?descendants=true`)
    await expectEnded(feed, offer as Offer)
  })

  it('when the user of its API key is deleted', async () => {
    const { feed, offer, workspace } = await withFeed()
    const admin = await newClient({ userId: null }, workspace)
    await admin.send('DELETE', `/v1/users/${workspace.userId}`)
    await expectEnded(feed, offer)
  })

  it.each([
    ['', {}],
    [' with an Idempotency-Key', { 'Idempotency-Key': 'once' }],
  ])('with the successor of its API key, after a rotation%s', async (_, headers) => {
    const start = Date.now()
    vi.useFakeTimers({ toFake: ['Date'], now: start })
    const { feed, offer, keyId, key, workspace } = await withFeed()
    const other = await newClient({}, workspace)
    const kept = await other.addFeed()
    const json = { overlapSeconds: 60 }
    const { status, body } = await request('POST', `/v1/api-keys/${keyId}/rotate`, { key, json, headers })
    expect(status).toBe(201)
    vi.setSystemTime(start + 2 * MINUTE_MS)
    expect((await request('GET', '/v1/me', { key })).status).toBe(401)
    expect(await offered(feed)).toEqual(['notes Writes notes.'])
    const { items } = (await other.send('GET', '/v1/skill-feeds')).body
    expect(items.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId)).toEqual([body.id, other.keyId])
    await other.send('DELETE', `/v1/api-keys/${body.id}`)
    await expectEnded(feed, offer)
    expect((await indexOf(kept)).status).toBe(200)
  })

  it('stays with its API key if the rotation is refused', async () => {
    const { keyId, workspace } = await withFeed()
    const weak = await workspace.addKey({ scopes: ['api-keys:write'] })
    expect((await request('POST', `/v1/api-keys/${keyId}/rotate`, { key: weak })).status).toBe(403)
    expect((await workspace.dump('skillFeeds')).map(({ apiKeyId }) => apiKeyId)).toEqual([keyId])
  })
})

describe('every refusal is the same 404', () => {
  it('for a token that is unknown, malformed, mistyped or of another kind', async () => {
    const { feed, offer, key } = await withFeed()
    const { token } = feed
    const last = token.endsWith('0') ? '1' : '0'
    const swapped = token.replace(/(?<=^wsf[12]?_.{9})./, (digit) => (digit === 'a' ? 'b' : 'a'))
    const tokens = [
      newToken('wsf'),
      'wsf_short',
      token.slice(0, -1) + last,
      swapped,
      `${token}0`,
      token.toUpperCase(),
      key,
      key.replace('wsk', 'wsf'),
      hashOf(token),
      '%00',
      "'",
    ]
    for (const each of tokens) await expectEnded({ path: `/feeds/${each}` }, offer)
    await expectEnded({ path: `${PREFIX}/feeds/${newToken('wsf')}` }, offer)
    expect((await indexOf(feed)).status).toBe(200)
  })

  it('asks the database of nothing but tokens that can be right', async () => {
    const { feed } = await withFeed()
    const use = watchedDatabase()
    const environment = { DB: use.DB }
    for (const token of ['wsf_short', newToken(), `${feed.token}0`])
      await indexOf({ path: `/feeds/${token}` }, { environment })
    expect(use.calls).toBe(0)
    await indexOf({ path: `/feeds/${newToken('wsf')}` }, { environment })
    expect(use.calls).toBe(1)
  })

  it('for another file, a version that it does not offer, and what is of another feed', async () => {
    const { feed, offer, skillId, addSkill, updateSkill, addFeed } = await withFeed()
    await updateSkill(skillId, 'notes', 'Second.')
    const other = await addSkill('other')
    const named = await addFeed({ skills: [{ skillId }] })
    const foreign = await withFeed()
    const urls = [
      `${skillId}-1.tar.gz`,
      `${skillId}-3.tar.gz`,
      `${skillId}-02.tar.gz`,
      `${skillId}-9999999999.tar.gz`,
      `${skillId}-2.zip`,
      `${skillId}.tar.gz`,
      `${skillId.toUpperCase()}-2.tar.gz`,
      'notes-2.tar.gz',
      'index.html',
      'INDEX.json',
      '%2e%2e%2findex.json',
      '-1.tar.gz',
      `${other}-1.tar.gz`,
      foreign.offer.url,
    ]
    for (const url of urls) {
      const path = `${named.path}/.well-known/agent-skills/${url}`
      expect([url, refusalOf(await request('GET', path))]).toEqual([url, NOT_FOUND])
    }
    expect(refusalOf(await archiveOf(foreign.feed, { url: `${skillId}-2.tar.gz` }))).toEqual(NOT_FOUND)
    expect((await archiveOf(named, { url: `${skillId}-2.tar.gz` })).status).toBe(200)
    expect(refusalOf(await archiveOf(feed, offer))).toEqual(NOT_FOUND)
  })

  it('has no other paths, and repeats no token', async () => {
    const { feed } = await withFeed()
    for (const path of [
      '',
      '/',
      '/index.json',
      '/.well-known/agent-skills',
      '/.well-known/agent-skills/',
      '/.well-known/skills/index.json',
      `${INDEX}/more`,
    ]) {
      const { status, body } = await request('GET', feed.path + path)
      expect([path, status]).toEqual([path, 404])
      expect(body.error).not.toContain(feed.token)
    }
    for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
      const { status, headers, body } = await request(method, feed.path + INDEX)
      expect([status, headers.get('Allow')]).toEqual([405, 'GET, HEAD'])
      expect(body.error).not.toContain(feed.token)
    }
  })
})

describe('a token of a feed', () => {
  it('is no API key', async () => {
    const { feed } = await withFeed()
    const { status, headers } = await request('GET', '/v1/me', { key: feed.token })
    expect([status, headers.get('Error-Code')]).toEqual([401, 'api_key_invalid'])
  })

  it('is in no log, no audit event and no row', async () => {
    const log = vi.spyOn(console, 'log').mockImplementation(() => {})
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { workspace, key, skillId } = await withFeed()
    const environment = { REQUEST_LOG: 'on' }
    const { body } = await request('POST', '/v1/skill-feeds', { key, json: { name: 'Logged' }, environment })
    const feed = { path: body.url.slice(ORIGIN.length), token: body.url.slice(-53) }
    expect((await indexOf(feed, { environment })).status).toBe(200)
    expect((await archiveOf(feed, { url: `${skillId}-1.tar.gz` }, { environment })).status).toBe(200)
    expect((await archiveOf(feed, { url: 'other' }, { environment })).status).toBe(404)
    const failing = { ...environment, DB: failingDatabase(new Error(`unexpected: ${feed.token}`)) }
    expect((await indexOf(feed, { environment: failing })).status).toBe(500)
    const { body: list } = await request('GET', '/v1/skill-feeds', { key, environment })
    await request('DELETE', `/v1/skill-feeds/${body.id}`, { key, environment })
    const events = await workspace.dump('auditEvents')
    expect((await summariesOf(workspace)).slice(-2)).toEqual([
      `skill-feed.created /v1/skill-feeds/${body.id}`,
      `skill-feed.deleted /v1/skill-feeds/${body.id}`,
    ])

    const logged = [...log.mock.calls, ...error.mock.calls].map(([line]) => JSON.parse(String(line)))
    expect(logged).toHaveLength(7)
    expect(logged.find(({ status, method }) => status === 200 && method === 'GET')).toEqual({
      requestId: expect.any(String),
      method: 'GET',
      status: 200,
    })
    const secret = feed.token.slice(feed.token.indexOf('_') + 1)
    for (const written of [logged, events, list]) expect(JSON.stringify(written)).not.toContain(secret)
  })

  it('is stored as its hash', async () => {
    const { feed } = await withFeed()
    const stores = JSON.stringify(await dumpStores())
    expect(stores).toContain(hashOf(feed.token))
    expect(stores).not.toContain(feed.token.slice(feed.token.indexOf('_') + 1, -6))
  })
})

describe('the rate limits of a feed', () => {
  const limiting = { RATE_LIMIT: 'on' }

  /** A limit of so many requests for each of what is counted. */
  function limitOf(most: number) {
    const counted: string[] = []
    const limit = async ({ key }: RateLimitOptions) => {
      counted.push(key)
      return { success: counted.filter((other) => other === key).length <= most }
    }
    return { counted, limit: { limit } as RateLimit }
  }

  it('are by token and address, before a query', async () => {
    const { feed, offer, addFeed } = await withFeed()
    const { counted, limit: KEY_RATE_LIMIT } = limitOf(3)
    const use = watchedDatabase()
    const environment = { ...limiting, KEY_RATE_LIMIT, DB: use.DB }
    const options = { environment }
    expect((await indexOf(feed, options)).status).toBe(200)
    expect((await archiveOf(feed, offer, options)).status).toBe(200)
    expect((await archiveOf(feed, { url: 'other' }, options)).status).toBe(404)
    const { calls } = use
    for (const response of [await indexOf(feed, options), await archiveOf(feed, offer, options)]) {
      const { status, headers } = response
      expect([status, headers.get('Error-Code'), headers.get('Retry-After')]).toEqual([429, 'rate_limited', '60'])
    }
    expect(use.calls).toBe(calls)
    const elsewhere = { environment, headers: { 'CF-Connecting-IP': '192.0.2.7' } }
    expect((await indexOf(feed, elsewhere)).status).toBe(200)
    expect((await indexOf(await addFeed(), options)).status).toBe(200)
    expect(JSON.stringify(counted)).not.toContain(feed.token)
    // Without rate limits, nothing is counted.
    expect((await indexOf(feed, { environment: { KEY_RATE_LIMIT, RATE_LIMIT: 'off' } })).status).toBe(200)
  })

  it('are by address for tokens that are refused, then without a query', async () => {
    const { feed, offer } = await withFeed()
    const { counted, limit: REFUSAL_RATE_LIMIT } = limitOf(4)
    const use = watchedDatabase()
    const from = (address: string) => ({
      headers: { 'CF-Connecting-IP': address },
      environment: { ...limiting, REFUSAL_RATE_LIMIT, DB: use.DB },
    })
    const options = from('198.51.100.1')
    for (let count = 0; count < 100; count++) expect((await indexOf(feed, options)).status).toBe(200)
    // A file that the feed does not offer is no wrong token.
    for (let count = 0; count < 10; count++) expect((await archiveOf(feed, { url: 'other' }, options)).status).toBe(404)
    expect(counted).toEqual([])
    const wrong = [newToken('wsf'), 'wsf_short', newToken(), newToken('wsf')]
    for (const token of wrong) expect((await indexOf({ path: `/feeds/${token}` }, options)).status).toBe(404)
    expect((await indexOf({ path: `/feeds/${newToken('wsf')}` }, options)).status).toBe(429)
    const { calls } = use
    expect((await indexOf({ path: `/feeds/${newToken('wsf')}` }, options)).status).toBe(429)
    expect((await archiveOf({ path: '/feeds/wsf_short' }, offer, options)).status).toBe(429)
    expect(use.calls).toBe(calls)
    expect((await indexOf(feed, from('198.51.100.2'))).status).toBe(200)
    expect(new Set(counted)).toEqual(new Set(['198.51.100.1']))
  })
})

describe('a feed, while a store fails', () => {
  const D1_DOWN = new Error('D1_ERROR: Network connection lost.')

  it('answers 503, and 404 to tokens that cannot be right', async () => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
    const { feed, offer } = await withFeed()
    const noDatabase = { environment: { DB: failingDatabase(D1_DOWN) } }
    const noObjects = { environment: { OBJECTS: failingObjects(new Error('R2 is down')) } }
    const lost = { environment: { OBJECTS: objectsWith({ get: async () => null }) } }
    for (const response of [
      await indexOf(feed, noDatabase),
      await archiveOf(feed, offer, noDatabase),
      await archiveOf(feed, offer, noObjects),
      await archiveOf(feed, offer, lost),
    ]) {
      const { status, headers } = response
      expect([status, headers.get('Error-Code'), headers.has('Retry-After')]).toEqual([503, 'unavailable', true])
    }
    expect((await indexOf(feed, noObjects)).status).toBe(200)
    expect(refusalOf(await indexOf({ path: '/feeds/wsf_short' }, noDatabase))).toEqual(NOT_FOUND)
  })

  it('answers 500 to an unexpected failure', async () => {
    const error = vi.spyOn(console, 'error').mockImplementation(() => {})
    const { feed } = await withFeed()
    const DB = databaseWith(() => Promise.reject(new Error('unexpected')))
    const { status, body } = await indexOf(feed, { environment: { DB } })
    expect([status, JSON.stringify(body).includes(feed.token)]).toEqual([500, false])
    expect(error).toHaveBeenCalledTimes(1)
  })
})

describe('who makes feeds', () => {
  it('are keys with the scope, of any user and of any projects, as it is for skills', async () => {
    const { workspace } = await withFeed()
    const restricted = await newClient({ projectIds: [], userId: null, scopes: ['skill-feeds:write'] }, workspace)
    const feed = await restricted.addFeed()
    expect(await offered(feed)).toEqual(['notes Writes notes.'])
    const { keyId } = restricted
    const reader = await newClient({ scopes: ['skill-feeds:read'] }, workspace)
    const { items } = (await reader.send('GET', '/v1/skill-feeds')).body
    expect(items.map(({ apiKeyId }: { apiKeyId: string }) => apiKeyId)).toContain(keyId)
    for (const [method, path, json] of [
      ['POST', '/v1/skill-feeds', { name: 'Mine' }],
      ['DELETE', `/v1/skill-feeds/${feed.id}`],
    ] as const) {
      const response = await request(method, path, { key: reader.key, ...(json && { json }) })
      expect(refusalOf(response)).toMatchObject({ status: 400, code: 'missing_scope' })
    }
    const { status } = await request('GET', '/v1/skill-feeds', { key: restricted.key })
    expect(status).toBe(400)
    // Any key with the scope deletes any feed of the organization.
    await (await newClient({ scopes: ['skill-feeds:write'] }, workspace)).send('DELETE', `/v1/skill-feeds/${feed.id}`)
  })

  it('see and delete none of another organization', async () => {
    const { feed } = await withFeed()
    const stranger = await newClient()
    expect((await stranger.send('GET', '/v1/skill-feeds')).body.items).toEqual([])
    const { status } = await request('DELETE', `/v1/skill-feeds/${feed.id}`, { key: stranger.key })
    expect(status).toBe(404)
    expect((await indexOf(feed)).status).toBe(200)
  })

  it('name skills and versions of their organization', async () => {
    const { skillId, key, updateSkill, workspace } = await withFeed()
    await updateSkill(skillId, 'notes', 'Second.')
    const foreign = await withFeed()
    const create = (json: object) => request('POST', '/v1/skill-feeds', { key, json: { name: 'x', ...json } })
    const refused = [
      [[{ skillId }, { skillId: foreign.skillId }], 404, 'skill_not_found', 'skills.1.skillId'],
      [[{ skillId: foreign.skillId, version: 1 }], 404, 'skill_not_found', 'skills.0.skillId'],
      [[{ skillId, version: 3 }], 404, 'skill_version_not_found', 'skills.0.version'],
      [[{ skillId, version: 0 }], 400, 'invalid_input', 'version'],
      [[{ skillId, version: 1 }, { skillId: skillId.toUpperCase() }], 400, 'invalid_input', 'several times'],
    ] as const
    for (const [skills, status, code, word] of refused) {
      const response = await create({ skills })
      expect([response.status, response.headers.get('Error-Code')]).toEqual([status, code])
      expect(response.body.error).toContain(word)
    }
    const past = await create({ expiresAt: '2020-01-01T00:00:00Z' })
    expect(past.body.error).toBe(
      'expiresAt is not in the future; got "2020-01-01T00:00:00.000Z"; allowed: a time after now.',
    )
    expect(await workspace.dump('skillFeeds')).toHaveLength(1)
    const upper = await create({ skills: [{ skillId: skillId.toUpperCase(), version: 2 }] })
    expect(upper.body.skills).toEqual([{ skillId, version: 2 }])
  })
})
