/**
 * How fast the pages of the console are in Chromium with a large organization: what each asks for, when its content is
 * there, and whether it scrolls without jerks. Service and console run in workerd, without a distance between them.
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { extname, join } from 'node:path'
import { convertV4MiniflareOptions, Miniflare } from 'miniflare'
import type { Browser, BrowserContext, Response as PageResponse } from 'playwright-core'
import { launchChromium } from '../test/browser/chromium.ts'
import { describeScript, parsed } from '../tools/command-line.ts'
import { fill, type Large } from './console-data.ts'
import { schema } from './data.ts'
import { median, percentile } from './load.ts'
import { execute } from './measure.ts'
import { bundleWorker, QUIET, startWorker } from './servers.ts'

interface View {
  readonly name: string
  readonly path: string
  /** An element of its content, which is there only with the data. */
  readonly content: string
  /** The page with a link to it; default: any page, by the navigation. */
  readonly from?: string
  /** How many times "Show more" is pressed before the page is scrolled. */
  readonly more?: number
  /** What is scrolled; default: the page. */
  readonly scrolled?: string
}

/** One line for each page: a new page needs no more, and its rows in console-data.ts. */
const viewsOf = ({ runId, sessionId, schedulePath, projectId }: Large): readonly View[] => [
  { name: 'Today', path: '/', content: '[aria-labelledby=attention] li' },
  { name: 'Schedules', path: '/schedules', content: 'tbody tr', more: 9 },
  { name: 'a schedule', path: schedulePath, content: 'tbody tr a[href^="/runs/"]', from: '/runs', more: 4 },
  { name: 'Runs', path: '/runs', content: 'tbody tr', more: 19 },
  { name: 'a run', path: `/runs/${runId}`, content: 'main ol li', from: '/runs' },
  { name: 'Pins', path: '/pins', content: 'main ol li' },
  { name: 'Sessions', path: '/sessions', content: 'tbody tr', more: 19 },
  {
    name: 'a session',
    path: `/sessions/${sessionId}`,
    content: '[role=treeitem]',
    from: '/sessions',
    scrolled: 'div:has(> [role=tree])',
  },
  { name: 'Skills', path: '/skills', content: 'tbody tr', more: 19 },
  { name: 'Activity', path: '/activity', content: 'main ol li', more: 19 },
  {
    name: 'Variables',
    path: `/variables?project=${projectId}`,
    content: 'tbody tr',
    from: `/people/projects/${projectId}`,
  },
  { name: 'Keys', path: '/keys', content: 'tbody tr', more: 9 },
  { name: 'People', path: '/people', content: 'tbody tr', more: 4 },
  { name: 'Endpoints', path: '/endpoints', content: 'tbody a[href^="/endpoints/"]' },
  { name: 'Deleted', path: '/deleted', content: 'tbody tr', more: 9 },
]

const SCROLL_MS = 10_000
/** As fast as a wheel that is turned with force. */
const SCROLL_PIXELS_PER_SECOND = 4000

const { times, only } = parsed(
  describeScript('bench console', 'Measures the pages of the console in Chromium with a large organization.', [
    '',
    '--only Runs',
  ])
    .option('--times <number>', 'how many times each page is opened; the figures are medians', Number, 5)
    .option('--only <names>', 'some pages, with commas between'),
).opts()

interface Figures {
  readonly view: string
  readonly files: number
  readonly 'API requests': number
  readonly 'in sequence': number
  readonly 'KB of the API': number
  readonly 'D1 calls': number
  readonly 'rows read': number
  readonly 'loaded, ms': number
  readonly 'by a link, ms': number
  readonly 'rows scrolled': number
  readonly 'frame p50, ms': number
  readonly 'frame p95, ms': number
  readonly 'longest task, ms': number
}

async function run(): Promise<void> {
  execFileSync('npm', ['run', '--silent', 'build', '--workspace', '@workspace-api/console'])
  const service = await startWorker(await bundleWorker('src/index.ts', true), QUIET)
  await execute(service.database, schema())
  const large = await fill(service.database)
  const { url, stop } = await startConsole(service.origin)
  const browser = await launchChromium()
  try {
    const context = await signedIn(browser, url, large.token)
    const figures: Figures[] = []
    for (const view of viewsOf(large)) {
      if (only !== undefined && !only.split(',').includes(view.name)) continue
      const measured = await measure(context, url, view)
      console.log(Object.values(measured).join(' | '))
      figures.push(measured)
    }
    console.table(figures)
    console.log(markdown(figures))
  } finally {
    await browser.close()
    await stop()
    await service.stop()
  }
}

/** The console in front of a service. In deployments, its files come from the platform. */
async function startConsole(service: URL) {
  const { modules } = await bundleWorker('console/src/index.ts')
  const port = await freePort()
  const miniflare = new Miniflare(
    convertV4MiniflareOptions({
      name: 'console',
      modules: modules.map((each) => ({ type: 'ESModule', ...each })),
      compatibilityDate: '2026-11-17',
      serviceBindings: {
        API: { external: { address: service.host, http: {} } },
        ASSETS: async (request: { readonly url: string }) => asset(new URL(request.url).pathname),
      },
      unsafeDirectSockets: [{ host: '127.0.0.1', port }],
      cf: false,
    }),
  )
  await miniflare.ready
  return { url: `http://localhost:${port}`, stop: () => miniflare.dispose() }
}

const MEDIA_TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css',
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.svg': 'image/svg+xml',
}

function asset(path: string): Response {
  const content = readFileSync(join(import.meta.dirname, '..', 'console', 'dist', path))
  const headers = {
    'Content-Type': MEDIA_TYPES[extname(path)] ?? 'text/plain',
    'Cache-Control': 'public, max-age=31536000, immutable',
  }
  return new Response(content, { headers })
}

function freePort(): Promise<number> {
  const server = createServer()
  return new Promise((resolve) => {
    server.listen(0, () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** A context with the session's cookie, whose pages can say when an element is there. */
async function signedIn(browser: Browser, url: string, token: string): Promise<BrowserContext> {
  const context = await newContext(browser)
  const page = await context.newPage()
  await page.goto(`${url}/sign-in?next=%2Fpins`)
  await page.getByLabel('API key').fill(token)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('main ol li').first().waitFor()
  await page.close()
  return context
}

type StorageState = Awaited<ReturnType<BrowserContext['storageState']>>

async function newContext(browser: Browser, storageState?: StorageState): Promise<BrowserContext> {
  const context = await browser.newContext({
    viewport: { width: 1280, height: 800 },
    ...(storageState && { storageState }),
  })
  await context.addInitScript(IN_THE_PAGE)
  return context
}

/** `shown(selector)` is when the first frame with the element was drawn; `scrollToAndFro(…)` moves at a constant speed, in pixels a second. */
const IN_THE_PAGE = `
  window.shown = (selector) => new Promise((resolve) => {
    const look = () => {
      if (!document.querySelector(selector)) return false
      observer.disconnect()
      requestAnimationFrame(() => setTimeout(() => resolve(performance.timeOrigin + performance.now())))
      return true
    }
    const observer = new MutationObserver(look)
    if (!look()) observer.observe(document, { childList: true, subtree: true })
  })
  window.scrollToAndFro = (selector, speed, ms) => new Promise((resolve) => {
    const element = selector ? document.querySelector(selector) : document.scrollingElement
    const frames = []
    const tasks = []
    new PerformanceObserver((list) => tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({ type: 'longtask' })
    const begin = performance.now()
    let last
    const frame = (now) => {
      if (last !== undefined) frames.push(now - last)
      last = now
      const length = element.scrollHeight - element.clientHeight
      const at = (((now - begin) / 1000) * speed) % (2 * length || 1)
      element.scrollTop = at > length ? 2 * length - at : at
      if (now - begin < ms) requestAnimationFrame(frame)
      else resolve({ frames, longest: Math.max(0, ...tasks) })
    }
    requestAnimationFrame(frame)
  })
`

interface Opened {
  readonly ms: number
  /** Until its content was shown. */
  readonly requests: readonly Request[]
}

interface Request {
  readonly begin: number
  readonly end: number
  /** Not for a file of the console. */
  readonly isOfApi: boolean
  readonly apiBytes: number
  readonly d1Calls: number
  readonly rowsRead: number
}

async function requestOf(response: PageResponse): Promise<Request> {
  const isOfApi = new URL(response.url()).pathname.startsWith('/api/')
  // One without a body, such as that of a picture that is not there, is not kept.
  const hasBody = isOfApi && response.status() !== 204
  const apiBytes = hasBody ? (await response.body()).byteLength : 0
  const { startTime, responseEnd } = response.request().timing()
  const [d1Calls = 0, , rowsRead = 0] = (response.headers()['x-bench-d1'] ?? '').split(',').map(Number)
  return { begin: startTime, end: startTime + responseEnd, isOfApi, apiBytes, d1Calls, rowsRead }
}

async function measure(context: BrowserContext, url: string, view: View): Promise<Figures> {
  const loads: Opened[] = []
  const links: number[] = []
  for (let time = 0; time < times; time++) {
    loads.push(await opened(context, url, view))
    const from = view.from ?? (view.path === '/pins' ? '/' : '/pins')
    links.push(await openedByLink(context, `${url}${from}`, view))
  }
  const byTime = loads.toSorted((one, other) => one.ms - other.ms)
  const usual = byTime[Math.floor(times / 2)] as Opened
  const { requests } = usual
  const ofApi = requests.filter(({ isOfApi }) => isOfApi)
  return {
    view: view.name,
    files: requests.length - ofApi.length,
    'API requests': ofApi.length,
    'in sequence': depthOf(requests),
    'KB of the API': Math.round(sum(requests.map(({ apiBytes }) => apiBytes)) / 1000),
    'D1 calls': sum(requests.map(({ d1Calls }) => d1Calls)),
    'rows read': sum(requests.map(({ rowsRead }) => rowsRead)),
    'loaded, ms': Math.round(usual.ms),
    'by a link, ms': Math.round(median(links)),
    ...(await scrolled(context, url, view)),
  }
}

/** As a first visit: the browser has a session, but no file of the console. */
async function opened(signed: BrowserContext, url: string, view: View): Promise<Opened> {
  const context = await newContext(signed.browser() as Browser, await signed.storageState())
  const page = await context.newPage()
  const responses: PageResponse[] = []
  page.on('response', (response) => responses.push(response))
  const begin = Date.now()
  await page.goto(`${url}${view.path}`)
  const end = await page.evaluate<number>(`shown(${JSON.stringify(view.content)})`)
  await page.waitForLoadState('networkidle')
  const requests = await Promise.all(responses.map(requestOf))
  await context.close()
  return { ms: end - begin, requests: requests.filter((request) => request.begin <= end) }
}

/** @returns the milliseconds until its content was shown. */
async function openedByLink(context: BrowserContext, from: string, view: View): Promise<number> {
  const page = await context.newPage()
  await page.goto(from)
  const link = `a[href="${view.path}"]`
  await page.locator(link).first().waitFor()
  await page.waitForLoadState('networkidle')
  // The content of the page before may have the same elements, so it has to be gone first.
  const ms = await page.evaluate<number>(`(async () => {
    const link = document.querySelector(${JSON.stringify(link)})
    const heading = document.querySelector('h1').textContent
    const begin = performance.timeOrigin + performance.now()
    link.click()
    while (document.querySelector('h1')?.textContent === heading) await new Promise((resolve) => setTimeout(resolve, 4))
    return (await shown(${JSON.stringify(view.content)})) - begin
  })()`)
  await page.close()
  return ms
}

async function scrolled(context: BrowserContext, url: string, { path, content, more = 0, scrolled: what }: View) {
  const page = await context.newPage()
  await page.goto(`${url}${path}`)
  await page.locator(content).first().waitFor()
  for (let time = 0; time < more; time++) {
    const count = await page.locator(content).count()
    const button = page.getByRole('button', { name: 'Show more' })
    if (!(await button.isVisible())) break
    await button.click()
    await page.locator(content).nth(count).waitFor()
  }
  if (what !== undefined) {
    // All folders open.
    await page.evaluate(`(async () => {
      for (let closed; (closed = document.querySelectorAll('[role=treeitem][aria-expanded=false]')).length > 0; ) {
        for (const each of closed) each.click()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    })()`)
  }
  await page.waitForLoadState('networkidle')
  const rows = await page.locator(content).count()
  const { frames, longest } = await page.evaluate<{ frames: number[]; longest: number }>(
    `scrollToAndFro(${JSON.stringify(what ?? null)}, ${SCROLL_PIXELS_PER_SECOND}, ${SCROLL_MS})`,
  )
  await page.close()
  frames.sort((a, b) => a - b)
  return {
    'rows scrolled': rows,
    'frame p50, ms': Number(percentile(frames, 0.5).toFixed(1)),
    'frame p95, ms': Number(percentile(frames, 0.95).toFixed(1)),
    'longest task, ms': Math.round(longest),
  }
}

/** The longest chain of requests, each of which began when the one before it had ended. */
function depthOf(requests: readonly Request[]): number {
  const ended: { readonly end: number; readonly depth: number }[] = []
  for (const { begin, end } of requests.toSorted((one, other) => one.end - other.end)) {
    const before = ended.filter((each) => each.end <= begin).map(({ depth }) => depth)
    ended.push({ end, depth: 1 + Math.max(0, ...before) })
  }
  return Math.max(0, ...ended.map(({ depth }) => depth))
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}

function markdown(figures: readonly Figures[]): string {
  const columns = Object.keys(figures[0] ?? {}) as (keyof Figures)[]
  const lines = [columns, columns.map(() => '---'), ...figures.map((row) => columns.map((column) => row[column]))]
  return lines.map((cells) => `| ${cells.map((cell) => cell.toLocaleString('en')).join(' | ')} |`).join('\n')
}

await run()
