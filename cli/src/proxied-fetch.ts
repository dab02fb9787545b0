/** `fetch` through proxies. A file of its own in the bundle, because undici is as large as the command. */
import { Agent, FormData, fetch, Headers, Pool, ProxyAgent, Request, Response, setGlobalDispatcher } from 'undici'

export interface HttpProxy {
  readonly origin: string
  /** The value of `Proxy-Authorization`. */
  readonly authorization: string | undefined
}

/**
 * Replaces `fetch` and its classes. The `fetch` of Node 20 takes no proxy, and no dispatcher of another version of undici
 * than its own.
 * @param ca the certificates to trust; if empty, Node trusts its own.
 */
export function replaceFetch(proxyOf: (address: string) => HttpProxy | undefined, ca: Buffer[]): void {
  const tls = ca.length > 0 ? { ca } : {}
  const factory = (address: string | URL, options: object) => {
    const origin = String(address)
    const proxy = proxyOf(origin)
    if (!proxy) return new Pool(origin, options)
    const { origin: uri, authorization: token } = proxy
    // Many proxies allow CONNECT for https only.
    return new ProxyAgent({ uri, ...(token && { token }), requestTls: tls, proxyTls: tls, proxyTunnel: false })
  }
  setGlobalDispatcher(new Agent({ connect: tls, factory }))
  Object.assign(globalThis, { fetch, FormData, Headers, Request, Response })
}
