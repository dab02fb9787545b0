/** Moves and suspensions of organizations by the command, beside a server with three databases. */
import { rmSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type CommandDatabase, existingDatabaseFile, localDatabase } from '../../operate/database.ts'
import { readPlaces } from '../../operate/databases.ts'
import { countRows, organizationTables, selectPage } from '../../operate/organization-rows.ts'
import { Service } from '../../scripts/service.ts'
import { callScript, runScript, startScript } from '../support/commands.ts'
import { type DevServer, freePort, newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'

const state = newFolder()
const target = { remote: false, persistTo: state }
const persist = ['--persist-to', state]
let server: DevServer
let demo: ReturnType<typeof readDemo>
let acme: Service
let organizationId: string

beforeAll(async () => {
  server = await startDevServer(state, await freePort(), '--databases', '3')
  demo = readDemo(state)
  acme = new Service(demo.baseUrl, demo.apiKey)
  const { body } = await acme.send<{ organization: { id: string } }>('GET', '/v1/me')
  organizationId = body.organization.id
})

afterAll(async () => {
  await stopDevServer(server)
  rmSync(state, { recursive: true })
})

async function inDatabase<Result>(number: number, work: (database: CommandDatabase) => Promise<Result>) {
  const database = localDatabase(existingDatabaseFile(target, number))
  try {
    return await work(database)
  } finally {
    database.close()
  }
}

/** How many rows each table has of the organization. */
const countsIn = (number: number) =>
  inDatabase(number, async (database) => {
    const [[counts = {}] = []] = await database.batch([countRows(await organizationTables(database), organizationId)])
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== 0))
  })

const haltIn = (number: number) =>
  inDatabase(number, async (database) => {
    const sql = 'SELECT "kind" FROM "halts" WHERE "organizationId" = ?'
    const [[halt] = []] = await database.batch([{ sql, parameters: [organizationId] }])
    return halt?.kind
  })

const placeOf = () => inDatabase(0, async (database) => (await readPlaces(database)).get(organizationId))

const organization = (...args: string[]) => runScript('operate organization', [...args, ...persist])
const statusOf = (service: Service, method: string, path: string, body?: object) =>
  service.send(method, path, body).then(
    ({ status }) => status,
    ({ cause, message }: Error) => cause ?? message,
  )

describe('npm run operate -- organization move', () => {
  it('moves an organization, whose keys stay as they are', async () => {
    const before = await countsIn(0)
    const { status, stdout, stderr } = await organization('move', 'Acme', '--to', '2')
    expect([status, stderr.replaceAll(/^Rows: .*\n/gm, '')]).toEqual([0, ''])
    expect(stdout).toMatch(/^Copied [\d,]+ rows, [\d,]+ a second\.$/m)
    expect(stdout).toMatch(/^Acme is in database 2\.\n$/m)
    expect(await placeOf()).toEqual({ database: 2, movingTo: null })
    const after = await countsIn(2)
    // What the service does meanwhile adds rows.
    expect(Object.entries(before).filter(([table, count]) => Number(after[table]) < Number(count))).toEqual([])
    expect(Object.keys(await countsIn(0)).filter((table) => !['apiKeys', 'skillFeeds'].includes(table))).toEqual([])
    expect(await statusOf(acme, 'GET', '/v1/me')).toBe(200)
    expect(await callScript('operate organization', 'show', 'Acme', ...persist)).toMatch(/^Database +2$/m)
    expect((await organization('move', 'Acme', '--to', '2')).stdout).toBe('Acme is already in database 2.\n')
  })

  it('names what is wrong', async () => {
    const wrong = await organization('move', 'Acme', '--to', 'two')
    expect([wrong.status, wrong.stderr]).toEqual([
      2,
      '--to is not the number of a database; got "two". For help: npm run operate -- organization --help\n',
    ])
    const missing = await organization('move', 'Acme', '--to', '7')
    expect([missing.status, missing.stderr]).toEqual([1, 'There is no database 7; allowed: 0, 1, 2.\n'])
  })

  it('loses nothing when it is killed at twenty moments', { tags: 'slow' }, async () => {
    const { projectId } = demo
    const sessions = new Set<string>()
    const statuses = new Map<unknown, number>()
    let isOver = false
    const client = async () => {
      while (!isOver) {
        const id = crypto.randomUUID()
        const status = await statusOf(acme, 'PUT', `/v1/sessions/${id}`, { projectId, name: 'Under load' })
        if (status === 201) sessions.add(id)
        statuses.set(status, (statuses.get(status) ?? 0) + 1)
        expect([201, 503]).toContain(status)
        // Locally, the command and the service lock the same files.
        expect([200, 503]).toContain(await statusOf(acme, 'GET', '/v1/me'))
        await setTimeout(20)
      }
    }
    const clients = Promise.all([client(), client()])
    let from = (await placeOf())?.database ?? 0
    let killed = 0
    for (let moment = 1; moment <= 20; moment++) {
      const to = (from + 1 + (moment % 2)) % 3
      const child = startScript('operate organization', ['move', organizationId, '--to', String(to), ...persist])
      let isRunning = true
      const ended = new Promise((resolve) => {
        child.on('close', (_, signal) => {
          isRunning = false
          resolve(signal)
        })
      })
      // While it copies, once the source has left, or once the directory names the target.
      const isReached = [
        async () => (await haltIn(from)) === 'leaving',
        async () => (await haltIn(from)) === 'leaving',
        async () => (await haltIn(from)) === 'left',
        async () => (await placeOf())?.database === to,
      ][moment % 4] as () => Promise<boolean>
      while (isRunning && !(await isReached())) await setTimeout(1)
      if (moment % 4 < 2) await setTimeout(moment * 20)
      child.kill('SIGKILL')
      if ((await ended) === 'SIGKILL') killed++
      const back = moment % 3 === 0 && (await organization('move', organizationId, '--to', String(from)))
      if (back && back.status === 0 && back.stdout.includes('stays in')) continue
      const again = await organization('move', organizationId, '--to', String(to))
      expect([again.status, again.stderr.replaceAll(/^Rows: .*\n/gm, '')]).toEqual([0, ''])
      from = to
    }
    isOver = true
    await clients
    expect(killed).toBeGreaterThan(0)
    expect(statuses.get(201)).toBeGreaterThan(0)
    expect(await placeOf()).toEqual({ database: from, movingTo: null })
    const stored = await inDatabase(from, async (database) => {
      const table = (await organizationTables(database)).find(({ name }) => name === 'sessions')
      const ids = new Set<string>()
      for (let last: { id?: string } | undefined; table; ) {
        const [rows = []] = await database.batch([selectPage(table, organizationId, last as never)])
        for (const { id } of rows) ids.add(String(id))
        if (rows.length < table.pageSize) break
        last = rows.at(-1) as never
      }
      return ids
    })
    expect([...sessions].filter((id) => !stored.has(id))).toEqual([])
    for (const number of [0, 1, 2]) {
      if (number === from) continue
      const left = Object.keys(await countsIn(number)).filter((table) => !['apiKeys', 'skillFeeds'].includes(table))
      expect([number, left]).toEqual([number, []])
    }
  })
})

describe('npm run operate -- organization suspend', () => {
  it('refuses all requests until it is resumed; the other commands work', async () => {
    const suspended = await organization('suspend', 'Acme', '--reason', 'Sends spam')
    expect([suspended.status, suspended.stdout]).toEqual([
      0,
      `Acme is suspended. To end that: npm run operate -- organization resume ${organizationId}\n`,
    ])
    expect(await statusOf(acme, 'GET', '/v1/me')).toBe(401)
    expect(await callScript('operate organization', 'show', 'Acme', ...persist)).toMatch(/^Suspended +Sends spam$/m)
    expect(JSON.parse(await callScript('operate organization', 'show', 'Acme', '--json', ...persist)).suspended).toBe(
      'Sends spam',
    )
    const elsewhere = (((await placeOf())?.database ?? 0) + 1) % 3
    const moved = await organization('move', 'Acme', '--to', String(elsewhere))
    expect([moved.status, moved.stderr]).toEqual([
      1,
      'The organization is suspended. To move it, resume it first: npm run operate -- organization resume\n',
    ])
    const key = await runScript('operate bootstrap', ['--organization-id', organizationId, '--service', ...persist])
    expect([key.status, key.stderr]).toEqual([1, expect.stringContaining('The organization is suspended.')])
    const folder = newFolder()
    expect((await organization('export', 'Acme', '--output', folder)).status).toBe(0)
    rmSync(folder, { recursive: true })
    expect((await organization('resume', 'Acme')).stdout).toBe('Acme is resumed.\n')
    expect((await organization('resume', 'Acme')).stdout).toBe('Acme is not suspended.\n')
    expect(await statusOf(acme, 'GET', '/v1/me')).toBe(200)
  })

  it('lets a suspended organization be deleted', async () => {
    const other = new Service(demo.baseUrl, demo.otherOrganization.apiKey)
    const { body } = await other.send<{ organization: { id: string; name: string } }>('GET', '/v1/me')
    await organization('suspend', body.organization.id, '--reason', 'Sends spam')
    const deleted = await organization('delete', body.organization.id, '--name', body.organization.name)
    expect([deleted.status, deleted.stdout]).toEqual([0, expect.stringContaining('Deleted')])
    expect(await statusOf(other, 'GET', '/v1/me')).toBe(401)
  })
})
