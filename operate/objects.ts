/**
 * The bucket of a command: that of a deployment through R2's HTTP API, or the local one through Miniflare, which also
 * works while `npm run dev` runs on the same state folder.
 */
import { randomUUID } from 'node:crypto'
import { createWriteStream, openAsBlob, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { setTimeout } from 'node:timers/promises'
import { readConfiguration, stateFolder, type Target } from '../tools/wrangler.ts'
import { Account } from './cloudflare.ts'

/** How many objects are read or written at once. */
export const OBJECTS_AT_ONCE = 8

const MAX_ATTEMPTS = 5
const PAUSE_MS = 500

const NOT_FOUND = 404
/** Statuses below 500 that another attempt may change: timeouts and rate limits. */
const TRANSIENT = [408, 429]
const SERVER_ERROR = 500

interface ObjectPage {
  readonly objects: readonly { readonly key: string; readonly size: number }[]
  readonly cursor?: string | undefined
}

/** How a place gives access to its bucket. */
interface Access {
  /** Writes the object if there is a content, otherwise reads it. */
  send(key: string, content?: Blob): Promise<Response>
  list(cursor: string | undefined): Promise<ObjectPage>
  close(): Promise<void>
}

export class ObjectStore {
  readonly #access: Access

  private constructor(access: Access) {
    this.#access = access
  }

  static async open(target: Target): Promise<ObjectStore> {
    const bucket = readConfiguration(target).r2_buckets.find(({ binding }) => binding === 'OBJECTS')
    if (!bucket?.bucket_name) throw new Error('The configuration has no R2 bucket with the binding "OBJECTS".')
    const { bucket_name: name, jurisdiction } = bucket
    return new ObjectStore(
      target.remote ? await remoteAccess(target, name, jurisdiction) : await localAccess(target, name),
    )
  }

  /**
   * Writes an object to a file, which appears when it is complete.
   * @param partial the file until then.
   * @param expectedBytes its size, where it is known.
   * @returns its size; undefined if the store does not have the object, or has it in another size.
   */
  download(key: string, file: string, partial: string, expectedBytes: number | null): Promise<number | undefined> {
    return repeatedly(`read ${key}`, async () => {
      const response = await this.#access.send(key)
      if (response.status === NOT_FOUND) {
        await response.body?.cancel()
        return undefined
      }
      await requireSuccess(response)
      // The types of workerd's streams, which this project has, do not know that Node's can be iterated.
      const body = (response.body ?? []) as unknown as AsyncIterable<Uint8Array>
      await pipeline(body, createWriteStream(partial))
      return statSync(partial).size
    })
      .then((size) => {
        if (size === undefined || (expectedBytes !== null && size !== expectedBytes)) return undefined
        renameSync(partial, file)
        return size
      })
      .finally(() => rmSync(partial, { force: true }))
  }

  upload(file: string, key: string): Promise<void> {
    return repeatedly(`write ${key}`, async () => {
      const response = await this.#access.send(key, (await openAsBlob(file)) as Blob)
      await requireSuccess(response)
      await response.body?.cancel()
    })
  }

  /** The size of each object. */
  async sizes(): Promise<Map<string, number>> {
    const found = new Map<string, number>()
    for (let cursor: string | undefined; ; ) {
      const at = cursor
      const page = await repeatedly('list the objects', () => this.#access.list(at))
      for (const { key, size } of page.objects) found.set(key, size)
      cursor = page.cursor
      if (cursor === undefined) return found
    }
  }

  close(): Promise<void> {
    return this.#access.close()
  }
}

/** Does the work for each item, for some of them at once. */
export async function forEachAtOnce<Item>(
  items: AsyncIterable<Item> | Iterable<Item>,
  most: number,
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const iterator = (async function* () {
    yield* items
  })()
  const worker = async () => {
    for (let next = await iterator.next(); !next.done; next = await iterator.next()) await work(next.value)
  }
  await Promise.all(Array.from({ length: most }, worker))
}

async function remoteAccess(target: Target, name: string, jurisdiction: string | undefined): Promise<Access> {
  const account = await Account.of(target)
  const bucket = { name, jurisdiction }
  return {
    send: (key, content) => account.object(bucket, key, content),
    list: (cursor) => account.listObjects(bucket, cursor),
    close: async () => undefined,
  }
}

const WORKER = `export default {
  async fetch(request, { BUCKET, PASSWORD }) {
    if (request.headers.get('Authorization') !== PASSWORD) return new Response(null, { status: 401 })
    const { pathname, searchParams } = new URL(request.url)
    const key = decodeURIComponent(pathname.slice(1))
    if (key === '') {
      const { objects, truncated, cursor } = await BUCKET.list({ cursor: searchParams.get('cursor') ?? undefined })
      return Response.json({
        objects: objects.map(({ key, size }) => ({ key, size })),
        cursor: truncated ? cursor : undefined,
      })
    }
    if (request.method === 'PUT') return Response.json(await BUCKET.put(key, request.body))
    const object = await BUCKET.get(key)
    return object ? new Response(object.body) : new Response(null, { status: ${NOT_FOUND} })
  }
}`

async function localAccess(target: Target, name: string): Promise<Access> {
  // The Worker does not use `request.cf`, which Miniflare would fetch from the internet.
  process.env.CLOUDFLARE_CF_FETCH_ENABLED = 'false'
  // Loaded on first use: it takes half a second.
  const { convertV4MiniflareOptions, Miniflare } = await import('miniflare')
  // Other programs on this machine reach the port, too.
  const password = randomUUID()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      modules: true,
      script: WORKER,
      compatibilityDate: readConfiguration(target).compatibility_date ?? '',
      resourcePersistencePath: join(stateFolder(target), 'v3'),
      r2Buckets: { BUCKET: name },
      bindings: { PASSWORD: password },
    }),
  )
  const url = await miniflare.ready
  const headers = { Authorization: password }
  return {
    send: (key, content) =>
      fetch(new URL(encodeURIComponent(key), url), { headers, ...(content && { method: 'PUT', body: content }) }),
    async list(cursor) {
      const path = cursor === undefined ? '' : `?${new URLSearchParams({ cursor })}`
      const response = await fetch(new URL(path, url), { headers })
      await requireSuccess(response)
      return (await response.json()) as ObjectPage
    },
    close: () => miniflare.dispose(),
  }
}

/** A failure that another attempt does not change. */
class Refusal extends Error {}

async function requireSuccess(response: Response): Promise<void> {
  if (response.ok) return
  const message = `HTTP status ${response.status}: ${(await response.text()).slice(0, 300)}`
  const isTransient = response.status >= SERVER_ERROR || TRANSIENT.includes(response.status)
  throw isTransient ? new Error(message) : new Refusal(message)
}

/** Repeats idempotent work after a transient failure. */
async function repeatedly<Result>(what: string, work: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await work()
    } catch (error) {
      if (error instanceof Refusal || attempt === MAX_ATTEMPTS) {
        throw new Error(`The object store could not ${what}: ${(error as Error).message}`)
      }
      await setTimeout(PAUSE_MS * 2 ** attempt)
    }
  }
}
