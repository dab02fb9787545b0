/**
 * What each page does while the API or the network fails, in Chromium: nothing is lost, nothing is silent, and it
 * recovers without a reload.
 * @module-tag slow
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { signedIn } from '../../../test/browser/console.ts'
import { ROOT } from '../../../test/support/commands.ts'
import { type Console, startConsole } from '../console.ts'
import { addPerson, type Person, senderOf } from './people.ts'

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

/** Without a session: the sign-in pages. With one, but not in the frame of the pages: what programs open. */
const OTHER_ROUTES = ['/sign-in', '/sign-in/$organizationId', '/signed-in', '/authorize', '/login', '$']

/** An address of each page, and what it shows when it has its data. A page that is new has to be here. */
function pagesOf({ demo }: Console, ids: Readonly<Record<'schedule' | 'run' | 'endpoint' | 'key', string>>) {
  return {
    '/': ['/', /^Today$/],
    '/schedules': ['/schedules', /^Schedules$/],
    '/$parents/$parentId/schedules/$scheduleId': [`/agents/${demo.agentId}/schedules/${ids.schedule}`, /^Triage/],
    '/runs': ['/runs', /^Runs$/],
    '/runs/$runId': [`/runs/${ids.run}`, /^(?!Run$)/],
    '/pins': ['/pins', /^Pins$/],
    '/sessions': ['/sessions', /^Sessions$/],
    '/sessions/$sessionId': [`/sessions/${demo.sessionId}`, /^(?!Session$)/],
    '/skills': ['/skills', /^Skills$/],
    '/skills/$skillId': [`/skills/${demo.skillId}`, /^(?!Skill$)/],
    '/skills/new': ['/skills/new', /^New skill$/],
    '/skills/$skillId/edit': [`/skills/${demo.skillId}/edit`, /^Edit (?!skill$)/],
    '/skills/feeds': ['/skills/feeds', /^Feeds of skills$/],
    '/activity': ['/activity', /^Activity$/],
    '/variables': [`/variables?project=${demo.projectId}`, /^Variables$/],
    '/keys': ['/keys', /^Keys$/],
    '/keys/$keyId': [`/keys/${ids.key}`, /^laptop of /],
    '/people': ['/people', /^People$/],
    '/people/sign-in': ['/people/sign-in', /^People$/],
    '/people/identities/$identityId': [`/people/identities/${crypto.randomUUID()}`, /./],
    '/people/$kind/$id': [`/people/users/${person.id}`, /^Mary /],
    '/endpoints': ['/endpoints', /^Endpoints$/],
    '/endpoints/$endpointId': [`/endpoints/${ids.endpoint}`, /example\.com/],
    '/deleted': ['/deleted', /^Deleted$/],
  } as const satisfies Record<string, readonly [address: string, heading: RegExp]>
}

async function pages() {
  const send = senderOf(running.demo.baseUrl, running.demo.serviceKey)
  const idOf = async (path: string) => (await send<{ items: { id: string }[] }>('GET', path)).items[0]?.id ?? ''
  const { id: endpoint } = await send<{ id: string }>('POST', '/v1/event-endpoints', {
    url: 'https://example.com/hook',
  })
  const { apiKey } = await person.send<{ apiKey: { id: string } }>('GET', '/v1/me')
  return pagesOf(running, {
    schedule: await idOf('/v1/schedules?query=Triage'),
    run: await idOf('/v1/runs?limit=1'),
    endpoint,
    key: apiKey.id,
  })
}

const status = (page: Page) => page.getByRole('region', { name: 'Messages' }).getByRole('status')

/** As the router does, without a load of the page. */
const goTo = (page: Page, address: string) => page.evaluate(`history.pushState(null, '', ${JSON.stringify(address)})`)

async function open(): Promise<Page> {
  // A page that reads nothing.
  const { page } = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/nowhere')
  await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
  await page.evaluate('window.isTheSame = true')
  return page
}

/** The page stays loaded, with the navigation. */
async function expectShell(page: Page, what: string): Promise<void> {
  expect(await page.evaluate('window.isTheSame === true'), what).toBe(true)
  expect(await page.getByRole('navigation', { name: 'Pages' }).count(), what).toBe(1)
}

async function expectRecovered(page: Page, heading: RegExp, what: string): Promise<void> {
  await page.getByRole('heading', { level: 1, name: heading }).waitFor()
  await expect.poll(() => status(page).textContent(), { message: what }).toBe('')
  await expect.poll(() => page.locator('[aria-busy=true]').count(), { message: what }).toBe(0)
  await expectShell(page, what)
}

const answer =
  (code: number, headers = {}) =>
  (route: Route) =>
    route.fulfill({ status: code, headers, json: { error: 'The service says what is wrong.' } })

/** What happens to requests to the API, and what the pages say then. */
const FAULTS = {
  down: [(route: Route) => route.abort(), /^The console is not reachable\. Trying again …/],
  'status 500': [answer(500), /^The service is temporarily unavailable\. Trying again …/],
  'status 503, as while it moves to another database': [
    answer(503, { 'Retry-After': '1' }),
    /^The service is temporarily unavailable\. Trying again …/,
  ],
  'status 429': [answer(429, { 'Retry-After': '1' }), /^Too many requests\. Trying again …/],
  slow: [
    async (route: Route) => {
      await new Promise((resolve) => setTimeout(resolve, 7000))
      await route.continue().catch(() => undefined)
    },
    /^The service takes long to respond\./,
  ],
} as const

it('every page is in the table', async () => {
  const routes = readFileSync(join(ROOT, 'console/web/src/router.tsx'), 'utf8').matchAll(/\bpath: '([^']+)'/g)
  const paths = Array.from(routes, ([, path]) => path).filter((path = '') => !OTHER_ROUTES.includes(path))
  expect(Object.keys(await pages()).sort()).toEqual(paths.sort())
})

describe('every page', () => {
  it('says that the API fails, and shows what it has as soon as the API recovers', async () => {
    const page = await open()
    for (const [path, [address, heading]] of Object.entries(await pages())) {
      await page.route('**/api/v1/**', answer(500))
      await goTo(page, address)
      await status(page).getByText('The service is temporarily unavailable. Trying again …').waitFor()
      await expectShell(page, path)
      await page.unroute('**/api/v1/**')
      await expectRecovered(page, heading, path)
    }
    await page.context().close()
  })

  it('that was not loaded yet says "Offline", and is shown as soon as there is a network', async () => {
    const page = await open()
    for (const [path, [address, heading]] of Object.entries(await pages())) {
      await page.context().setOffline(true)
      await goTo(page, address)
      await status(page).getByText('Offline.').waitFor()
      await expectShell(page, path)
      await page.context().setOffline(false)
      await expectRecovered(page, heading, path)
    }
    await page.context().close()
  })
})

describe.each([
  ['session has ended', 'api_key_expired', 'Session ended'],
  ['organization is suspended', 'organization_suspended', 'Organization suspended'],
])('every page whose %s', (_what, code, title) => {
  it('says so over what it shows, and continues', async () => {
    const page = await open()
    const dialog = page.getByRole('dialog', { name: title })
    for (const [path, [address, heading]] of Object.entries(await pages())) {
      await page.route('**/api/v1/**', answer(401, { 'Error-Code': code }))
      await goTo(page, address)
      await dialog.waitFor()
      await expectShell(page, path)
      await page.unroute('**/api/v1/**')
      if (title === 'Session ended') {
        await dialog.getByLabel('API key').fill(person.apiKey)
        await dialog.getByRole('button', { name: 'Sign in' }).click()
      } else await dialog.getByRole('button', { name: 'Try again' }).click()
      await dialog.waitFor({ state: 'detached' })
      await expectRecovered(page, heading, path)
    }
    await page.context().close()
  })
})

describe('a page', () => {
  it.each(Object.entries(FAULTS))(
    'of an API that is %s says so, keeps what is typed, and recovers',
    async (what, [fault, words]) => {
      const page = await open()
      await page.route('**/api/v1/**', fault)
      await goTo(page, '/people')
      await status(page).getByText(words).waitFor()
      // The client has given up: the page goes on by itself.
      if (what === 'down') {
        let attempts = 0
        page.on('request', (request) => {
          if (request.url().includes('/v1/users?')) attempts += 1
        })
        await expect.poll(() => attempts).toBeGreaterThan(4)
      }
      await page.unroute('**/api/v1/**')
      await expectRecovered(page, /^People$/, what)
      // What is shown stays, and the page says since when it is not up to date.
      await page.getByRole('button', { name: 'New person', exact: true }).click()
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('Typed before')
      await page.route('**/api/v1/**', fault)
      if (what !== 'slow')
        await status(page)
          .getByText(/Not up to date since \d/)
          .waitFor()
      await page.getByRole('dialog').getByLabel('ID', { exact: true }).fill(crypto.randomUUID())
      await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      if (what !== 'slow') await page.getByRole('dialog').getByRole('alert').waitFor()
      await page.unroute('**/api/v1/**')
      if (what !== 'slow') {
        expect(await page.getByRole('dialog').getByLabel('Name', { exact: true }).inputValue()).toBe('Typed before')
        await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click()
      }
      await expectRecovered(page, /^Typed before$/, what)
      await page.context().close()
    },
  )
})
