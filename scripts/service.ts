/** A client of a running service, with one API key. */
import { printable } from '../client/src/printable.ts'

const NOT_MODIFIED = 304

export class Service {
  readonly #baseUrl: string
  readonly #apiKey: string

  constructor(baseUrl: string, apiKey: string) {
    this.#baseUrl = baseUrl.replace(/\/+$/, '')
    this.#apiKey = apiKey
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

/** `fetch` puts the reason of a failure into the cause of its error. */
function causeOf({ message, cause }: Error): string {
  const { code, message: reason } = (cause ?? {}) as { code?: string; message?: string }
  return code ?? reason ?? message
}
