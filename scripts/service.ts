/** A client of a running service, with one API key. */
import { existsSync, readFileSync } from 'node:fs'

const DEFAULT_URL = 'http://localhost:8787'
/** Where `npm run dev` describes the demo workspace. npm runs scripts in the root of the project. */
const DEMO_FILE = '.wrangler/state/demo.json'

/** The options `--url` and `--key`. */
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

  /** Without --key, uses WORKSPACE_API_KEY or the key and address of the demo workspace. @throws if there is none. */
  static fromOptions(options: ServiceOptions): Service {
    const given = options.key || process.env.WORKSPACE_API_KEY
    const demo = given ? undefined : readDemo()
    const url = options.url ?? demo?.baseUrl ?? DEFAULT_URL
    const apiKey = given || demo?.apiKey
    if (!apiKey)
      throw new Error('There is no API key. Pass --key, set WORKSPACE_API_KEY, or start `npm run dev` once.')
    if (!/^https?:\/\//.test(url) || !URL.canParse(url)) {
      throw new Error(`--url is not an http or https address; got "${url}"; example: ${DEFAULT_URL}.`)
    }
    return new Service(url, apiKey)
  }

  /** @param body sent as it is if it is bytes, otherwise as JSON. @throws the error message of the service. */
  async send<Body = unknown>(
    method: string,
    path: string,
    body?: object,
  ): Promise<{ status: number; body: Body }> {
    const isBytes = body instanceof Uint8Array
    const response = await fetch(this.#baseUrl + path, {
      method,
      headers: {
        Authorization: `Bearer ${this.#apiKey}`,
        ...(body && !isBytes && { 'Content-Type': 'application/json' }),
      },
      ...(body && { body: isBytes ? (body as Uint8Array<ArrayBuffer>) : JSON.stringify(body) }),
    }).catch((error: Error) => {
      throw new Error(`No answer from ${this.#baseUrl}: ${causeOf(error)}`)
    })
    const answer = (await response.json().catch(() => ({}))) as Body & { error?: string }
    if (!response.ok) throw new Error(answer.error ?? `${method} ${path}: ${response.status}`)
    return { status: response.status, body: answer }
  }
}

function readDemo(): { baseUrl: string; apiKey: string } | undefined {
  return existsSync(DEMO_FILE) ? JSON.parse(readFileSync(DEMO_FILE, 'utf8')) : undefined
}

/** `fetch` puts the reason of a failure into the cause of its error. */
function causeOf({ message, cause }: Error): string {
  const { code } = (cause ?? {}) as { code?: string }
  return code ?? message
}
