/** The resources and methods of the client, on the service. */
import { describe, expect, it } from 'vitest'
import openapi from '../../public/openapi.json' with { type: 'json' }
import { ORIGIN } from '../../test/support/api.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { Workspace as Client, WorkspaceError } from '../src/index.ts'
import { CALLS } from '../src/resources.ts'
import { serve } from './support/serve.ts'

async function connected() {
  const workspace = await Workspace.create()
  const requests: Request[] = []
  const fetch = (request: Request) => {
    requests.push(request.clone())
    return serve(request)
  }
  const client = new Client({ url: ORIGIN, apiKey: await workspace.addKey(), fetch })
  return { workspace, client, requests, searches: () => requests.map(({ url }) => new URL(url).searchParams) }
}

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of list) collected.push(item)
  return collected
}

const PNG = Uint8Array.from(
  atob('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='),
  (character) => character.charCodeAt(0),
)

describe('the methods', () => {
  it('are those of the document, each with its method and path', () => {
    const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
      Object.keys(methods)
        .filter((name) => name !== 'parameters')
        .map((method) => `${method.toUpperCase()} ${path}`),
    )
    const calls = Object.values(CALLS).map((call) => call.split(' ').slice(0, 2).join(' '))
    expect(calls.sort()).toEqual(operations.sort())
  })

  it('take the parameters of the path, a body and options, and return the data', async () => {
    const { workspace, client } = await connected()
    const projectId = await workspace.addProject()
    const created = await client.projects.schedules.create(projectId, { cron: '0 6 * * *', timezone: 'Europe/Paris' })
    expect(created).toMatchObject({ projectId, cron: '0 6 * * *', timezone: 'Europe/Paris' })
    expect(await client.projects.schedules.retrieve(projectId, created.id)).toMatchObject({ id: created.id })
    expect(await client.projects.schedules.delete(projectId, created.id)).toMatchObject({ deleted: true })
    await expect(client.projects.schedules.retrieve(projectId, created.id)).rejects.toMatchObject({
      code: 'schedule_not_found',
    })
  })

  it('send numbers, booleans and dates as text, and leave out what is undefined', async () => {
    const { client, searches } = await connected()
    const from = new Date('2026-03-01T00:00:00.000Z')
    await client.runs.list({ from, limit: 5, cursor: undefined, status: 'failed' }).page()
    await client.schedules.list({ enabled: false, nextRunBefore: '2026-03-01T01:00:00+01:00' }).page()
    await client.schedules.preview({ cron: '0 6 * * *', count: 2, from })
    expect(searches().map((search) => Object.fromEntries(search))).toEqual([
      { from: '2026-03-01T00:00:00.000Z', limit: '5', status: 'failed' },
      { enabled: 'false', nextRunBefore: '2026-03-01T01:00:00+01:00' },
      { cron: '0 6 * * *', count: '2', from: '2026-03-01T00:00:00.000Z' },
    ])
  })

  it('expand what is asked for', async () => {
    const { workspace, client } = await connected()
    const projectId = crypto.randomUUID()
    await client.projects.put(projectId, { name: 'Website' })
    await client.pins.put('project', projectId)
    const [plain] = await collect(client.pins.list())
    const [expanded] = await collect(client.pins.list({ expand: 'resource' }))
    expect(plain).not.toHaveProperty('resource')
    expect(expanded?.resource.name).toBe('Website')
    expect(await workspace.dump('pins')).toHaveLength(1)
  })

  it('return null for what is not modified, and the ETag with the response', async () => {
    const { client } = await connected()
    const { data, response } = await client.projects.put('website', { name: 'Website' }).withResponse()
    expect([data.name, response.status]).toEqual(['Website', 201])
    const ifNoneMatch = response.headers.get('ETag') ?? ''
    expect(await client.projects.retrieve('website', { ifNoneMatch })).toBeNull()
    await client.projects.put('website', { name: 'Site' }, { ifMatch: ifNoneMatch })
    expect(await client.projects.retrieve('website', { ifNoneMatch })).toMatchObject({ name: 'Site' })
  })

  it('send further headers', async () => {
    const { client, requests } = await connected()
    await client.me.retrieve({ headers: { 'X-Bookmark': 'latest' } })
    expect(requests[0]?.headers.get('X-Bookmark')).toBe('latest')
  })

  it.each(['', '.', '..', undefined, null, {}])('refuse %j as an ID, which would be another path', async (id) => {
    const { client, requests } = await connected()
    await expect(client.projects.schedules.delete(id as string, 'x')).rejects.toThrow(/^projectId is not an ID; got/)
    await expect(client.projects.schedules.list(id as string).page()).rejects.toThrow(TypeError)
    expect(requests).toHaveLength(0)
  })

  it('encode an ID', async () => {
    const { client } = await connected()
    const id = 'a/../b?c#d%2f é'
    await client.projects.put(id, { name: 'Odd' })
    expect(await client.projects.retrieve(id)).toMatchObject({ id, name: 'Odd' })
  })

  it('throw the error of the service, for people and for programs', async () => {
    const { client } = await connected()
    const error = await client.sessions.retrieve(crypto.randomUUID()).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(WorkspaceError)
    expect(error).toMatchObject({
      name: 'WorkspaceError',
      message: expect.stringContaining('no session'),
      status: 404,
      code: 'session_not_found',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
      retryAfter: null,
    })
  })

  it('throw the error once, also for callers who want the response', async () => {
    const { client } = await connected()
    const call = client.sessions.retrieve(crypto.randomUUID())
    await expect(call.withResponse()).rejects.toMatchObject({ status: 404 })
  })

  it('refuse a redirect', async () => {
    const fetch = async () => new Response(null, { status: 307, headers: { Location: 'https://elsewhere.example/' } })
    const client = new Client({ url: ORIGIN, apiKey: 'wsk_x', fetch })
    await expect(client.me.retrieve()).rejects.toThrow('redirects to https://elsewhere.example')
  })
})

describe('a list', () => {
  async function withAgents(count: number) {
    const connection = await connected()
    const ids: string[] = []
    for (let added = 0; added < count; added++) ids.push(await connection.workspace.addAgent())
    return { ...connection, ids }
  }

  it('yields the items of all pages, in order', async () => {
    const { client, ids, searches } = await withAgents(5)
    const found = await collect(client.agents.list({ limit: 2 }))
    expect(found.map(({ id }) => id).sort()).toEqual(ids.sort())
    expect(searches().map((search) => search.get('limit'))).toEqual(['2', '2', '2'])
    expect(new Set(searches().map((search) => search.get('cursor'))).size).toBe(3)
  })

  it('requests no page that nobody asks for', async () => {
    const { client, requests } = await withAgents(3)
    const agents = client.agents.list({ limit: 1 })
    expect(requests).toHaveLength(0)
    for await (const _ of agents) break
    expect(requests).toHaveLength(1)
  })

  it('has one page, and begins at a cursor', async () => {
    const { client, ids } = await withAgents(3)
    const { items, nextCursor } = await client.agents.list({ limit: 2 }).page()
    expect(items).toHaveLength(2)
    const rest = await collect(client.agents.list({ limit: 2, cursor: nextCursor ?? undefined }))
    expect([...items, ...rest].map(({ id }) => id).sort()).toEqual(ids.sort())
  })

  it('keeps the parameters of the path and the other parameters of the query', async () => {
    const { workspace, client, searches } = await connected()
    const projectId = await workspace.addProject()
    for (let added = 0; added < 2; added++) await workspace.addSession(projectId)
    const sessions = await collect(client.sessions.list({ projectId, limit: 1 }))
    expect(sessions.map((session) => session.projectId)).toEqual([projectId, projectId])
    expect(searches().map((search) => search.get('projectId'))).toEqual([projectId, projectId])
    expect(await collect(client.sessions.files.list(sessions[0]?.id ?? ''))).toEqual([])
  })

  it('of events ends at the last event', async () => {
    const { client } = await connected()
    for (const name of ['A', 'B', 'C']) await client.projects.put(name, { name })
    const events = await collect(client.events.list({ types: 'project.*', limit: 2 }))
    expect(events.map(({ type, resource }) => [type, resource.name])).toEqual([
      ['project.created', 'A'],
      ['project.created', 'B'],
      ['project.created', 'C'],
    ])
  })

  it('throws the error of the service', async () => {
    const { client } = await connected()
    const files = client.sessions.files.list(crypto.randomUUID())
    await expect(collect(files)).rejects.toMatchObject({ code: 'session_not_found' })
  })
})

describe('the content of a file', () => {
  const bytes = new Uint8Array([0, 255, 10])

  it.each([
    ['Uint8Array', () => bytes],
    ['part of a buffer', () => new Uint8Array([1, ...bytes, 1]).subarray(1, 4)],
    ['ArrayBuffer', () => bytes.slice().buffer],
    ['Blob', () => new Blob([bytes], { type: 'image/x-test' })],
    ['ReadableStream', () => new Blob([bytes]).stream()],
  ])('is sent from a %s, and received', async (kind, content) => {
    const { workspace, client } = await connected()
    const sessionId = await workspace.addSession(await workspace.addProject())
    const { id, contentType } = await client.sessions.files.put(sessionId, content(), { path: 'a b+c.bin' })
    expect(contentType).toBe(kind === 'Blob' ? 'image/x-test' : 'application/octet-stream')
    expect((await collect(client.sessions.files.list(sessionId))).map(({ path }) => path)).toEqual(['a b+c.bin'])
    const response = await client.sessions.files.content.retrieve(sessionId, id)
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes)
    const part = await client.sessions.files.content.retrieve(sessionId, id, { range: 'bytes=1-1' })
    expect([part.status, new Uint8Array(await part.arrayBuffer())]).toEqual([206, new Uint8Array([255])])
  })

  it('has the media type that the call says', async () => {
    const { workspace, client } = await connected()
    const options = { path: 'report.pdf', contentType: 'application/pdf' }
    const { contentType } = await client.sessions.files.put(
      await workspace.addSession(await workspace.addProject()),
      new Blob(['x']),
      options,
    )
    expect(contentType).toBe('application/pdf')
  })

  it('is a picture or an archive, too', async () => {
    const { workspace, client } = await connected()
    const { user } = await client.me.retrieve()
    const userId = user?.id ?? ''
    await client.users.profilePicture.put(userId, PNG)
    const picture = await client.users.profilePicture.retrieve(userId)
    expect([picture.headers.get('Content-Type'), (await picture.blob()).size]).toEqual(['image/png', PNG.length])
    const content = '---\nname: review\ndescription: Reviews.\n---\n'
    const skill = await client.skills.create({ files: [{ filename: 'SKILL.md', content }] })
    const archive = await client.skills.archive.retrieve(skill.id, { version: 1 })
    const unpacked = archive.body?.pipeThrough(new DecompressionStream('gzip'))
    expect(await new Response(unpacked).text()).toContain(content)
    expect(await workspace.dump('skills')).toHaveLength(1)
    const again = await client.skills.archive.retrieve(skill.id, { ifNoneMatch: archive.headers.get('ETag') ?? '' })
    expect(again.status).toBe(304)
  })

  it('throws the error of the service', async () => {
    const { client } = await connected()
    await expect(client.users.profilePicture.retrieve('nobody')).rejects.toMatchObject({ code: 'user_not_found' })
  })
})
