/** Names and the first characters of IDs in the place of IDs, with the service behind a proxy that counts requests. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWorkspace } from '../../test/support/commands.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { startProxy } from './support/proxy.ts'

const [REVIEWER, TWIN, OTHER_TWIN] = [
  '0198c2a4-0000-7a11-8c44-d2f1a5b7e901',
  '0199aaaa-0000-7a11-8c44-d2f1a5b7e902',
  '0199aabb-0000-7a11-8c44-d2f1a5b7e903',
] as const

let service: SharedService
let proxy: Awaited<ReturnType<typeof startProxy>>
let login: { url: string; apiKey: string }
const requests: string[] = []

beforeAll(async () => {
  service = await sharedService()
  proxy = await startProxy(service.url, async ({ method, url }) => {
    requests.push(`${method} ${decodeURIComponent(url)}`)
    return undefined
  })
  login = { url: proxy.url, apiKey: (await service.addOrganization()).apiKey }
  await succeeds('projects', 'put', 'website', '--name', 'Web shop')
  await succeeds('projects', 'put', 'mobile', '--name', 'website')
  await succeeds('agents', 'put', REVIEWER, '--name', 'Reviewer')
  for (const id of [TWIN, OTHER_TWIN]) await succeeds('agents', 'put', id, '--name', 'Twin')
})
afterAll(async () => {
  await proxy.close()
})

const run = (...args: string[]) => {
  requests.length = 0
  return runWorkspace(args, login)
}

async function succeeds(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await run(...args)
  expect([args, status, stderr]).toEqual([args, 0, ''])
  return stdout
}

/** The ID of what a command archived. */
const archived = async (...args: string[]) => JSON.parse(await succeeds(...args, '--json')).id

describe('a thing is named by', () => {
  it('a whole UUID, in any case, without a further request', async () => {
    expect(await archived('agents', 'archive', REVIEWER.toUpperCase())).toBe(REVIEWER)
    expect(requests).toEqual([`PATCH /v1/agents/${REVIEWER}`])
  })

  it('an ID that is another text, rather than a name', async () => {
    expect(await archived('projects', 'unarchive', 'website')).toBe('website')
    expect(requests).toEqual(['GET /v1/projects/website', 'PATCH /v1/projects/website'])
  })

  it('its name, in any case', async () => {
    expect(await archived('projects', 'unarchive', 'WEB shop')).toBe('website')
    expect(await archived('agents', 'unarchive', 'reviewer')).toBe(REVIEWER)
    expect(requests).toEqual(['GET /v1/agents?limit=1000&query=reviewer', `PATCH /v1/agents/${REVIEWER}`])
  })

  it('the first characters of its ID, if that is a UUID and there are four or more', async () => {
    expect(await archived('agents', 'unarchive', '0198')).toBe(REVIEWER)
    expect((await run('agents', 'delete', '019')).stderr).toBe('There is no agent with the ID or the name "019".\n')
    expect((await run('projects', 'delete', 'mobi')).stderr).toBe(
      'There is no project with the ID or the name "mobi".\n',
    )
  })
})

describe('refused, and nothing is changed:', () => {
  const refused = async (args: string[], message: string) => {
    expect(await run(...args)).toMatchObject({ status: 1, stdout: '', stderr: `${message}\n` })
    expect(requests.filter((request) => !request.startsWith('GET'))).toEqual([])
  }

  it('a name that several have', () =>
    refused(
      ['agents', 'delete', REVIEWER, 'twin'],
      `2 agents have the name "twin": Twin (${TWIN}), Twin (${OTHER_TWIN}). Use the ID.`,
    ))

  it('characters with which several IDs begin', () =>
    refused(
      ['agents', 'delete', '0199AA'],
      `2 agents have an ID that begins with "0199AA": Twin (${TWIN}), Twin (${OTHER_TWIN}). Use more of the ID.`,
    ))

  it('a part of a name, which is suggested', () =>
    refused(
      ['agents', 'delete', 'review'],
      `There is no agent with the ID or the name "review". Similar: Reviewer (${REVIEWER}).`,
    ))
})

it('an API key that may not read projects needs the ID, and no more scopes', async () => {
  const { stdout } = await run('keys', 'create', 'writer', '--scope', 'environment-variables:write')
  const writer = { url: proxy.url, apiKey: stdout.trim() }
  const set = (project: string) => runWorkspace(['env', 'set', 'A', '--project', project], writer, {}, undefined, '1')
  expect(await set('website')).toMatchObject({ status: 0, printed: 'created   A\n' })
  expect(await set('Web shop')).toMatchObject({ status: 1, printed: expect.stringContaining('no project') })
})

it('schedules are found in the organization, or in their project or agent', async () => {
  const { url, apiKey } = login
  const put = async (path: string, body: object) => {
    const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' }
    const response = await fetch(url + path, { method: 'PUT', headers, body: JSON.stringify(body) })
    expect(response.status).toBe(201)
  }
  const [inProject, ofAgent] = [crypto.randomUUID(), crypto.randomUUID()]
  await put(`/v1/projects/website/schedules/${inProject}`, { cron: '@daily', timezone: 'UTC', name: 'Build' })
  await put(`/v1/agents/${REVIEWER}/schedules/${ofAgent}`, { cron: '@daily', name: 'Build' })
  const shown = async (...args: string[]) => JSON.parse(await succeeds('schedules', 'show', ...args, '--json')).id
  expect(await shown(ofAgent)).toBe(ofAgent)
  expect(await shown(inProject.slice(0, 8))).toBe(inProject)
  expect(await shown('build', '--project', 'web shop')).toBe(inProject)
  expect(await shown('Build', '--agent', 'Reviewer')).toBe(ofAgent)
  expect(await shown(inProject, '--agent', REVIEWER).catch(() => 'none')).toBe('none')
  expect(requests).toEqual([`GET /v1/agents/${REVIEWER}/schedules/${inProject}`])
  expect((await run('schedules', 'delete', 'Build')).stderr).toMatch(/^2 schedules have the name "Build": Build \(/)
})
