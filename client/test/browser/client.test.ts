/**
 * The client in Chromium, on pages of other origins than the service's.
 * @module-tag slow
 */
import { rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, newPage } from '../../../test/browser/chromium.ts'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../../../test/support/dev-server.ts'
import { newState } from '../../../test/support/local-state.ts'

const state = newState()
const pages: Server[] = []
let allowed: string
let other: string
let service: DevServer
let browser: Browser
let demo: ReturnType<typeof readDemo>

/** Serves a page that has the client. @returns its origin. */
async function servePage(script: string): Promise<string> {
  const port = await freePort()
  const page = createServer((_, response) => {
    response.setHeader('Content-Type', 'text/html')
    response.end(`<!doctype html><link rel="icon" href="data:,"><script type="module">${script}</script>`)
  })
  pages.push(page.listen(port, 'localhost'))
  return `http://localhost:${port}`
}

beforeAll(async () => {
  const { outputFiles } = await build({
    entryPoints: [join(import.meta.dirname, 'client-page.ts')],
    bundle: true,
    format: 'esm',
    write: false,
  })
  const [script] = outputFiles
  allowed = await servePage(script?.text ?? '')
  other = await servePage(script?.text ?? '')
  service = await startDevServer(state, await freePort(), '--var', `CORS_ORIGINS:${allowed}`)
  browser = await launchChromium()
  demo = readDemo(state)
})
afterAll(async () => {
  await browser.close()
  for (const page of pages) page.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
})

describe('the client in a browser', () => {
  const call = () => `listFiles(...${JSON.stringify([demo.baseUrl, demo.apiKey, demo.sessionId])})`

  it('calls the service from an origin that CORS_ORIGINS names, and reads its headers', async () => {
    const { page, complaints } = await newPage(browser)
    await page.goto(allowed)
    expect(await page.evaluate(call())).toEqual({
      files: 10,
      requestId: expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/),
    })
    expect(complaints).toEqual([])
  })

  it('is refused by the browser on any other origin', async () => {
    const { page, complaints } = await newPage(browser)
    await page.goto(other)
    await expect(page.evaluate(call())).rejects.toThrow('Failed to fetch')
    expect(complaints).toContainEqual(expect.stringContaining('has been blocked by CORS policy'))
  })
})
