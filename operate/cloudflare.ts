/** Cloudflare's API for one account, called with wrangler's credentials. */
import { setTimeout } from 'node:timers/promises'
import type { Value } from '../src/db/parameters.ts'
import { type Deployment, readConfiguration, runWrangler } from '../tools/wrangler.ts'

const API_URL = 'https://api.cloudflare.com/client/v4'

const HOW_TO_LOG_IN =
  'You are not logged in to Cloudflare. Run `npm run wrangler -- login`, or set CLOUDFLARE_API_TOKEN to a token with the permissions that docs/deploy.md lists ("Deploy without a terminal").'

/** The codes of D1, R2 and Workers for a resource that does not exist. */
const MISSING_CODES = [7404, 10006, 10007, 10090]

interface Answer<Result> {
  readonly success?: boolean
  readonly result?: Result
  readonly errors?: readonly { readonly code: number; readonly message: string }[]
  /** The place in a list, if it has more pages. */
  readonly result_info?: { readonly cursor?: string; readonly is_truncated?: boolean | string }
}

/**
 * For calls that are rate limited. The pause applies where Cloudflare sends no `Retry-After`, and doubles
 * each time.
 */
const MAX_ATTEMPTS = 6
const PAUSE_MS = 1000

const UNAUTHORIZED = 401
const NOT_FOUND = 404
const TOO_MANY_REQUESTS = 429

/** A database of the account. */
export interface AccountDatabase {
  readonly uuid: string
  readonly name: string
  /** The location of the primary, such as "WEUR". */
  readonly running_in_region?: string
  /** The jurisdiction that the data must not leave, such as "eu". */
  readonly jurisdiction?: string | null
  readonly read_replication?: { readonly mode: string }
  /** In bytes. */
  readonly file_size?: number
}

/** A bucket of the account, and the jurisdiction that its objects must not leave. */
export interface AccountBucket {
  readonly name: string
  readonly jurisdiction?: string | undefined
}

/** One statement, and the values for its `?`. */
export interface Query {
  readonly sql: string
  readonly parameters?: readonly Value[]
}

export type Row = Record<string, Value>

/** A version of a Worker, and its share of the requests. */
export interface ServedVersion {
  readonly version_id: string
  readonly percentage: number
}

/** Cloudflare sends the ID of a database as `id` or as `database_id`. */
interface WorkerBinding {
  readonly type: string
  readonly name: string
  readonly id?: string
  readonly database_id?: string
}

/** The progress of an export. `result` is set when it is complete. */
interface ExportStep {
  readonly status?: 'active' | 'complete' | 'error'
  readonly error?: string
  readonly at_bookmark?: string
  readonly result?: { readonly signed_url: string }
}

export class Account {
  readonly #deployment: Deployment
  #id: string | undefined
  #headers: Readonly<Record<string, string>> = {}

  /** @param id needed only if the user who is logged in has several accounts. */
  constructor(deployment: Deployment, id: string | undefined) {
    this.#deployment = deployment
    this.#id = id
  }

  /** Logs in to the account of a deployment. */
  static async of(deployment: Deployment): Promise<Account> {
    const id = readConfiguration(deployment).account_id || process.env.CLOUDFLARE_ACCOUNT_ID || undefined
    const account = new Account(deployment, id)
    account.logIn()
    return account
  }

  /** @returns the account's name. @throws what to do, if nobody is logged in or the account is ambiguous. */
  logIn(): string {
    const { accounts } = this.#whoAmI()
    this.#id ??= accounts.length === 1 ? accounts[0]?.id : undefined
    if (!this.#id) {
      const list = accounts.map(({ id, name }) => `\n- ${id} (${name})`).join('')
      throw new Error(
        `Your Cloudflare login has ${accounts.length} accounts. Set CLOUDFLARE_ACCOUNT_ID to the ID of the one to deploy to.${list}`,
      )
    }
    const { token, key, email } = JSON.parse(runWrangler(['auth', 'token', '--json'], this.#deployment))
    this.#headers = token ? { Authorization: `Bearer ${token}` } : { 'X-Auth-Key': key, 'X-Auth-Email': email }
    // Otherwise wrangler would choose an account itself, perhaps another one.
    process.env.CLOUDFLARE_ACCOUNT_ID = this.#id
    return accounts.find(({ id }) => id === this.#id)?.name ?? this.#id
  }

  #whoAmI(): { accounts: { id: string; name: string }[] } {
    try {
      return JSON.parse(runWrangler(['whoami', '--json'], this.#deployment))
    } catch (error) {
      throw new Error(HOW_TO_LOG_IN, { cause: error })
    }
  }

  /** @returns undefined if the resource does not exist. */
  get<Result>(path: string): Promise<Result | undefined> {
    return this.#call('GET', path)
  }

  async put(path: string, body: object): Promise<void> {
    await this.#call('PUT', path, body)
  }

  post<Result>(path: string, body: object): Promise<Result | undefined> {
    return this.#call('POST', path, body)
  }

  /** The versions of a Worker that share its requests; undefined if it is not deployed. */
  async servedVersions(worker: string): Promise<readonly ServedVersion[] | undefined> {
    const found = await this.get<{ deployments?: { versions: ServedVersion[] }[] }>(
      `/workers/scripts/${worker}/deployments`,
    )
    return found?.deployments?.[0]?.versions
  }

  async serveVersions(worker: string, versions: readonly ServedVersion[]): Promise<void> {
    await this.post(`/workers/scripts/${worker}/deployments`, { strategy: 'percentage', versions })
  }

  /** @throws if the account does not have the database. */
  async databaseOf(nameOrId: string): Promise<AccountDatabase> {
    const found = await this.get<AccountDatabase>(`/d1/database/${nameOrId}`)
    if (!found) throw new Error(`The account has no D1 database ${nameOrId}.`)
    return found
  }

  /** Creates a database, in the location and jurisdiction of another one if there is one. */
  async createDatabase(name: string, like: AccountDatabase | undefined): Promise<AccountDatabase> {
    const { running_in_region: region, jurisdiction } = like ?? {}
    const made = await this.post<AccountDatabase>('/d1/database', {
      name,
      ...(jurisdiction ? { jurisdiction } : region && { primary_location_hint: region.toLowerCase() }),
    })
    if (!made) throw new Error(`Cloudflare did not create the database ${name}.`)
    return made
  }

  /** The ID of the database that a Worker has under a binding; undefined if it is not deployed. */
  async boundDatabase(worker: string, binding = 'DB'): Promise<string | undefined> {
    return (await this.boundDatabases(worker)).get(binding)
  }

  /** The IDs of the databases that a Worker has, by their bindings; none if it is not deployed. */
  async boundDatabases(worker: string): Promise<Map<string, string>> {
    const settings = await this.get<{ bindings?: WorkerBinding[] }>(`/workers/scripts/${worker}/settings`)
    const bindings = settings?.bindings?.filter(({ type }) => type === 'd1') ?? []
    return new Map(bindings.map(({ name, id, database_id }) => [name, database_id ?? id ?? '']))
  }

  /** The Time Travel bookmark of a database at an instant. @throws if its history does not reach back that far. */
  async bookmarkAt(databaseId: string, instant: string): Promise<string> {
    const query = new URLSearchParams({ timestamp: instant })
    const found = await this.get<{ bookmark: string }>(`/d1/database/${databaseId}/time_travel/bookmark?${query}`)
    if (!found)
      throw new Error(
        `The database's history does not reach back to ${instant}. Cloudflare keeps 30 days on the paid plan, 7 on the free one.`,
      )
    return found.bookmark
  }

  /** Restores a database to a bookmark, in place. */
  async timeTravel(databaseId: string, bookmark: string): Promise<void> {
    const query = new URLSearchParams({ bookmark })
    await this.post(`/d1/database/${databaseId}/time_travel/restore?${query}`, {})
  }

  /** Runs the statements in one transaction. @returns the rows of each. */
  async query(databaseId: string, queries: readonly Query[]): Promise<Row[][]> {
    const batch = queries.map(({ sql, parameters = [] }) => ({ sql, params: parameters }))
    const results = await this.post<{ results: Row[] }[]>(`/d1/database/${databaseId}/query`, { batch })
    return (results ?? []).map((result) => result.results)
  }

  /** Runs idempotent statements, and repeats them if they fail. */
  async repeatQuery(databaseId: string, queries: readonly Query[]): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.query(databaseId, queries)
        return
      } catch (error) {
        if (attempt === MAX_ATTEMPTS) throw error
        await setTimeout(PAUSE_MS * 2 ** attempt)
      }
    }
  }

  /** A consistent dump of the database, as SQL. */
  async export(databaseId: string): Promise<ReadableStream<Uint8Array>> {
    for (let bookmark: string | undefined; ; ) {
      const step = await this.post<ExportStep>(`/d1/database/${databaseId}/export`, {
        output_format: 'polling',
        current_bookmark: bookmark,
      })
      if (step?.status === 'error') throw new Error(`Cloudflare could not export the database: ${step.error}`)
      if (step?.result) {
        const response = await fetch(step.result.signed_url).catch(({ message }: Error) => {
          throw new Error(`The export could not be downloaded: ${message}.`)
        })
        if (response.ok && response.body) return response.body
        throw new Error(`The export could not be downloaded: HTTP status ${response.status}.`)
      }
      bookmark = step?.at_bookmark
      await setTimeout(PAUSE_MS)
    }
  }

  /** The modules that a Worker was uploaded with; undefined if the account has no such Worker. */
  async modules(worker: string): Promise<string[] | undefined> {
    const path = `/workers/scripts/${worker}/content/v2`
    const response = await this.#send(path, { headers: {} })
    if (response.status === NOT_FOUND) return undefined
    if (!response.ok) throw new Error(`Cloudflare answered GET ${path} with ${response.status}`)
    const isForm = response.headers.get('Content-Type')?.startsWith('multipart/')
    const modules = isForm ? [...(await response.formData()).values()] : [await response.text()]
    return Promise.all(modules.map((each) => new Response(each).text()))
  }

  /** Reads an object of a bucket, or writes it. @returns the response, which may be a failure. */
  object({ name, jurisdiction }: AccountBucket, key: string, content?: Blob): Promise<Response> {
    const headers = jurisdiction ? { 'cf-r2-jurisdiction': jurisdiction } : {}
    const path = key.split('/').map(encodeURIComponent).join('/')
    return this.#send(`/r2/buckets/${name}/objects/${path}`, {
      headers,
      ...(content && { method: 'PUT', body: content }),
    })
  }

  /** A page of the objects of a bucket. @param cursor of the page; undefined: the first. */
  async listObjects(
    { name, jurisdiction }: AccountBucket,
    cursor: string | undefined,
  ): Promise<{ objects: { key: string; size: number }[]; cursor: string | undefined }> {
    const query = new URLSearchParams({ per_page: '1000', ...(cursor !== undefined && { cursor }) })
    const path = `/r2/buckets/${name}/objects?${query}`
    const headers = jurisdiction ? { 'cf-r2-jurisdiction': jurisdiction } : {}
    const { result, result_info: info } = await this.#answer<{ key: string; size: number }[]>(
      'GET',
      path,
      undefined,
      headers,
    )
    return {
      objects: result ?? [],
      cursor: String(info?.is_truncated) === 'true' ? info?.cursor : undefined,
    }
  }

  async #call<Result>(method: string, path: string, body?: object): Promise<Result | undefined> {
    return (await this.#answer<Result>(method, path, body)).result
  }

  /** @returns an answer without a result if a resource that is read does not exist. @throws other failures. */
  async #answer<Result>(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = {},
  ): Promise<Answer<Result>> {
    const response = await this.#send(path, {
      method,
      // A synchronous wrangler command between two calls may outlast Cloudflare's keep-alive timeout.
      headers: { 'Content-Type': 'application/json', Connection: 'close', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
    const answer = (await response.json().catch(() => ({}))) as Answer<Result>
    const { success, errors = [] } = answer
    if (success) return answer
    if (method === 'GET' && errors.some(({ code }) => MISSING_CODES.includes(code))) return {}
    const reasons = errors.map(({ code, message }) => `${message} [code: ${code}]`).join(', ')
    throw new Error(`Cloudflare answered ${method} ${path} with ${response.status} ${reasons}`)
  }

  /** Repeats a call that is rate limited, and logs in again if the token has expired. */
  async #send(path: string, request: RequestInit & { headers: Record<string, string> }): Promise<Response> {
    const url = `${process.env.CLOUDFLARE_API_BASE_URL ?? API_URL}/accounts/${this.#id}${path}`
    let hasLoggedIn = false
    for (let attempt = 1; ; attempt++) {
      const headers = { ...request.headers, ...this.#headers }
      const response = await fetch(url, { ...request, redirect: 'error', headers }).catch(
        ({ message, cause }: Error) => {
          throw new Error(`Cloudflare's API did not answer: ${(cause as Error | undefined)?.message ?? message}`)
        },
      )
      const { status } = response
      if ((status !== TOO_MANY_REQUESTS && status !== UNAUTHORIZED) || attempt === MAX_ATTEMPTS) return response
      await response.body?.cancel()
      if (status === UNAUTHORIZED) {
        if (hasLoggedIn) return response
        hasLoggedIn = true
        this.logIn()
        continue
      }
      const seconds = Number(response.headers.get('Retry-After') ?? Number.NaN)
      await setTimeout(Number.isFinite(seconds) ? seconds * 1000 : PAUSE_MS * 2 ** attempt)
    }
  }
}
