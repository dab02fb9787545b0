/**
 * The client in another Worker (client/test/support/dashboard), which reaches the service by a binding and by no
 * network.
 */
import { randomBytes } from 'node:crypto'
import { v7 as newUuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestHarness } from 'wrangler'
import type { Environment } from '../../../src/environment.ts'
import { ROOT } from '../../../test/support/commands.ts'
import { addOrganization } from '../../../test/support/organization.ts'
import { CONSOLE_STAND_IN } from '../../../test/support/service.ts'

const workers = createTestHarness({
  root: ROOT,
  workers: [
    {
      configPath: 'wrangler.toml',
      vars: { RATE_LIMIT: 'off' },
      secrets: { ENCRYPTION_KEYS: `test:${randomBytes(32).toString('base64')}` },
    },
    // The service has bindings to these.
    { configPath: 'mcp/wrangler.toml' },
    CONSOLE_STAND_IN,
    { configPath: 'client/test/support/dashboard/wrangler.toml' },
  ],
})
const service = workers.getWorker<Environment & { DB: D1Database }>('workspace-api')
const dashboard = workers.getWorker('dashboard')

beforeAll(async () => {
  await workers.listen()
  await service.applyD1Migrations('DB')
})
afterAll(() => workers.close())

/** A host that no name server knows. */
const BASE_URL = 'https://workspace.invalid'

const addKey = async () => (await addOrganization((await service.getEnv()).DB)).apiKey

async function show(apiKey: string, agentId: string, baseUrl = BASE_URL) {
  const body = JSON.stringify({ baseUrl, apiKey, agentId })
  const response = await dashboard.fetch('/', { method: 'POST', body })
  return response.json()
}

describe('the client in another Worker', () => {
  it.each(['', '/api/public-api'])(
    'writes and reads through a service binding, at the base path "%s"',
    async (basePath) => {
      const apiKey = await addKey()
      const agentId = newUuid()
      const added = await service.fetch(`/v1/agents/${agentId}`, {
        method: 'PUT',
        headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
        body: JSON.stringify({ name: 'Reviewer' }),
      })
      expect(added.status).toBe(201)
      const created = expect.objectContaining({ agentId, cron: '0 6 * * *' })
      expect(await show(apiKey, agentId, BASE_URL + basePath)).toEqual({
        created,
        listed: [created],
        status: 200,
        requestId: expect.any(String),
      })
    },
  )

  it('gets the errors of the service as they are', async () => {
    expect(await show('wsk_unknown', newUuid())).toEqual({
      error: expect.stringContaining('API key'),
      status: 401,
      requestId: expect.any(String),
    })
  })
})
