/**
 * Long lists of the console in Chromium: every row can be reached and found, and what is shown stays up to date with few
 * requests. How fast they are is measured by `npm run bench -- console`.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, type SignedIn, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { isFocused } from './keyboard.ts'
import { type Person, senderOf } from './people.ts'

/** As many as an organization may have, with those of the demo. */
const SCHEDULES = 1000
const OF_AN_AGENT = 100
const AT_ONCE = 8

let running: Console
let browser: Browser
let signed: SignedIn
let send: Person['send']
/** The schedules that this file has made: the addresses in the API, in the order of the page. */
const paths: string[] = []

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
  const { baseUrl, apiKey, serviceKey } = running.demo
  send = senderOf(baseUrl, apiKey)
  const service = senderOf(baseUrl, serviceKey)
  const { items } = await send<{ items: unknown[] }>('GET', '/v1/schedules?limit=1000')
  const agents = Array.from({ length: SCHEDULES / OF_AN_AGENT }, () => randomUUID())
  for (const agentId of agents) await service('PUT', `/v1/agents/${agentId}`, { name: `Agent ${agentId.slice(0, 4)}` })
  // IDs that ascend, after those of the demo.
  const ids = Array.from({ length: SCHEDULES - items.length }, (_, n) => `ffffffff-0000-7000-8000-${digits(n, 12)}`)
  paths.push(...ids.map((id, n) => `/v1/agents/${agents[n % agents.length]}/schedules/${id}`))
  for (let start = 0; start < paths.length; start += AT_ONCE) {
    const some = paths.slice(start, start + AT_ONCE)
    await Promise.all(
      some.map((path, n) => send('PUT', path, { name: `Check ${digits(start + n, 4)}`, cron: '0 3 1 1 *' })),
    )
  }
}, 300_000)
afterAll(async () => {
  await browser.close()
  await running.stop()
})
afterEach(async () => {
  await signed?.close()
})

const digits = (n: number, length: number) => String(n).padStart(length, '0')
const lastName = () => `Check ${digits(paths.length - 1, 4)}`

async function open(path: string, options = {}): Promise<Page> {
  signed = await signedIn(browser, { url: running.url, apiKey: running.demo.apiKey }, path, options)
  return signed.page
}

/** The requests of the page to a path of the API, from now on. */
function requestsTo(page: Page, path: string): string[] {
  const found: string[] = []
  page.on('request', (request) => {
    const { pathname, search } = new URL(request.url())
    if (pathname === `/api${path}`) found.push(search)
  })
  return found
}

/** Presses "Show more" by keyboard until there is no more. The focus stays on it, behind the last row. */
async function showAll(page: Page): Promise<void> {
  const rows = page.locator('tbody tr')
  const more = page.getByRole('button', { name: 'Show more' })
  await rows.first().waitFor()
  await more.focus()
  for (let count = await rows.count(); count < SCHEDULES; count = await rows.count()) {
    await expect.poll(() => more.getAttribute('aria-disabled')).toBe('false')
    await page.keyboard.press('Enter')
    await rows.nth(count).waitFor()
  }
  expect(await rows.count()).toBe(SCHEDULES)
  await expect.poll(() => more.count()).toBe(0)
}

describe('a table of 1,000 rows', () => {
  it('is reached by keyboard, found by its text, and selected as a whole', async () => {
    const page = await open('/schedules')
    await showAll(page)

    // As Ctrl+F does: it scrolls to a row that was never drawn.
    expect(await page.evaluate(`window.find('Check 0500')`)).toBe(true)
    const found = page.getByRole('link', { name: 'Check 0500' })
    await expect.poll(() => isInWindow(page, 'Check 0500')).toBe(true)

    // From there, by Tab: the actions of the row, then the next row.
    await found.focus()
    await page.keyboard.press('Tab')
    expect(await isFocused(page.getByRole('button', { name: 'Actions for Check 0500' }))).toBe(true)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    expect(await isFocused(page.getByRole('link', { name: 'Check 0501' }))).toBe(true)
    const last = page.getByRole('link', { name: lastName() })
    await last.focus()
    await expect.poll(() => isInWindow(page, lastName())).toBe(true)

    // Back from the end: rows that were never drawn come into the window above.
    for (let presses = 0; presses < 40; presses++) await page.keyboard.press('Shift+Tab')
    await expect.poll(() => page.evaluate(IS_FOCUS_IN_WINDOW)).toBe(true)

    await page.getByRole('checkbox', { name: 'Select all' }).focus()
    await page.keyboard.press('Space')
    await page.getByText(`${SCHEDULES} selected`).waitFor()
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(SCHEDULES + 1)
    await page.getByRole('checkbox', { name: 'Select Check 0500' }).click()
    await page.getByText(`${SCHEDULES - 1} selected`).waitFor()
    await page.getByRole('button', { name: 'Select none' }).click()
    expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
    expectQuiet(signed)
  })

  it('is a table of 1,000 rows to screen readers', async () => {
    // Without a screen reader, Chromium builds a part of the tree only.
    const own = await launchChromium(['--force-renderer-accessibility'])
    onTestFinished(() => own.close())
    signed = await signedIn(own, { url: running.url, apiKey: running.demo.apiKey }, '/schedules')
    const { page } = signed
    await showAll(page)
    const session = await page.context().newCDPSession(page)
    const { nodes } = await session.send('Accessibility.getFullAXTree')
    const count = (role: string) => nodes.filter((node) => !node.ignored && node.role?.value === role).length
    expect([count('table'), count('row'), count('columnheader')]).toEqual([1, SCHEDULES + 1, 6])
    expect(count('cell') + count('gridcell')).toBe(SCHEDULES * 6)
  })

  it.each(LOOKS)('is accessible in $colorScheme at $viewport.width px', async (look) => {
    const page = await open('/schedules', look)
    await page.locator('tbody tr').first().waitFor()
    await expectAccessible(page)
    expectQuiet(signed)
  })

  it('is read again with one request, however often "Show more" was pressed', async () => {
    const page = await open('/schedules')
    await showAll(page)
    await page.waitForLoadState('networkidle')
    const requests = requestsTo(page, '/v1/schedules')
    const name = `Changed ${randomUUID().slice(0, 4)}`
    await send('PATCH', paths.at(-1) as string, { name })
    await page.getByRole('link', { name }).waitFor({ timeout: 20_000 })
    expect(await page.locator('tbody tr').count()).toBe(SCHEDULES)
    expect(requests).toEqual(['?limit=1000'])
    await send('PATCH', paths.at(-1) as string, { name: lastName() })
    expectQuiet(signed)
  })

  it('keeps what "Show more" reads while the list is read again', async () => {
    const page = await open('/schedules')
    const rows = page.locator('tbody tr')
    await rows.first().waitFor()
    const names = () => page.locator('tbody .row-link').allTextContents()
    const first = await names()
    const name = `During ${randomUUID().slice(0, 4)}`
    // The first page comes again while the second one is read.
    let isHeld = true
    await page.route('**/api/v1/schedules?*cursor=*', async (route) => {
      while (isHeld) await new Promise((resolve) => setTimeout(resolve, 50))
      await route.continue()
    })
    await page.getByRole('button', { name: 'Show more' }).click()
    await send('PATCH', paths[0] as string, { name })
    await page.getByRole('link', { name }).waitFor({ timeout: 20_000 })
    isHeld = false
    await rows.nth(first.length).waitFor()
    const all = await names()
    expect(all.length).toBe(2 * first.length)
    expect(new Set(all).size).toBe(all.length)
    await send('PATCH', paths[0] as string, { name: 'Check 0000' })
  })
})

describe('the activity', () => {
  it('reads only what is new, and keeps what "Show more" has read', async () => {
    const page = await open('/activity')
    const lines = page.locator('main ol li')
    await lines.first().waitFor()
    const first = await lines.count()
    await page.getByRole('button', { name: 'Show more' }).click()
    await lines.nth(first).waitFor()
    const count = await lines.count()
    await page.waitForLoadState('networkidle')
    const requests = requestsTo(page, '/v1/audit-events')
    const name = `Live ${randomUUID().slice(0, 4)}`
    await send('PATCH', paths[1] as string, { name })
    await lines.filter({ hasText: name }).waitFor({ timeout: 20_000 })
    expect(await lines.count()).toBe(count + 1)
    expect(requests).toEqual([`?limit=${first}`])
    await send('PATCH', paths[1] as string, { name: 'Check 0001' })
    expectQuiet(signed)
  })
})

describe.each([
  ['/schedules', 'tbody tr'],
  ['/activity', 'main ol li'],
])('"Show more" on %s', (path, row) => {
  it.each(LOOKS)('stays under the mouse at the end of the list: $viewport.width px, $colorScheme', async (look) => {
    const page = await open(path, look)
    const rows = page.locator(row)
    await rows.first().waitFor()
    for (let presses = 0; presses < 4; presses++) {
      const count = await rows.count()
      const tops = (await page.evaluate(TOPS_AT_THE_END)) as number[]
      expect(new Set(tops).size, `it moved: ${tops}`).toBe(1)
      const { x, y, width, height } = (await page.getByRole('button', { name: 'Show more' }).boundingBox()) ?? NOWHERE
      await page.mouse.move(x + width / 2, y + height / 2)
      await page.mouse.down()
      await page.mouse.up()
      await rows.nth(count).waitFor()
    }
    expectQuiet(signed)
  })
})

/** Where "Show more" is in the frames after the page has jumped from its begin to its end. */
const TOPS_AT_THE_END = `(async () => {
  const more = Array.from(document.querySelectorAll('button')).find(({ textContent }) => textContent === 'Show more')
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve))
  scrollTo(0, 0)
  for (let frames = 0; frames < 3; frames++) await frame()
  scrollTo(0, document.documentElement.scrollHeight)
  const tops = []
  for (let frames = 0; frames < 10; frames++) {
    await frame()
    tops.push(Math.round(more.getBoundingClientRect().top))
  }
  return tops
})()`
const NOWHERE = { x: 0, y: 0, width: 0, height: 0 }

describe('the time axis', () => {
  it('says from when on it has the runs, if there are too many for a day', async () => {
    const page = await open('/pins')
    // As if there were more than a thousand.
    const isOfAxis = (url: URL) => url.pathname === '/api/v1/runs' && url.searchParams.get('limit') === '1000'
    await page.route(isOfAxis, (route) => route.continue({ url: route.request().url().replace('=1000', '=5') }))
    await page.getByRole('link', { name: 'Today' }).click()
    const note = page.getByText(/^Runs before .* are not shown/)
    await note.waitFor()
    expect(await page.getByRole('img', { name: /in the last day/ }).count()).toBe(0)
    expect(await page.getByRole('img', { name: /runs? since / }).count()).toBeGreaterThan(0)
    await expectAccessible(page)
    expectQuiet(signed)
  })
})

const IS_FOCUS_IN_WINDOW = `(() => {
  const { top, bottom } = document.activeElement.getBoundingClientRect()
  return document.activeElement !== document.body && top > -1 && bottom < document.documentElement.clientHeight + 1
})()`

function isInWindow(page: Page, name: string): Promise<boolean> {
  return page.getByRole('link', { name, exact: true }).evaluate((link) => {
    const { top, bottom } = link.getBoundingClientRect()
    const { clientHeight } = link.ownerDocument.documentElement
    // Positions are fractions of pixels.
    return top > -1 && bottom < clientHeight + 1 && link.checkVisibility()
  })
}
