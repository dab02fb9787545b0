/** Peer (b): OpenAPIHono, which validates from its routes and makes the document from them, and Drizzle. */
import { createRoute, OpenAPIHono, z } from '@hono/zod-openapi'
import { drizzle } from 'drizzle-orm/d1'
import type { MiddlewareHandler } from 'hono'
import { HTTPException } from 'hono/http-exception'
import {
  type Bindings,
  type Caller,
  createAgentSchedule,
  createProjectSchedule,
  deleteEnvironmentVariable,
  deleteProfilePicture,
  findCaller,
  listSessionFiles,
  placePin,
  retrieveSkill,
} from './drizzle-queries.ts'

type Environment = { Bindings: Bindings; Variables: { caller: Caller } }

const resourceType = z.enum(['session', 'pull_request', 'project'])
const uuid = z.guid().toLowerCase()
const externalId = z
  .string()
  .min(1)
  .max(255)
  .transform((id) => uuid.safeParse(id).data ?? id)
const instant = z.iso.datetime({ precision: 3 })

const PinPlacement = z
  .strictObject({
    placement: z.strictObject({
      target: z.strictObject({ type: resourceType, id: uuid }),
      position: z.enum(['before', 'after']),
    }),
  })
  .openapi('PinPlacement')
const PinUpdate = z.object({ updated: z.boolean() }).openapi('PinUpdate')

const NewProjectSchedule = z
  .strictObject({ cron: z.string().min(1).max(255), timezone: z.string().min(1).max(255) })
  .openapi('NewProjectSchedule')
const NewAgentSchedule = z.strictObject({ cron: z.string().min(1).max(500) }).openapi('NewAgentSchedule')
const times = {
  enabledAt: instant.nullable(),
  lastRunAt: instant.nullable(),
  nextRunAt: instant.nullable(),
  createdAt: instant,
  updatedAt: instant,
}
const ProjectSchedule = z
  .object({ id: uuid, projectId: z.string(), cron: z.string(), timezone: z.string(), ...times })
  .openapi('ProjectSchedule')
const AgentSchedule = z
  .object({ id: uuid, agentId: uuid, cron: z.string(), ...times })
  .openapi('AgentSchedule')

const SessionFilePage = z
  .object({
    items: z.array(
      z.object({ id: uuid, sessionId: uuid, path: z.string(), createdAt: instant, updatedAt: instant }),
    ),
    nextCursor: uuid.nullable(),
  })
  .openapi('SessionFilePage')

const Skill = z
  .object({
    id: uuid,
    name: z.string(),
    description: z.string(),
    createdAt: instant,
    updatedAt: instant,
    files: z.array(z.object({ id: uuid, filename: z.string(), content: z.string() })),
  })
  .openapi('Skill')

const ProfilePictureDeletion = z
  .object({ userId: z.string(), deleted: z.literal(true) })
  .openapi('ProfilePictureDeletion')
const EnvironmentVariableDeletion = z
  .object({ deleted: z.literal(true), key: z.string() })
  .openapi('EnvironmentVariableDeletion')

const ErrorBody = z.object({ error: z.string() }).openapi('Error')

const json = <Schema extends z.ZodType>(schema: Schema) => ({ 'application/json': { schema } })
const errors = { default: { description: 'What to change.', content: json(ErrorBody) } }
const location = { headers: z.object({ Location: z.string() }) }
const security = [{ Bearer: [] }]

const updatePinRoute = createRoute({
  method: 'patch',
  path: '/v1/pins/{resourceType}/{resourceId}',
  security,
  middleware: requireScope('pins:write'),
  request: {
    params: z.object({ resourceType, resourceId: uuid }),
    body: { content: json(PinPlacement), required: true },
  },
  responses: { 200: { description: 'The pin stands there.', content: json(PinUpdate) }, ...errors },
})

const createProjectScheduleRoute = createRoute({
  method: 'post',
  path: '/v1/projects/{projectId}/schedules',
  security,
  middleware: requireScope('schedules:write'),
  request: {
    params: z.object({ projectId: externalId }),
    body: { content: json(NewProjectSchedule), required: true },
  },
  responses: {
    201: { description: 'The schedule is created.', content: json(ProjectSchedule), ...location },
    ...errors,
  },
})

const createAgentScheduleRoute = createRoute({
  method: 'post',
  path: '/v1/agents/{agentId}/schedules',
  security,
  middleware: requireScope('schedules:write'),
  request: {
    params: z.object({ agentId: uuid }),
    body: { content: json(NewAgentSchedule), required: true },
  },
  responses: {
    201: { description: 'The schedule is created.', content: json(AgentSchedule), ...location },
    ...errors,
  },
})

const listSessionFilesRoute = createRoute({
  method: 'get',
  path: '/v1/sessions/{sessionId}/files',
  security,
  middleware: requireScope('session-files:read'),
  request: {
    params: z.object({ sessionId: uuid }),
    query: z.object({
      limit: z.coerce
        .number()
        .int()
        .min(1)
        .default(50)
        .transform((limit) => Math.min(limit, 1000)),
      cursor: uuid.optional(),
    }),
  },
  responses: { 200: { description: 'A page of files.', content: json(SessionFilePage) }, ...errors },
})

const retrieveSkillRoute = createRoute({
  method: 'get',
  path: '/v1/skills/{skillId}',
  security,
  middleware: requireScope('skills:read'),
  request: { params: z.object({ skillId: uuid }) },
  responses: { 200: { description: 'The skill and its files.', content: json(Skill) }, ...errors },
})

const deleteProfilePictureRoute = createRoute({
  method: 'delete',
  path: '/v1/users/{userId}/profile-picture',
  security,
  middleware: requireScope('profile-picture:write'),
  request: { params: z.object({ userId: externalId }) },
  responses: {
    200: { description: 'The user has no profile picture.', content: json(ProfilePictureDeletion) },
    ...errors,
  },
})

const deleteEnvironmentVariableRoute = createRoute({
  method: 'delete',
  path: '/v1/projects/{projectId}/environment-variables/{key}',
  security,
  middleware: requireScope('environment-variables:write'),
  request: {
    params: z.object({
      projectId: externalId,
      key: z
        .string()
        .max(255)
        .regex(/^[A-Za-z_][A-Za-z0-9_]*$/),
    }),
  },
  responses: {
    200: { description: 'The variable is deleted.', content: json(EnvironmentVariableDeletion) },
    ...errors,
  },
})

const app = new OpenAPIHono<Environment>({
  defaultHook: (result) => {
    if (!result.success) throw new HTTPException(400, { message: z.prettifyError(result.error) })
  },
})

app.use('/v1/*', async (c, next) => {
  const [, token] = /^Bearer +(\S+)$/i.exec(c.req.header('Authorization') ?? '') ?? []
  const caller = token === undefined ? undefined : await findCaller(drizzle(c.env.DB), token)
  if (!caller) {
    const challenge = token === undefined ? 'Bearer' : 'Bearer error="invalid_token"'
    return c.json({ error: 'Send a valid API key as a bearer token.' }, 401, {
      'WWW-Authenticate': challenge,
    })
  }
  c.set('caller', caller)
  await next()
})

app.openapi(updatePinRoute, async (c) => {
  const { resourceType: type, resourceId: id } = c.req.valid('param')
  const { placement } = c.req.valid('json')
  const pinLimit = Number(c.env.PIN_LIMIT ?? 50)
  const updated = await placePin(drizzle(c.env.DB), c.var.caller, { type, id }, placement, pinLimit)
  return c.json({ updated }, 200)
})

app.openapi(createProjectScheduleRoute, async (c) => {
  const { projectId } = c.req.valid('param')
  const limit = Number(c.env.SCHEDULE_LIMIT ?? 100)
  const schedule = await createProjectSchedule(
    drizzle(c.env.DB),
    c.var.caller,
    projectId,
    c.req.valid('json'),
    limit,
  )
  return c.json(schedule, 201, { Location: `${c.req.path}/${schedule.id}` })
})

app.openapi(createAgentScheduleRoute, async (c) => {
  const { agentId } = c.req.valid('param')
  const { cron } = c.req.valid('json')
  const limit = Number(c.env.SCHEDULE_LIMIT ?? 100)
  const schedule = await createAgentSchedule(drizzle(c.env.DB), c.var.caller, agentId, cron, limit)
  return c.json(schedule, 201, { Location: `${c.req.path}/${schedule.id}` })
})

app.openapi(listSessionFilesRoute, async (c) => {
  const { sessionId } = c.req.valid('param')
  return c.json(await listSessionFiles(drizzle(c.env.DB), c.var.caller, sessionId, c.req.valid('query')), 200)
})

app.openapi(retrieveSkillRoute, async (c) => {
  const { skillId } = c.req.valid('param')
  return c.json(await retrieveSkill(drizzle(c.env.DB), c.var.caller, skillId), 200)
})

app.openapi(deleteProfilePictureRoute, async (c) => {
  const { userId } = c.req.valid('param')
  await deleteProfilePicture(drizzle(c.env.DB), c.var.caller, userId)
  return c.json({ userId, deleted: true as const }, 200)
})

app.openapi(deleteEnvironmentVariableRoute, async (c) => {
  const { projectId, key } = c.req.valid('param')
  await deleteEnvironmentVariable(drizzle(c.env.DB), c.var.caller, projectId, key)
  return c.json({ deleted: true as const, key }, 200)
})

app.openAPIRegistry.registerComponent('securitySchemes', 'Bearer', { type: 'http', scheme: 'bearer' })
app.doc31('/openapi.json', { openapi: '3.1.0', info: { title: 'Workspace API', version: '1.0.0' } })

app.notFound((c) => c.json({ error: 'There is nothing at this path.' }, 404))

app.onError((error, c) => {
  if (error instanceof HTTPException) return c.json({ error: error.message }, error.status)
  console.error(error)
  return c.json({ error: 'The service failed to answer.' }, 500)
})

export default app

function requireScope(scope: string): MiddlewareHandler<Environment> {
  return async (c, next) => {
    if (!c.var.caller.scopes.includes(scope)) {
      throw new HTTPException(400, { message: `This API key lacks the scope "${scope}".` })
    }
    await next()
  }
}
