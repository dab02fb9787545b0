/** The typed low level. Its types are generated from the OpenAPI document: `npm run generate -- openapi` renews them. */
import createClient, { type Client } from 'openapi-fetch'
import { problemOfAddress, problemOfApiKey } from './address.ts'
import type { paths } from './api.ts'
import { WorkspaceError } from './errors.ts'

export type WorkspaceClient = Client<paths>

const REDIRECTS = [301, 302, 303, 307, 308]

/**
 * Redirects are errors: a followed one would send the body of a request, such as environment variables, to another
 * origin.
 * @throws TypeError if the address has credentials, or if the API key has a character that no key has.
 */
export function createWorkspaceClient(
  url: string,
  apiKey: string,
  fetch: (request: Request) => Promise<Response>,
): WorkspaceClient {
  const addressProblem = problemOfAddress(url)
  if (addressProblem) throw new TypeError(`url ${addressProblem}`)
  const keyProblem = problemOfApiKey(apiKey)
  if (keyProblem) throw new TypeError(`apiKey ${keyProblem}`)
  const client = createClient<paths>({
    fetch,
    baseUrl: url,
    // `error` does not exist in Workers, and its message says little elsewhere.
    redirect: 'manual',
    headers: { Authorization: `Bearer ${apiKey}` },
    querySerializer,
    bodySerializer: (body) => (isContent(body) ? body : JSON.stringify(body)),
  })
  client.use({ onResponse: ({ request, response }) => refuseRedirect(request, response) })
  return client
}

/** @throws WorkspaceError */
async function refuseRedirect({ url }: Request, response: Response): Promise<undefined> {
  // Browsers hide the status and the target.
  const isHidden = (response.type as string) === 'opaqueredirect'
  if (!isHidden && !REDIRECTS.includes(response.status)) return undefined
  await response.body?.cancel()
  const location = response.headers.get('Location') ?? ''
  const target = URL.canParse(location, url) ? new URL(location, url).origin : 'an address that is not shown'
  const error = `${new URL(url).origin} redirects to ${target}; redirects are not followed, so nothing was sent there. If you trust it, use the address of the service itself.`
  throw new WorkspaceError({ error: { error }, response })
}

function querySerializer(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined)
  const text = (value: unknown) => encodeURIComponent(value instanceof Date ? value.toISOString() : String(value))
  return given.map(([name, value]) => `${name}=${text(value)}`).join('&')
}

/** True for the content of an upload, which is sent as it is. */
function isContent(body: unknown): boolean {
  return body instanceof Blob || body instanceof ArrayBuffer || ArrayBuffer.isView(body)
}
