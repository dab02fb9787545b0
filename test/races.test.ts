import { describe, expect, it } from 'vitest'
import { request } from './support/api.ts'
import { env } from './support/env.ts'
import { Workspace } from './support/workspace.ts'

/** Does something so many times at once. */
function atOnce<T>(times: number, act: (index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: times }, (_, index) => act(index)))
}

/** How often each status was answered. */
function tally(answers: { status: number }[]): Record<number, number> {
  const counts: Record<number, number> = {}
  for (const { status } of answers) counts[status] = (counts[status] ?? 0) + 1
  return counts
}

async function withKey() {
  const workspace = await Workspace.create()
  return { workspace, key: await workspace.addKey() }
}

/** A workspace with `count` pinned sessions. */
async function withPins(count: number) {
  const { workspace, key } = await withKey()
  const projectId = await workspace.addProject()
  const ids: string[] = []
  for (let index = 0; index < count; index++) {
    const id = await workspace.addSession(projectId)
    await workspace.pin('session', id)
    ids.push(id)
  }
  return { workspace, key, projectId, ids }
}

function place(key: string, id: string, position: 'before' | 'after', target: string, environment = {}) {
  const json = { placement: { target: { type: 'session', id: target }, position } }
  return request('PATCH', `/v1/pins/session/${id}`, { key, json, environment })
}

describe('pins', () => {
  it('of 200 new ones at the limit less one, one is made', async () => {
    const { workspace, key, projectId, ids } = await withPins(3)
    const [target = ''] = ids
    const fresh = await atOnce(200, () => workspace.addSession(projectId))
    const answers = await atOnce(200, (index) =>
      place(key, fresh[index] ?? '', index % 2 === 0 ? 'before' : 'after', target, { PIN_LIMIT: '4' }),
    )
    expect(tally(answers)).toEqual({ 200: 1, 409: 199 })
    expect(answers.filter(({ body }) => body.updated)).toHaveLength(1)
    expect(await workspace.pins()).toHaveLength(4)
  })

  it('placed 200 times at once, one new resource is pinned once', async () => {
    const { workspace, key, projectId, ids } = await withPins(2)
    const [target = ''] = ids
    const fresh = await workspace.addSession(projectId)
    const answers = await atOnce(200, () => place(key, fresh, 'after', target))
    expect(tally(answers)).toEqual({ 200: 200 })
    expect(answers.filter(({ body }) => body.updated)).toHaveLength(1)
    const [first, second] = ids.map((id) => `session/${id}`)
    expect(await workspace.pins()).toEqual([first, `session/${fresh}`, second])
  })

  it('moved all at once keep one total order of the same pins', async () => {
    const { workspace, key, ids } = await withPins(12)
    const answers = await atOnce(300, (index) => {
      const mover = ids[(index * 7) % 12] ?? ''
      const target = ids[(index * 5 + 1) % 12] ?? ''
      return place(key, mover, index % 3 === 0 ? 'before' : 'after', target)
    })
    expect(tally(answers)).toEqual({ 200: 300 })
    expect((await workspace.pins()).sort()).toEqual(ids.map((id) => `session/${id}`).sort())
    const positions = (await workspace.dump('pins')).map(({ position }) => position)
    expect(new Set(positions).size).toBe(12)
  })

  it('moved all at once into one gap keep one total order', async () => {
    const { workspace, key, ids } = await withPins(4)
    const [first = '', second = '', third = ''] = ids
    const answers = await atOnce(200, (index) => place(key, index % 2 === 0 ? second : third, 'after', first))
    expect(tally(answers)).toEqual({ 200: 200 })
    const order = await workspace.pins()
    expect([order[0], order[3]]).toEqual([`session/${first}`, `session/${ids[3]}`])
    expect(new Set(order).size).toBe(4)
    const positions = (await workspace.dump('pins')).map(({ position }) => position)
    expect(new Set(positions).size).toBe(4)
  })
})

interface Kind {
  kind: string
  json: object
  addParent(workspace: Workspace): Promise<string>
}

const KINDS: Kind[] = [
  {
    kind: 'projects',
    json: { cron: '0 6 * * *', timezone: 'Europe/Paris' },
    addParent: (workspace) => workspace.addProject(),
  },
  { kind: 'agents', json: { cron: '0 6 * * *' }, addParent: (workspace) => workspace.addAgent() },
]

describe.each(KINDS)('schedules of $kind', ({ kind, json, addParent }) => {
  it('asked for 50 times at once with one Idempotency-Key are one, in 50 equal answers', async () => {
    const { workspace, key } = await withKey()
    const path = `/v1/${kind}/${await addParent(workspace)}/schedules`
    const headers = { 'Idempotency-Key': 'once' }
    const answers = await atOnce(50, () => request('POST', path, { key, json, headers }))
    expect(tally(answers)).toEqual({ 201: 50 })
    const different = new Set(answers.map((answer) => JSON.stringify([answer.body, answer.headers.get('Location')])))
    expect(different.size).toBe(1)
    const rows = await workspace.dump('schedules')
    expect(rows.map(({ id }) => id)).toEqual([answers[0]?.body.id])
  })

  it('asked for with one Idempotency-Key and two bodies at once are one', async () => {
    const { workspace, key } = await withKey()
    const path = `/v1/${kind}/${await addParent(workspace)}/schedules`
    const headers = { 'Idempotency-Key': 'once' }
    const bodies = [json, { ...json, cron: '0 7 * * *' }]
    const answers = await atOnce(50, (index) => request('POST', path, { key, json: bodies[index % 2], headers }))
    expect(tally(answers)).toEqual({ 201: 25, 409: 25 })
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id))
    expect((await workspace.dump('schedules')).map(({ id }) => id)).toEqual([...made])
  })

  it('asked for at once at the limit less one are one more', async () => {
    const { workspace, key } = await withKey()
    const path = `/v1/${kind}/${await addParent(workspace)}/schedules`
    const environment = { SCHEDULE_LIMIT: '3' }
    await atOnce(2, () => request('POST', path, { key, json, environment }))
    const answers = await atOnce(50, () => request('POST', path, { key, json, environment }))
    expect(tally(answers)).toEqual({ 201: 1, 409: 49 })
    expect(await workspace.dump('schedules')).toHaveLength(3)
  })

  it('asked for at once with a key each and without, stay within the limit', async () => {
    const { workspace, key } = await withKey()
    const path = `/v1/${kind}/${await addParent(workspace)}/schedules`
    const environment = { SCHEDULE_LIMIT: '5' }
    const answers = await atOnce(60, (index) =>
      request('POST', path, {
        key,
        json,
        environment,
        ...(index % 3 > 0 && { headers: { 'Idempotency-Key': `${index % 3}` } }),
      }),
    )
    const rows = await workspace.dump('schedules')
    expect(rows).toHaveLength(5)
    const made = new Set(answers.filter(({ status }) => status === 201).map(({ body }) => body.id))
    expect([...made].sort()).toEqual(rows.map(({ id }) => id).sort())
  })
})

describe('deletions', () => {
  it('of one variable succeed once', async () => {
    const { workspace, key } = await withKey()
    const projectId = await workspace.addProject()
    await workspace.addVariable(projectId, 'TOKEN')
    await workspace.addVariable(projectId, 'OTHER')
    const path = `/v1/projects/${projectId}/environment-variables/TOKEN`
    const answers = await atOnce(50, () => request('DELETE', path, { key }))
    expect(tally(answers)).toEqual({ 200: 1, 404: 49 })
    expect((await workspace.dump('environmentVariables')).map((row) => row.key)).toEqual(['OTHER'])
  })

  it('of one picture all succeed, and leave one orphaned object', async () => {
    const { workspace, key } = await withKey()
    const objectKey = await workspace.addPicture()
    const path = `/v1/users/${workspace.userId}/profile-picture`
    const answers = await atOnce(50, () => request('DELETE', path, { key }))
    expect(tally(answers)).toEqual({ 200: 50 })
    for (const { body } of answers) expect(body).toEqual({ userId: workspace.userId, deleted: true })
    expect(await workspace.dump('profilePictures')).toEqual([])
    expect(await env.OBJECTS.head(objectKey)).toBeNull()
    const { results } = await env.DB.prepare('SELECT objectKey FROM orphanedObjects').all()
    expect(results).toEqual([{ objectKey }])
  })

  it('of a variable, against the archiving of its project, are whole', async () => {
    const { workspace, key } = await withKey()
    const projectId = await workspace.addProject()
    const names = Array.from({ length: 40 }, (_, index) => `TOKEN_${index}`)
    for (const name of names) await workspace.addVariable(projectId, name)
    const answers = await atOnce(41, async (index) => {
      const name = names[index < 20 ? index : index - 1]
      if (index === 20) {
        await workspace.archiveProject(projectId)
        return undefined
      }
      const { status } = await request('DELETE', `/v1/projects/${projectId}/environment-variables/${name}`, {
        key,
      })
      return { name, status }
    })
    const left = answers.flatMap((answer) => (answer?.status === 409 ? [answer.name] : []))
    expect(answers.filter((answer) => answer && ![200, 409].includes(answer.status))).toEqual([])
    expect((await workspace.dump('environmentVariables')).map((row) => row.key).sort()).toEqual(left.sort())
  })

  it('of an API key are effective for every request that comes after them', async () => {
    const { workspace } = await withKey()
    const { id, token } = await workspace.addKeyWithId()
    const path = `/v1/projects/${await workspace.addProject()}/schedules`
    const json = { cron: '0 6 * * *', timezone: 'UTC' }
    const [before] = await Promise.all([
      atOnce(20, () => request('POST', path, { key: token, json })),
      workspace.revokeKey(id),
    ])
    const after = await atOnce(20, () => request('POST', path, { key: token, json }))
    expect(tally(after)).toEqual({ 401: 20 })
    const made = before.filter(({ status }) => status === 201)
    expect(await workspace.dump('schedules')).toHaveLength(made.length)
  })
})
