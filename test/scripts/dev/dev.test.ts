import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import { localDatabaseFile, openLocalFile } from '../../../operate/database.ts'
import { receiveRuns, tickEachMinute } from '../../../scripts/dev/local-runs.ts'
import { Service } from '../../../scripts/service.ts'
import { parseToken } from '../../../src/access/api-key.ts'
import { callScript, ROOT, runScript } from '../../support/commands.ts'
import { curlCallsOf, runCurl } from '../../support/curl.ts'
import {
  curlLinesOf,
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../support/dev-server.ts'
import { blocksOf } from '../../support/guide.ts'
import { installerEnvironment } from '../../support/installer.ts'
import { listeningPorts } from '../../support/listening-ports.ts'
import { localEndpointsOf } from '../../support/local-endpoints.ts'
import { newState, rowsOf } from '../../support/local-state.ts'
import { entryFile, skillOf } from '../../support/skills.ts'

const bootstrap = (...args: string[]) => callScript('operate bootstrap', ...args)

/** What wrangler serves beside the service to any program on this machine, and why it may stay. */
const REMAINING = [
  // The tick, which `npm run dev` sends each minute. It does only what is due.
  '/cdn-cgi/handler/scheduled',
  '/cdn-cgi/local/scheduled',
  '/cdn-cgi/mf/scheduled',
  // No Worker of this repository takes e-mail.
  '/cdn-cgi/handler/email',
  '/cdn-cgi/local/email',
  // Asks for a secret that only the process of wrangler has.
  '/cdn-cgi/handler/platform-proxy',
  '/cdn-cgi/local/platform-proxy',
  // Reads an object whose key is known. Keys have a random ID, and no endpoint lists them.
  '/cdn-cgi/handler/r2/public/<object>',
  '/cdn-cgi/local/r2/public/<object>',
  // Says that a Worker was built again.
  '/cdn-cgi/live-reload',
]

async function statusesOf(lines: readonly string[]): Promise<number[]> {
  const statuses: number[] = []
  for (const args of lines.flatMap((line) => curlCallsOf(line))) statuses.push((await runCurl(args)).status)
  return statuses
}

/** What the script prints before it is ready, without npm's own lines. */
function screenOf(printed: string): string[] {
  const lines = printed.split('\n')
  const start = lines.findIndex((line) => line.startsWith('Starting'))
  return lines.slice(start, lines.findLastIndex((line) => line.startsWith('curl')) + 1)
}

describe('npm run dev', () => {
  const state = newFolder()
  let service: DevServer
  let port: number
  let consolePort: number

  beforeAll(async () => {
    port = await freePort()
    consolePort = await freePort()
    service = await startDevServer(state, port, '--console-port', String(consolePort))
  })
  afterAll(async () => {
    await stopDevServer(service)
    rmSync(state, { recursive: true })
  })

  it('serves a healthy service', async () => {
    const response = await fetch(`http://localhost:${port}/health`)
    expect([response.status, await response.json()]).toEqual([
      200,
      { database: 'answers', schema: 'current', databases: 2, encryptionKeys: 'configured' },
    ])
  })

  it('lets its owner alone read the database and the demo', () => {
    const database = localDatabaseFile({ remote: false, persistTo: state })
    for (const file of [database, join(state, 'demo.json'), join(state, 'demo.env')]) {
      expect([file, statSync(file).mode & 0o077]).toEqual([file, 0])
    }
  })

  it('describes a workspace like a real one in demo.json', async () => {
    const demo = readDemo(state)
    expect(demo.baseUrl).toBe(`http://localhost:${port}`)
    expect(Object.keys(demo).sort()).toEqual([
      'agentId',
      'apiKey',
      'baseUrl',
      'environmentVariableKey',
      'leaseKey',
      'organizationId',
      'otherOrganization',
      'pins',
      'projectId',
      'pullRequestId',
      'restrictedKey',
      'runEndpointSecret',
      'serviceKey',
      'sessionId',
      'skillId',
      'userId',
    ])
    expect(Object.keys(demo.otherOrganization).sort()).toEqual([
      'agentId',
      'apiKey',
      'projectId',
      'sessionId',
      'skillId',
      'userId',
    ])
    const types = demo.pins.map((pin: { resourceType: string }) => pin.resourceType)
    expect(types).toHaveLength(5)
    expect(new Set(types)).toEqual(new Set(['session', 'pull_request', 'project']))
    const keys = [demo.apiKey, demo.otherOrganization.apiKey]
    expect(await Promise.all(keys.map((key) => parseToken(key)))).toMatchObject([
      { databaseNumber: 0 },
      { databaseNumber: 1 },
    ])

    const get = async (path: string, key = demo.apiKey) => {
      const response = await fetch(demo.baseUrl + path, { headers: { Authorization: `Bearer ${key}` } })
      return {
        status: response.status,
        body: (await response.json()) as { items: unknown[]; files: unknown[] },
      }
    }
    expect((await get(`/v1/sessions/${demo.sessionId}/files?limit=1000`)).body.items).toHaveLength(130)
    expect((await get(`/v1/skills/${demo.skillId}`)).body.files.length).toBeGreaterThan(2)
    const { items } = (await get(`/v1/skills/${demo.skillId}/versions`)).body
    expect(items).toHaveLength(5)
    expect(items[0]).toMatchObject({ version: 5, name: 'release-notes', isCurrent: true })
    const runs = (await get('/v1/runs?limit=1000')).body.items as { status: string }[]
    expect(new Set(runs.map(({ status }) => status))).toEqual(new Set(['pending', 'delivered', 'succeeded', 'failed']))
    expect(runs.length).toBeGreaterThan(150)
    expect((await get(`/v1/sessions/${demo.sessionId}/files`, demo.restrictedKey)).status).toBe(403)
    expect((await get(`/v1/sessions/${demo.sessionId}/files`, demo.otherOrganization.apiKey)).status).toBe(404)
    const other = demo.otherOrganization
    expect((await get(`/v1/skills/${other.skillId}`, other.apiKey)).status).toBe(200)
  })

  it('serves archives of skills that tar unpacks, with their bytes and executable bits', async () => {
    const demo = readDemo(state)
    const api = new Service(demo.baseUrl, demo.apiKey)
    const bytes = Buffer.from([0xff, 0, 1, 0xfe])
    const files = [
      entryFile('unpacked', 'Unpacked by tar.'),
      { filename: 'bin/run.sh', content: '#!/bin/sh\necho run\n', executable: true },
      { filename: 'assets/a.bin', content: bytes.toString('base64'), encoding: 'base64' },
      { filename: `${'a'.repeat(155)}/${'b'.repeat(99)}`, content: 'long' },
    ]
    const { body } = await api.send<{ id: string }>('POST', '/v1/skills', { files })
    const folder = newFolder()
    for (const [skillId, executable, others] of [
      [body.id, ['bin/run.sh'], 3],
      [demo.skillId, [], 4],
    ] as const) {
      const response = await fetch(`${demo.baseUrl}/v1/skills/${skillId}/archive`, {
        headers: { Authorization: `Bearer ${demo.apiKey}` },
      })
      const into = join(folder, skillId)
      mkdirSync(into)
      writeFileSync(join(folder, 'skill.tar.gz'), Buffer.from(await response.arrayBuffer()))
      execFileSync('tar', ['-xzf', join(folder, 'skill.tar.gz'), '-C', into])
      const found = readdirSync(into, { recursive: true, withFileTypes: true })
        .filter((each) => each.isFile())
        .map(({ parentPath, name }) => join(parentPath, name))
      const isExecutable = (file: string) => (statSync(file).mode & 0o111) === 0o111
      expect(found.filter(isExecutable).map((file) => relative(into, file))).toEqual(executable)
      expect(found).toHaveLength(executable.length + others)
    }
    for (const { filename, content, encoding } of files) {
      const stored = readFileSync(join(folder, body.id, filename))
      expect(stored).toEqual(Buffer.from(content, encoding as 'base64' | undefined))
    }
    await api.send('DELETE', `/v1/skills/${body.id}`)
    rmSync(folder, { recursive: true })
  })

  it('prints one short screen: the console, the address, the key, the reference and three commands that work', async () => {
    const demo = readDemo(state)
    expect(service.printed).not.toMatch(/wrangler|WARNING|bindings|⎔/)
    const screen = screenOf(service.printed)
    expect(screen.length).toBeLessThanOrEqual(16)
    expect(screen).toEqual([
      `Starting Workspace API with the state folder ${state}`,
      '',
      'Workspace API is running. Press Ctrl-C to stop it.',
      '',
      `Console     http://localhost:${consolePort}`,
      `Address     ${demo.baseUrl}`,
      `API key     ${demo.apiKey}`,
      `Lease key   ${demo.leaseKey}`,
      `Reference   ${demo.baseUrl}/docs`,
      `Demo data   ${join(state, 'demo.json')}`,
      '',
      'Try these in a second terminal. The last one creates a schedule; each minute, its run is printed here.',
      '',
      ...curlLinesOf(service.printed),
    ])
    expect((await fetch(`${demo.baseUrl}/docs`)).status).toBe(200)
    const consoleUrl = `http://localhost:${consolePort}/`
    expect((await fetch(consoleUrl)).status).toBe(200)
    expect((await fetch(`${demo.baseUrl}/console`, { redirect: 'manual' })).headers.get('Location')).toBe(consoleUrl)
    expect(await statusesOf(curlLinesOf(service.printed))).toEqual([200, 200, 201])
  })

  it('answers each line of the README as its heading says', async () => {
    const [, block = ''] =
      /```sh\n(\. \.wrangler\/state\/demo\.env[\s\S]*?)```/.exec(readFileSync(join(ROOT, 'README.md'), 'utf8')) ?? []
    const statuses: number[] = []
    const bodies: unknown[] = []
    for (const args of curlCallsOf(block.replace('.wrangler/state', state))) {
      const response = await runCurl(args)
      statuses.push(response.status)
      bodies.push(await response.json())
    }
    expect(bodies[0]).toEqual({ updated: true })
    expect(statuses).toEqual([200, 201, 201, 200, 200, 200, 201, 200])
  })

  it('has a skill and variables that the commands of the README install and read', () => {
    const readme = readFileSync(join(ROOT, 'README.md'), 'utf8')
    const blocks = blocksOf(readme, 'sh').filter((block) => block.includes('cli/dist'))
    expect(blocks).toHaveLength(2)
    // In the project, as its folder is, so that npx finds the installer.
    const folder = mkdtempSync(join(ROOT, '.guide-'))
    const home = newFolder()
    const commands = blocks
      .join('')
      .replace('.wrangler/state', state)
      .replaceAll('.wrangler/try', join(folder, 'try'))
      .replaceAll('cli/dist/workspace.cjs', 'cli/src/workspace.ts')
      .replace('npm run build --workspace cli\n', '')
    const printed = execFileSync('sh', ['-euc', commands], {
      cwd: ROOT,
      env: installerEnvironment(home),
      encoding: 'utf8',
    })
    expect(printed).toContain('Installed 1 skill')
    expect(printed).toMatch(/Hello from Workspace API!\n$/)
    expect(readdirSync(join(folder, 'try')).sort()).toEqual(['.claude', 'skills-lock.json'])
    for (const each of [folder, home]) rmSync(each, { recursive: true })
  })

  it('serves the OpenAPI document at both base paths', async () => {
    const committed = JSON.parse(readFileSync(join(ROOT, 'public', 'openapi.json'), 'utf8'))
    for (const prefix of ['', '/api/public-api']) {
      const response = await fetch(`http://localhost:${port}${prefix}/openapi.json`)
      expect(response.headers.get('Content-Type')).toMatch(/^application\/json/)
      expect(response.headers.has('X-Request-Id')).toBe(true)
      expect(await response.json()).toEqual(committed)
    }
  })

  it('leases the variables of the project with the lease key, as docs/clients.md shows', () => {
    const { baseUrl, leaseKey } = readDemo(state)
    const [, code = ''] =
      /```ts\n( *import \{ Aes256Gcm[\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs', 'clients.md'), 'utf8')) ?? []
    const program = `const [url, apiKey] = ${JSON.stringify([baseUrl, leaseKey])}\n${code}\nconsole.log(variables.GREETING)`
    const output = execFileSync('node', ['--input-type=module-typescript', '-e', program], {
      cwd: ROOT,
      encoding: 'utf8',
    })
    expect(output).toBe('Hello from Workspace API!\n')
  })

  it('keeps no value and no secret in plain text, in no file of the database and in no log', async () => {
    const demo = readDemo(state)
    const value = `a value that nobody may find ${crypto.randomUUID()}`
    const api = new Service(demo.baseUrl, demo.apiKey)
    const path = `/v1/projects/${demo.projectId}/environment-variables`
    await api.send('PUT', `${path}/SECRET`, { value })
    await api.send('PUT', `${path}/SECRET`, { value: `${value}, again` })
    await expect(api.send('PUT', `${path}/1SECRET`, { value })).rejects.toThrow(/key/)
    for (const secret of [
      value,
      'postgres://checkout',
      'Hello from Workspace API!',
      demo.runEndpointSecret,
      demo.apiKey,
      demo.leaseKey,
      demo.serviceKey,
    ]) {
      expect(holdsText(state, secret)).toBe(false)
      if (![demo.apiKey, demo.leaseKey].includes(secret)) expect(service.printed).not.toContain(secret)
    }
    expect(holdsText(state, demo.organizationId)).toBe(true)
  })

  it('serves on its ports nothing that reads or changes data without a credential, to this machine alone', async () => {
    const [row] = await rowsOf(state, 'SELECT "objectKey" FROM "sessionFiles" LIMIT 1')
    const ports = listeningPorts(service.process.pid ?? 0)
    expect(ports.map((each) => each.port)).toEqual(expect.arrayContaining([port, consolePort]))
    for (const { address } of ports) expect(['127.0.0.1', '::1']).toContain(address)
    const object = `workspace-api-objects/${row?.objectKey}`
    const found = await Promise.all(ports.map((each) => localEndpointsOf(each.port, object)))
    expect(new Set(found.flat())).toEqual(new Set(REMAINING))
  })

  it('stores no URL of a feed and no text of a search', async () => {
    const { baseUrl, apiKey } = readDemo(state)
    const api = new Service(baseUrl, apiKey)
    const { body: feed } = await api.send<{ id: string; url: string }>('POST', '/v1/skill-feeds', { name: 'CI' })
    const token = new URL(feed.url).pathname.split('/').at(-1) ?? ''
    expect((await fetch(`${feed.url}/.well-known/agent-skills/index.json`)).status).toBe(200)
    const text = `search-${crypto.randomUUID()}`
    await api.send('GET', `/v1/skills?query=${text}`)
    const host = `${crypto.randomUUID()}.example.com`
    const { body: endpoint } = await api.send<{ id: string }>('POST', '/v1/event-endpoints', {
      url: `https://${host}/hook`,
      types: ['skill.*'],
    })
    for (const secret of [token, apiKey, text]) expect([secret, filesWith(state, secret)]).toEqual([secret, []])
    // The service has to know where it sends events.
    for (const file of filesWith(state, host)) expect(file).toMatch(/^v3.d1./)
    await api.send('DELETE', `/v1/event-endpoints/${endpoint.id}`)
    await api.send('DELETE', `/v1/skill-feeds/${feed.id}`)
  })

  it('ends without a message, keeps its data when it is run again, and fires what came due meanwhile', async () => {
    const before = readDemo(state)
    const api = new Service(before.baseUrl, before.apiKey)
    const schedules = `/v1/agents/${before.agentId}/schedules`
    // Nothing else of it comes due meanwhile.
    const cron = '0 0 1 1 *'
    const { body: schedule } = await api.send<{ id: string }>('POST', schedules, { cron })
    const stopped = service
    const { printed } = stopped
    expect(await stopDevServer(stopped)).toBe(0)
    expect(stopped.printed.slice(printed.length)).toMatch(/^(Run .*\n)*$/)
    const dueAt = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString()
    await rowsOf(state, `UPDATE "schedules" SET "nextRunAt" = '${dueAt}' WHERE "id" = '${schedule.id}'`)
    service = await startDevServer(state, port, '--verbose')
    const path = `${schedules}/${schedule.id}`
    const run = await vi.waitFor(
      async () => {
        const { body } = await api.send<{ items: { id: string }[] }>('GET', `${path}/runs`)
        expect(body.items).toMatchObject([{ status: 'succeeded', scheduledAt: dueAt }])
        return body.items[0]
      },
      { timeout: 120_000, interval: 200 },
    )
    expect(stopped.printed + service.printed).toContain(
      `Run ${run?.id}: "${cron}" of agent ${before.agentId}, for ${dueAt}`,
    )
    expect(service.printed).not.toContain('refused')
    await api.send('DELETE', path)
    expect(readDemo(state)).toEqual(before)
    expect(service.printed).toContain(before.apiKey)
    expect((await api.send('GET', `/v1/skills/${before.skillId}`)).status).toBe(200)
  })

  it('shows with --verbose what wrangler prints, and a command for each of the seven operations', async () => {
    expect(service.printed).toContain('workspace-api has access to the following bindings:')
    expect(service.printed).toContain('env.DB_1 (')
    const lines = curlLinesOf(service.printed)
    expect(await statusesOf(lines)).toEqual([200, 201, 201, 200, 200, 200, 200, 200, 200, 201])
  })

  it('leaves the token of a feed out of the lines of wrangler', async () => {
    const { baseUrl, apiKey } = readDemo(state)
    const api = new Service(baseUrl, apiKey)
    const { body: feed } = await api.send<{ id: string; url: string }>('POST', '/v1/skill-feeds', {
      name: 'CI',
    })
    const index = `${feed.url}/.well-known/agent-skills/index.json`
    expect((await fetch(index)).status).toBe(200)
    await vi.waitFor(() => expect(service.printed).toContain('GET /feeds/wsf_…/.well-known/'), {
      timeout: 120_000,
    })
    expect(service.printed).not.toMatch(/wsf_[\w-]/)
    await api.send('DELETE', `/v1/skill-feeds/${feed.id}`)
  })

  it('says in one sentence that a port is in use, and names one that is free with the next two', async () => {
    const first = await freePort()
    // The server would take the first three ports itself.
    const servers = [first, first + 4].map((taken) => createServer().listen(taken, 'localhost'))
    const refused = await refusal(newState(), first, '--sign-in')
    for (const server of servers) await new Promise((resolve) => server.close(resolve))
    const [start, free] = refused.split(' --port ')
    expect(start).toBe(
      `Port ${first} is already in use; stop the process that uses it, or name another port: npm run dev --`,
    )
    expect(Number(free)).toBeGreaterThan(first + 4)
  })

  it('says in one sentence that --sign-in needs the console', async () => {
    expect(await refusal(state, await freePort(), '--sign-in', '--no-console')).toBe(
      '--sign-in needs the console; leave out --no-console.',
    )
  })

  it('says in one sentence that the state folder is served already', async () => {
    expect(await refusal(state, await freePort())).toBe(
      `The state folder is already served at http://localhost:${port}; stop that process, or name another folder: npm run dev -- --persist-to some/dir`,
    )
    expect(await refusal(state, port)).toMatch(
      /^Port \d+ is already in use; .*, or name another port and folder: npm run dev -- --port \d+ --persist-to some\/dir$/,
    )
    expect(readDemo(state).baseUrl).toBe(`http://localhost:${port}`)
  })

  it('leaves a run endpoint that the user has set, and names it', async () => {
    const demo = readDemo(state)
    const api = new Service(demo.baseUrl, demo.apiKey)
    const { body: before } = await api.send<{ url: string }>('GET', '/v1/run-endpoint')
    const url = 'http://localhost:8000/runs'
    await api.send('PUT', '/v1/run-endpoint', { url })
    expect(await receiveRuns(demo.baseUrl, demo)).toEqual({ demo, otherReceiver: url })
    await api.send('PUT', '/v1/run-endpoint', { url: before.url })
  })

  it('answers a key that bootstrap makes, and a further one for the same organization', async () => {
    const first = JSON.parse(await bootstrap('--organization', "Ada's team", '--user', 'ada', '--persist-to', state))
    expect(Object.keys(first)).toEqual(['organizationId', 'userId', 'apiKey'])
    const second = JSON.parse(
      await bootstrap('--organization-id', first.organizationId, '--user', 'ada', '--persist-to', state),
    )
    expect(second.organizationId).toBe(first.organizationId)
    expect(second.apiKey).not.toBe(first.apiKey)
    for (const { apiKey } of [first, second]) {
      const response = await fetch(`http://localhost:${port}/v1/users/ada/profile-picture`, {
        method: 'DELETE',
        headers: { Authorization: `Bearer ${apiKey}` },
      })
      expect([response.status, await response.json()]).toEqual([200, { userId: 'ada', deleted: true }])
    }
    const limited = JSON.parse(
      await bootstrap('--organization', 'Limited', '--user', 'ada', '--scopes', 'skills:read', '--persist-to', state),
    )
    const refused = await fetch(`http://localhost:${port}/v1/users/ada/profile-picture`, {
      method: 'DELETE',
      headers: { Authorization: `Bearer ${limited.apiKey}` },
    })
    expect(refused.status).toBe(400)
    expect(holdsText(state, first.apiKey)).toBe(false)
    expect(holdsText(state, first.organizationId)).toBe(true)
  })

  it('lets an organization that bootstrap made grow through HTTP alone, until the seven work on it', async () => {
    const { apiKey } = JSON.parse(await bootstrap('--organization', 'Empty', '--user', 'ada', '--persist-to', state))
    const service = new Service(`http://localhost:${port}`, apiKey)
    const send = (method: string, path: string, body?: object) => service.send<{ id: string }>(method, path, body)
    const [agentId, sessionId, pullRequestId] = [1, 2, 3].map(() => crypto.randomUUID())
    const projectId = crypto.randomUUID()
    const made = [
      await send('PUT', `/v1/projects/${projectId}`, { name: 'Website' }),
      await send('PUT', `/v1/agents/${agentId}`, { name: 'Reviewer' }),
      await send('PUT', `/v1/sessions/${sessionId}`, { projectId, name: 'Fix the login' }),
      await send('PUT', `/v1/pull-requests/${pullRequestId}`, { projectId, name: 'Fix the login' }),
      await send('PUT', `/v1/sessions/${sessionId}/files?path=notes.md`, Buffer.from('# Notes')),
      await send('PUT', `/v1/pins/session/${sessionId}`),
      await send('PUT', '/v1/users/ada/profile-picture', Buffer.from('GIF89a')),
      await send('PUT', `/v1/projects/${projectId}/environment-variables/TOKEN`, { value: 'secret' }),
    ]
    expect(made.map(({ status }) => status)).toEqual(made.map(() => 201))
    const skill = await send('POST', '/v1/skills', skillOf())
    const placement = { target: { type: 'session', id: sessionId }, position: 'before' }
    const seven = [
      await send('PATCH', `/v1/pins/pull_request/${pullRequestId}`, { placement }),
      await send('POST', `/v1/projects/${projectId}/schedules`, { cron: '@daily', timezone: 'UTC' }),
      await send('POST', `/v1/agents/${agentId}/schedules`, { cron: '@daily' }),
      await send('GET', `/v1/sessions/${sessionId}/files`),
      await send('GET', `/v1/skills/${skill.body.id}`),
      await send('DELETE', '/v1/users/ada/profile-picture'),
      await send('DELETE', `/v1/projects/${projectId}/environment-variables/TOKEN`),
    ]
    expect(seven.map(({ status }) => status)).toEqual([200, 201, 201, 200, 200, 200, 200])
    expect(seven.map(({ body }) => body)).toMatchObject([
      { updated: true },
      { projectId },
      { agentId },
      { items: [{ path: 'notes.md' }] },
      { name: 'release-notes' },
      { deleted: true },
      { deleted: true },
    ])
  })

  it.each([[['--organization-id', crypto.randomUUID(), '--user', 'ada']], [['--organization', 'Globex', '--service']]])(
    'bootstrap refuses %j with a word',
    async (args) => {
      await expect(bootstrap(...args, '--persist-to', state)).rejects.toThrow(/--organization/)
    },
  )
})

describe('the tick of npm run dev', () => {
  it('comes at once and at each full minute, also after one that failed', async () => {
    const MINUTE_MS = 100
    const ticks: { path: string | undefined; afterMs: number }[] = []
    const server = createServer((request, response) => {
      ticks.push({ path: request.url, afterMs: Date.now() % MINUTE_MS })
      if (ticks.length === 2) response.destroy()
      else response.end()
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const { port } = server.address() as AddressInfo
    void tickEachMinute(`http://127.0.0.1:${port}`, MINUTE_MS)
    await vi.waitFor(() => expect(ticks.length).toBeGreaterThan(3), { timeout: 120_000 })
    server.close()
    server.closeAllConnections()
    expect(new Set(ticks.map(({ path }) => path))).toEqual(new Set(['/cdn-cgi/handler/scheduled']))
  })
})

describe('npm run dev -- --var LOCAL_RECEIVERS:off', { tags: 'slow' }, () => {
  const state = newFolder()
  let service: DevServer

  beforeAll(async () => {
    const unused = await freePort()
    vi.stubEnv('NODE_OPTIONS', '--import=data:text/javascript,process.stderr.isTTY=true')
    const starting = startDevServer(state, unused, '--var', 'LOCAL_RECEIVERS:off')
    vi.unstubAllEnvs()
    const ended = new AbortController()
    const beside = writeBeside(state, ended.signal)
    service = await starting.finally(() => ended.abort())
    await beside
  })
  afterAll(async () => {
    await stopDevServer(service)
    rmSync(state, { recursive: true })
  })

  it('says on one line of a terminal what it does until it is ready', () => {
    const bars = service.printed.split('\r\u001b[K').flatMap((drawn) => /^[A-Z][a-z ]+(?= \[#)/.exec(drawn)?.[0] ?? [])
    const steps = ['Preparing the databases', 'Starting the service', 'Filling the demo workspace']
    expect(Array.from(new Set(bars))).toEqual(steps)
    expect(service.printed.split('\n').filter((line) => line.endsWith(' of 4'))).toEqual([])
  })

  it('fills a new database, although another process writes to it from the start', async () => {
    const names = await rowsOf(state, 'SELECT "name" FROM "organizations" ORDER BY "name"')
    expect(names).toEqual([{ name: 'Acme' }, { name: 'Beside' }])
    expect(service.printed).toContain(readDemo(state).apiKey)
  })

  it('sets no run endpoint, says so, and allows none on this machine', async () => {
    const { baseUrl, apiKey, runEndpointSecret } = readDemo(state)
    expect(runEndpointSecret).toBeUndefined()
    const note = 'LOCAL_RECEIVERS is not "on", so runs are not received here.'
    await vi.waitFor(() => expect(service.printed).toContain(note))
    const api = new Service(baseUrl, apiKey)
    await expect(api.send('GET', '/v1/run-endpoint')).rejects.toThrow('The organization has no run endpoint.')
    const json = { url: 'http://127.0.0.1:9000/' }
    await expect(api.send('PUT', '/v1/run-endpoint', json)).rejects.toThrow('https://')
  })

  it('fills a demo workspace on which the generated client calls all seven operations', () => {
    const call = () =>
      execFileSync('node', ['scripts/dev/example.ts', join(state, 'demo.json')], { cwd: ROOT, encoding: 'utf8' })
    expect(call().trim().split('\n')).toHaveLength(7)
    // Only the pin is where the first time has moved it.
    expect(call()).toBe(call())
  })
})

describe('npm run dev on a restored state folder', () => {
  const folder = newFolder()
  const backup = join(folder, 'backup.sqlite')
  const state = join(folder, "it's restored")
  let service: DevServer | undefined

  afterEach(async () => {
    if (service) await stopDevServer(service)
    service = undefined
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** Starts it, and follows what it recommends for a key. @returns the names of the organizations that the keys reach. */
  async function namesByRecommendedKeys(port: number): Promise<string[]> {
    service = await startDevServer(state, port)
    const recommended = service.printed.split('\n').filter((line) => line.startsWith('npm run operate -- bootstrap'))
    const names: string[] = []
    for (const line of recommended) {
      const printed = execFileSync('bash', ['-c', line.replace('npm run', 'npm run --silent')], {
        cwd: ROOT,
        encoding: 'utf8',
      })
      const api = new Service(`http://localhost:${port}`, JSON.parse(printed).apiKey)
      const { body } = await api.send<{ organization: { name: string } }>('GET', '/v1/me')
      names.push(body.organization.name)
    }
    return names
  }

  it('recommends commands that create keys of its organizations, with and without the file of the demo', async () => {
    const source = newState()
    await bootstrap('--organization', 'Acme', '--user', 'ada', '--persist-to', source)
    await bootstrap('--organization', 'Globex', '--user', 'ada', '--persist-to', source)
    await callScript('operate backup', '--output', backup, '--persist-to', source)
    rmSync(source, { recursive: true })
    await callScript('operate restore', '--input', backup, '--revoke-all-keys', '--yes', '--persist-to', state)
    const port = await freePort()
    expect(await namesByRecommendedKeys(port)).toEqual(['Acme', 'Globex'])

    await stopDevServer(service as DevServer)
    service = undefined
    writeFileSync(join(state, 'demo.json'), JSON.stringify({ baseUrl: 'http://localhost:1', apiKey: 'wsk_revoked' }))
    expect(await namesByRecommendedKeys(port)).toEqual(['Acme', 'Globex'])
  })
})

describe('npm run dev on a state folder that it cannot use', () => {
  const folder = newFolder()
  afterAll(() => rmSync(folder, { recursive: true }))

  const newStateWith = (files: Readonly<Record<string, string>>) => {
    const state = mkdtempSync(join(folder, 'state-'))
    for (const [file, content] of Object.entries(files)) {
      mkdirSync(dirname(join(state, file)), { recursive: true })
      writeFileSync(join(state, file), content)
    }
    return state
  }

  const damagedDatabase = join('v3', 'd1', 'miniflare-D1DatabaseObject', 'metadata.sqlite')
  it.each([
    [
      'its database is damaged',
      { [damagedDatabase]: 'garbage' },
      (state: string) =>
        `The state in ${state} is damaged: ${damagedDatabase}: file is not a database; move the folder away to start with an empty one, or name another with --persist-to.`,
    ],
    [
      'the description of its demo is damaged',
      { [join('v3', 'kept')]: '', 'demo.json': '{' },
      (state: string) =>
        `${state}/demo.json is not JSON; delete it to keep the data without the demo, or move the state folder away to start with a new demo.`,
    ],
  ])('says in one sentence that %s, and changes nothing', async (_problem, files, sentence) => {
    const state = newStateWith(files)
    expect(await refusal(state, await freePort())).toBe(sentence(state))
    const left = readdirSync(state, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
    expect(Object.fromEntries(left.map((file) => [relative(state, file), readFileSync(file, 'utf8')]))).toEqual(files)
  })

  it('says in one sentence that the database belongs to another project, and changes nothing', async () => {
    const state = newStateWith({})
    const file = localDatabaseFile({ remote: false, persistTo: state })
    mkdirSync(dirname(file), { recursive: true })
    const database = new DatabaseSync(file)
    database.exec('CREATE TABLE "orders" ("id" TEXT)')
    database.close()
    const before = readFileSync(file)
    expect(await refusal(state, await freePort())).toBe(
      `The database in ${state} belongs to another project: it has tables, but not the migration 0000_initial.sql; name a new or an empty folder with --persist-to.`,
    )
    expect(readFileSync(file).equals(before)).toBe(true)
  })

  it('says in one sentence that the folder is a file', async () => {
    const file = join(newStateWith({ file: '' }), 'file')
    expect(await refusal(file, await freePort())).toBe(
      `${file} is a file, not a state folder; name a new or an empty folder with --persist-to.`,
    )
  })
})

/** Adds an organization as soon as there is a database, as bootstrap does, and locks the database again and again. */
async function writeBeside(state: string, ended: AbortSignal): Promise<void> {
  const file = localDatabaseFile({ remote: false, persistTo: state })
  const LOCK_MS = 100
  for (let isAdded = false; !ended.aborted; await setTimeout(LOCK_MS)) {
    if (!existsSync(file)) continue
    const database = openLocalFile(file)
    try {
      database.exec('BEGIN IMMEDIATE')
      if (!isAdded)
        database.exec(`INSERT INTO "organizations" ("id", "name", "createdAt") VALUES ('1', 'Beside', '2026')`)
      await setTimeout(LOCK_MS)
      database.exec('COMMIT')
      isAdded = true
    } catch (error) {
      expect((error as Error).message).toMatch(/no such table|locked/)
    } finally {
      database.close()
    }
  }
}

/** Runs it where it cannot start. @returns what it says; nothing else is printed. */
async function refusal(state: string, port: number, ...flags: readonly string[]): Promise<string> {
  const args = ['--port', String(port), '--persist-to', state, ...flags]
  const { status, stdout, stderr } = await runScript('dev', args)
  expect([status, stdout]).toEqual([1, ''])
  return stderr.trim()
}

/** True if any file of the folder, the database's among them, has the text in it. */
function holdsText(folder: string, text: string): boolean {
  return filesWith(folder, text).length > 0
}

/** The files of a folder that have the text in them, without those of the demo, which are for its keys. */
function filesWith(folder: string, text: string): string[] {
  const isDemo = (path: string) => /demo\.(json|env)$/.test(path)
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !isDemo(path) && contentOf(path).includes(text))
    .map((path) => relative(folder, path))
}

/** Empty if SQLite has removed the file since it was listed. */
function contentOf(path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return Buffer.alloc(0)
    throw error
  }
}
