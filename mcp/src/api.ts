/** Calls the API Worker with the API key of the MCP request. */

/** The headers of the MCP request that the API needs: the key, and the address that refused keys are counted by. */
const PASSED_ON = ['Authorization', 'CF-Connecting-IP']

/** A response of the API that is not a success, as its sentence and its code. */
export class ApiFailure extends Error {
  readonly status: number
  readonly code: string | null
  readonly retryAfter: string | null

  private constructor(message: string, { status, headers }: Response) {
    super(message)
    this.status = status
    this.code = headers.get('Error-Code')
    this.retryAfter = headers.get('Retry-After')
  }

  /** Of what no operation finds, in the same form. */
  static notFound(sentence: string, code: string): ApiFailure {
    return new ApiFailure(sentence, new Response(null, { status: 404, headers: { 'Error-Code': code } }))
  }

  static async of(response: Response): Promise<ApiFailure> {
    const { error } = (await response.json().catch(() => ({}))) as { error?: string }
    return new ApiFailure(error ?? `The API answered with the status ${response.status}.`, response)
  }
}

export class Api {
  readonly #binding: Fetcher
  readonly #origin: string
  readonly #headers: [string, string][]
  /** The first 401 of the API. It answers the MCP request, whatever else was asked. */
  unauthorized: Response | undefined

  constructor(binding: Fetcher, { url, headers }: Request) {
    this.#binding = binding
    this.#origin = new URL(url).origin
    this.#headers = PASSED_ON.flatMap((name) => {
      const value = headers.get(name)
      return value === null ? [] : [[name, value]]
    })
  }

  /** @throws {ApiFailure} if the response is not a success. */
  async call(path: string, { headers, ...request }: RequestInit = {}): Promise<Response> {
    const all = new Headers(headers)
    for (const [name, value] of this.#headers) all.set(name, value)
    // Where the API reads from replicas. Calls of tools share no bookmark, and a model expects to see its own changes.
    all.set('X-Bookmark', 'latest')
    const response = await this.#binding.fetch(`${this.#origin}${path}`, { ...request, headers: all })
    if (response.ok) return response
    if (response.status === 401) this.unauthorized ??= response.clone()
    throw await ApiFailure.of(response)
  }

  /** A response that is JSON. */
  async json<Body>(path: string): Promise<Body> {
    return (await this.call(path)).json()
  }
}
