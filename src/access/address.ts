/**
 * The address that a request is counted under: the first 64 bits of IPv6, because one client has all addresses of a
 * /64 network. Empty if Cloudflare does not send the address; these requests are counted together.
 */
export function getAddress(request: Request): string {
  const address = request.headers.get('CF-Connecting-IP') ?? ''
  // An IPv4 address has no colon; an IPv6 address that maps it ends with it.
  if (!address.includes(':') || address.includes('.')) return address
  const [before = [], after] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = after ? Array(Math.max(0, 8 - before.length - after.length)).fill('0') : []
  const network = [...before, ...zeros, ...(after ?? [])].slice(0, 4)
  return `${network.map((group) => Number.parseInt(group, 16).toString(16)).join(':')}::/64`
}
