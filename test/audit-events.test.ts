import { afterEach, describe, expect, it, vi } from 'vitest'
import { request } from './support/api.ts'
import { failingDatabase } from './support/bindings.ts'
import { exampleList, insufficientKeys, keyFor, send, successOf } from './support/examples.ts'
import { Workspace } from './support/workspace.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

type Event = Record<'id' | 'operation' | 'target' | 'apiKeyId' | 'requestId', string>

const eventsOf = async (workspace: Workspace, query = '') =>
  (await request('GET', `/v1/audit-events${query}`, { key: await workspace.addKey() })).body

/** The events that `act` adds to the workspace. */
async function eventsSince(workspace: Workspace, act: () => Promise<unknown>) {
  const before = (await workspace.dump('auditEvents')).map(({ id }) => id)
  await act()
  return (await workspace.dump('auditEvents')).filter(({ id }) => !before.includes(id))
}

describe.each(exampleList.filter(({ contract }) => contract.method !== 'GET'))(
  'the audit events of $operationId',
  ({ operationId, contract, row }) => {
    it('are one for a change, with the API key, the user, the operation, the target and the request', async () => {
      const workspace = await Workspace.create()
      const example = await row.prepare(workspace)
      const { id: keyId, token } = await workspace.addKeyWithId(example.keyOptions)
      let answer = await send(operationId, { ...example, path: '/v1/me' }, token)
      const events = await eventsSince(workspace, async () => {
        answer = await send(operationId, example, token)
      })
      expect(answer.status).toBe(successOf(contract))
      const [path = ''] = example.path.split('?')
      const made = answer.headers.get('Location')?.split('/').at(-1)
      const isOne = contract.success.status === 201 && operationId !== 'setEnvironmentVariables'
      expect(events).toEqual([
        {
          organizationId: workspace.organizationId,
          id: expect.stringMatching(/^[0-9a-f-]{36}$/),
          operation: operationId,
          target: isOne ? `${path}/${made}` : path,
          apiKeyId: keyId,
          userId: workspace.userId,
          requestId: answer.headers.get('X-Request-Id'),
          createdAt: expect.stringMatching(/^\d{4}-/),
        },
      ])
    })

    it('are none for a request that is refused or does not reach the database', async () => {
      const workspace = await Workspace.create()
      const example = await row.prepare(workspace)
      const keys = insufficientKeys.filter(({ status }) => status(contract, row))
      vi.spyOn(console, 'error').mockImplementation(() => {})
      const events = await eventsSince(workspace, async () => {
        for (const { mint } of keys)
          await send(operationId, example, await mint(workspace, contract, example))
        await send(operationId, example)
        const environment = { DB: failingDatabase(new Error('D1_ERROR: Network connection lost.')) }
        await send(operationId, { ...example, environment }, await workspace.addKey())
      })
      expect(events.filter(({ operation }) => operation === operationId)).toEqual([])
    })

    const refusals = Object.entries(row.variations).filter(([, { status = 200 }]) => status >= 400)
    it.each(refusals)('are none for an error: %s', async (_, { apply, needs }) => {
      const workspace = await Workspace.create()
      let example = await row.prepare(workspace)
      if (needs) example = (await row.variations[needs]?.apply(workspace, example)) ?? example
      example = await apply(workspace, example)
      const key = await keyFor(workspace, example)
      expect(await eventsSince(workspace, () => send(operationId, example, key))).toEqual([])
    })
  },
)

describe('audit events', () => {
  it('are listed latest first, page by page, for the own organization only', async () => {
    const workspace = await Workspace.create()
    const other = await Workspace.create()
    const key = await workspace.addKey()
    for (const name of ['a', 'b', 'c', 'd', 'e']) {
      await request('PUT', `/v1/projects/${name}`, { key, json: { name } })
      await request('PUT', `/v1/projects/${name}`, { key: await other.addKey(), json: { name } })
    }
    const found: string[] = []
    for (let query = '?limit=2'; query; ) {
      const { items, nextCursor } = await eventsOf(workspace, query)
      expect(items.length).toBeLessThanOrEqual(2)
      found.push(...items.map(({ target }: { target: string }) => target))
      query = nextCursor && `?limit=2&cursor=${nextCursor}`
    }
    expect(found).toEqual(['e', 'd', 'c', 'b', 'a'].map((name) => `/v1/projects/${name}`))
  })

  it('contain the user and the API key, and no value of the request', async () => {
    const workspace = await Workspace.create()
    const project = await workspace.addProject()
    const { id, token } = await workspace.addKeyWithId({ userId: null })
    const json = { value: 'a secret value' }
    await request('PUT', `/v1/projects/${project}/environment-variables/TOKEN`, { key: token, json })
    const { items } = await eventsOf(workspace)
    expect(items).toMatchObject([{ apiKeyId: id, userId: null, operation: 'putEnvironmentVariable' }])
    expect(JSON.stringify(items)).not.toContain('secret value')
  })

  it('record changes that revoke the API key that makes them', async () => {
    const workspace = await Workspace.create()
    const own = await workspace.addKeyWithId()
    await request('DELETE', `/v1/api-keys/${own.id}`, { key: own.token })
    const rotated = await workspace.addKeyWithId()
    const json = { overlapSeconds: 0 }
    await request('POST', `/v1/api-keys/${rotated.id}/rotate`, { key: rotated.token, json })
    const last = await workspace.addKeyWithId()
    const { headers } = await request('DELETE', `/v1/users/${workspace.userId}`, { key: last.token })
    const reader = await workspace.addKey({ userId: null })
    const { items } = (await request('GET', '/v1/audit-events', { key: reader })).body
    const changes = items.filter(({ requestId }: Event) => requestId !== headers.get('X-Request-Id'))
    expect(changes.map(({ operation }: Event) => operation)).toEqual(['rotateApiKey', 'deleteApiKey'])
    expect(items.filter(({ target }: Event) => target === `/v1/api-keys/${last.id}`)).toMatchObject([
      { operation: 'deleteUser', apiKeyId: last.id },
    ])
  })

  it('record each API key that the deletion of a user revoked, with the request that revoked it', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const userId = await workspace.addUser()
    const revoked = [
      await workspace.addKeyWithId({ userId }),
      await workspace.addKeyWithId({ userId, projectIds: [] }),
      await workspace.addKeyWithId({ userId, expiresAt: '2020-01-01T00:00:00.000Z' }),
    ]
    await workspace.addKeyWithId()
    const gone = await workspace.addKeyWithId({ userId })
    await workspace.revokeKey(gone.id)
    const { status, headers } = await request('DELETE', `/v1/users/${userId}`, { key: admin.token })
    expect(status).toBe(200)
    const events = (await workspace.dump('auditEvents')) as unknown as Event[]
    expect(events.map(({ target }) => target).sort()).toEqual(
      [`/v1/users/${userId}`, ...revoked.map(({ id }) => `/v1/api-keys/${id}`)].sort(),
    )
    for (const { id, operation, apiKeyId, requestId } of events) {
      expect([operation, apiKeyId, requestId]).toEqual(['deleteUser', admin.id, headers.get('X-Request-Id')])
      expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    }
    expect(new Set(events.map(({ id }) => id.slice(0, 24))).size).toBe(1)
  })

  it('record each descendant that the deletion of an API key revoked, with the request that revoked it', async () => {
    const workspace = await Workspace.create()
    const admin = await workspace.addKeyWithId({ userId: null })
    const stolen = await workspace.addKeyWithId()
    const child = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    const gone = await workspace.addKeyWithId({ createdByKeyId: stolen.id })
    await workspace.revokeKey(gone.id)
    const grandchild = await workspace.addKeyWithId({ createdByKeyId: gone.id })
    await workspace.addKeyWithId({ createdByKeyId: admin.id })
    const path = `/v1/api-keys/${stolen.id}?descendants=true`
    const { headers } = await request('DELETE', path, { key: admin.token })
    const events = (await workspace.dump('auditEvents')) as unknown as Event[]
    expect(events.map(({ target }) => target).sort()).toEqual(
      [stolen, child, grandchild].map(({ id }) => `/v1/api-keys/${id}`).sort(),
    )
    for (const { operation, apiKeyId, requestId } of events) {
      expect([operation, apiKeyId, requestId]).toEqual([
        'deleteApiKey',
        admin.id,
        headers.get('X-Request-Id'),
      ])
    }
    expect((await request('DELETE', path, { key: admin.token })).status).toBe(200)
    expect(await workspace.dump('auditEvents')).toHaveLength(3)
  })

  it('are recorded once for a repeated request', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey()
    const agent = await workspace.addAgent()
    const headers = { 'Idempotency-Key': 'one' }
    for (let count = 0; count < 3; count++) {
      await request('POST', `/v1/agents/${agent}/schedules`, { key, json: { cron: '@daily' }, headers })
    }
    expect((await eventsOf(workspace)).items).toHaveLength(1)
  })
})
