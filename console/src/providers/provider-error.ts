/** What a provider did instead of saying who somebody is. */
import type { SignInProblem } from './problem.ts'

export class ProviderError extends Error {
  readonly reason: Extract<SignInProblem['reason'], `provider_${string}`>

  /** @param message for the page and the log: without tokens and personal data. */
  constructor(reason: ProviderError['reason'], message: string) {
    super(message)
    this.reason = reason
  }
}

/**
 * The JSON of a response. @param source what responded, as the subject of a sentence.
 * @throws ProviderError if there is none.
 */
export async function readJson(response: Response, source: string): Promise<unknown> {
  const { status } = response
  if (status !== 200) {
    await response.body?.cancel()
    const isRefusal = status >= 400 && status < 500 && status !== 429
    throw new ProviderError(
      isRefusal ? 'provider_refused' : 'provider_unavailable',
      `${source} responded with the status ${status}.`,
    )
  }
  return await response.json().catch(() => {
    throw new ProviderError('provider_invalid', `${source} responded with something else than JSON.`)
  })
}

/** @throws ProviderError unless the JSON is an object. */
export async function readObject(response: Response, source: string): Promise<Readonly<Record<string, unknown>>> {
  const json = await readJson(response, source)
  if (isObject(json)) return json
  throw new ProviderError('provider_invalid', `${source} responded with something else than an object.`)
}

export const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
