/** The picture of a person, fetched from the address that their identity provider has. */
import { readUpTo } from '../../../src/http/read-up-to.ts'
import { problemOfReceiver } from '../../../src/webhooks/receiver-url.ts'

/** The API accepts no larger one. */
const MAX_BYTES = 5 * 2 ** 20
const TIMEOUT_MS = 10_000

/**
 * @param allowsLoopback as the provider itself is on this machine.
 * @throws why there is none, without the URL, which may contain a token.
 */
export async function fetchPicture(url: string, allowsLoopback: boolean): Promise<ArrayBuffer> {
  const problem = problemOfReceiver(url, allowsLoopback)
  if (problem) throw new Error(`its address ${problem.wrong}`)
  // Without redirects: the next address would need the same checks.
  const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) }).catch(() => {
    throw new Error('its server did not answer')
  })
  if (response.status !== 200) throw new Error(`its server responded with ${response.status}`)
  const bytes = await readUpTo(MAX_BYTES, response.body)
  if (!bytes) throw new Error(`it has more than ${MAX_BYTES} bytes`)
  return bytes
}
