/** The demo workspace: what a team's workspace looks like, to try the operations on. */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { v7 as newUuid } from 'uuid'
import { getPlatformProxy } from 'wrangler'
import { SCOPES } from '../src/access/scopes.ts'
import { parseKeyRing } from '../src/crypto/key-ring.ts'
import { seal } from '../src/crypto/sealed-value.ts'
import { bind, runBatch, type Statement, type Values } from '../src/db/statement.ts'
import type { Environment } from '../src/environment.ts'
import * as provisioning from '../src/provisioning.ts'
import { ROOT } from './wrangler.ts'

export interface Demo {
  readonly baseUrl: string
  /** A key of the user, with every scope. */
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
  /** A key with every scope and no user. */
  readonly serviceKey: string
  /** A key of the user that is limited to another project. */
  readonly limitedKey: string
  readonly otherOrganization: {
    readonly apiKey: string
    readonly userId: string
    readonly projectId: string
    readonly agentId: string
    readonly sessionId: string
    readonly skillId: string
  }
}

/**
 * Fills an empty local database and remembers the demo in `demo.json` of the state folder.
 * @returns the demo, or undefined if the database has data but no demo.
 */
export async function openDemo(folder: string, baseUrl: string): Promise<Demo | undefined> {
  const file = join(folder, 'demo.json')
  const proxy = await getPlatformProxy<Environment & Record<string, unknown>>({
    configPath: join(ROOT, 'wrangler.toml'),
    persist: { path: join(folder, 'v3') },
  })
  try {
    const [[first]] = await runBatch(proxy.env.DB, [provisioning.selectAnyOrganization], {})
    if (first && !existsSync(file)) return undefined
    const demo = first ? JSON.parse(readFileSync(file, 'utf8')) : await fill(proxy.env)
    mkdirSync(folder, { recursive: true })
    writeFileSync(file, `${JSON.stringify({ ...demo, baseUrl }, null, 2)}\n`, { mode: 0o600 })
    return { ...demo, baseUrl }
  } finally {
    await proxy.dispose()
  }
}

/** One ready-to-paste line for each of the seven operations. */
export function curlLines(demo: Demo): string[] {
  const [first] = demo.pins
  const last = demo.pins.at(-1)
  const placement = { target: { type: first?.resourceType, id: first?.resourceId }, position: 'before' }
  const line = (method: string, path: string, body?: object) =>
    [
      `curl -X ${method} '${demo.baseUrl}${path}' -H 'Authorization: Bearer ${demo.apiKey}'`,
      ...(body ? [`-H 'Content-Type: application/json' -d '${JSON.stringify(body)}'`] : []),
    ].join(' ')
  return [
    line('PATCH', `/v1/pins/${last?.resourceType}/${last?.resourceId}`, { placement }),
    line('POST', `/v1/projects/${demo.projectId}/schedules`, {
      cron: '30 9 * * mon-fri',
      timezone: 'Europe/Paris',
    }),
    line('POST', `/v1/agents/${demo.agentId}/schedules`, { cron: '0 6 * * *' }),
    line('GET', `/v1/sessions/${demo.sessionId}/files?limit=5`),
    line('GET', `/v1/skills/${demo.skillId}`),
    line('DELETE', `/v1/users/${demo.userId}/profile-picture`),
    line('DELETE', `/v1/projects/${demo.projectId}/environment-variables/${demo.environmentVariableKey}`),
  ]
}

type Write = { statement: Statement; values: Values }

async function fill(environment: Environment): Promise<Omit<Demo, 'baseUrl'>> {
  const acme = new Organization('Acme', 'ada', 'Ada Lovelace')
  const website = acme.add(provisioning.insertProject, { id: newUuid(), name: 'Website', archivedAt: null })
  const mobile = acme.add(provisioning.insertProject, {
    id: 'mobile-app',
    name: 'Mobile app',
    archivedAt: null,
  })
  const reviewer = acme.add(provisioning.insertAgent, { id: newUuid(), name: 'Reviewer', archivedAt: null })
  acme.add(provisioning.insertAgent, { id: newUuid(), name: 'Release manager', archivedAt: null })
  const checkout = acme.addSession(website, 'Rebuild the checkout')
  const flakyTest = acme.addSession(website, 'Find the flaky test')
  const applePay = acme.addPullRequest(website, 'Accept Apple Pay')
  const retries = acme.addPullRequest(website, 'Retry failed webhooks')
  acme.addSession(mobile, 'Update the icons')
  for (const path of FILE_PATHS) {
    acme.add(provisioning.insertSessionFile, {
      sessionId: checkout,
      id: newUuid(),
      path,
      updatedAt: acme.now,
    })
  }
  const skill = acme.addSkill('release-notes', 'Writes release notes from merged pull requests.', SKILL_FILES)
  const pins = [
    { resourceType: 'session', resourceId: checkout },
    { resourceType: 'project', resourceId: website },
    { resourceType: 'pull_request', resourceId: applePay },
    { resourceType: 'session', resourceId: flakyTest },
    { resourceType: 'pull_request', resourceId: retries },
  ]
  for (const [index, pin] of pins.entries()) {
    acme.write(provisioning.insertPin, { userId: 'ada', ...pin, position: (index + 1) * 2 ** 30 })
  }
  await acme.addVariable(website, 'DATABASE_URL', 'postgres://checkout:example@db.internal/shop', environment)
  const objectKey = `profile-pictures/${acme.id}/${newUuid()}`
  await environment.OBJECTS.put(objectKey, Buffer.from(PICTURE, 'base64'))
  acme.write(provisioning.insertProfilePicture, {
    userId: 'ada',
    objectKey,
    contentType: 'image/png',
    leaseExpiresAt: null,
    updatedAt: acme.now,
  })
  const apiKey = acme.addKey({ name: 'demo', userId: 'ada' })
  const serviceKey = acme.addKey({ name: 'demo service' })
  const limitedKey = acme.addKey({ name: 'demo limited', userId: 'ada', projectIds: [mobile] })

  const globex = new Organization('Globex', 'grace', 'Grace Hopper')
  const intranet = globex.add(provisioning.insertProject, {
    id: newUuid(),
    name: 'Intranet',
    archivedAt: null,
  })
  const otherOrganization = {
    apiKey: globex.addKey({ name: 'demo', userId: 'grace' }),
    userId: 'grace',
    projectId: intranet,
    agentId: globex.add(provisioning.insertAgent, { id: newUuid(), name: 'Librarian', archivedAt: null }),
    sessionId: globex.addSession(intranet, 'Archive the wiki'),
    skillId: globex.addSkill('summaries', 'Summarises long threads.', { 'SKILL.md': '# Summaries\n' }),
  }

  const writes = [...acme.writes, ...globex.writes]
  await environment.DB.batch(writes.map(({ statement, values }) => bind(environment.DB, statement, values)))
  return {
    apiKey,
    organizationId: acme.id,
    userId: 'ada',
    projectId: website,
    agentId: reviewer,
    sessionId: checkout,
    pullRequestId: applePay,
    skillId: skill,
    environmentVariableKey: 'DATABASE_URL',
    pins,
    serviceKey,
    limitedKey,
    otherOrganization,
  }
}

/** An organization in the making: what is to be written of it. */
class Organization {
  readonly id = newUuid()
  readonly now = new Date().toISOString()
  readonly writes: Write[] = []

  constructor(name: string, userId: string, userName: string) {
    this.write(provisioning.insertOrganization, { id: this.id, name })
    this.write(provisioning.insertUserIfMissing, { id: userId, name: userName })
  }

  write(statement: Statement, values: Values): void {
    this.writes.push({ statement, values: { organizationId: this.id, createdAt: this.now, ...values } })
  }

  /** @returns the id of the row. */
  add(statement: Statement, row: Values & { id: string }): string {
    this.write(statement, row)
    return row.id
  }

  addSession(projectId: string, title: string): string {
    return this.add(provisioning.insertSession, { id: newUuid(), projectId, title, deletedAt: null })
  }

  addPullRequest(projectId: string, title: string): string {
    return this.add(provisioning.insertPullRequest, { id: newUuid(), projectId, title })
  }

  addSkill(name: string, description: string, files: Readonly<Record<string, string>>): string {
    const id = newUuid()
    this.write(provisioning.insertSkill, { id, name, description, revision: newUuid(), updatedAt: this.now })
    for (const [filename, content] of Object.entries(files)) {
      this.write(provisioning.insertSkillFile, { skillId: id, id: newUuid(), filename, content })
    }
    return id
  }

  async addVariable(
    projectId: string,
    key: string,
    value: string,
    { ENCRYPTION_KEYS }: Environment,
  ): Promise<void> {
    const context = {
      purpose: 'environment-variable',
      organizationId: this.id,
      projectId,
      name: key,
    } as const
    const sealedValue = await seal(value, context, parseKeyRing(ENCRYPTION_KEYS ?? ''))
    this.write(provisioning.insertEnvironmentVariable, { projectId, key, sealedValue, updatedAt: this.now })
  }

  /** @returns the token. */
  addKey(key: { name: string; userId?: string; projectIds?: string[] }): string {
    const { token, row } = provisioning.mintApiKey({
      organizationId: this.id,
      scopes: SCOPES,
      createdAt: this.now,
      ...key,
    })
    this.write(provisioning.insertApiKey, row)
    return token
  }
}

/** The files of a session that rebuilds a checkout: 130 paths. */
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
      'biome.json',
      'LICENSE',
    ],
    [''],
  ),
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

1. Run \`scripts/merged.sh <last tag>\` to list what was merged since the last release.
2. Group the entries by \`references/sections.md\`.
3. Write one line for each change, for the people who use the product, from \`assets/template.md\`.
`,
  'assets/template.md': '# {{version}} ({{date}})\n\n## New\n\n## Changed\n\n## Fixed\n',
  'references/sections.md':
    '- New: what could not be done before.\n- Changed: what works another way now.\n- Fixed: what was wrong.\n',
  'scripts/merged.sh': '#!/bin/sh\nset -eu\ngit log --merges --format="%s (%h)" "$1"..HEAD\n',
}

/** A PNG of 32 by 32 pixels. */
const PICTURE =
  'iVBORw0KGgoAAAANSUhEUgAAACAAAAAgCAIAAAD8GO2jAAAAcUlEQVR42mN49OIDTRHDqAWjFoDRr2tLsSLqWIDLdCLtYKDEdGLsGFALiDGdoB2jFgxuC4Z+MqVHTqZHWTT0i2uv0EV4EEUW4DeaSGsYKDSaoDUM1DIdlx0MVDQdqx0M1DUd0w46WkAt09HsGLWAoAUAnNxjesfixoEAAAAASUVORK5CYII='
