import { createExecutionContext } from 'cloudflare:test'
import { v4 as newUuid } from 'uuid'
import { describe, expect, it } from 'vitest'
import { runs, schedules } from '../../../src/db/schema.ts'
import { ProjectEnvironments } from '../../../src/index.ts'
import { ORIGIN, type RequestOptions, request } from '../../support/api.ts'
import { interruptedDatabase, watchedDatabase } from '../../support/bindings.ts'
import { type Deletable, newDeletables, show } from '../../support/deletions.ts'
import { deployed, env, ofDatabase } from '../../support/env.ts'
import { newOutbox } from '../../support/queue.ts'
import { Receiver } from '../../support/receiver.ts'
import { advance, HOUR_MS, inSeconds, MINUTE_MS, NEVER, newWorker, stopClocks, tickNow } from '../../support/runs.ts'
import { entryFile, skillOf } from '../../support/skills.ts'
import { tick } from '../../support/tick.ts'
import { Workspace } from '../../support/workspace.ts'

stopClocks()

const DAY_MS = 24 * HOUR_MS
const HOURLY = '0 * * * *'

/** A workspace, a key that acts as no user, and what a test does with deletions. */
async function withWorkspace() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey({ userId: null })
  return { workspace, ...requestsOf(key) }
}

function requestsOf(key: string) {
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    request(method, path, { key, ...options })
  const list = async (query = '') => (await send('GET', `/v1/deletions${query}`)).body.items
  return {
    key,
    send,
    list,
    /** @returns the ID of the deletion. */
    async remove(path: string, options?: RequestOptions): Promise<string> {
      expect((await send('DELETE', path, options)).status).toBe(200)
      return (await list())[0].id
    },
    restore: (id: string, options?: RequestOptions) => send('POST', `/v1/deletions/${id}/restore`, options),
    purge: (id: string) => send('DELETE', `/v1/deletions/${id}`),
  }
}

/** The status and the code of a response. */
const outcome = ({ status, headers }: Awaited<ReturnType<typeof request>>) => [status, headers.get('Error-Code')]

describe('a restoration', () => {
  it('brings back each kind with everything that was in it, under another ETag', async () => {
    const { workspace, key, usersKey, deletables } = await newDeletables()
    const { send, remove, restore } = requestsOf(key)
    const before = await show(workspace, key, usersKey)
    const oneOfEach = Object.values(Object.fromEntries(deletables.map((each) => [each.type, each])))
    expect(oneOfEach).toHaveLength(7)
    for (const { type, id, path } of oneOfEach) {
      const first = await send('GET', path)
      const deletion = await remove(path)
      expect((await show(workspace, key, usersKey)).size).toBeLessThan(before.size)
      const restored = await restore(deletion)
      expect([restored.status, restored.body]).toEqual([200, { restored: true, resourceType: type, resourceId: id }])
      expect(await show(workspace, key, usersKey)).toEqual(before)
      const again = await send('GET', path)
      expect(again.headers.get('ETag')).not.toBe(first.headers.get('ETag'))
      expect(await workspace.usage()).toEqual(await workspace.countedUsage())
      expect(outcome(await restore(deletion))).toEqual([404, 'deletion_not_found'])
      // It can be deleted and restored again.
      expect((await restore(await remove(path))).status).toBe(200)
    }
    expect(await workspace.dump('deletions')).toEqual([])
    expect(await show(workspace, key, usersKey)).toEqual(before)
  })

  it('succeeds once for simultaneous requests, also if another comes between its two round trips', async () => {
    const { workspace, remove, restore, purge } = await withWorkspace()
    const path = `/v1/projects/${await workspace.addProject()}`
    const id = await remove(path)
    const answers = await Promise.all(Array.from({ length: 5 }, () => restore(id)))
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 404, 404, 404, 404])
    const later = await remove(path)
    const DB = interruptedDatabase(() => purge(later))
    expect(outcome(await restore(later, { environment: { DB } }))).toEqual([404, 'deletion_not_found'])
    expect(await workspace.dump('projects')).toEqual([])
    const events = (await workspace.dump('auditEvents')).map(({ type }) => type)
    expect(events.filter((type) => type === 'project.restored')).toHaveLength(1)
  })

  it('loses nothing and doubles nothing if the database fails before or after its change', async () => {
    const { workspace, remove, restore } = await withWorkspace()
    const projectId = await workspace.addProject()
    const id = await remove(`/v1/projects/${projectId}`)
    const lost = () => Promise.reject(new Error('D1_ERROR: Network connection lost.'))
    expect((await restore(id, { environment: { DB: interruptedDatabase(lost) } })).status).toBe(503)
    expect([await workspace.has('project', projectId), (await workspace.dump('deletions')).length]).toEqual([false, 1])
    expect((await restore(id)).status).toBe(200)
    expect([await workspace.has('project', projectId), await workspace.dump('deletions')]).toEqual([true, []])
  })

  it('is refused while its project or agent is deleted or archived', async () => {
    const { workspace, send, remove, restore } = await withWorkspace()
    const [projectId, agentId] = [await workspace.addProject(), await workspace.addAgent()]
    const [project, agent] = [`/v1/projects/${projectId}`, `/v1/agents/${agentId}`]
    const children = [
      `/v1/sessions/${await workspace.addSession(projectId)}`,
      `/v1/pull-requests/${await workspace.addPullRequest(projectId)}`,
      `${project}/schedules/${await workspace.addSchedule('project', projectId)}`,
      `${agent}/schedules/${await workspace.addSchedule('agent', agentId)}`,
    ]
    const ids: string[] = []
    for (const path of children) ids.push(await remove(path))
    for (const path of [project, agent]) await send('PATCH', path, { json: { archived: true } })
    const archived = ['project_archived', 'project_archived', 'project_archived', 'agent_archived']
    for (const [index, id] of ids.entries()) expect(outcome(await restore(id))).toEqual([409, archived[index]])
    const parents = [await remove(project), await remove(agent)]
    for (const id of ids) expect(outcome(await restore(id))).toEqual([409, 'parent_deleted'])
    for (const id of parents) expect((await restore(id)).status).toBe(200)
    for (const id of ids) expect((await restore(id)).status).toBe(409)
    for (const path of [project, agent]) await send('PATCH', path, { json: { archived: false } })
    for (const id of ids) expect((await restore(id)).status).toBe(200)
    for (const path of children) expect((await send('GET', path)).status).toBe(200)
  })

  it.each(['project', 'agent'] as const)(
    'of a schedule is refused if its %s has the most schedules allowed',
    async (type) => {
      const { workspace, remove, restore } = await withWorkspace()
      const parentId = type === 'project' ? await workspace.addProject() : await workspace.addAgent()
      const id = await remove(`/v1/${type}s/${parentId}/schedules/${await workspace.addSchedule(type, parentId)}`)
      await workspace.addSchedule(type, parentId)
      const refused = await restore(id, { environment: { SCHEDULE_LIMIT: '1' } })
      expect([refused.status, refused.body.error]).toEqual([
        409,
        `The ${type} has reached the limit of schedules: 1. Delete one first.`,
      ])
      expect((await restore(id, { environment: { SCHEDULE_LIMIT: '2' } })).status).toBe(200)
    },
  )

  it('succeeds although the organization is over a quota', async () => {
    const { workspace, remove, restore } = await withWorkspace()
    const id = await remove(`/v1/projects/${await workspace.addProject()}`)
    expect((await restore(id, { environment: { PROJECT_LIMIT: '0' } })).status).toBe(200)
  })

  it('of a skill is refused if another has its name', async () => {
    const { send, remove, restore } = await withWorkspace()
    const first = (await send('POST', '/v1/skills', { json: skillOf() })).body
    const id = await remove(`/v1/skills/${first.id}`)
    const second = (await send('POST', '/v1/skills', { json: skillOf() })).body
    expect(outcome(await restore(id))).toEqual([409, 'skill_name_taken'])
    await send('PATCH', `/v1/skills/${second.id}`, { json: { files: [entryFile('other')] } })
    expect((await restore(id)).status).toBe(200)
    expect((await send('GET', `/v1/skills/${first.id}`)).body).toEqual(first)
  })

  it('leaves an Idempotency-Key to what was created with it meanwhile', async () => {
    const { workspace, send, remove, restore } = await withWorkspace()
    const headers = { 'Idempotency-Key': 'once' }
    const path = `/v1/agents/${await workspace.addAgent()}/schedules`
    const create = async () => (await send('POST', path, { headers, json: { cron: HOURLY } })).body
    const first = await create()
    expect(await create()).toEqual(first)
    const alone = await remove(`${path}/${first.id}`)
    expect((await restore(alone)).status).toBe(200)
    expect((await create()).id).toBe(first.id)
    const id = await remove(`${path}/${first.id}`)
    const second = await create()
    expect(second.id).not.toBe(first.id)
    expect((await restore(id)).status).toBe(200)
    expect((await create()).id).toBe(second.id)
    expect((await send('GET', path)).body.items).toHaveLength(2)
  })

  it('of a user does not revive the keys', async () => {
    const { workspace, send, remove, restore } = await withWorkspace()
    const userId = await workspace.addUser()
    const usersKey = await workspace.addKey({ userId })
    const id = await remove(`/v1/users/${userId}`)
    expect((await restore(id)).status).toBe(200)
    expect((await request('GET', '/v1/me', { key: usersKey })).status).toBe(401)
    expect((await send('GET', `/v1/users/${userId}`)).status).toBe(200)
  })

  it('of a skill brings it back into feeds, and no feed that has ended', async () => {
    const { workspace, send, remove, restore } = await withWorkspace()
    const skill = (await send('POST', '/v1/skills', { json: skillOf() })).body
    const ended = await workspace.addKeyWithId({ userId: null })
    const feedOf = async (by?: string) => {
      const json = { name: 'Laptops', skills: [{ skillId: skill.id }] }
      const { url }: { url: string } = (await send('POST', '/v1/skill-feeds', { json, ...(by && { key: by }) })).body
      return `${url.replace(ORIGIN, '')}/.well-known/agent-skills/index.json`
    }
    const [feed, endedFeed] = [await feedOf(), await feedOf(ended.token)]
    const before = await request('GET', feed)
    expect(before.body.skills).toHaveLength(1)
    await send('DELETE', `/v1/api-keys/${ended.id}`)
    const id = await remove(`/v1/skills/${skill.id}`)
    expect((await request('GET', feed)).body.skills).toEqual([])
    expect((await restore(id)).status).toBe(200)
    expect((await request('GET', feed)).body).toEqual(before.body)
    expect((await request('GET', endedFeed)).status).toBe(404)
  })
})

describe('the list', () => {
  it('has the latest first, in pages, by type and by project', async () => {
    const { workspace, send, remove, list } = await withWorkspace()
    const projectId = await workspace.addProject()
    const paths = [
      `/v1/sessions/${await workspace.addSession(projectId)}`,
      `/v1/sessions/${await workspace.addSession(await workspace.addProject())}`,
      `/v1/projects/${projectId}/schedules/${await workspace.addSchedule('project', projectId)}`,
      `/v1/agents/${await workspace.addAgent()}`,
      `/v1/projects/${projectId}`,
    ]
    for (const path of paths) {
      await remove(path)
      advance(1)
    }
    const idOf = (path: string) => path.replace(/.*\//, '')
    const idsOf = (items: { resourceId: string }[]) => items.map(({ resourceId }) => resourceId)
    const ids = paths.map(idOf).reverse()
    expect(idsOf(await list())).toEqual(ids)
    const found: string[] = []
    for (let cursor = ''; cursor !== 'null'; ) {
      const { body } = await send('GET', `/v1/deletions?limit=2${cursor && `&cursor=${cursor}`}`)
      found.push(...idsOf(body.items))
      cursor = String(body.nextCursor)
    }
    expect(found).toEqual(ids)
    expect(idsOf(await list('?resourceType=session'))).toEqual([ids[3], ids[4]])
    expect(idsOf(await list(`?projectId=${projectId}`))).toEqual([ids[0], ids[2], ids[4]])
    const [latest] = await list()
    expect(latest).toEqual({
      id: latest.id,
      resourceType: 'project',
      resourceId: projectId,
      name: 'Website',
      projectId,
      agentId: null,
      deletedAt: inSeconds(-0.001),
      finalAt: inSeconds(7 * 24 * 3600 - 0.001),
    })
    expect((await send('GET', `/v1/deletions/${latest.id}`)).body).toEqual(latest)
  })

  it('reads the rows of its page, however many deletions are final', async () => {
    const { workspace, key, remove } = await withWorkspace()
    const projectId = await workspace.addProject()
    for (let count = 0; count < 30; count++) await workspace.delete('session', await workspace.addSession(projectId))
    for (let count = 0; count < 3; count++) await remove(`/v1/sessions/${await workspace.addSession(projectId)}`)
    for (const query of ['', `?projectId=${projectId}`]) {
      const use = watchedDatabase()
      const { body } = await request('GET', `/v1/deletions${query}`, { key, environment: { DB: use.DB } })
      expect([body.items.length, use.calls]).toEqual([3, 1])
      expect(use.rowsRead).toBeLessThan(16)
    }
  })

  it('of a restricted key is that of one of its projects, also of a deleted one', async () => {
    const { workspace, remove, purge } = await withWorkspace()
    const [own, other] = [await workspace.addProject(), await workspace.addProject()]
    const session = await remove(`/v1/sessions/${await workspace.addSession(other)}`)
    const ids = [await remove(`/v1/sessions/${await workspace.addSession(own)}`), await remove(`/v1/projects/${own}`)]
    const restricted = requestsOf(await workspace.addKey({ projectIds: [own], userId: null }))
    expect(outcome(await restricted.send('GET', '/v1/deletions'))).toEqual([403, 'unrestricted_key_required'])
    const query = `/v1/deletions?projectId=${other}`
    expect(outcome(await restricted.send('GET', query))).toEqual([403, 'project_forbidden'])
    const found: string[] = (await restricted.list(`?projectId=${own}`)).map(({ id }: { id: string }) => id)
    expect(found.sort()).toEqual(ids.sort())
    expect(outcome(await restricted.restore(session))).toEqual([403, 'project_forbidden'])
    expect(outcome(await restricted.purge(session))).toEqual([403, 'project_forbidden'])
    const agent = await remove(`/v1/agents/${await workspace.addAgent()}`)
    for (const refused of [
      await restricted.send('GET', `/v1/deletions/${agent}`),
      await restricted.restore(agent),
      await restricted.purge(agent),
    ]) {
      expect(outcome(refused)).toEqual([403, 'unrestricted_key_required'])
    }
    const project = (await restricted.list(`?projectId=${own}`)).find(
      (each: { resourceType: string }) => each.resourceType === 'project',
    )
    expect((await restricted.restore(project.id)).status).toBe(200)
    expect((await purge(session)).status).toBe(200)
    // Every key with the scope deletes skills.
    const skill = await remove(`/v1/skills/${await workspace.addSkill({})}`)
    expect((await restricted.restore(skill)).status).toBe(200)
  })
})

describe('the purge', () => {
  const count = async (workspace: Workspace, table: string) => (await workspace.dump(table)).length

  it('begins after UNDO_DAYS, and not before', async () => {
    const { workspace, key, deletables } = await newDeletables()
    const { remove, restore } = requestsOf(key)
    const project = deletables.find(({ type }) => type === 'project') as Deletable
    const before = await count(workspace, 'sessionFiles')
    const id = await remove(project.path, { environment: { UNDO_DAYS: '2' } })
    await tick(env, new Date(Date.now() + 2 * DAY_MS - 1))
    expect(await count(workspace, 'sessionFiles')).toBe(before)
    advance(2 * DAY_MS)
    expect((await restore(id)).status).toBe(404)
    for (let number = 0; number < 2; number++) await tick(env, new Date())
    expect(await count(workspace, 'sessionFiles')).toBe(before / 2)
    expect(await workspace.usage()).toEqual(await workspace.countedUsage())
  })

  it('ends the deletions of what was in a project that is deleted for good', async () => {
    const { workspace, send, remove, list, purge, restore } = await withWorkspace()
    const [project, other] = [await workspace.addProject(), await workspace.addProject()]
    const agent = await workspace.addAgent(project)
    const within = [
      `/v1/sessions/${await workspace.addSession(project)}`,
      `/v1/pull-requests/${await workspace.addPullRequest(project)}`,
      `/v1/projects/${project}/schedules/${await workspace.addSchedule('project', project)}`,
    ]
    const beside = [
      `/v1/sessions/${await workspace.addSession(other)}`,
      `/v1/agents/${agent}/schedules/${await workspace.addSchedule('agent', agent)}`,
    ]
    for (const path of [...within, ...beside]) await remove(path)
    const ofAgent = (await list())[0].id
    const ofSchedule = (await list(`?projectId=${project}&resourceType=schedule`))[0].id
    await purge(await remove(`/v1/projects/${project}`))
    // At once, although no tick has ended them yet.
    for (const method of ['GET', 'DELETE'])
      expect(outcome(await send(method, `/v1/deletions/${ofSchedule}`))).toEqual([404, 'deletion_not_found'])
    expect(outcome(await restore(ofSchedule))).toEqual([404, 'deletion_not_found'])
    expect(await list()).toHaveLength(beside.length)
    for (let number = 0; number < 2; number++) await tickNow()
    expect((await list()).map(({ resourceId }: { resourceId: string }) => resourceId).sort()).toEqual(
      beside.map((path) => path.replace(/.*\//, '')).sort(),
    )
    const ended = (await workspace.dump('deletions')).filter(({ id }) => id === null)
    expect(ended.map(({ row, purgedAt }) => [row, purgedAt !== null])).toEqual(ended.map(() => [null, true]))
    expect(ended).toHaveLength(4)
    expect((await restore(ofAgent)).status).toBe(200)
    await remove(beside[1] as string)
    await purge(await remove(`/v1/agents/${agent}`))
    await tickNow()
    expect(await list()).toHaveLength(1)
    expect(await workspace.usage()).toEqual(await workspace.countedUsage())
  })

  it('begins at once with UNDO_DAYS 0', async () => {
    const { workspace, send, list } = await withWorkspace()
    const projectId = await workspace.addProject()
    const sessionId = await workspace.addSession(projectId)
    await workspace.addSessionFile(sessionId, 'a.txt')
    expect((await send('DELETE', `/v1/sessions/${sessionId}`, { environment: { UNDO_DAYS: '0' } })).status).toBe(200)
    expect([await list(), (await workspace.usage())?.sessions]).toEqual([[], 0])
    await tickNow()
    expect(await workspace.dump('sessionFiles')).toEqual([])
  })

  it('has no end of time', async () => {
    const { workspace, remove, list } = await withWorkspace()
    await remove(`/v1/agents/${await workspace.addAgent()}`, { environment: { UNDO_DAYS: '999999999999999' } })
    expect((await list())[0].finalAt).toMatch(/^2126-/)
  })
})

describe('schedules and runs', () => {
  it('do not fire while a parent is deleted, and fire again after the restoration', async () => {
    for (const type of ['project', 'agent'] as const) {
      const { workspace, send, remove, restore } = await withWorkspace()
      const parentId = await (type === 'project' ? workspace.addProject() : workspace.addAgent())
      const [parent, schedulePath] = [`/v1/${type}s/${parentId}`, `/v1/${type}s/${parentId}/schedules`]
      const recurring = await workspace.addSchedule(type, parentId, { cron: HOURLY })
      const once = newUuid()
      await send('PUT', `${schedulePath}/${once}`, {
        json: { runAt: inSeconds(1800), ...(type === 'project' && { timezone: 'UTC' }) },
      })
      const id = await remove(parent)
      // A tick in time, a late one, and none.
      advance(HOUR_MS)
      await tickNow()
      advance(2 * HOUR_MS)
      await tickNow()
      advance(2 * HOUR_MS + MINUTE_MS)
      expect((await restore(id)).status).toBe(200)
      await tickNow()
      await tickNow()
      expect(await workspace.dump('runs')).toEqual([])
      expect(await workspace.dump('missedSpans')).toEqual([])
      const nextRunOf = async (scheduleId: string): Promise<unknown> =>
        (await send('GET', `${schedulePath}/${scheduleId}`)).body.nextRunAt
      expect([await nextRunOf(recurring), await nextRunOf(once)]).toEqual([inSeconds(59 * 60), null])
      advance(59 * MINUTE_MS)
      await tickNow()
      expect(await workspace.dump('runs')).toHaveLength(1)
    }
  })

  it.each([
    ['a cron expression', { cron: HOURLY }, '2026-06-01T17:00:00.000Z'],
    ['a time that has passed', { runAt: '2026-06-01T13:00:00.000Z' }, null],
    ['a time that has not', { runAt: '2026-06-01T18:00:00.000Z' }, '2026-06-01T18:00:00.000Z'],
    ['a cron expression, paused', { cron: HOURLY, enabled: false }, null],
  ])('of %s have their next run computed from the restoration on', async (_, settings, nextRunAt) => {
    const { workspace, send, remove, restore } = await withWorkspace()
    const path = `/v1/agents/${await workspace.addAgent()}/schedules/${newUuid()}`
    await send('PUT', path, { json: settings })
    const { nextRunAt: __, updatedAt, ...before } = (await send('GET', path)).body
    const id = await remove(path)
    advance(4 * HOUR_MS + MINUTE_MS)
    await tickNow()
    expect((await restore(id)).status).toBe(200)
    const { statistics: ___, ...after } = (await send('GET', path)).body
    const { statistics: ____, ...fields } = before
    expect(after).toEqual({ ...fields, updatedAt, nextRunAt })
    await tickNow()
    expect(await workspace.dump('runs')).toEqual([])
  })

  it('that are on their way or claimed are neither sent nor ended while their schedule is deleted', async () => {
    const worker = await newWorker({ cron: NEVER, maxRunSeconds: 7200 })
    const { workspace, key, path, parentId } = worker
    const { remove, restore } = requestsOf(key)
    const receiver = await new Receiver().answers(200)
    await worker.run()
    const { runId: claimed, claimId } = await worker.claim({ leaseSeconds: 600 }).then(({ body }) => {
      return { runId: body.items[0].id, claimId: body.items[0].claimId }
    })
    await workspace.addRunEndpoint(receiver.url)
    const pending = await worker.run()
    for (const deleted of [path, `/v1/projects/${parentId}`]) {
      const id = await remove(deleted)
      const { messages, environment, deliver } = newOutbox()
      const before = await workspace.dump('runs')
      advance(20 * MINUTE_MS)
      await tick(environment, new Date())
      expect(messages).toEqual([])
      const withoutCheck = (rows: Record<string, unknown>[]) => rows.map(({ checkAt: _, ...row }) => row)
      const after = await workspace.dump('runs')
      expect(withoutCheck(after)).toEqual(withoutCheck(before))
      // Checked again later, and not by every tick.
      expect(after.every(({ checkAt }) => String(checkAt) > inSeconds(0))).toBe(true)
      expect((await restore(id)).status).toBe(200)
      await deliver()
    }
    // The claim was not taken away, so its worker can complete the run.
    expect((await worker.read(claimed)).status).toBe('delivered')
    const completed = await request('POST', `/v1/runs/${claimed}/complete`, {
      key,
      json: { outcome: 'succeeded', claimId },
    })
    expect(completed.status).toBe(200)
    const { environment, deliver } = newOutbox()
    advance(16 * MINUTE_MS)
    await tick(environment, new Date())
    await deliver()
    expect((await receiver.received()).map(({ headers }) => headers['webhook-id'])).toContain(pending.id)
    expect((await worker.read(pending.id)).status).toBe('delivered')
  })

  it.each(['claimed', 'acknowledged'])(
    'that were %s get no outcome after their time limit, before a tick has failed them either',
    async (how) => {
      const worker = await newWorker({ cron: NEVER, maxRunSeconds: 600 })
      const { remove, restore } = requestsOf(worker.key)
      const { id } = await worker.run()
      const claimId = how === 'claimed' ? (await worker.claimOne({ leaseSeconds: 300 })).claimId : undefined
      if (how === 'acknowledged') await worker.acknowledge(id)
      const before = await worker.read(id)
      const deletion = await remove(worker.path)
      // Each of the ticks postpones the check.
      for (const minutes of [20, 20]) {
        advance(minutes * MINUTE_MS)
        await tickNow()
      }
      expect((await restore(deletion)).status).toBe(200)
      // A claim ends when it would have ended.
      expect(await worker.read(id)).toEqual(before)
      expect(outcome(await worker.complete(id, { claimId }))).toEqual([409, 'run_finished'])
      advance(16 * MINUTE_MS)
      await tickNow()
      expect(await worker.read(id)).toMatchObject({ status: 'failed', failure: 'timeout' })
    },
  )

  it('that were missed before the deletion are recorded, until it is final', async () => {
    for (const isFinal of [false, true]) {
      const { workspace, remove, restore } = await withWorkspace()
      const agentId = await workspace.addAgent()
      const id = await workspace.addSchedule('agent', agentId, { cron: '* * * * *' })
      await workspace.change(schedules, id, { nextRunAt: inSeconds(-600) })
      const { environment } = newOutbox()
      const { fireSchedules } = await import('../../../src/resources/work/firing/fire.ts')
      await fireSchedules(ofDatabase(environment), new Date())
      expect(await workspace.dump('missedSpans')).toHaveLength(1)
      const deletion = await remove(`/v1/agents/${agentId}/schedules/${id}`)
      if (isFinal) await workspace.endUndo()
      for (let count = 0; count < 2; count++) await tickNow()
      expect(await workspace.dump('missedSpans')).toEqual([])
      expect((await workspace.dump('runs')).length).toBe(isFinal ? 0 : 11)
      expect((await restore(deletion)).status).toBe(isFinal ? 404 : 200)
    }
  })
})

it('variables are sealed with the newest key while their project is deleted', async () => {
  const { workspace, remove, restore } = await withWorkspace()
  const projectId = await workspace.addProject()
  await workspace.addVariable(projectId, 'TOKEN', 'secret')
  const id = await remove(`/v1/projects/${projectId}`)
  const NEW = 'new-1:ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8='
  await tick({ ...env, ENCRYPTION_KEYS: `${NEW},${env.ENCRYPTION_KEYS}` }, new Date())
  expect((await restore(id)).status).toBe(200)
  const reader = new ProjectEnvironments(createExecutionContext(), deployed({ ...env, ENCRYPTION_KEYS: NEW }))
  expect(await reader.read(workspace.organizationId, projectId)).toEqual({ TOKEN: 'secret' })
})

it('a repeated run of what was restored is still the same run', async () => {
  const { workspace, send, remove, restore } = await withWorkspace()
  const agentId = await workspace.addAgent()
  const path = `/v1/agents/${agentId}/schedules/${await workspace.addSchedule('agent', agentId, { cron: NEVER })}`
  const run = () => send('POST', `${path}/runs`, { headers: { 'Idempotency-Key': 'once' } })
  const first = await run()
  await workspace.change(runs, first.body.id, { lastError: 'late' })
  expect((await restore(await remove(path))).status).toBe(200)
  expect((await run()).body).toEqual({ ...first.body, lastError: 'late' })
})
