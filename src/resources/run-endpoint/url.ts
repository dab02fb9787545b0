/** Where runs may be sent: to a public name, over TLS. */

const LOOPBACK = /^(?:localhost|.+\.localhost|127(?:\.\d+){3}|\[::1\])$/

/** Names that lead nowhere in public (RFC 6761, 6762, 7686, 8375, 9476, and ICANN's reservation of `internal`). */
const NOT_PUBLIC = /(?:^|\.)(?:localhost|local|internal|invalid|test|example|onion|alt|home\.arpa)$/

const IP_ADDRESS = /^(?:\d+(?:\.\d+){3}|\[.*\])$/

/**
 * What is wrong with the URL of a receiver, or undefined. IP addresses are refused whether private or not: a name can
 * be looked up and has a certificate.
 * @param allowsLocal true allows this machine too, and http with it.
 */
export function problemOfReceiver(text: string, allowsLocal: boolean): string | undefined {
  if (!URL.canParse(text)) return 'expected a URL such as "https://hooks.example.com/runs"'
  const { protocol, hostname, username, password, hash } = new URL(text)
  const host = hostname.replace(/\.$/, '')
  const isLocal = allowsLocal && LOOPBACK.test(host)
  if (protocol !== 'https:' && !(isLocal && protocol === 'http:'))
    return 'expected a URL that begins with https://'
  if (username || password) return 'expected a URL without user name and password'
  if (hash) return 'expected a URL without a fragment ("#…")'
  if (isLocal) return undefined
  if (IP_ADDRESS.test(host)) return 'expected the name of a host, not an IP address'
  const labels = host.split('.')
  if (labels.length < 2 || labels.includes('') || NOT_PUBLIC.test(host))
    return 'expected a host that is public'
  return undefined
}
