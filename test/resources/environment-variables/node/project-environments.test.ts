import { randomBytes } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parse } from 'dotenv'
import { v7 as newUuid } from 'uuid'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestHarness } from 'wrangler'
import type { Environment } from '../../../../src/environment.ts'
import { ROOT, runWorkspace } from '../../../support/commands.ts'
import { newFolder } from '../../../support/dev-server.ts'
import { addOrganization } from '../../../support/organization.ts'
import { CONSOLE_STAND_IN } from '../../../support/service.ts'

const newKey = (id: string) => `${id}:${randomBytes(32).toString('base64')}`
const FIRST_KEY = newKey('first')
const SECOND_KEY = newKey('second')

/** The service, and the second Worker beside it (test/support/build-system). */
const workersWith = (ENCRYPTION_KEYS: string) => ({
  root: ROOT,
  workers: [
    { configPath: 'wrangler.toml', vars: { RATE_LIMIT: 'off' }, secrets: { ENCRYPTION_KEYS } },
    { configPath: 'mcp/wrangler.toml' },
    CONSOLE_STAND_IN,
    { configPath: 'test/support/build-system/wrangler.toml' },
  ],
})

const workers = createTestHarness(workersWith(FIRST_KEY))
const service = workers.getWorker<Environment & { DB: D1Database }>('workspace-api')
const buildSystem = workers.getWorker('build-system')
let url: string

beforeAll(async () => {
  url = (await workers.listen()).url.origin
  await service.applyD1Migrations('DB')
})
afterAll(() => workers.close())

type Variables = Readonly<Record<string, string>>

/** An organization, and its calls. */
class Organization {
  readonly id: string
  readonly apiKey: string

  private constructor({ id, apiKey }: { id: string; apiKey: string }) {
    this.id = id
    this.apiKey = apiKey
  }

  static async create(): Promise<Organization> {
    return new Organization(await addOrganization((await service.getEnv()).DB))
  }

  async call(method: string, path: string, body?: object): Promise<{ status: number; text: string }> {
    const headers = { Authorization: `Bearer ${this.apiKey}`, 'Content-Type': 'application/json' }
    const response = await service.fetch(path, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    })
    return { status: response.status, text: await response.text() }
  }

  async addProject(id: string = newUuid()): Promise<string> {
    expect((await this.call('PUT', `/v1/projects/${id}`, { name: 'Website' })).status).toBe(201)
    return id
  }

  async setVariables(projectId: string, entries: readonly (readonly [string, string])[]): Promise<void> {
    const variables = entries.map(([key, value]) => ({ key, value }))
    const { status } = await this.call('POST', `/v1/projects/${projectId}/environment-variables`, {
      variables,
    })
    expect(status).toBe(201)
  }
}

/** @returns what the second Worker got. */
async function read(organizationId: string, projectId: string) {
  const body = JSON.stringify({ organizationId, projectId })
  const response = await buildSystem.fetch('/', { method: 'POST', body })
  return (await response.json()) as { variables?: Variables | null; failure?: string }
}

/** @returns the variables of a project as the second Worker got them, in order. */
async function entriesOf({ id }: Organization, projectId: string): Promise<[string, string][]> {
  const { variables, failure } = await read(id, projectId)
  if (!variables) throw new Error(failure ?? 'no project')
  return Object.entries(variables)
}

describe('ProjectEnvironments', () => {
  it('gives another Worker every value exactly, by name', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    const entries: [string, string][] = [
      ['EMPTY', ''],
      ['JSON', '{"a":"\\u0000\\\\"}'],
      ['LARGE', '\u00e9'.repeat(32 * 1024)],
      ['LINES', '-----BEGIN KEY-----\r\na\n\tb\n-----END KEY-----\n'],
      ['SPACES', '  a  '],
      ['UNICODE', '\ufeffe\u0301 \u65e5\u672c \u{1f469}\u200d\u{1f680} \u{10ffff} \u2028\u0001'],
      ['__proto__', 'a name like any other'],
      ['constructor', 'another'],
    ]
    await organization.setVariables(projectId, entries.toReversed())
    const elsewhere = await organization.addProject()
    await organization.setVariables(elsewhere, [['OTHER', 'other']])
    expect(await entriesOf(organization, projectId)).toEqual(entries)
    expect(await entriesOf(organization, await organization.addProject())).toEqual([])
  })

  it('takes the case of a UUID for nothing, and that of any other id for what it is', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    await organization.addProject('Website')
    for (const id of [projectId, 'Website']) await organization.setVariables(id, [['NAME', id]])
    const shouted = await read(organization.id.toUpperCase(), projectId.toUpperCase())
    expect(shouted).toEqual({ variables: { NAME: projectId } })
    expect(await read(organization.id, 'Website')).toEqual({ variables: { NAME: 'Website' } })
    expect(await read(organization.id, 'website')).toEqual({ variables: null })
  })

  it("answers null for an unknown project, another organization's and a deleted one", async () => {
    const organization = await Organization.create()
    const other = await Organization.create()
    const projectId = await organization.addProject()
    await organization.setVariables(projectId, [['TOKEN', 'secret']])
    expect(await read(organization.id, newUuid())).toEqual({ variables: null })
    expect(await read(other.id, projectId)).toEqual({ variables: null })
    expect(await read(newUuid(), projectId)).toEqual({ variables: null })
    expect((await organization.call('DELETE', `/v1/projects/${projectId}`)).status).toBe(200)
    expect(await read(organization.id, projectId)).toEqual({ variables: null })
  })

  it.each([
    ['ASCII', 'x'.repeat(64 * 1024)],
    ['any script', `${'x'.repeat(64 * 1024 - 3)}\u65e5`],
  ])('reads a project that is full of values of 64 KiB: %s', async (_, value) => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    const variables = Array.from({ length: 192 }, (_, index): [string, string] => [`KEY_${index}`, value])
    await organization.setVariables(projectId, variables.slice(0, 100))
    await organization.setVariables(projectId, variables.slice(100))
    // These are 12 MiB.
    await expect(organization.setVariables(projectId, [['ONE_MORE', value]])).rejects.toThrow(/409/)
    expect(await entriesOf(organization, projectId)).toEqual(variables.sort())
  })

  it('opens no value that was moved to another name', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    await organization.setVariables(projectId, [['PUBLIC_NOTE', 'secret']])
    const { DB } = await service.getEnv()
    await DB.prepare(`UPDATE "environmentVariables" SET "key" = 'MOVED' WHERE "projectId" = ?`).bind(projectId).run()
    const { variables, failure } = await read(organization.id, projectId)
    expect(variables).toBeUndefined()
    expect(failure).toMatch(/^(?!.*secret).+/)
  })

  it('is reached by no path of the HTTP API', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    await organization.setVariables(projectId, [['TOKEN', 'plain-text-value']])
    const document = JSON.parse(readFileSync(join(ROOT, 'public', 'openapi.json'), 'utf8'))
    const paths = Object.keys(document.paths).map((path) =>
      path
        .replaceAll('{projectId}', projectId)
        .replaceAll('{key}', 'TOKEN')
        .replaceAll(/\{\w+\}/g, projectId),
    )
    const body = { organizationId: organization.id, projectId, method: 'read' }
    const guesses = ['/', '/ProjectEnvironments', '/read', `/v1/ProjectEnvironments/read/${projectId}`]
    const reads = [...paths, ...guesses].map((path) => organization.call('GET', path))
    const posts = guesses.map((path) => organization.call('POST', path, body))
    const values = `/v1/projects/${projectId}/environment-variables/TOKEN`
    const answers = await Promise.all([...reads, ...posts])
    expect(answers.map(({ text }) => text).join()).not.toContain('plain-text-value')
    expect((await Promise.all(posts)).map(({ status }) => status)).toEqual([405, 404, 404, 404])
    expect((await organization.call('GET', values)).status).toBe(405)
    expect(await read(organization.id, projectId)).toEqual({ variables: { TOKEN: 'plain-text-value' } })
  })
})

describe('workspace env push', () => {
  it('brings to a build system what dotenv reads in the file', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    const folder = newFolder()
    try {
      const file = join(folder, '.env')
      const content = [
        '\ufeff# comment\nPLAIN=a b # comment\n  export SPACED  =  x  \nEMPTY=\nCOLON: yaml\nURL=a://b?c=d#e',
        'SINGLE=\'a "b" \\n $PLAIN # c\'\nDOUBLE="a\\nb\\tc \\"d\\" \u{1f511}"\nTICKS=`it\'s "x"`\r',
        'LINES="-----BEGIN-----\na+/=\n-----END-----"\nTWICE=1\nTWICE=2\nUNICODE=\u65e5\u672c',
        ...Array.from({ length: 120 }, (_, index) => `NUMBER_${index}=${index}`),
      ].join('\n')
      writeFileSync(file, content)
      const { apiKey } = organization
      const pushed = await runWorkspace(['env', 'push', file, '--project', projectId], { url, apiKey })
      expect(pushed.status, pushed.printed).toBe(0)
      const expected = parse(content)
      expect(Object.keys(expected)).toHaveLength(131)
      expect(await read(organization.id, projectId)).toEqual({ variables: expected })
    } finally {
      rmSync(folder, { recursive: true })
    }
  })
})

// The last test: the service has other keys after it.
describe('a key of ENCRYPTION_KEYS', () => {
  it('opens what it sealed while it is there; after that, the failure names it', async () => {
    const organization = await Organization.create()
    const projectId = await organization.addProject()
    await organization.setVariables(projectId, [['OLD', 'old-secret']])
    await workers.update(workersWith(`${SECOND_KEY},${FIRST_KEY}`))
    await organization.setVariables(projectId, [['NEW', 'new-secret']])
    const both = { variables: { NEW: 'new-secret', OLD: 'old-secret' } }
    expect(await read(organization.id, projectId)).toEqual(both)
    await workers.update(workersWith(SECOND_KEY))
    expect(await read(organization.id, projectId)).toEqual({
      failure: 'The key "first" is not in ENCRYPTION_KEYS.',
    })
  })
})
