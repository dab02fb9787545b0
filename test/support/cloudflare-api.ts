/**
 * A stand-in for Cloudflare's API, for tests on Node: as much of it as wrangler calls for a deployment. Its databases are
 * SQLite, so that migrations and statements run.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'

const ACCOUNT_ID = '0123456789abcdef0123456789abcdef'
const ACCOUNT = { id: ACCOUNT_ID, name: 'Acme' }

interface Database {
  readonly uuid: string
  readonly name: string
  readonly sqlite: DatabaseSync
  read_replication: { mode: string }
}

/** What an upload says of a Worker. */
interface Metadata {
  readonly bindings: { type: string; name: string; [field: string]: unknown }[]
  readonly placement?: object
  readonly limits?: object
}

interface Consumer {
  readonly script_name: string
  readonly dead_letter_queue: string
  readonly settings: object
}

interface Call {
  /** What the pattern of the route captured. */
  readonly names: readonly string[]
  readonly query: URLSearchParams
  readonly body: unknown
}

/** An answer that is no success. */
class Failure extends Error {
  readonly status: number
  readonly code: number

  constructor(status: number, code: number, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export class CloudflareApi {
  readonly databases: Database[] = []
  readonly buckets: string[] = []
  readonly queues: string[] = []
  /** Of each queue. */
  readonly consumers = new Map<string, Consumer>()
  /** The metadata of each upload of each Worker. */
  readonly uploads = new Map<string, Metadata[]>()
  readonly secrets = new Map<string, Map<string, string>>()
  readonly schedules = new Map<string, unknown>()
  subdomain: string | undefined
  /** `METHOD /path` of each call. */
  readonly calls: string[] = []
  /** The next call of this method and path fails. */
  failing: { readonly call: string; readonly status: number } | undefined
  readonly #server = createServer(async (request, response) => {
    const { status, body } = await this.#answer(request)
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
    for (const { sqlite } of this.databases) sqlite.close()
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const path = url.pathname.replace(`/accounts/${ACCOUNT_ID}`, '')
    const named = `${request.method} ${path}`
    const body = await bodyOf(request)
    this.calls.push(named)
    try {
      if (this.failing?.call === named) {
        const { status } = this.failing
        this.failing = undefined
        throw new Failure(status, 1, 'A failure on purpose')
      }
      for (const [pattern, answer] of this.#routes) {
        const match = pattern.exec(named)
        if (!match) continue
        const result = answer({ names: match.slice(1), query: url.searchParams, body })
        return { status: 200, body: { success: true, errors: [], messages: [], result } }
      }
      throw new Failure(404, 7003, `There is no ${named}`)
    } catch (error) {
      const { status = 500, code = 1, message } = error as Failure
      return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } }
    }
  }

  readonly #routes: [pattern: RegExp, answer: (call: Call) => unknown][] = [
    // The service itself, once it is uploaded.
    [/^GET \/health$/, () => ({})],
    [/^GET \/user\/tokens\/verify$/, () => ({ id: 'token', status: 'active' })],
    [/^GET \/user$/, () => ({ email: 'ada@example.com' })],
    [/^GET \/accounts$/, () => [ACCOUNT]],
    [/^GET \/memberships$/, () => [{ account: ACCOUNT }]],

    [/^POST \/d1\/database$/, ({ body }) => this.#makeDatabase((body as { name: string }).name)],
    [/^GET \/d1\/database\/([^/]+)$/, ({ names: [name] }) => described(this.#database(name))],
    [
      /^PUT \/d1\/database\/([^/]+)$/,
      ({ names: [name], body }) => described(Object.assign(this.#database(name), body)),
    ],
    [
      /^POST \/d1\/database\/([^/]+)\/query$/,
      ({ names: [name], body }) => query(this.#database(name).sqlite, body as { sql: string }),
    ],

    [
      /^POST \/r2\/buckets$/,
      ({ body }) => {
        this.buckets.push((body as { name: string }).name)
        return {}
      },
    ],
    [
      /^GET \/r2\/buckets\/([^/]+)$/,
      ({ names: [name = ''] }) => {
        if (this.buckets.includes(name)) return { name }
        throw new Failure(404, 10006, 'The specified bucket does not exist.')
      },
    ],

    [
      /^POST \/queues$/,
      ({ body }) => {
        const name = (body as { queue_name: string }).queue_name
        this.queues.push(name)
        return this.#queue(name)
      },
    ],
    [
      /^GET \/queues$/,
      ({ query }) =>
        this.queues.filter((name) => query.getAll('name').includes(name)).map((name) => this.#queue(name)),
    ],
    [
      /^(?:POST|PUT) \/queues\/([^/]+)\/consumers/,
      ({ names: [queue = ''], body }) => this.consumers.set(queue, body as Consumer) && {},
    ],

    [
      /^GET \/workers\/subdomain$/,
      () => {
        if (this.subdomain) return { subdomain: this.subdomain }
        throw new Failure(404, 10007, 'There is no subdomain')
      },
    ],
    [
      /^PUT \/workers\/subdomain$/,
      ({ body }) => {
        this.subdomain = (body as { subdomain: string }).subdomain
        return body
      },
    ],

    [/^GET \/workers\/services\/([^/]+)$/, ({ names: [name] }) => this.#service(name)],
    [/^GET \/workers\/workers\/([^/]+)$/, ({ names: [name] }) => this.#service(name)],
    [/^GET \/workers\/scripts\/([^/]+)\/settings$/, ({ names: [name] }) => this.#worker(name).at(-1)],
    [/^GET \/workers\/scripts\/([^/]+)\/deployments$/, () => ({ deployments: [] })],
    [
      /^GET \/workers\/scripts\/([^/]+)\/secrets$/,
      ({ names: [name] }) =>
        this.#worker(name) && [...(this.secrets.get(String(name)) ?? [])].map(([name]) => ({ name })),
    ],
    [/^POST \/workers\/scripts\/([^/]+)\/assets-upload-session$/, () => ({ jwt: 'assets', buckets: [] })],
    [/^PUT \/workers\/scripts\/([^/]+)$/, (call) => this.#upload(call)],
    [/^POST \/workers\/scripts\/([^/]+)\/versions$/, (call) => this.#upload(call)],
    [/^POST \/workers\/scripts\/([^/]+)\/deployments$/, () => ({})],
    [/^PATCH \/workers\/scripts\/([^/]+)\/script-settings$/, ({ body }) => body],
    [/^POST \/workers\/scripts\/([^/]+)\/subdomain$/, ({ body }) => body],
    [
      /^PUT \/workers\/scripts\/([^/]+)\/schedules$/,
      ({ names: [name = ''], body }) => {
        this.schedules.set(name, body)
        return {}
      },
    ],
  ]

  #makeDatabase(name: string) {
    const database = {
      uuid: crypto.randomUUID(),
      name,
      sqlite: new DatabaseSync(':memory:'),
      read_replication: { mode: 'disabled' },
    }
    this.databases.push(database)
    return described(database)
  }

  #queue(name: string) {
    const consumer = this.consumers.get(name)
    const consumers = consumer
      ? [{ consumer_id: 'consumer', script: consumer.script_name, type: 'worker' }]
      : []
    return { queue_id: name, queue_name: name, consumers }
  }

  /** The uploads of a Worker. */
  #worker(name = ''): Metadata[] {
    const found = this.uploads.get(name)
    if (!found) throw new Failure(404, 10007, 'This Worker does not exist on your account.')
    return found
  }

  #service(name: string | undefined) {
    this.#worker(name)
    return {
      default_environment: {
        environment: 'production',
        script: { tag: 'tag', tags: [], last_deployed_from: 'wrangler' },
      },
      subdomain: { enabled: true, previews_enabled: false },
    }
  }

  #upload({ names: [name = ''], body }: Call) {
    const metadata: Metadata = JSON.parse((body as { metadata: string }).metadata)
    this.uploads.set(name, [...(this.uploads.get(name) ?? []), metadata])
    const secrets = this.secrets.get(name) ?? new Map()
    this.secrets.set(name, secrets)
    for (const { type, name, text } of metadata.bindings)
      if (type === 'secret_text') secrets.set(name, String(text))
    const id = crypto.randomUUID()
    return {
      id,
      deployment_id: id.replaceAll('-', ''),
      startup_time_ms: 1,
      resources: { script: { etag: id } },
    }
  }

  #database(nameOrId: string | undefined): Database {
    const found = this.databases.find(({ name, uuid }) => name === nameOrId || uuid === nameOrId)
    if (!found) throw new Failure(404, 7404, 'The database was not found')
    return found
  }
}

function described({ uuid, name, read_replication }: Database) {
  return { uuid, name, read_replication, version: 'production', num_tables: 0, file_size: 0 }
}

/** The rows of each statement. */
function query(sqlite: DatabaseSync, { sql }: { sql: string }) {
  const answers = []
  for (let rest = sql.trim(); rest !== ''; ) {
    const statement = sqlite.prepare(rest)
    answers.push({
      success: true,
      results: statement.all(),
      meta: { duration: 0, rows_read: 0, rows_written: 0 },
    })
    rest = rest.slice(statement.sourceSQL.length).trim()
  }
  return answers
}

/** JSON, or the fields of a form. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const bytes = Buffer.concat(chunks)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/')) {
    const form = await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
    return Object.fromEntries(form)
  }
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString())
}
