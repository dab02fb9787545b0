import { v7 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { request } from '../../support/api.ts'
import { Workspace } from '../../support/workspace.ts'

interface File {
  readonly id: string
}
const idsOf = (files: readonly File[]) => files.map(({ id }) => id)

/** Two sessions of different projects, with files. */
async function withSessions() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const [website, shop] = [await workspace.addProject(), await workspace.addProject()]
  const [ofWebsite, ofShop] = [await workspace.addSession(website), await workspace.addSession(shop)]
  const ids = [
    await workspace.addSessionFile(ofWebsite, 'src/App.ts'),
    await workspace.addSessionFile(ofShop, 'src/app.ts'),
    await workspace.addSessionFile(ofWebsite, 'docs/caf\u00e9.md'),
    await workspace.addSessionFile(ofShop, 'README.md'),
  ]
  const list = (query = '', token = key) => request('GET', `/v1/session-files${query}`, { key: token })
  const found = async (query: string) => idsOf((await list(query)).body.items)
  return { workspace, key, website, shop, ofWebsite, ofShop, ids, list, found }
}

describe('searchSessionFiles', () => {
  it('lists the files of all sessions in order of creation, as the list of a session has them', async () => {
    const { key, ofWebsite, ofShop, ids, list } = await withSessions()
    await withSessions()
    const { status, body } = await list()
    expect([status, idsOf(body.items), body.nextCursor]).toEqual([200, ids, null])
    for (const sessionId of [ofWebsite, ofShop]) {
      const documented = await request('GET', `/v1/sessions/${sessionId}/files`, { key })
      expect((await list(`?sessionId=${sessionId}`)).body).toEqual(documented.body)
    }
  })

  it('has the files whose path contains the text, of all sessions or of one', async () => {
    const { ofShop, ids, found } = await withSessions()
    expect(await found('?query=APP')).toEqual([ids[0], ids[1]])
    expect(await found(`?query=APP&sessionId=${ofShop.toUpperCase()}`)).toEqual([ids[1]])
    expect(await found('?query=src/')).toEqual([ids[0], ids[1]])
    expect(await found('?query=%25')).toEqual([])
    // Paths are stored in NFC.
    for (const query of ['caf\u00e9', 'cafe\u0301'])
      expect(await found(`?query=${encodeURIComponent(query)}`)).toEqual([ids[2]])
  })

  it('is read page by page', async () => {
    const { ids, list } = await withSessions()
    const first = (await list('?limit=3')).body
    expect([idsOf(first.items), first.nextCursor]).toEqual([ids.slice(0, 3), ids[2]])
    const second = (await list(`?limit=3&cursor=${first.nextCursor.toUpperCase()}`)).body
    expect([idsOf(second.items), second.nextCursor]).toEqual([ids.slice(3), null])
    const middle = (await list('?limit=1&query=s')).body
    expect([idsOf(middle.items), middle.nextCursor]).toEqual([[ids[0]], ids[0]])
  })

  it('has no files of deleted sessions and projects', async () => {
    const { key, ofWebsite, shop, ofShop, ids, list, found } = await withSessions()
    await request('DELETE', `/v1/sessions/${ofWebsite}`, { key })
    expect(await found('')).toEqual([ids[1], ids[3]])
    expect(await found('?query=app')).toEqual([ids[1]])
    const deleted = await list(`?sessionId=${ofWebsite}`)
    expect([deleted.status, deleted.headers.get('Error-Code')]).toEqual([410, 'session_deleted'])
    await request('DELETE', `/v1/projects/${shop}`, { key })
    expect(await found('')).toEqual([])
    expect((await list(`?sessionId=${ofShop}`)).status).toBe(410)
  })

  it('allows a restricted key the sessions of its projects, one at a time', async () => {
    const { workspace, website, ofWebsite, ofShop, ids, list } = await withSessions()
    const key = await workspace.addKey({ projectIds: [website], scopes: ['session-files:read'] })
    const codeOf = async (query: string) => {
      const { status, headers } = await list(query, key)
      return [status, headers.get('Error-Code')]
    }
    expect(await codeOf('')).toEqual([403, 'unrestricted_key_required'])
    expect(await codeOf('?query=app')).toEqual([403, 'unrestricted_key_required'])
    expect(await codeOf(`?sessionId=${ofShop}`)).toEqual([403, 'project_forbidden'])
    expect(await codeOf(`?sessionId=${newUuid()}`)).toEqual([404, 'session_not_found'])
    expect(idsOf((await list(`?sessionId=${ofWebsite}`, key)).body.items)).toEqual([ids[0], ids[2]])
  })

  it.each(['sessionId=x', 'sessionId=', 'path=app', 'limit=0', 'cursor=x'])('refuses %s', async (query) => {
    const { list } = await withSessions()
    expect((await list(`?${query}`)).status).toBe(400)
  })
})
