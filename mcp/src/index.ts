/**
 * The MCP Worker: an interface to the API for agents (docs/mcp.md). It is stateless, holds no data, and sends the API
 * key of each request to the API, which decides.
 */
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  isSpecType,
  McpServer,
  ProtocolError,
  ProtocolErrorCode,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import { describeProblem, describeSent, describeSize, measureJson, parseBody } from '../../src/contracts.ts'
import manifest from '../package.json' with { type: 'json' }
import { Api } from './api.ts'
import { answered, skillsExtension } from './skills.ts'
import type { Caller, Wrong } from './tool.ts'
import { TOOLS } from './tools.ts'

interface Environment {
  /** The API Worker. */
  readonly API: Fetcher
}

const INSTRUCTIONS =
  'The data that a team of coding agents shares: skills, files of sessions, schedules with their runs, and pins. ' +
  'Before a task, look for a skill that fits it, load its SKILL.md and follow it. ' +
  'A session is the work on one task of a project. A schedule of a project or an agent creates a run each time that it fires; ' +
  'an agent takes a pending run with claim_run, and completes it with the claimId when its work is done. ' +
  'IDs of sessions, projects and agents come from your task, or from find, list_pins, list_schedules and list_runs. ' +
  'Lists have pages: pass nextCursor as cursor. Times in results are in UTC.'

/**
 * The most messages of a batch, which the revision 2025-03-26 has. Each message makes up to six requests to the API, and
 * Cloudflare allows 32 invocations of Workers for a request.
 */
const MAX_BATCH = 5

/**
 * The most bytes and values of a message without the arguments of a tool, which the tool checks: the SDK repeats the
 * rest in its errors, and writes 250 bytes about each wrong value.
 */
const MESSAGE_LIMIT_BYTES = 16 * 1024
const MESSAGE_LIMIT_VALUES = 500

const ACCEPTED = 202

export default {
  async fetch(request, environment) {
    const api = new Api(environment.API, request)
    const response = await serve(request, api)
    return (await api.refusal()) ?? response
  },
} satisfies ExportedHandler<Environment>

/** The API Worker has limited the size of the body, and forwards only POST. */
async function serve(request: Request, api: Api): Promise<Response> {
  const { value, problem } = parseBody(await request.arrayBuffer())
  if (problem) return refused(ProtocolErrorCode.ParseError, describeProblem('body', problem))
  const wrong = wrongMessages(value)
  if (wrong !== undefined) return refused(ProtocolErrorCode.InvalidRequest, wrong)
  const isLegacy = await isLegacyRequest(request, value)
  if (isLegacy && Array.isArray(value)) return serveBatch(request, value, api)
  const response = isLegacy
    ? await serveLegacy(request, value, api)
    : await createMcpHandler(() => serverOf(api), { legacy: 'reject' }).fetch(request, { parsedBody: value })
  // In a batch it is the error of a message, because other messages may have acted. Clients ask for lists unprompted.
  const isCall = Object(value).method === 'tools/call'
  return (isCall ? await api.insufficientScope() : undefined) ?? response
}

function refused(code: ProtocolErrorCode, message: string): Response {
  return Response.json({ jsonrpc: '2.0', id: null, error: { code, message } }, { status: 400 })
}

/** @returns what is wrong with the size of a message, or with a batch. */
function wrongMessages(value: unknown): Wrong | undefined {
  if (!Array.isArray(value)) return wrongMessage(value)
  if (value.length > MAX_BATCH) {
    return `The batch has too many messages; got ${value.length}; allowed: up to ${MAX_BATCH}.`
  }
  return value.map(wrongMessage).find((wrong) => wrong !== undefined) ?? wrongBatch(value)
}

/** Checked before the first message acts, because its answer would be lost. */
function wrongBatch(messages: readonly unknown[]): Wrong | undefined {
  const invalid = messages.findIndex((message) => !isSpecType.JSONRPCMessage(message))
  if (invalid !== -1) {
    const allowed = 'requests, notifications and responses of JSON-RPC 2.0'
    const sent = describeSent(messages[invalid])
    return describeProblem(`Message ${invalid + 1} of the batch`, { wrong: 'is not valid', sent, allowed })
  }
  if (messages.length > 1 && messages.some(isInitializeRequest)) {
    return `The batch has "initialize" and other messages; got ${messages.length} messages; allowed: "initialize" alone.`
  }
  return undefined
}

function wrongMessage(message: unknown): Wrong | undefined {
  const bytes = Buffer.from(JSON.stringify(withoutArguments(message)))
  const { values } = measureJson(bytes)
  const describe = (wrong: string, sent: string, limit: string) =>
    describeProblem('message', { wrong, sent, allowed: `up to ${limit} beside the arguments of a tool` })
  if (bytes.length > MESSAGE_LIMIT_BYTES) {
    return describe('is too large', `${bytes.length} bytes`, describeSize(MESSAGE_LIMIT_BYTES))
  }
  if (values > MESSAGE_LIMIT_VALUES) {
    return describe('has too many values', `${values} values`, `${MESSAGE_LIMIT_VALUES} values`)
  }
  return undefined
}

function withoutArguments(message: unknown): unknown {
  const { method, params, ...rest } = Object(message) as { method?: unknown; params?: unknown }
  if (method !== 'tools/call' || Object(params) !== params) return message
  return { ...rest, method, params: { ...(params as object), arguments: undefined } }
}

/** Answers one message after another: each may need the memory of a large skill. */
async function serveBatch(request: Request, messages: readonly unknown[], api: Api): Promise<Response> {
  const answers: string[] = []
  for (const message of messages) {
    const response = await serveLegacy(request, message, api)
    // A wrong header is found with the first message.
    if (api.isRefused || (!response.ok && message === messages[0])) return response
    if (response.status !== ACCEPTED) answers.push(await response.text())
  }
  if (answers.length === 0) return new Response(null, { status: ACCEPTED })
  return new Response(`[${answers}]`, { headers: { 'Content-Type': 'application/json' } })
}

/** Serves the revisions before 2026-07-28. */
async function serveLegacy(request: Request, message: unknown, api: Api): Promise<Response> {
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

function unknownTool(name: string): Wrong {
  const allowed = TOOLS.map((tool) => tool.name).join(', ')
  return describeProblem('name', { wrong: 'is not a tool', sent: describeSent(name), allowed })
}

function serverOf(api: Api): McpServer {
  const mcp = new McpServer(
    { name: 'workspace-api', title: 'Workspace API', version: manifest.version },
    // Nothing changes while a request is served, so a subscription ends at once.
    {
      capabilities: { tools: { listChanged: false }, resources: { listChanged: false } },
      instructions: INSTRUCTIONS,
    },
  )
  mcp.server.setRequestHandler('tools/list', async () => {
    const caller = await answered(api.json<Caller>('/v1/me'))
    return { tools: TOOLS.filter((tool) => tool.allows(caller)).map(({ listed }) => listed) }
  })
  mcp.server.setRequestHandler('tools/call', async ({ params }) => {
    const called = TOOLS.find(({ name }) => name === params.name)
    if (!called) throw new ProtocolError(ProtocolErrorCode.InvalidParams, unknownTool(params.name))
    return called.call(api, params.arguments ?? {})
  })
  skillsExtension(api).attach(mcp)
  return mcp
}
