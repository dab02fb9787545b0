/**
 * What each page does while the API or the network fails, in Chromium: nothing is lost, nothing is silent, and it
 * recovers without a reload.
 * @module-tag slow
 */
import type { Browser, Locator, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { existingDatabaseFile, localDatabase } from '../../../operate/database.ts'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { signedIn } from '../../../test/browser/console.ts'
import { runScript } from '../../../test/support/commands.ts'
import { type Console, startConsole } from '../console.ts'
import { type FramedPage, framedPages } from './addresses.ts'
import { addPerson, type Person } from './people.ts'

let running: Console
let browser: Browser
let person: Person

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
  person = await addPerson(running)
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})

const API = '**/api/v1/**'
/** Everything that a page shows is out of date then, and it reads all of it again. */
const STALE_MS = 6 * 60_000
/** Longer than any pause before the next attempt, and longer than a page waits before it says so. */
const PAUSE_MS = 11_000

/** What happens to each request to the API, or `offline`, and what the pages say then. */
interface Fault {
  readonly respond: 'offline' | ((route: Route, isOver: Promise<void>) => Promise<void>)
  readonly words?: RegExp
  /** The title of the dialog that says it. */
  readonly dialog?: string
}

const answer =
  (status: number, headers = {}) =>
  (route: Route) =>
    route.fulfill({ status, headers, json: { error: 'The service says what is wrong.' } })

const UNAVAILABLE = /^The service is temporarily unavailable\. Trying again …/

const FAULTS: Readonly<Record<string, Fault>> = {
  'without a network': { respond: 'offline', words: /^Offline\./ },
  down: { respond: (route) => route.abort(), words: /^The console is not reachable\. Trying again …/ },
  'status 500': { respond: answer(500), words: UNAVAILABLE },
  'status 503': { respond: answer(503, { 'Retry-After': '1' }), words: UNAVAILABLE },
  'status 429': { respond: answer(429, { 'Retry-After': '1' }), words: /^Too many requests\. Trying again …/ },
  slow: {
    respond: async (route, isOver) => {
      await isOver
      await route.continue().catch(() => undefined)
    },
    // A request without a response for a minute, of this clock, has failed.
    words: /^(?:The service takes long to respond\.|The console is not reachable\. Trying again …)/,
  },
  'without the session': { respond: answer(401, { 'Error-Code': 'api_key_expired' }), dialog: 'Session ended' },
  suspended: { respond: answer(401, { 'Error-Code': 'organization_suspended' }), dialog: 'Organization suspended' },
}

/** @returns what ends it. */
async function begin(page: Page, { respond }: Fault): Promise<() => Promise<void>> {
  if (respond === 'offline') {
    await page.context().setOffline(true)
    // A request before the page knows it would fail at once.
    await expect.poll(() => page.evaluate('navigator.onLine')).toBe(false)
    return () => page.context().setOffline(false)
  }
  const over = Promise.withResolvers<void>()
  const handle = (route: Route) => respond(route, over.promise)
  await page.route(API, handle)
  return async () => {
    await page.unroute(API, handle)
    over.resolve()
  }
}

const status = (page: Page) => page.getByRole('region', { name: 'Messages' }).getByRole('status')

/** Navigates as the router does, without a load of the page. */
const goTo = (page: Page, address: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`)

/** A page that reads nothing, whose clock the test moves. */
async function open(): Promise<Page> {
  const { page } = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/nowhere')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await page.clock.install()
  await page.reload()
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await page.evaluate('window.isTheSame = true')
  return page
}

/** Polls, and lets no pause of the page take its time. */
const expectSoon = (page: Page, read: () => Promise<unknown>, message: string) =>
  expect.poll(
    async () => {
      await page.clock.fastForward(PAUSE_MS)
      return await read()
    },
    { message, interval: 300 },
  )

/** The page stays loaded, with the navigation. */
async function expectShell(page: Page, what: string): Promise<void> {
  expect(await page.evaluate('window.isTheSame === true'), what).toBe(true)
  expect(await page.locator('nav[aria-label=Pages]').count(), what).toBe(1)
}

async function expectSaid(page: Page, { words, dialog }: Fault, what: string, isLoaded = false): Promise<void> {
  if (dialog) await expectSoon(page, () => page.getByRole('dialog', { name: dialog }).count(), what).toBe(1)
  const staleSince = isLoaded && words !== FAULTS.slow?.words ? / Not up to date since \d/ : /^/
  if (words) {
    await expectSoon(page, async () => (await status(page).textContent()) ?? '', what).toMatch(words)
    await expectSoon(page, async () => (await status(page).textContent()) ?? '', what).toMatch(staleSince)
  }
  await expectShell(page, what)
}

async function expectRecovered(page: Page, { dialog: title }: Fault, heading: RegExp, what: string): Promise<void> {
  if (title) {
    const dialog = page.getByRole('dialog', { name: title })
    if (title === 'Session ended') {
      await dialog.getByLabel('API key').fill(person.apiKey)
      await dialog.getByRole('button', { name: 'Sign in' }).click()
    } else await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'detached' })
  }
  await expectSoon(page, () => status(page).textContent(), what).toBe('')
  await page.locator('h1').filter({ hasText: heading }).waitFor()
  await expect.poll(() => page.locator('[aria-busy=true]').count(), { message: what }).toBe(0)
  await expectShell(page, what)
}

/** @returns the field of the page with a text, if it has one. */
async function type(page: Page, { field }: FramedPage): Promise<Locator | undefined> {
  if (!field) return undefined
  for (const name of field.slice(0, -1)) await page.getByRole('button', { name, exact: true }).first().click()
  const typed = page.getByLabel(field.at(-1) ?? '', { exact: true }).last()
  await typed.fill('typed before')
  return typed
}

describe('every page', () => {
  it.each(Object.entries(FAULTS))(
    'of an API that is %s: says so at first and later, keeps what is typed, and recovers',
    async (name, fault) => {
      const page = await open()
      for (const each of await framedPages(running, person.apiKey)) {
        const { path, address, heading } = each
        const end = await begin(page, fault)
        await goTo(page, address)
        await expectSaid(page, fault, `${path}, ${name}, at first`)
        await end()
        await expectRecovered(page, fault, heading, `${path}, ${name}, at first`)
        const typed = await type(page, each)
        await page.clock.fastForward(STALE_MS)
        const endAgain = await begin(page, fault)
        // As when the person comes back to the tab.
        await page.evaluate(`document.dispatchEvent(new Event('visibilitychange', { bubbles: true }))`)
        await expectSaid(page, fault, `${path}, ${name}, later`, true)
        await endAgain()
        await expectRecovered(page, fault, heading, `${path}, ${name}, later`)
        if (typed) expect(await typed.inputValue(), path).toBe('typed before')
        await typed?.fill('')
      }
      await page.context().close()
    },
  )
})

describe('a page', () => {
  it('whose organization an operator suspends says so over what is typed, and continues once it is resumed', async () => {
    const page = await open()
    await goTo(page, '/people')
    await page.getByRole('button', { name: 'New person', exact: true }).click()
    const field = page.getByRole('dialog').getByLabel('Name', { exact: true })
    await field.fill('Typed before')
    const { organizationId } = running.demo
    const organization = (...args: string[]) =>
      runScript('operate organization', [...args, '--persist-to', running.state])
    expect((await organization('suspend', organizationId, '--reason', 'A test')).status).toBe(0)
    const suspended = page.getByRole('dialog', { name: 'Organization suspended' })
    await expectSoon(page, () => suspended.count(), 'suspended').toBe(1)
    await suspended.getByRole('button', { name: 'Try again' }).click()
    await suspended.getByRole('alert').waitFor()
    expect((await organization('resume', organizationId)).status).toBe(0)
    await suspended.getByRole('button', { name: 'Try again' }).click()
    await suspended.waitFor({ state: 'detached' })
    await expectShell(page, 'suspended')
    expect(await field.inputValue()).toBe('Typed before')
    await page.context().close()
  })

  it('whose organization is moved to another database meanwhile saves what is typed', async () => {
    const page = await open()
    await goTo(page, '/people')
    await page.getByRole('button', { name: 'New person', exact: true }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Name', { exact: true }).fill('Typed before')
    await dialog.getByLabel('ID', { exact: true }).fill(crypto.randomUUID())
    const { organizationId } = running.demo
    const moved = runScript('operate organization', [
      'move',
      organizationId,
      '--to',
      '1',
      '--persist-to',
      running.state,
    ])
    const database = localDatabase(existingDatabaseFile({ remote: false, persistTo: running.state }))
    const halts = { sql: `SELECT "kind" FROM "halts" WHERE "organizationId" = ?`, parameters: [organizationId] }
    await expect.poll(async () => (await database.batch([halts]))[0]?.length, { interval: 5 }).toBe(1)
    database.close()
    await dialog.getByRole('button', { name: 'Create' }).click()
    expect((await moved).status).toBe(0)
    // The client tries again. If it has given up, the person does.
    await expectSoon(
      page,
      async () => {
        const again = dialog.getByRole('button', { name: 'Create' })
        if ((await again.count()) > 0 && (await again.isEnabled())) await again.click()
        return await page.getByRole('heading', { level: 1, name: 'Typed before' }).count()
      },
      'moved',
    ).toBe(1)
    await expectShell(page, 'moved')
    await page.context().close()
  })
})
