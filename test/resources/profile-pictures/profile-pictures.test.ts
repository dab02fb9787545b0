import { sql } from 'drizzle-orm'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { text } from '../../../src/db/parameters.ts'
import { orphanedObjects } from '../../../src/db/schema.ts'
import { bind, query, unguarded } from '../../../src/db/statement.ts'
import { type ApiResponse, PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase, failingObjects, objectsWith, watchedDatabase, whileStoring } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { tick as tickAt } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

const HOUR_MS = 3_600_000

const fromNow = (ms: number) => new Date(Date.now() + ms).toISOString()

async function withKey() {
  const workspace = await Workspace.create()
  return { workspace, key: await workspace.addKey() }
}

async function withPicture() {
  const { workspace, key } = await withKey()
  return { workspace, key, objectKey: await workspace.addPicture() }
}

function deletePicture(userId: string, options: RequestOptions) {
  return request('DELETE', `/v1/users/${encodeURIComponent(userId)}/profile-picture`, options)
}

async function objectExists(objectKey: string): Promise<boolean> {
  return (await env.OBJECTS.head(objectKey)) !== null
}

/** When the sweep may delete the object; undefined if the object is not orphaned. */
async function deleteAfterOf(objectKey: string): Promise<string | undefined> {
  const row = await env.DB.prepare('SELECT "deleteAfter" FROM "orphanedObjects" WHERE "objectKey" = ?')
    .bind(objectKey)
    .first<{ deleteAfter: string }>()
  return row?.deleteAfter
}

/** Whether a row refers to the object, R2 has it, and it is orphaned. */
async function stateOf(workspace: Workspace, objectKey: string) {
  return {
    linked: (await workspace.dump('profilePictures')).some((row) => row.objectKey === objectKey),
    stored: await objectExists(objectKey),
    orphaned: (await deleteAfterOf(objectKey)) !== undefined,
  }
}

const UNTOUCHED = { linked: true, stored: true, orphaned: false }

const tick = (at: string, environment: Partial<Cloudflare.Env> = {}) => tickAt({ ...env, ...environment }, new Date(at))

describe('deleteProfilePicture', () => {
  it('deletes the picture and its object, and has the sweep delete the object again an hour later', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const before = fromNow(HOUR_MS)
    const answer = await deletePicture(workspace.userId, { key })
    expect([answer.status, answer.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: false, orphaned: true })
    const deleteAfter = String(await deleteAfterOf(objectKey))
    expect(deleteAfter).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect([before <= deleteAfter, deleteAfter <= fromNow(HOUR_MS)]).toEqual([true, true])
    expect(await workspace.dump('profilePictures')).toEqual([])
  })

  it('succeeds without a picture, any number of times, under both base paths', async () => {
    const { workspace, key } = await withKey()
    const success = [200, { userId: workspace.userId, deleted: true }]
    for (const basePath of ['', PREFIX, '', PREFIX]) {
      const path = `${basePath}/v1/users/${workspace.userId}/profile-picture`
      const { status, body } = await request('DELETE', path, { key })
      expect([status, body]).toEqual(success)
    }
  })

  it('can be repeated, also concurrently', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const answers = await Promise.all([1, 2, 3].map(() => deletePicture(workspace.userId, { key })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await deletePicture(workspace.userId, { key })).status).toBe(200)
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: false, orphaned: true })
  })

  it('deletes a picture that was uploaded after an earlier one was deleted', async () => {
    const { workspace, key, objectKey } = await withPicture()
    await deletePicture(workspace.userId, { key })
    const second = await workspace.addPicture()
    await deletePicture(workspace.userId, { key })
    for (const object of [objectKey, second]) {
      expect(await stateOf(workspace, object)).toEqual({ linked: false, stored: false, orphaned: true })
    }
  })

  it('does not change the pictures of other users and organizations', async () => {
    const { workspace, key } = await withPicture()
    const otherUser = await workspace.addUser()
    const beside = await workspace.addPicture(otherUser)
    const elsewhere = await Workspace.create()
    await elsewhere.addUser(workspace.userId)
    const object = await elsewhere.addPicture(workspace.userId)
    await deletePicture(workspace.userId, { key })
    expect(await stateOf(workspace, beside)).toEqual(UNTOUCHED)
    expect(await stateOf(elsewhere, object)).toEqual(UNTOUCHED)
  })

  it('makes one call to the database', async () => {
    const { workspace, key } = await withPicture()
    await deletePicture(workspace.userId, { key })
    await workspace.addPicture()
    const use = watchedDatabase()
    await deletePicture(workspace.userId, { key, environment: { DB: use.DB } })
    expect(use.calls).toBe(1)
  })

  it('is 400 if the API key lacks the scope or acts as no user, and changes nothing', async () => {
    const { workspace, objectKey } = await withPicture()
    const withoutScope = await workspace.addKey({ scopes: ['pins:write'] })
    const scope = await deletePicture(workspace.userId, { key: withoutScope })
    expect([scope.status, scope.body.error]).toEqual([
      400,
      'This API key lacks the scope "profile-picture:write". Use a key that has it; GET /v1/me shows the scopes of a key.',
    ])
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await deletePicture(workspace.userId, { key: withoutUser })).status).toBe(400)
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('is 403 for another user of the organization, with or without a picture', async () => {
    const { workspace, key } = await withPicture()
    const other = await workspace.addUser()
    expect((await deletePicture(other, { key })).status).toBe(403)
    const objectKey = await workspace.addPicture(other)
    expect((await deletePicture(other, { key })).status).toBe(403)
    await workspace.leasePicture(fromNow(HOUR_MS), other)
    expect((await deletePicture(other, { key })).status).toBe(403)
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('is 404 for a user that the organization does not have', async () => {
    const { key } = await withPicture()
    const elsewhere = await Workspace.create()
    const objectKey = await elsewhere.addPicture()
    const nobody = await deletePicture(crypto.randomUUID(), { key })
    const other = await deletePicture(elsewhere.userId, { key })
    expect([nobody.status, other.status]).toEqual([404, 404])
    expect(other.body).toEqual(nobody.body)
    expect(await stateOf(elsewhere, objectKey)).toEqual(UNTOUCHED)
  })

  it('is 409 while an upload holds the lease, with or without a picture', async () => {
    const { workspace, key } = await withKey()
    await workspace.leasePicture(fromNow(HOUR_MS))
    expect((await deletePicture(workspace.userId, { key })).status).toBe(409)
    expect(await workspace.dump('profilePictures')).toHaveLength(1)

    const replaced = await withPicture()
    await replaced.workspace.leasePicture(fromNow(HOUR_MS))
    expect((await deletePicture(replaced.workspace.userId, { key: replaced.key })).status).toBe(409)
    expect(await stateOf(replaced.workspace, replaced.objectKey)).toEqual(UNTOUCHED)
  })

  it('succeeds once the lease has expired', async () => {
    const { workspace, key } = await withKey()
    await workspace.leasePicture(fromNow(-1))
    expect((await deletePicture(workspace.userId, { key })).status).toBe(200)

    const replaced = await withPicture()
    await replaced.workspace.leasePicture(fromNow(-1))
    expect((await deletePicture(replaced.workspace.userId, { key: replaced.key })).status).toBe(200)
    expect(await stateOf(replaced.workspace, replaced.objectKey)).toEqual({
      linked: false,
      stored: false,
      orphaned: true,
    })
  })

  it('is 500 with a constant message if the database fails', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error('D1_ERROR: no such table: profilePictures: SQLITE_ERROR'))
    const answer = await deletePicture(workspace.userId, { key, environment: { DB } })
    logged.mockRestore()
    expect([answer.status, answer.body.error]).toEqual([500, expect.not.stringContaining('profilePictures')])
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: Network connection lost.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  ])('is 503 with Retry-After for "%s"', async (message) => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error(message))
    const answer = await deletePicture(workspace.userId, { key, environment: { DB } })
    logged.mockRestore()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(answer.body.error).not.toContain('D1')
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('is 503 if R2 fails: it can be repeated, and the sweep deletes the object', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const OBJECTS = failingObjects(new Error('delete: We encountered an internal error. (10001)'))
    const answer = await deletePicture(workspace.userId, { key, environment: { OBJECTS } })
    logged.mockRestore()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(answer.body.error).not.toContain('10001')
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: true, orphaned: true })

    const again = await deletePicture(workspace.userId, { key })
    expect([again.status, again.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    await tick(String(await deleteAfterOf(objectKey)))
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: false, orphaned: false })
  })
})

describe('userId', () => {
  it('is not case-sensitive if it is a UUID, and is returned in lower case', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const answer = await deletePicture(workspace.userId.toUpperCase(), { key })
    expect([answer.status, answer.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    expect(await objectExists(objectKey)).toBe(false)
  })

  it('may be a UUID of any version', async () => {
    const workspace = await Workspace.create()
    const id = await workspace.addUser('ffffffff-ffff-ffff-ffff-fffffffffffe')
    const key = await workspace.addKey({ userId: id })
    expect((await deletePicture(id.toUpperCase(), { key })).body).toEqual({ userId: id, deleted: true })
  })

  it('is case-sensitive if it is not a UUID', async () => {
    const workspace = await Workspace.create()
    await workspace.addUser('Ada')
    const key = await workspace.addKey({ userId: 'Ada' })
    const objectKey = await workspace.addPicture('Ada')
    expect((await deletePicture('ada', { key })).status).toBe(404)
    await workspace.addUser('ada')
    expect((await deletePicture('ada', { key })).status).toBe(403)
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
    expect((await deletePicture('Ada', { key })).body).toEqual({ userId: 'Ada', deleted: true })
  })

  it.each([
    'a',
    'a/b',
    '50%',
    '%2e',
    "O'Brien",
    '"; DROP TABLE users; --',
    ' ',
    'ada@example.com',
    '\u{1f469}\u200d\u{1f680}',
    '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7',
    '{0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70}',
  ])('may be %s', async (id) => {
    const workspace = await Workspace.create()
    await workspace.addUser(id)
    const key = await workspace.addKey({ userId: id })
    const objectKey = await workspace.addPicture(id)
    const answer = await deletePicture(id, { key })
    expect([answer.status, answer.body]).toEqual([200, { userId: id, deleted: true }])
    expect(await objectExists(objectKey)).toBe(false)
  })

  it('has at most 255 code points', async () => {
    for (const character of ['x', '\u{1f600}']) {
      const workspace = await Workspace.create()
      const longest = await workspace.addUser(character.repeat(255))
      const key = await workspace.addKey({ userId: longest })
      expect((await deletePicture(longest, { key })).body).toEqual({ userId: longest, deleted: true })
      const answer = await deletePicture(character.repeat(256), { key })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^userId /)])
    }
  })

  it('has no NUL', async () => {
    const { key } = await withKey()
    for (const id of ['\0', 'a\0', '\0a']) {
      const answer = await deletePicture(id, { key })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^userId /)])
    }
  })
})

const bytesOf = (binary: string) => Uint8Array.from(binary, (character) => character.charCodeAt(0))

const PICTURES = {
  'image/png': bytesOf('\x89PNG\r\n\x1a\n and the rest of a PNG'),
  'image/jpeg': bytesOf('\xff\xd8\xff\xe0 and the rest of a JPEG'),
  'image/gif': bytesOf('GIF89a and the rest of a GIF'),
  'image/webp': bytesOf('RIFF\n\0\0\0WEBPVP8 and the rest of a WebP'),
}
const PNG = PICTURES['image/png']
const GIF = PICTURES['image/gif']

const LIMIT_BYTES = 5 * 2 ** 20

/** A file of this size that begins like a PNG. */
function pngOf(sizeBytes: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(sizeBytes)
  bytes.set(PNG)
  return bytes
}

function putPicture(userId: string, body: BodyInit, options: RequestOptions) {
  return request('PUT', `/v1/users/${encodeURIComponent(userId)}/profile-picture`, { ...options, body })
}

function readPicture(userId: string, options: RequestOptions) {
  return request('GET', `/v1/users/${encodeURIComponent(userId)}/profile-picture`, options)
}

/** How many objects the pictures of the workspace have. */
async function objectsOf(workspace: Workspace) {
  const { objects } = await env.OBJECTS.list({ prefix: `profile-pictures/${workspace.organizationId}/` })
  const stored = objects.map(({ key }) => key)
  const rows = await workspace.dump('profilePictures')
  const referred = rows.flatMap(({ objectKey }) => (objectKey === null ? [] : [String(objectKey)]))
  const { results } = await env.DB.prepare('SELECT "objectKey" FROM "orphanedObjects" WHERE instr("objectKey", ?) > 0')
    .bind(workspace.organizationId)
    .all<{ objectKey: string }>()
  const orphaned = results.map(({ objectKey }) => objectKey)
  return {
    referred: stored.filter((key) => referred.includes(key)).length,
    orphaned: orphaned.length,
    /** Must be empty: objects in R2 that are neither, and objects of pictures that are orphaned or not in R2. */
    lost: [
      ...stored.filter((key) => !referred.includes(key) && !orphaned.includes(key)),
      ...referred.filter((key) => !stored.includes(key) || orphaned.includes(key)),
    ],
  }
}

/** Sweeps long after every test, and counts what is left. */
async function swept(workspace: Workspace) {
  await tick('2999-01-01T00:00:00.000Z')
  return objectsOf(workspace)
}

const NOTHING = { referred: 0, orphaned: 0, lost: [] }
const ONE = { ...NOTHING, referred: 1 }

describe('putProfilePicture', () => {
  const contentTypes = ['image/png', 'image/svg+xml', 'text/html', 'application/json', undefined]

  it.each(Object.entries(PICTURES))(
    'detects %s from the bytes, whatever Content-Type says',
    async (contentType, bytes) => {
      const { workspace, key } = await withKey()
      const { userId } = workspace
      for (const said of contentTypes) {
        const before = fromNow(0)
        const { status, headers, body } = await putPicture(userId, bytes, {
          key,
          headers: said ? { 'Content-Type': said } : {},
        })
        const isFirst = said === contentTypes[0]
        const stored = { userId, contentType, updatedAt: expect.any(String) }
        expect([status, body]).toEqual([isFirst ? 201 : 200, stored])
        expect(headers.get('Location')).toBe(isFirst ? `/v1/users/${userId}/profile-picture` : null)
        expect(body.updatedAt >= before && body.updatedAt <= fromNow(0)).toBe(true)
        const picture = await readPicture(userId, { key })
        expect([picture.headers.get('Content-Type'), picture.body]).toEqual([contentType, bytes])
      }
      expect(await objectsOf(workspace)).toEqual({ ...ONE, orphaned: contentTypes.length - 1 })
      expect(await swept(workspace)).toEqual(ONE)
    },
  )

  it.each([
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>', 'image/svg+xml'],
    ['SVG with the Content-Type of a PNG', '<?xml version="1.0"?><svg/>', 'image/png'],
    ['HTML', '<!DOCTYPE html><script>alert(1)</script>', 'image/gif'],
    ['a BMP', 'BM\x46\0\0\0\0\0\0\0\x36\0\0\0', 'image/bmp'],
    ['a PNG after a space', ' \x89PNG\r\n\x1a\n', 'image/png'],
    ['a truncated PNG', '\x89PNG\r\n\x1a', 'image/png'],
    ['JSON', '{}', 'application/json'],
    ['an empty body', '', 'image/png'],
  ])('is 400 for %s, and changes nothing', async (_, binary, type) => {
    const { workspace, key, objectKey } = await withPicture()
    const answer = await putPicture(workspace.userId, bytesOf(binary), {
      key,
      headers: { 'Content-Type': type },
    })
    expect([answer.status, answer.body]).toEqual([
      400,
      { error: expect.stringMatching(/^body is not an image of a known type; got \d+ bytes; allowed: /) },
    ])
    expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
    expect(await objectsOf(workspace)).toEqual(ONE)
  })

  it('is 400 without a body', async () => {
    const { workspace, key } = await withKey()
    const path = `/v1/users/${workspace.userId}/profile-picture`
    expect((await request('PUT', path, { key })).status).toBe(400)
    expect(await workspace.dump('profilePictures')).toEqual([])
  })

  it('accepts 5 MiB, and is 413 for one byte more, with or without Content-Length', async () => {
    const { workspace, key } = await withKey()
    const declared = (sizeBytes: number) => {
      const headers = { 'Content-Length': String(sizeBytes) }
      return putPicture(workspace.userId, pngOf(sizeBytes), { key, headers })
    }
    const chunked = (sizeBytes: number) => putPicture(workspace.userId, new Blob([pngOf(sizeBytes)]).stream(), { key })
    for (const put of [declared, chunked]) {
      expect((await put(LIMIT_BYTES)).status).toBe(put === declared ? 201 : 200)
      const { updatedAt } = (await workspace.dump('profilePictures'))[0] ?? {}
      expect((await readPicture(workspace.userId, { key })).body).toHaveLength(LIMIT_BYTES)
      expect((await put(LIMIT_BYTES + 1)).status).toBe(413)
      expect(await workspace.dump('profilePictures')).toEqual([expect.objectContaining({ updatedAt })])
    }
    expect(await swept(workspace)).toEqual(ONE)
  })

  it('replaces the current picture, whose object stays for an hour and is then swept', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const before = fromNow(HOUR_MS)
    const first = await readPicture(workspace.userId, { key })
    expect((await putPicture(workspace.userId, GIF, { key })).status).toBe(200)
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: true, orphaned: true })
    const deleteAfter = String(await deleteAfterOf(objectKey))
    expect(deleteAfter >= before).toBe(true)
    await tick(new Date(Date.parse(deleteAfter) - 1).toISOString())
    expect(await objectExists(objectKey)).toBe(true)
    expect(await swept(workspace)).toEqual(ONE)
    const second = await readPicture(workspace.userId, {
      key,
      headers: { 'If-None-Match': String(first.headers.get('ETag')) },
    })
    expect([second.status, second.body]).toEqual([200, GIF])
  })

  it('is 403 for another user, and 404 with one message for a user of another organization or one that does not exist', async () => {
    const { workspace, key } = await withKey()
    const other = await workspace.addUser()
    const elsewhere = await withPicture()
    const kept = [await workspace.addPicture(other), elsewhere.objectKey]
    const put = (userId: string) => putPicture(userId, GIF, { key })
    const [forbidden, theirs, nobodys] = [await put(other), await put(elsewhere.workspace.userId), await put('nobody')]
    expect([forbidden.status, theirs.status, nobodys.status]).toEqual([403, 404, 404])
    expect(theirs.body).toEqual(nobodys.body)
    expect(await stateOf(workspace, kept[0] ?? '')).toEqual(UNTOUCHED)
    expect(await objectsOf(workspace)).toEqual(ONE)
    expect(await objectsOf(elsewhere.workspace)).toEqual(ONE)
  })

  it('takes a UUID in either case, returns it in lower case, and works under the prefix', async () => {
    const { workspace, key } = await withKey()
    const path = `${PREFIX}/v1/users/${workspace.userId.toUpperCase()}/profile-picture`
    expect((await request('PUT', path, { key, body: PNG })).body.userId).toBe(workspace.userId)
    expect((await request('GET', path, { key })).body).toEqual(PNG)
  })
})

describe('retrieveProfilePicture', () => {
  it('returns the picture with its type and nosniff to any API key of the organization with the scope', async () => {
    const { workspace, key } = await withKey()
    await putPicture(workspace.userId, GIF, { key })
    const other = await workspace.addUser()
    const readers = [{ userId: other }, { userId: null }, { projectIds: [] }]
    for (const reader of readers) {
      const theirs = await workspace.addKey({ scopes: ['profile-picture:read'], ...reader })
      const { status, headers, body } = await readPicture(workspace.userId, { key: theirs })
      expect([status, body]).toEqual([200, GIF])
      expect(headers.get('Content-Type')).toBe('image/gif')
      expect(headers.get('X-Content-Type-Options')).toBe('nosniff')
    }
  })

  it.each([
    ['image/png', 'inline; filename="profile-picture.png"'],
    ['image/jpeg', 'inline; filename="profile-picture.jpeg"'],
    ['image/gif', 'inline; filename="profile-picture.gif"'],
    ['image/webp', 'inline; filename="profile-picture.webp"'],
  ] as const)('returns %s inline with a fixed file name', async (contentType, disposition) => {
    const { workspace, key } = await withKey()
    await putPicture(workspace.userId, PICTURES[contentType], { key })
    const { headers } = await readPicture(workspace.userId, { key })
    expect(headers.get('Content-Disposition')).toBe(disposition)
  })

  it('is 304 without a body if If-None-Match has the ETag, until the picture is replaced', async () => {
    const { workspace, key } = await withPicture()
    const ETag = String((await readPicture(workspace.userId, { key })).headers.get('ETag'))
    const ask = (tags: string) => readPicture(workspace.userId, { key, headers: { 'If-None-Match': tags } })
    for (const tags of [ETag, `W/${ETag}`, `"x", ${ETag}`, '*']) {
      const { status, headers, body } = await ask(tags)
      expect([status, headers.get('ETag'), body]).toEqual([304, ETag, null])
    }
    expect((await ask('"x"')).status).toBe(200)
    await putPicture(workspace.userId, GIF, { key })
    expect((await ask(ETag)).status).toBe(200)
  })

  it('is 404 without a picture: none yet, a first upload in progress, a deleted picture, a deleted user', async () => {
    const { workspace, key } = await withKey()
    const { userId } = workspace
    const statusOf = async (id = userId) => (await readPicture(id, { key })).status
    expect([await statusOf(), await statusOf('nobody')]).toEqual([404, 404])
    let during = 0
    const environment = whileStoring(async () => {
      during = await statusOf()
    })
    await putPicture(userId, GIF, { key, environment })
    expect([during, await statusOf()]).toEqual([404, 200])
    await deletePicture(userId, { key })
    expect(await statusOf()).toBe(404)
    const other = await workspace.addUser()
    await workspace.addPicture(other)
    expect(await statusOf(other)).toBe(200)
    await workspace.delete('user', other)
    expect(await statusOf(other)).toBe(404)
    expect(await swept(workspace)).toEqual(NOTHING)
  })
})

describe('an upload in progress', () => {
  afterEach(() => {
    vi.useRealTimers()
  })

  it('does not replace the current picture, and its object is orphaned, until it is done', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const environment = whileStoring(async () => {
      expect((await readPicture(workspace.userId, { key })).body).toEqual(bytesOf('\x89PNG'))
      expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
      expect(await objectsOf(workspace)).toEqual({ ...ONE, orphaned: 1 })
    })
    expect((await putPicture(workspace.userId, GIF, { key, environment })).status).toBe(200)
  })

  it('is 409 if a newer upload is done first, and its object is swept', async () => {
    const { workspace, key } = await withPicture()
    let newer: ApiResponse | undefined
    const environment = whileStoring(async () => {
      newer = await putPicture(workspace.userId, GIF, { key })
    })
    const older = await putPicture(workspace.userId, PNG, { key, environment })
    expect([older.status, newer?.status]).toEqual([409, 200])
    expect(await objectsOf(workspace)).toEqual({ ...ONE, orphaned: 2 })
    expect(await swept(workspace)).toEqual(ONE)
    expect((await readPicture(workspace.userId, { key })).body).toEqual(GIF)
  })

  it('is 409 if a newer upload is in progress', async () => {
    const { workspace, key } = await withKey()
    const [begun, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let newer: Promise<ApiResponse> | undefined
    const slowly = whileStoring(() => {
      begun.resolve()
      return done.promise
    })
    const environment = whileStoring(async () => {
      newer = putPicture(workspace.userId, GIF, { key, environment: slowly })
      await begun.promise
    })
    expect((await putPicture(workspace.userId, PNG, { key, environment })).status).toBe(409)
    expect((await readPicture(workspace.userId, { key })).status).toBe(404)
    done.resolve()
    expect((await newer)?.status).toBe(201)
    expect((await readPicture(workspace.userId, { key })).body).toEqual(GIF)
    expect(await swept(workspace)).toEqual(ONE)
  })

  it('replaces those that began before it, of many concurrent ones', async () => {
    const { workspace, key } = await withKey()
    const bodies = Array.from({ length: 12 }, (_, index) => bytesOf(`GIF89a${index}`))
    const answers = await Promise.all(bodies.map((body) => putPicture(workspace.userId, body, { key })))
    for (const { status } of answers) expect([200, 201, 409]).toContain(status)
    const successful = bodies.filter((_, index) => answers[index]?.status !== 409)
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(1)
    expect(successful).toContainEqual((await readPicture(workspace.userId, { key })).body)
    expect(await objectsOf(workspace)).toEqual({ ...ONE, orphaned: 11 })
    expect(await swept(workspace)).toEqual(ONE)
  })

  it.each([
    ['with a picture', withPicture],
    ['without a picture', withKey],
  ])('makes a deletion 409 until its lease ends, and is then 409 itself: %s', async (_, prepare) => {
    const { workspace, key } = await prepare()
    vi.useFakeTimers({ toFake: ['Date'] })
    const deletions: number[] = []
    const remove = async () => deletions.push((await deletePicture(workspace.userId, { key })).status)
    const environment = whileStoring(async () => {
      await remove()
      const end = Date.parse(String((await workspace.dump('profilePictures'))[0]?.leaseExpiresAt))
      vi.setSystemTime(end - 1)
      await remove()
      vi.setSystemTime(end)
      await remove()
    })
    expect((await putPicture(workspace.userId, GIF, { key, environment })).status).toBe(409)
    expect(deletions).toEqual([409, 409, 200])
    expect(await workspace.dump('profilePictures')).toEqual([])
    expect((await objectsOf(workspace)).lost).toEqual([])
    expect(await swept(workspace)).toEqual(NOTHING)
  })

  it('is 409 at the end of its lease, and succeeds a millisecond before', async () => {
    for (const [early, status] of [
      [1, 201],
      [0, 409],
    ] as const) {
      const { workspace, key } = await withKey()
      vi.useFakeTimers({ toFake: ['Date'] })
      const environment = whileStoring(async () => {
        const end = Date.parse(String((await workspace.dump('profilePictures'))[0]?.leaseExpiresAt))
        vi.setSystemTime(end - early)
        await tick(new Date(end + HOUR_MS - 1).toISOString())
      })
      expect((await putPicture(workspace.userId, GIF, { key, environment })).status).toBe(status)
      expect((await objectsOf(workspace)).lost).toEqual([])
      expect(await swept(workspace)).toEqual(status === 201 ? ONE : NOTHING)
    }
  })

  it('is not recorded if its API key is revoked or its user deleted meanwhile', async () => {
    for (const what of ['key', 'user']) {
      const { workspace } = await withKey()
      await workspace.addPicture()
      const { token, id } = await workspace.addKeyWithId()
      const environment = whileStoring(() =>
        what === 'key' ? workspace.revokeKey(id) : workspace.delete('user', workspace.userId),
      )
      expect((await putPicture(workspace.userId, GIF, { key: token, environment })).status).toBe(401)
      expect(await objectsOf(workspace)).toEqual({ ...ONE, orphaned: 1 })
      expect(await swept(workspace)).toEqual(what === 'key' ? ONE : NOTHING)
    }
  })
})

describe('an upload while a store is unavailable', () => {
  beforeEach(() => {
    vi.spyOn(console, 'error').mockImplementation(() => {})
  })
  afterEach(() => {
    vi.restoreAllMocks()
  })

  const R2_ERROR = new Error('put: We encountered an internal error. Please try again. (10001)')
  const D1_ERROR = new Error('D1_ERROR: Network connection lost.')

  function expectUnavailable({ status, headers, body }: ApiResponse) {
    expect([status, headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^[1-9]\d*$/)])
    expect(body.error).not.toMatch(/R2|D1|10001|internal|network|object/i)
  }

  /** R2 stores the object, and then fails. */
  const storesAndFails = async (...[key, body]: Parameters<R2Bucket['put']>) => {
    await env.OBJECTS.put(key, body)
    throw R2_ERROR
  }

  /** D1 fails once the object is stored, before or after it runs the batch. */
  function failingLater(fail: (batch: () => Promise<D1Result[]>) => Promise<never>) {
    const { DB } = watchedDatabase()
    const batch = DB.batch.bind(DB)
    const environment = whileStoring(() => {
      DB.batch = (statements) => fail(() => batch(statements))
    })
    return { DB, ...environment }
  }

  const failures: [string, () => Partial<Cloudflare.Env>][] = [
    ['R2 fails', () => ({ OBJECTS: failingObjects(R2_ERROR) })],
    [
      'R2 fails after it stored the object',
      () => ({ OBJECTS: objectsWith({ put: storesAndFails as R2Bucket['put'] }) }),
    ],
    ['D1 fails at first', () => ({ DB: failingDatabase(D1_ERROR) })],
    ['D1 fails after the object is stored', () => failingLater(() => Promise.reject(D1_ERROR))],
  ]

  it.each(failures)(
    'does not replace the current picture, and leaves no object after the sweep: %s',
    async (_, environmentOf) => {
      const { workspace, key, objectKey } = await withPicture()
      expectUnavailable(await putPicture(workspace.userId, GIF, { key, environment: environmentOf() }))
      expect(await stateOf(workspace, objectKey)).toEqual(UNTOUCHED)
      expect((await objectsOf(workspace)).lost).toEqual([])
      expect(await swept(workspace)).toEqual(ONE)
      expect((await putPicture(workspace.userId, GIF, { key })).status).toBe(200)
      expect((await readPicture(workspace.userId, { key })).body).toEqual(GIF)
      expect(await swept(workspace)).toEqual(ONE)
    },
  )

  it.each(failures)('leaves no picture and no object where there was none: %s', async (_, environmentOf) => {
    const { workspace, key } = await withKey()
    expectUnavailable(await putPicture(workspace.userId, GIF, { key, environment: environmentOf() }))
    expect((await readPicture(workspace.userId, { key })).status).toBe(404)
    expect((await objectsOf(workspace)).lost).toEqual([])
    expect(await swept(workspace)).toEqual(NOTHING)
  })

  it('is the picture if D1 recorded it before its connection was lost', async () => {
    const { workspace, key } = await withPicture()
    const environment = failingLater(async (batch) => {
      await batch()
      throw D1_ERROR
    })
    expectUnavailable(await putPicture(workspace.userId, GIF, { key, environment }))
    expect(await swept(workspace)).toEqual(ONE)
    expect((await readPicture(workspace.userId, { key })).body).toEqual(GIF)
  })

  it('cannot be read if only R2 fails, except with its ETag: 304', async () => {
    const { workspace, key } = await withPicture()
    const ETag = String((await readPicture(workspace.userId, { key })).headers.get('ETag'))
    for (const OBJECTS of [failingObjects(R2_ERROR), objectsWith({ get: (async () => null) as R2Bucket['get'] })]) {
      const environment = { OBJECTS }
      expectUnavailable(await readPicture(workspace.userId, { key, environment }))
      const headers = { 'If-None-Match': ETag }
      expect((await readPicture(workspace.userId, { key, environment, headers })).status).toBe(304)
    }
  })
})

const insertOrphaned = unguarded({ objectKey: text('objectKey'), deleteAfter: text('deleteAfter') }, () =>
  query.insert(orphanedObjects).values({
    objectKey: sql.placeholder('objectKey'),
    deleteAfter: sql.placeholder('deleteAfter'),
  }),
)

describe('the sweep', () => {
  /** Adds orphaned objects. The instants are in the past, before those of every other test. */
  async function addOrphans(prefix: string, count: number, deleteAfter: string, stored = count) {
    const { organizationId } = await Workspace.create()
    const keys = Array.from({ length: count }, (_, index) => `${prefix}/${organizationId}/${index}`)
    for (const key of keys.slice(0, stored)) await env.OBJECTS.put(key, 'x')
    await env.DB.batch(keys.map((objectKey) => bind(env.DB, insertOrphaned, { objectKey, deleteAfter })))
    return keys
  }

  async function orphanedCount(prefix: string): Promise<number> {
    const row = await env.DB.prepare(
      'SELECT count(*) AS count FROM "orphanedObjects" WHERE substr("objectKey", 1, ?) = ?',
    )
      .bind(prefix.length + 1, `${prefix}/`)
      .first<{ count: number }>()
    return row?.count ?? 0
  }

  it('deletes the object and the row when they are due, and not before', async () => {
    const [object] = (await addOrphans('due', 1, '2001-01-01T01:00:00.000Z')) as [string]
    await tick('2001-01-01T00:59:59.999Z')
    expect([await objectExists(object), await orphanedCount('due')]).toEqual([true, 1])
    await tick('2001-01-01T01:00:00.000Z')
    expect([await objectExists(object), await orphanedCount('due')]).toEqual([false, 0])
  })

  it('deletes an object that was written again after its picture was deleted, and no other', async () => {
    const { workspace, key, objectKey } = await withPicture()
    await deletePicture(workspace.userId, { key })
    const current = await workspace.addPicture()
    const deleteAfter = String(await deleteAfterOf(objectKey))
    await env.OBJECTS.put(objectKey, 'written late, under an old lease')
    await tick(new Date(Date.parse(deleteAfter) - 1).toISOString())
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: true, orphaned: true })
    await tick(deleteAfter)
    expect(await stateOf(workspace, objectKey)).toEqual({ linked: false, stored: false, orphaned: false })
    expect(await stateOf(workspace, current)).toEqual(UNTOUCHED)
  })

  it('deletes the row of an object that R2 no longer has', async () => {
    await addOrphans('gone', 1, '2001-01-01T01:00:00.000Z', 0)
    await tick('2001-01-01T01:00:00.000Z')
    expect(await orphanedCount('gone')).toBe(0)
  })

  it('keeps the rows for the next tick if R2 fails', async () => {
    const objects = await addOrphans('kept', 3, '2001-01-01T01:00:00.000Z')
    const OBJECTS = failingObjects(new Error('delete: We encountered an internal error. (10001)'))
    await tick('2001-01-01T02:00:00.000Z', { OBJECTS }).catch(() => {})
    expect(await orphanedCount('kept')).toBe(3)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await orphanedCount('kept')).toBe(0)
    expect(await Promise.all(objects.map(objectExists))).toEqual([false, false, false])
  })

  it('sweeps again in the next tick if D1 fails after the objects were deleted', async () => {
    await addOrphans('twice', 1, '2001-01-01T01:00:00.000Z')
    const use = watchedDatabase()
    const batch = use.DB.batch.bind(use.DB)
    const DB = Object.assign(use.DB, {
      batch: (statements: D1PreparedStatement[]) =>
        use.calls === 0 ? batch(statements) : Promise.reject(new Error('D1_ERROR: overloaded')),
    })
    await tick('2001-01-01T02:00:00.000Z', { DB }).catch(() => {})
    expect(await orphanedCount('twice')).toBe(1)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await orphanedCount('twice')).toBe(0)
  })

  it('deletes several pages in one tick', async () => {
    const objects = await addOrphans('page', 1005, '2001-01-01T01:00:00.000Z')
    await tick('2001-01-01T02:00:00.000Z')
    expect(await orphanedCount('page')).toBe(0)
    const { objects: left } = await env.OBJECTS.list({ prefix: 'page/' })
    expect([objects.length, left]).toEqual([1005, []])
  })

  it('continues in the next tick if there are more than 10 pages', async () => {
    await env.DB.prepare(
      `INSERT INTO "orphanedObjects"
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10005)
       SELECT 'many/' || i, '2001-01-01T01:00:00.000Z' FROM n`,
    ).run()
    await tick('2001-01-01T02:00:00.000Z')
    expect(await orphanedCount('many')).toBe(5)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await orphanedCount('many')).toBe(0)
  })

  it('can run twice at the same time', async () => {
    await addOrphans('at-once', 10, '2001-01-01T01:00:00.000Z')
    await Promise.all([tick('2001-01-01T02:00:00.000Z'), tick('2001-01-01T02:00:00.000Z')])
    expect(await orphanedCount('at-once')).toBe(0)
  })
})
