/**
 * Peer (b): Fastify with its own JSON Schema validation, on Node's SQLite in the same process.
 *
 *     node bench/peers/fastify.ts --port 3000 --database file.sqlite
 */
import { hash } from 'node:crypto'
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'
import { parseArgs } from 'node:util'
import { Cron } from 'croner'
import Fastify, { type FastifyError, type FastifyRequest } from 'fastify'
import { v7 as newUuid } from 'uuid'

const { values: options } = parseArgs({
  options: { port: { type: 'string', default: '0' }, database: { type: 'string' } },
})
if (!options.database) throw new Error('--database: expected a file')

const PIN_LIMIT = Number(process.env.PIN_LIMIT ?? 50)
const SCHEDULE_LIMIT = Number(process.env.SCHEDULE_LIMIT ?? 100)
const GAP = 2 ** 30
const HOUR_MS = 3_600_000

// `synchronous` stays at FULL, so that a write is on the disk when it is answered, as with D1.
const database = new DatabaseSync(options.database, { timeout: 5000 })
database.exec('PRAGMA journal_mode = WAL')

/** A prepared statement whose rows have the shape `Row`. */
function prepare<Row = never>(sql: string) {
  const statement = database.prepare(sql)
  return {
    get: (...values: SQLInputValue[]) => statement.get(...values) as Row | undefined,
    all: (...values: SQLInputValue[]) => statement.all(...values) as Row[],
    run: (...values: SQLInputValue[]) => statement.run(...values),
  }
}

type ResourceType = 'session' | 'pull_request' | 'project'
type Resource = { type: ResourceType; id: string }
type ParentType = 'project' | 'agent'
type Schedule = { id: string; cron: string; nextRunAt: string }

const insertSchedule = (columns: string) =>
  prepare<Schedule>(
    `INSERT INTO schedules
       (organizationId, parentType, parentId, id, cron, timezone, enabledAt, nextRunAt, createdAt, updatedAt)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     RETURNING ${columns}, enabledAt, lastRunAt, nextRunAt, createdAt, updatedAt`,
  )

const statements = {
  key: prepare<{
    organizationId: string
    userId: string | null
    scopes: string
    projectIds: string | null
    expiresAt: string | null
    revokedAt: string | null
  }>('SELECT organizationId, userId, scopes, projectIds, expiresAt, revokedAt FROM apiKeys WHERE hash = ?'),
  project: prepare<{ id: string; archivedAt: string | null }>(
    'SELECT id, archivedAt FROM projects WHERE organizationId = ? AND id = ?',
  ),
  agent: prepare<{ archivedAt: string | null }>('SELECT archivedAt FROM agents WHERE organizationId = ? AND id = ?'),
  session: prepare<{ projectId: string }>('SELECT projectId FROM sessions WHERE organizationId = ? AND id = ?'),
  pullRequest: prepare<{ projectId: string }>('SELECT projectId FROM pullRequests WHERE organizationId = ? AND id = ?'),
  user: prepare<{ id: string }>('SELECT id FROM users WHERE organizationId = ? AND id = ?'),
  pins: prepare<Resource & { position: number }>(
    `SELECT resourceType AS type, resourceId AS id, position FROM pins
     WHERE organizationId = ? AND userId = ? ORDER BY position`,
  ),
  placePin: prepare(
    `INSERT INTO pins (organizationId, userId, resourceType, resourceId, position, createdAt)
     VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET position = excluded.position`,
  ),
  countSchedules: prepare<{ count: number }>(
    `SELECT count(*) AS count FROM schedules WHERE organizationId = ? AND parentType = ? AND parentId = ?`,
  ),
  insertProjectSchedule: insertSchedule('id, parentId AS projectId, cron, timezone'),
  insertAgentSchedule: insertSchedule('id, parentId AS agentId, cron'),
  file: prepare<{ sessionId: string }>('SELECT sessionId FROM sessionFiles WHERE organizationId = ? AND id = ?'),
  files: prepare<{ id: string }>(
    `SELECT id, sessionId, path, createdAt, updatedAt FROM sessionFiles
     WHERE organizationId = ? AND sessionId = ? AND id > ? ORDER BY id LIMIT ?`,
  ),
  skill: prepare<object>(
    'SELECT id, name, description, createdAt, updatedAt FROM skills WHERE organizationId = ? AND id = ?',
  ),
  skillFiles: prepare<object>(
    `SELECT file.value ->> 'id' AS id, file.value ->> 'filename' AS filename,
       CASE file.value ->> 'encoding' WHEN 'base64' THEN 'data:application/octet-stream;base64,' ELSE '' END || content AS content
     FROM skills
       JOIN skillVersions ON skillVersions.organizationId = skills.organizationId AND skillVersions.skillId = skills.id
         AND skillVersions.version = skills.version
       JOIN json_each(skillVersions.files) AS file
       JOIN skillContents ON skillContents.organizationId = skills.organizationId AND skillContents.skillId = skills.id
         AND skillContents.sha256 = file.value ->> 'sha256'
     WHERE skills.organizationId = ? AND skills.id = ? ORDER BY file.key`,
  ),
  picture: prepare<{ objectKey: string | null; leaseExpiresAt: string | null }>(
    'SELECT objectKey, leaseExpiresAt FROM profilePictures WHERE organizationId = ? AND userId = ?',
  ),
  orphanObject: prepare('INSERT INTO orphanedObjects (objectKey, deleteAfter) VALUES (?, ?) ON CONFLICT DO NOTHING'),
  deletePicture: prepare('DELETE FROM profilePictures WHERE organizationId = ? AND userId = ?'),
  deleteVariable: prepare('DELETE FROM environmentVariables WHERE organizationId = ? AND projectId = ? AND "key" = ?'),
}

/** Whom a key acts for. */
interface Caller {
  readonly organizationId: string
  readonly userId: string | null
  readonly scopes: readonly string[]
  /** Null: all projects. */
  readonly projectIds: readonly string[] | null
}

declare module 'fastify' {
  interface FastifyRequest {
    caller: Caller
  }
}

class ApiError extends Error {
  readonly statusCode: number

  constructor(statusCode: number, message: string) {
    super(message)
    this.statusCode = statusCode
  }
}

const UUID = '^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}$'
const isUuid = new RegExp(UUID)

const string = { type: 'string' } as const
const nullableString = { type: ['string', 'null'] } as const
const uuid = { type: 'string', pattern: UUID } as const
const externalId = { type: 'string', minLength: 1, maxLength: 255 } as const
const resourceType = { type: 'string', enum: ['session', 'pull_request', 'project'] } as const

/** An object that has exactly these properties. */
function exactly(properties: Record<string, object>) {
  return { type: 'object', additionalProperties: false, required: Object.keys(properties), properties }
}

const times = {
  enabledAt: nullableString,
  lastRunAt: nullableString,
  nextRunAt: nullableString,
  createdAt: string,
  updatedAt: string,
}
const error = exactly({ error: string })
const answering = (status: number, properties: Record<string, object>) => ({
  [status]: exactly(properties),
  '4xx': error,
  '5xx': error,
})

const app = Fastify({
  routerOptions: { maxParamLength: 255 },
  ajv: { customOptions: { removeAdditional: false } },
})

app.setNotFoundHandler((_request, reply) => reply.code(404).send({ error: 'There is nothing at this path.' }))

app.setErrorHandler((failure: FastifyError, _request, reply) => {
  const status = failure.statusCode ?? 500
  if (status >= 500) console.error(failure)
  if (status === 401) reply.header('WWW-Authenticate', 'Bearer')
  return reply.code(status).send({ error: status < 500 ? failure.message : 'The service failed to answer.' })
})

app.decorateRequest('caller')

/** At the end of a token. The hash does not include it. */
const CHECKSUM_LENGTH = 6

app.addHook('onRequest', async (request) => {
  const [, token] = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '') ?? []
  const key = token === undefined ? undefined : statements.key.get(hash('sha256', token.slice(0, -CHECKSUM_LENGTH)))
  const isLive = key && !key.revokedAt && !(key.expiresAt && key.expiresAt <= new Date().toISOString())
  if (!isLive) throw new ApiError(401, 'Send a valid API key as a bearer token.')
  request.caller = {
    organizationId: key.organizationId,
    userId: key.userId,
    scopes: JSON.parse(key.scopes),
    projectIds: key.projectIds && JSON.parse(key.projectIds),
  }
})

function requireScope(scope: string) {
  return async ({ caller }: FastifyRequest) => {
    if (!caller.scopes.includes(scope)) throw new ApiError(400, `This API key lacks the scope "${scope}".`)
  }
}

app.patch<{
  Params: { resourceType: ResourceType; resourceId: string }
  Body: { placement: { target: Resource; position: 'before' | 'after' } }
}>(
  '/v1/pins/:resourceType/:resourceId',
  {
    preHandler: requireScope('pins:write'),
    schema: {
      params: exactly({ resourceType, resourceId: uuid }),
      body: exactly({
        placement: exactly({
          target: exactly({ type: resourceType, id: uuid }),
          position: { type: 'string', enum: ['before', 'after'] },
        }),
      }),
      response: answering(200, { updated: { type: 'boolean' } }),
    },
  },
  async ({ params, body, caller }) => {
    const resource = { type: params.resourceType, id: params.resourceId.toLowerCase() }
    const { target, position } = body.placement
    const updated = placePin(caller, resource, { ...target, id: target.id.toLowerCase() }, position)
    return { updated }
  },
)

app.post<{ Params: { projectId: string }; Body: { cron: string; timezone: string } }>(
  '/v1/projects/:projectId/schedules',
  {
    preHandler: requireScope('schedules:write'),
    schema: {
      params: exactly({ projectId: externalId }),
      body: exactly({
        cron: { type: 'string', minLength: 1, maxLength: 255 },
        timezone: { type: 'string', minLength: 1, maxLength: 255 },
      }),
      response: answering(201, { id: string, projectId: string, cron: string, timezone: string, ...times }),
    },
  },
  async ({ params, body: { cron, timezone }, caller, url }, reply) => {
    const projectId = lowerCaseUuid(params.projectId)
    const nextRunAt = nextRun(cron, timezone)
    requireProject(caller, projectId)
    requireRoomForSchedule(caller, 'project', projectId)
    const now = new Date().toISOString()
    const parent = [caller.organizationId, 'project', projectId]
    const schedule = statements.insertProjectSchedule.get(
      ...parent,
      newUuid(),
      cron,
      timezone,
      now,
      nextRunAt,
      now,
      now,
    )
    return reply.code(201).header('Location', `${url}/${schedule?.id}`).send(schedule)
  },
)

app.post<{ Params: { agentId: string }; Body: { cron: string } }>(
  '/v1/agents/:agentId/schedules',
  {
    preHandler: requireScope('schedules:write'),
    schema: {
      params: exactly({ agentId: uuid }),
      body: exactly({ cron: { type: 'string', minLength: 1, maxLength: 500 } }),
      response: answering(201, { id: string, agentId: string, cron: string, ...times }),
    },
  },
  async ({ params, body: { cron }, caller, url }, reply) => {
    const agentId = params.agentId.toLowerCase()
    const nextRunAt = nextRun(cron, 'UTC')
    const agent = statements.agent.get(caller.organizationId, agentId)
    if (!agent) throw new ApiError(404, 'agentId: there is no agent with this id')
    if (agent.archivedAt) throw new ApiError(409, 'The agent is archived: unarchive it first')
    requireRoomForSchedule(caller, 'agent', agentId)
    const now = new Date().toISOString()
    const parent = [caller.organizationId, 'agent', agentId]
    const schedule = statements.insertAgentSchedule.get(...parent, newUuid(), cron, 'UTC', now, nextRunAt, now, now)
    return reply.code(201).header('Location', `${url}/${schedule?.id}`).send(schedule)
  },
)

app.get<{ Params: { sessionId: string }; Querystring: { limit: number; cursor?: string } }>(
  '/v1/sessions/:sessionId/files',
  {
    preHandler: requireScope('session-files:read'),
    schema: {
      params: exactly({ sessionId: uuid }),
      querystring: {
        type: 'object',
        properties: { limit: { type: 'integer', minimum: 1, default: 50 }, cursor: uuid },
      },
      response: answering(200, {
        items: {
          type: 'array',
          items: exactly({
            id: string,
            sessionId: string,
            path: string,
            createdAt: string,
            updatedAt: string,
          }),
        },
        nextCursor: nullableString,
      }),
    },
  },
  async ({ params, query, caller }) => {
    const { organizationId } = caller
    const sessionId = params.sessionId.toLowerCase()
    const session = statements.session.get(organizationId, sessionId)
    if (!session) throw new ApiError(404, 'sessionId: there is no session with this id')
    if (!isAccessible(caller, session.projectId)) throw outOfReach()

    const cursor = query.cursor?.toLowerCase()
    const file = cursor === undefined ? undefined : statements.file.get(organizationId, cursor)
    if (file && file.sessionId !== sessionId) {
      throw new ApiError(409, 'cursor: it is a file of another session')
    }

    const limit = Math.min(query.limit, 1000)
    const rows = statements.files.all(organizationId, sessionId, cursor ?? '', limit + 1)
    const items = rows.slice(0, limit)
    return { items, nextCursor: rows.length > limit ? items.at(-1)?.id : null }
  },
)

app.get<{ Params: { skillId: string } }>(
  '/v1/skills/:skillId',
  {
    preHandler: requireScope('skills:read'),
    schema: {
      params: exactly({ skillId: uuid }),
      response: answering(200, {
        id: string,
        name: string,
        description: string,
        createdAt: string,
        updatedAt: string,
        files: { type: 'array', items: exactly({ id: string, filename: string, content: string }) },
      }),
    },
  },
  async ({ params, caller: { organizationId } }) => {
    const skillId = params.skillId.toLowerCase()
    const skill = statements.skill.get(organizationId, skillId)
    if (!skill) throw new ApiError(404, 'skillId: there is no skill with this id')
    return { ...skill, files: statements.skillFiles.all(organizationId, skillId) }
  },
)

/** The object itself is left to the sweep. */
app.delete<{ Params: { userId: string } }>(
  '/v1/users/:userId/profile-picture',
  {
    preHandler: requireScope('profile-picture:write'),
    schema: {
      params: exactly({ userId: externalId }),
      response: answering(200, { userId: string, deleted: { type: 'boolean' } }),
    },
  },
  async ({ params, caller }) => {
    const { organizationId } = caller
    const userId = lowerCaseUuid(params.userId)
    const callerUserId = requireUser(caller)
    if (!statements.user.get(organizationId, userId)) {
      throw new ApiError(404, 'userId: there is no user with this id')
    }
    if (userId !== callerUserId) {
      throw new ApiError(403, 'userId: you can delete your own profile picture only')
    }
    const picture = statements.picture.get(organizationId, userId)
    if (picture?.leaseExpiresAt && picture.leaseExpiresAt > new Date().toISOString()) {
      throw new ApiError(409, 'An upload of a new picture is under way')
    }
    if (picture) {
      transaction(() => {
        if (picture.objectKey) {
          statements.orphanObject.run(picture.objectKey, new Date(Date.now() + HOUR_MS).toISOString())
        }
        statements.deletePicture.run(organizationId, userId)
      })
    }
    return { userId, deleted: true }
  },
)

app.delete<{ Params: { projectId: string; key: string } }>(
  '/v1/projects/:projectId/environment-variables/:key',
  {
    preHandler: requireScope('environment-variables:write'),
    schema: {
      params: exactly({
        projectId: externalId,
        key: { type: 'string', maxLength: 255, pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
      }),
      response: answering(200, { deleted: { type: 'boolean' }, key: string }),
    },
  },
  async ({ params, caller }) => {
    const projectId = lowerCaseUuid(params.projectId)
    requireProject(caller, projectId)
    const { changes } = statements.deleteVariable.run(caller.organizationId, projectId, params.key)
    if (changes === 0) throw new ApiError(404, 'key: the project has no variable with this name')
    return { deleted: true, key: params.key }
  },
)

const address = await app.listen({ host: '127.0.0.1', port: Number(options.port) })
process.stdout.write(`ready ${new URL(address).port}\n`)

/** @returns true if the order changed. */
function placePin(caller: Caller, resource: Resource, target: Resource, position: 'before' | 'after'): boolean {
  const { organizationId } = caller
  const userId = requireUser(caller)
  const projectId = findProjectOf(organizationId, resource)
  if (projectId === undefined || !isAccessible(caller, projectId)) {
    throw new ApiError(404, `resourceId: there is no ${resource.type} with this id`)
  }

  const list = statements.pins.all(organizationId, userId)
  const indexOf = ({ type, id }: Resource) => list.findIndex((pin) => pin.type === type && pin.id === id)
  const [own, targetIndex] = [indexOf(resource), indexOf(target)]
  if (targetIndex < 0) {
    throw new ApiError(404, `placement.target: there is no pin of a ${target.type} with this id`)
  }
  if (own < 0 && list.length >= PIN_LIMIT) {
    throw new ApiError(409, `You have ${PIN_LIMIT} pins: unpin something first`)
  }

  const step = position === 'before' ? -1 : 1
  if (own >= 0 && (own === targetIndex || own === targetIndex + step)) return false
  const here = list[targetIndex]?.position ?? 0
  const beside = list[targetIndex + step]?.position
  const now = new Date().toISOString()
  const place = (at: number) => statements.placePin.run(organizationId, userId, resource.type, resource.id, at, now)
  if (beside === undefined) {
    place(here + step * GAP)
  } else if (Math.abs(beside - here) >= 2) {
    place(Math.floor((here + beside) / 2))
  } else {
    transaction(() => {
      for (const [index, pin] of list.entries()) {
        statements.placePin.run(organizationId, userId, pin.type, pin.id, (index + 1) * GAP, now)
      }
      place((targetIndex + 1) * GAP + (step * GAP) / 2)
    })
  }
  return true
}

/** The project of a resource, or undefined if there is no such resource. */
function findProjectOf(organizationId: string, { type, id }: Resource): string | undefined {
  if (type === 'session') {
    const session = statements.session.get(organizationId, id)
    return session?.projectId
  }
  if (type === 'pull_request') return statements.pullRequest.get(organizationId, id)?.projectId
  return statements.project.get(organizationId, id)?.id
}

function requireProject(caller: Caller, id: string): void {
  const project = statements.project.get(caller.organizationId, id)
  if (!project) throw new ApiError(404, 'projectId: there is no project with this id')
  if (!isAccessible(caller, id)) throw outOfReach()
  if (project.archivedAt) throw new ApiError(409, 'The project is archived: unarchive it first')
}

function requireRoomForSchedule({ organizationId }: Caller, parentType: ParentType, parentId: string): void {
  const { count } = statements.countSchedules.get(organizationId, parentType, parentId) ?? { count: 0 }
  if (count >= SCHEDULE_LIMIT) {
    throw new ApiError(409, `The ${parentType} has ${SCHEDULE_LIMIT} schedules: delete one first`)
  }
}

function requireUser({ userId }: Caller): string {
  if (userId === null) throw new ApiError(400, 'This API key acts for no user.')
  return userId
}

function isAccessible({ projectIds }: Caller, projectId: string): boolean {
  return projectIds === null || projectIds.includes(projectId)
}

function outOfReach(): ApiError {
  return new ApiError(403, 'This API key is limited to other projects.')
}

function nextRun(cron: string, timezone: string): string {
  let next: Date | null
  try {
    next = new Cron(cron, { timezone, mode: '5-part' }).nextRun()
  } catch {
    throw new ApiError(400, 'cron or timezone: expected valid ones')
  }
  if (!next) throw new ApiError(400, 'cron: it never fires')
  return next.toISOString()
}

function lowerCaseUuid(id: string): string {
  return isUuid.test(id) ? id.toLowerCase() : id
}

function transaction(run: () => void): void {
  database.exec('BEGIN IMMEDIATE')
  try {
    run()
    database.exec('COMMIT')
  } catch (failure) {
    database.exec('ROLLBACK')
    throw failure
  }
}
