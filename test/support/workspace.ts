/** Organizations for tests: each test makes its own. Its rows are written as the operations write them. */

import { hash } from 'node:crypto'
import { and, eq, getTableColumns, getTableName, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { v7 as newUuid } from 'uuid'
import * as provisioning from '../../operate/provisioning.ts'
import { SEQUENCES_PER_MS } from '../../src/access/event-types.ts'
import { SCOPES, type Scope } from '../../src/access/scopes.ts'
import { nextRun } from '../../src/cron/next-run.ts'
import { parseKeyRing } from '../../src/crypto/key-ring.ts'
import { seal } from '../../src/crypto/sealed-value.ts'
import type { Values } from '../../src/db/parameters.ts'
import * as tables from '../../src/db/schema.ts'
import { bind, query, type Statement, unguarded } from '../../src/db/statement.ts'
import { COUNT_USAGE, type StoredQuota } from '../../src/db/usage.ts'
import { eventEndpointContext } from '../../src/resources/events/endpoints/sealed-context.ts'
import { createArchive } from '../../src/resources/skills/archive.ts'
import { readFiles, storedFiles, toContents } from '../../src/resources/skills/version.ts'
import { runEndpointContext } from '../../src/resources/work/run-endpoint/sealed-context.ts'
import { computeRunId } from '../../src/resources/work/run-id.ts'
import { mintSecret } from '../../src/webhooks/signature.ts'
import { databaseNumber, deployed, env } from './env.ts'
import { write, writeWaiting } from './set-up.ts'

const SKILL_DESCRIPTION = 'Writes release notes.'
const LONG_AGO = '2020-01-01T00:00:00.000Z'

export type ResourceType = 'session' | 'pull_request' | 'project'

/** A table whose rows tests change by id. */
type Identified = SQLiteTable & { organizationId: SQLiteColumn; id: SQLiteColumn }

export interface KeyOptions {
  readonly scopes?: readonly Scope[]
  /** The user that the key acts as; null: none. The workspace's user if it is left out. */
  readonly userId?: string | null
  readonly projectIds?: readonly string[]
  readonly expiresAt?: string
  /** The key that created it. */
  readonly createdByKeyId?: string
  readonly kind?: 'session' | 'grant'
  /** The identity of the person whose key it is. By default that of `signIn`, if it was called. */
  readonly identityId?: string
  /** The number of the database that its token names. */
  readonly database?: number
  /** The number of its live sessions. */
  readonly sessions?: number
}

export type Usage = { readonly organizationId: string } & Readonly<Record<StoredQuota, number>>

export class Workspace {
  readonly organizationId = newUuid()
  readonly userId: string
  /** An ID for something of the workspace. */
  readonly newId: () => string
  #identityId: string | null = null
  readonly #pinPositions = new Map<string, number>()
  /** The parents of the schedules that were added here. */
  readonly #parents = new Map<string, { parentType: string; parentId: string }>()

  private constructor(newId: () => string) {
    this.newId = newId
    this.userId = newId()
  }

  /** An organization with one user. @param newId of the user, and of what is added without an ID. */
  static async create(newId: () => string = newUuid): Promise<Workspace> {
    const workspace = new Workspace(newId)
    const organization = { id: workspace.organizationId, name: 'Acme', createdAt: now() }
    const times = { createdAt: now(), updatedAt: now(), revision: newUuid() }
    const user = { organizationId: workspace.organizationId, id: workspace.userId, name: 'Ada', ...times }
    await write(
      bind(env.DB, provisioning.insertOrganization, organization),
      bind(env.DB, inserting(tables.users), { ...nulls(tables.users), ...user }),
    )
    if (env.DATABASES > 1) {
      const place = { organizationId: workspace.organizationId, database: databaseNumber() }
      await bind(deployed(env).DB, provisioning.insertPlace, place).run()
    }
    return workspace
  }

  /** @returns the token of a new key; by default it has every scope and acts as the workspace's user. */
  async addKey(options: KeyOptions = {}): Promise<string> {
    return (await this.addKeyWithId(options)).token
  }

  async addKeyWithId(options: KeyOptions = {}) {
    const {
      scopes = SCOPES,
      userId,
      projectIds,
      expiresAt,
      createdByKeyId = null,
      identityId = this.#identityId,
      kind,
      sessions = 0,
    } = options
    const user = userId === undefined ? this.userId : userId
    const { token, row } = await provisioning.mintApiKey(
      {
        organizationId: this.organizationId,
        name: 'test',
        scopes,
        createdAt: now(),
        ...(user !== null && { userId: user }),
        ...(projectIds && { projectIds }),
        ...(expiresAt && { expiresAt }),
      },
      options.database ?? databaseNumber(),
    )
    await write(bind(env.DB, provisioning.insertApiKey, { ...row, createdByKeyId, identityId }))
    if (kind) await this.change(tables.apiKeys, row.id, { kind })
    const session = {
      kind: 'session',
      expiresAt: '2999-01-01T00:00:00.000Z',
      createdByKeyId: row.id,
    } as const
    for (let count = 0; count < sessions; count++) await this.addKeyWithId({ ...options, ...session, sessions: 0 })
    return { token, id: row.id }
  }

  /** A sign-in rule for everyone of an issuer of its own. */
  async addSignInRule(values: Partial<(typeof tables.signInRules)['$inferSelect']> = {}): Promise<string> {
    const id = this.newId()
    const rule = { issuer: 'https://login.example.com', claim: 'groups', value: 'engineers', role: 'member' }
    await this.#insert(tables.signInRules, { id, ...rule, ...values })
    return id
  }

  /** An invitation of somebody new. */
  async addInvitation(values: Partial<(typeof tables.invitations)['$inferSelect']> = {}): Promise<string> {
    const id = values.id ?? this.newId()
    const invitation = {
      issuer: 'https://login.example.com',
      email: `${id}@example.com`,
      role: 'viewer',
      expiresAt: '2999-01-01T00:00:00.000Z',
    }
    await this.#insert(tables.invitations, { ...invitation, ...values, id })
    return id
  }

  /** A person who signed in, and is a new user. */
  async addIdentity(values: Partial<(typeof tables.identities)['$inferSelect']> = {}): Promise<string> {
    const id = this.newId()
    const userId = values.userId ?? (await this.addUser())
    const person = {
      issuer: 'https://login.example.com',
      subject: this.newId(),
      role: 'member',
      ruleIds: '[]',
      lastSignInAt: now(),
    }
    await this.#insert(tables.identities, { id, ...person, ...values, userId })
    return id
  }

  /** Makes the user a person who signed in: the keys that are added from now on are theirs. */
  async signIn(): Promise<void> {
    this.#identityId = await this.addIdentity({ userId: this.userId })
  }

  async revokeKey(id: string): Promise<void> {
    await this.change(tables.apiKeys, id, { revokedAt: now() })
  }

  async addUser(id: string = this.newId()): Promise<string> {
    await this.#insert(tables.users, { id, name: 'Ada' })
    return id
  }

  async addProject(id: string = this.newId()): Promise<string> {
    await this.#insert(tables.projects, { id, name: 'Website' })
    return id
  }

  async archiveProject(id: string): Promise<void> {
    await this.change(tables.projects, id, { archivedAt: now() })
  }

  async addAgent(id: string = this.newId()): Promise<string> {
    await this.#insert(tables.agents, { id, name: 'Reviewer' })
    return id
  }

  async archiveAgent(id: string): Promise<void> {
    await this.change(tables.agents, id, { archivedAt: now() })
  }

  async addSession(projectId: string, id: string = this.newId()): Promise<string> {
    await this.#insert(tables.sessions, { id, projectId, name: 'Fix the login' })
    return id
  }

  async deleteSession(id: string): Promise<void> {
    await this.delete('session', id)
  }

  /** True if there is one with this id. */
  async has(type: keyof typeof TABLES, id: string): Promise<boolean> {
    return (await this.dump(getTableName(TABLES[type]))).some((row) => row.id === id)
  }

  /** Deletes something so that it can be restored. @returns the ID of the deletion. */
  async deleteForNow(type: keyof typeof TABLES, id: string): Promise<string> {
    const [row] = (await this.dump(getTableName(TABLES[type]))).filter((each) => each.id === id)
    const ofParent = type === 'schedule' ? { [`${row?.parentType}Id`]: row?.parentId as string } : {}
    const deletionId = this.newId()
    await this.remove(TABLES[type], id)
    await this.#insert(tables.deletions, {
      resourceType: type,
      resourceId: id,
      projectId: type === 'project' ? id : ((row?.projectId as string | undefined) ?? null),
      ...ofParent,
      deletedAt: now(),
      finalAt: '2999-01-01T00:00:00.000Z',
      id: deletionId,
      row: JSON.stringify(row),
    })
    return deletionId
  }

  /** Deletes something for good, as its operation does with UNDO_DAYS 0: what hung on it stays until the purge. */
  async delete(type: keyof typeof TABLES, id: string): Promise<void> {
    const [row] = (await this.dump(getTableName(TABLES[type]))).filter((each) => each.id === id)
    await this.remove(TABLES[type], id)
    await this.#insert(tables.deletions, {
      resourceType: type,
      resourceId: id,
      projectId: (row?.projectId as string | undefined) ?? null,
      deletedAt: now(),
      finalAt: now(),
    })
    if (type !== 'user') return
    for (const key of await this.dump('apiKeys')) {
      if (key.userId === id) await this.revokeKey(String(key.id))
    }
  }

  /** Makes every deletion final, as if UNDO_DAYS were over. */
  async endUndo(): Promise<void> {
    const { organizationId } = tables.deletions
    await write(
      bound(query.update(tables.deletions).set({ finalAt: LONG_AGO }).where(eq(organizationId, this.organizationId))),
    )
  }

  async addPullRequest(projectId: string, id: string = this.newId()): Promise<string> {
    await this.#insert(tables.pullRequests, { id, projectId, name: 'Fix the login' })
    return id
  }

  /** Adds a resource of the type in the project (or the project itself). @returns its id. */
  async addResource(type: ResourceType, projectId: string): Promise<string> {
    if (type === 'session') return this.addSession(projectId)
    if (type === 'pull_request') return this.addPullRequest(projectId)
    return this.addProject()
  }

  /** Pins a resource at the end of a user's list. */
  async pin(resourceType: ResourceType, resourceId: string, userId: string = this.userId): Promise<void> {
    const position = (this.#pinPositions.get(userId) ?? 0) + 2 ** 30
    this.#pinPositions.set(userId, position)
    await this.pinAt(position, resourceType, resourceId, userId)
  }

  /** Pins a resource at a position of its own. */
  async pinAt(
    position: number,
    resourceType: ResourceType,
    resourceId: string,
    userId: string = this.userId,
  ): Promise<void> {
    await this.#insert(tables.pins, { userId, resourceType, resourceId, position })
  }

  /** @returns the user's pins in order, as `type/id`. */
  async pins(userId: string = this.userId): Promise<string[]> {
    const rows = await this.dump('pins')
    return rows
      .filter((row) => row.userId === userId)
      .sort((a, b) => Number(a.position) - Number(b.position))
      .map((row) => `${row.resourceType}/${row.resourceId}`)
  }

  /** Adds a file with a content. @returns the file's id. */
  async addSessionFile(
    sessionId: string,
    path: string,
    id: string = this.newId(),
    content = `The content of ${path}`,
  ): Promise<string> {
    const objectKey = `session-files/${this.organizationId}/${newUuid()}`
    await env.OBJECTS.put(objectKey, content)
    await this.#insert(tables.sessionFiles, {
      sessionId,
      id,
      path,
      objectKey,
      sizeBytes: new TextEncoder().encode(content).byteLength,
      sha256: hash('sha256', content),
    })
    return id
  }

  /** Adds files without their contents. @returns the ids of `count` files, in order. */
  async addSessionFiles(sessionId: string, count: number): Promise<string[]> {
    return this.#insertMany(tables.sessionFiles, count, (id, index) => ({
      sessionId,
      path: `src/file-${index}.ts`,
      objectKey: `session-files/${this.organizationId}/${id}`,
      sizeBytes: 0,
      sha256: hash('sha256', ''),
    }))
  }

  /** Adds skills without a version. */
  async addSkills(count: number): Promise<void> {
    await this.#insertMany(tables.skills, count, (id) => ({
      name: `skill-${id}`,
      description: SKILL_DESCRIPTION,
      version: 1,
      latestVersion: 1,
    }))
  }

  async deleteSessionFile(id: string): Promise<void> {
    await this.remove(tables.sessionFiles, id)
  }

  /** @param files filename to content. @returns the skill's id. */
  async addSkill(
    files: Readonly<Record<string, string>>,
    id: string = this.newId(),
    name = `skill-${this.newId()}`,
  ): Promise<string> {
    await this.#insert(tables.skills, {
      id,
      name,
      description: SKILL_DESCRIPTION,
      version: 1,
      latestVersion: 0,
    })
    await this.#addVersion(id, files, name, 1, [])
    return id
  }

  /** Adds a version that is not published. @param files filename to content. */
  async addSkillVersion(
    id: string,
    files: Readonly<Record<string, string>>,
    name = `skill-${this.newId()}`,
  ): Promise<void> {
    const [skills = [], contents = []] = await this.dumpAll(['skills', 'skillContents'])
    const { latestVersion } = skills.find((row) => row.id === id) ?? {}
    const stored = contents.filter(({ skillId }) => skillId === id).map((row) => String(row.sha256))
    await this.#addVersion(id, files, name, Number(latestVersion) + 1, stored)
  }

  /** @param stored the SHA-256 digests of the contents that the skill has. */
  async #addVersion(
    id: string,
    files: Readonly<Record<string, string>>,
    name: string,
    version: number,
    stored: readonly string[],
  ): Promise<void> {
    const read = await readFiles(Object.entries(files).map(([filename, content]) => ({ filename, content })))
    const archive = await createArchive(read)
    const objectKey = `skills/${this.organizationId}/${newUuid()}`
    await env.OBJECTS.put(objectKey, archive)
    await this.change(tables.skills, id, { latestVersion: version })
    await this.#insert(tables.skillVersions, {
      skillId: id,
      version,
      name,
      description: SKILL_DESCRIPTION,
      digest: hash('sha256', archive),
      objectKey,
      archiveBytes: archive.byteLength,
      files: storedFiles(id, read),
      apiKeyId: newUuid(),
    })
    for (const { sha256, content } of toContents(read)) {
      if (stored.includes(sha256)) continue
      await this.#insert(tables.skillContents, { skillId: id, sha256, content })
    }
  }

  /** Adds a feed of all skills. @param apiKeyId the key that it ends with. @returns its id. */
  async addSkillFeed(apiKeyId: string = newUuid()): Promise<string> {
    const id = newUuid()
    await this.#insert(tables.skillFeeds, { id, hash: hash('sha256', id), name: 'Laptops', apiKeyId })
    return id
  }

  /** @returns the id of a schedule that is enabled. */
  async addSchedule(
    parentType: 'project' | 'agent',
    parentId: string,
    {
      cron = '0 6 * * *',
      timezone = 'UTC',
      id = this.newId(),
      ...values
    }: Partial<Record<string, string | number | null>> & Partial<Record<'cron' | 'timezone' | 'id', string>> = {},
  ): Promise<string> {
    this.#parents.set(id, { parentType, parentId })
    await this.#insert(tables.schedules, {
      parentType,
      parentId,
      id,
      cron,
      timezone,
      overlap: 'allow',
      enabledAt: now(),
      nextRunAt: nextRun(cron, timezone, new Date()).toISOString(),
      ...(values as Values),
    })
    return id
  }

  async deleteSchedule(id: string): Promise<void> {
    await this.delete('schedule', id)
  }

  /** Adds a run of a schedule, pending if nothing else is said. @returns its id. */
  async addRun(scheduleId: string, values: Values = {}): Promise<string> {
    const parent = this.#parents.get(scheduleId) ?? (await this.dump('schedules')).find(({ id }) => id === scheduleId)
    const scheduledAt = String(values.scheduledAt ?? now())
    const id = computeRunId(scheduleId, scheduledAt)
    await this.#insert(tables.runs, {
      scheduleId,
      scheduledAt,
      id,
      parentType: String(parent?.parentType),
      parentId: String(parent?.parentId),
      status: 'pending',
      attempts: 0,
      createdAt: scheduledAt,
      ...values,
    })
    return id
  }

  /** Adds an event of a project for each time, in this order. @returns their IDs. */
  async addEvents(times: readonly string[], valuesOf: (index: number) => Values = () => ({})): Promise<string[]> {
    const ids = times.map(() => newUuid())
    let last = 0
    const rows = times.map((time, index) => {
      last = Math.max(Date.parse(time) * SEQUENCES_PER_MS, last + 1)
      const values = { id: ids[index], type: 'project.updated', resourceId: 'website', projectId: 'website' }
      return { ...nulls(tables.auditEvents), sequence: last, ...values, ...valuesOf(index) }
    })
    const columns = Object.keys(nulls(tables.auditEvents)).filter((name) => name !== 'organizationId')
    const inserted = columns.map((name) => `value ->> '${name}'`).join()
    const sql = `INSERT INTO "auditEvents" ("organizationId", ${columns.map((name) => `"${name}"`).join()})
      SELECT ?1, ${inserted} FROM json_each(?2)`
    for (let start = 0; start < rows.length; start += 1000)
      await write(env.DB.prepare(sql).bind(this.organizationId, JSON.stringify(rows.slice(start, start + 1000))))
    return ids
  }

  async changeRun(id: string, values: Values): Promise<void> {
    await this.change(tables.runs, id, values)
  }

  /** Sets the run endpoint, as if before any run was made. @returns its secret. */
  async addRunEndpoint(url = 'https://hooks.example.com/runs'): Promise<string> {
    const { organizationId } = this
    const secret = mintSecret()
    const ring = parseKeyRing(env.ENCRYPTION_KEYS ?? '')
    const sealedSecret = await seal(secret, runEndpointContext(organizationId), ring)
    await this.removeRunEndpoint()
    await this.#insert(tables.runEndpoints, { url, sealedSecret, createdAt: LONG_AGO })
    return secret
  }

  async removeRunEndpoint(): Promise<void> {
    await write(
      bound(query.delete(tables.runEndpoints).where(eq(tables.runEndpoints.organizationId, this.organizationId))),
    )
  }

  /** Adds an event endpoint that has delivered what happened before. @returns its ID and its secret. */
  async addEventEndpoint({ url = 'https://hooks.example.com/events', ...values }: Values & { url?: string } = {}) {
    const { organizationId } = this
    const id = this.newId()
    const secret = mintSecret()
    const ring = parseKeyRing(env.ENCRYPTION_KEYS ?? '')
    await this.#insert(tables.eventEndpoints, {
      id,
      format: 'standard',
      sealedUrl: await seal(url, eventEndpointContext(organizationId, id, 'url'), ring),
      url: `${new URL(url).host}…${url.slice(-4)}`,
      sealedSecret:
        values.format === 'text' ? null : await seal(secret, eventEndpointContext(organizationId, id, 'secret'), ring),
      batch: 1,
      deliveredSequence: 0,
      failures: 0,
      ...values,
    })
    return { id, secret }
  }

  async addVariable(projectId: string, key: string, value = 'secret'): Promise<void> {
    const { organizationId } = this
    const context = { purpose: 'environment-variable', organizationId, projectId, name: key } as const
    await this.#insert(tables.environmentVariables, {
      projectId,
      key,
      sealedValue: await seal(value, context, parseKeyRing(env.ENCRYPTION_KEYS ?? '')),
    })
  }

  /** Gives a user a picture. @returns the key of the object in R2. */
  async addPicture(userId: string = this.userId): Promise<string> {
    const objectKey = `profile-pictures/${this.organizationId}/${newUuid()}`
    await env.OBJECTS.put(objectKey, new Uint8Array([137, 80, 78, 71]))
    await write(bound(query.delete(tables.profilePictures).where(this.#isPictureOf(userId))))
    await this.#insert(tables.profilePictures, { userId, objectKey, contentType: 'image/png' })
    return objectKey
  }

  /** Begins an upload of a picture: its lease runs until `leaseExpiresAt`. @returns the key of the object. */
  async leasePicture(leaseExpiresAt: string, userId: string = this.userId): Promise<string> {
    const uploadingObjectKey = `profile-pictures/${this.organizationId}/${newUuid()}`
    const lease = { uploadingObjectKey, leaseExpiresAt }
    const isThere = (await this.dump('profilePictures')).some((row) => row.userId === userId)
    if (isThere) await write(bound(query.update(tables.profilePictures).set(lease).where(this.#isPictureOf(userId))))
    else await this.#insert(tables.profilePictures, { userId, ...lease })
    return uploadingObjectKey
  }

  /** Changes columns of one row. */
  async change(table: Identified, id: string, values: Values): Promise<void> {
    await write(bound(query.update(table).set(values).where(this.#isNamed(table, id))))
  }

  /** Removes one row. */
  async remove(table: Identified, id: string): Promise<void> {
    await write(bound(query.delete(table).where(this.#isNamed(table, id))))
  }

  #isPictureOf(userId: string) {
    const { profilePictures } = tables
    return and(eq(profilePictures.organizationId, this.organizationId), eq(profilePictures.userId, userId))
  }

  #isNamed(table: Identified, id: string) {
    return and(eq(table.organizationId, this.organizationId), eq(table.id, id))
  }

  /** Every row of the organization in a table. */
  async dump(table: string): Promise<Record<string, unknown>[]> {
    const [rows = []] = await this.dumpAll([table])
    return rows
  }

  /** Every row of the organization in each of the tables. */
  async dumpAll(tables: readonly string[]): Promise<Record<string, unknown>[][]> {
    const select = (table: string) => {
      const column = table === 'organizations' ? 'id' : 'organizationId'
      return env.DB.prepare(`SELECT * FROM "${table}" WHERE "${column}" = ?`).bind(this.organizationId)
    }
    await writeWaiting()
    const results = await env.DB.batch<Record<string, unknown>>(tables.map(select))
    return results.map(({ results: rows }) => rows)
  }

  /** What it has of each quota, as the triggers keep it. */
  async usage(): Promise<Usage | undefined> {
    const [usage] = await this.dump('organizationUsage')
    return usage as Usage | undefined
  }

  /** The same, counted from its rows. */
  async countedUsage(): Promise<Usage | null> {
    await writeWaiting()
    return env.DB.prepare(`${COUNT_USAGE} WHERE "id" = ?`).bind(this.organizationId).first()
  }

  /** Inserts a row of the organization: null where no value is given, but a time and a revision where they are due. */
  async #insert(table: SQLiteTable, row: Values): Promise<void> {
    await write(bind(env.DB, inserting(table), this.#rowOf(table, row)))
  }

  /** @returns the IDs of the rows, in order. */
  async #insertMany(
    table: SQLiteTable,
    count: number,
    rowOf: (id: string, index: number) => Values,
  ): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newUuid()).sort()
    const inserts = ids.map((id, index) =>
      bind(env.DB, inserting(table), this.#rowOf(table, { id, ...rowOf(id, index) })),
    )
    while (inserts.length > 0) await write(...inserts.splice(0, 100))
    return ids
  }

  #rowOf(table: SQLiteTable, row: Values): Values {
    const defaults = { createdAt: now(), updatedAt: now(), revision: newUuid() }
    return { ...nulls(table), organizationId: this.organizationId, ...defaults, ...row }
  }
}

/** What can be deleted so that its id is never used again. */
const TABLES = {
  project: tables.projects,
  agent: tables.agents,
  session: tables.sessions,
  pull_request: tables.pullRequests,
  user: tables.users,
  schedule: tables.schedules,
  skill: tables.skills,
}

const insertions = new Map<SQLiteTable, Statement>()

/** The statement that inserts a whole row: it is bound with a value for every column. */
function inserting(table: SQLiteTable): Statement {
  const columns = Object.keys(getTableColumns(table))
  const placeholders = columns.map((column) => [column, sql.placeholder(column)])
  const statement =
    insertions.get(table) ?? unguarded({}, () => query.insert(table).values(Object.fromEntries(placeholders)))
  insertions.set(table, statement)
  return statement
}

function nulls(table: SQLiteTable): Values {
  return Object.fromEntries(Object.keys(getTableColumns(table)).map((column) => [column, null]))
}

export function now(): string {
  return new Date().toISOString()
}

function bound(statement: ReturnType<Parameters<typeof unguarded>[1]>): D1PreparedStatement {
  return bind(
    env.DB,
    unguarded({}, () => statement),
    {},
  )
}
