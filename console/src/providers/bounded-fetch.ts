import { readUpTo } from '../../../src/http/read-up-to.ts'
import { ProviderError } from './provider-error.ts'

/** For thousands of groups, or a page of 100 teams. */
const MAX_MIB = 2

type Init = Omit<RequestInit, 'body'> & { readonly body?: BodyInit | null | undefined }

/** Like `fetch`, for what a provider sends: the response is read here, as far as the limit. */
export async function boundedFetch(url: string, { body = null, ...init }: Init): Promise<Response> {
  const response = await fetch(url, { ...init, body })
  const bytes = await readUpTo(MAX_MIB * 2 ** 20, response.body)
  if (!bytes) {
    throw new ProviderError('provider_invalid', `${new URL(url).host} responded with more than ${MAX_MIB} MiB.`)
  }
  return new Response(bytes.byteLength > 0 ? bytes : null, response)
}
