/**
 * The MCP Worker: a face of the API for agents (docs/mcp.md). It is stateless, holds no data, and sends the API key of each
 * request to the API, which decides.
 */
import {
  createMcpHandler,
  isLegacyRequest,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import packageJson from '../../package.json' with { type: 'json' }
import { Api } from './api.ts'
import { answered, skillsExtension } from './skills.ts'
import type { Caller } from './tool.ts'
import { TOOLS } from './tools.ts'

interface Environment {
  /** The API Worker. */
  readonly API: Fetcher
}

const INSTRUCTIONS =
  'The data that a team of coding agents shares: skills, files of sessions, schedules with their runs, and pins. ' +
  'Before a task, look for a skill that fits it, load its SKILL.md and follow it. ' +
  'A session is the work on one task of a project. A schedule of a project or an agent creates a run each time that it fires; ' +
  'an agent that has done its work completes it. ' +
  'IDs of sessions, projects and agents come from your task, or from list_pins, list_schedules and list_runs. ' +
  'Lists have pages: pass nextCursor as cursor. Times in results are in UTC.'

/** The requests that begin a connection. They check the API key, so that a client learns at once that it is not valid. */
const OPENING = ['initialize', 'server/discover']

/**
 * Of the revision 2025-03-26, which has batches. Their messages are answered at once, each with up to six requests to the API,
 * and Cloudflare allows 32 invocations of Workers for a request.
 */
const MAX_BATCH = 5

export default {
  async fetch(request, environment) {
    const api = new Api(environment.API, request)
    const response = await serve(request, api)
    return api.unauthorized ?? response
  },
} satisfies ExportedHandler<Environment>

async function serve(request: Request, api: Api): Promise<Response> {
  if (await isLegacyRequest(request)) return serveLegacy(request, api)
  const refusal = await refusalOf(request, request.headers.get('Mcp-Method'), api)
  // Nothing changes while a request is served, so nothing can be subscribed to.
  return refusal ?? createMcpHandler(() => serverOf(api), { legacy: 'reject' }).fetch(request)
}

/**
 * Serves the revisions before 2026-07-28. The API Worker forwards only POST, and `isLegacyRequest` has limited the size of
 * the body.
 */
async function serveLegacy(request: Request, api: Api): Promise<Response> {
  const message: unknown = await request
    .clone()
    .json()
    .catch(() => undefined)
  if (Array.isArray(message) && message.length > MAX_BATCH) return tooManyMessages(message.length)
  const refusal = await refusalOf(request, (message as { method?: unknown } | undefined)?.method, api)
  if (refusal) return refusal
  // JSON instead of a stream, so that the status is known when the response begins.
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  const server = serverOf(api)
  await server.connect(transport)
  try {
    return await transport.handleRequest(request, { parsedBody: message })
  } finally {
    await server.close()
  }
}

function tooManyMessages(count: number): Response {
  const message = `The batch has too many messages; got ${count}; allowed: up to ${MAX_BATCH}.`
  const error = { code: ProtocolErrorCode.InvalidRequest, message }
  return Response.json({ jsonrpc: '2.0', id: null, error }, { status: 400 })
}

/** @returns the response of the API that refuses the key, if it is checked now. Later requests call the API anyway. */
async function refusalOf({ headers }: Request, method: unknown, api: Api): Promise<Response | undefined> {
  if (headers.has('Authorization') && !OPENING.includes(String(method))) return undefined
  // Another failure than 401 does not concern the key.
  await api.json('/v1/me').catch(() => undefined)
  return api.unauthorized
}

function serverOf(api: Api): McpServer {
  const { name, version } = packageJson
  const mcp = new McpServer(
    { name, title: 'Workspace API', version },
    { capabilities: { tools: {}, resources: { listChanged: false } }, instructions: INSTRUCTIONS },
  )
  mcp.server.setRequestHandler('tools/list', async () => {
    const caller = await answered(api.json<Caller>('/v1/me'))
    return { tools: TOOLS.filter((tool) => tool.allows(caller)).map(({ listed }) => listed) }
  })
  mcp.server.setRequestHandler('tools/call', async ({ params }) => {
    const called = TOOLS.find(({ name }) => name === params.name)
    if (!called) throw new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no tool ${params.name}.`)
    return called.call(api, params.arguments ?? {})
  })
  skillsExtension(api).attach(mcp)
  return mcp
}
