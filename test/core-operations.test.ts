/**
 * The seven core operations keep their statuses and their success bodies (docs/contract.md, The seven core operations):
 * each request below has to get the response that test/recorded/ has for it.
 *
 * A recorded file has what differs in each run in another form: UUIDs are numbered in the order in which they first
 * occur (`<UUID 1>` is in upper case), and an instant with milliseconds in UTC is `<time>`. It leaves the sentence of
 * an error out: an error is compared by its status and by its shape, `{ error: string }`. `<255 × x>` abbreviates text.
 *
 * A recorded file changes only with the specification of the seven. To record again, for example to add a request:
 *
 *     npm run test:files -- test/core-operations.test.ts --update
 */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { SCOPES } from '../src/access/scopes.ts'
import { PREFIX, type RequestOptions, request } from './support/api.ts'
import { failingDatabase, failingObjects } from './support/bindings.ts'
import { inAnHour } from './support/example.ts'
import { newToken } from './support/tokens.ts'
import { Workspace } from './support/workspace.ts'

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi
const INSTANT = /"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"/g

/** Sends requests, and writes down each with its response. */
class Recorder {
  readonly #exchanges: string[] = []
  readonly #uuids: string[] = []

  /** @param situation what is special about the request, as the heading of the exchange. */
  async send(situation: string, method: string, path: string, options: RequestOptions = {}): Promise<unknown> {
    const { json, headers } = options
    const sent = json === undefined ? options.body : JSON.stringify(json)
    const { status, body } = await request(method, path, options)
    const lines = [
      [method, path, headers && JSON.stringify(headers), sent],
      [status, JSON.stringify(status < 400 ? body : withoutSentence(body))],
    ]
    const text = lines.map((line) => `  ${line.filter((part) => part !== undefined).join(' ')}\n`)
    this.#exchanges.push(this.#masked(`${situation}\n${text.join('')}`))
    return body
  }

  /** @param file below test/recorded/. */
  async expectRecorded(file: string): Promise<void> {
    await expect(this.#exchanges.join('\n')).toMatchFileSnapshot(`recorded/${file}.txt`)
  }

  #masked(text: string): string {
    const name = (uuid: string) => {
      const id = uuid.toLowerCase()
      if (!this.#uuids.includes(id)) this.#uuids.push(id)
      return `<${uuid === id ? 'uuid' : 'UUID'} ${this.#uuids.indexOf(id) + 1}>`
    }
    const shorten = (repeated: string) => `<${repeated.length} × x>`
    return text
      .replaceAll(UUID, name)
      .replaceAll(INSTANT, '<time>')
      .replaceAll(/x{50,}/g, shorten)
  }
}

function withoutSentence(body: unknown): unknown {
  const { error, ...rest } = body as { error: unknown }
  return typeof error === 'string' && error !== '' ? { error: 'a sentence', ...rest } : body
}

/** Databases that fail: at once, and in a way that passes. */
const FAULTY = { DB: failingDatabase(new Error('D1_ERROR: disk I/O error')) }
const UNAVAILABLE = { DB: failingDatabase(new Error('D1_ERROR: Network connection lost.')) }

/** The requests whose response does not depend on what is stored: keys that are refused, and a database that fails. */
async function sendRefused(
  recorder: Recorder,
  workspace: Workspace,
  method: string,
  path: string,
  { key, ...options }: RequestOptions & { key: string },
) {
  const send = (situation: string, more: RequestOptions) =>
    recorder.send(situation, method, path, { ...options, ...more })
  await send('without an API key', {})
  await send('with an unknown API key', { key: newToken() })
  await send('with an API key without scopes', { key: await workspace.addKey({ scopes: [] }) })
  await send('while the database fails', { key, environment: FAULTY })
  await send('while the database is unavailable', { key, environment: UNAVAILABLE })
}

async function newWorkspace() {
  const workspace = await Workspace.create()
  const key = await workspace.addKey()
  const projectId = await workspace.addProject()
  const otherKey = await workspace.addKey({ projectIds: [await workspace.addProject()] })
  const ownKey = await workspace.addKey({ projectIds: [projectId] })
  return { workspace, key, projectId, otherKey, ownKey }
}

const NOBODYS = '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70'

beforeEach(() => {
  // The failures that the tests provoke are logged.
  vi.spyOn(console, 'error').mockImplementation(() => {})
})

afterEach(() => {
  vi.restoreAllMocks()
})

it('update a pin', async () => {
  const { workspace, key, projectId, otherKey, ownKey } = await newWorkspace()
  const recorder = new Recorder()
  const pinned = await Promise.all([1, 2, 3].map(() => workspace.addSession(projectId)))
  const [first = '', second = '', third = ''] = pinned
  for (const id of pinned) await workspace.pin('session', id)
  const pullRequest = await workspace.addPullRequest(projectId)
  const move = (
    situation: string,
    path: string,
    position: string,
    target: string,
    options: RequestOptions = {},
    type = 'session',
  ) => {
    const json = { placement: { target: { type, id: target }, position } }
    return recorder.send(situation, 'PATCH', `/v1/pins/${path}`, { key, json, ...options })
  }
  await move('moved before another pin', `session/${third}`, 'before', first)
  await move('there already, before', `session/${third}`, 'before', first)
  await move('moved after another pin', `session/${third}`, 'after', second)
  await move('there already, after', `session/${third}`, 'after', second)
  await move('next to itself', `session/${third}`, 'after', third)
  await move('a new pin of a pull request', `pull_request/${pullRequest}`, 'after', first)
  await move('a new pin of a project', `project/${projectId}`, 'before', pullRequest, {}, 'pull_request')
  await move('with ids in upper case', `session/${first.toUpperCase()}`, 'after', second.toUpperCase())
  await workspace.pinAt(2, 'session', await workspace.addSession(projectId))
  const beside = await workspace.addSession(projectId)
  await workspace.pinAt(4, 'session', beside)
  await move('into a gap without a free position', `session/${first}`, 'before', beside)
  await move('with an API key that is restricted to the project', `session/${second}`, 'before', first, {
    key: ownKey,
  })
  const prefixed = { placement: { target: { type: 'session', id: second }, position: 'before' } }
  const path = `/v1/pins/session/${first}`
  await recorder.send('under the prefix', 'PATCH', PREFIX + path, { key, json: prefixed })

  await move('400: another resource type', `agent/${first}`, 'before', second)
  await move('400: an id that is not a UUID', 'session/website', 'before', second)
  await move('400: another position', `session/${first}`, 'beside', second)
  await move('400: a target that is not a UUID', `session/${first}`, 'before', 'website')
  await move('400: a target of another type', `session/${first}`, 'before', second, {}, 'agent')
  const { placement } = prefixed
  for (const [what, json] of Object.entries({
    'an empty object': {},
    'no position': { placement: { target: placement.target } },
    'an unknown property': { ...prefixed, more: 1 },
    'an unknown property of the placement': { placement: { ...placement, more: 1 } },
    'an unknown property of the target': {
      placement: { ...placement, target: { ...placement.target, more: 1 } },
    },
    'an array': [],
  }))
    await recorder.send(`400: ${what}`, 'PATCH', path, { key, json })
  const headers = { 'Content-Type': 'application/json' }
  await recorder.send('400: malformed JSON', 'PATCH', path, { key, headers, body: '{' })
  await recorder.send('400: no body', 'PATCH', path, { key })
  await recorder.send('400: an API key that acts as no user', 'PATCH', path, {
    key: await workspace.addKey({ userId: null }),
    json: prefixed,
  })

  await move('404: no such resource', `session/${NOBODYS}`, 'before', second)
  await move('404: no such target', `session/${first}`, 'before', NOBODYS)
  const unpinned = await workspace.addSession(projectId)
  await move('404: a target that is not pinned', `session/${first}`, 'before', unpinned)
  await move('404: an API key that is restricted to other projects', `session/${first}`, 'before', second, {
    key: otherKey,
  })
  await workspace.deleteSession(third)
  await move('404: a deleted session', `session/${third}`, 'before', second)
  await move('404: a target that is a deleted session', `session/${first}`, 'before', third)
  const environment = { PIN_LIMIT: '3' }
  await move('409: a new pin above the limit', `session/${unpinned}`, 'before', second, { environment })
  await move('moved at the limit', `session/${first}`, 'after', beside, { environment })
  await sendRefused(recorder, workspace, 'PATCH', path, { key, json: prefixed })
  await recorder.expectRecorded('update-a-pin')
})

/** What the two creations of schedules have in common. */
async function recordCreations(
  recorder: Recorder,
  { workspace, key }: { workspace: Workspace; key: string },
  path: string,
  json: { cron: string; timezone?: string },
) {
  const create = (situation: string, options: RequestOptions = {}) =>
    recorder.send(situation, 'POST', path, { key, json, ...options })
  await create('created')
  await create('created again, without Idempotency-Key')
  for (const cron of ['@daily', '*/15 9-17 * jan,jul mon-fri', '0 0 29 2 *'])
    await create(`created with "${cron}"`, { json: { ...json, cron } })
  await recorder.send('under the prefix', 'POST', PREFIX + path, { key, json })
  const headers = { 'Idempotency-Key': 'nightly' }
  const created = (await create('first with this Idempotency-Key', { headers })) as { id: string }
  await create('replayed', { headers })
  const change = { json: { cron: '5 5 * * *' }, key }
  await request('PATCH', `${path}/${created.id}`, change)
  await create('replayed after the schedule was changed', { headers })
  await request('PATCH', `${path}/${created.id}`, { json: { enabled: false }, key })
  await create('replayed after the schedule was paused', { headers })
  await create('409: another body with this Idempotency-Key', { headers, json: { ...json, cron: '@weekly' } })
  await create('409: above the limit of schedules', { environment: { SCHEDULE_LIMIT: '1' } })
  await create('409: above the quota of the organization', {
    environment: { ORGANIZATION_SCHEDULE_LIMIT: '1' },
  })
  await create('replayed above the limit', { headers, environment: { SCHEDULE_LIMIT: '1' } })
  for (const cron of ['', 'now', '0 9 * *', '60 * * * *', '0 0 30 2 *', 'x'.repeat(501)])
    await create(`400: the expression "${cron}"`, { json: { ...json, cron } })
  await create('400: an unknown property', { json: { ...json, more: 1 } })
  await create('400: an empty object', { json: {} })
  await create('400: no body', { json: undefined })
  await create('400: an Idempotency-Key that is too long', {
    headers: { 'Idempotency-Key': 'x'.repeat(256) },
  })
  await sendRefused(recorder, workspace, 'POST', path, { key, json })
}

it('create a project schedule', async () => {
  const recorder = new Recorder()
  const { workspace, key, projectId, otherKey, ownKey } = await newWorkspace()
  const json = { cron: '30 9 * * mon-fri', timezone: 'Europe/Paris' }
  const path = `/v1/projects/${projectId}/schedules`
  await recordCreations(recorder, { workspace, key }, path, json)
  await recorder.send('with an API key that is restricted to the project', 'POST', path, {
    key: ownKey,
    json,
  })
  await workspace.addProject('web site/Ü')
  const named = `/v1/projects/${encodeURIComponent('web site/Ü')}/schedules`
  await recorder.send('for a project whose id is not a UUID', 'POST', named, { key, json })
  const upper = `/v1/projects/${projectId.toUpperCase()}/schedules`
  await recorder.send('with the id in upper case', 'POST', upper, { key, json })
  for (const timezone of ['Mars/Olympus', '', '+01:00', 'x'.repeat(256)])
    await recorder.send(`400: the time zone "${timezone}"`, 'POST', path, {
      key,
      json: { ...json, timezone },
    })
  await recorder.send('400: no time zone', 'POST', path, { key, json: { cron: json.cron } })
  const tooLong = `/v1/projects/${'x'.repeat(256)}/schedules`
  await recorder.send('400: an id that is too long', 'POST', tooLong, { key, json })
  await recorder.send('403: an API key that is restricted to other projects', 'POST', path, {
    key: otherKey,
    json,
  })
  await recorder.send('404: no such project', 'POST', '/v1/projects/nobodys/schedules', { key, json })
  await workspace.archiveProject(projectId)
  await recorder.send('409: an archived project', 'POST', path, { key, json })
  await workspace.delete('project', projectId)
  await recorder.send('404: a deleted project', 'POST', path, { key, json })
  await recorder.expectRecorded('create-a-project-schedule')
})

it('create an agent schedule', async () => {
  const recorder = new Recorder()
  const { workspace, key, otherKey } = await newWorkspace()
  const agentId = await workspace.addAgent()
  const json = { cron: '0 6 * * *' }
  const path = `/v1/agents/${agentId}/schedules`
  await recordCreations(recorder, { workspace, key }, path, json)
  await recorder.send('with an API key that is restricted to projects', 'POST', path, { key: otherKey, json })
  const upper = `/v1/agents/${agentId.toUpperCase()}/schedules`
  await recorder.send('with the id in upper case', 'POST', upper, { key, json })
  await recorder.send('400: an id that is not a UUID', 'POST', '/v1/agents/nobodys/schedules', { key, json })
  await recorder.send('400: a time zone', 'POST', path, { key, json: { ...json, timezone: 'UTC' } })
  await recorder.send('404: no such agent', 'POST', `/v1/agents/${NOBODYS}/schedules`, { key, json })
  await workspace.archiveAgent(agentId)
  await recorder.send('409: an archived agent', 'POST', path, { key, json })
  await workspace.delete('agent', agentId)
  await recorder.send('404: a deleted agent', 'POST', path, { key, json })
  await recorder.expectRecorded('create-an-agent-schedule')
})

it('list session files', async () => {
  const recorder = new Recorder()
  const { workspace, key, projectId, otherKey, ownKey } = await newWorkspace()
  const sessionId = await workspace.addSession(projectId)
  const path = `/v1/sessions/${sessionId}/files`
  const list = (situation: string, query = '', options: RequestOptions = {}) =>
    recorder.send(situation, 'GET', path + query, { key, ...options })
  await list('no files')
  const ids: string[] = []
  for (const name of ['src/app.ts', 'docs/ü \u{1f550}.md', 'notes.txt']) {
    const options = { key, body: name, headers: { 'Content-Type': 'text/plain' } }
    ids.push((await request('PUT', `${path}?path=${encodeURIComponent(name)}`, options)).body.id)
  }
  const [first = '', second = '', third = ''] = ids
  await list('all files')
  await list('a full page', '?limit=2')
  await list('the last page', `?limit=2&cursor=${second}`)
  await list('a page that the last file fills', '?limit=3')
  await list('a page after the last file', `?cursor=${third}`)
  await list('a limit above 1,000', '?limit=5000')
  await list('a limit with leading zeros', '?limit=0002')
  await list('a cursor in upper case', `?cursor=${first.toUpperCase()}`)
  await list('a cursor that is the id of no file', `?cursor=${NOBODYS}`)
  await list('with an API key that is restricted to the project', '', { key: ownKey })
  await list('with an API key that acts as no user', '', { key: await workspace.addKey({ userId: null }) })
  await recorder.send('under the prefix, with the id in upper case', 'GET', PREFIX + upper(path), { key })
  await request('PUT', `${path}?path=notes.txt`, { key, body: 'changed' })
  await workspace.deleteSessionFile(second)
  await list('after a change and a deletion', '?limit=1')
  await list('a cursor that is the id of a deleted file', `?cursor=${second}`)
  await workspace.archiveProject(projectId)
  await list('of an archived project')

  for (const query of ['limit=0', 'limit=-1', 'limit=ten', 'limit=', 'limit=1&limit=2'])
    await list(`400: ${query}`, `?${query}`)
  for (const cursor of ['', '7', 'x'.repeat(1001)]) await list(`400: the cursor "${cursor}"`, `?cursor=${cursor}`)
  await recorder.send('400: an id that is not a UUID', 'GET', '/v1/sessions/nobodys/files', { key })
  await list('403: an API key that is restricted to other projects', '', { key: otherKey })
  await recorder.send('404: no such session', 'GET', `/v1/sessions/${NOBODYS}/files`, { key })
  const elsewhere = await workspace.addSessionFile(await workspace.addSession(projectId), 'a')
  await list('409: a cursor that is a file of another session', `?cursor=${elsewhere}`)
  await sendRefused(recorder, workspace, 'GET', path, { key })
  await workspace.deleteSession(sessionId)
  await list('410: a deleted session')
  await recorder.expectRecorded('list-session-files')
})

const upper = (path: string) => path.replaceAll(UUID, (id) => id.toUpperCase())

it('retrieve a skill', async () => {
  const recorder = new Recorder()
  const { workspace, key, otherKey } = await newWorkspace()
  const entry = { 'SKILL.md': '---\nname: release-notes\n---\n' }
  const files = { ...entry, 'templates/ü \u{1f550}.md': '', 'a.txt': '"\\\u2028\t' }
  const skillId = await workspace.addSkill(files, undefined, 'release-notes')
  const path = `/v1/skills/${skillId}`
  const retrieve = (situation: string, options: RequestOptions = {}) =>
    recorder.send(situation, 'GET', path, { key, ...options })
  await retrieve('with files')
  await retrieve('with an API key that is restricted to projects', { key: otherKey })
  await retrieve('with an API key that acts as no user', { key: await workspace.addKey({ userId: null }) })
  await recorder.send('under the prefix, with the id in upper case', 'GET', PREFIX + upper(path), { key })
  await retrieve('that the caller has already', { headers: { 'If-None-Match': '*' } })
  await retrieve('that the caller has in an older version', { headers: { 'If-None-Match': '"older"' } })
  // The service makes no such skills: their files were recorded before SKILL.md had to describe the skill.
  for (const [situation, version] of [
    ['after a change', entry],
    ['without files', {}],
  ] as const) {
    await workspace.addSkillVersion(skillId, version, 'notes')
    const [{ latestVersion = 0 } = {}] = await workspace.dump('skills')
    await request('POST', `${path}/publish`, { key, json: { version: latestVersion } })
    await retrieve(situation)
  }
  await recorder.send('400: an id that is not a UUID', 'GET', '/v1/skills/release-notes', { key })
  await recorder.send('404: no such skill', 'GET', `/v1/skills/${NOBODYS}`, { key })
  await retrieve('404: of another organization', { key: await (await Workspace.create()).addKey() })
  await sendRefused(recorder, workspace, 'GET', path, { key })
  await request('DELETE', path, { key })
  await retrieve('404: a deleted skill')
  await recorder.expectRecorded('retrieve-a-skill')
})

it('delete a profile picture', async () => {
  const recorder = new Recorder()
  const { workspace, key, otherKey } = await newWorkspace()
  const path = `/v1/users/${workspace.userId}/profile-picture`
  const remove = (situation: string, options: RequestOptions = {}) =>
    recorder.send(situation, 'DELETE', path, { key, ...options })
  await remove('of a user that never had one')
  await workspace.addPicture()
  await remove('of a user that has one')
  await remove('deleted already')
  await workspace.addPicture()
  await workspace.leasePicture(new Date(0).toISOString())
  await remove('after an upload that failed')
  await workspace.addPicture()
  await remove('with an API key that is restricted to projects', { key: otherKey })
  await recorder.send('under the prefix, with the id in upper case', 'DELETE', PREFIX + upper(path), { key })
  const ada = 'ada lovelace/Ü'
  await workspace.addUser(ada)
  await workspace.addPicture(ada)
  const named = `/v1/users/${encodeURIComponent(ada)}/profile-picture`
  await recorder.send('of a user whose id is not a UUID', 'DELETE', named, {
    key: await workspace.addKey({ userId: ada }),
  })
  const tooLong = `/v1/users/${'x'.repeat(256)}/profile-picture`
  await recorder.send('400: an id that is too long', 'DELETE', tooLong, { key })
  await remove('400: an API key that acts as no user', { key: await workspace.addKey({ userId: null }) })
  await recorder.send('403: of another user', 'DELETE', named, { key })
  await recorder.send('404: no such user', 'DELETE', '/v1/users/nobody/profile-picture', { key })
  await workspace.addPicture()
  await workspace.leasePicture(inAnHour())
  await remove('409: while an upload is running')
  await workspace.addPicture()
  const environment: Partial<Cloudflare.Env> = {
    OBJECTS: failingObjects(new Error('delete: We encountered an internal error. (10001)')),
  }
  await remove('503: while the object store fails', { environment })
  await remove('after a deletion that was answered with 503')
  await sendRefused(recorder, workspace, 'DELETE', path, { key })
  await recorder.expectRecorded('delete-a-profile-picture')
})

it('delete an environment variable', async () => {
  const recorder = new Recorder()
  const { workspace, key, projectId, otherKey, ownKey } = await newWorkspace()
  const pathOf = (name: string, project = projectId) =>
    `/v1/projects/${encodeURIComponent(project)}/environment-variables/${name}`
  const remove = (situation: string, path = pathOf('TOKEN'), options: RequestOptions = {}) =>
    recorder.send(situation, 'DELETE', path, { key, ...options })
  const names = ['TOKEN', 'token', '_', 'x'.repeat(255), 'OWN', 'PREFIXED']
  for (const name of names) await workspace.addVariable(projectId, name)
  for (const name of names.slice(0, 4)) await remove(`the key "${name}"`, pathOf(name))
  await remove('404: deleted already')
  await remove('with an API key that is restricted to the project', pathOf('OWN'), { key: ownKey })
  await remove('under the prefix, with the id in upper case', PREFIX + upper(pathOf('PREFIXED')))
  await workspace.addProject('web site/Ü')
  await workspace.addVariable('web site/Ü', 'TOKEN')
  await remove('of a project whose id is not a UUID', pathOf('TOKEN', 'web site/Ü'))
  await remove('404: no such project', pathOf('TOKEN', 'nobodys'))
  for (const name of ['1TOKEN', 'TO-KEN', '%00', '%C3%9C', 'x'.repeat(256)])
    await remove(`400: the key "${name}"`, pathOf(name))
  await remove('400: an id that is too long', pathOf('TOKEN', 'x'.repeat(256)))
  await workspace.addVariable(projectId, 'TOKEN')
  const onlyReads = SCOPES.filter((scope) => scope.endsWith(':read'))
  await remove('400: an API key that may only read', pathOf('TOKEN'), {
    key: await workspace.addKey({ scopes: onlyReads }),
  })
  await remove('403: an API key that is restricted to other projects', pathOf('TOKEN'), { key: otherKey })
  await sendRefused(recorder, workspace, 'DELETE', pathOf('TOKEN'), { key })
  await workspace.archiveProject(projectId)
  await remove('409: an archived project')
  await workspace.delete('project', projectId)
  await remove('404: a deleted project')
  await recorder.expectRecorded('delete-an-environment-variable')
})
