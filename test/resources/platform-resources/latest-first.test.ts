/** Lists of sessions and pull requests with `order=-createdAt`. */

import { v4 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { request } from '../../support/api.ts'
import { watchedDatabase } from '../../support/bindings.ts'
import { env } from '../../support/env.ts'
import { Workspace } from '../../support/workspace.ts'

const KINDS = [
  { path: 'sessions', table: 'sessions' },
  { path: 'pull-requests', table: 'pullRequests' },
]

interface Created {
  readonly id: string
  readonly createdAt: string
  readonly projectId: string
  readonly name: string
}

const timeOf = (index: number) => new Date(Date.UTC(2026, 2, 29) + index * 1000).toISOString()
const latestFirst = (one: Created, other: Created) =>
  other.createdAt === one.createdAt ? (other.id < one.id ? -1 : 1) : other.createdAt < one.createdAt ? -1 : 1
const idsOf = (rows: readonly { id: string }[]) => rows.map(({ id }) => id)

describe.each(KINDS)('GET /v1/$path?order=-createdAt', ({ path, table }) => {
  async function withMany(count: number, createdAtOf: (index: number) => string = timeOf) {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    for (const project of ['website', 'shop']) await workspace.addProject(project)
    // IDs at random, as those of version 4.
    const rows = Array.from(
      { length: count },
      (_, index): Created => ({
        id: newUuid(),
        createdAt: createdAtOf(index),
        projectId: index % 10 === 0 ? 'shop' : 'website',
        name: index % 3 === 0 ? 'Fix the login' : 'Add a button',
      }),
    )
    await insert(workspace, rows)
    /** @returns the IDs of each page. */
    async function walk(query: string, limit: number, between: () => Promise<unknown> = async () => {}) {
      const pages: string[][] = []
      for (let cursor: string | null = ''; cursor !== null; ) {
        const next: string = cursor && `&cursor=${encodeURIComponent(cursor)}`
        const { status, body } = await request('GET', `/v1/${path}?order=-createdAt&limit=${limit}${query}${next}`, {
          key,
        })
        expect([status, body.error]).toEqual([200, undefined])
        pages.push(idsOf(body.items))
        cursor = body.nextCursor
        await between()
      }
      return pages
    }
    return { workspace, key, rows, walk }
  }

  const insert = ({ organizationId }: Workspace, rows: readonly Created[]) =>
    env.DB.prepare(
      `INSERT INTO "${table}" ("organizationId", "id", "projectId", "name", "createdAt", "updatedAt")
       SELECT ?1, value ->> 'id', value ->> 'projectId', value ->> 'name', value ->> 'createdAt', value ->> 'createdAt'
       FROM json_each(?2)`,
    )
      .bind(organizationId, JSON.stringify(rows))
      .run()

  it('has the latest first, page by page, also of those that were created at the same time', async () => {
    const { rows, walk } = await withMany(60, (index) => timeOf(Math.floor(index / 7)))
    const expected = idsOf(rows.toSorted(latestFirst))
    for (const limit of [1, 7, 59, 60, 1000]) {
      const pages = await walk('', limit)
      expect(pages.flat()).toEqual(expected)
      expect(pages).toHaveLength(Math.ceil(60 / limit))
    }
  })

  it('has what the filters hold for', async () => {
    const { rows, walk } = await withMany(60)
    const sorted = rows.toSorted(latestFirst)
    const isInShop = ({ projectId }: Created) => projectId === 'shop'
    const isLogin = ({ name }: Created) => name === 'Fix the login'
    expect((await walk('&projectId=shop', 2)).flat()).toEqual(idsOf(sorted.filter(isInShop)))
    expect((await walk('&query=LOGIN', 7)).flat()).toEqual(idsOf(sorted.filter(isLogin)))
    const both = sorted.filter((row) => isInShop(row) && isLogin(row))
    expect((await walk('&query=login&projectId=shop', 1)).flat()).toEqual(idsOf(both))
  })

  it('begins with what a request created last, and stays when it is renamed', async () => {
    const { key, walk } = await withMany(3)
    const id = newUuid()
    const put = (name: string) => request('PUT', `/v1/${path}/${id}`, { key, json: { projectId: 'website', name } })
    expect((await put('New')).status).toBe(201)
    const before = (await walk('', 10)).flat()
    expect(before[0]).toBe(id)
    expect((await put('Renamed')).status).toBe(200)
    expect((await walk('', 10)).flat()).toEqual(before)
  })

  it('has each once while others come and go, also those that a cursor names', async () => {
    const { workspace, key, rows, walk } = await withMany(40)
    const sorted = idsOf(rows.toSorted(latestFirst))
    let round = 0
    const found = await walk('', 7, async () => {
      const victim = sorted[++round * 7 - 1]
      if (victim) expect((await request('DELETE', `/v1/${path}/${victim}`, { key })).status).toBe(200)
      await insert(workspace, [{ id: newUuid(), createdAt: timeOf(100 + round), projectId: 'website', name: 'x' }])
    })
    expect(found.flat()).toEqual(sorted)
  })

  it('has nothing of deleted projects and of other organizations', async () => {
    const { key, rows, walk } = await withMany(20)
    await withMany(20)
    await request('DELETE', '/v1/projects/shop', { key })
    const kept = rows.filter(({ projectId }) => projectId === 'website').toSorted(latestFirst)
    expect((await walk('', 3)).flat()).toEqual(idsOf(kept))
  })

  it('examines up to 2,500 rows with a project, and reads only its page without filters', async () => {
    const { key, rows, walk } = await withMany(5100, (index) => timeOf(index % 5000))
    const shop = idsOf(rows.filter(({ projectId }) => projectId === 'shop').toSorted(latestFirst))
    const pages = await walk('&projectId=shop', 1000)
    expect(pages.flat()).toEqual(shop)
    expect(pages).toHaveLength(3)
    expect((await walk('', 1000)).flat()).toEqual(idsOf(rows.toSorted(latestFirst)))
    const rowsRead = async (query: string) => {
      const use = watchedDatabase()
      const { status } = await request('GET', `/v1/${path}?order=-createdAt${query}`, {
        key,
        environment: { DB: use.DB },
      })
      expect([status, use.calls]).toEqual([200, 1])
      return use.rowsRead
    }
    expect(await rowsRead('')).toBeLessThanOrEqual(55)
    expect(await rowsRead(`&cursor=${timeOf(2500)}_${newUuid()}`)).toBeLessThanOrEqual(55)
    expect(await rowsRead('&projectId=shop&query=none')).toBeLessThanOrEqual(2 * 2500 + 50)
  })

  it('is refused for keys that are restricted to projects, unless they name one of theirs', async () => {
    const { workspace, rows } = await withMany(20)
    const key = await workspace.addKey({ projectIds: ['shop'] })
    const codeOf = async (query: string) => {
      const { status, headers } = await request('GET', `/v1/${path}?order=-createdAt${query}`, { key })
      return [status, headers.get('Error-Code')]
    }
    expect(await codeOf('')).toEqual([403, 'unrestricted_key_required'])
    expect(await codeOf('&query=fix')).toEqual([403, 'unrestricted_key_required'])
    expect(await codeOf('&projectId=website')).toEqual([403, 'project_forbidden'])
    expect(await codeOf('&projectId=nobodys')).toEqual([404, 'project_not_found'])
    const { body } = await request('GET', `/v1/${path}?order=-createdAt&projectId=shop`, { key })
    expect(idsOf(body.items)).toEqual(idsOf(rows.filter(({ projectId }) => projectId === 'shop').toSorted(latestFirst)))
  })

  it.each(['order=createdAt', 'order=', 'order=-id', 'order=-createdAt&order=-createdAt'])(
    'refuses %s',
    async (query) => {
      const { key } = await withMany(0)
      expect((await request('GET', `/v1/${path}?${query}`, { key })).status).toBe(400)
    },
  )

  it('continues only with a cursor of the same order', async () => {
    const { key } = await withMany(3)
    const [id, time] = [newUuid(), timeOf(1)]
    const errorOf = async (query: string) => (await request('GET', `/v1/${path}?${query}`, { key })).body.error
    for (const cursor of [id, time, `${time}_`, `${time}_x`, `${time}_${id}0`, `_${id}`, `${time} ${id}`])
      expect(await errorOf(`order=-createdAt&cursor=${encodeURIComponent(cursor)}`)).toMatch(
        /^cursor is of another order/,
      )
    for (const cursor of [time, `${time}_${id}`, 'x'])
      expect(await errorOf(`cursor=${cursor}`)).toMatch(/^cursor is of another order/)
    expect(await errorOf(`cursor=${id.toUpperCase()}`)).toBeUndefined()
  })
})
