/** The demo workspace of `npm run dev`: realistic data, created through HTTP, to try the operations on. */
import { generateKeyPairSync, hash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { v7 as newUuid } from 'uuid'
import { run } from '../../operate/database.ts'
import type { Databases } from '../../operate/databases.ts'
import { insertNew } from '../../operate/first-key.ts'
import {
  insertApiKey,
  insertOrganization,
  insertUserIfMissing,
  mintApiKey,
  selectOldestOrganizations,
} from '../../operate/provisioning.ts'
import { scopesOfBundles } from '../../src/access/bundles.ts'
import { SCOPES } from '../../src/access/scopes.ts'
import {
  apiKeys,
  deletions,
  eventEndpoints,
  identities,
  invitations,
  runs,
  sessionFiles,
  signInRules,
  skillFeeds,
  skills,
} from '../../src/db/schema.ts'
import { type Compilable, query, unguarded } from '../../src/db/statement.ts'
import { HOUR_MS } from '../../src/durations.ts'
import { EXAMPLE_IDS } from '../../src/http/example-ids.ts'
import { computeRunId } from '../../src/resources/work/run-id.ts'
import { stateFolder, type Target } from '../../tools/wrangler.ts'
import { Service } from '../service.ts'
import {
  FLAKY_TEST_ID,
  ISSUER,
  SECOND_PERSON,
  WEEK_DELETIONS,
  WEEK_FILES,
  WEEK_VERSIONS,
  weekRows,
} from './demo-week.ts'

export interface Demo {
  readonly baseUrl: string
  /** Acts for the user, with every scope. */
  readonly apiKey: string
  readonly organizationId: string
  readonly userId: string
  readonly projectId: string
  readonly agentId: string
  readonly sessionId: string
  readonly pullRequestId: string
  readonly skillId: string
  readonly environmentVariableKey: string
  /** The user's pins, in order. */
  readonly pins: readonly { readonly resourceType: string; readonly resourceId: string }[]
  /** Signs the runs that `npm run dev` receives. */
  readonly runEndpointSecret?: string
  /** Acts for no user, with every scope. */
  readonly serviceKey: string
  /** Acts for the user, restricted to another project. */
  readonly restrictedKey: string
  /** Acts for the user, restricted to the project; it may lease its environment variables, and nothing else. */
  readonly leaseKey: string
  readonly otherOrganization: {
    readonly apiKey: string
    readonly userId: string
    readonly projectId: string
    readonly agentId: string
    readonly sessionId: string
    readonly skillId: string
  }
}

/** Three lines to try first, ready to paste. */
export function firstCurlLines(demo: Demo): string[] {
  return [
    curlLine(demo, 'GET', '/v1/me'),
    curlLine(demo, 'GET', `/v1/sessions/${demo.sessionId}/files?limit=3`),
    curlLine(demo, 'PUT', `/v1/agents/${demo.agentId}/schedules/${newUuid()}`, {
      name: 'Every minute',
      cron: '* * * * *',
    }),
  ]
}

/** One line for each of the seven operations, ready to paste. */
export function curlLines(demo: Demo): string[] {
  const [first] = demo.pins
  const last = demo.pins.at(-1)
  const placement = { target: { type: first?.resourceType, id: first?.resourceId }, position: 'before' }
  return [
    curlLine(demo, 'PATCH', `/v1/pins/${last?.resourceType}/${last?.resourceId}`, { placement }),
    curlLine(demo, 'POST', `/v1/projects/${demo.projectId}/schedules`, {
      cron: '30 9 * * mon-fri',
      timezone: 'Europe/Paris',
    }),
    curlLine(demo, 'POST', `/v1/agents/${demo.agentId}/schedules`, { cron: '0 6 * * *' }),
    curlLine(demo, 'GET', `/v1/sessions/${demo.sessionId}/files?limit=5`),
    curlLine(demo, 'GET', `/v1/skills/${demo.skillId}`),
    curlLine(demo, 'DELETE', `/v1/users/${demo.userId}/profile-picture`),
    curlLine(demo, 'DELETE', `/v1/projects/${demo.projectId}/environment-variables/${demo.environmentVariableKey}`),
  ]
}

function curlLine({ baseUrl, apiKey }: Demo, method: string, path: string, body?: object): string {
  return [
    'curl',
    ...(method === 'GET' ? [] : [`-X ${method}`]),
    `'${baseUrl}${path}' -H 'Authorization: Bearer ${apiKey}'`,
    ...(body ? [`-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`] : []),
  ].join(' ')
}

/** The API keys of the demo's two organizations, before the rest of the demo is created. */
export interface DemoKeys {
  readonly organizationId: string
  readonly apiKey: string
  readonly serviceKey: string
  readonly otherApiKey: string
}

/**
 * Creates the demo's organizations, the second one in database 1 if there is one.
 * @param isNew true if the databases were created just now: another process may have added an organization since.
 * @returns undefined if there were organizations before.
 */
export async function createDemoKeys(databases: Databases, isNew: boolean): Promise<DemoKeys | undefined> {
  const found = await databases.map((each) => run(each, [{ statement: selectOldestOrganizations, values: {} }]))
  if (!isNew && found.flat(2).length > 0) return undefined
  const otherDatabase = databases.areSeveral ? 1 : 0
  const acme = organization(EXAMPLE_IDS.organizationId, 'Acme', EXAMPLE_IDS.userId, 'Ada Lovelace')
  const globex = organization(newUuid(), 'Globex', 'grace', 'Grace Hopper')
  const mint = (organizationId: string, name: string, userId?: string, database = 0) =>
    mintApiKey({ organizationId, name, scopes: SCOPES, createdAt: now(), ...(userId && { userId }) }, database)
  const apiKey = await mint(acme.id, 'demo', EXAMPLE_IDS.userId)
  const serviceKey = await mint(acme.id, 'demo service')
  const otherApiKey = await mint(globex.id, 'demo', 'grace', otherDatabase)
  const laptop = await mint(acme.id, 'laptop', EXAMPLE_IDS.userId)
  const second = await mint(acme.id, 'laptop', SECOND_PERSON.id)
  const keys = [second.row, apiKey.row, serviceKey.row, { ...laptop.row, id: EXAMPLE_IDS.apiKeyId }]
  await insertNew(databases, otherDatabase, globex.id, [
    ...globex.writes,
    { statement: insertApiKey, values: otherApiKey.row },
  ])
  await insertNew(databases, 0, acme.id, [
    ...acme.writes,
    ...keys.map((values) => ({ statement: insertApiKey, values })),
    ...exampleRows(acme.id, apiKey.row.id),
    ...weekRows(acme.id, { ada: EXAMPLE_IDS.apiKeyId, [SECOND_PERSON.id]: second.row.id }, new Date()).map(inserted),
  ])
  return {
    organizationId: acme.id,
    apiKey: apiKey.token,
    serviceKey: serviceKey.token,
    otherApiKey: otherApiKey.token,
  }
}

function organization(id: string, name: string, userId: string, userName: string) {
  const times = { createdAt: now(), updatedAt: now() }
  const writes = [
    { statement: insertOrganization, values: { id, name, ...times } },
    { statement: insertUserIfMissing, values: { organizationId: id, id: userId, name: userName, ...times } },
  ]
  return { id, writes }
}

/**
 * What the examples of the OpenAPI document name and what has an ID that the service chooses. The requests of
 * `fillDemo` complete these rows.
 * @param apiKeyId the key with which an app was connected.
 */
function exampleRows(organizationId: string, apiKeyId: string) {
  const times = { createdAt: now(), updatedAt: now() }
  const { projectId, agentId, projectScheduleId, agentScheduleId } = EXAMPLE_IDS
  const agentRun = (scheduledAt: string, claim?: Partial<typeof runs.$inferInsert>) =>
    query.insert(runs).values({
      organizationId,
      scheduleId: agentScheduleId,
      scheduledAt,
      id: computeRunId(agentScheduleId, scheduledAt),
      parentType: 'agent',
      parentId: agentId,
      status: 'delivered',
      attempts: 1,
      startedAt: times.createdAt,
      ...claim,
      ...times,
    })
  const deletedSession = ({ id, resourceId: sessionId, name, hoursAgo: hours }: (typeof WEEK_DELETIONS)[number]) =>
    query.insert(deletions).values({
      organizationId,
      resourceType: 'session',
      resourceId: sessionId,
      projectId,
      deletedAt: hoursAgo(hours),
      finalAt: hoursAgo(hours - 7 * 24),
      id,
      row: JSON.stringify({ id: sessionId, projectId, name, ...times }),
    })
  const grantEndsAt = hoursAgo(-60 * 24)
  const inserts = [
    query.insert(skills).values({
      organizationId,
      id: EXAMPLE_IDS.skillId,
      name: 'release-notes',
      description: 'Writes release notes from merged pull requests.',
      // The files come as version 1.
      version: 0,
      latestVersion: 0,
      revision: newUuid(),
      ...times,
    }),
    // Nobody has its token.
    query.insert(apiKeys).values({
      organizationId,
      id: EXAMPLE_IDS.grantId,
      name: 'Editor',
      kind: 'grant',
      hash: hash('sha256', newUuid()),
      scopes: JSON.stringify(scopesOfBundles(['skills', 'files'])),
      userId: EXAMPLE_IDS.userId,
      createdAt: times.createdAt,
      createdByKeyId: apiKeyId,
      clientId: 'https://editor.example.com/client.json',
      clientName: 'Editor',
      redirectHost: 'editor.example.com',
      expiresAt: grantEndsAt,
      grantEndsAt,
    }),
    // Nobody has its URL.
    query.insert(skillFeeds).values({
      organizationId,
      id: EXAMPLE_IDS.skillFeedId,
      hash: hash('sha256', newUuid()),
      name: 'Laptops of the team',
      apiKeyId: EXAMPLE_IDS.apiKeyId,
      createdAt: times.createdAt,
    }),
    ...WEEK_DELETIONS.map(deletedSession),
    // It is disabled, so that nothing is sent. The URL comes with a request.
    query.insert(eventEndpoints).values({
      organizationId,
      id: EXAMPLE_IDS.eventEndpointId,
      format: 'standard',
      sealedUrl: '',
      url: '',
      types: '["skill.*","environment-variable.set"]',
      note: 'Keeps the cache of the build machines fresh',
      batch: 1,
      deliveredSequence: 0,
      failures: 12,
      lastAttempts: JSON.stringify(failedAttempts()),
      disabledAt: hoursAgo(6),
      disabledReason: 'Every attempt of three days failed. The last one: HTTP 503',
      createdAt: hoursAgo(8 * 24),
      updatedAt: hoursAgo(6),
    }),
    query.insert(signInRules).values({
      organizationId,
      id: EXAMPLE_IDS.signInRuleId,
      issuer: ISSUER,
      claim: 'groups',
      value: 'engineers',
      role: 'member',
      createdByKeyId: EXAMPLE_IDS.apiKeyId,
      ...times,
    }),
    query.insert(invitations).values({
      organizationId,
      id: EXAMPLE_IDS.invitationId,
      issuer: 'https://login.example.com',
      email: 'lin@example.com',
      role: 'member',
      createdByKeyId: EXAMPLE_IDS.apiKeyId,
      createdAt: times.createdAt,
      expiresAt: hoursAgo(-7 * 24),
    }),
    query.insert(identities).values({
      organizationId,
      id: EXAMPLE_IDS.identityId,
      issuer: ISSUER,
      subject: '00u1a2b3c4',
      userId: EXAMPLE_IDS.userId,
      email: 'ada@example.com',
      role: 'member',
      ruleIds: JSON.stringify([EXAMPLE_IDS.signInRuleId]),
      lastSignInAt: times.createdAt,
      createdAt: times.createdAt,
    }),
    query.insert(sessionFiles).values({
      organizationId,
      sessionId: EXAMPLE_IDS.sessionId,
      id: EXAMPLE_IDS.fileId,
      path: EXAMPLE_IDS.filePath,
      objectKey: newUuid(),
      sizeBytes: 0,
      sha256: hash('sha256', ''),
      ...times,
    }),
    agentRun('2026-03-28T06:00:00.000Z', {
      claimId: EXAMPLE_IDS.claimId,
      claimedBy: JSON.stringify({ apiKeyId: EXAMPLE_IDS.apiKeyId, apiKeyName: 'laptop' }),
      // It is still there when the example renews it.
      checkAt: '2999-01-01T00:00:00.000Z',
    }),
    agentRun('2026-03-29T06:00:00.000Z'),
    query.insert(runs).values({
      organizationId,
      scheduleId: projectScheduleId,
      scheduledAt: '2026-03-30T07:30:00.000Z',
      id: EXAMPLE_IDS.runId,
      parentType: 'project',
      parentId: projectId,
      status: 'succeeded',
      attempts: 1,
      lastAttempts: JSON.stringify([
        { startedAt: '2026-03-30T07:30:02.512Z', status: 202, milliseconds: 184, error: null },
      ]),
      startedAt: '2026-03-30T07:30:02.512Z',
      finishedAt: '2026-03-30T07:31:26.734Z',
      message: 'Built 14 pages.',
      sessionId: EXAMPLE_IDS.sessionId,
      ...times,
    }),
  ]
  return inserts.map(inserted)
}

/** The attempts at an endpoint that has failed for days: every six hours, the latest first. */
function failedAttempts() {
  return Array.from({ length: 10 }, (_, index) => ({
    startedAt: hoursAgo((index + 1) * 6),
    status: 503,
    milliseconds: 140 + ((index * 37) % 60),
    error: 'HTTP 503',
  }))
}

const inserted = (insert: Compilable<unknown>) => ({ statement: unguarded({}, () => insert), values: {} })

const hoursAgo = (hours: number) => new Date(Date.now() - hours * HOUR_MS).toISOString()

function now(): string {
  return new Date().toISOString()
}

/** Writes the demo to `demo.json` and `demo.env` of the state folder. */
export function saveDemo(target: Target, demo: Demo): void {
  mkdirSync(stateFolder(target), { recursive: true })
  writeFileSync(demoFile(target), `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600 })
  writeFileSync(shellFile(target), shellVariables(demo), { mode: 0o600 })
}

/** The variables that the commands in README.md use. */
function shellVariables(demo: Demo): string {
  const variables = {
    WORKSPACE_URL: demo.baseUrl,
    WORKSPACE_API_KEY: demo.apiKey,
    WORKSPACE_LEASE_KEY: demo.leaseKey,
    PROJECT_ID: demo.projectId,
    AGENT_ID: demo.agentId,
    SESSION_ID: demo.sessionId,
    PULL_REQUEST_ID: demo.pullRequestId,
    SKILL_ID: demo.skillId,
    USER_ID: demo.userId,
  }
  return Object.entries(variables)
    .map(([name, value]) => `export ${name}='${value}'\n`)
    .join('')
}

/** Reads `demo.json` of the state folder, if there is one. @throws if it is not JSON. */
export function loadDemo(target: Target): Demo | undefined {
  const file = demoFile(target)
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new Error(
      `${file} is not JSON; delete it to keep the data without the demo, or move the state folder away to start with a new demo.`,
    )
  }
}

export function demoFile(target: Target): string {
  return join(stateFolder(target), 'demo.json')
}

export function shellFile(target: Target): string {
  return join(stateFolder(target), 'demo.env')
}

/** Creates the rest of the demo through a running service. */
export async function fillDemo(
  baseUrl: string,
  { organizationId, apiKey, serviceKey, otherApiKey }: DemoKeys,
): Promise<Demo> {
  const acme = new DemoClient(baseUrl, apiKey)
  const website = await acme.put('projects', EXAMPLE_IDS.projectId, { name: 'Website' })
  // Only a project whose ID is a UUID can be pinned.
  const payments = await acme.put('projects', newUuid(), { name: 'Payments' })
  const mobile = await acme.put('projects', newUuid(), { name: 'Mobile app' })
  const reviewer = await acme.put('agents', EXAMPLE_IDS.agentId, { name: 'Reviewer' })
  await acme.put('agents', newUuid(), { name: 'Release manager' })
  const checkout = await acme.put('sessions', EXAMPLE_IDS.sessionId, {
    projectId: website,
    name: 'Rebuild the checkout',
  })
  const flakyTest = await acme.put('sessions', FLAKY_TEST_ID, { projectId: website, name: 'Find the flaky test' })
  const applePay = await acme.put('pull-requests', EXAMPLE_IDS.pullRequestId, {
    projectId: website,
    name: 'Accept Apple Pay',
  })
  const retries = await acme.put('pull-requests', newUuid(), {
    projectId: website,
    name: 'Retry failed webhooks',
  })
  await acme.put('sessions', newUuid(), { projectId: mobile, name: 'Update the icons' })
  for (let start = 0; start < FILE_PATHS.length; start += FILES_AT_ONCE) {
    const paths = FILE_PATHS.slice(start, start + FILES_AT_ONCE)
    await Promise.all(paths.map((path) => acme.putFile(checkout, path, contentOf(path))))
  }
  await acme.send('PATCH', `/v1/skills/${EXAMPLE_IDS.skillId}`, { files: filesOf(SKILL_FILES) })
  for (const [path, content] of Object.entries(WEEK_FILES)) await acme.putFile(flakyTest, path, content)
  let entry = SKILL_FILES['SKILL.md']
  for (const [message, line] of WEEK_VERSIONS) {
    entry += `${line}\n`
    const files = filesOf({ ...SKILL_FILES, 'SKILL.md': entry })
    await acme.send('PATCH', `/v1/skills/${EXAMPLE_IDS.skillId}`, { message, files })
  }
  const pins = [
    { resourceType: 'session', resourceId: checkout },
    { resourceType: 'project', resourceId: payments },
    { resourceType: 'pull_request', resourceId: applePay },
    { resourceType: 'session', resourceId: flakyTest },
    { resourceType: 'pull_request', resourceId: retries },
  ]
  for (const { resourceType, resourceId } of pins) {
    await acme.send('PUT', `/v1/pins/${resourceType}/${resourceId}`)
  }
  await acme.send('POST', `/v1/projects/${website}/environment-variables`, {
    variables: [
      { key: EXAMPLE_IDS.variableKey, value: 'postgres://checkout:example@db.internal/shop' },
      { key: 'GREETING', value: 'Hello from Workspace API!' },
    ],
  })
  await acme.send('PATCH', `/v1/event-endpoints/${EXAMPLE_IDS.eventEndpointId}`, {
    url: 'https://hooks.example.com/events',
  })
  await acme.send('POST', `/v1/event-endpoints/${EXAMPLE_IDS.eventEndpointId}/rotate`, { overlapSeconds: 0 })
  await acme.send('PUT', `/v1/users/${EXAMPLE_IDS.userId}/profile-picture`, Buffer.from(PICTURE, 'base64'))
  const { token: restrictedKey } = await acme.send('POST', '/v1/api-keys', {
    name: 'demo restricted',
    scopes: SCOPES,
    projectIds: [mobile],
  })
  const { token: leaseKey } = await acme.send('POST', '/v1/api-keys', {
    name: 'demo lease',
    scopes: ['environment-variables:lease'],
    projectIds: [website],
  })
  // Nobody opens it.
  const { x: publicKey } = generateKeyPairSync('x25519').publicKey.export({ format: 'jwk' })
  await new DemoClient(baseUrl, leaseKey ?? '').send('POST', `/v1/projects/${website}/environment-variables/lease`, {
    publicKey,
    keys: [EXAMPLE_IDS.variableKey],
  })

  const globex = new DemoClient(baseUrl, otherApiKey)
  const intranet = await globex.put('projects', newUuid(), { name: 'Intranet' })
  const otherOrganization = {
    apiKey: otherApiKey,
    userId: 'grace',
    projectId: intranet,
    agentId: await globex.put('agents', newUuid(), { name: 'Librarian' }),
    sessionId: await globex.put('sessions', newUuid(), { projectId: intranet, name: 'Archive the wiki' }),
    skillId: await globex.addSkill('summaries', 'Summarises long threads.', {
      'SKILL.md': '---\nname: summaries\ndescription: Summarises long threads.\n---\n\n# Summaries\n',
    }),
  }
  return {
    baseUrl,
    apiKey,
    organizationId,
    userId: EXAMPLE_IDS.userId,
    projectId: website,
    agentId: reviewer,
    sessionId: checkout,
    pullRequestId: applePay,
    skillId: EXAMPLE_IDS.skillId,
    environmentVariableKey: EXAMPLE_IDS.variableKey,
    pins,
    serviceKey,
    restrictedKey: restrictedKey ?? '',
    leaseKey: leaseKey ?? '',
    otherOrganization,
  }
}

const FILES_AT_ONCE = 10

const SERVER_ERRORS = 500
const MAX_ATTEMPTS = 40
const RETRY_MS = 250

/** Creates resources of the demo with one API key. */
class DemoClient {
  readonly #service: Service

  constructor(baseUrl: string, apiKey: string) {
    this.#service = new Service(baseUrl, apiKey)
  }

  /** Repeats what fails while another process, such as `npm run operate -- bootstrap`, writes: SQLite locks the database. */
  async send(method: string, path: string, body?: object): Promise<Record<string, string>> {
    for (let attempt = 1; ; attempt++) {
      try {
        return (await this.#service.send<Record<string, string>>(method, path, body)).body
      } catch (error) {
        // The cause is the status, undefined without an answer.
        const { cause } = error as Error
        if (Number(cause) < SERVER_ERRORS || attempt === MAX_ATTEMPTS) throw error
      }
      await setTimeout(RETRY_MS)
    }
  }

  /** @returns the ID. */
  async put(kind: string, id: string, body: object): Promise<string> {
    await this.send('PUT', `/v1/${kind}/${id}`, body)
    return id
  }

  async putFile(sessionId: string, path: string, content: string | Buffer): Promise<void> {
    const query = new URLSearchParams({ path })
    await this.send('PUT', `/v1/sessions/${sessionId}/files?${query}`, Buffer.from(content))
  }

  /** @param files filename to content. @returns the ID. */
  async addSkill(name: string, description: string, files: Readonly<Record<string, string>>): Promise<string> {
    const { id = '' } = await this.send('POST', '/v1/skills', {
      name,
      description,
      files: filesOf(files),
    })
    return id
  }
}

/** @param files filename to content. */
function filesOf(files: Readonly<Record<string, string>>) {
  return Object.entries(files).map(([filename, content]) => ({ filename, content }))
}

const contentOf = (path: string) => (path.endsWith('.png') ? Buffer.from(SCREENSHOT, 'base64') : `The demo's ${path}\n`)

/** 130 paths: more than two pages of the default size. */
const FILE_PATHS = [
  ...tree(
    'src/checkout',
    ['cart', 'address', 'shipping', 'payment', 'review', 'receipt'],
    ['.ts', '.test.ts', '.css', '.stories.tsx'],
  ),
  ...tree(
    'src/payments',
    ['card', 'apple-pay', 'google-pay', 'bank-transfer', 'gift-card', 'refund'],
    ['.ts', '.test.ts'],
  ),
  ...tree(
    'src/api',
    ['orders', 'customers', 'webhooks', 'taxes', 'stock', 'coupons'],
    ['.ts', '.test.ts', '.schema.json'],
  ),
  ...tree(
    'src/components',
    ['button', 'field', 'select', 'modal', 'toast', 'stepper', 'price', 'badge'],
    ['.tsx', '.test.tsx', '.css'],
  ),
  ...tree('src/locales', ['de', 'en', 'es', 'fr', 'it', 'ja', 'pt-BR', 'zh-CN'], ['.json']),
  ...tree(
    'test/e2e',
    ['guest', 'member', 'gift-card', 'declined-card', 'sold-out', 'mobile'],
    ['.spec.ts', '.trace.zip'],
  ),
  ...tree(
    'docs/decisions',
    ['0001-payment-provider', '0002-idempotent-orders', '0003-tax-service', '0004-retries'],
    ['.md'],
  ),
  ...tree('notes', ['plan', 'open-questions', 'handover'], ['.md']),
  ...tree(
    'screenshots',
    ['cart', 'address', 'shipping', 'payment', 'review', 'receipt'],
    ['-desktop.png', '-mobile.png'],
  ),
  ...tree(
    '.',
    [
      'README.md',
      'CHANGELOG.md',
      'package.json',
      'package-lock.json',
      'tsconfig.json',
      'vite.config.ts',
      'playwright.config.ts',
      '.env.example',
      '.gitignore',
      'Dockerfile',
      'compose.yaml',
      'LICENSE',
    ],
    [''],
  ),
  EXAMPLE_IDS.filePath,
]

function tree(folder: string, names: readonly string[], endings: readonly string[]): string[] {
  const prefix = folder === '.' ? '' : `${folder}/`
  return names.flatMap((name) => endings.map((ending) => `${prefix}${name}${ending}`))
}

const SKILL_FILES = {
  'SKILL.md': `---
name: release-notes
description: Writes release notes from merged pull requests.
---

# Release notes

1. Run \`sh scripts/merged.sh <last tag>\` to list what was merged since the last release.
2. Group the entries by \`references/sections.md\`.
3. Write one line for each change, for the people who use the product, from \`assets/template.md\`.
`,
  'assets/template.md': '# {{version}} ({{date}})\n\n## New\n\n## Changed\n\n## Fixed\n',
  'references/sections.md':
    '- New: what could not be done before.\n- Changed: what works another way now.\n- Fixed: what was wrong.\n',
  'scripts/merged.sh': '#!/bin/sh\nset -eu\ngit log --merges --format="%s (%h)" "$1"..HEAD\n',
}

/** A PNG of 320 by 200 pixels: a page of a shop. */
const SCREENSHOT =
  'iVBORw0KGgoAAAANSUhEUgAAAUAAAADIAgMAAADkatA4AAAADFBMVEX///81U8ni5Op4fIgbF9dnAAAAs0lEQVR42u3ZQQrCMBBA0WzceL9uPJ3rnM4bVEQQbBtMcDDBvLezyC80aTvQtARLgoJ/G0zvBAW7BN3LgoKfggAQKT/V/v2cCwQfv9eym2CnoI1dDG6ubzm4O+lVsDUYviij7sNGgoKDBHd33fTBbx5f3sumL/PhFMHaYUnQtjGKdAkefFW4CArWBF8HTttg+8Nh1mB5UdpnG8EfBsNX2XxoPjQfhs02AABDy0FcSQAAIMAdl7If22vLFLkAAAAASUVORK5CYII='

/** A PNG of 32 by 32 pixels. */
export const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAcUlEQVR42mN49OIDTRHDqAWjFoDRr2tLsSLqWIDLdCLtYKDEdGLsGFALiDGdoB2jFgxuC4Z+MqVHTqZHWTT0i2uv0EV4EEUW4DeaSGsYKDSaoDUM1DIdlx0MVDQdqx0M1DUd0w46WkAt09HsGLWAoAUAnNxjesfixoEAAAAASUVORK5CYII='
