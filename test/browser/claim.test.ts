/**
 * The page of claim links, in Chromium, on a service that runs.
 * @module-tag slow
 */
import { rmSync } from 'node:fs'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runScript } from '../support/commands.ts'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { newState } from '../support/local-state.ts'
import { launchChromium, newPage } from './chromium.ts'
import { contrastsOfText, LEAST_CONTRAST } from './contrast.ts'

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

/** A claim link for a new organization. */
async function newLink(basePath: string): Promise<{ claimLink: string; organizationId: string }> {
  const organization = ['--organization', crypto.randomUUID(), '--service', '--persist-to', state]
  const { stdout } = await runScript('operate bootstrap', [...organization, '--claim', '--url', origin + basePath])
  return JSON.parse(stdout)
}

describe.each(['', '/api/public-api'])('under "%s"', (basePath) => {
  it.each(SCREENS)(
    'on %s, the page shows the key when its button is pressed, and then when it was used',
    async (_name, screen) => {
      const { claimLink, organizationId } = await newLink(basePath)
      const { page, complaints, requested } = await newPage(browser, screen)
      const posts: string[] = []
      page.on('request', (request) => request.method() === 'POST' && posts.push(request.url()))
      const look = async (name: string) => {
        expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true)
        expect([name, Math.min(...(await page.evaluate<number[]>(contrastsOfText))) >= LEAST_CONTRAST]).toEqual([
          name,
          true,
        ])
      }

      await page.goto(claimLink, { waitUntil: 'networkidle' })
      expect(posts).toEqual([])
      await look('before')
      await page.getByRole('button', { name: 'Show the API key' }).click()
      await page.getByRole('heading', { name: 'Your API key' }).waitFor()
      const apiKey = (await page.locator('#key').textContent()) ?? ''
      expect(await page.locator('#organization').textContent()).toBe(organizationId)
      await look('after')
      expect(complaints).toEqual([])
      const me = await fetch(`${origin}${basePath}/v1/me`, { headers: { Authorization: `Bearer ${apiKey}` } })
      expect(me.status).toBe(200)

      await page.reload({ waitUntil: 'networkidle' })
      expect(await page.content()).not.toContain(apiKey)
      await page.getByRole('button', { name: 'Show the API key' }).click()
      const failure = await page.getByRole('alert').textContent()
      expect(failure).toMatch(/^This claim link was used at .+ It gave the API key .+ revoke that key/)
      await look('used')
      expect(posts).toEqual([`${origin}${basePath}/claim`, `${origin}${basePath}/claim`])

      // Another link, opened in the same tab.
      const another = await newLink(basePath)
      await Promise.all([
        page.waitForEvent('load'),
        page.evaluate(`location.href = ${JSON.stringify(another.claimLink)}`),
      ])
      await page.getByRole('button', { name: 'Show the API key' }).click()
      await page.getByRole('heading', { name: 'Your API key' }).waitFor()
      expect(await page.locator('#organization').textContent()).toBe(another.organizationId)
      expect(requested.filter((url) => /wsc|wsk/.test(url.replace(/#.*/, '')))).toEqual([])
      await page.close()
    },
  )

  it('the page says what is missing without a token', async () => {
    const { page } = await newPage(browser)
    await page.goto(`${origin}${basePath}/claim`)
    await page.getByText('This address is not complete').waitFor()
    expect(await page.getByRole('button', { name: 'Show the API key' }).isDisabled()).toBe(true)
    await page.close()
  })
})
