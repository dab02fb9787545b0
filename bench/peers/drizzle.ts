/** Peer (a): Hono with its bearer authentication and its Zod validator, and Drizzle. */
import { zValidator } from '@hono/zod-validator'
import { drizzle } from 'drizzle-orm/d1'
import { Hono, type MiddlewareHandler, type ValidationTargets } from 'hono'
import { bearerAuth } from 'hono/bearer-auth'
import { HTTPException } from 'hono/http-exception'
import * as z from 'zod'
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

const pinPlacement = z.strictObject({
  placement: z.strictObject({
    target: z.strictObject({ type: resourceType, id: uuid }),
    position: z.enum(['before', 'after']),
  }),
})
const newProjectSchedule = z.strictObject({
  cron: z.string().min(1).max(255),
  timezone: z.string().min(1).max(255),
})
const newAgentSchedule = z.strictObject({ cron: z.string().min(1).max(500) })
const page = z.object({
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .default(50)
    .transform((limit) => Math.min(limit, 1000)),
  cursor: uuid.optional(),
})
const variableKey = z
  .string()
  .max(255)
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/)

const app = new Hono<Environment>()

app.use(
  '/v1/*',
  bearerAuth<Environment>({
    verifyToken: async (token, c) => {
      const caller = await findCaller(drizzle(c.env.DB), token)
      if (caller) c.set('caller', caller)
      return caller !== undefined
    },
    noAuthenticationHeader: { message: { error: 'Send your API key as a bearer token.' } },
    invalidAuthenticationHeader: { message: { error: 'Send your API key as a bearer token.' } },
    invalidToken: { message: { error: 'The API key is not valid.' } },
  }),
)

app.patch(
  '/v1/pins/:resourceType/:resourceId',
  requireScope('pins:write'),
  validate('param', z.object({ resourceType, resourceId: uuid })),
  validate('json', pinPlacement),
  async (c) => {
    const { resourceType: type, resourceId: id } = c.req.valid('param')
    const { placement } = c.req.valid('json')
    const pinLimit = Number(c.env.PIN_LIMIT ?? 50)
    const updated = await placePin(drizzle(c.env.DB), c.var.caller, { type, id }, placement, pinLimit)
    return c.json({ updated })
  },
)

app.post(
  '/v1/projects/:projectId/schedules',
  requireScope('schedules:write'),
  validate('param', z.object({ projectId: externalId })),
  validate('json', newProjectSchedule),
  async (c) => {
    const { projectId } = c.req.valid('param')
    const limit = Number(c.env.SCHEDULE_LIMIT ?? 100)
    const schedule = await createProjectSchedule(drizzle(c.env.DB), c.var.caller, projectId, c.req.valid('json'), limit)
    return c.json(schedule, 201, { Location: `${c.req.path}/${schedule.id}` })
  },
)

app.post(
  '/v1/agents/:agentId/schedules',
  requireScope('schedules:write'),
  validate('param', z.object({ agentId: uuid })),
  validate('json', newAgentSchedule),
  async (c) => {
    const { agentId } = c.req.valid('param')
    const { cron } = c.req.valid('json')
    const limit = Number(c.env.SCHEDULE_LIMIT ?? 100)
    const schedule = await createAgentSchedule(drizzle(c.env.DB), c.var.caller, agentId, cron, limit)
    return c.json(schedule, 201, { Location: `${c.req.path}/${schedule.id}` })
  },
)

app.get(
  '/v1/sessions/:sessionId/files',
  requireScope('session-files:read'),
  validate('param', z.object({ sessionId: uuid })),
  validate('query', page),
  async (c) => {
    const { sessionId } = c.req.valid('param')
    return c.json(await listSessionFiles(drizzle(c.env.DB), c.var.caller, sessionId, c.req.valid('query')))
  },
)

app.get(
  '/v1/skills/:skillId',
  requireScope('skills:read'),
  validate('param', z.object({ skillId: uuid })),
  async (c) => {
    const { skillId } = c.req.valid('param')
    return c.json(await retrieveSkill(drizzle(c.env.DB), c.var.caller, skillId))
  },
)

app.delete(
  '/v1/users/:userId/profile-picture',
  requireScope('profile-picture:write'),
  validate('param', z.object({ userId: externalId })),
  async (c) => {
    const { userId } = c.req.valid('param')
    await deleteProfilePicture(drizzle(c.env.DB), c.var.caller, userId)
    return c.json({ userId, deleted: true })
  },
)

app.delete(
  '/v1/projects/:projectId/environment-variables/:key',
  requireScope('environment-variables:write'),
  validate('param', z.object({ projectId: externalId, key: variableKey })),
  async (c) => {
    const { projectId, key } = c.req.valid('param')
    await deleteEnvironmentVariable(drizzle(c.env.DB), c.var.caller, projectId, key)
    return c.json({ deleted: true, key })
  },
)

app.notFound((c) => c.json({ error: 'There is nothing at this path.' }, 404))

app.onError((error, c) => {
  if (error instanceof HTTPException) return error.res ?? c.json({ error: error.message }, error.status)
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

function validate<Target extends keyof ValidationTargets, Schema extends z.ZodType>(target: Target, schema: Schema) {
  return zValidator(target, schema, (result) => {
    if (!result.success) throw new HTTPException(400, { message: z.prettifyError(result.error) })
  })
}
