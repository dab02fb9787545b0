import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PREFIX, type RequestOptions, request } from '../../support/api.ts'
import { failingDatabase, watchedDatabase } from '../../support/bindings.ts'
import { sized } from '../../support/long-form.ts'
import { now, type ResourceType, Workspace } from '../../support/workspace.ts'

const PLACEMENTS = sized(500, 2000)

const INSTANT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const ALLOWED_ID =
  'allowed: a UUID such as "0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70", because only IDs that are UUIDs can be pinned.'
const ALLOWED_TYPES = 'allowed: "session", "pull_request" or "project".'
const TYPES: ResourceType[] = ['session', 'pull_request', 'project']

/** A workspace with `count` pins of all types. */
async function withPins(count: number) {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  const pins: { type: ResourceType; id: string }[] = []
  for (let index = 0; index < count; index++) {
    const type = TYPES[index % 3] as ResourceType
    const id = await workspace.addResource(type, projectId)
    await workspace.pin(type, id)
    pins.push({ type, id })
  }
  return { workspace, key, projectId, pins }
}

type Pin = { type: ResourceType; id: string }

function place(key: string, pin: Pin, position: 'before' | 'after', target: Pin, more = {}) {
  return request('PATCH', `/v1/pins/${pin.type}/${pin.id}`, {
    key,
    json: { placement: { target, position } },
    ...more,
  })
}

const names = (pins: Pin[]) => pins.map(({ type, id }) => `${type}/${id}`)

describe('updatePin', () => {
  it('moves a pin before and after another, across types', async () => {
    const { workspace, key, pins } = await withPins(4)
    const [a, b, c, d] = pins as [Pin, Pin, Pin, Pin]
    expect((await place(key, d, 'before', a)).body).toEqual({ updated: true })
    expect(await workspace.pins()).toEqual(names([d, a, b, c]))
    expect((await place(key, d, 'after', b)).body).toEqual({ updated: true })
    expect(await workspace.pins()).toEqual(names([a, b, d, c]))
    expect((await place(key, a, 'after', c)).body).toEqual({ updated: true })
    expect(await workspace.pins()).toEqual(names([b, d, c, a]))
  })

  it('returns updated: false if the pin is there already, or is placed beside itself', async () => {
    const { workspace, key, pins } = await withPins(3)
    const [a, b, c] = pins as [Pin, Pin, Pin]
    for (const [pin, position, target] of [
      [a, 'before', b],
      [b, 'after', a],
      [c, 'after', b],
      [b, 'before', b],
      [b, 'after', b],
    ] as const) {
      const { status, body } = await place(key, pin, position, target)
      expect([status, body]).toEqual([200, { updated: false }])
    }
    expect(await workspace.pins()).toEqual(names([a, b, c]))
  })

  it('pins a resource that is not pinned yet, beside the target', async () => {
    const { workspace, key, projectId, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    for (const type of TYPES) {
      const pin = { type, id: await workspace.addResource(type, projectId) }
      expect((await place(key, pin, 'after', a)).body).toEqual({ updated: true })
      expect(await workspace.pins()).toContain(`${type}/${pin.id}`)
    }
    expect((await workspace.pins())[0]).toBe(`${a.type}/${a.id}`)
    expect((await workspace.pins()).at(-1)).toBe(`${b.type}/${b.id}`)
  })

  it('accepts ids in either case, and the base path', async () => {
    const { workspace, key, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    const response = await request('PATCH', `${PREFIX}/v1/pins/${b.type}/${b.id.toUpperCase()}`, {
      key,
      json: { placement: { target: { type: a.type, id: a.id.toUpperCase() }, position: 'before' } },
    })
    expect(response.body).toEqual({ updated: true })
    expect(await workspace.pins()).toEqual(names([b, a]))
  })

  it('keeps the lists of users apart', async () => {
    const { workspace, key, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    const other = await workspace.addUser()
    await workspace.pin(b.type, b.id, other)
    const otherKey = await workspace.addKey({ userId: other })
    expect((await place(otherKey, b, 'before', a)).status).toBe(404)
    expect((await place(key, b, 'before', a)).status).toBe(200)
    expect(await workspace.pins(other)).toEqual(names([b]))
  })

  it.each([
    [{}, 'placement is missing; allowed: an object with target, position.'],
    [
      { placement: {} },
      'placement.target is missing; allowed: an object with type, id. placement.position is missing; allowed: "before" or "after".',
    ],
    [
      { placement: { target: { type: 'session', id: 'x' }, position: 'before' } },
      `placement.target.id has the wrong format; got "x"; ${ALLOWED_ID}`,
    ],
    [
      { placement: { target: { type: 'user', id: 'x' }, position: 'under' } },
      `placement.target.type is not one of the allowed values; got "user"; ${ALLOWED_TYPES} placement.target.id has the wrong format; got "x"; ${ALLOWED_ID} placement.position is not one of the allowed values; got "under"; allowed: "before" or "after".`,
    ],
    [{ placement: 3 }, 'placement is not an object; got 3; allowed: an object with target, position.'],
    [[], 'body is not an object; got an array of length 0; allowed: an object with placement.'],
    [null, 'body is not an object; got null; allowed: an object with placement.'],
  ])('refuses the body %j', async (json, error) => {
    const { key, pins } = await withPins(1)
    const [a] = pins as [Pin]
    const response = await request('PATCH', `/v1/pins/${a.type}/${a.id}`, { key, json })
    expect([response.status, response.body]).toEqual([400, { error }])
  })

  it.each([
    ['extra', 'placement', (body: object) => ({ ...body, extra: 1 })],
    [
      'placement.extra',
      'target, position',
      (body: { placement: object }) => ({ placement: { ...body.placement, extra: 1 } }),
    ],
    [
      'placement.target.extra',
      'type, id',
      (body: { placement: { target: object } }) => ({
        placement: { ...body.placement, target: { ...body.placement.target, extra: 1 } },
      }),
    ],
  ])('refuses the extra property %s', async (name, known, spoil) => {
    const { key, pins } = await withPins(1)
    const [a] = pins as [Pin]
    const json = spoil({ placement: { target: a, position: 'before' } } as never)
    const answer = await request('PATCH', `/v1/pins/${a.type}/${a.id}`, { key, json })
    const error = `${name} is not a known property; known: ${known}.`
    expect([answer.status, answer.body]).toEqual([400, { error }])
  })

  it('refuses an unknown type or an invalid id in the path', async () => {
    const { key, pins } = await withPins(1)
    const [a] = pins as [Pin]
    const json = { placement: { target: a, position: 'before' } }
    const wrongType = await request('PATCH', `/v1/pins/user/${a.id}`, { key, json })
    expect(wrongType.status).toBe(400)
    expect(wrongType.body.error).toBe(`resourceType is not one of the allowed values; got "user"; ${ALLOWED_TYPES}`)
    const wrongId = await request('PATCH', '/v1/pins/session/7', { key, json })
    expect([wrongId.status, wrongId.body]).toEqual([
      400,
      { error: `resourceId has the wrong format; got "7"; ${ALLOWED_ID}` },
    ])
  })

  it('returns 404 if the resource, or the target, does not exist for this caller', async () => {
    const { workspace, key, projectId, pins } = await withPins(2)
    const [a] = pins as [Pin]
    const missing = { type: 'session', id: crypto.randomUUID() } as const
    expect((await place(key, missing, 'before', a)).status).toBe(404)
    expect((await place(key, a, 'before', missing)).status).toBe(404)

    const unpinned = { type: 'session', id: await workspace.addSession(projectId) } as const
    expect((await place(key, a, 'before', unpinned)).status).toBe(404)

    const wrongType = { type: 'pull_request', id: a.id } as const
    expect((await place(key, wrongType, 'before', a)).status).toBe(404)
  })

  it('returns 404 for a deleted session, as the resource and as the target', async () => {
    const { workspace, key, projectId, pins } = await withPins(2)
    const [, b] = pins as [Pin, Pin]
    const session = { type: 'session', id: await workspace.addSession(projectId) } as const
    await workspace.pin('session', session.id)
    await workspace.deleteSession(session.id)
    expect((await place(key, session, 'before', b)).status).toBe(404)
    expect((await place(key, b, 'before', session)).status).toBe(404)
  })

  it('returns 404 for resources outside the projects that the API key is restricted to', async () => {
    const { workspace, projectId } = await withPins(0)
    const reachable = await workspace.addProject()
    const here = { type: 'session', id: await workspace.addSession(reachable) } as const
    const there = { type: 'session', id: await workspace.addSession(projectId) } as const
    const project = { type: 'project', id: projectId } as const
    for (const pin of [here, there, project]) await workspace.pin(pin.type, pin.id)
    const restricted = await workspace.addKey({ projectIds: [reachable] })
    expect((await place(restricted, there, 'before', here)).status).toBe(404)
    expect((await place(restricted, project, 'before', here)).status).toBe(404)
    expect((await place(restricted, here, 'after', there)).status).toBe(404)
    expect((await place(restricted, { type: 'project', id: reachable }, 'after', here)).status).toBe(200)
  })

  it('returns 409 for a new pin at the limit, and still moves existing pins', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const [a, b] = pins as [Pin, Pin]
    const environment = { PIN_LIMIT: '3' }
    const extra = { type: 'session', id: await workspace.addSession(projectId) } as const
    const refused = await place(key, extra, 'before', a, { environment })
    expect([refused.status, refused.body.error]).toEqual([
      409,
      'The user has reached the limit of pins: 3. Remove one first.',
    ])
    expect((await place(key, b, 'before', a, { environment })).body).toEqual({ updated: true })
    expect(await workspace.pins()).toHaveLength(3)
  })

  it('does not count the pins of deleted sessions against the limit', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const [gone, b] = pins as [Pin, Pin]
    await workspace.deleteSession(gone.id)
    const extra = { type: 'session', id: await workspace.addSession(projectId) } as const
    const response = await place(key, extra, 'before', b, { environment: { PIN_LIMIT: '3' } })
    expect(response.body).toEqual({ updated: true })
  })

  it('returns 400 if the API key lacks the scope, or does not act as a user', async () => {
    const { workspace, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    const withoutScope = await workspace.addKey({ scopes: ['skills:read'] })
    const first = await place(withoutScope, b, 'before', a)
    expect([first.status, first.body.error]).toEqual([
      400,
      'This API key lacks the scope "pins:write". Use a key that has it; GET /v1/me shows the scopes of a key.',
    ])
    const withoutUser = await workspace.addKey({ userId: null })
    expect((await place(withoutUser, b, 'before', a)).status).toBe(400)
    expect(await workspace.pins()).toEqual(names([a, b]))
  })

  it('returns 500 with a constant message if the database fails', async () => {
    const { key, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    const DB = failingDatabase(new Error('D1_ERROR: no such table: pins: SQLITE_ERROR'))
    const response = await place(key, b, 'before', a, { environment: { DB } })
    expect(response.status).toBe(500)
    expect(response.body.error).not.toContain('pins')
  })

  it('never runs out of room in one gap, and keeps the order', async () => {
    const { workspace, key, pins } = await withPins(4)
    const [first, second, third, fourth] = pins as [Pin, Pin, Pin, Pin]
    for (let round = 0; round < 100; round++) {
      const [mover, stayer] = round % 2 === 0 ? [third, second] : [second, third]
      expect((await place(key, mover, 'after', first)).body).toEqual({ updated: true })
      expect(await workspace.pins()).toEqual(names([first, mover, stayer, fourth]))
      const positions = (await workspace.dump('pins')).map((row) => Number(row.position))
      expect(positions.filter((each) => each % 2 !== 0)).toEqual([])
    }
  })

  it('renumbers the list only if a gap has no room', async () => {
    const { workspace, key, projectId } = await withPins(0)
    const [a, b, c, d] = (await addResources(workspace, projectId, 4)) as [Pin, Pin, Pin, Pin]
    const positions = async () => {
      const rows = await workspace.dump('pins')
      return [a, b, c, d].map(({ id }) => rows.find((row) => row.resourceId === id)?.position)
    }
    await workspace.pinAt(-8, a.type, a.id)
    await workspace.pinAt(-2, b.type, b.id)
    await place(key, c, 'after', a)
    expect(await positions()).toEqual([-8, -2, -4, undefined])
    await place(key, d, 'before', b)
    expect(await positions()).toEqual([1, 4, 2, 3].map((rank) => rank * 2 ** 30))
  })

  it(`agrees with a plain array over ${PLACEMENTS} random placements`, async () => {
    const { workspace, key, pins } = await withPins(6)
    let model = [...pins]
    const step = fc.record({
      pin: fc.nat(5),
      target: fc.nat(5),
      position: fc.constantFrom('before' as const, 'after' as const),
    })
    const steps = fc.sample(step, { numRuns: PLACEMENTS })
    for (const [index, { pin, target, position }] of steps.entries()) {
      const moved = pins[pin] as Pin
      const beside = pins[target] as Pin
      const before = model
      if (moved !== beside) {
        const rest = model.filter((candidate) => candidate !== moved)
        rest.splice(rest.indexOf(beside) + (position === 'after' ? 1 : 0), 0, moved)
        model = rest
      }
      const updated = model.some((candidate, place) => candidate !== before[place])
      const response = await place(key, moved, position, beside)
      expect([index, response.body]).toEqual([index, { updated }])
      if (index % 50 === 0) expect(await workspace.pins()).toEqual(names(model))
    }
    expect(await workspace.pins()).toEqual(names(model))
    const positions = (await workspace.dump('pins')).map((row) => row.position)
    expect(positions.every(Number.isSafeInteger)).toBe(true)
  })
})

const pinPath = ({ type, id }: Pin) => `/v1/pins/${type}/${id}`

/** Pins a resource at the end of the list. */
const put = (key: string, pin: Pin, more: RequestOptions = {}) => request('PUT', pinPath(pin), { key, ...more })

const unpin = (key: string, pin: Pin, more: RequestOptions = {}) => request('DELETE', pinPath(pin), { key, ...more })

/** @returns the listed pins, as `type/id`. */
async function listed(key: string): Promise<string[]> {
  const { status, body } = await request('GET', '/v1/pins', { key })
  expect([status, body.nextCursor]).toEqual([200, null])
  return body.items.map((item: Record<string, string>) => `${item.resourceType}/${item.resourceId}`)
}

/** Unpinned resources, of each type in turn. */
async function addResources(workspace: Workspace, projectId: string, count: number): Promise<Pin[]> {
  const pins: Pin[] = []
  for (let index = 0; index < count; index++) {
    const type = TYPES[index % 3] as ResourceType
    pins.push({ type, id: await workspace.addResource(type, projectId) })
  }
  return pins
}

describe('listPins', () => {
  it('lists no pins, then one with all of its fields', async () => {
    const { workspace, key, projectId } = await withPins(0)
    expect((await request('GET', '/v1/pins', { key })).body).toEqual({ items: [], nextCursor: null })
    const before = now()
    await put(key, { type: 'project', id: projectId })
    const { body } = await request('GET', `${PREFIX}/v1/pins`, { key })
    const createdAt = expect.stringMatching(INSTANT)
    const pin = { resourceType: 'project', resourceId: projectId, name: 'Website', createdAt }
    expect(body).toEqual({ items: [pin], nextCursor: null })
    expect(body.items[0].createdAt >= before && body.items[0].createdAt <= now()).toBe(true)
    expect(await workspace.dump('pins')).toHaveLength(1)
  })

  it('lists them in order across types, after placements', async () => {
    const { workspace, key, projectId, pins } = await withPins(5)
    const [a, b, c, d, e] = pins as [Pin, Pin, Pin, Pin, Pin]
    const [f, g] = (await addResources(workspace, projectId, 2)) as [Pin, Pin]
    await place(key, e, 'before', a)
    await put(key, f)
    await place(key, b, 'after', d)
    await place(key, g, 'before', f)
    await place(key, a, 'after', f)
    expect(await listed(key)).toEqual(names([e, c, d, b, g, f, a]))
  })

  it('lists the most pins allowed on one page', async () => {
    const { key, pins } = await withPins(50)
    expect(await listed(key)).toEqual(names(pins))
  })

  it.each(TYPES)('hides the pin of a deleted %s, and keeps the order of the others', async (type) => {
    const { workspace, key, pins } = await withPins(6)
    const gone = pins.find((pin) => pin.type === type) as Pin
    await workspace.delete(type, gone.id)
    expect(await listed(key)).toEqual(names(pins.filter((pin) => pin !== gone)))
  })

  it('hides the pins of resources in a deleted project', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    await workspace.delete('project', projectId)
    expect(await listed(key)).toEqual(names(pins.filter(({ type }) => type === 'project')))
  })

  it('hides the pins of resources outside the projects that the API key is restricted to, from that key alone', async () => {
    const { workspace, key, pins } = await withPins(3)
    const reachable = await workspace.addProject()
    const here = await addResources(workspace, reachable, 2)
    for (const pin of [...here, { type: 'project', id: reachable } as const]) await workspace.pin(pin.type, pin.id)
    const all = names([...pins, ...here, { type: 'project', id: reachable }])
    expect(await listed(await workspace.addKey({ projectIds: [reachable] }))).toEqual(all.slice(3))
    expect(await listed(await workspace.addKey({ projectIds: [] }))).toEqual([])
    expect(await listed(key)).toEqual(all)
  })

  it("lists the pins of the caller's user", async () => {
    const { workspace, key, pins } = await withPins(3)
    const other = await workspace.addUser()
    const [a, b, c] = pins as [Pin, Pin, Pin]
    const otherKey = await workspace.addKey({ userId: other })
    expect(await listed(otherKey)).toEqual([])
    await put(otherKey, c)
    await put(otherKey, a)
    expect(await listed(otherKey)).toEqual(names([c, a]))
    expect(await listed(key)).toEqual(names([a, b, c]))
  })

  const expanded = async (key: string) => (await request('GET', '/v1/pins?expand=resource', { key })).body.items

  it('adds to each pin the resource with its name, with expand=resource only', async () => {
    const { key, projectId, pins } = await withPins(3)
    const [session, pullRequest, project] = pins as [Pin, Pin, Pin]
    const rename = (path: string, name: string, more = {}) =>
      request('PUT', `/v1/${path}`, { key, json: { name, ...more } })
    await rename(`sessions/${session.id}`, 'Fix "ü"', { projectId })
    await rename(`pull-requests/${pullRequest.id}`, 'Add a button', { projectId })
    await rename(`projects/${project.id}`, 'Shop')
    const plain = (await request('GET', '/v1/pins', { key })).body.items
    const resources = [
      { id: session.id, name: 'Fix "ü"', projectId, archivedAt: null },
      { id: pullRequest.id, name: 'Add a button', projectId, archivedAt: null },
      { id: project.id, name: 'Shop', projectId: null, archivedAt: null },
    ]
    expect(plain.map(({ name }: { name: string }) => name)).toEqual(['Fix "ü"', 'Add a button', 'Shop'])
    expect(await expanded(key)).toEqual(
      plain.map((pin: object, index: number) => ({ ...pin, resource: resources[index] })),
    )
    const archive = (id: string) => request('PATCH', `/v1/projects/${id}`, { key, json: { archived: true } })
    await archive(projectId)
    const { archivedAt } = (await archive(project.id)).body
    expect(archivedAt).toMatch(INSTANT)
    const after = (await expanded(key)).map(({ resource }: { resource: object }) => resource)
    expect(after).toEqual([resources[0], resources[1], { ...resources[2], archivedAt }])
  })

  it('expands the pins of resources that the API key reaches, and no others', async () => {
    const { workspace, key, pins } = await withPins(3)
    const [session] = pins as [Pin]
    const reachable = await workspace.addProject()
    const [here] = (await addResources(workspace, reachable, 1)) as [Pin]
    await workspace.pin(here.type, here.id)
    await workspace.delete(session.type, session.id)
    const idsOf = async (caller: string) =>
      (await expanded(caller)).map(({ resource }: { resource: { id: string } }) => resource.id)
    expect(await idsOf(key)).toEqual([pins[1]?.id, pins[2]?.id, here.id])
    expect(await idsOf(await workspace.addKey({ projectIds: [reachable] }))).toEqual([here.id])
    expect(await idsOf(await workspace.addKey({ projectIds: [] }))).toEqual([])
  })

  it('reads at most four rows for each pin', async () => {
    const { key } = await withPins(48)
    for (const query of ['', '?expand=resource']) {
      const use = watchedDatabase()
      await request('GET', `/v1/pins${query}`, { key, environment: { DB: use.DB } })
      const [, selecting] = use.statements
      expect(selecting?.rowsRead).toBeGreaterThan(48)
      expect(selecting?.rowsRead).toBeLessThanOrEqual(4 * 48 + 1)
    }
  })

  it.each(['', 'name', 'Resource', 'resource,resource', 'resource&expand=resource'])(
    'takes no expand=%s',
    async (expand) => {
      const { key } = await withPins(1)
      const { status, body } = await request('GET', `/v1/pins?expand=${expand}`, { key })
      expect([status, body]).toEqual([
        400,
        { error: expect.stringMatching(/^expand (is|has) .*("resource"|one value)\.$/) },
      ])
    },
  )
})

const NAMES = { session: 'Fix the login', pull_request: 'Fix the login', project: 'Website' }

describe('putPin', () => {
  it.each(TYPES)('pins a %s at the end, and returns the pin', async (type) => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const pin = { type, id: await workspace.addResource(type, projectId) }
    const before = now()
    const { status, headers, body } = await put(key, pin)
    expect(headers.get('Location')).toBe(`/v1/pins/${type}/${pin.id}`)
    expect([status, body]).toEqual([
      201,
      { resourceType: type, resourceId: pin.id, name: NAMES[type], createdAt: expect.stringMatching(INSTANT) },
    ])
    expect(body.createdAt >= before && body.createdAt <= now()).toBe(true)
    expect(await listed(key)).toEqual(names([...pins, pin]))
  })

  it('pins after the last pin, wherever pins were placed or removed before', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const [a, b, c] = pins as [Pin, Pin, Pin]
    const [d, e] = (await addResources(workspace, projectId, 2)) as [Pin, Pin]
    await place(key, a, 'after', c)
    await put(key, d)
    await unpin(key, d)
    await put(key, e)
    await put(key, d)
    expect(await listed(key)).toEqual(names([b, c, a, e, d]))
  })

  it('leaves a pin where it is, also at the limit', async () => {
    const { workspace, key, pins } = await withPins(3)
    const before = await workspace.dump('pins')
    const [first] = (await request('GET', '/v1/pins', { key })).body.items
    for (const environment of [{}, { PIN_LIMIT: '3' }, { PIN_LIMIT: '1' }]) {
      const { status, body } = await put(key, pins[0] as Pin, { environment })
      expect([status, body]).toEqual([200, first])
    }
    expect(await workspace.dump('pins')).toEqual(before)
  })

  it('accepts the id in either case, and returns it in lower case', async () => {
    const { workspace, key, projectId } = await withPins(0)
    const [pin] = (await addResources(workspace, projectId, 1)) as [Pin]
    const { body } = await request('PUT', `${PREFIX}${pinPath({ ...pin, id: pin.id.toUpperCase() })}`, {
      key,
    })
    expect(body.resourceId).toBe(pin.id)
    expect(await listed(key)).toEqual(names([pin]))
  })

  it('pins as many resources as the setting allows, and not one more', async () => {
    const { workspace, key, projectId, pins } = await withPins(2)
    const environment = { PIN_LIMIT: '3' }
    const [c, d] = (await addResources(workspace, projectId, 2)) as [Pin, Pin]
    expect((await put(key, c, { environment })).status).toBe(201)
    const { status, body } = await put(key, d, { environment })
    expect([status, body]).toEqual([409, { error: 'The user has reached the limit of pins: 3. Remove one first.' }])
    expect(await workspace.pins()).toEqual(names([...pins, c]))
  })

  it('pins 50 resources without a setting', async () => {
    const { workspace, key, projectId } = await withPins(49)
    const [last, more] = (await addResources(workspace, projectId, 2)) as [Pin, Pin]
    expect((await put(key, last)).status).toBe(201)
    expect((await put(key, more)).status).toBe(409)
    expect(await workspace.pins()).toHaveLength(50)
  })

  it.each(TYPES)('does not count the pin of a deleted %s against the limit', async (type) => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const environment = { PIN_LIMIT: '3' }
    await workspace.delete(type, (pins.find((pin) => pin.type === type) as Pin).id)
    const [pin, more] = (await addResources(workspace, projectId, 2)) as [Pin, Pin]
    expect((await put(key, pin, { environment })).status).toBe(201)
    expect((await put(key, more, { environment })).status).toBe(409)
  })

  it('counts the pins that an API key restricted to projects does not see, and pins after them', async () => {
    const { workspace, key, pins } = await withPins(3)
    const reachable = await workspace.addProject()
    const restricted = await workspace.addKey({ projectIds: [reachable] })
    const pin = { type: 'project', id: reachable } as const
    expect((await put(restricted, pin, { environment: { PIN_LIMIT: '3' } })).status).toBe(409)
    expect((await put(restricted, pin, { environment: { PIN_LIMIT: '4' } })).status).toBe(201)
    expect(await listed(key)).toEqual(names([...pins, pin]))
  })

  it('does not count the pins of other users', async () => {
    const { workspace, pins } = await withPins(2)
    const other = await workspace.addKey({ userId: await workspace.addUser() })
    const environment = { PIN_LIMIT: '1' }
    expect((await put(other, pins[0] as Pin, { environment })).status).toBe(201)
    expect((await put(other, pins[1] as Pin, { environment })).status).toBe(409)
  })

  it('stays within the limit under concurrent requests, and pins one resource once', async () => {
    const { workspace, key, projectId } = await withPins(0)
    const environment = { PIN_LIMIT: '4' }
    const resources = await addResources(workspace, projectId, 10)
    const responses = await Promise.all(resources.map((pin) => put(key, pin, { environment })))
    expect(responses.map(({ status }) => status).sort()).toEqual([...Array(4).fill(201), ...Array(6).fill(409)])
    expect(await listed(key)).toHaveLength(4)

    const one = await withPins(0)
    const project = { type: 'project', id: one.projectId } as const
    const same = await Promise.all(Array.from({ length: 10 }, () => put(one.key, project)))
    expect(new Set(same.map(({ body }) => body.createdAt)).size).toBe(1)
    expect(same.map(({ status }) => status).sort()).toEqual([...Array(9).fill(200), 201])
    expect(await listed(one.key)).toEqual(names([project]))
  })
})

describe('deletePin', () => {
  it('unpins a resource, once', async () => {
    const { workspace, key, pins } = await withPins(4)
    const [a, b, c, d] = pins as [Pin, Pin, Pin, Pin]
    const { status, body } = await request('DELETE', `${PREFIX}${pinPath({ ...b, id: b.id.toUpperCase() })}`, { key })
    expect([status, body]).toEqual([200, { deleted: true, resourceType: b.type, resourceId: b.id }])
    expect(await listed(key)).toEqual(names([a, c, d]))
    expect(await workspace.pins()).toEqual(names([a, c, d]))
    expect((await unpin(key, b)).status).toBe(404)
  })

  it("returns 404 if the resource is not pinned, and leaves other users' pins", async () => {
    const { workspace, pins } = await withPins(2)
    const [a, b] = pins as [Pin, Pin]
    const other = await workspace.addKey({ userId: await workspace.addUser() })
    expect((await unpin(other, a)).status).toBe(404)
    await put(other, a)
    await put(other, b)
    expect((await unpin(other, a)).status).toBe(200)
    expect(await listed(other)).toEqual(names([b]))
    expect(await workspace.pins()).toEqual(names(pins))
  })

  it('makes room for another pin at the limit', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const environment = { PIN_LIMIT: '3' }
    const [pin] = (await addResources(workspace, projectId, 1)) as [Pin]
    expect((await put(key, pin, { environment })).status).toBe(409)
    await unpin(key, pins[0] as Pin)
    expect((await put(key, pin, { environment })).status).toBe(201)
    expect(await listed(key)).toEqual(names([...pins.slice(1), pin]))
  })

  it('succeeds once among concurrent requests', async () => {
    const { key, pins } = await withPins(1)
    const responses = await Promise.all(Array.from({ length: 10 }, () => unpin(key, pins[0] as Pin)))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(404)])
  })
})

describe.each(['PUT', 'DELETE'])('%s of a pin', (method) => {
  it('returns 404 for resources that do not exist for this caller, and changes nothing', async () => {
    const { workspace, key, projectId, pins } = await withPins(3)
    const [session, , project] = pins as [Pin, Pin, Pin]
    const lost = await addResources(workspace, projectId, 3)
    for (const { type, id } of lost) {
      await workspace.pin(type, id)
      await workspace.delete(type, id)
    }
    const deletedProject = await workspace.addProject()
    const orphan = { type: 'session', id: await workspace.addSession(deletedProject) } as const
    await workspace.pin('session', orphan.id)
    await workspace.delete('project', deletedProject)
    const stranger = await Workspace.create()
    const theirs = { type: 'project', id: await stranger.addProject() } as const
    const before = await workspace.dump('pins')
    const missing: Pin = { type: 'session', id: crypto.randomUUID() }
    const wrongType: Pin = { type: 'pull_request', id: session.id }
    const responses = []
    for (const pin of [...lost, orphan, missing, theirs, wrongType]) {
      responses.push(await request(method, pinPath(pin), { key }))
    }
    const restricted = await workspace.addKey({ projectIds: [crypto.randomUUID()] })
    for (const pin of [session, project]) responses.push(await request(method, pinPath(pin), { key: restricted }))
    const strangers = await stranger.addKey()
    responses.push(await request(method, pinPath(session), { key: strangers }))
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 404))
    expect([await workspace.dump('pins'), await stranger.dump('pins')]).toEqual([before, []])
  })

  it('refuses an unknown type or an invalid id', async () => {
    const { key, pins } = await withPins(1)
    const wrongType = await request(method, `/v1/pins/user/${pins[0]?.id}`, { key })
    expect([wrongType.status, wrongType.body.error]).toEqual([400, expect.stringMatching(/^resourceType /)])
    const wrongId = await request(method, '/v1/pins/session/7', { key })
    expect([wrongId.status, wrongId.body]).toEqual([
      400,
      { error: `resourceId has the wrong format; got "7"; ${ALLOWED_ID}` },
    ])
    expect(await listed(key)).toEqual(names(pins))
  })
})
