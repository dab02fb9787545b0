/** A client of a running service, with one API key. */
import { existsSync, readFileSync } from 'node:fs'
import { problemOfAddress, problemOfApiKey } from '../client/src/address.ts'
import { printable } from '../client/src/printable.ts'
import { UsageError } from './command-line.ts'

const DEFAULT_URL = 'http://localhost:8787'
/** Where `npm run dev` describes the demo workspace. npm runs scripts in the root of the project. */
const DEMO_FILE = '.wrangler/state/demo.json'

export const NOT_MODIFIED = 304
export const PRECONDITION_FAILED = 412

/** The options of `withService`. */
export interface ServiceOptions {
  readonly url?: string | undefined
  readonly key?: string | undefined
}

export class Service {
  readonly #baseUrl: string
  readonly #apiKey: string

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#apiKey = apiKey
  }

  /** @throws if there is no API key, or the address is not valid. */
  static fromOptions(options: ServiceOptions): Service {
    const { url, apiKey } = serviceOf(options)
    return new Service(url, apiKey)
  }

  /**
   * @param body sent as it is if it is bytes, otherwise as JSON.
   * @throws the error message of the service; the cause is the status. 304 is no error, and has no body.
   */
  async send<Body = unknown>(
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<{ status: number; body: Body; etag: string | null }> {
    const isBytes = body instanceof Uint8Array
    const response = await fetch(this.#baseUrl + path, {
      method,
      redirect: 'error',
      headers: {
        Authorization: `Bearer ${this.#apiKey}`,
        ...(body && !isBytes && { 'Content-Type': 'application/json' }),
        ...headers,
      },
      ...(body && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    }).catch((error: Error) => {
      throw new Error(`No answer from ${this.#baseUrl}: ${causeOf(error)}`)
    })
    const answer = (await response.json().catch(() => ({}))) as Body & { error?: string }
    const { status } = response
    if (!response.ok && status !== NOT_MODIFIED) {
      throw new Error(printable(answer.error ?? `${method} ${path}: ${status}`), { cause: status })
    }
    return { status, body: answer, etag: response.headers.get('ETag') }
  }
}

/**
 * The address and API key of the options, or else of WORKSPACE_URL and WORKSPACE_API_KEY, or else of the demo.
 * @throws if there is no API key, or the address is not valid.
 */
export function serviceOf(options: ServiceOptions): { url: string; apiKey: string } {
  const { WORKSPACE_URL, WORKSPACE_API_KEY } = process.env
  const url = options.url || WORKSPACE_URL || readDemo()?.baseUrl || DEFAULT_URL
  const apiKey = options.key || WORKSPACE_API_KEY || readDemo()?.apiKey
  if (!apiKey)
    throw new UsageError(
      'There is no API key. Pass --key, set WORKSPACE_API_KEY, or start `npm run dev` once.',
    )
  return {
    url: serviceUrl(url, options.url ? '--url' : 'WORKSPACE_URL'),
    apiKey: validApiKey(apiKey, options.key ? '--key' : 'WORKSPACE_API_KEY'),
  }
}

/** @param name of the setting. @returns the address without a slash at its end. @throws if it is not valid. */
export function serviceUrl(address: string, name: string): string {
  const problem = problemOfAddress(address)
  if (problem) throw new UsageError(`${name} ${problem}`)
  if (/^https?:\/\//i.test(address) && URL.canParse(address)) return new URL(address).href.replace(/\/+$/, '')
  // Before "@", even an address that is not valid may have a password.
  const sent = address.includes('@') ? 'text with "@"' : `"${address}"`
  throw new UsageError(
    `${name} is not an http or https address; got ${sent}; example: https://api.example.com.`,
  )
}

/** @param name of the setting. @throws if it is not valid, without repeating it. */
export function validApiKey(apiKey: string, name: string): string {
  const problem = problemOfApiKey(apiKey)
  if (problem) throw new UsageError(`${name} ${problem}`)
  return apiKey
}

/** @returns undefined if there is no such file. @throws if it is not JSON. */
export function readDemo(file = DEMO_FILE) {
  if (!existsSync(file)) return undefined
  try {
    return JSON.parse(readFileSync(file, 'utf8'))
  } catch {
    throw new Error(`${file} is not JSON. Delete it, or pass --url and --key.`)
  }
}

/** `fetch` puts the reason of a failure into the cause of its error. */
function causeOf({ message, cause }: Error): string {
  const { code, message: reason } = (cause ?? {}) as { code?: string; message?: string }
  return code ?? reason ?? message
}
