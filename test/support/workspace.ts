/** Organizations for tests: each test makes its own, through the project's own statements. */
import { env } from 'cloudflare:workers'
import { and, eq } from 'drizzle-orm'
import { v7 as newUuid } from 'uuid'
import { SCOPES, type Scope } from '../../src/access/scopes.ts'
import { parseKeyRing } from '../../src/crypto/key-ring.ts'
import { seal } from '../../src/crypto/sealed-value.ts'
import type { apiKeys, schedules } from '../../src/db/schema.ts'
import {
  bind,
  compileUnguarded,
  query,
  runBatch,
  type Statement,
  type Values,
} from '../../src/db/statement.ts'
import * as provisioning from '../../src/provisioning.ts'

export type ResourceType = 'session' | 'pull_request' | 'project'

/** The tables whose rows tests change by id. */
type Identified = typeof apiKeys | typeof schedules

export interface KeyOptions {
  readonly scopes?: readonly Scope[]
  /** The user that the key acts as; null: none. The workspace's user if it is left out. */
  readonly userId?: string | null
  readonly projectIds?: readonly string[]
  readonly expiresAt?: string
}

export class Workspace {
  readonly organizationId = newUuid()
  readonly userId = newUuid()
  readonly #pinPositions = new Map<string, number>()

  /** An organization with one user. */
  static async create(): Promise<Workspace> {
    const workspace = new Workspace()
    await run(provisioning.insertOrganization, {
      id: workspace.organizationId,
      name: 'Acme',
      createdAt: now(),
    })
    await workspace.addUser(workspace.userId)
    return workspace
  }

  /** @returns the token of a new key; by default it has every scope and acts as the workspace's user. */
  async addKey(options: KeyOptions = {}): Promise<string> {
    return (await this.addKeyWithId(options)).token
  }

  async addKeyWithId({ scopes = SCOPES, userId, projectIds, expiresAt }: KeyOptions = {}) {
    const user = userId === undefined ? this.userId : userId
    const { token, row } = provisioning.mintApiKey({
      organizationId: this.organizationId,
      name: 'test',
      scopes,
      createdAt: now(),
      ...(user !== null && { userId: user }),
      ...(projectIds && { projectIds }),
      ...(expiresAt && { expiresAt }),
    })
    await run(provisioning.insertApiKey, row)
    return { token, id: row.id }
  }

  async revokeKey(id: string): Promise<void> {
    await this.#change(provisioning.revokeApiKey, id)
  }

  async addUser(id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertUser, { id, name: 'Ada' })
    return id
  }

  async addProject(id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertProject, { id, name: 'Website', archivedAt: null })
    return id
  }

  async archiveProject(id: string): Promise<void> {
    await this.#change(provisioning.archiveProject, id)
  }

  async addAgent(id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertAgent, { id, name: 'Reviewer', archivedAt: null })
    return id
  }

  async archiveAgent(id: string): Promise<void> {
    await this.#change(provisioning.archiveAgent, id)
  }

  async addSession(projectId: string, id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertSession, { id, projectId, title: 'Fix the login', deletedAt: null })
    return id
  }

  async deleteSession(id: string): Promise<void> {
    await this.#change(provisioning.deleteSession, id)
  }

  async addPullRequest(projectId: string, id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertPullRequest, { id, projectId, title: 'Fix the login' })
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
    await this.#insert(provisioning.insertPin, { userId, resourceType, resourceId, position })
  }

  /** @returns the user's pins in order, as `type/id`. */
  async pins(userId: string = this.userId): Promise<string[]> {
    const rows = await this.dump('pins')
    return rows
      .filter((row) => row.userId === userId)
      .sort((a, b) => Number(a.position) - Number(b.position))
      .map((row) => `${row.resourceType}/${row.resourceId}`)
  }

  /** @returns the file's id. */
  async addSessionFile(sessionId: string, path: string, id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertSessionFile, { sessionId, id, path, updatedAt: now() })
    return id
  }

  /** @returns the ids of `count` files, in order. */
  async addSessionFiles(sessionId: string, count: number): Promise<string[]> {
    const ids = Array.from({ length: count }, () => newUuid()).sort()
    const insert = (id: string, index: number) =>
      bind(env.DB, provisioning.insertSessionFile, {
        organizationId: this.organizationId,
        sessionId,
        id,
        path: `src/file-${index}.ts`,
        createdAt: now(),
        updatedAt: now(),
      })
    for (let start = 0; start < count; start += 100) {
      await env.DB.batch(ids.slice(start, start + 100).map((id, index) => insert(id, start + index)))
    }
    return ids
  }

  async deleteSessionFile(sessionId: string, id: string): Promise<void> {
    await this.#change(provisioning.deleteSessionFile, id, { sessionId })
  }

  /** @param files filename to content. @returns the skill's id. */
  async addSkill(files: Readonly<Record<string, string>>, id: string = newUuid()): Promise<string> {
    await this.#insert(provisioning.insertSkill, {
      id,
      name: 'release-notes',
      description: 'Writes release notes.',
      revision: newUuid(),
      updatedAt: now(),
    })
    for (const [filename, content] of Object.entries(files)) {
      await this.#insert(provisioning.insertSkillFile, { skillId: id, id: newUuid(), filename, content })
    }
    return id
  }

  async addVariable(projectId: string, key: string, value = 'secret'): Promise<void> {
    const { organizationId } = this
    const context = { purpose: 'environment-variable', organizationId, projectId, name: key } as const
    await this.#insert(provisioning.insertEnvironmentVariable, {
      projectId,
      key,
      sealedValue: await seal(value, context, parseKeyRing(env.ENCRYPTION_KEYS ?? '')),
      updatedAt: now(),
    })
  }

  /** Gives a user a picture. @returns the key of the object in R2. */
  async addPicture(userId: string = this.userId): Promise<string> {
    const objectKey = `profile-pictures/${this.organizationId}/${newUuid()}`
    await env.OBJECTS.put(objectKey, new Uint8Array([137, 80, 78, 71]))
    await this.#insert(provisioning.insertProfilePicture, {
      userId,
      objectKey,
      contentType: 'image/png',
      leaseExpiresAt: null,
      updatedAt: now(),
    })
    return objectKey
  }

  /** Begins an upload of a picture: its lease runs until `leaseExpiresAt`. */
  async leasePicture(leaseExpiresAt: string, userId: string = this.userId): Promise<void> {
    const { organizationId } = this
    await run(provisioning.leaseProfilePicture, { organizationId, userId, leaseExpiresAt, now: now() })
  }

  /** Changes columns of one row: a state that no statement of the project brings about yet. */
  async change(table: Identified, id: string, values: Values): Promise<void> {
    await run(compileUnguarded(query.update(table).set(values).where(this.#isNamed(table, id))), {})
  }

  /** Removes one row. */
  async remove(table: Identified, id: string): Promise<void> {
    await run(compileUnguarded(query.delete(table).where(this.#isNamed(table, id))), {})
  }

  #isNamed(table: Identified, id: string) {
    return and(eq(table.organizationId, this.organizationId), eq(table.id, id))
  }

  /** Every row of the organization in a table. */
  async dump(table: string): Promise<Record<string, unknown>[]> {
    const column = table === 'organizations' ? 'id' : 'organizationId'
    const { results } = await env.DB.prepare(`SELECT * FROM "${table}" WHERE "${column}" = ?`)
      .bind(this.organizationId)
      .all()
    return results
  }

  async #insert(statement: Statement, row: Values): Promise<void> {
    await run(statement, { organizationId: this.organizationId, createdAt: now(), ...row })
  }

  async #change(statement: Statement, id: string, more: Values = {}): Promise<void> {
    await run(statement, { organizationId: this.organizationId, id, now: now(), ...more })
  }
}

export function now(): string {
  return new Date().toISOString()
}

async function run(statement: Statement, values: Values): Promise<void> {
  await runBatch(env.DB, [statement], values)
}
