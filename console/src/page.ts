/** The page of the console. Every address has the same file, which finds out what to show. */
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import { NO_NONCE, pagePolicy } from './policies.ts'
import type { ConsoleContext } from './session.ts'

/** Data for the page: JSON in an element with the ID. */
interface PageData {
  readonly element: string
  readonly json: object
}

export async function showPage(
  c: ConsoleContext,
  status: ContentfulStatusCode = 200,
  data?: PageData,
): Promise<Response> {
  const page = await c.env.ASSETS.fetch(new URL('/index.html', c.req.url))
  const nonce = crypto.randomUUID()
  const html = (await page.text()).replaceAll(NO_NONCE, nonce)
  const headers = {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': pagePolicy(nonce),
  }
  return c.body(data === undefined ? html : withData(html, data), status, headers)
}

/** Browsers run no script of this type. Without "<", the text cannot end its element. */
function withData(html: string, { element, json }: PageData): string {
  const text = JSON.stringify(json).replaceAll('<', String.raw`\u003c`)
  return html.replace('</head>', () => `<script type="application/json" id="${element}">${text}</script></head>`)
}
