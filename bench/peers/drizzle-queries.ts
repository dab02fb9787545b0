/** What peer (a) asks of D1, as one writes it with Drizzle: a query, a check, the next query. */
import { Cron } from 'croner'
import { and, asc, eq, gt, sql } from 'drizzle-orm'
import type { DrizzleD1Database } from 'drizzle-orm/d1'
import { HTTPException } from 'hono/http-exception'
import { v7 as newUuid } from 'uuid'
import {
  agents,
  apiKeys,
  environmentVariables,
  orphanedObjects,
  pins,
  profilePictures,
  projects,
  pullRequests,
  schedules,
  sessionFiles,
  sessions,
  skillContents,
  skills,
  skillVersions,
  users,
} from '../../src/db/schema.ts'

export interface Bindings {
  readonly DB: D1Database
  readonly PIN_LIMIT?: string
  readonly SCHEDULE_LIMIT?: string
}

/** Whom a key acts for. */
export interface Caller {
  readonly organizationId: string
  readonly userId: string | null
  readonly scopes: readonly string[]
  /** Null: all projects. */
  readonly projectIds: readonly string[] | null
}

const HOUR_MS = 3_600_000

/** At the end of a token. The hash does not include it. */
const CHECKSUM_LENGTH = 6

/** Undefined if there is no such key, or it is revoked or expired. */
export async function findCaller(db: DrizzleD1Database, token: string): Promise<Caller | undefined> {
  const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(token.slice(0, -CHECKSUM_LENGTH)))
  const key = await db
    .select({
      organizationId: apiKeys.organizationId,
      userId: apiKeys.userId,
      scopes: apiKeys.scopes,
      projectIds: apiKeys.projectIds,
      expiresAt: apiKeys.expiresAt,
      revokedAt: apiKeys.revokedAt,
    })
    .from(apiKeys)
    .where(eq(apiKeys.hash, Buffer.from(digest).toString('hex')))
    .get()
  if (!key || key.revokedAt) return undefined
  if (key.expiresAt && key.expiresAt <= new Date().toISOString()) return undefined
  return {
    organizationId: key.organizationId,
    userId: key.userId,
    scopes: JSON.parse(key.scopes),
    projectIds: key.projectIds && JSON.parse(key.projectIds),
  }
}

export type ResourceType = 'session' | 'pull_request' | 'project'

export interface Placement {
  readonly target: { readonly type: ResourceType; readonly id: string }
  readonly position: 'before' | 'after'
}

const GAP = 2 ** 30

/** @returns true if the order changed. */
export async function placePin(
  db: DrizzleD1Database,
  caller: Caller,
  resource: { readonly type: ResourceType; readonly id: string },
  { target, position }: Placement,
  pinLimit: number,
): Promise<boolean> {
  const { organizationId } = caller
  const userId = requireUser(caller)
  const projectId = await findProjectOf(db, organizationId, resource)
  if (projectId === undefined || !isAccessible(caller, projectId)) {
    throw new HTTPException(404, { message: `resourceId: there is no ${resource.type} with this id` })
  }

  const isCallers = and(eq(pins.organizationId, organizationId), eq(pins.userId, userId))
  const list = await db
    .select({ type: pins.resourceType, id: pins.resourceId, position: pins.position })
    .from(pins)
    .where(isCallers)
    .orderBy(asc(pins.position))
  const indexOf = ({ type, id }: Placement['target']) => list.findIndex((pin) => pin.type === type && pin.id === id)
  const [own, targetIndex] = [indexOf(resource), indexOf(target)]
  if (targetIndex < 0) {
    throw new HTTPException(404, {
      message: `placement.target: there is no pin of a ${target.type} with this id`,
    })
  }
  if (own < 0 && list.length >= pinLimit) {
    throw new HTTPException(409, { message: `You have ${pinLimit} pins: unpin something first` })
  }

  const step = position === 'before' ? -1 : 1
  if (own >= 0 && (own === targetIndex || own === targetIndex + step)) return false
  let [here, beside] = [list[targetIndex]?.position ?? 0, list[targetIndex + step]?.position]
  if (beside !== undefined && Math.abs(beside - here) < 2) {
    await renumber(db, organizationId, userId)
    here = (targetIndex + 1) * GAP
    beside = here + step * GAP
  }
  const place = beside === undefined ? here + step * GAP : Math.floor((here + beside) / 2)
  await db
    .insert(pins)
    .values({
      organizationId,
      userId,
      resourceType: resource.type,
      resourceId: resource.id,
      position: place,
      createdAt: new Date().toISOString(),
    })
    .onConflictDoUpdate({
      target: [pins.organizationId, pins.userId, pins.resourceType, pins.resourceId],
      set: { position: place },
    })
  return true
}

async function renumber(db: DrizzleD1Database, organizationId: string, userId: string): Promise<void> {
  const isCallers = and(eq(pins.organizationId, organizationId), eq(pins.userId, userId))
  const ranked = db
    .select({
      resourceType: pins.resourceType,
      resourceId: pins.resourceId,
      rank: sql<number>`row_number() over (order by ${pins.position})`.as('rank'),
    })
    .from(pins)
    .where(isCallers)
    .as('ranked')
  await db
    .update(pins)
    .set({ position: sql`${ranked.rank} * ${GAP}` })
    .from(ranked)
    .where(and(isCallers, eq(pins.resourceType, ranked.resourceType), eq(pins.resourceId, ranked.resourceId)))
}

/** The project of a resource, or undefined if there is no such resource. */
async function findProjectOf(
  db: DrizzleD1Database,
  organizationId: string,
  { type, id }: Placement['target'],
): Promise<string | undefined> {
  if (type === 'session') {
    const session = await db
      .select({ projectId: sessions.projectId })
      .from(sessions)
      .where(and(eq(sessions.organizationId, organizationId), eq(sessions.id, id)))
      .get()
    return session?.projectId
  }
  if (type === 'pull_request') {
    const pullRequest = await db
      .select({ projectId: pullRequests.projectId })
      .from(pullRequests)
      .where(and(eq(pullRequests.organizationId, organizationId), eq(pullRequests.id, id)))
      .get()
    return pullRequest?.projectId
  }
  return (await findProject(db, organizationId, id))?.id
}

export interface NewSchedule {
  readonly cron: string
  readonly timezone: string
}

export async function createProjectSchedule(
  db: DrizzleD1Database,
  caller: Caller,
  projectId: string,
  schedule: NewSchedule,
  scheduleLimit: number,
) {
  const nextRunAt = nextRun(schedule)
  const project = await findProject(db, caller.organizationId, projectId)
  requireProject(caller, project)
  const created = await insertSchedule(db, caller, 'project', projectId, schedule, nextRunAt, scheduleLimit)
  const { id, cron, timezone, ...times } = created
  return { id, projectId, cron, timezone, ...times }
}

export async function createAgentSchedule(
  db: DrizzleD1Database,
  caller: Caller,
  agentId: string,
  cron: string,
  scheduleLimit: number,
) {
  const schedule = { cron, timezone: 'UTC' }
  const nextRunAt = nextRun(schedule)
  const agent = await db
    .select({ archivedAt: agents.archivedAt })
    .from(agents)
    .where(and(eq(agents.organizationId, caller.organizationId), eq(agents.id, agentId)))
    .get()
  if (!agent) throw new HTTPException(404, { message: 'agentId: there is no agent with this id' })
  if (agent.archivedAt) throw new HTTPException(409, { message: 'The agent is archived: unarchive it first' })
  const created = await insertSchedule(db, caller, 'agent', agentId, schedule, nextRunAt, scheduleLimit)
  const { id, timezone: _, ...rest } = created
  return { id, agentId, ...rest }
}

async function insertSchedule(
  db: DrizzleD1Database,
  { organizationId }: Caller,
  parentType: 'project' | 'agent',
  parentId: string,
  schedule: NewSchedule,
  nextRunAt: string,
  scheduleLimit: number,
) {
  const isSibling = and(
    eq(schedules.organizationId, organizationId),
    eq(schedules.parentType, parentType),
    eq(schedules.parentId, parentId),
  )
  if ((await db.$count(schedules, isSibling)) >= scheduleLimit) {
    throw new HTTPException(409, {
      message: `The ${parentType} has ${scheduleLimit} schedules: delete one first`,
    })
  }
  const now = new Date().toISOString()
  return await db
    .insert(schedules)
    .values({
      organizationId,
      parentType,
      parentId,
      id: newUuid(),
      ...schedule,
      enabledAt: now,
      nextRunAt,
      createdAt: now,
      updatedAt: now,
    })
    .returning({
      id: schedules.id,
      cron: sql<string>`${schedules.cron}`,
      timezone: schedules.timezone,
      enabledAt: schedules.enabledAt,
      lastRunAt: schedules.lastRunAt,
      nextRunAt: schedules.nextRunAt,
      createdAt: schedules.createdAt,
      updatedAt: schedules.updatedAt,
    })
    .get()
}

function nextRun({ cron, timezone }: NewSchedule): string {
  let next: Date | null
  try {
    next = new Cron(cron, { timezone, mode: '5-part' }).nextRun()
  } catch (cause) {
    throw new HTTPException(400, { message: 'cron or timezone: expected valid ones', cause })
  }
  if (!next) throw new HTTPException(400, { message: 'cron: it never fires' })
  return next.toISOString()
}

export async function listSessionFiles(
  db: DrizzleD1Database,
  caller: Caller,
  sessionId: string,
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
) {
  const { organizationId } = caller
  const session = await db
    .select({ projectId: sessions.projectId })
    .from(sessions)
    .where(and(eq(sessions.organizationId, organizationId), eq(sessions.id, sessionId)))
    .get()
  if (!session) throw new HTTPException(404, { message: 'sessionId: there is no session with this id' })
  if (!isAccessible(caller, session.projectId)) throw outOfReach()

  if (cursor) {
    const file = await db
      .select({ sessionId: sessionFiles.sessionId })
      .from(sessionFiles)
      .where(and(eq(sessionFiles.organizationId, organizationId), eq(sessionFiles.id, cursor)))
      .get()
    if (file && file.sessionId !== sessionId) {
      throw new HTTPException(409, { message: 'cursor: it is a file of another session' })
    }
  }

  const rows = await db
    .select({
      id: sessionFiles.id,
      sessionId: sessionFiles.sessionId,
      path: sessionFiles.path,
      createdAt: sessionFiles.createdAt,
      updatedAt: sessionFiles.updatedAt,
    })
    .from(sessionFiles)
    .where(
      and(
        eq(sessionFiles.organizationId, organizationId),
        eq(sessionFiles.sessionId, sessionId),
        cursor ? gt(sessionFiles.id, cursor) : undefined,
      ),
    )
    .orderBy(asc(sessionFiles.id))
    .limit(limit + 1)
  const items = rows.slice(0, limit)
  return { items, nextCursor: rows.length > limit ? (items.at(-1)?.id ?? null) : null }
}

export async function retrieveSkill(db: DrizzleD1Database, { organizationId }: Caller, skillId: string) {
  const skill = await db
    .select({
      id: skills.id,
      name: skills.name,
      description: skills.description,
      createdAt: skills.createdAt,
      updatedAt: skills.updatedAt,
    })
    .from(skills)
    .where(and(eq(skills.organizationId, organizationId), eq(skills.id, skillId)))
    .get()
  if (!skill) throw new HTTPException(404, { message: 'skillId: there is no skill with this id' })
  const files = await db
    .select({
      id: sql<string>`"file".value ->> 'id'`,
      filename: sql<string>`"file".value ->> 'filename'`,
      content: sql<string>`case "file".value ->> 'encoding' when 'base64'
        then 'data:application/octet-stream;base64,' else '' end || ${skillContents.content}`,
    })
    .from(skills)
    .innerJoin(
      skillVersions,
      and(
        eq(skillVersions.organizationId, skills.organizationId),
        eq(skillVersions.skillId, skills.id),
        eq(skillVersions.version, skills.version),
      ),
    )
    .innerJoin(sql`json_each(${skillVersions.files}) as "file"`, sql`true`)
    .innerJoin(
      skillContents,
      and(
        eq(skillContents.organizationId, skills.organizationId),
        eq(skillContents.skillId, skills.id),
        sql`${skillContents.sha256} = "file".value ->> 'sha256'`,
      ),
    )
    .where(and(eq(skills.organizationId, organizationId), eq(skills.id, skillId)))
    .orderBy(sql`"file".key`)
  return { ...skill, files }
}

/** The object itself is left to the sweep. */
export async function deleteProfilePicture(db: DrizzleD1Database, caller: Caller, userId: string): Promise<void> {
  const { organizationId } = caller
  const callerUserId = requireUser(caller)
  const user = await db
    .select({ id: users.id })
    .from(users)
    .where(and(eq(users.organizationId, organizationId), eq(users.id, userId)))
    .get()
  if (!user) throw new HTTPException(404, { message: 'userId: there is no user with this id' })
  if (user.id !== callerUserId) {
    throw new HTTPException(403, { message: 'userId: you can delete your own profile picture only' })
  }

  const isPicture = and(eq(profilePictures.organizationId, organizationId), eq(profilePictures.userId, userId))
  const picture = await db
    .select({ objectKey: profilePictures.objectKey, leaseExpiresAt: profilePictures.leaseExpiresAt })
    .from(profilePictures)
    .where(isPicture)
    .get()
  if (!picture) return
  if (picture.leaseExpiresAt && picture.leaseExpiresAt > new Date().toISOString()) {
    throw new HTTPException(409, { message: 'An upload of a new picture is under way' })
  }
  if (picture.objectKey) {
    const deleteAfter = new Date(Date.now() + HOUR_MS).toISOString()
    await db.insert(orphanedObjects).values({ objectKey: picture.objectKey, deleteAfter }).onConflictDoNothing()
  }
  await db.delete(profilePictures).where(isPicture)
}

export async function deleteEnvironmentVariable(
  db: DrizzleD1Database,
  caller: Caller,
  projectId: string,
  key: string,
): Promise<void> {
  requireProject(caller, await findProject(db, caller.organizationId, projectId))
  const deleted = await db
    .delete(environmentVariables)
    .where(
      and(
        eq(environmentVariables.organizationId, caller.organizationId),
        eq(environmentVariables.projectId, projectId),
        eq(environmentVariables.key, key),
      ),
    )
    .returning({ key: environmentVariables.key })
    .get()
  if (!deleted) throw new HTTPException(404, { message: 'key: the project has no variable with this name' })
}

interface Project {
  readonly id: string
  readonly archivedAt: string | null
}

function findProject(db: DrizzleD1Database, organizationId: string, id: string): Promise<Project | undefined> {
  return db
    .select({ id: projects.id, archivedAt: projects.archivedAt })
    .from(projects)
    .where(and(eq(projects.organizationId, organizationId), eq(projects.id, id)))
    .get()
}

function requireProject(caller: Caller, project: Project | undefined): void {
  if (!project) throw new HTTPException(404, { message: 'projectId: there is no project with this id' })
  if (!isAccessible(caller, project.id)) throw outOfReach()
  if (project.archivedAt) {
    throw new HTTPException(409, { message: 'The project is archived: unarchive it first' })
  }
}

function requireUser({ userId }: Caller): string {
  if (userId === null) throw new HTTPException(400, { message: 'This API key acts for no user.' })
  return userId
}

function isAccessible({ projectIds }: Caller, projectId: string): boolean {
  return projectIds === null || projectIds.includes(projectId)
}

function outOfReach(): HTTPException {
  return new HTTPException(403, { message: 'This API key is limited to other projects.' })
}
