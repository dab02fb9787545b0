/** The client's `items`, on the service. */
import { describe, expect, expectTypeOf, it } from 'vitest'
import { ORIGIN } from '../../test/support/api.ts'
import { Workspace } from '../../test/support/workspace.ts'
import { createWorkspaceClient, type ItemOf, items, WorkspaceApiError } from '../src/index.ts'
import { serve } from './support/serve.ts'

async function withAgents(count: number) {
  const workspace = await Workspace.create()
  const ids: string[] = []
  for (let added = 0; added < count; added++) ids.push(await workspace.addAgent())
  const requests: URL[] = []
  const fetch = (request: Request) => {
    requests.push(new URL(request.url))
    return serve(request)
  }
  const client = createWorkspaceClient(ORIGIN, await workspace.addKey(), { fetch })
  return { workspace, client, ids, requests }
}

async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const collected: Item[] = []
  for await (const item of list) collected.push(item)
  return collected
}

describe('items', () => {
  it('yields the items of all pages, in order', async () => {
    const { client, ids, requests } = await withAgents(5)
    const found: string[] = []
    for await (const agent of items(client, '/v1/agents', { params: { query: { limit: '2' } } })) {
      expectTypeOf(agent).toEqualTypeOf<ItemOf<'/v1/agents'>>()
      found.push(agent.id)
    }
    expect(found.sort()).toEqual(ids.sort())
    expect(requests.map(({ searchParams }) => searchParams.get('limit'))).toEqual(['2', '2', '2'])
    expect(new Set(requests.map(({ searchParams }) => searchParams.get('cursor'))).size).toBe(3)
  })

  it('requests no page that nobody asks for', async () => {
    const { client, requests } = await withAgents(3)
    const agents = items(client, '/v1/agents', { params: { query: { limit: '1' } } })
    expect(requests).toHaveLength(0)
    for await (const _ of agents) break
    expect(requests).toHaveLength(1)
  })

  it('yields nothing of an empty list, and needs no parameters where the operation needs none', async () => {
    const { client, requests } = await withAgents(0)
    expect(await collect(items(client, '/v1/agents'))).toEqual([])
    expect(requests.map(({ search }) => search)).toEqual([''])
  })

  it('keeps the parameters of the path and the other parameters of the query', async () => {
    const { workspace, client, requests } = await withAgents(0)
    const projectId = await workspace.addProject()
    for (let added = 0; added < 2; added++) await workspace.addSession(projectId)
    const query = { projectId, limit: '1' }
    const sessions = await collect(items(client, '/v1/sessions', { params: { query } }))
    expect(sessions.map((session) => session.projectId)).toEqual([projectId, projectId])
    expect(requests.map(({ searchParams }) => searchParams.get('projectId'))).toEqual([projectId, projectId])
    const path = { sessionId: sessions[0]?.id ?? '' }
    expect(await collect(items(client, '/v1/sessions/{sessionId}/files', { params: { path } }))).toEqual([])
  })

  it('throws the error of the service, for people and for programs', async () => {
    const { client } = await withAgents(0)
    const path = { sessionId: crypto.randomUUID() }
    const error = await collect(items(client, '/v1/sessions/{sessionId}/files', { params: { path } })).catch(
      (thrown: unknown) => thrown,
    )
    expect(error).toBeInstanceOf(WorkspaceApiError)
    expect(error).toMatchObject({
      message: expect.stringContaining('no session'),
      status: 404,
      code: 'session_not_found',
      requestId: expect.stringMatching(/^[0-9a-f-]{36}$/),
    })
  })

  it('accepts lists only, with the parameters that they require', async () => {
    const { client } = await withAgents(0)
    const wrong = () => {
      // @ts-expect-error: not a list
      items(client, '/v1/me')
      // @ts-expect-error: the path has a parameter
      items(client, '/v1/sessions/{sessionId}/files')
      // @ts-expect-error: no such parameter
      items(client, '/v1/agents', { params: { query: { name: 'x' } } })
    }
    expect(wrong).toBeTypeOf('function')
  })
})
