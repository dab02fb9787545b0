/**
 * Tries a deployment as its clients use it: every operation once, and what goes on between them. All that it makes is
 * removed again.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { leaseVariables, Workspace } from '../client/src/index.ts'
import { CALLS } from '../client/src/resources.ts'
import { SCOPES } from '../src/access/scopes.ts'
import { describeScript, parsed, UsageError } from '../tools/command-line.ts'

const { url: given, receiver, console: consoleUrl } = readOptions()
const url = given.replace(/\/+$/, '')

/** What needs a person who signed in through a provider, whom no script can be. */
const NEED_A_PERSON = ['me.apps.delete', 'identities.retrieve', 'identities.update', 'identities.delete']
/** What sends nothing to anybody: its name does not exist. */
const NOBODY = 'https://receiver.example.com/'
/** A tick comes once a minute, and may be late by two. */
const FIRES_WITHIN_MS = 4 * 60_000
const POLL_MS = 2000
/** The exit code after Ctrl-C. */
const INTERRUPTED = 130
const REMOVAL = 'everything that was made is removed'
const NOT_FOUND = 404
/** Of a request without the client. */
const TIMEOUT_MS = 30_000

/** The calls of the client that were answered with a success, by their names. */
const called = new Set<string>()
const results: { readonly what: string; readonly error?: string; readonly ms: number }[] = []
/** After a signal, nothing more is tried, and what was made is removed. */
let isInterrupted = false
/** What removes what was made, the last first. */
const removals: [what: string, remove: () => Promise<unknown>][] = []

const admin = clientOf(requireKey())
const run = randomUUID().slice(0, 8)
const name = `Acceptance ${run}`
const ids = {
  project: `acceptance-${run}`,
  user: `acceptance-${run}`,
  agent: randomUUID(),
  session: randomUUID(),
  pullRequest: randomUUID(),
}

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isInterrupted = true
  })
}
await tryAll()
await removeAll()
await report()
if (isInterrupted) process.exitCode = INTERRUPTED

function readOptions() {
  const command = describeScript(
    'accept',
    'Tries a running service as its clients use it: every operation once, a schedule that fires, a claim, a delivery, a lease, a feed, MCP. It removes what it made, and prints a table. WORKSPACE_API_KEY is the key of an admin.',
    [
      'http://localhost:8787',
      'https://api.example.com --receiver https://hooks.example.com/ --console https://console.example.com',
    ],
  )
    .argument('<url>', 'the address of the service')
    .option('--receiver <url>', 'an address that answers every POST with 2xx: a run and events are sent to it')
    .option('--console <url>', 'the address of the console')
  parsed(command)
  const [url] = command.processedArgs
  const { receiver, console } = command.opts()
  for (const [what, address] of [
    ['<url>', url],
    ['--receiver', receiver],
    ['--console', console],
  ]) {
    if (address === undefined || /^https?:$/.test(URL.parse(String(address))?.protocol ?? '')) continue
    throw new UsageError(`${what} is not an address; got "${address}"; allowed: such as https://api.example.com.`)
  }
  return { url: String(url), receiver, console }
}

function requireKey(): string {
  const key = process.env.WORKSPACE_API_KEY
  if (!key) throw new UsageError('WORKSPACE_API_KEY is not set; allowed: the API key of an admin.')
  return key
}

function ask(address: string, request: RequestInit = {}): Promise<Response> {
  return fetch(address, { ...request, signal: AbortSignal.timeout(TIMEOUT_MS) })
}

/** A client that notes what it calls. */
function clientOf(apiKey: string): Workspace {
  return new Workspace({
    url,
    apiKey,
    fetch: async (request) => {
      const response = await fetch(request)
      if (response.ok) {
        const call = nameOf(request.method, request.url.slice(url.length).split('?')[0] ?? '')
        if (call) called.add(call)
      }
      return response
    },
  })
}

/** @returns such as `pins.update`. The longest path without parameters wins. */
function nameOf(method: string, path: string): string | undefined {
  const matching = Object.entries(CALLS).filter(([, call]) => {
    const [itsMethod, template = ''] = call.split(' ')
    return itsMethod === method && new RegExp(`^${template.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(path)
  })
  return matching.sort(([, one], [, other]) => one.split('{').length - other.split('{').length)[0]?.[0]
}

/** @returns what the work returned; undefined if it failed, which the table says. */
async function step<Result>(what: string, work: () => Promise<Result>): Promise<Result | undefined> {
  const start = performance.now()
  if (isInterrupted && what !== REMOVAL) return undefined
  try {
    const result = await work()
    results.push({ what, ms: performance.now() - start })
    return result
  } catch (error) {
    results.push({ what, error: (error as Error).message, ms: performance.now() - start })
    return undefined
  } finally {
    const { error, ms } = results.at(-1) as (typeof results)[number]
    console.error(
      `${error === undefined ? 'ok    ' : 'FAILED'}  ${what} (${Math.round(ms)} ms)${error === undefined ? '' : `: ${error}`}`,
    )
  }
}

function expect(isSo: unknown, problem: string): asserts isSo {
  if (!isSo) throw new Error(problem)
}

async function until<Found>(problem: string, find: () => Promise<Found | undefined>): Promise<Found> {
  const end = Date.now() + FIRES_WITHIN_MS
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    expect(Date.now() < end && !isInterrupted, isInterrupted ? 'Interrupted.' : problem)
    await setTimeout(POLL_MS)
  }
}

/** What cannot be removed is named. The rest is. */
async function removeAll(): Promise<void> {
  if (removals.length === 0) return
  await step(REMOVAL, async () => {
    const left: string[] = []
    for (const [what, remove] of removals.splice(0).reverse()) {
      await remove().catch((error: Error & { status?: number }) => {
        // It was not made.
        if (error.status !== NOT_FOUND) left.push(`${what} (${error.message})`)
      })
    }
    expect(left.length === 0, `Still there: ${left.join(', ')}`)
  })
}

/** Removes what a deletion keeps for seven days, too. */
async function removeForGood(remove: () => Promise<unknown>, resourceId: string): Promise<void> {
  await remove()
  const { items } = await admin.deletions.list({ limit: 100 }).page()
  for (const each of items) if (each.resourceId === resourceId) await admin.deletions.purge(each.id)
}

async function tryAll(): Promise<void> {
  const me = await step('the key of an admin', async () => {
    const me = await admin.me.retrieve()
    expect(me.apiKey.projectIds === null, 'The key is restricted to projects.')
    const endpoint = await admin.runEndpoint.retrieve().catch((error) => {
      if (error.code !== 'run_endpoint_not_found') throw error
    })
    const schedules = await admin.schedules.list({ limit: 1 }).page()
    expect(
      !endpoint && schedules.items.length === 0,
      'The organization has a run endpoint or schedules, whose runs this test would mix with its own. Use another organization: npm run operate -- bootstrap --organization Acceptance --service',
    )
    return me
  })
  if (!me) return
  removals.push(['the user', () => removeForGood(() => admin.users.delete(ids.user), ids.user)])
  const scopes = SCOPES.filter((scope) => me.apiKey.scopes.includes(scope))
  const key = await step('a user, and a key that acts as it', async () => {
    await admin.users.put(ids.user, { name })
    const { id, token } = await admin.apiKeys.create({ name, scopes, userId: ids.user })
    removals.push(['the key', () => admin.apiKeys.delete(id)])
    return token
  })
  if (!key) return
  const workspace = clientOf(key)
  await tryPlatform(workspace)
  await tryKeys(workspace)
  await tryFiles(workspace)
  await trySkills(workspace)
  await tryVariables(workspace, me.apiKey.scopes)
  await tryPins(workspace)
  await tryWork(workspace)
  await tryEvents(workspace)
  await tryPeople(workspace)
  await step('MCP', () => tryMcp(key, me.organization.id))
  if (consoleUrl) await step('the sign-in page of the console', () => tryConsole(consoleUrl))
}

async function tryPlatform(workspace: Workspace): Promise<void> {
  const { projects, agents, sessions, pullRequests, users, deletions } = workspace
  await step('a project and an agent', async () => {
    removals.push(['the project', () => removeForGood(() => admin.projects.delete(ids.project), ids.project)])
    await projects.put(ids.project, { name })
    removals.push(['the agent', () => removeForGood(() => admin.agents.delete(ids.agent), ids.agent)])
    await agents.put(ids.agent, { name })
    await projects.update(ids.project, { description: 'Made by an acceptance test.' })
    await agents.update(ids.agent, { description: 'Made by an acceptance test.' })
    expect((await projects.retrieve(ids.project)).name === name, 'The project has another name.')
    expect((await agents.retrieve(ids.agent)).name === name, 'The agent has another name.')
    expect((await projects.list({ query: name }).page()).items.length === 1, 'The list lacks the project.')
    expect((await agents.list({ query: name }).page()).items.length === 1, 'The list lacks the agent.')
    await users.retrieve(ids.user)
    await users.list({ limit: 1 }).page()
  })
  await step('a session and a pull request', async () => {
    removals.push(['the session', () => removeForGood(() => admin.sessions.delete(ids.session), ids.session)])
    await sessions.put(ids.session, { projectId: ids.project, name })
    removals.push([
      'the pull request',
      () => removeForGood(() => admin.pullRequests.delete(ids.pullRequest), ids.pullRequest),
    ])
    await pullRequests.put(ids.pullRequest, { projectId: ids.project, name })
    await sessions.retrieve(ids.session)
    await pullRequests.retrieve(ids.pullRequest)
    await sessions.list({ limit: 1 }).page()
    await pullRequests.list({ limit: 1 }).page()
  })
  await step('undo: what is deleted comes back', async () => {
    await sessions.delete(ids.session)
    const { items } = await deletions.list({ limit: 100 }).page()
    const deletion = items.find(({ resourceId }) => resourceId === ids.session)
    expect(deletion, 'The list of deletions lacks the session.')
    await deletions.retrieve(deletion.id)
    await deletions.restore(deletion.id)
    expect((await sessions.retrieve(ids.session)).name === name, 'The session did not come back.')
  })
}

async function tryKeys(workspace: Workspace): Promise<void> {
  await step('keys: rotated, revoked, signed out', async () => {
    const { id } = await workspace.apiKeys.create({ name, scopes: ['pins:read'] })
    const rotated = await workspace.apiKeys.rotate(id, { overlapSeconds: 0 })
    const own = clientOf(rotated.token)
    await own.me.sessions.create({ expiresInSeconds: 60 })
    await own.me.apiKey.delete()
    const refused = await own.me.retrieve().then(
      () => 'accepted',
      ({ code }) => code,
    )
    expect(refused === 'api_key_revoked', `The revoked key is ${refused}.`)
    await workspace.me.sessions.delete()
    await workspace.apiKeys.list({ limit: 1 }).page()
  })
}

async function tryFiles({ sessions, sessionFiles, users }: Workspace): Promise<void> {
  await step('a session file, byte for byte', async () => {
    const bytes = crypto.getRandomValues(new Uint8Array(60_000))
    const { id } = await sessions.files.put(ids.session, bytes, { path: 'random.bin' })
    await sessions.files.retrieve(ids.session, id)
    const content = await sessions.files.content.retrieve(ids.session, id)
    expect(Buffer.from(await content.arrayBuffer()).equals(bytes), 'The content has changed.')
    expect((await sessions.files.list(ids.session).page()).items.length === 1, 'The list lacks the file.')
    await sessionFiles.search({ sessionId: ids.session, query: 'random' }).page()
    await sessions.files.delete(ids.session, id)
  })
  await step('a profile picture', async () => {
    const picture = Buffer.from('R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw==', 'base64')
    await users.profilePicture.put(ids.user, picture)
    const read = await users.profilePicture.retrieve(ids.user)
    expect(Buffer.from(await read.arrayBuffer()).equals(picture), 'The picture has changed.')
    await users.profilePicture.delete(ids.user)
  })
}

async function trySkills({ skills, skillFeeds }: Workspace): Promise<void> {
  await step('a skill with two versions, installed from a feed', async () => {
    const filesOf = (text: string) => [
      { filename: 'SKILL.md', content: `---\nname: acceptance-${run}\ndescription: ${name}\n---\n${text}\n` },
    ]
    const { id } = await skills.create({ files: filesOf('First.') })
    removals.push(['the skill', () => removeForGood(() => admin.skills.delete(id), id)])
    await skills.update(id, { files: filesOf('Second.') })
    await skills.publish(id, { version: 1 })
    expect((await skills.versions.list(id).page()).items.length > 1, 'The skill has no second version.')
    await skills.versions.retrieve(id, 2)
    await skills.archive.retrieve(id)
    await skills.list({ limit: 1 }).page()
    const skill = await skills.retrieve(id)
    expect(skill.files[0]?.content.endsWith('First.\n'), 'The published version is not the first.')

    const feed = await skillFeeds.create({ name, skills: [{ skillId: id }] })
    removals.push(['the feed', () => admin.skillFeeds.delete(feed.id)])
    await skillFeeds.list().page()
    const root = `${feed.url}/.well-known/agent-skills`
    const index = await ask(`${root}/index.json`)
    const [offered] = ((await index.json()) as { skills: { url: string; digest: string }[] }).skills
    expect(offered, 'The feed offers no skill.')
    const archive = Buffer.from(await (await ask(`${root}/${offered.url}`)).arrayBuffer())
    const digest = `sha256:${createHash('sha256').update(archive).digest('hex')}`
    expect(digest === offered.digest, 'The archive has another digest than the index says.')
    await skillFeeds.delete(feed.id)
    expect((await ask(`${root}/index.json`)).status === 404, 'The feed answers after its deletion.')
  })
}

async function tryVariables(workspace: Workspace, scopes: readonly string[]): Promise<void> {
  await step('environment variables, leased', async () => {
    const { environmentVariables } = workspace.projects
    await environmentVariables.put(ids.project, 'FIRST', { value: 'one' })
    await environmentVariables.set(ids.project, { variables: [{ key: 'SECOND', value: 'two\nlines' }] })
    expect((await environmentVariables.list(ids.project).page()).items.length === 2, 'The list has not two variables.')
    expect(scopes.includes('environment-variables:lease'), 'The key lacks the scope environment-variables:lease.')
    const { id, token } = await admin.apiKeys.create({
      name,
      scopes: ['environment-variables:lease'],
      projectIds: [ids.project],
    })
    removals.push(['the key that leases', () => admin.apiKeys.delete(id)])
    const values = await leaseVariables(clientOf(token), ids.project)
    expect(values.FIRST === 'one' && values.SECOND === 'two\nlines', 'The lease has other values.')
    await environmentVariables.delete(ids.project, 'FIRST')
  })
}

async function tryPins({ pins }: Workspace): Promise<void> {
  await step('pins', async () => {
    await pins.put('session', ids.session)
    await pins.put('pull_request', ids.pullRequest)
    const target = { type: 'session', id: ids.session } as const
    await pins.update('pull_request', ids.pullRequest, { placement: { target, position: 'before' } })
    const { items } = await pins.list().page()
    expect(items[0]?.resourceId === ids.pullRequest, 'The pin did not move.')
    await pins.delete('session', ids.session)
  })
}

async function tryWork(workspace: Workspace): Promise<void> {
  const { projects, agents, schedules, runs, runEndpoint } = workspace
  const timing = { cron: '0 6 * * *', timezone: 'Europe/Paris' }
  await step('schedules of the project and of the agent', async () => {
    for (const [of, id] of [
      [projects.schedules, ids.project],
      [agents.schedules, ids.agent],
    ] as const) {
      const made =
        of === projects.schedules
          ? await projects.schedules.create(id, timing)
          : await agents.schedules.create(id, { cron: timing.cron })
      await of.retrieve(id, made.id)
      await of.update(id, made.id, { enabled: false })
      expect((await of.list(id).page()).items.length === 1, 'The list lacks the schedule.')
      const created = await of.runs.create(id, made.id)
      await runs.acknowledge(created.id)
      await of.runs.list(id, made.id).page()
      await removeForGood(() => of.delete(id, made.id), made.id)
    }
    await schedules.list({ limit: 1 }).page()
    await schedules.preview(timing)
    await agents.schedules.put(ids.agent, randomUUID(), { cron: timing.cron, enabled: false })
  })
  const scheduleId = randomUUID()
  await step('a claim: renewed, completed', async () => {
    await projects.schedules.put(ids.project, scheduleId, { ...timing, enabled: false })
    const { id } = await projects.schedules.runs.create(ids.project, scheduleId)
    const { items } = await runs.claim({ limit: 1, leaseSeconds: 60, projectId: ids.project })
    const [claimed] = items
    expect(claimed?.id === id, 'The claim took another run, or none.')
    await runs.renew(id, { claimId: claimed.claimId, leaseSeconds: 60 })
    await runs.complete(id, { claimId: claimed.claimId, outcome: 'succeeded', message: name })
    expect((await runs.retrieve(id)).status === 'succeeded', 'The run has not succeeded.')
    await runs.list({ limit: 1 }).page()
  })
  await step('a schedule fires', async () => {
    await projects.schedules.put(ids.project, scheduleId, { ...timing, cron: '* * * * *' })
    await until('No run in four minutes: do ticks come? npm run operate -- status --remote', async () => {
      const { items } = await projects.schedules.runs.list(ids.project, scheduleId).page()
      return items.find(({ scheduledAt }) => scheduledAt.endsWith(':00.000Z'))
    })
    await projects.schedules.put(ids.project, scheduleId, { ...timing, enabled: false })
  })
  await step(receiver ? 'a delivery of a run' : 'a run endpoint', async () => {
    await runEndpoint.put({ url: receiver ?? NOBODY })
    removals.push(['the run endpoint', () => admin.runEndpoint.delete()])
    await runEndpoint.retrieve()
    await runEndpoint.rotate({ overlapSeconds: 0 })
    const { id } = await projects.schedules.runs.create(ids.project, scheduleId)
    await runs.redeliver(id)
    if (!receiver) return
    await until('The run was not delivered in four minutes.', async () => {
      const { status, lastError } = await runs.retrieve(id)
      expect(status !== 'pending' || lastError === null, `The delivery failed: ${lastError}`)
      return status === 'pending' ? undefined : status
    })
  })
}

async function tryEvents({ eventEndpoints, events, auditEvents }: Workspace): Promise<void> {
  await step(receiver ? 'events: the feed, the trail, a delivery' : 'events: the feed, the trail', async () => {
    const { id } = await eventEndpoints.create({
      url: receiver ?? NOBODY,
      types: ['project.updated'],
      format: 'standard',
      batch: true,
    })
    removals.push(['the event endpoint', () => admin.eventEndpoints.delete(id)])
    await eventEndpoints.retrieve(id)
    await eventEndpoints.list().page()
    await eventEndpoints.update(id, { note: name })
    await eventEndpoints.rotate(id, { overlapSeconds: 0 })
    await eventEndpoints.test(id)
    await eventEndpoints.rewind(id, { after: 'now' })
    await events.list({ limit: 1 }).page()
    const { items } = await auditEvents.list({ limit: 100 }).page()
    expect(items.length > 20, 'The trail lacks what was done.')
    if (!receiver) return
    await admin.projects.update(ids.project, { description: name })
    await until('No event was delivered in four minutes.', async () => {
      const { behind, lastAttempts } = await eventEndpoints.retrieve(id)
      expect(lastAttempts[0]?.error == null, `The delivery failed: ${lastAttempts[0]?.error}`)
      return behind === 0 ? true : undefined
    })
  })
}

async function tryPeople({ signInRules, invitations, identities }: Workspace): Promise<void> {
  await step('people: a rule, an invitation', async () => {
    // Nobody signs in with this issuer.
    const issuer = 'https://login.example.com'
    const claim = { claim: 'groups', value: `acceptance-${run}` }
    const { id } = await signInRules.create({ issuer, ...claim, role: 'viewer' })
    removals.push(['the rule', () => admin.signInRules.delete(id)])
    await signInRules.retrieve(id)
    await signInRules.update(id, { value: `${claim.value}-2` })
    await signInRules.list().page()
    await signInRules.preview({ issuer, claims: [claim] })
    const invitation = await invitations.create({ email: `acceptance-${run}@example.com`, issuer, role: 'viewer' })
    removals.push(['the invitation', () => admin.invitations.delete(invitation.id)])
    await invitations.list().page()
    await identities.list().page()
  })
}

async function tryMcp(key: string, organizationId: string): Promise<void> {
  const response = await ask(`${url}/mcp`, {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${key}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who_am_i', arguments: {} } }),
  })
  const text = await response.text()
  expect(response.ok && text.includes(organizationId), `The tool who_am_i: ${response.status} ${text.slice(0, 200)}`)
}

async function tryConsole(address: string): Promise<void> {
  const response = await ask(`${address.replace(/\/+$/, '')}/sign-in`)
  const type = response.headers.get('Content-Type')
  expect(response.ok && type?.startsWith('text/html'), `The page: ${response.status} ${type}`)
}

async function report(): Promise<void> {
  const version = await ask(`${url}/openapi.json`)
    .then(async (response) => ((await response.json()) as { info: { version: string } }).info.version)
    .catch(() => 'unknown')
  // Where the first step failed, nothing was tried.
  const missing =
    results.length === 1 ? [] : Object.keys(CALLS).filter((call) => !called.has(call) && !NEED_A_PERSON.includes(call))
  const failed = results.filter(({ error }) => error !== undefined)
  const rows = results.map(
    ({ what, error, ms }) =>
      `| ${what} | ${error === undefined ? 'ok' : `FAILED: ${error}`} | ${(ms / 1000).toFixed(1)} s |`,
  )
  console.log(
    [
      `${url}, version ${version}, ${new Date().toISOString()}: ${failed.length === 0 && missing.length === 0 ? 'accepted' : 'not accepted'}`,
      '',
      '| what | result | time |',
      '| --- | --- | --- |',
      ...rows,
      '',
      `${called.size} of ${Object.keys(CALLS).length} operations answered. Not tried, because they need a person who signed in: ${NEED_A_PERSON.join(', ')}.`,
      ...(missing.length > 0 ? [`Without an answer: ${missing.join(', ')}.`] : []),
      'What was in the project is deleted by the next tick; events and revoked keys stay.',
      ...(receiver ? [] : ['Nothing was delivered: pass --receiver.']),
      ...(consoleUrl ? [] : ['The console was not tried: pass --console.']),
    ].join('\n'),
  )
  if (failed.length > 0 || missing.length > 0) process.exitCode = 1
}
