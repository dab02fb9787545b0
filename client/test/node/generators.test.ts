/**
 * Clients that other generators make of the OpenAPI document: they compile, and call the seven core operations.
 *
 * @module-tag slow
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { createClient } from '@hey-api/openapi-ts'
import { build } from 'esbuild'
import openapiTS, { astToString } from 'openapi-typescript'
import { generate } from 'orval'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { SCOPES } from '../../../src/access/scopes.ts'
import { ROOT } from '../../../test/support/commands.ts'
import { run } from '../../../test/support/packages.ts'
import { sharedService } from '../../../test/support/service.ts'
import { Workspace } from '../../src/index.ts'

const DOCUMENT = join(ROOT, 'public', 'openapi.json')
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])
const OPTIONS =
  '--ignoreConfig --noEmit --strict --skipLibCheck --module esnext --moduleResolution bundler --target es2024 --lib es2024,dom,dom.iterable --types node'

interface Given {
  readonly url: string
  readonly apiKey: string
  readonly projectId: string
  readonly agentId: string
  readonly sessionId: string
  readonly skillId: string
  readonly userId: string
}

const GIVEN = `
interface Given {
  url: string; apiKey: string; projectId: string; agentId: string; sessionId: string; skillId: string; userId: string
}
`

/** What calls the operations with each client, and a number and a boolean of a query with another one. */
const PROGRAMS = {
  'hey-api.ts': `
import * as api from './hey-api/sdk.gen'
import { client } from './hey-api/client.gen'
${GIVEN}
export async function callAll({ url, apiKey, projectId, agentId, sessionId, skillId, userId }: Given) {
  client.setConfig({ baseUrl: url, auth: apiKey })
  const throwOnError = true
  const placement = { target: { type: 'project' as const, id: projectId }, position: 'before' as const }
  const pin = { resourceType: 'session' as const, resourceId: sessionId }
  const moved = await api.updatePin({ throwOnError, path: pin, body: { placement } })
  const body = { cron: '@yearly', timezone: 'UTC' }
  const ofProject = await api.createProjectSchedule({ throwOnError, path: { projectId }, body })
  const headers = { 'Idempotency-Key': 'hey-api' }
  const ofAgent = await api.createAgentSchedule({ throwOnError, path: { agentId }, headers, body: { cron: '@yearly' } })
  const files = await api.listSessionFiles({ throwOnError, path: { sessionId }, query: { limit: '3' } })
  const skill = await api.retrieveSkill({ throwOnError, path: { skillId } })
  const picture = await api.deleteProfilePicture({ throwOnError, path: { userId } })
  const variable = await api.deleteEnvironmentVariable({ throwOnError, path: { projectId, key: 'GREETING' } })
  const schedules = await api.listSchedules({ throwOnError, query: { enabled: true, limit: 1 } })
  return [
    moved.data.updated,
    ofProject.data.timezone,
    ofAgent.data.agentId,
    files.data.items.map((file) => file.path),
    skill.data.files.map((file) => file.filename),
    picture.data.deleted,
    variable.data.key,
    schedules.data.items.length,
  ]
}
`,
  'orval.ts': `
import * as api from './orval/api'
${GIVEN}
type Success<Answer> = Extract<Answer, { status: 200 | 201 }>
function dataOf<Answer extends { status: number; data: unknown }>(answer: Answer): Success<Answer>['data'] {
  if (answer.status > 201) throw new Error(JSON.stringify(answer))
  return answer.data
}

export async function callAll({ apiKey, projectId, agentId, sessionId, skillId, userId }: Given) {
  const headers = { Authorization: 'Bearer ' + apiKey }
  const placement = { target: { type: 'project' as const, id: projectId }, position: 'before' as const }
  const moved = dataOf(await api.updatePin('session', sessionId, { placement }, { headers }))
  const body = { cron: '@yearly', timezone: 'UTC' }
  const ofProject = dataOf(await api.createProjectSchedule(projectId, body, { headers }))
  const withKey = { headers: { ...headers, 'Idempotency-Key': 'orval' } }
  const ofAgent = dataOf(await api.createAgentSchedule(agentId, { cron: '@yearly' }, withKey))
  const files = dataOf(await api.listSessionFiles(sessionId, { limit: '3' }, { headers }))
  const skill = dataOf(await api.retrieveSkill(skillId, { headers }))
  const picture = dataOf(await api.deleteProfilePicture(userId, { headers }))
  const variable = dataOf(await api.deleteEnvironmentVariable(projectId, 'GREETING', { headers }))
  const schedules = dataOf(await api.listSchedules({ enabled: true, limit: 1 }, { headers }))
  return [
    moved.updated,
    ofProject.timezone,
    ofAgent.agentId,
    files.items.map((file) => file.path),
    skill.files.map((file) => file.filename),
    picture.deleted,
    variable.key,
    schedules.items.length,
  ]
}
`,
  'openapi-typescript.ts': `
import type { operations } from './openapi-typescript/api'

type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>
export const schedules: Query<'listSchedules'> = { enabled: true, limit: 1 }
export const preview: Query<'previewSchedule'> = { cron: '@daily', count: 2 }
export const archive: Query<'retrieveSkillArchive'> = { version: 1 }
export const files: Query<'listSessionFiles'> = { limit: '3' }
// @ts-expect-error
export const digits: Query<'listSchedules'> = { limit: '1' }
// @ts-expect-error
export const text: Query<'listSchedules'> = { enabled: 'true' }
`,
} as const

let folder: string
let url: string

beforeAll(async () => {
  const service = await sharedService()
  url = service.url
  // Inside the project, so that the programs find its types.
  mkdirSync(join(ROOT, '.vitest'), { recursive: true })
  folder = mkdtempSync(join(ROOT, '.vitest', 'generators-'))
  const inFolder = (...names: string[]) => join(folder, ...names)
  for (const [name, program] of Object.entries(PROGRAMS)) writeFileSync(inFolder(name), program)
  await createClient({ input: DOCUMENT, output: inFolder('hey-api'), logs: { level: 'silent' } })
  await generate({
    input: { target: DOCUMENT },
    output: { target: inFolder('orval', 'api.ts'), client: 'fetch', baseUrl: url },
  })
  mkdirSync(inFolder('openapi-typescript'))
  const types = astToString(await openapiTS(JSON.parse(readFileSync(DOCUMENT, 'utf8'))))
  writeFileSync(inFolder('openapi-typescript', 'api.ts'), types)
})
afterAll(() => rmSync(folder, { recursive: true }))

/** An organization with what the operations work on, and a key of its user. */
async function newGiven(): Promise<Given> {
  const { apiKey } = await (await sharedService()).addOrganization()
  const admin = new Workspace({ url, apiKey })
  const [projectId, agentId, sessionId, userId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID(), 'ada']
  await admin.users.put(userId, { name: 'Ada' })
  const { token } = await admin.apiKeys.create({ name: 'laptop', userId, scopes: [...SCOPES] })
  const workspace = new Workspace({ url, apiKey: token })
  await workspace.projects.put(projectId, { name: 'Website' })
  await workspace.agents.put(agentId, { name: 'Reviewer' })
  await workspace.sessions.put(sessionId, { projectId, name: 'Checkout' })
  await workspace.pins.put('project', projectId)
  await workspace.pins.put('session', sessionId)
  await workspace.sessions.files.put(sessionId, new Blob(['text']), { path: 'notes.md' })
  await workspace.users.profilePicture.put(userId, PNG, { contentType: 'image/png' })
  await workspace.projects.environmentVariables.put(projectId, 'GREETING', { value: 'hello' })
  const content = '---\nname: notes\ndescription: Writes notes.\n---\n\nWrite notes.\n'
  const { id } = await workspace.skills.create({ files: [{ filename: 'SKILL.md', content }] })
  return { url, apiKey: token, projectId, agentId, sessionId, skillId: id, userId }
}

it('compile, with numbers and booleans in queries', async () => {
  const programs = Object.keys(PROGRAMS).map((name) => join(folder, name))
  await run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...OPTIONS.split(' '), ...programs], ROOT)
})

it.each(['hey-api', 'orval'])('call the seven core operations: %s', async (name) => {
  const outfile = join(folder, `${name}.mjs`)
  await build({ entryPoints: [join(folder, `${name}.ts`)], outfile, bundle: true, format: 'esm', logLevel: 'silent' })
  const { callAll } = await import(pathToFileURL(outfile).href)
  const given = await newGiven()
  expect(await callAll(given)).toEqual([true, 'UTC', given.agentId, ['notes.md'], ['SKILL.md'], true, 'GREETING', 1])
})
