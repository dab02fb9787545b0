/**
 * Moves under load, interrupted at each of their batches: before and after each batch, random clients of two isolates
 * change and read what two organizations have, keys are revoked, ticks run and messages are delivered. Whatever was
 * acknowledged has to be there, as if there were one database.
 */
import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import * as fc from 'fast-check'
import { v4 as newUuid } from 'uuid'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { moveOrganization, readPlace } from '../operate/organization-move.ts'
import { organizationTables } from '../operate/organization-rows.ts'
import { resume, suspend } from '../operate/suspension.ts'
import { RecentMap } from '../src/access/recent-map.ts'
import { bindingOf, requireDatabase } from '../src/db/database.ts'
import { MOVE_MESSAGE } from '../src/db/failures.ts'
import { COUNT_USAGE } from '../src/db/usage.ts'
import { deliver } from '../src/deliveries.ts'
import type { DeliveryMessage } from '../src/environment.ts'
import worker, { ProjectEnvironments } from '../src/index.ts'
import * as scheduled from '../src/scheduled.ts'
import { type ApiResponse, ORIGIN, PREFIX, type RequestOptions, request } from './support/api.ts'
import { objectsWith } from './support/bindings.ts'
import { databaseNumber, env } from './support/env.ts'
import { newQueues } from './support/event-endpoints.ts'
import { sized } from './support/long-form.ts'
import { Receiver } from './support/receiver.ts'
import {
  moveDatabases,
  NUMBERS,
  QUIETLY,
  rowsIn,
  threeDatabases,
  threeForRequests,
  useThreeDatabases,
} from './support/three-databases.ts'
import { Workspace } from './support/workspace.ts'

useThreeDatabases()

const MINUTE_MS = 60_000
const HOURS_BACK_MS = 12 * 60 * MINUTE_MS

/** Which isolate gets the next request: each remembers for itself. */
let isolate = 0

type Random = (limit: number) => number

interface Token {
  readonly token: string
  readonly id: string
  isLive: boolean
}

interface Claim {
  readonly claimId: string
  readonly leaseExpiresAt: string
}

/** An upload whose object is written when the test says so. */
interface SlowUpload {
  readonly path: string
  readonly bytes: string
  readonly store: () => void
  readonly response: Promise<ApiResponse>
}

/** What clients were told that an organization has. */
class World {
  readonly workspace: Workspace
  readonly receiver: Receiver | undefined
  readonly events: Receiver | undefined
  readonly tokens: Token[] = []
  readonly feeds: { readonly path: string; readonly key: Token }[] = []
  readonly sessions = new Map<string, string>()
  readonly files = new Map<string, { readonly id: string; readonly bytes: string }>()
  readonly claims = new Map<string, Claim>()
  readonly completed = new Set<string>()
  readonly slowUploads: SlowUpload[] = []
  readonly variables: Record<string, string> = {}
  projectId = ''
  agentId = ''
  sessionId = ''
  skillId = ''
  scheduleId = ''

  private constructor(workspace: Workspace, receivers: readonly Receiver[]) {
    this.workspace = workspace
    ;[this.receiver, this.events] = receivers
  }

  get organizationId() {
    return this.workspace.organizationId
  }

  /** @param isPushed true if a run endpoint gets the runs; otherwise workers claim them. */
  static async create(isPushed: boolean): Promise<World> {
    const workspace = await Workspace.create()
    const receivers = isPushed ? [new Receiver(), new Receiver()] : []
    const world = new World(workspace, receivers)
    await rowsIn(
      0,
      'INSERT OR REPLACE INTO "directory" VALUES (?, ?, NULL)',
      workspace.organizationId,
      databaseNumber(),
    )
    world.tokens.push({ ...(await workspace.addKeyWithId()), isLive: true })
    world.projectId = await workspace.addProject()
    world.agentId = await workspace.addAgent()
    world.sessionId = await workspace.addSession(world.projectId)
    world.sessions.set(world.sessionId, 'Fix the login')
    world.skillId = await workspace.addSkill({
      'SKILL.md': '---\nname: notes\ndescription: Notes.\n---\n',
      'long.txt': 'ä\n'.repeat(130_000),
    })
    for (const receiver of receivers) await receiver.answers(200)
    if (world.receiver && world.events) {
      await workspace.addRunEndpoint(world.receiver.url)
      await workspace.addEventEndpoint({ url: world.events.url })
    }
    world.scheduleId = newUuid()
    const { status } = await request('PUT', `/v1/agents/${world.agentId}/schedules/${world.scheduleId}`, {
      key: world.tokens[0]?.token ?? '',
      json: { cron: '* * * * *' },
      // The tick finds what a lost hint was about.
      environment: threeForRequests(newQueues().queues),
    })
    expect(status).toBe(201)
    return world
  }
}

const hasEnded = ({ leaseExpiresAt }: Claim) => Date.parse(leaseExpiresAt) <= Date.now()

/** Everything around the databases: queues, isolates, and what clients do. */
class Load {
  readonly #random: Random
  readonly worlds: readonly World[]
  readonly #queues = newQueues()
  /** The statuses of changes, by operation. */
  readonly counts = new Map<string, number>()
  #isBusy = false

  constructor(random: Random, worlds: readonly World[]) {
    this.#random = random
    this.worlds = worlds
  }

  get #environment(): Cloudflare.Env {
    return { ...threeDatabases(), ...this.#queues.queues }
  }

  /** Some operations, one after the other. */
  async go(most = 3): Promise<void> {
    // A step sends requests, which must not take further steps.
    if (this.#isBusy) return
    this.#isBusy = true
    try {
      for (let count = this.#random(most); count > 0; count--) await this.step()
    } finally {
      this.#isBusy = false
    }
  }

  async readAll(): Promise<void> {
    if (this.#random(3) > 0 || this.#isBusy) return
    this.#isBusy = true
    await Promise.all(this.worlds.map((world) => this.#read(world))).finally(() => {
      this.#isBusy = false
    })
  }

  async step(): Promise<void> {
    const world = this.#one(this.worlds)
    const steps = [
      () => this.#read(world),
      () => this.#read(world),
      () => this.#putSession(world),
      () => this.#putSession(world),
      () => this.#deleteSession(world),
      () => this.#upload(world),
      () => this.#beginUpload(world),
      () => this.#endUpload(world),
      () => this.#createKey(world),
      () => this.#rotateKey(world),
      () => this.#revokeKey(world),
      () => this.#revokeKey(world),
      () => this.#createFeed(world),
      () => this.#putVariable(world),
      () => this.#claim(world),
      () => this.#claim(world),
      () => this.#renewOrComplete(world),
      () => this.#renewOrComplete(world),
      () => this.tick(),
      () => this.tick(),
      () => this.tick(),
      () => this.deliver(),
      () => this.deliver(),
    ]
    await this.#one(steps)()
  }

  #one<T>(items: readonly T[]): T {
    return items[this.#random(items.length)] as T
  }

  #live(world: World): Token {
    return this.#one(world.tokens.filter(({ isLive }) => isLive))
  }

  #send(method: string, path: string, token: string, options: RequestOptions = {}): Promise<ApiResponse> {
    isolate = this.#random(2)
    const environment = threeForRequests({ ...this.#environment, ...options.environment })
    return request(method, path, { key: token, ...options, environment })
  }

  /** A change by a live key. @returns undefined if it was refused because the organization moves. */
  async #change(method: string, path: string, token: Token, options: RequestOptions = {}) {
    return this.#changed(method, await this.#send(method, path, token.token, options))
  }

  #changed(method: string, response: ApiResponse): ApiResponse | undefined {
    const { status, headers, body } = response
    const isRefused = status === 503 || status === 500
    this.#count(`${method} ${isRefused ? 'refused' : 'done'}`)
    if (isRefused) {
      expect(headers.get('Retry-After'), JSON.stringify(body)).toBe('5')
      return undefined
    }
    expect(status, JSON.stringify(body)).toBeLessThan(300)
    return response
  }

  #count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  /** Reads are never refused, and each shows what clients were told. */
  async #read(world: World): Promise<void> {
    const { token } = this.#live(world)
    const read = async (path: string, key = token) => {
      const response = await this.#send('GET', path, key)
      expect(response.status, `${path} ${JSON.stringify(response.body)}`).toBe(200)
      return response.body
    }
    const { items } = await read(`/v1/sessions?projectId=${world.projectId}&limit=100`)
    const shown = new Map(items.map(({ id, name }: { id: string; name: string }) => [id, name]))
    expect(shown).toEqual(world.sessions)
    if (world.files.size > 0) {
      const [path, { id, bytes }] = this.#one([...world.files])
      const content = await read(`/v1/sessions/${world.sessionId}/files/${id}/content`)
      expect([path, new TextDecoder().decode(content as Uint8Array)]).toEqual([path, bytes])
    }
    for (const { path, key } of world.feeds.slice(-2)) {
      const response = await this.#send('GET', `${path}/.well-known/agent-skills/index.json`, '')
      expect(response.status).toBe(key.isLive ? 200 : 404)
    }
    const dead = world.tokens.filter(({ isLive }) => !isLive)
    if (dead.length > 0) {
      const { status } = await this.#send('GET', '/v1/me', this.#one(dead).token)
      expect(status, 'a revoked key').toBe(401)
    }
    const environments = new ProjectEnvironments(createExecutionContext(), this.#environment)
    expect(await environments.read(world.organizationId, world.projectId)).toEqual(
      Object.keys(world.variables).length > 0 ? world.variables : {},
    )
    this.#count('read')
  }

  async #putSession(world: World): Promise<void> {
    const ids = [...world.sessions.keys()]
    const id = ids.length > 10 || this.#random(2) === 0 ? this.#one(ids) : newUuid()
    const name = `Session ${this.#random(1000)}`
    const json = { projectId: world.projectId, name }
    if (await this.#change('PUT', `/v1/sessions/${id}`, this.#live(world), { json })) world.sessions.set(id, name)
  }

  async #deleteSession(world: World): Promise<void> {
    const ids = [...world.sessions.keys()].filter((id) => id !== world.sessionId)
    if (ids.length === 0) return
    const id = this.#one(ids)
    const name = world.sessions.get(id) ?? ''
    if (!(await this.#change('DELETE', `/v1/sessions/${id}`, this.#live(world)))) return
    world.sessions.delete(id)
    const { body } = await this.#send('GET', '/v1/deletions', this.#live(world).token)
    const [deletion] = body.items
    expect(deletion.resourceId).toBe(id)
    if (await this.#change('POST', `/v1/deletions/${deletion.id}/restore`, this.#live(world))) {
      world.sessions.set(id, name)
    }
  }

  async #upload(world: World): Promise<void> {
    const path = `file-${this.#random(5)}.txt`
    if (world.slowUploads.some((each) => each.path === path)) return
    const bytes = `Content ${this.#random(1000)}`
    const url = `/v1/sessions/${world.sessionId}/files?path=${path}`
    const uploaded = await this.#change('PUT', url, this.#live(world), { body: bytes })
    if (uploaded) world.files.set(path, { id: uploaded.body.id, bytes })
  }

  /** The first batch of an upload; the second follows some batches of the move later. */
  async #beginUpload(world: World): Promise<void> {
    const path = `file-${this.#random(5)}.txt`
    if (world.slowUploads.length > 0) return
    const bytes = `Slow content ${this.#random(1000)}`
    const { promise: isStored, resolve: store } = Promise.withResolvers<void>()
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>()
    const put = async (...[key, body]: Parameters<R2Bucket['put']>) => {
      begin()
      await isStored
      return env.OBJECTS.put(key, body)
    }
    const environment = { OBJECTS: objectsWith({ put: put as R2Bucket['put'] }) }
    const url = `/v1/sessions/${world.sessionId}/files?path=${path}`
    const response = this.#send('PUT', url, this.#live(world).token, { body: bytes, environment })
    // It ends at once if its first batch is refused.
    await Promise.race([begun, response])
    world.slowUploads.push({ path, bytes, store, response })
  }

  async #endUpload(world: World): Promise<void> {
    for (const { path, bytes, store, response } of world.slowUploads.splice(0)) {
      store()
      const { status } = await response
      // Its key may have been revoked meanwhile.
      if (status === 401) continue
      const uploaded = this.#changed('slow PUT', await response)
      if (uploaded) world.files.set(path, { id: uploaded.body.id, bytes })
    }
  }

  async #createKey(world: World): Promise<void> {
    if (world.tokens.filter(({ isLive }) => isLive).length > 6) return
    const json = { name: 'another', scopes: ['skills:write'] }
    const all = await this.#send('GET', '/v1/me', world.tokens[0]?.token ?? '')
    const created = await this.#change('POST', '/v1/api-keys', world.tokens[0] as Token, {
      json: { ...json, scopes: all.body.apiKey.scopes, userId: world.workspace.userId },
    })
    if (created) world.tokens.push({ token: created.body.token, id: created.body.id, isLive: true })
  }

  async #rotateKey(world: World): Promise<void> {
    const rotated = world.tokens.filter(({ isLive }) => isLive).at(-1)
    if (!rotated || rotated === world.tokens[0]) return
    const path = `/v1/api-keys/${rotated.id}/rotate`
    const { body } = (await this.#change('POST', path, world.tokens[0] as Token, { json: { overlapSeconds: 0 } })) ?? {}
    if (!body) return
    rotated.isLive = false
    const successor = { token: body.token, id: body.id, isLive: true }
    world.tokens.push(successor)
    // The successor takes over the feeds.
    for (const [index, { path, key }] of world.feeds.entries()) {
      if (key === rotated) world.feeds[index] = { path, key: successor }
    }
  }

  /** From the next request on, it is refused everywhere. */
  async #revokeKey(world: World): Promise<void> {
    const others = world.tokens.slice(1).filter(({ isLive }) => isLive)
    if (others.length < 2) return
    const revoked = this.#one(others)
    if (!(await this.#change('DELETE', `/v1/api-keys/${revoked.id}`, world.tokens[0] as Token))) return
    revoked.isLive = false
    for (let count = 0; count < 3; count++) {
      const { status } = await this.#send('GET', '/v1/me', revoked.token)
      expect(status).toBe(401)
    }
  }

  async #createFeed(world: World): Promise<void> {
    if (world.feeds.length > 20) return
    const key = this.#live(world)
    const created = await this.#change('POST', '/v1/skill-feeds', key, { json: { name: 'Laptops' } })
    if (created) world.feeds.push({ path: new URL(created.body.url).pathname, key })
  }

  async #putVariable(world: World): Promise<void> {
    const name = `NAME_${this.#random(5)}`
    const value = `value ${this.#random(1000)}`
    const path = `/v1/projects/${world.projectId}/environment-variables/${name}`
    if (await this.#change('PUT', path, this.#live(world), { json: { value } })) world.variables[name] = value
  }

  async #claim(world: World): Promise<void> {
    if (world.receiver) return
    const json = { leaseSeconds: 3600, limit: 5 }
    const { body } = (await this.#change('POST', '/v1/runs/claim', this.#live(world), { json })) ?? {}
    for (const { id, claimId, leaseExpiresAt } of body?.items ?? []) {
      expect(world.completed, 'a run that was completed').not.toContain(id)
      const earlier = world.claims.get(id)
      if (earlier) expect(hasEnded(earlier), 'a claim has ended').toBe(true)
      world.claims.set(id, { claimId, leaseExpiresAt })
    }
  }

  async #renewOrComplete(world: World): Promise<void> {
    if (world.claims.size === 0) return
    const [id, claim] = this.#one([...world.claims])
    // The next tick may have given the run to another worker.
    if (hasEnded(claim)) return
    const { claimId } = claim
    const token = this.#live(world)
    if (this.#random(2) === 0) {
      const json = { claimId, leaseSeconds: 3600 }
      const renewed = await this.#change('POST', `/v1/runs/${id}/renew`, token, { json })
      if (renewed) world.claims.set(id, { claimId, leaseExpiresAt: renewed.body.leaseExpiresAt })
      return
    }
    const json = { claimId, outcome: 'succeeded' }
    if (!(await this.#change('POST', `/v1/runs/${id}/complete`, token, { json }))) return
    world.claims.delete(id)
    world.completed.add(id)
  }

  /** A minute passes; the databases tick in any order. */
  async tick(): Promise<void> {
    vi.setSystemTime(Date.now() + MINUTE_MS)
    const first = this.#random(3)
    for (const offset of NUMBERS) {
      await scheduled.tick(this.#environment, new Date(), (first + offset) % NUMBERS.length)
    }
  }

  async deliver(): Promise<void> {
    const { messages, slow } = this.#queues
    const batch = [...messages.splice(0), ...slow.splice(0)].map((body: DeliveryMessage, index) => ({
      id: String(index),
      timestamp: new Date(),
      attempts: 1,
      body,
      ack() {},
      retry() {},
    }))
    const context = createExecutionContext()
    for (const message of batch) {
      // The queue hands a message over again that failed.
      await deliver({ queue: 'workspace-api-deliveries', messages: [message] }, this.#environment, context).catch(() =>
        messages.push(message.body),
      )
    }
    await waitOnExecutionContext(context)
  }

  /** Ticks and delivers until nothing is left to do. */
  async settle(): Promise<void> {
    for (const world of this.worlds) await this.#endUpload(world)
    for (let minute = 0; minute < 25; minute++) {
      await this.tick()
      for (let round = 0; round < 3; round++) await this.deliver()
    }
    for (const world of this.worlds) await this.#read(world)
  }
}

/** Requires that only one database has the organization, and that every token leads there at once. */
async function expectMoved(organizationId: string, to: number): Promise<void> {
  const databases = moveDatabases()
  expect(await readPlace(databases, organizationId)).toEqual({ database: to, movingTo: null })
  for (const number of NUMBERS) {
    const kinds = (await rowsIn(number, 'SELECT "kind" FROM "halts" WHERE "organizationId" = ?', organizationId)).map(
      ({ kind }) => kind,
    )
    const triggers = await rowsIn(
      number,
      `SELECT "name" FROM sqlite_master WHERE "type" = 'trigger' AND instr("name", ?)`,
      organizationId,
    )
    expect([number, triggers]).toEqual([number, []])
    const movedTo = await rowsIn(
      number,
      'SELECT DISTINCT "movedTo" FROM (SELECT * FROM (SELECT "organizationId", "movedTo" FROM "apiKeys" UNION ALL SELECT "organizationId", "movedTo" FROM "skillFeeds")) WHERE "organizationId" = ?',
      organizationId,
    )
    if (number === to) {
      expect([number, kinds, movedTo]).toEqual([number, [], [{ movedTo: null }]])
      const [counted] = await rowsIn(number, `${COUNT_USAGE} WHERE "id" = ?`, organizationId)
      const [usage] = await rowsIn(
        number,
        'SELECT * FROM "organizationUsage" WHERE "organizationId" = ?',
        organizationId,
      )
      expect(usage).toEqual(counted)
      continue
    }
    expect([number, kinds]).toEqual([number, kinds.length > 0 ? ['left'] : []])
    expect([number, movedTo]).toEqual([number, movedTo.length > 0 ? [{ movedTo: to }] : []])
    for (const { name, organizationOf } of await organizationTables(databases.get(number))) {
      if (name === 'apiKeys' || name === 'skillFeeds') continue
      const rows = await rowsIn(number, `SELECT 1 FROM "${name}" WHERE ${organizationOf()} = ?`, organizationId)
      expect([number, name, rows.length]).toEqual([number, name, 0])
    }
  }
}

/** Every minute since the schedule was made has one run. */
async function expectHistory(world: World, number: number): Promise<void> {
  const runs = await rowsIn(
    number,
    'SELECT * FROM "runs" WHERE "organizationId" = ? ORDER BY "scheduledAt"',
    world.organizationId,
  )
  const times = runs.map(({ scheduledAt }) => Date.parse(String(scheduledAt)))
  const first = times[0] ?? 0
  expect(times.length).toBeGreaterThan(20)
  expect(times).toEqual(times.map((_, index) => first + index * MINUTE_MS))
  const fired = runs.filter(({ status }) => status !== 'skipped').map(({ id }) => String(id))
  if (world.receiver && world.events) {
    const received = (await world.receiver.received()).map(({ headers }) => String(headers['webhook-id']))
    expect(received.sort()).toEqual(fired.sort())
    const events = await rowsIn(
      number,
      'SELECT "id" FROM "auditEvents" WHERE "organizationId" = ? ORDER BY "sequence"',
      world.organizationId,
    )
    const delivered = (await world.events.received()).flatMap(({ body }) => JSON.parse(body).data.items)
    expect(delivered.map(({ id }: { id: string }) => id)).toEqual(events.map(({ id }) => id))
  } else {
    const statuses = new Map(runs.map(({ id, status }) => [id, status]))
    for (const id of world.completed) expect(statuses.get(id)).toBe('succeeded')
    for (const [id, claim] of world.claims) {
      if (!hasEnded(claim)) expect(statuses.get(id)).toBe('delivered')
    }
  }
}

const INTERRUPTIONS = ['before', 'after'] as const
/** How many batches a move has at most, and each how many are interrupted. */
const MAX_BATCHES = 140
const NTH = sized(40, 1)

describe('moves under load', { tags: ['slow'] }, () => {
  beforeEach(() => {
    // Halts end by the clock of the databases, which this one never passes.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() - HOURS_BACK_MS })
    const memories = new WeakMap<object, RecentMap<unknown, unknown>>()
    for (const name of ['get', 'set', 'delete'] as const) {
      const method = RecentMap.prototype[name] as (...values: unknown[]) => unknown
      vi.spyOn(RecentMap.prototype, name).mockImplementation(function (this: object, ...values: unknown[]) {
        const other = memories.get(this) ?? new RecentMap()
        memories.set(this, other)
        return method.apply(isolate === 0 ? this : other, values) as undefined
      })
    }
  })
  afterEach(() => {
    vi.restoreAllMocks()
    vi.useRealTimers()
  })

  it.for(INTERRUPTIONS)('interrupted %s a batch, lose nothing and do nothing twice', async (when) => {
    const [seed = 0] = fc.sample(fc.nat(), { numRuns: 1, seed: env.SEED })
    let state = seed + when.length
    const random: Random = (limit) => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 2 ** 32) * limit)
    }
    const worlds = [await World.create(false), await World.create(true)]
    const load = new Load(random, worlds)
    for (let count = 0; count < 10; count++) await load.step()

    const databases = (interruptAt: number) => {
      let batches = 0
      let isDead = false
      return moveDatabases(async (run) => {
        batches++
        await load.go()
        if (isDead) throw new Error('The process was killed.')
        isDead = batches === interruptAt
        if (isDead && when === 'before') throw new Error('The process was killed.')
        // Requests that hop from one database to another while the batch runs.
        await Promise.all([run(), load.readAll()])
        if (isDead) throw new Error('The process was killed.')
      })
    }
    for (let at = 1 + random(NTH); at < MAX_BATCHES; at += NTH) {
      const { organizationId } = worlds[random(2)] as World
      const { database: from } = await readPlace(moveDatabases(), organizationId)
      const others = NUMBERS.filter((number) => number !== from)
      const to = others[random(2)] ?? 0
      const move = (number: number, interruptAt = 0) =>
        moveOrganization(databases(interruptAt), organizationId, number, QUIETLY)
      await move(to, at).catch(({ message }: Error) => expect(message).toBe('The process was killed.'))
      await load.go(6)
      // Undone if that is possible, or continued.
      const undone = random(3) === 0 && (await move(from).catch(() => undefined)) === 'undone'
      if (undone) await expectMoved(organizationId, from)
      else {
        await move(to)
        await expectMoved(organizationId, to)
      }
      await load.go(6)
    }
    await load.settle()
    expect(load.counts.get('PUT refused')).toBeGreaterThan(0)
    expect(load.counts.get('PUT done')).toBeGreaterThan(0)
    for (const world of worlds) {
      await expectHistory(world, (await readPlace(moveDatabases(), world.organizationId)).database)
    }
  })
})

/** An organization in the database of this file, with its place in the directory. */
async function newOrganization() {
  const workspace = await Workspace.create()
  const { organizationId } = workspace
  await rowsIn(0, 'INSERT OR REPLACE INTO "directory" VALUES (?, ?, NULL)', organizationId, databaseNumber())
  const { token, id: keyId } = await workspace.addKeyWithId()
  const send = (method: string, path: string, options: RequestOptions = {}) =>
    request(method, path, { key: token, ...options, environment: threeForRequests(options.environment) })
  const [from, to, other] = NUMBERS.map((number) => (number + databaseNumber()) % NUMBERS.length) as [
    number,
    number,
    number,
  ]
  const move = (number: number, databases = moveDatabases(), options = {}) =>
    moveOrganization(databases, organizationId, number, { ...QUIETLY, ...options })
  return { workspace, organizationId, token, keyId, send, from, to, other, move }
}

/** Runs the work before the batch of this number. */
function beforeBatch(number: number, work: () => Promise<unknown>) {
  let batches = 0
  return moveDatabases(async (run) => {
    if (++batches === number) await work()
    await run()
  })
}

const codeOf = ({ status, headers }: ApiResponse) => [status, headers.get('Error-Code')]

describe('a move', () => {
  it('takes every row of every table with a column organizationId', async () => {
    const { organizationId, to, from, move } = await newOrganization()
    const onAll = async (sql: string) => {
      for (const number of NUMBERS) await rowsIn(number, sql)
    }
    await onAll('CREATE TABLE "later" ("organizationId" TEXT, "id" TEXT, PRIMARY KEY ("organizationId", "id"))')
    try {
      await rowsIn(from, `INSERT INTO "later" VALUES (?, 'a')`, organizationId)
      await move(to)
      expect(await rowsIn(to, 'SELECT * FROM "later"')).toEqual([{ organizationId, id: 'a' }])
      await expectMoved(organizationId, to)
    } finally {
      await onAll('DROP TABLE "later"')
    }
  })

  it('is refused while a table is not known to have rows of organizations or none', async () => {
    const { organizationId, from, to, move } = await newOrganization()
    await rowsIn(from, 'CREATE TABLE "unknown" ("id" TEXT PRIMARY KEY)')
    try {
      await expect(move(to)).rejects.toThrow('The table unknown is not known')
    } finally {
      await rowsIn(from, 'DROP TABLE "unknown"')
    }
    expect(await move(to)).toBe('moved')
    await expectMoved(organizationId, to)
  })

  it('back does not make a key valid that ended elsewhere', async () => {
    const { workspace, organizationId, send, from, to, move } = await newOrganization()
    const { token, id } = await workspace.addKeyWithId()
    await move(to)
    expect(codeOf(await send('DELETE', `/v1/api-keys/${id}`))).toEqual([200, null])
    // As the tick does after 30 days.
    await rowsIn(to, 'DELETE FROM "apiKeys" WHERE "organizationId" = ? AND "id" = ?', organizationId, id)
    await move(from)
    expect(codeOf(await send('GET', '/v1/me', { key: token }))).toEqual([401, 'api_key_invalid'])
    await expectMoved(organizationId, from)
  })

  it('refuses changes while it copies, and nothing of another organization', async () => {
    const { to, move, send, workspace } = await newOrganization()
    const another = await newOrganization()
    const projectId = await workspace.addProject()
    await workspace.addVariable(projectId, 'TOKEN')
    const put = (by: typeof send) => by('PUT', `/v1/projects/${newUuid()}`, { json: { name: 'Shop' } })
    const answers: unknown[] = []
    await move(
      to,
      // Within the copy.
      beforeBatch(60, async () => {
        answers.push(codeOf(await put(send)), codeOf(await put(another.send)))
        answers.push((await put(send)).headers.get('Retry-After'))
        // An operation that documents no 503.
        const removal = await send('DELETE', `/v1/projects/${projectId}/environment-variables/TOKEN`)
        answers.push([...codeOf(removal), removal.headers.get('Retry-After')])
        answers.push((await send('GET', `/v1/projects/${projectId}`)).status)
      }),
    )
    expect(answers).toEqual([[503, 'unavailable'], [201, null], '5', [500, 'internal_error', '5'], 200])
    expect(codeOf(await put(send))).toEqual([201, null])
  })

  it('refuses every kind of change of each table, but not the time at which a key was used', async () => {
    const { organizationId, workspace, from, to, move } = await newOrganization()
    const projectId = await workspace.addProject()
    await workspace.addSessionFile(await workspace.addSession(projectId), 'notes.md')
    await workspace.addSkill({ 'SKILL.md': '# Notes' })
    const scheduleId = await workspace.addSchedule('project', projectId)
    await workspace.addRun(scheduleId)
    await workspace.addVariable(projectId, 'TOKEN')
    await workspace.addAgent()
    await workspace.addPullRequest(projectId)
    await workspace.pin('project', projectId)
    await workspace.addPicture()
    await workspace.addEvents([new Date().toISOString()])
    await workspace.deleteForNow('session', await workspace.addSession(projectId))
    await workspace.addRunEndpoint()
    await workspace.addEventEndpoint()
    await workspace.addSkillFeed()
    await rowsIn(from, `INSERT INTO "orphanedObjects" VALUES (?, '2999')`, `skills/${organizationId}/an-object`)
    await workspace.addSignInRule()
    await workspace.addIdentity()
    await workspace.addInvitation()
    await rowsIn(from, `INSERT INTO "variableRequests" VALUES (?, ?, 'a', 'b', '2026')`, organizationId, projectId)
    // As the daily count leaves it. To remove the counted events changes the row.
    await rowsIn(
      from,
      `INSERT INTO "eventUsage" SELECT "organizationId", max("sequence"), 1000, -1 FROM "auditEvents" WHERE "organizationId" = ?`,
      organizationId,
    )
    await rowsIn(from, `INSERT INTO "organizationBrakes" VALUES (?, 'feeds', '2026')`, organizationId)
    await rowsIn(
      from,
      `INSERT INTO "missedSpans" VALUES (?, ?, '2026', '2027', 'project', ?, '* * * * *', 'UTC')`,
      organizationId,
      scheduleId,
      projectId,
    )
    const refused: string[] = []
    const tables = await organizationTables(moveDatabases().get(from))
    const counts = tables.map(
      async ({ name, organizationOf }) =>
        [
          name,
          (await rowsIn(from, `SELECT 1 FROM "${name}" WHERE ${organizationOf()} = ?`, organizationId)).length,
        ] as const,
    )
    const empty = (await Promise.all(counts)).filter(([, count]) => count === 0)
    expect(empty, 'a table without a row is not tested').toEqual([])
    const changeAll = async () => {
      for (const { name, key, organizationOf } of tables) {
        const where = `WHERE ${organizationOf()} = ?`
        const changes = {
          insert: `INSERT INTO "${name}" SELECT * FROM "${name}" ${where}`,
          update: `UPDATE "${name}" SET "${key[0]}" = "${key[0]}" ${where}`,
          delete: `DELETE FROM "${name}" ${where}`,
        }
        for (const [kind, sql] of Object.entries(changes)) {
          await expect(rowsIn(from, sql, organizationId), `${kind} ${name}`).rejects.toThrow(MOVE_MESSAGE)
        }
        refused.push(name)
      }
      await rowsIn(from, `UPDATE "apiKeys" SET "lastUsedAt" = '2026' WHERE "organizationId" = ?`, organizationId)
      const triggers = `SELECT "name" FROM sqlite_master WHERE "type" = 'trigger' AND instr("name", ?)`
      expect(await rowsIn(from, triggers, organizationId)).toHaveLength(3 * tables.length)
    }
    expect(await move(to, beforeBatch(60, changeAll))).toBe('moved')
    expect(refused).toEqual(tables.map(({ name }) => name))
    await expectMoved(organizationId, to)
  })

  it('renews the halt every 30 seconds while it compares', async () => {
    const { organizationId, from, to, move } = await newOrganization()
    /** @returns how often it is renewed. @param msPerCall how much later each look at the clock is. */
    const renewals = async (target: number, msPerCall: number) => {
      let ms = Date.now()
      const clock = vi.spyOn(Date, 'now').mockImplementation(() => {
        ms += msPerCall
        return ms
      })
      let count: number | undefined
      const onStep = (what: string) => {
        if (what.startsWith('Comparing')) count = 0
      }
      const counting = moveDatabases(async (run, sql) => {
        if (count !== undefined && sql.startsWith('UPDATE "halts" SET "until"')) count++
        await run()
      })
      try {
        await move(target, counting, { onStep })
      } finally {
        clock.mockRestore()
      }
      await expectMoved(organizationId, target)
      return count
    }
    expect(await renewals(to, 0)).toBe(0)
    expect(await renewals(from, 30_000)).toBe((await organizationTables(moveDatabases().get(from))).length)
  })

  it('leads each token to its database in one step, which an isolate then remembers', async () => {
    const { organizationId, workspace, from, to, other, move } = await newOrganization()
    const tokens = [await workspace.addKey(), await workspace.addKey()]
    const calls = async (key: string | undefined) => {
      const asked: number[] = []
      const counting = (number: number) => {
        const database = requireDatabase(threeDatabases(), number)
        const batch: typeof database.batch = (statements) => {
          asked.push(number)
          return database.batch(statements)
        }
        return { prepare: (sql: string) => database.prepare(sql), batch } as D1Database
      }
      const bindings = Object.fromEntries(NUMBERS.map((number) => [bindingOf(number), counting(number)]))
      const context = createExecutionContext()
      const { status } = await worker.fetch(
        new Request(`${ORIGIN}${PREFIX}/v1/projects`, { headers: { Authorization: `Bearer ${key}` } }),
        { ...threeDatabases(), ...bindings },
        context,
      )
      await waitOnExecutionContext(context)
      return [status, ...asked]
    }
    // The first use of a key is recorded.
    for (const token of tokens) expect(await calls(token)).toEqual([200, from, from])
    expect(await calls(tokens[0])).toEqual([200, from])
    for (const number of [to, other]) {
      await move(number)
      await expectMoved(organizationId, number)
    }
    expect(await calls(tokens[0])).toEqual([200, from, other])
    expect(await calls(tokens[0])).toEqual([200, other])
    await move(from)
    await expectMoved(organizationId, from)
    expect(await calls(tokens[1])).toEqual([200, from])
    expect(await calls(tokens[0])).toEqual([200, other, from])
    expect(await calls(tokens[0])).toEqual([200, from])
  })

  it('makes no change while a key is valid in both databases', async () => {
    const { workspace, organizationId, from, to, move, send } = await newOrganization()
    // No isolate remembers where this key is.
    const { token: unused } = await workspace.addKeyWithId()
    const { token: revoked, id } = await workspace.addKeyWithId()
    await move(to)
    expect((await send('GET', '/v1/me', { key: revoked })).status).toBe(200)
    const answers: unknown[] = []
    const returning = moveDatabases(async (run, sql) => {
      await run()
      if (!sql.includes('SET "movedTo" = NULL')) return
      answers.push((await send('DELETE', `/v1/api-keys/${id}`, { key: unused })).status)
      answers.push((await send('GET', '/v1/me', { key: revoked })).status)
      answers.push((await send('GET', '/v1/me', { key: unused })).status)
    })
    await move(from, returning)
    expect(answers).toEqual([503, 200, 200])
    await expectMoved(organizationId, from)
  })

  it('begins again if its halt has lapsed, and lets the source go on', async () => {
    const { organizationId, from, to, move, send } = await newOrganization()
    const lapse = () =>
      rowsIn(from, `UPDATE "halts" SET "until" = '2020-01-01T00:00:00.000Z' WHERE "organizationId" = ?`, organizationId)
    await expect(move(to, beforeBatch(60, lapse))).rejects.toThrow('The copy was interrupted for more than 120 seconds')
    const id = newUuid()
    expect((await send('PUT', `/v1/projects/${id}`, { json: { name: 'Shop' } })).status).toBe(201)
    expect(await move(to)).toBe('moved')
    expect((await send('GET', `/v1/projects/${id}`)).status).toBe(200)
    await expectMoved(organizationId, to)
  })

  it('of two commands at once, the second one completes', async () => {
    const { organizationId, to, move } = await newOrganization()
    // Before the copy, and while the tables are compared.
    for (const [number, target] of [
      [30, to],
      [75, databaseNumber()],
    ] as const) {
      const second: Promise<unknown>[] = []
      const first = move(
        target,
        beforeBatch(number, async () => {
          second.push(move(target))
          await scheduler.wait(20)
        }),
      )
      await expect(first).rejects.toThrow('another command moves the organization')
      expect(await Promise.all(second)).toEqual(['moved'])
      await expectMoved(organizationId, target)
    }
  })

  it('names the database of an interrupted move, and undoes it', async () => {
    const { organizationId, from, to, other, move, send } = await newOrganization()
    const killed = () => Promise.reject(new Error('The process was killed.'))
    let isDead = false
    const dying = moveDatabases((run) => (isDead ? killed() : run()))
    await expect(
      move(to, dying, {
        onCopied() {
          isDead = true
        },
      }),
    ).rejects.toThrow('killed')
    expect((await send('PUT', `/v1/projects/${newUuid()}`, { json: { name: 'Shop' } })).status).toBe(503)
    await expect(move(other)).rejects.toThrow(`Continue it with --to ${to}, or undo it with --to ${from}.`)
    expect(await move(from)).toBe('undone')
    expect((await send('PUT', `/v1/projects/${newUuid()}`, { json: { name: 'Shop' } })).status).toBe(201)
    await expectMoved(organizationId, from)
    expect(await move(from)).toBe('there already')
    expect(await move(other)).toBe('moved')
    await expectMoved(organizationId, other)
  })

  it('waits for deliveries in progress, so that none is sent twice', async () => {
    const { workspace, organizationId, from, to, move, send } = await newOrganization()
    const receiver = await new Receiver().answers('wait')
    await workspace.addRunEndpoint(receiver.url)
    const agentId = await workspace.addAgent()
    const scheduleId = newUuid()
    const path = `/v1/agents/${agentId}/schedules/${scheduleId}`
    const { queues, messages } = newQueues()
    const environment = { ...threeDatabases(), ...queues }
    await send('PUT', path, { json: { cron: '0 0 29 2 *' }, environment })
    expect((await send('POST', `${path}/runs`, { environment })).status).toBe(201)
    const context = createExecutionContext()
    const delivering = deliver(
      { queue: 'workspace-api-deliveries', messages: messages.splice(0).map((body) => ({ body })) as never },
      environment,
      context,
    )
    await expect.poll(async () => (await receiver.received()).length).toBe(1)
    const steps: string[] = []
    await move(to, moveDatabases(), {
      onStep(what: string) {
        steps.push(what)
        if (steps.length === 1) void receiver.release()
      },
    })
    expect(steps[0]).toBe('Waiting for deliveries in progress.')
    await delivering
    await waitOnExecutionContext(context)
    await scheduled.tick(environment, new Date(Date.now() + 20 * MINUTE_MS), to)
    for (const body of messages.splice(0)) {
      await deliver(
        { queue: 'workspace-api-deliveries', messages: [{ body }] as never },
        environment,
        createExecutionContext(),
      )
    }
    expect(await receiver.received()).toHaveLength(1)
    expect(await rowsIn(to, 'SELECT "status" FROM "runs" WHERE "organizationId" = ?', organizationId)).toEqual([
      { status: 'delivered' },
    ])
    expect(await rowsIn(from, 'SELECT "status" FROM "runs" WHERE "organizationId" = ?', organizationId)).toEqual([])
  })

  it('has what was in a queue sent by the next tick, and gives claims a minute', { tags: ['slow'] }, async () => {
    const { workspace, organizationId, to, move, send } = await newOrganization()
    const agentId = await workspace.addAgent()
    const scheduleId = newUuid()
    const path = `/v1/agents/${agentId}/schedules/${scheduleId}`
    const { queues } = newQueues()
    const environment = { ...threeDatabases(), ...queues }
    await send('PUT', path, { json: { cron: '0 0 29 2 *' }, environment })
    const run = () => send('POST', `${path}/runs`, { environment })
    expect((await run()).status).toBe(201)
    const claimed = await send('POST', '/v1/runs/claim', { json: { leaseSeconds: 60 } })
    const [{ id, claimId }] = claimed.body.items
    await workspace.addRunEndpoint()
    expect((await run()).status).toBe(201)
    const inTenSeconds = new Date(Date.now() + 10_000).toISOString()
    await rowsIn(databaseNumber(), 'UPDATE "runs" SET "checkAt" = ? WHERE "id" = ?', inTenSeconds, id)
    await move(to)
    const runs = await rowsIn(to, 'SELECT * FROM "runs" WHERE "organizationId" = ?', organizationId)
    const checks = new Map(runs.map(({ status, checkAt }) => [status, Date.parse(String(checkAt)) - Date.now()]))
    expect(checks.get('pending')).toBeLessThanOrEqual(1000)
    expect(checks.get('delivered')).toBeGreaterThan(30_000)
    expect(codeOf(await send('POST', `/v1/runs/${id}/complete`, { json: { claimId, outcome: 'succeeded' } }))).toEqual([
      200,
      null,
    ])
  })
})

describe('a suspension', () => {
  it('refuses keys and feeds from the next request on, until it ends', async () => {
    const { workspace, organizationId, from, to, move, send } = await newOrganization()
    await workspace.addSkill({ 'SKILL.md': '---\nname: notes\ndescription: Notes.\n---\n' })
    const { body } = await send('POST', '/v1/skill-feeds', { json: { name: 'Laptops' } })
    const feed = async () =>
      (await send('GET', `${new URL(body.url).pathname}/.well-known/agent-skills/index.json`, { key: '' })).status
    expect([(await send('GET', '/v1/me')).status, await feed()]).toEqual([200, 200])
    const database = moveDatabases().get(from)
    await suspend(database, organizationId, 'Sends spam')
    expect(codeOf(await send('GET', '/v1/me'))).toEqual([401, 'organization_suspended'])
    expect(codeOf(await send('PUT', `/v1/projects/${newUuid()}`, { json: { name: 'Shop' } }))).toEqual([
      401,
      'organization_suspended',
    ])
    expect(await feed()).toBe(404)
    await expect(move(to)).rejects.toThrow('The organization is suspended.')
    expect(await resume(database, organizationId)).toBe(true)
    expect(await resume(database, organizationId)).toBe(false)
    expect([(await send('GET', '/v1/me')).status, await feed()]).toEqual([200, 200])
    expect(await move(to)).toBe('moved')
  })

  it('is refused during a move', async () => {
    const { organizationId, from, to, move } = await newOrganization()
    const outcomes: unknown[] = []
    const trySuspension = async () => {
      const tried = suspend(moveDatabases().get(from), organizationId, 'Sends spam')
      outcomes.push(await tried.catch(({ message }: Error) => message))
    }
    expect(await move(to, beforeBatch(60, trySuspension))).toBe('moved')
    expect(outcomes).toEqual([expect.stringMatching(/^A move of the organization is in progress/)])
    await expectMoved(organizationId, to)
  })

  it('stops schedules and deliveries; afterwards they continue as after an outage', async () => {
    const { workspace, organizationId, from, send } = await newOrganization()
    const receiver = await new Receiver().answers(200)
    await workspace.addRunEndpoint(receiver.url)
    const agentId = await workspace.addAgent()
    const { queues, messages } = newQueues()
    const environment = { ...threeDatabases(), ...queues }
    const path = `/v1/agents/${agentId}/schedules/${newUuid()}`
    await send('PUT', path, { json: { cron: '* * * * *' }, environment })
    expect((await send('POST', `${path}/runs`, { environment })).status).toBe(201)
    const database = moveDatabases().get(from)
    const minutes = (count: number) => new Date(Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS + count * MINUTE_MS)
    const deliverAll = async () => {
      const context = createExecutionContext()
      await deliver(
        { queue: 'workspace-api-deliveries', messages: messages.splice(0).map((body) => ({ body })) as never },
        environment,
        context,
      )
      await waitOnExecutionContext(context)
    }
    await suspend(database, organizationId, 'Sends spam')
    for (let minute = 0; minute < 3; minute++) {
      await scheduled.tick(environment, minutes(minute), from)
      await deliverAll()
    }
    const runs = () =>
      rowsIn(from, 'SELECT "status" FROM "runs" WHERE "organizationId" = ? ORDER BY "scheduledAt"', organizationId)
    expect(await receiver.received()).toEqual([])
    expect(await runs()).toEqual([{ status: 'pending' }])
    await resume(database, organizationId)
    await scheduled.tick(environment, minutes(20), from)
    await deliverAll()
    const statuses = (await runs()).map(({ status }) => status)
    expect(statuses.filter((status) => status === 'skipped')).toHaveLength(20)
    expect(statuses.at(-1)).toBe('delivered')
    expect(await receiver.received()).toHaveLength(2)
  })
})
