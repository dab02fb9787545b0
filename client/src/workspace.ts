/** The client: resources and methods, made from the contracts of the operations. */
import { createWorkspaceClient, type WorkspaceClient } from './client.ts'
import { type Result, WorkspaceError } from './errors.ts'
import { Feed, type Following, type FollowOptions } from './events.ts'
import type { Answer, AnyPage, Call, CallOptions, List } from './operation.ts'
import { CALLS, HEADERS, type Resources } from './resources.ts'
import { type RetryOptions, retrying } from './retrying.ts'

export interface WorkspaceOptions extends Pick<RetryOptions, 'wait'> {
  /** The origin of a deployment, with `/api/public-api` if it is reached under the prefix. */
  readonly url: string
  readonly apiKey: string
  /** How many times a request that failed is repeated, if that is safe; default: 2. */
  readonly maxRetries?: number | undefined
  /** How long an attempt may take, in milliseconds; default: 60,000. */
  readonly timeout?: number | undefined
  /** Where requests go another way: through the service binding of a Worker, or a proxy. */
  readonly fetch?: ((request: Request) => Promise<Response>) | undefined
}

/**
 * A client of the service. Its methods throw a `WorkspaceError` if the response is an error.
 *
 * The arguments of a method are the parameters of the path in their order, the body if the operation takes one, and
 * an object of options: the parameters of the query, headers such as `ifMatch`, and `maxRetries`, `timeout`, `signal`.
 */
export type Workspace = Resources & {
  /** The typed low level, by method and path. It returns errors and does not throw them. */
  readonly client: WorkspaceClient
  readonly events: Following
}

type Options = CallOptions & Readonly<Record<string, unknown>>

const NOT_MODIFIED = 304

class Client {
  readonly client: WorkspaceClient

  constructor(options: WorkspaceOptions) {
    this.client = createWorkspaceClient(options.url, options.apiKey, retrying(options))
    const resources = resourcesOf(this.client, options)
    const { events } = resources
    Object.assign(events, { follow: (options?: FollowOptions) => new Feed(events, options) })
    Object.assign(this, resources)
  }
}

export const Workspace = Client as new (options: WorkspaceOptions) => Workspace

/** The resources with their methods. Their names and types come from the same document. */
function resourcesOf(client: WorkspaceClient, options: WorkspaceOptions): Resources {
  const resources: object = {}
  for (const [name, call] of Object.entries(CALLS)) {
    const [method = '', path = '', ...flags] = call.split(' ')
    const operation = new Operation(client, options, method, path, new Set(flags))
    const names = name.split('.')
    const last = names.pop() ?? ''
    let resource = resources as Record<string, object>
    for (const each of names) {
      resource[each] ??= {}
      resource = resource[each] as typeof resource
    }
    resource[last] = (...args: readonly unknown[]) => operation.call(args)
  }
  return resources as Resources
}

/** One operation. `flags` are those of generate.ts. */
class Operation {
  readonly #client: WorkspaceClient
  readonly #settings: WorkspaceOptions
  readonly #method: string
  readonly #path: string
  readonly #flags: ReadonlySet<string>

  constructor(
    client: WorkspaceClient,
    settings: WorkspaceOptions,
    method: string,
    path: string,
    flags: ReadonlySet<string>,
  ) {
    this.#client = client
    this.#settings = settings
    this.#method = method
    this.#path = path
    this.#flags = flags
  }

  call(args: readonly unknown[]): Call<unknown> | List<AnyPage> {
    const names = Array.from(this.#path.matchAll(/\{(\w+)\}/g), ([, name = '']) => name)
    const ids = names.map((name, index) => [name, args[index]] as const)
    const rest = args.slice(names.length)
    const takesBody = this.#flags.has('body') || this.#flags.has('upload')
    const [body, options = {}] = (takesBody ? rest : [undefined, ...rest]) as [unknown, Options?]
    const send = (more?: object) => toCall(this.#send(ids, body, { ...options, ...more }))
    return this.#flags.has('list') ? toList(send as (more?: object) => Call<AnyPage>) : send()
  }

  async #send(
    ids: readonly (readonly [string, unknown])[],
    content: unknown,
    { maxRetries, timeout, signal, headers, ...parameters }: Options,
  ): Promise<Answer<unknown>> {
    for (const [name, id] of ids) checkId(name, id)
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
    const query = Object.fromEntries(given.filter(([name]) => !Object.hasOwn(HEADERS, name)))
    const ofOperation = given.flatMap(([name, value]) => {
      const header = Object.hasOwn(HEADERS, name) ? HEADERS[name] : undefined
      return header === undefined ? [] : [[header, String(value)] as const]
    })
    const isUpload = this.#flags.has('upload')
    const body = isUpload ? await toContent(content) : content
    const result: Result<unknown> = await this.#client.request(
      this.#method.toLowerCase() as 'get',
      // The types of openapi-fetch accept one exact path.
      this.#path as '/v1/me',
      {
        params: { path: Object.fromEntries(ids), query } as never,
        headers: {
          ...(isUpload && { 'Content-Type': (body instanceof Blob && body.type) || 'application/octet-stream' }),
          ...(this.#flags.has('key') && { 'Idempotency-Key': newKey() }),
          ...Object.fromEntries(ofOperation),
          ...headers,
        },
        ...(body !== undefined && { body: body as never }),
        ...(signal && { signal }),
        parseAs: this.#flags.has('content') ? 'stream' : 'json',
        fetch: retrying({
          ...this.#settings,
          ...(maxRetries !== undefined && { maxRetries }),
          ...(timeout !== undefined && { timeout }),
          isRepeatable: !this.#flags.has('once'),
        }),
      },
    )
    const { response } = result
    if (!response.ok && response.status !== NOT_MODIFIED) throw new WorkspaceError(result)
    return { data: this.#flags.has('content') ? response : (result.data ?? null), response }
  }
}

/** @throws TypeError if the path would be that of another operation. */
function checkId(name: string, id: unknown): void {
  const isId = (typeof id === 'string' && id !== '') || typeof id === 'number'
  if (!isId || id === '.' || id === '..') throw new TypeError(`${name} is not an ID; got ${JSON.stringify(id)}.`)
}

/** A stream is read, because the service needs the length of an upload, and because a request may be repeated. */
async function toContent(content: unknown): Promise<unknown> {
  return content instanceof ReadableStream ? new Response(content).blob() : content
}

/** `crypto.randomUUID` does not exist on pages without HTTPS. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function toCall<Result>(answer: Promise<Answer<Result>>): Call<Result> {
  const data = answer.then((each) => each.data)
  const withResponse = () => {
    // Its rejection is that of the answer, which the caller gets.
    data.catch(() => undefined)
    return answer
  }
  return Object.assign(data, { withResponse })
}

function toList<Page extends AnyPage>(send: (more?: object) => Call<Page>): List<Page> {
  return {
    page: () => send(),
    async *[Symbol.asyncIterator]() {
      let more: object | undefined
      for (;;) {
        const { items, nextCursor, hasMore } = await send(more)
        yield* items
        if (nextCursor === null || hasMore === false) return
        more = hasMore ? { after: nextCursor } : { cursor: nextCursor }
      }
    },
  }
}
