/** What wrangler serves on the ports of `npm run dev` beside the Workers, asked without any credential. */
import { request } from 'node:http'
import { isDeepStrictEqual } from 'node:util'

const UPGRADE = {
  Connection: 'Upgrade',
  Upgrade: 'websocket',
  'Sec-WebSocket-Version': '13',
  'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
  'User-Agent': 'Mozilla/5.0',
}
const LIVE_RELOAD = { ...UPGRADE, 'Sec-WebSocket-Protocol': 'WRANGLER_PROXYWORKER_LIVE_RELOAD_PROTOCOL' }

interface Probe {
  readonly method?: string | undefined
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
}

/** The endpoints of wrangler's documentation and of its sources: those of the proxy, of Miniflare and of workerd. */
const probesOf = (object: string): readonly Probe[] => [
  ...['/cdn-cgi/explorer', '/cdn-cgi/local/explorer', '/cdn-cgi/handler/explorer'].flatMap((explorer) => [
    { path: explorer },
    { path: `${explorer}/api` },
    { path: `${explorer}/api/local/workers` },
    { path: `${explorer}/api/local/observability/query`, method: 'POST' },
    { path: `${explorer}/api/d1/database` },
    { path: `${explorer}/api/d1/database/DB/raw`, method: 'POST' },
    { path: `${explorer}/api/r2/buckets` },
    { path: `${explorer}/api/storage/kv/namespaces` },
  ]),
  ...['/cdn-cgi/local', '/cdn-cgi/handler'].flatMap((prefix) => [
    { path: `${prefix}/scheduled` },
    { path: `${prefix}/email`, method: 'POST' },
    { path: `${prefix}/platform-proxy` },
    { path: `${prefix}/platform-proxy`, headers: { 'MF-Op': 'GET', 'MF-Op-Target': '[1]' } },
    { path: `${prefix}/r2/public/${object}` },
    { path: `${prefix}/r2/s3/${object}` },
  ]),
  { path: '/__scheduled' },
  { path: '/cdn-cgi/mf/scheduled' },
  ...['/cdn-cgi/mf/stream', '/__cf_local/stream', '/cdn-cgi/mf/imagedelivery', '/__cf_local/imagedelivery'].map(
    (path) => ({ path: `${path}/a/b` }),
  ),
  { path: '/__cf_local/imageupload/a', method: 'POST' },
  { path: '/cdn-cgi/live-reload', headers: LIVE_RELOAD },
  { path: '/cdn-cgi/ProxyWorker/play' },
  { path: '/cdn-cgi/InspectorProxyWorker/websocket', headers: UPGRADE },
  { path: '/core/log', method: 'POST' },
  { path: '/core/error', method: 'POST' },
  { path: '/core/store-temp-file', method: 'POST' },
  { path: '/json' },
  { path: '/json/list' },
  { path: '/json/version' },
  ...['http://localhost:1', 'https://page.example'].flatMap((Origin) =>
    ['/ws', '/core:user:workspace-api', '/core:user:workspace-api-console', '/core:entry'].map((path) => ({
      path,
      headers: { ...UPGRADE, Origin },
    })),
  ),
]

/** Says that there is nothing, or that a credential is missing. */
const REFUSALS: readonly unknown[] = [401, 403, 404]

/**
 * @param object the bucket and the key of an object.
 * @returns what answers otherwise than a path that does not exist, and is no refusal.
 */
export async function localEndpointsOf(port: number, object: string): Promise<string[]> {
  const nothing = await Promise.all(['GET', 'POST'].map((method) => answerOf(port, { method, path: '/nothing' })))
  const found: string[] = []
  for (const probe of probesOf(object)) {
    const answer = await answerOf(port, probe)
    if (answer === undefined || REFUSALS.includes(answer.status)) continue
    if (isDeepStrictEqual(answer, nothing[probe.method === 'POST' ? 1 : 0])) continue
    const origin = probe.headers?.Origin
    found.push(probe.path.replace(object, '<object>') + (origin === undefined ? '' : ` from ${origin}`))
  }
  return found
}

interface Answer {
  readonly status: number | undefined
  readonly content?: string
}

/** Undefined if the connection ends without an answer. */
function answerOf(port: number, { path, method, headers }: Probe): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    const sent = request({ host: '127.0.0.1', port, method, path, headers, agent: false })
    sent.on('upgrade', ({ statusCode }, socket) => {
      socket.destroy()
      resolve({ status: statusCode })
    })
    sent.on('response', async (response) => {
      const content = Buffer.concat(await response.toArray()).toString()
      // A page has a nonce of its own each time.
      resolve({ status: response.statusCode, content: content.replaceAll(/nonce="[^"]*"/g, '') })
    })
    sent.on('error', () => resolve(undefined))
    sent.end()
  })
}
