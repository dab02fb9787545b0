/**
 * A stand-in for Cloudflare's API, for tests on Node: as much of it as wrangler calls for a deployment. Its
 * databases are SQLite, so that migrations and statements run.
 */
import { readFileSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ROOT } from './commands.ts'
import { newFolder } from './dev-server.ts'
import { applyMigrations } from './local-state.ts'

const ACCOUNT_ID = '0123456789abcdef0123456789abcdef'
const { version: VERSION } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
const ACCOUNT = { id: ACCOUNT_ID, name: 'Acme' }

/** D1's limits (https://developers.cloudflare.com/d1/platform/limits/). */
const LARGEST_STATEMENT_BYTES = 100_000
const LARGEST_PARAMETER_BYTES = 2_000_000
const MAX_PARAMETERS = 100

interface Database {
  readonly uuid: string
  readonly name: string
  sqlite: DatabaseSync
  /** What it was, and when. */
  readonly history: { readonly at: string; readonly file: string }[]
  read_replication: { mode: string }
}

interface Statement {
  readonly sql: string
  readonly params?: readonly (string | number | null)[]
}

/** What an upload says of a Worker. */
interface Metadata {
  readonly bindings: { type: string; name: string; [field: string]: unknown }[]
  readonly placement?: object
  readonly limits?: object
  readonly compatibility_flags?: readonly string[]
  readonly observability?: object
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

/** A page of a list that is continued by a cursor. */
class Page {
  readonly result: object[]
  readonly result_info: object

  constructor(result: object[], cursor: string | undefined) {
    this.result = result
    this.result_info = { per_page: result.length, is_truncated: cursor !== undefined, cursor: cursor ?? '' }
  }
}

/** An answer of the service, which is no answer of Cloudflare's API. */
class OfService {
  readonly body: object
  /** Undefined: as the service is healthy. */
  readonly status: number | undefined

  constructor(body: object, status?: number) {
    this.body = body
    this.status = status
  }
}

interface Served {
  readonly version_id: string
  readonly percentage: number
}

const OBJECT_PATH = /\/r2\/buckets\/([^/]+)\/objects\/([^?]+)/

function isObject({ url = '' }: IncomingMessage): boolean {
  return OBJECT_PATH.test(url)
}

export class CloudflareApi {
  readonly databases: Database[] = []
  readonly buckets: string[] = []
  /** The objects of all buckets, by `bucket/key`. */
  readonly objects = new Map<string, Buffer>()
  readonly queues: string[] = []
  /** The namespaces of KV. */
  readonly namespaces: { readonly id: string; readonly title: string }[] = []
  /** The consumers of each queue. */
  readonly consumers = new Map<string, Consumer>()
  /** The modules of the last upload of each Worker, by their names. */
  readonly modules = new Map<string, Map<string, string>>()
  /** The metadata of each upload of each Worker. */
  readonly uploads = new Map<string, Metadata[]>()
  readonly secrets = new Map<string, Map<string, string>>()
  readonly schedules = new Map<string, unknown>()
  /** The versions of each Worker that requests go to. */
  readonly served = new Map<string, Served[]>()
  /** The bytes of databases, by their names, where it is not that of the SQLite file. */
  readonly sizes = new Map<string, number>()
  subdomain: string | undefined
  /** What the service says of itself. */
  isHealthy = true
  mcpStatus = 401
  consoleStatus = 200
  /** The versions that requests to the service asked for. */
  readonly overrides: string[] = []
  version = VERSION
  /** The Workers whose requests several versions share. */
  readonly shared = new Set<string>()
  /** `METHOD /path` of each call. */
  readonly calls: string[] = []
  /** The next call of this method and path fails. */
  failing:
    | {
        readonly call: string | RegExp | ((call: string, body: unknown) => boolean)
        readonly status: number
      }
    | undefined
  /** Called before and after each call. */
  watch: (call: string) => void = () => undefined
  readonly #folder = newFolder()
  #address = ''
  readonly #server = createServer(async (request, response) => {
    const dump = /^\/dumps\/([^/]+)$/.exec(request.url ?? '')
    if (dump) return response.end(dumpOf(this.#database(dump[1]).sqlite))
    if (isObject(request)) return this.#answerObject(request, response)
    const { status, body } = await this.#answer(request)
    if (body instanceof FormData) {
      const form = new Response(body)
      response.writeHead(status, Object.fromEntries(form.headers))
      return response.end(Buffer.from(await form.arrayBuffer()))
    }
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  })

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    this.#address = `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
    return this.#address
  }

  /** Remembers what the databases are now, for Time Travel. */
  remember(): void {
    for (const { history, sqlite } of this.databases) {
      const file = join(this.#folder, `${crypto.randomUUID()}.sqlite`)
      sqlite.prepare('VACUUM INTO ?').run(file)
      history.push({ at: new Date().toISOString(), file })
    }
  }

  /** An account as `npm run deploy` leaves it, apart from what is not asked for again. */
  deployed(
    worker: string,
    resources: { readonly buckets: readonly string[]; readonly queues: readonly string[] },
  ): void {
    const { uuid } = this.#makeDatabase(worker)
    applyMigrations(this.#database(uuid).sqlite)
    this.uploads.set(worker, [{ bindings: [{ type: 'd1', name: 'DB', id: uuid }] }])
    this.buckets.push(...resources.buckets)
    this.queues.push(...resources.queues)
    this.subdomain = 'acme'
  }

  /** An account as a "Deploy to Cloudflare" button leaves it before its first build. @returns the ID of the database. */
  provide(database: string, resources: { readonly buckets: readonly string[]; readonly queues: readonly string[] }) {
    this.buckets.push(...resources.buckets)
    this.queues.push(...resources.queues)
    return this.#makeDatabase(database).uuid
  }

  /** A database that the deployed Worker has. */
  bound(worker: string, binding = 'DB'): Database | undefined {
    const id = this.boundIds(worker).get(binding)
    return this.databases.find(({ uuid }) => uuid === id)
  }

  /** The IDs of the databases that the deployed Worker has, by their bindings. */
  boundIds(worker: string): Map<string, unknown> {
    const bindings =
      this.uploads
        .get(worker)
        ?.at(-1)
        ?.bindings.filter(({ type }) => type === 'd1') ?? []
    return new Map(bindings.map(({ name, id }) => [name, id]))
  }

  close(): void {
    this.#server.closeAllConnections()
    this.#server.close()
    for (const { sqlite } of this.databases) sqlite.close()
    rmSync(this.#folder, { recursive: true })
  }

  async #answer(request: IncomingMessage): Promise<{ status: number; body: object }> {
    const url = new URL(request.url ?? '', 'http://localhost')
    const path = url.pathname.replace(`/accounts/${ACCOUNT_ID}`, '')
    const named = `${request.method} ${path}`
    const body = await bodyOf(request)
    this.calls.push(named)
    const override = request.headers['cloudflare-workers-version-overrides']
    if (override) this.overrides.push(String(override))
    this.watch(named)
    try {
      if (this.failing && this.#isCall(this.failing.call, named, body)) {
        const { status } = this.failing
        this.failing = undefined
        throw new Failure(status, 1, 'A failure on purpose')
      }
      for (const [pattern, answer] of this.#routes) {
        const match = pattern.exec(named)
        if (!match) continue
        const result = await answer({ names: match.slice(1), query: url.searchParams, body })
        this.watch(named)
        if (result instanceof FormData) return { status: 200, body: result }
        if (result instanceof OfService) {
          return { status: result.status ?? (this.isHealthy ? 200 : 503), body: result.body }
        }
        const answered = result instanceof Page ? result : { result }
        return { status: 200, body: { success: true, errors: [], messages: [], ...answered } }
      }
      throw new Failure(404, 7003, `There is no ${named}`)
    } catch (error) {
      const { status = 500, code = 1, message } = error as Failure
      return { status, body: { success: false, errors: [{ code, message }], messages: [], result: null } }
    }
  }

  /** An object is its bytes, and not JSON. */
  async #answerObject(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [, bucket = '', key = ''] = OBJECT_PATH.exec(request.url ?? '') ?? []
    const named = `${request.method} ${bucket}/${decodeURIComponent(key)}`
    this.calls.push(named)
    this.watch(named)
    const content = request.method === 'PUT' ? await bytesOf(request) : undefined
    const fail = (status: number, code: number, message: string) =>
      response
        .writeHead(status, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ success: false, errors: [{ code, message }], messages: [], result: null }))
    if (this.failing && this.#isCall(this.failing.call, named, undefined)) {
      const { status } = this.failing
      this.failing = undefined
      fail(status, 1, 'A failure on purpose')
      return
    }
    const place = `${bucket}/${decodeURIComponent(key)}`
    if (!this.buckets.includes(bucket)) fail(404, 10006, 'The specified bucket does not exist.')
    else if (content) {
      this.objects.set(place, content)
      const result = { key: decodeURIComponent(key), size: String(content.length) }
      response
        .writeHead(200, { 'Content-Type': 'application/json' })
        .end(JSON.stringify({ success: true, errors: [], messages: [], result }))
    } else if (this.objects.has(place)) response.writeHead(200).end(this.objects.get(place))
    else fail(404, 10007, 'The specified key does not exist.')
  }

  #isCall(call: string | RegExp | ((call: string, body: unknown) => boolean), named: string, body: unknown): boolean {
    if (typeof call === 'function') return call(named, body)
    return typeof call === 'string' ? call === named : call.test(named)
  }

  readonly #routes: [pattern: RegExp, answer: (call: Call) => unknown][] = [
    // The service itself, once it is uploaded.
    [/^GET \/health$/, () => new OfService({ databases: this.boundIds('workspace-api').size })],
    [/^POST \/mcp$/, () => new OfService({}, this.mcpStatus)],
    [/^GET \/\.well-known\/oauth-authorization-server$/, () => new OfService({}, this.consoleStatus)],
    [/^GET \/openapi\.json$/, () => new OfService({ info: { version: this.version } })],
    [/^GET \/user\/tokens\/verify$/, () => ({ id: 'token', status: 'active' })],
    [/^GET \/user$/, () => ({ email: 'ada@example.com' })],
    [/^GET \/accounts$/, () => [ACCOUNT]],
    [/^GET \/memberships$/, () => [{ account: ACCOUNT }]],

    [/^POST \/d1\/database$/, ({ body }) => this.#makeDatabase((body as { name: string }).name)],
    [
      /^DELETE \/d1\/database\/([^/]+)$/,
      ({ names: [name] }) => void this.databases.splice(this.databases.indexOf(this.#database(name)), 1),
    ],
    [
      /^GET \/d1\/database\/([^/]+)$/,
      ({ names: [name] }) => {
        const found = this.#database(name)
        const size = this.sizes.get(found.name)
        return { ...described(found), ...(size !== undefined && { file_size: size }) }
      },
    ],
    [
      /^PUT \/d1\/database\/([^/]+)$/,
      ({ names: [name], body }) => described(Object.assign(this.#database(name), body)),
    ],
    [
      /^POST \/d1\/database\/([^/]+)\/query$/,
      ({ names: [name], body }) => query(this.#database(name).sqlite, body as Statement & { batch?: Statement[] }),
    ],
    [
      /^POST \/d1\/database\/([^/]+)\/export$/,
      ({ names: [name], body }) => {
        const { uuid } = this.#database(name)
        // It is asked until it is done.
        if (!(body as { current_bookmark?: string }).current_bookmark) return { status: 'active', at_bookmark: '1' }
        return { status: 'complete', result: { signed_url: `${this.#address}/dumps/${uuid}` } }
      },
    ],
    [
      /^POST \/d1\/database\/([^/]+)\/time_travel\/restore$/,
      ({ names: [name], query }) => this.#travel(this.#database(name), query.get('bookmark') ?? ''),
    ],
    [
      /^GET \/d1\/database\/([^/]+)\/time_travel\/bookmark$/,
      ({ names: [name], query }) => {
        const found = this.#database(name).history.findLast(({ at }) => at <= (query.get('timestamp') ?? ''))
        if (!found) throw new Failure(400, 7500, 'There is no history of this instant')
        return { bookmark: found.file }
      },
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
      /^DELETE \/r2\/buckets\/([^/]+)$/,
      ({ names: [name = ''] }) => void this.buckets.splice(this.buckets.indexOf(name), 1),
    ],
    [
      /^GET \/r2\/buckets\/([^/]+)\/objects$/,
      ({ names: [name], query }) => {
        const [perPage, after] = [Number(query.get('per_page') ?? 20), query.get('cursor') ?? '']
        const keys = [...this.objects.keys()]
          .filter((place) => place.startsWith(`${name}/`))
          .map((place) => place.slice(`${name}/`.length))
          .sort()
          .filter((key) => key > after)
        const page = keys.slice(0, perPage)
        return new Page(
          page.map((key) => ({ key, size: this.objects.get(`${name}/${key}`)?.length })),
          keys.length > perPage ? page.at(-1) : undefined,
        )
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
      ({ query }) => this.queues.filter((name) => query.getAll('name').includes(name)).map((name) => this.#queue(name)),
    ],
    [
      /^(?:POST|PUT) \/queues\/([^/]+)\/consumers/,
      ({ names: [queue = ''], body }) => this.consumers.set(queue, body as Consumer) && {},
    ],

    [/^DELETE \/queues\/([^/]+)\/consumers\/consumer$/, ({ names: [queue = ''] }) => void this.consumers.delete(queue)],
    [/^DELETE \/queues\/([^/]+)$/, ({ names: [name = ''] }) => this.#deleteQueue(name)],

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
    [
      /^DELETE \/workers\/services\/([^/]+)$/,
      ({ names: [name = ''], query }) => this.#deleteWorker(name, query.get('force') === 'true'),
    ],
    [
      /^GET \/workers\/scripts\/([^/]+)\/references$/,
      ({ names: [name = ''] }) => ({ services: { incoming: this.#boundTo(name), outgoing: [] } }),
    ],
    [/^GET \/workers\/tails\/by-consumer\/([^/]+)$/, () => []],
    [/^GET \/storage\/kv\/namespaces$/, () => this.namespaces],
    [
      /^POST \/storage\/kv\/namespaces$/,
      ({ body }) => {
        if (this.namespaces.some(({ title }) => title === (body as { title: string }).title))
          throw new Failure(400, 10014, 'create namespace: a namespace with this account ID and title already exists')
        const made = { id: crypto.randomUUID().replaceAll('-', ''), title: (body as { title: string }).title }
        this.namespaces.push(made)
        return made
      },
    ],
    [
      /^DELETE \/storage\/kv\/namespaces\/([^/]+)$/,
      ({ names: [id] }) =>
        void this.namespaces.splice(
          this.namespaces.findIndex((each) => each.id === id),
          1,
        ),
    ],
    [/^GET \/workers\/workers\/([^/]+)$/, ({ names: [name] }) => this.#service(name)],
    [/^GET \/workers\/scripts\/([^/]+)\/settings$/, ({ names: [name] }) => this.#worker(name).at(-1)],
    [
      /^GET \/workers\/scripts\/([^/]+)\/deployments$/,
      ({ names: [name = ''] }) => {
        this.#worker(name)
        const [version = { version_id: crypto.randomUUID(), percentage: 100 }] = this.served.get(name) ?? []
        const other = { version_id: crypto.randomUUID(), percentage: 10 }
        const versions = this.shared.has(name) ? [{ ...version, percentage: 90 }, other] : [version]
        if (!this.shared.has(name)) this.served.set(name, versions)
        return { deployments: [{ id: crypto.randomUUID(), versions }] }
      },
    ],
    [/^GET \/workers\/scripts\/([^/]+)\/content\/v2$/, ({ names: [name = ''] }) => this.#content(name)],
    [
      /^GET \/workers\/scripts\/([^/]+)\/schedules$/,
      ({ names: [name = ''] }) => ({ schedules: this.schedules.get(name) ?? [] }),
    ],
    [
      /^GET \/workers\/scripts\/([^/]+)\/secrets$/,
      ({ names: [name] }) =>
        this.#worker(name) && [...(this.secrets.get(String(name)) ?? [])].map(([name]) => ({ name })),
    ],
    [/^POST \/workers\/scripts\/([^/]+)\/assets-upload-session$/, () => ({ jwt: 'assets', buckets: [] })],
    [
      /^PUT \/workers\/scripts\/([^/]+)$/,
      async (call) => {
        const made = await this.#upload(call)
        this.served.set(call.names[0] ?? '', [{ version_id: made.id, percentage: 100 }])
        return made
      },
    ],
    [/^POST \/workers\/scripts\/([^/]+)\/versions$/, (call) => this.#upload(call)],
    [
      /^POST \/workers\/scripts\/([^/]+)\/deployments$/,
      ({ names: [name = ''], body }) => {
        this.served.set(name, (body as { versions: Served[] }).versions)
        return {}
      },
    ],
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
      history: [],
      read_replication: { mode: 'disabled' },
    }
    this.databases.push(database)
    return described(database)
  }

  /** A bookmark of this stand-in is a file. */
  #travel(database: Database, bookmark: string) {
    database.sqlite.close()
    database.sqlite = new DatabaseSync(bookmark)
    return { bookmark }
  }

  #queue(name: string) {
    const consumer = this.consumers.get(name)
    const { script_name: script, ...rest } = consumer ?? {}
    const consumers = consumer ? [{ ...rest, consumer_id: 'consumer', script, type: 'worker' }] : []
    return { queue_id: name, queue_name: name, consumers }
  }

  /** Refused while it is the dead letter queue of a consumer, or a Worker is bound to it. */
  #deleteQueue(name: string): void {
    const isDeadLetterQueue = [...this.consumers.values()].some((each) => each.dead_letter_queue === name)
    const isBound = [...this.uploads.values()].some((uploads) =>
      uploads.at(-1)?.bindings.some(({ queue_name }) => queue_name === name),
    )
    if (isDeadLetterQueue || isBound) throw new Failure(400, 11005, `Cannot delete queue '${name}'`)
    this.queues.splice(this.queues.indexOf(name), 1)
  }

  /** The Workers with a service binding to a Worker. */
  #boundTo(worker: string) {
    return [...this.uploads]
      .filter(([, uploads]) => uploads.at(-1)?.bindings.some(({ service }) => service === worker))
      .map(([service]) => ({ service, environment: 'production' }))
  }

  /** Refused while it consumes a queue, and, without `force`, while another Worker is bound to it. */
  #deleteWorker(name: string, force: boolean): void {
    this.#worker(name)
    if ([...this.consumers.values()].some(({ script_name }) => script_name === name))
      throw new Failure(403, 10064, 'Cannot delete this Worker as it is a consumer for a Queue.')
    if (!force && this.#boundTo(name).length > 0) throw new Failure(400, 10039, 'Other Workers use this Worker.')
    this.uploads.delete(name)
  }

  /** The uploads of a Worker. */
  #worker(name = ''): Metadata[] {
    const found = this.uploads.get(name)
    if (!found) throw new Failure(404, 10007, 'This Worker does not exist on your account.')
    return found
  }

  /** A form with a file for each module. */
  #content(name: string): FormData {
    this.#worker(name)
    const form = new FormData()
    for (const [module, code] of this.modules.get(name) ?? []) {
      form.set(module, new File([code], module, { type: 'application/javascript+module' }))
    }
    return form
  }

  #service(name: string | undefined) {
    this.#worker(name)
    return {
      default_environment: {
        environment: 'production',
        script: { tag: `tag of ${name}`, tags: [], last_deployed_from: 'wrangler' },
      },
      subdomain: { enabled: true, previews_enabled: false },
    }
  }

  async #upload({ names: [name = ''], body }: Call) {
    const { metadata: json, ...files } = body as { metadata: string; [module: string]: string | File }
    const sent: Metadata = JSON.parse(json)
    const earlier = this.uploads.get(name)?.at(-1)?.bindings ?? []
    // What the Worker has already, wrangler does not name again.
    const bindings = sent.bindings.map((binding) =>
      binding.type === 'inherit' ? (earlier.find((each) => each.name === binding.name) ?? binding) : binding,
    )
    const metadata: Metadata = { ...sent, bindings }
    const missing = metadata.bindings.find(
      ({ type, service }) => type === 'service' && !this.uploads.has(String(service)),
    )
    if (missing) throw new Failure(400, 10143, `Could not resolve service binding '${missing.name}'.`)
    this.uploads.set(name, [...(this.uploads.get(name) ?? []), metadata])
    const modules = Object.entries(files).filter(([, file]) => file instanceof File)
    this.modules.set(name, new Map())
    for (const [module, file] of modules) this.modules.get(name)?.set(module, await new Response(file).text())
    const secrets = this.secrets.get(name) ?? new Map()
    this.secrets.set(name, secrets)
    for (const { type, name, text } of metadata.bindings) if (type === 'secret_text') secrets.set(name, String(text))
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

function described({ uuid, name, read_replication, sqlite }: Database) {
  const size = sqlite.prepare('SELECT page_count * page_size AS "bytes" FROM pragma_page_count, pragma_page_size').get()
  return {
    uuid,
    name,
    read_replication,
    version: 'production',
    num_tables: 0,
    file_size: Number(size?.bytes),
  }
}

/** The rows of each statement, all of them in one transaction. */
function query(sqlite: DatabaseSync, { sql, params, batch }: Statement & { batch?: Statement[] }) {
  sqlite.exec('BEGIN')
  try {
    const answers = (batch ?? [{ sql, params: params ?? [] }]).flatMap((statement) => runAll(sqlite, statement))
    sqlite.exec('COMMIT')
    return answers
  } catch (error) {
    if (sqlite.isTransaction) sqlite.exec('ROLLBACK')
    throw new Failure(400, 7500, (error as Error).message)
  }
}

/** A text may have several statements, of which none has parameters then. */
function runAll(sqlite: DatabaseSync, { sql, params = [] }: Statement) {
  if (params.length > MAX_PARAMETERS) throw new Error('too many SQL variables')
  if (params.some((value) => typeof value === 'string' && Buffer.byteLength(value) > LARGEST_PARAMETER_BYTES)) {
    throw new Error('string or blob too big: SQLITE_TOOBIG')
  }
  const answers = []
  for (let rest = sql.trim(); rest !== ''; ) {
    const statement = sqlite.prepare(rest)
    if (Buffer.byteLength(statement.sourceSQL) > LARGEST_STATEMENT_BYTES) {
      throw new Error('statement too long: SQLITE_TOOBIG')
    }
    answers.push({
      success: true,
      results: statement.all(...params),
      meta: { duration: 0, rows_read: 0, rows_written: 0 },
    })
    rest = rest.slice(statement.sourceSQL.length).trim()
  }
  return answers
}

/**
 * A text as D1 exports it (and wrangler, in its SQLite export): a line break becomes two characters that are replaced when
 * the dump is loaded, and a text that has these two characters already becomes another one.
 */
function asExported(value: unknown): string {
  if (typeof value !== 'string') return String(value ?? 'NULL')
  const [hasNewline, hasReturn] = [value.includes('\n'), value.includes('\r')]
  let literal = `'${value.replaceAll("'", "''").replaceAll('\n', '\\n').replaceAll('\r', '\\r')}'`
  if (hasReturn) literal = `replace(${literal},'\\r',char(13))`
  if (hasNewline) literal = `replace(${literal},'\\n',char(10))`
  return literal
}

/** A database as D1 exports it: tables with their rows, then indexes, then triggers. */
function dumpOf(sqlite: DatabaseSync): string {
  const schema = sqlite
    .prepare(
      `SELECT "type", "name", "sql" FROM sqlite_master WHERE "sql" IS NOT NULL AND "name" NOT LIKE 'sqlite%'
       ORDER BY "type" = 'trigger', "type" = 'index'`,
    )
    .all()
  const lines = ['PRAGMA defer_foreign_keys=TRUE;']
  for (const { type, name, sql } of schema) {
    lines.push(`${sql};`)
    if (type !== 'table') continue
    const columns = sqlite.prepare('SELECT "name" FROM pragma_table_info(?)').all(String(name))
    const names = columns.map((column) => `"${column.name}"`).join(',')
    for (const row of sqlite.prepare(`SELECT * FROM "${name}"`).all()) {
      lines.push(`INSERT INTO "${name}" (${names}) VALUES(${Object.values(row).map(asExported).join(',')});`)
    }
  }
  return lines.join('\n')
}

/** JSON, or the fields of a form. */
async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const bytes = await bytesOf(request)
  const type = request.headers['content-type'] ?? ''
  if (type.startsWith('multipart/')) {
    const form = await new Response(bytes, { headers: { 'Content-Type': type } }).formData()
    return Object.fromEntries(form)
  }
  return bytes.length === 0 ? undefined : JSON.parse(bytes.toString())
}

async function bytesOf(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  return Buffer.concat(chunks)
}
