import { createExecutionContext } from 'cloudflare:test'
import { HonoBase as Hono } from 'hono/hono-base'
import { TrieRouter } from 'hono/router/trie-router'
import { describe, expect, it } from 'vitest'
import * as z from 'zod/mini'
import { ApiError } from '../../src/errors.ts'
import type { HonoEnvironment } from '../../src/http/context.ts'
import type { Contract } from '../../src/http/contract.ts'
import { type Endpoint, endpoint } from '../../src/http/endpoint.ts'
import { mount } from '../../src/http/mount.ts'
import { createProjectSchedule } from '../../src/resources/work/schedules/handlers.ts'
import { ORIGIN } from '../support/api.ts'
import { env } from '../support/env.ts'
import { hashOf } from '../support/tokens.ts'
import { Workspace } from '../support/workspace.ts'

/** The values that a careless contract could let a client send, by the name that it would have in a body. */
const FIELDS = {
  scope: null,
  keyHash: 'f'.repeat(64),
  hourAgo: '1970-01-01T00:00:00.000Z',
  type: 'project.deleted',
  resourceId: 'other',
  requestId: 'none',
  eventId: '00000000-0000-7000-8000-000000000000',
  schedulesQuota: 1_000_000,
}

const { contract } = createProjectSchedule
const body = z.extend(contract.body, Object.fromEntries(Object.keys(FIELDS).map((name) => [name, z.optional(z.any())])))

/** Sends the creation of a project schedule to an app whose contract has these fields too. */
async function create(workspace: Workspace, key: string, fields: object, environment = {}) {
  const app = new Hono<HonoEnvironment>({ router: new TrieRouter() })
  app.use((c, next) => {
    c.set('requestId', 'the request')
    return next()
  })
  app.onError((error) => new Response(error.message, { status: error instanceof ApiError ? error.status : 500 }))
  const careless: Endpoint = { ...endpoint({ ...contract, body }, createProjectSchedule.handle as never) }
  mount(app, { method: contract.method, path: contract.path, load: async () => careless })
  const projectId = await workspace.addProject()
  const json = JSON.stringify({ cron: '0 6 * * *', timezone: 'UTC', ...fields })
  const { status } = await app.request(
    `${ORIGIN}/v1/projects/${projectId}/schedules`,
    {
      method: 'POST',
      headers: {
        Authorization: `Bearer ${key}`,
        'Content-Type': 'application/json',
        // A body of undeclared length has its API key checked in a call of its own.
        'Content-Length': String(json.length),
      },
      body: json,
    },
    { ...env, ...environment },
    createExecutionContext(),
  )
  return status
}

describe('a field of a body that has the name of a value of the service', () => {
  it('does not give an API key a scope', async () => {
    const workspace = await Workspace.create()
    const key = await workspace.addKey({ scopes: ['pins:read'] })
    expect(await create(workspace, key, { scope: null })).toBe(400)
    expect(await workspace.dump('schedules')).toEqual([])
  })

  it('does not exchange the API key', async () => {
    const [workspace, other] = [await Workspace.create(), await Workspace.create()]
    const key = await workspace.addKey()
    expect(await create(workspace, key, { keyHash: hashOf(await other.addKey()) })).toBe(201)
  })

  it.each(['type', 'resourceId', 'requestId', 'eventId'] as const)(
    'does not change what the event says: %s',
    async (name) => {
      const workspace = await Workspace.create()
      expect(await create(workspace, await workspace.addKey(), { [name]: FIELDS[name] })).toBe(201)
      const events = await workspace.dump('auditEvents')
      expect(events).toMatchObject([{ type: 'schedule.created', requestId: 'the request' }])
      expect(JSON.stringify(events)).not.toContain(FIELDS[name])
    },
  )

  it('does not raise a quota', async () => {
    const workspace = await Workspace.create()
    const environment = { ORGANIZATION_SCHEDULE_LIMIT: '0' }
    const { schedulesQuota } = FIELDS
    expect(await create(workspace, await workspace.addKey(), { schedulesQuota }, environment)).toBe(409)
  })
})

describe('a contract', () => {
  const withField = (part: 'params' | 'query' | 'headers' | 'body', name: string): Contract => ({
    ...contract,
    [part]: z.object({ [name]: z.string() }),
  })

  it.each([
    ['params', 'caller.keyHash'],
    ['query', 'event.id'],
    ['headers', 'caller.scope'],
    ['body', 'now'],
  ] as const)('whose %s have the field %s is refused when it is built', (part, name) => {
    expect(() => endpoint(withField(part, name), async () => ({}) as never)).toThrow(name)
  })
})
