/** The URLs that webhooks may be sent to: public host names, over TLS. */
import type { Problem } from '../errors.ts'
import { describeSent } from '../http/problems.ts'

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/**
 * Names that do not resolve in public (RFC 6761, 6762, 7686, 8375, 9476, and ICANN's reservation of `internal`), and those
 * that private networks use.
 */
const NOT_PUBLIC = /(?:^|\.)(?:localhost|local|internal|invalid|test|example|onion|alt|home\.arpa|lan|corp|home|svc)$/

/** The ports below it belong to other protocols. */
const FIRST_FREE_PORT = 1024

const ALLOWED = 'an https URL of a public host'
const EXAMPLE = 'https://hooks.example.com/path'

const IP_ADDRESS = /^(?:\d+(?:\.\d+){3}|\[.*\])$/

/**
 * The first problem of the URL of a receiver, if any. IP addresses are refused, public ones too, because certificates
 * are for names.
 * @param allowsLocal true to allow http and https URLs of this machine as well.
 * @param example what could be sent instead.
 */
export function problemOfReceiver(text: string, allowsLocal: boolean, example = EXAMPLE): Problem | undefined {
  const wrong = wrongWith(text, allowsLocal)
  const allowed = allowsLocal ? `${ALLOWED} or a URL of localhost` : ALLOWED
  return wrong === undefined ? undefined : { wrong, allowed: `${allowed}, such as "${example}"` }
}

function wrongWith(text: string, allowsLocal: boolean): string | undefined {
  if (!URL.canParse(text)) return 'is not a URL'
  const { protocol, hostname, port, username, password, hash } = new URL(text)
  const host = hostname.replace(/\.$/, '')
  const isLocal = allowsLocal && LOOPBACK.test(host)
  if (protocol !== 'https:' && !(isLocal && protocol === 'http:')) return 'does not begin with https://'
  if (username || password) return 'has a user name or password'
  if (hash) return 'has a fragment ("#…")'
  if (port === '0') return 'has the port 0'
  if (isLocal) return undefined
  if (port !== '' && Number(port) < FIRST_FREE_PORT) return 'has a port below 1024 other than 443'
  if (IP_ADDRESS.test(host)) return 'has an IP address instead of a host name'
  const labels = host.split('.')
  if (labels.length < 2 || labels.includes('') || NOT_PUBLIC.test(host)) return 'has a host that is not public'
  return undefined
}

/** The origin of the URL. The rest may contain a secret. */
export function describeOrigin(url: string): string {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  return parsed?.host ? describeSent(`${parsed.protocol}//${parsed.host}`) : describeSent(url, true)
}
