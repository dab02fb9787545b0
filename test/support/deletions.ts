/** Everything that the API shows of a workspace, for tests that delete and restore. */

import { createExecutionContext } from 'cloudflare:test'
import { hash } from 'node:crypto'
import { expect } from 'vitest'
import type { DeletedType } from '../../src/access/deletions.ts'
import { ProjectEnvironments } from '../../src/index.ts'
import { request } from './api.ts'
import { deployed, env } from './env.ts'
import { inOneBatch } from './set-up.ts'
import { Workspace } from './workspace.ts'

/** Something that can be deleted. */
export interface Deletable {
  readonly type: DeletedType
  readonly id: string
  readonly path: string
  /** The project or the agent that it belongs to. */
  readonly parent?: string
}

/** Never fires in a test. */
const RARE = '0 0 29 2 *'
const FAR_AHEAD = '2999-01-01T00:00:00.000Z'

const entry = (name: string) => ({
  'SKILL.md': `---\nname: ${name}\ndescription: Notes.\n---\n`,
  'a.txt': `Of ${name}`,
})

/** A workspace with all that can be deleted, and all that can be in it. */
export async function newDeletables() {
  const deletables: Deletable[] = []
  const workspace = await inOneBatch(async () => {
    const made = await Workspace.create()
    for (let count = 0; count < 2; count++) await addProject(made, deletables)
    await addAgent(made, deletables)
    await addUser(made, deletables)
    for (let count = 0; count < 2; count++) await addSkill(made, deletables)
    return made
  })
  // It acts as no user, so that it may delete users that have keys.
  const key = await workspace.addKey({ userId: null })
  return { workspace, key, usersKey: await workspace.addKey(), deletables }
}

async function addProject(workspace: Workspace, deletables: Deletable[]): Promise<void> {
  const project = await workspace.addProject()
  deletables.push({ type: 'project', id: project, path: `/v1/projects/${project}` })
  await workspace.addVariable(project, 'TOKEN', `secret of ${project}`)
  await workspace.pin('project', project)
  for (let count = 0; count < 2; count++) {
    const session = await workspace.addSession(project)
    deletables.push({ type: 'session', id: session, path: `/v1/sessions/${session}`, parent: project })
    for (const path of ['a.txt', 'b/c.txt']) await workspace.addSessionFile(session, path)
    await workspace.pin('session', session)
  }
  const pullRequest = await workspace.addPullRequest(project)
  deletables.push({ type: 'pull_request', id: pullRequest, path: `/v1/pull-requests/${pullRequest}`, parent: project })
  await workspace.pin('pull_request', pullRequest)
  await addSchedule(workspace, deletables, 'project', project)
}

async function addAgent(workspace: Workspace, deletables: Deletable[]): Promise<void> {
  const agent = await workspace.addAgent()
  deletables.push({ type: 'agent', id: agent, path: `/v1/agents/${agent}` })
  for (let count = 0; count < 2; count++) await addSchedule(workspace, deletables, 'agent', agent)
}

async function addSchedule(
  workspace: Workspace,
  deletables: Deletable[],
  type: 'project' | 'agent',
  parent: string,
): Promise<void> {
  const values = { cron: RARE, name: 'Nightly', payload: '{"text":"\\"é\\u0001"}', maxRunSeconds: 3600, note: 'A note' }
  const schedule = await workspace.addSchedule(type, parent, values)
  deletables.push({ type: 'schedule', id: schedule, path: `/v1/${type}s/${parent}/schedules/${schedule}`, parent })
  const at = (hour: number) => new Date(Date.parse('2026-05-31T00:00:00.000Z') + hour * 3_600_000).toISOString()
  await workspace.addRun(schedule, { scheduledAt: at(0), status: 'succeeded', startedAt: at(1), finishedAt: at(2) })
  await workspace.addRun(schedule, { scheduledAt: at(3) })
  await workspace.addRun(schedule, {
    scheduledAt: at(4),
    status: 'delivered',
    startedAt: at(4),
    claimId: workspace.newId(),
    claimedBy: JSON.stringify({ apiKeyId: workspace.newId(), apiKeyName: 'worker' }),
    checkAt: FAR_AHEAD,
  })
}

async function addUser(workspace: Workspace, deletables: Deletable[]): Promise<void> {
  const user = await workspace.addUser()
  deletables.push({ type: 'user', id: user, path: `/v1/users/${user}` })
  await workspace.addPicture(user)
}

async function addSkill(workspace: Workspace, deletables: Deletable[]): Promise<void> {
  const name = `notes-${workspace.newId()}`
  const skill = await workspace.addSkill(entry(name), undefined, name)
  await workspace.addSkillVersion(skill, { ...entry(name), 'b.txt': 'Another' }, name)
  deletables.push({ type: 'skill', id: skill, path: `/v1/skills/${skill}` })
}

/** A response of the API: what it is about, and its content. */
export interface Shown {
  readonly id: string
  readonly content: unknown
}

/** Everything that is readable, by its path. An item of a list has the path of the list and its ID. */
export async function show(workspace: Workspace, key: string, usersKey: string): Promise<Map<string, Shown>> {
  const shown = new Map<string, Shown>()
  const get = async (path: string, by = key) => {
    const { status, body } = await request('GET', path, { key: by })
    expect([path, status]).toEqual([path, 200])
    return body
  }
  const content = async (path: string, id: string) => {
    const body = await get(path)
    // The statistics of a schedule depend on the time.
    const { statistics: _, ...fields } = body
    shown.set(path, { id, content: body instanceof Uint8Array ? hash('sha256', body) : fields })
  }
  const list = async (path: string, idName = 'id', by = key): Promise<string[]> => {
    const { items } = await get(path === '/v1/pins' ? path : `${path}?limit=1000`, by)
    return items.map((item: Record<string, unknown>) => {
      const id = String(item[idName])
      shown.set(`${path} ${id}`, { id, content: item })
      return id
    })
  }
  const schedules = async (parent: string) => {
    for (const id of await list(`${parent}/schedules`)) {
      await content(`${parent}/schedules/${id}`, id)
      for (const run of await list(`${parent}/schedules/${id}/runs`)) await content(`/v1/runs/${run}`, run)
    }
  }
  for (const id of await list('/v1/projects')) {
    await content(`/v1/projects/${id}`, id)
    await schedules(`/v1/projects/${id}`)
    await list(`/v1/projects/${id}/environment-variables`, 'key')
    const values = await new ProjectEnvironments(createExecutionContext(), deployed(env)).read(
      workspace.organizationId,
      id,
    )
    shown.set(`values of ${id}`, { id, content: values })
  }
  for (const id of await list('/v1/agents')) await schedules(`/v1/agents/${id}`)
  for (const id of await list('/v1/sessions')) {
    await content(`/v1/sessions/${id}`, id)
    for (const file of await list(`/v1/sessions/${id}/files`))
      await content(`/v1/sessions/${id}/files/${file}/content`, file)
  }
  await list('/v1/pull-requests')
  for (const id of await list('/v1/users'))
    if (id !== workspace.userId) await content(`/v1/users/${id}/profile-picture`, id)
  for (const id of await list('/v1/skills')) {
    await content(`/v1/skills/${id}`, id)
    for (const version of await list(`/v1/skills/${id}/versions`, 'version')) {
      await content(`/v1/skills/${id}/versions/${version}`, id)
      await content(`/v1/skills/${id}/archive?version=${version}`, id)
    }
  }
  await list('/v1/schedules')
  await list('/v1/runs')
  await list('/v1/session-files')
  await list('/v1/pins', 'resourceId', usersKey)
  return shown
}
