import { createScheduledController } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { sql } from 'drizzle-orm'
import { describe, expect, it, vi } from 'vitest'
import { doomedObjects } from '../src/db/schema.ts'
import { bind, compileUnguarded, query } from '../src/db/statement.ts'
import type { Environment } from '../src/environment.ts'
import worker from '../src/index.ts'
import { PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase, failingObjects, watchedDatabase } from './support/bindings.ts'
import { Workspace } from './support/workspace.ts'

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

/** When the sweep may delete the object; undefined if it is not doomed. */
async function sweepAfterOf(objectKey: string): Promise<string | undefined> {
  const row = await env.DB.prepare('SELECT "sweepAfter" FROM "doomedObjects" WHERE "objectKey" = ?')
    .bind(objectKey)
    .first<{ sweepAfter: string }>()
  return row?.sweepAfter
}

/** What is left of a picture: its row, its object, and whether the object is doomed. */
async function leftOf(workspace: Workspace, objectKey: string) {
  return {
    linked: (await workspace.dump('profilePictures')).some((row) => row.objectKey === objectKey),
    stored: await objectExists(objectKey),
    doomed: (await sweepAfterOf(objectKey)) !== undefined,
  }
}

const UNTOUCHED = { linked: true, stored: true, doomed: false }

/** One tick of the Cron Trigger at the instant. */
async function tick(at: string, environment: Partial<Environment> = {}) {
  const controller = createScheduledController({ scheduledTime: new Date(at), cron: '* * * * *' })
  await worker.scheduled(controller, { ...env, ...environment })
}

describe('deleteProfilePicture', () => {
  it('unlinks the picture, deletes its object, and dooms it for an hour later', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const before = fromNow(HOUR_MS)
    const answer = await deletePicture(workspace.userId, { key })
    expect([answer.status, answer.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: false, doomed: true })
    const sweepAfter = String(await sweepAfterOf(objectKey))
    expect(sweepAfter).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect([before <= sweepAfter, sweepAfter <= fromNow(HOUR_MS)]).toEqual([true, true])
    expect(await workspace.dump('profilePictures')).toEqual([])
  })

  it('succeeds without a picture, and as often as it is asked, under both base paths', async () => {
    const { workspace, key } = await withKey()
    const success = [200, { userId: workspace.userId, deleted: true }]
    for (const basePath of ['', PREFIX, '', PREFIX]) {
      const path = `${basePath}/v1/users/${workspace.userId}/profile-picture`
      const { status, body } = await request('DELETE', path, { key })
      expect([status, body]).toEqual(success)
    }
  })

  it('is safe to ask again, and at the same time', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const answers = await Promise.all([1, 2, 3].map(() => deletePicture(workspace.userId, { key })))
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
    expect((await deletePicture(workspace.userId, { key })).status).toBe(200)
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: false, doomed: true })
  })

  it('deletes a picture that was uploaded after the last one was deleted', async () => {
    const { workspace, key, objectKey } = await withPicture()
    await deletePicture(workspace.userId, { key })
    const second = await workspace.addPicture()
    await deletePicture(workspace.userId, { key })
    for (const object of [objectKey, second]) {
      expect(await leftOf(workspace, object)).toEqual({ linked: false, stored: false, doomed: true })
    }
  })

  it('leaves the pictures of other users and organizations alone', async () => {
    const { workspace, key } = await withPicture()
    const otherUser = await workspace.addUser()
    const beside = await workspace.addPicture(otherUser)
    const elsewhere = await Workspace.create()
    await elsewhere.addUser(workspace.userId)
    const object = await elsewhere.addPicture(workspace.userId)
    await deletePicture(workspace.userId, { key })
    expect(await leftOf(workspace, beside)).toEqual(UNTOUCHED)
    expect(await leftOf(elsewhere, object)).toEqual(UNTOUCHED)
  })

  it('costs one trip', async () => {
    const { workspace, key } = await withPicture()
    await deletePicture(workspace.userId, { key })
    await workspace.addPicture()
    const use = watchedDatabase()
    await deletePicture(workspace.userId, { key, environment: { DB: use.DB } })
    expect(use.calls).toBe(1)
  })

  it('answers 400 if the key lacks the scope or the user, and changes nothing', async () => {
    const { workspace, objectKey } = await withPicture()
    const withoutScope = await workspace.addKey({ scopes: ['pins:write'] })
    const scope = await deletePicture(workspace.userId, { key: withoutScope })
    expect([scope.status, scope.body.error]).toEqual([
      400,
      'This API key lacks the scope "profile-picture:write".',
    ])
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await deletePicture(workspace.userId, { key: withoutUser })).status).toBe(400)
    expect(await leftOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('answers 403 for another user of the organization, with a picture or without', async () => {
    const { workspace, key } = await withPicture()
    const other = await workspace.addUser()
    expect((await deletePicture(other, { key })).status).toBe(403)
    const objectKey = await workspace.addPicture(other)
    expect((await deletePicture(other, { key })).status).toBe(403)
    await workspace.leasePicture(fromNow(HOUR_MS), other)
    expect((await deletePicture(other, { key })).status).toBe(403)
    expect(await leftOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('answers 404 for a user that the organization does not have', async () => {
    const { key } = await withPicture()
    const elsewhere = await Workspace.create()
    const objectKey = await elsewhere.addPicture()
    const nobody = await deletePicture(crypto.randomUUID(), { key })
    const other = await deletePicture(elsewhere.userId, { key })
    expect([nobody.status, other.status]).toEqual([404, 404])
    expect(other.body).toEqual(nobody.body)
    expect(await leftOf(elsewhere, objectKey)).toEqual(UNTOUCHED)
  })

  it('answers 409 while an upload holds its lease, with a picture or without', async () => {
    const { workspace, key } = await withKey()
    await workspace.leasePicture(fromNow(HOUR_MS))
    expect((await deletePicture(workspace.userId, { key })).status).toBe(409)
    expect(await workspace.dump('profilePictures')).toHaveLength(1)

    const replaced = await withPicture()
    await replaced.workspace.leasePicture(fromNow(HOUR_MS))
    expect((await deletePicture(replaced.workspace.userId, { key: replaced.key })).status).toBe(409)
    expect(await leftOf(replaced.workspace, replaced.objectKey)).toEqual(UNTOUCHED)
  })

  it('succeeds once the lease has expired', async () => {
    const { workspace, key } = await withKey()
    await workspace.leasePicture(fromNow(-1))
    expect((await deletePicture(workspace.userId, { key })).status).toBe(200)

    const replaced = await withPicture()
    await replaced.workspace.leasePicture(fromNow(-1))
    expect((await deletePicture(replaced.workspace.userId, { key: replaced.key })).status).toBe(200)
    expect(await leftOf(replaced.workspace, replaced.objectKey)).toEqual({
      linked: false,
      stored: false,
      doomed: true,
    })
  })

  it('answers 500 in a constant sentence if the database fails', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error('D1_ERROR: no such table: profilePictures: SQLITE_ERROR'))
    const answer = await deletePicture(workspace.userId, { key, environment: { DB } })
    logged.mockRestore()
    expect([answer.status, answer.body.error]).toEqual([500, expect.not.stringContaining('profilePictures')])
    expect(await leftOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it.each([
    'D1_ERROR: D1 DB is overloaded. Requests queued for too long.',
    'D1_ERROR: D1 DB is overloaded. Too many requests queued.',
    'D1_ERROR: Network connection lost.',
    'D1_ERROR: D1 DB storage operation exceeded timeout which caused object to be reset.',
  ])('answers 503 with Retry-After for "%s"', async (message) => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const DB = failingDatabase(new Error(message))
    const answer = await deletePicture(workspace.userId, { key, environment: { DB } })
    logged.mockRestore()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(answer.body.error).not.toContain('D1')
    expect(await leftOf(workspace, objectKey)).toEqual(UNTOUCHED)
  })

  it('answers 503 if the object store fails, and loses nothing: asking again is safe, the sweep deletes the object', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const logged = vi.spyOn(console, 'error').mockImplementation(() => {})
    const OBJECTS = failingObjects(new Error('delete: We encountered an internal error. (10001)'))
    const answer = await deletePicture(workspace.userId, { key, environment: { OBJECTS } })
    logged.mockRestore()
    expect([answer.status, answer.headers.get('Retry-After')]).toEqual([503, expect.stringMatching(/^\d+$/)])
    expect(answer.body.error).not.toContain('10001')
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: true, doomed: true })

    const again = await deletePicture(workspace.userId, { key })
    expect([again.status, again.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    await tick(String(await sweepAfterOf(objectKey)))
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: false, doomed: false })
  })
})

describe('userId', () => {
  it('does not count the case of a UUID, and answers in lower case', async () => {
    const { workspace, key, objectKey } = await withPicture()
    const answer = await deletePicture(workspace.userId.toUpperCase(), { key })
    expect([answer.status, answer.body]).toEqual([200, { userId: workspace.userId, deleted: true }])
    expect(await objectExists(objectKey)).toBe(false)
  })

  it('takes the shape of a UUID for one, whatever its version bits', async () => {
    const workspace = await Workspace.create()
    const id = await workspace.addUser('ffffffff-ffff-ffff-ffff-fffffffffffe')
    const key = await workspace.addKey({ userId: id })
    expect((await deletePicture(id.toUpperCase(), { key })).body).toEqual({ userId: id, deleted: true })
  })

  it('counts the case of any other id', async () => {
    const workspace = await Workspace.create()
    await workspace.addUser('Ada')
    const key = await workspace.addKey({ userId: 'Ada' })
    const objectKey = await workspace.addPicture('Ada')
    expect((await deletePicture('ada', { key })).status).toBe(404)
    await workspace.addUser('ada')
    expect((await deletePicture('ada', { key })).status).toBe(403)
    expect(await leftOf(workspace, objectKey)).toEqual(UNTOUCHED)
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
  ])('takes %s', async (id) => {
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
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^userId: /)])
    }
  })

  it('has no NUL', async () => {
    const { key } = await withKey()
    for (const id of ['\0', 'a\0', '\0a']) {
      const answer = await deletePicture(id, { key })
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringMatching(/^userId: /)])
    }
  })
})

const insertDoomed = compileUnguarded(
  query.insert(doomedObjects).values({
    objectKey: sql.placeholder('objectKey'),
    sweepAfter: sql.placeholder('sweepAfter'),
  }),
)

describe('the sweep', () => {
  /** Dooms objects that are in the store. The instants lie in the past, before those of every other test. */
  async function doom(prefix: string, count: number, sweepAfter: string, stored = count) {
    const keys = Array.from({ length: count }, (_, index) => `${prefix}/${index}`)
    for (const key of keys.slice(0, stored)) await env.OBJECTS.put(key, 'x')
    await env.DB.batch(keys.map((objectKey) => bind(env.DB, insertDoomed, { objectKey, sweepAfter })))
    return keys
  }

  async function doomedCount(prefix: string): Promise<number> {
    const row = await env.DB.prepare(
      'SELECT count(*) AS count FROM "doomedObjects" WHERE substr("objectKey", 1, ?) = ?',
    )
      .bind(prefix.length + 1, `${prefix}/`)
      .first<{ count: number }>()
    return row?.count ?? 0
  }

  it('does nothing before the time, and deletes the object and the row at the time', async () => {
    const [object] = (await doom('due', 1, '2001-01-01T01:00:00.000Z')) as [string]
    await tick('2001-01-01T00:59:59.999Z')
    expect([await objectExists(object), await doomedCount('due')]).toEqual([true, 1])
    await tick('2001-01-01T01:00:00.000Z')
    expect([await objectExists(object), await doomedCount('due')]).toEqual([false, 0])
  })

  it('sweeps what an expired hour leaves of a deleted picture, and only that', async () => {
    const { workspace, key, objectKey } = await withPicture()
    await deletePicture(workspace.userId, { key })
    const current = await workspace.addPicture()
    const sweepAfter = String(await sweepAfterOf(objectKey))
    await env.OBJECTS.put(objectKey, 'written late, under an old lease')
    await tick(new Date(Date.parse(sweepAfter) - 1).toISOString())
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: true, doomed: true })
    await tick(sweepAfter)
    expect(await leftOf(workspace, objectKey)).toEqual({ linked: false, stored: false, doomed: false })
    expect(await leftOf(workspace, current)).toEqual(UNTOUCHED)
  })

  it('forgets an object that is not in the store any more', async () => {
    await doom('gone', 1, '2001-01-01T01:00:00.000Z', 0)
    await tick('2001-01-01T01:00:00.000Z')
    expect(await doomedCount('gone')).toBe(0)
  })

  it('keeps the rows if the store fails, for the next tick', async () => {
    const objects = await doom('kept', 3, '2001-01-01T01:00:00.000Z')
    const OBJECTS = failingObjects(new Error('delete: We encountered an internal error. (10001)'))
    await tick('2001-01-01T02:00:00.000Z', { OBJECTS }).catch(() => {})
    expect(await doomedCount('kept')).toBe(3)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await doomedCount('kept')).toBe(0)
    expect(await Promise.all(objects.map(objectExists))).toEqual([false, false, false])
  })

  it('keeps the rows if the store cannot be told that they are gone, and sweeps them again', async () => {
    await doom('twice', 1, '2001-01-01T01:00:00.000Z')
    const use = watchedDatabase()
    const batch = use.DB.batch.bind(use.DB)
    const DB = Object.assign(use.DB, {
      batch: (statements: D1PreparedStatement[]) =>
        use.calls === 0 ? batch(statements) : Promise.reject(new Error('D1_ERROR: overloaded')),
    })
    await tick('2001-01-01T02:00:00.000Z', { DB }).catch(() => {})
    expect(await doomedCount('twice')).toBe(1)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await doomedCount('twice')).toBe(0)
  })

  it('goes on in the next tick where one page is not enough', async () => {
    const objects = await doom('page', 1005, '2001-01-01T01:00:00.000Z')
    await tick('2001-01-01T02:00:00.000Z')
    expect(await doomedCount('page')).toBe(5)
    await tick('2001-01-01T02:01:00.000Z')
    expect(await doomedCount('page')).toBe(0)
    const { objects: left } = await env.OBJECTS.list({ prefix: 'page/' })
    expect([objects.length, left]).toEqual([1005, []])
  })

  it('is safe if two ticks come at once', async () => {
    await doom('at-once', 10, '2001-01-01T01:00:00.000Z')
    await Promise.all([tick('2001-01-01T02:00:00.000Z'), tick('2001-01-01T02:00:00.000Z')])
    expect(await doomedCount('at-once')).toBe(0)
  })
})
