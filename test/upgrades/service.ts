/** The service of a database that is upgraded: its data, and what its users do. */
import { expect, vi } from 'vitest'
import { insertApiKey, mintApiKey } from '../../operate/provisioning.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import { runBatch } from '../../src/db/statement.ts'
import type { Environment, RunMessage } from '../../src/environment.ts'
import type { RequestOptions } from '../support/api.ts'
import { databaseNumber, env } from '../support/env.ts'
import { entryFile } from '../support/skills.ts'
import { tick } from '../support/tick.ts'
import { insert, migrateTo } from './database.ts'
import { CHECKOUT, HOURLY, ICONS, LEGACY, MOBILE, RETIRED, REVIEWER, uuid, WEBSITE } from './schema-version.ts'
import { rowsAt, schemaVersionsUntil } from './schema-versions.ts'

export const SCHEMA_VERSIONS = 'test/upgrades/schema-versions.ts'

/** Five minutes past the last instant that is due. */
export const TICK_AT = new Date('2026-03-29T12:05:00.000Z')

/** The name of the keys of `addKey`. */
export const ADDED = 'added after the upgrade'

/** The options of an upload of five bytes. */
export const FILE = { body: '12345', headers: { 'Content-Length': '5' } }
const PNG = new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10])
const ISSUER = 'https://login.example.com'
const BEFORE_CHECKOUT = { target: { type: 'session', id: CHECKOUT }, position: 'before' }

/** A database of that schema, as its service left it. */
export async function openDatabase(migration: string): Promise<void> {
  await migrateTo(migration)
  try {
    await insert(rowsAt(migration))
  } catch (cause) {
    const message = `${SCHEMA_VERSIONS}: the rows of the newest schema version do not fit ${migration}: add a schema version that begins with it`
    throw new Error(message, { cause })
  }
  for (const [key, content] of Object.entries(contentsAt(migration))) await env.OBJECTS.put(key, content)
}

/** The contents of objects, by their keys. */
export const contentsAt = (migration: string): Readonly<Record<string, string>> =>
  Object.assign({}, ...schemaVersionsUntil(migration).map(({ objects }) => objects))

/** A key with every scope, as `npm run operate -- bootstrap` adds one to an organization that is there. */
export async function addKey(organizationId: string, userId?: string): Promise<string> {
  const createdAt = new Date().toISOString()
  const key = { organizationId, name: ADDED, scopes: SCOPES, createdAt, ...(userId !== undefined && { userId }) }
  const { token, row } = await mintApiKey(key, databaseNumber())
  await runBatch(env.DB, { insertApiKey }, row)
  return token
}

/** Ticks, without a failure. @returns the runs that it put into the queue. */
export async function runTick(environment: Partial<Cloudflare.Env> = {}): Promise<string[]> {
  const failures = vi.spyOn(console, 'error')
  const { messages, DELIVERIES } = outbox()
  await tick({ ...env, ...environment, DELIVERIES }, TICK_AT)
  expect(failures.mock.calls).toEqual([])
  failures.mockRestore()
  // Messages of event endpoints have no runs.
  const runs = messages.flatMap((message) => message.runs ?? [])
  return runs.map(({ organizationId, id }) => `${organizationId} ${id}`).sort()
}

/** A queue that keeps what it is sent. */
export function outbox() {
  const messages: RunMessage[] = []
  const sendBatch = async (batch: Iterable<{ body: RunMessage }>) => {
    messages.push(...Array.from(batch, ({ body }) => body))
  }
  return { messages, DELIVERIES: { sendBatch } as unknown as Environment['DELIVERIES'] }
}

/** Changes of each resource. @param DELIVERIES the queue of the run that one of them starts. */
export function changesWith(
  DELIVERIES: Environment['DELIVERIES'],
): readonly [method: string, path: string, options: RequestOptions][] {
  const mobile = `/v1/projects/${encodeURIComponent(MOBILE)}`
  return [
    ['PUT', `/v1/projects/${WEBSITE}`, { json: { name: 'Renamed' } }],
    ['PATCH', `/v1/projects/${LEGACY}`, { json: { archived: false } }],
    ['PUT', `/v1/agents/${REVIEWER}`, { json: { name: 'Renamed' } }],
    ['PATCH', `/v1/agents/${RETIRED}`, { json: { archived: false } }],
    ['PUT', `/v1/sessions/${CHECKOUT}`, { json: { name: 'Renamed', projectId: WEBSITE } }],
    ['PUT', `/v1/pull-requests/${uuid(351)}`, { json: { name: 'Renamed', projectId: WEBSITE } }],
    ['PUT', '/v1/users/ada', { json: { name: 'Renamed' } }],
    ['PATCH', `/v1/pins/session/${ICONS}`, { json: { placement: BEFORE_CHECKOUT } }],
    ['DELETE', `/v1/pins/project/${WEBSITE}`, {}],
    ['PUT', `/v1/pins/project/${WEBSITE}`, {}],
    ['POST', `${mobile}/schedules`, { json: { cron: '@daily', timezone: 'Asia/Tokyo' } }],
    ['POST', `/v1/agents/${REVIEWER}/schedules`, { json: { cron: '@daily' } }],
    ['PATCH', `/v1/projects/${WEBSITE}/schedules/${uuid(404)}`, { json: { enabled: true } }],
    ['POST', `/v1/projects/${WEBSITE}/schedules/${HOURLY}/runs`, { environment: { DELIVERIES } }],
    ['PUT', '/v1/run-endpoint', { json: { url: 'https://hooks.example.com/new' } }],
    ['POST', '/v1/run-endpoint/rotate', { json: { overlapSeconds: 0 } }],
    ['PUT', `/v1/sessions/${CHECKOUT}/files?path=src/app.ts`, FILE],
    ['DELETE', `/v1/sessions/${CHECKOUT}/files/${uuid(503)}`, {}],
    ['POST', '/v1/skills', { json: { files: [entryFile('new')] } }],
    ['PATCH', `/v1/skills/${uuid(602)}`, { json: { files: [entryFile('review', 'The second')] } }],
    ['POST', `/v1/skills/${uuid(602)}/publish`, { json: { version: 1 } }],
    ['DELETE', `/v1/skills/${uuid(603)}`, {}],
    ['PUT', '/v1/users/ada/profile-picture', { body: PNG }],
    ['DELETE', '/v1/users/ada/profile-picture', {}],
    ['PUT', `${mobile}/environment-variables/GREETING`, { json: { value: 'new' } }],
    ['DELETE', `/v1/projects/${WEBSITE}/environment-variables/DATABASE_URL`, {}],
    ['POST', '/v1/skill-feeds', { json: { name: 'Laptops', skills: [{ skillId: uuid(602) }] } }],
    ['POST', '/v1/event-endpoints', { json: { url: 'https://hooks.example.com/changes' } }],
    ['POST', '/v1/sign-in-rules', { json: { issuer: ISSUER, claim: 'groups', value: 'all', role: 'viewer' } }],
    ['POST', '/v1/invitations', { json: { email: 'new@example.com', issuer: ISSUER, role: 'viewer' } }],
    ['POST', '/v1/api-keys', { json: { name: 'new', scopes: [] } }],
    ['POST', `/v1/api-keys/${uuid(21)}/rotate`, { json: {} }],
    ['DELETE', `/v1/api-keys/${uuid(21)}`, {}],
    ['DELETE', `/v1/sessions/${uuid(303)}`, {}],
    ['DELETE', mobile, {}],
  ]
}
