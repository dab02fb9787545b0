/** The HTTP proxy that the environment names, with the rules of curl. */
import { UsageError } from '../../command-line/src/index.ts'
import { readFile } from './local-files.ts'
import type { HttpProxy } from './proxied-fetch.ts'

const LOOPBACK = /^(localhost|127(\.\d+){3}|\[::1\])$/
const PORTS: Readonly<Record<string, string>> = { 'http:': '80', 'https:': '443' }

/** A variable of the environment, whose name in lower case comes first. */
const variable = (name: string) => process.env[name.toLowerCase()] || process.env[name]

/** The proxies by the protocol of the service: `HTTPS_PROXY` and `HTTP_PROXY`. @throws if one is not valid. */
function proxies(): Map<string, HttpProxy> {
  const found = Object.keys(PORTS).flatMap((protocol): [string, HttpProxy][] => {
    const name = protocol.replace(':', '_proxy').toUpperCase()
    const value = variable(name)
    return value ? [[protocol, parseProxy(name, value)]] : []
  })
  return new Map(found)
}

function parseProxy(name: string, value: string): HttpProxy {
  try {
    const { origin, protocol, username, password } = new URL(value.includes('://') ? value : `http://${value}`)
    if (protocol in PORTS) {
      const credentials = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`)
      return { origin, authorization: username ? `Basic ${credentials.toString('base64')}` : undefined }
    }
  } catch {
    // The value may have a password, which an error of `URL` would repeat.
  }
  throw new UsageError(`${name} is not the address of an HTTP proxy; example: http://proxy.example.com:3128.`)
}

/** True if `NO_PROXY` has the host, a domain that it is in, or `*`; with its port, if an entry has one. */
function isExcepted({ protocol, hostname, port }: URL): boolean {
  const entries = (variable('NO_PROXY') ?? '').toLowerCase().split(/[\s,]+/)
  return entries.some((entry) => {
    const [, name = entry, only] = /^(.*[^:]):(\d+)$/.exec(entry) ?? []
    if (only !== undefined && only !== (port || PORTS[protocol])) return false
    const domain = name.replace(/^\*?\./, '')
    return name === '*' || (domain !== '' && (hostname === domain || hostname.endsWith(`.${domain}`)))
  })
}

/** The proxy that requests to an address go through. Those to this machine go through none. */
export function proxyOf(address: string): HttpProxy | undefined {
  const url = new URL(address)
  return LOOPBACK.test(url.hostname) || isExcepted(url) ? undefined : proxies().get(url.protocol)
}

/** Sends the requests of this process through the proxies, if there are any. */
export async function useProxies(): Promise<void> {
  if (proxies().size === 0) return
  const { SSL_CERT_FILE, NODE_EXTRA_CA_CERTS } = process.env
  const files = SSL_CERT_FILE ? [SSL_CERT_FILE, NODE_EXTRA_CA_CERTS] : []
  const { replaceFetch } = await import('./proxied-fetch.ts')
  replaceFetch(
    proxyOf,
    files.flatMap((file) => (file ? [readFile(file)] : [])),
  )
}
