/** Organizations that are filled through HTTP, by the service's own operations. */
import { v7 as newUuid } from 'uuid'
import { MAX_VARIABLES_PER_REQUEST } from '../src/resources/environment-variables/contract.ts'
import { identity, keyOf, organization } from './data.ts'
import { ask, type BenchRequest } from './load.ts'
import type { WorkerServer } from './servers.ts'

export type Method = BenchRequest['method']
export type Body = Pick<BenchRequest, 'body' | 'headers'>

export function json(value: unknown): { readonly body: string } {
  return { body: JSON.stringify(value) }
}

/** How many requests are under way while a place is filled. */
const AT_ONCE = 8

/** What `make` answers with for 0 to `count` − 1, in order. */
export async function times<Item>(count: number, make: (index: number) => Promise<Item>): Promise<Item[]> {
  const items: Item[] = []
  for (let start = 0; start < count; start += AT_ONCE) {
    const length = Math.min(AT_ONCE, count - start)
    items.push(...(await Promise.all(Array.from({ length }, (_, index) => make(start + index)))))
  }
  return items
}

/** An organization, and the user and the key that fill it. */
export class Place {
  readonly token: string
  readonly organizationId: string
  readonly #server: WorkerServer

  private constructor(server: WorkerServer, organizationId: string, token: string) {
    this.#server = server
    this.organizationId = organizationId
    this.token = token
  }

  static async open(server: WorkerServer): Promise<Place> {
    const organizationId = newUuid()
    const { token, rows } = await organization(organizationId, USER)
    const place = new Place(server, organizationId, token)
    await place.#insert(rows)
    return place
  }

  async #insert(rows: readonly string[]): Promise<void> {
    const { database } = this.#server
    await database.batch(rows.map((sql) => database.prepare(sql)))
  }

  /** A person who signed in as the user. No request does it alone. @returns the ID of the identity. */
  async addIdentity(): Promise<string> {
    const id = newUuid()
    await this.#insert([identity(this.organizationId, id, USER)])
    return id
  }

  /** Connects an app of a person who signed in. @returns the app's path, and the token of the person's session. */
  async addApp(): Promise<{ path: string; token: string }> {
    const identityId = await this.addIdentity()
    const key = (kind: string) => keyOf(this.organizationId, USER, { kind, identityId })
    const [app, session] = await Promise.all([key('grant'), key('session')])
    await this.#insert([app.row, session.row])
    return { path: `/v1/me/apps/${app.id}`, token: session.token }
  }

  /** @returns the id of what the request made. @throws if it fails. */
  async send(method: Method, path: string, request: Body = {}): Promise<string> {
    const made = await this.#made(method, path, request)
    return 'id' in made ? String(made.id) : ''
  }

  /** @returns the token of a new API key. */
  async newKey(fields: object): Promise<string> {
    const made = await this.#made('POST', '/v1/api-keys', json(fields))
    return 'token' in made ? String(made.token) : ''
  }

  async #made(method: Method, path: string, request: Body = {}): Promise<object> {
    const { status, body } = await ask(this.#server.origin, this.token, { method, path, ...request })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${JSON.stringify(body)}`)
    return body
  }

  /** Makes one of what is put under an id of the caller's. @returns the id. */
  put(kind: string, fields: object = {}): Promise<string> {
    return this.send('PUT', `/v1/${kind}/${newUuid()}`, json({ name: 'Bench', ...fields }))
  }

  /** Makes one and deletes it. @returns the path of the deletion. */
  async addDeletion(kind: string): Promise<string> {
    await this.send('DELETE', `/v1/${kind}/${await this.put(kind)}`)
    const { items } = (await this.#made('GET', '/v1/deletions?limit=1')) as { items: { id: string }[] }
    return `/v1/deletions/${items[0]?.id}`
  }

  /** @returns the path of a new schedule of the parent that the path names. */
  async addSchedule(parent: string): Promise<string> {
    const timezone = parent.includes('/projects/') && { timezone: 'Europe/Paris' }
    const id = await this.send('POST', `${parent}/schedules`, json({ cron: '0 6 * * *', ...timezone }))
    return `${parent}/schedules/${id}`
  }

  /** With a key, as two requests of one millisecond make one run else. @returns the id of a new run. */
  addRun(schedule: string): Promise<string> {
    return this.send('POST', `${schedule}/runs`, { headers: { 'idempotency-key': newUuid() } })
  }

  /** Claims a run that waits to be pulled. */
  async claimRun(): Promise<{ id: string; claimId: string }> {
    const request = { method: 'POST', path: '/v1/runs/claim', ...json({ leaseSeconds: 3600 }) } as const
    const { body } = await ask(this.#server.origin, this.token, request)
    const [run] = (body as { items: { id: string; claimId: string }[] }).items
    if (!run) throw new Error('No run waits to be pulled')
    return run
  }

  /** @param types of events; default: none that happens. @returns the path of a new event endpoint. */
  async addEventEndpoint(types?: readonly string[]): Promise<string> {
    const endpoint = types ? json({ url: 'https://receiver.example.com/', types }) : EVENT_ENDPOINT
    return `/v1/event-endpoints/${await this.send('POST', '/v1/event-endpoints', endpoint)}`
  }

  /** @returns the path of a new file. */
  async addFile(sessionId: string): Promise<string> {
    const files = `/v1/sessions/${sessionId}/files`
    return `${files}/${await this.send('PUT', `${files}?path=${newUuid()}.ts`, { body: FILE })}`
  }
}

/** The user that every key acts as. */
export const USER = 'ada'
const KIBIBYTE = 1024
export const FILE = Buffer.alloc(4 * KIBIBYTE, 'contents of a file\n')
export const PICTURE = Buffer.concat([Buffer.from('GIF89a'), Buffer.alloc(20 * KIBIBYTE)])
export const RUN_ENDPOINT = json({ url: 'https://receiver.example.com/' })
/** It wants nothing that happens. */
export const EVENT_ENDPOINT = json({ url: 'https://receiver.example.com/', types: ['run-endpoint.deleted'] })

/** The text of SKILL.md. */
export function skillText(name: string, text: string, description = 'A skill.'): string {
  return `---\nname: ${name}\ndescription: ${description}\n---\n${text}`
}

/** A skill of the usual size. */
export function newSkill() {
  const name = `skill-${newUuid()}`
  const files = Array.from({ length: 4 }, (_, index) => ({
    filename: `file-${index}.md`,
    content: 'contents'.repeat(250),
  }))
  return { files: [{ filename: 'SKILL.md', content: skillText(name, 'contents'.repeat(240)) }, ...files] }
}

/** A place with so many of everything that is listed. All that can hang on one thing hangs on the first of its kind. */
export interface Filled {
  readonly place: Place
  readonly projects: readonly string[]
  readonly agents: readonly string[]
  readonly sessions: readonly string[]
  readonly pullRequests: readonly string[]
  readonly skills: readonly string[]
  readonly apiKeys: readonly string[]
  /** Paths. */
  readonly projectSchedules: readonly string[]
  readonly agentSchedules: readonly string[]
  readonly files: readonly string[]
  readonly runs: readonly string[]
  /** The sessions that are pinned. */
  readonly pinned: readonly string[]
  /** Its path. */
  readonly eventEndpoint: string
}

const MAX_PINS = 50

export async function fill(place: Place, count: number): Promise<Filled> {
  const many = (make: (index: number) => Promise<string>) => times(count, make)
  const projects = await many(() => place.put('projects'))
  const agents = await many(() => place.put('agents'))
  const [projectId = ''] = projects
  const sessions = await many(() => place.put('sessions', { projectId }))
  const pullRequests = await many(() => place.put('pull-requests', { projectId }))
  await many(() => place.put('users'))
  const apiKeys = await many(() => place.send('POST', '/v1/api-keys', json({ name: 'bench', scopes: [] })))
  // In the order of the IDs: D1 counts the row before the versions of a skill as read, if there is one.
  const skills = (await many(() => place.send('POST', '/v1/skills', json(newSkill())))).sort()
  const files = await many(() => place.addFile(sessions[0] ?? ''))
  const projectSchedules = await many(() => place.addSchedule(`/v1/projects/${projectId}`))
  const agentSchedules = await many(() => place.addSchedule(`/v1/agents/${agents[0]}`))
  const runs = await many(() => place.addRun(projectSchedules[0] ?? ''))
  await many(() => place.addRun(agentSchedules[0] ?? ''))
  for (let start = 0; start < count; start += MAX_VARIABLES_PER_REQUEST) {
    const length = Math.min(MAX_VARIABLES_PER_REQUEST, count - start)
    const variables = Array.from({ length }, (_, index) => ({ key: `KEY_${start + index}`, value: 'value' }))
    await place.send('POST', `/v1/projects/${projectId}/environment-variables`, json({ variables }))
  }
  const pinned = sessions.slice(0, MAX_PINS)
  // One after the other, so that each placement of a pin is the same in every run.
  for (const session of pinned) await place.send('PUT', `/v1/pins/session/${session}`)
  await place.send('PUT', '/v1/run-endpoint', RUN_ENDPOINT)
  const eventEndpoint = await place.addEventEndpoint()
  await place.send('PUT', `/v1/users/${USER}/profile-picture`, { body: PICTURE })
  return {
    place,
    projects,
    agents,
    sessions,
    pullRequests,
    skills,
    apiKeys,
    projectSchedules,
    agentSchedules,
    files,
    runs: runs.map((id) => `/v1/runs/${id}`),
    pinned,
    eventEndpoint,
  }
}
