/**
 * The home page, the guides and what agents read, in Chromium, on a service that runs.
 * @module-tag slow
 */
import { rmSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { newState } from '../support/local-state.ts'
import { launchChromium, newPage } from './chromium.ts'
import { contrastsOfText, LEAST_CONTRAST } from './contrast.ts'

const PAGES = [
  '/',
  '/docs',
  '/docs/contract',
  '/docs/clients',
  '/docs/client',
  '/docs/command',
  '/docs/people',
  '/docs/schedules',
  '/docs/events',
  '/docs/mcp',
  '/llms.txt',
  '/docs/updatePin.md',
]
const SCREENS: [string, BrowserContextOptions][] = [
  ['a desktop', { viewport: { width: 1280, height: 800 } }],
  ['a phone, dark', { viewport: { width: 390, height: 844 }, isMobile: true, colorScheme: 'dark' }],
]

const state = newState()
let service: DevServer
let browser: Browser
let origin: string

beforeAll(async () => {
  service = await startDevServer(state, await freePort())
  browser = await launchChromium()
  origin = readDemo(state).baseUrl
})
afterAll(async () => {
  await browser.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
})

describe.each(['', '/api/public-api'])('under "%s"', (basePath) => {
  describe.each(SCREENS)('on %s', (_name, screen) => {
    it.each(PAGES)('%s fits, with a clean console and nothing of another place', async (path) => {
      const { page, complaints, requested } = await newPage(browser, screen)
      const response = await page.goto(origin + basePath + path, { waitUntil: 'networkidle' })
      expect(response?.status()).toBe(200)
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
      expect(complaints).toEqual([])
      expect(requested.filter((url) => !url.startsWith(`${origin}${basePath}/`))).toEqual([])
      await page.close()
    })

    it.each(['/', '/docs/contract'])('%s has a language, a title, landmarks and contrast', async (path) => {
      const { page } = await newPage(browser, screen)
      await page.goto(origin + basePath + path)
      expect(await page.locator('html').getAttribute('lang')).toBe('en')
      expect(await page.title()).toMatch(/^Workspace API/)
      expect(await page.getByRole('main').count()).toBe(1)
      expect(await page.getByRole('heading', { level: 1 }).count()).toBe(1)
      const contrasts = await page.evaluate<number[]>(contrastsOfText)
      expect(Math.min(...contrasts)).toBeGreaterThanOrEqual(LEAST_CONTRAST)
      await page.close()
    })
  })

  it('every link of the home page and of the guides leads to a page', async () => {
    const { page, complaints } = await newPage(browser)
    const links = new Set<string>()
    for (const path of PAGES.filter((each) => each !== '/docs' && !each.includes('.'))) {
      await page.goto(origin + basePath + path)
      for (const link of await page.getByRole('link').all()) {
        links.add(new URL((await link.getAttribute('href')) ?? '', page.url()).href)
      }
    }
    const own = [...links].filter(
      (link) => !/^https:\/\/(www\.standardwebhooks\.com|modelcontextprotocol\.io|openapi-ts\.dev)\//.test(link),
    )
    expect(own.length).toBeGreaterThan(20)
    for (const link of own) {
      expect(link).toMatch(new RegExp(`^${origin}${basePath}/`))
      const response = await page.goto(link)
      const { hash } = new URL(link)
      // A change of the fragment alone loads nothing.
      expect([link, response?.status() ?? 200]).toEqual([link, 200])
      if (hash) expect([link, await page.locator(`[id="${hash.slice(1)}"]`).count()]).toEqual([link, 1])
    }
    expect(complaints).toEqual([])
    await page.close()
  })

  it('the home page opens the reference page, also from the address without its last slash', async () => {
    const { page } = await newPage(browser)
    await page.goto(origin + basePath)
    await page.getByRole('link', { name: 'API reference' }).click()
    await page.getByPlaceholder('Token').waitFor()
    expect(page.url().replace(/#.*/, '')).toBe(`${origin}${basePath}/docs`)
    await page.goto(`${origin}${basePath}/docs/`)
    await page.getByPlaceholder('Token').waitFor()
    expect(page.url().replace(/#.*/, '')).toBe(`${origin}${basePath}/docs`)
    await page.close()
  })

  it('the reference page shows every operation as text until its viewer is there, or if it fails', async () => {
    const { page } = await newPage(browser)
    await page.route(/viewer-/, (route) => setTimeout(() => route.abort(), 3000))
    await page.goto(`${origin}${basePath}/docs`, { waitUntil: 'commit' })
    await page.getByRole('heading', { name: 'Workspace API' }).waitFor()
    expect(await page.getByRole('link', { name: 'Update a pin' }).isVisible()).toBe(true)
    await page.waitForEvent('requestfailed')
    await page.getByRole('link', { name: 'Update a pin' }).click()
    await page.getByText('# Update a pin').waitFor()
    expect(page.url()).toBe(`${origin}${basePath}/docs/updatePin.md`)
    await page.close()
  })

  it('the viewer is asked for once', async () => {
    const { page } = await newPage(browser)
    const statuses: boolean[] = []
    page.on('response', async (response) => {
      if (/viewer-/.test(response.url())) statuses.push((await response.request().sizes()).responseBodySize > 0)
    })
    for (const path of ['/docs', '/', '/docs']) {
      await page.goto(origin + basePath + path, { waitUntil: 'networkidle' })
    }
    expect(statuses).toEqual([true, false])
    await page.close()
  })
})
