/**
 * The acceptance test of a deployment, on a service with its console.
 * @module-tag slow
 */
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { callScript, runScript } from '../support/commands.ts'
import { type DevServer, freePort, newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { rowsOf } from '../support/local-state.ts'

const state = newFolder()
let server: DevServer
let baseUrl: string
let consoleUrl: string
let receiver: Server
/** How the receiver answers. */
let status = 202
const received: string[] = []

beforeAll(async () => {
  const consolePort = await freePort()
  server = await startDevServer(state, await freePort(), '--console-port', String(consolePort))
  baseUrl = readDemo(state).baseUrl
  consoleUrl = `http://localhost:${consolePort}`
  receiver = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']))
    request.resume()
    response.writeHead(status).end()
  }).listen(0, '127.0.0.1')
  await once(receiver, 'listening')
})
afterAll(async () => {
  receiver.close()
  await stopDevServer(server)
  rmSync(state, { recursive: true })
})

const receiverUrl = () => `http://localhost:${(receiver.address() as AddressInfo).port}/`

async function newOrganization(name: string) {
  const printed = await callScript('operate bootstrap', '--organization', name, '--service', '--persist-to', state)
  return JSON.parse(printed) as { organizationId: string; apiKey: string }
}

const accept = (apiKey: string, ...args: string[]) =>
  runScript('accept', [baseUrl, ...args], { WORKSPACE_API_KEY: apiKey })

/** What the organization has, in whichever database it is. */
async function contentsOf(organizationId: string) {
  const tables = ['projects', 'agents', 'users', 'sessions', 'pullRequests', 'skills', 'skillFeeds']
  const more = ['eventEndpoints', 'runEndpoints', 'invitations', 'signInRules']
  const count = async (table: string, condition = '') => {
    const sql = `SELECT 1 FROM "${table}" WHERE "organizationId" = '${organizationId}'${condition}`
    return (await rowsOf(state, sql)).length + (await rowsOf(state, sql, 1)).length
  }
  // The tick deletes what was in them.
  const restorable = await count('deletions', ` AND "row" IS NOT NULL`)
  if (restorable > 0) return [['deletions', restorable]]
  const counts = await Promise.all([...tables, ...more].map(async (table) => [table, await count(table)]))
  return [...counts.filter(([, rows]) => rows !== 0), ['keys', await count('apiKeys', ' AND "revokedAt" IS NULL')]]
}

describe('npm run accept', () => {
  it('tries every operation but those of a person, a schedule that fires and deliveries, and leaves nothing', async () => {
    const { organizationId, apiKey } = await newOrganization('Accepted')
    const { status, stdout, stderr } = await accept(apiKey, '--receiver', receiverUrl(), '--console', consoleUrl)
    expect([status, stderr.match(/FAILED.*/g)]).toEqual([0, null])
    expect(stdout).toMatch(/^http:\S+, version \d+\.\d+\.\d+, \S+: accepted\n/)
    expect(stdout).toMatch(/\n\| a schedule fires \| ok \| \d+\.\d s \|\n/)
    expect(stdout).toMatch(/\n\| the sign-in page of the console \| ok \|/)
    expect(stdout).toMatch(
      /\n113 of 117 operations answered\. Not tried, because they need a person who signed in: .*\n/,
    )
    expect(new Set(received).size).toBeGreaterThan(1)
    expect(await contentsOf(organizationId)).toEqual([['keys', 1]])
  })

  it('says what failed, and leaves nothing', async () => {
    status = 500
    const { organizationId, apiKey } = await newOrganization('Failing')
    const result = await accept(apiKey, '--receiver', receiverUrl())
    expect(result.status).toBe(1)
    expect(result.stdout).toMatch(/\n\| events: .* \| FAILED: The delivery failed: .*500.* \|/)
    expect(await contentsOf(organizationId)).toEqual([['keys', 1]])
  }, 600_000)

  it('makes nothing with a key that is wrong, or where runs would be sent to somebody', async () => {
    const wrong = await accept('wsk_wrong')
    expect([wrong.status, wrong.stdout]).toEqual([
      1,
      expect.stringContaining('| the key of an admin | FAILED: The API key is not valid'),
    ])
    const { organizationId, apiKey } = await newOrganization('Taken')
    await fetch(`${baseUrl}/v1/run-endpoint`, {
      method: 'PUT',
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ url: receiverUrl() }),
    })
    const taken = await accept(apiKey)
    expect([taken.status, taken.stdout]).toEqual([
      1,
      expect.stringContaining('The organization has a run endpoint or schedules'),
    ])
    expect(await contentsOf(organizationId)).toEqual([
      ['runEndpoints', 1],
      ['keys', 1],
    ])
    expect(await accept(apiKey, '--console', 'nowhere')).toMatchObject({
      status: 2,
      stderr: expect.stringContaining('--console is not an address; got "nowhere"'),
    })
  })
})
