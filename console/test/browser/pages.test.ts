/**
 * The pages of the console, as a person uses them, in Chromium: by mouse and by keyboard alone.
 * @module-tag slow
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import type { Browser, Response } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest'
import { launchChromium, newPage } from '../../../test/browser/chromium.ts'
import { expectQuiet, type SignedIn, signedIn } from '../../../test/browser/console.ts'
import { callScript } from '../../../test/support/commands.ts'
import { type Console, startConsole } from '../console.ts'
import { addressesOf, framedPages } from './addresses.ts'
import { expectAccessible } from './axe.ts'
import { isFocused } from './keyboard.ts'

let running: Console
let browser: Browser
let signed: SignedIn

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})
afterEach(async () => {
  await signed?.close()
})

async function open(path: string, options = {}, apiKey = running.demo.apiKey) {
  signed = await signedIn(browser, { url: running.url, apiKey }, path, options)
  return signed.page
}

async function ask<Body>(method: string, path: string, body?: object): Promise<Body> {
  const headers = { Authorization: `Bearer ${running.demo.apiKey}`, 'Content-Type': 'application/json' }
  const response = await fetch(`${running.demo.baseUrl}${path}`, {
    method,
    headers,
    ...(body && { body: JSON.stringify(body) }),
  })
  expect(response.ok).toBe(true)
  return (await response.json()) as Body
}

interface Summary {
  readonly id: string
  readonly agentId: string | null
  readonly enabledAt: string | null
  readonly cron: string
}

async function scheduleNamed(name: string): Promise<Summary> {
  const { items } = await ask<{ items: Summary[] }>('GET', `/v1/schedules?query=${encodeURIComponent(name)}`)
  return items[0] as Summary
}

async function newSchedule(name: string): Promise<string> {
  const id = crypto.randomUUID()
  const path = `/v1/agents/${running.demo.agentId}/schedules/${id}`
  await ask('PUT', path, { name, cron: '0 3 1 1 *', payload: { branch: 'main' } })
  return path
}

describe('the first load', () => {
  it('says that it loads before a script or a style has come', async () => {
    const { page, complaints } = await newPage(browser)
    const slowNetwork = Promise.withResolvers<void>()
    await page.route('**/assets/*', async (route) => {
      await slowNetwork.promise
      await route.continue()
    })
    await page.goto(`${running.url}/sign-in`, { waitUntil: 'commit' })
    // Chromium paints nothing while a style sheet is on its way that holds up the page.
    const painted = "performance.getEntriesByName('first-contentful-paint').length"
    await vi.waitFor(async () => expect(await page.evaluate<number>(painted)).toBe(1), { timeout: 30_000 })
    const loading = page.getByText('Loading Workspace …')
    expect([await loading.isVisible(), await page.locator('#root > *').count()]).toEqual([true, 0])
    slowNetwork.resolve()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await loading.isVisible()).toBe(false)
    expect(complaints).toEqual([])
    await page.context().close()
  })

  it('of Today has at most 148 KB, waits for no script to ask for the schedules, and asks for nothing twice', async () => {
    const page = await open('/')
    // It still asks for what it shows.
    await page.goto('about:blank')
    const slowNetwork = Promise.withResolvers<void>()
    await page.route('**/assets/*.js', async (route) => {
      await slowNetwork.promise
      await route.continue()
    })
    const responses: Response[] = []
    const asked: string[] = []
    page.on('response', (response) => responses.push(response))
    page.on('request', (request) => asked.push(request.url()))
    const schedules = page.waitForResponse(/\/v1\/schedules\?/)
    const first = (await page.goto(running.url, { waitUntil: 'commit' })) as Response
    await schedules
    slowNetwork.resolve()
    await page.getByRole('region', { name: 'Needs attention' }).getByRole('listitem').first().waitFor()
    await page.waitForLoadState('networkidle')
    const files = responses.slice(responses.indexOf(first)).filter((response) => !response.url().includes('/api/'))
    const bodies = await Promise.all(files.map((response) => response.body()))
    const total = bodies.reduce((sum, body) => sum + gzipSync(body).length, 0)
    expect(total).toBeGreaterThan(50_000)
    expect(total).toBeLessThan(148_000)
    const requests = asked.filter((url) => url.includes('/api/'))
    expect(requests.length).toBeGreaterThan(5)
    expect(requests.filter((url, index) => requests.indexOf(url) !== index)).toEqual([])
    expectQuiet(signed)
  })
})

describe('sign-in', () => {
  it('says what the service says of a wrong key, and signs in with a right one', async () => {
    const { page, complaints } = await newPage(browser)
    await page.goto(`${running.url}/schedules?state=paused`)
    await page.waitForURL(/\/sign-in\?next=/)
    // The address changes before the field has the focus.
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    await page.keyboard.type('wsk_wrong')
    await page.keyboard.press('Enter')
    await page
      .getByRole('alert')
      .getByText(/API key/)
      .waitFor()
    await page.getByLabel('API key').fill(running.demo.apiKey)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expect(new URL(page.url()).search).toBe('?state=paused')
    expect(complaints.filter((each) => !each.includes('401'))).toEqual([])
    await page.context().close()
  })

  it('follows no address of another site', async () => {
    for (const next of ['https://evil.example/', '//evil.example/', '/\\evil.example/', 'javascript:alert(1)']) {
      const page = await open(next)
      expect(new URL(page.url()).origin).toBe(running.url)
      await signed.close()
    }
  })

  it('keeps the token where no script finds it, and ends with sign-out', async () => {
    const page = await open('/')
    const [cookie] = await page.context().cookies()
    expect(cookie).toMatchObject({ name: '__Host-session', httpOnly: true, secure: true, sameSite: 'Strict' })
    const found = await page.evaluate<string>(
      '[document.cookie, JSON.stringify({ ...localStorage, ...sessionStorage }), document.documentElement.outerHTML, location.href].join()',
    )
    expect(found).not.toContain(cookie?.value)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await page.context().cookies()).toEqual([])
    const headers = { Authorization: `Bearer ${cookie?.value}` }
    expect((await fetch(`${running.demo.baseUrl}/v1/me`, { headers })).status).toBe(401)
  })

  it('does nothing later without a network: it says so, and stays signed in', async () => {
    const page = await open('/')
    await page.context().setOffline(true)
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('The console is not reachable. Are you online?').waitFor()
    await page.context().setOffline(false)
    await page.reload()
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    await signed.close()
  })
})

describe('other pages', () => {
  it.each(['localhost', '127.0.0.1'])('of %s on another port neither read nor change anything', async (host) => {
    const page = await open('/')
    const evil = await page.context().newPage()
    // The page of another server of this machine: the same site as the console under "localhost", another one by its IP.
    await evil.goto(`${running.demo.baseUrl.replace('localhost', host)}/v1/me`)
    const outcome = await evil.evaluate(`(async () => {
      const own = { credentials: 'include' }
      await fetch('${running.url}/session', { ...own, method: 'DELETE', mode: 'no-cors' }).catch(() => undefined)
      return fetch('${running.url}/api/v1/me', own).then(() => 'read', () => 'blocked')
    })()`)
    expect(outcome).toBe('blocked')
    // The session is still there.
    await page.reload()
    await page.getByRole('heading', { name: 'Today' }).waitFor()
  })

  it('cannot frame the console', async () => {
    const page = await open('/')
    const other = await page.context().newPage()
    await other.goto(`data:text/html,<iframe src="${running.url}/"></iframe>`)
    await expect.poll(() => other.frames()[1]?.url()).toBe('chrome-error://chromewebdata/')
  })
})

describe('Today', () => {
  it('shows what needs attention, and leads there', async () => {
    const page = await open('/')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('Paused by failures').waitFor()
    await attention.getByRole('link', { name: 'Triage new issues' }).click()
    await page.getByRole('heading', { name: 'Triage new issues' }).waitFor()
    await page.getByText('3 runs in a row failed.').waitFor()
    expectQuiet(signed)
  })

  it('says why a schedule fails, and what it could not read', async () => {
    const page = await open('/')
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByText('Failing').first().waitFor()
    await attention.locator('li', { hasText: 'Failing' }).first().locator('a[href^="/runs/"]').waitFor()
    // No failure that goes away by itself: the page would try again.
    const refusal = { status: 403, json: { error: 'No.' } }
    await page.route('**/api/v1/{runs,pins}?*', (route) => route.fulfill(refusal))
    await page.reload()
    // The waiting runs, the time axis and the pins.
    await expect.poll(() => page.getByRole('alert').count()).toBe(3)
    expectQuiet(signed, [/status of 403/])
  })

  it('shows the runs of a day back and the next ones', async () => {
    const page = await open('/')
    const track = page.getByRole('img', { name: /runs in the last day, 2 failed; next/ })
    await track.waitFor()
    expect(await page.getByRole('img', { name: /runs? in the last day/ }).count()).toBeGreaterThan(3)
    expectQuiet(signed)
  })

  it.each([
    ['en-US', /^[1-9]\d?:00\s[AP]M$/],
    ['en-GB', /^\d\d:00$/],
  ])('has the hours of %s within the margins of a narrow screen', async (locale, time) => {
    const page = await open('/', { locale, viewport: { width: 390, height: 844 } })
    const section = page.locator('section', { has: page.getByRole('heading', { name: 'A day back, a day ahead' }) })
    const hours = section.locator('[aria-hidden=true] > span:visible')
    await hours.first().waitFor()
    const margins = await section.boundingBox()
    for (const hour of await hours.all()) {
      expect(await hour.textContent()).toMatch(time)
      const box = await hour.boundingBox()
      if (!box || !margins) throw new Error('An hour is not shown')
      expect(box.x).toBeGreaterThanOrEqual(margins.x)
      expect(box.x + box.width).toBeLessThanOrEqual(margins.x + margins.width)
    }
  })
})

describe('an address without a page', () => {
  it('says so beside the navigation', async () => {
    const page = await open('/nowhere/1')
    await page.getByRole('heading', { name: 'There is no such page' }).waitFor()
    await page.getByRole('link', { name: 'Schedules' }).click()
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expectQuiet(signed)
  })
})

describe('schedules', () => {
  it('are found by name, and the view is a link', async () => {
    const page = await open('/schedules')
    await page.getByRole('link', { name: 'Nightly build' }).waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type('triage')
    await page.waitForURL(/q=triage/)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.reload()
    await page.getByRole('link', { name: 'Triage new issues' }).waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('triage')
    await page.getByRole('combobox', { name: 'State' }).selectOption('Enabled')
    await page.getByText('No schedule matches').waitFor()
    expectQuiet(signed)
  })

  it('without names of one minute are told apart', async () => {
    const ids = ['01a2aeb0-0000-7000-8000-00000000a1a1', '01a2aeb0-0001-7000-8000-00000000b2b2']
    const schedules = `/v1/agents/${running.demo.agentId}/schedules`
    for (const id of ids) await ask('PUT', `${schedules}/${id}`, { cron: '0 3 1 1 *' })
    const page = await open('/schedules')
    for (const digits of ['0000a1a1', '0000b2b2']) {
      await page.getByRole('link', { name: `Schedule …${digits}`, exact: true }).waitFor()
    }
    expectQuiet(signed)
    for (const id of ids) await ask('DELETE', `${schedules}/${id}`)
  })

  it('are paused together', async () => {
    await newSchedule('Bulk one')
    await newSchedule('Bulk two')
    const page = await open('/schedules?q=Bulk')
    await page.getByRole('checkbox', { name: 'Select all' }).check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Pause' }).click()
    await page.getByText('2 schedules paused.').waitFor()
    for (const name of ['Bulk one', 'Bulk two']) expect((await scheduleNamed(name)).enabledAt).toBeNull()
    expectQuiet(signed)
  })

  it('are resumed from their menu by keyboard alone', async () => {
    const path = await newSchedule('By keyboard')
    await ask('PATCH', path, { enabled: false })
    const page = await open('/schedules?q=By keyboard')
    await page.getByRole('button', { name: 'Actions for By keyboard' }).focus()
    await page.keyboard.press('Enter')
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('Run now')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByText('By keyboard resumed.').waitFor()
    expect((await scheduleNamed('By keyboard')).enabledAt).not.toBeNull()
    expectQuiet(signed)
  })

  it('are created, with the next times across a clock change', async () => {
    const page = await open('/schedules', { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: 'New schedule' }).click()
    const dialog = page.getByRole('dialog')
    await dialog.getByLabel('Belongs to').selectOption('Website')
    await dialog.getByLabel('Name').fill('Made in the console')
    await dialog.getByLabel('Cron expression').fill('0 9 29 * *')
    await dialog.getByLabel('Time zone').fill('America/New_York')
    await dialog.getByText('At 9:00 AM, on day 29 of the month').waitFor()
    await dialog.getByText('after a clock change').first().waitFor()
    await dialog.getByLabel('Cron expression').fill('0 9 32 * *')
    await dialog.getByText(/^cron /).waitFor()
    expect(await dialog.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true)
    await dialog.getByLabel('Cron expression').fill('0 9 * * mon')
    await dialog.getByLabel('Payload (JSON)').fill('{"branch":')
    await dialog.getByText(/The payload is not JSON/).waitFor()
    await dialog.getByLabel('Payload (JSON)').fill('{"branch":"main"}')
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Made in the console' }).waitFor()
    expect((await scheduleNamed('Made in the console')).cron).toBe('0 9 * * mon')
    expectQuiet(signed)
  })

  it('of an agent are in UTC, and a city helps to find a time zone', async () => {
    const page = await open('/schedules', { timezoneId: 'Europe/Berlin' })
    await page.getByRole('button', { name: 'New schedule' }).click()
    const dialog = page.getByRole('dialog')
    // The first field has the focus.
    expect(await isFocused(dialog.getByLabel('Belongs to'))).toBe(true)
    const zone = dialog.getByLabel('Time zone')
    const { height } = (await dialog.boundingBox()) ?? {}
    await zone.fill('tokyo')
    await dialog.getByText('tokyo is not a time zone; example: Asia/Tokyo.').waitFor()
    expect((await dialog.boundingBox())?.height).toBe(height)
    await zone.fill('Asia/Tokyo')
    await dialog.getByRole('columnheader', { name: 'Asia/Tokyo' }).waitFor()
    await dialog.getByLabel('Belongs to').selectOption('Reviewer')
    await dialog.getByRole('columnheader', { name: 'UTC' }).waitFor()
    expect([await zone.inputValue(), await zone.isDisabled()]).toEqual(['UTC', true])
    await dialog.getByText('Schedules of agents are in UTC.').waitFor()
    await dialog.getByLabel('Belongs to').selectOption('Website')
    expect([await zone.inputValue(), await zone.isDisabled()]).toEqual(['Asia/Tokyo', false])
    expectQuiet(signed)
  })

  it('are edited by two people, of whom the second is told', async () => {
    const path = await newSchedule('Edited twice')
    const page = await open(path.replace('/v1', ''))
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByLabel('Name').fill('Mine')
    await ask('PATCH', path, { name: 'Theirs' })
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Somebody has changed this schedule since you opened it.').waitFor()
    expect((await scheduleNamed('Theirs')).id).toBe(path.split('/').at(-1))
    // Escape asks before it throws away what was typed, however often it is pressed.
    const question = page.getByRole('dialog', { name: 'Discard what you typed?' })
    await page.keyboard.press('Escape')
    await question.waitFor()
    await page.keyboard.press('Escape')
    await question.waitFor({ state: 'detached' })
    expect(await page.getByLabel('Name').inputValue()).toBe('Mine')
    await page.keyboard.press('Escape')
    await question.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Theirs' }).waitFor()
    expect(await page.getByRole('dialog').count()).toBe(0)
    expectQuiet(signed, [/412/])
  })

  it('keep the seconds of their time when something else is edited', async () => {
    const runAt = new Date(Date.now() + 86_400_000).toISOString().replace(/:\d\d\.\d+Z/, ':42.000Z')
    const path = `/v1/agents/${running.demo.agentId}/schedules/${crypto.randomUUID()}`
    await ask('PUT', path, { name: 'Once', runAt })
    const page = await open(path.slice('/v1'.length))
    await page.getByRole('button', { name: 'Edit' }).click()
    await page.getByRole('dialog').getByLabel('Name').fill('Once only')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: 'Once only' }).waitFor()
    expect(await ask('GET', path)).toMatchObject({ name: 'Once only', runAt })
    await signed.close()
  })

  it('are deleted only after a question', async () => {
    const path = await newSchedule('To be deleted')
    const page = await open(path.replace('/v1', ''))
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.waitForURL(/\/schedules$/)
    expect(await scheduleNamed('To be deleted')).toBeUndefined()
    expectQuiet(signed, [/404|410/])
  })

  it('change on the page when somebody else changes them', async () => {
    const path = await newSchedule('Live')
    const page = await open('/schedules?q=Live')
    await page.getByRole('cell', { name: 'Enabled' }).waitFor()
    await ask('PATCH', path, { enabled: false })
    await page.getByRole('cell', { name: 'Paused' }).waitFor()
    expectQuiet(signed)
  })
})

describe('a page that cannot be read again', () => {
  it('keeps what it shows, and says so', async () => {
    const path = await newSchedule('Kept')
    const page = await open('/schedules?q=Kept')
    await page.getByRole('link', { name: 'Kept' }).waitFor()
    await page.route('**/api/v1/schedules?*', (route) => route.abort())
    await ask('PATCH', path, { enabled: false })
    const status = page.getByRole('region', { name: 'Messages' }).getByRole('status')
    await status.getByText(/^The console is not reachable\. Trying again … Not up to date since \d/).waitFor()
    expect(await page.getByRole('cell', { name: 'Enabled' }).count()).toBe(1)
    await page.unroute('**/api/v1/schedules?*')
    // The read is repeated until it succeeds, without another change.
    await page.getByRole('cell', { name: 'Paused' }).waitFor()
    await expect.poll(() => status.textContent()).toBe('')
    expectQuiet(signed, [/ERR_FAILED/])
  })
})

describe('the runs of one schedule', () => {
  it('say its name', async () => {
    const path = await newSchedule('Named on its runs')
    await ask('POST', `${path}/runs`, {})
    const page = await open(`/runs?schedule=${path.split('/').at(-1)}`)
    await page.getByRole('paragraph').getByRole('link', { name: 'Named on its runs' }).click()
    await page.getByRole('heading', { name: 'Named on its runs' }).waitFor()
    expectQuiet(signed)
  })
})

describe('a name beyond those of the list', () => {
  it('is read by its ID', async () => {
    const path = await newSchedule('Of an unlisted agent')
    const page = await open('/')
    await page.route('**/api/v1/agents?*', (route) => route.fulfill({ json: { items: [], nextCursor: 'more' } }))
    await page.goto(`${running.url}${path.slice('/v1'.length)}`)
    const { name } = await ask<{ name: string }>('GET', `/v1/agents/${running.demo.agentId}`)
    await page.getByRole('main').getByText(`agent ${name}`).waitFor()
    expectQuiet(signed)
  })
})

describe('sign-out that fails', () => {
  it('stays on the page, says so, and can be repeated', async () => {
    const page = await open('/schedules')
    await page.route('**/session', (route) =>
      route.fulfill({ status: 502, json: { error: 'You are still signed in.' } }),
    )
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/schedules')
    await page.unroute('**/session')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expectQuiet(signed, [/502/])
  })
})

describe('a run', () => {
  it('shows what happened, and is started again', async () => {
    const page = await open('/runs?status=failed')
    await page.getByRole('link', { name: 'Failed' }).first().click()
    await page.getByText('HTTP 202 after 96 ms').waitFor()
    const before = page.url()
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByText('Started another run of the schedule.').waitFor()
    await expect.poll(() => page.url()).not.toBe(before)
    expectQuiet(signed)
  })

  it('is opened by its message, and leads to its session', async () => {
    const page = await open('/runs?status=failed')
    await page
      .getByRole('row', { name: /End-to-end tests/ })
      .getByText('declined-card.spec.ts')
      .first()
      .click()
    await page.getByRole('link', { name: 'Find the flaky test' }).click()
    await page.getByRole('treeitem', { name: 'report.md' }).waitFor()
    expectQuiet(signed)
  })

  it('that is started again does not call back who has gone elsewhere', async () => {
    const page = await open('/runs?status=failed')
    await page.getByRole('link', { name: 'Failed' }).first().click()
    const { promise: isReleased, resolve: release } = Promise.withResolvers<void>()
    await page.route('**/runs', async (route) => {
      await isReleased
      await route.continue()
    })
    await page.getByRole('button', { name: 'Run again' }).click()
    await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Pins' }).click()
    await page.getByRole('heading', { name: 'Pins', level: 1 }).waitFor()
    release()
    await page.getByText('Started another run of the schedule.').waitFor()
    await page.waitForLoadState('networkidle')
    expect(new URL(page.url()).pathname).toBe('/pins')
    expectQuiet(signed)
  })

  it('is completed by a person', async () => {
    // The run endpoint of `npm run dev` completes each run.
    const receiver = createServer((_, response) => response.writeHead(204).end())
    await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => void receiver.close())
    const { url: ownUrl } = await ask<{ url: string }>('GET', '/v1/run-endpoint')
    onTestFinished(async () => void (await ask('PUT', '/v1/run-endpoint', { url: ownUrl })))
    await ask('PUT', '/v1/run-endpoint', { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}` })
    const path = await newSchedule('By hand')
    const { id } = await ask<{ id: string }>('POST', `${path}/runs`, {})
    const page = await open(`/runs/${id}`)
    await page.getByRole('button', { name: 'Complete' }).click()
    await page.getByLabel('Failed').check()
    await page.getByRole('textbox', { name: 'Message' }).fill('The server was down.')
    await page.getByRole('dialog').getByRole('button', { name: 'Complete' }).click()
    await page.getByRole('heading', { name: 'By hand' }).waitFor()
    await expect
      .poll(async () => (await ask<{ message: string }>('GET', `/v1/runs/${id}`)).message)
      .toBe('The server was down.')
    await page.getByText('The server was down.').waitFor()
    expectQuiet(signed)
  })
})

describe('the navigation', () => {
  it('marks Schedules on the page of a schedule, and leads to one’s own page', async () => {
    const path = await newSchedule('Below an agent')
    const page = await open(path.replace('/v1', ''))
    const current = page.getByRole('navigation', { name: 'Pages' }).locator('[aria-current=page]')
    await expect.poll(() => current.allInnerTexts()).toEqual(['Schedules'])
    await page.getByRole('region', { name: 'You' }).getByRole('link', { name: 'Ada Lovelace' }).click()
    await page.getByRole('button', { name: 'Replace the picture' }).waitFor()
    await expect.poll(() => current.allInnerTexts()).toEqual(['People'])
    expectQuiet(signed)
  })
})

describe('a key that may read only', () => {
  it('is offered nothing that it may not do', async () => {
    const { token } = await ask<{ token: string }>('POST', '/v1/api-keys', {
      name: 'reader',
      scopes: ['schedules:read', 'runs:read'],
    })
    const page = await open('/schedules', {}, token)
    await page.getByRole('link', { name: 'Nightly build' }).waitFor()
    expect(await page.getByRole('button', { name: /New schedule|Actions for/ }).count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    await page.goto(`${running.url}/`)
    await page.getByRole('heading', { name: 'Needs attention' }).waitFor()
    expectQuiet(signed)
  })
})

it('every page says what the operator has stopped, until it goes on', async () => {
  const brake = (...args: string[]) => callScript('operate brake', ...args, '--persist-to', running.state)
  await brake('firing')
  await brake('claims', '--organization', running.demo.organizationId)
  const letGo = async () => {
    await brake('firing', '--off')
    await brake('claims', '--organization', running.demo.organizationId, '--off')
  }
  onTestFinished(letGo)
  const page = await open('/')
  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const path of ['/', '/runs', '/skills']) {
      await page.goto(`${running.url}${path}`)
      await page.getByText(/^Schedules do not fire: stopped .* by the operator of the service\.$/).waitFor()
      await page.getByText(/^Workers cannot claim runs: stopped .* by the operator of the service\.$/).waitFor()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await expectAccessible(page)
    }
  }
  await letGo()
  await page.goto(running.url)
  await page.getByRole('heading', { level: 1 }).waitFor()
  expect(await page.getByText('by the operator of the service').count()).toBe(0)
  expectQuiet(signed)
})

describe('no page asks for what the session may not have', () => {
  it.each([
    ['is restricted to projects', { projectIds: ['website'] }],
    ['is restricted to no project', { projectIds: [] }],
    ['may only read pins', { scopes: ['pins:read'] }],
  ])('that %s', async (_what, restrictions) => {
    const { apiKey } = await ask<{ apiKey: { scopes: string[] } }>('GET', '/v1/me')
    const settings = { name: 'restricted', scopes: apiKey.scopes, ...restrictions }
    const page = await open('/', {}, (await ask<{ token: string }>('POST', '/v1/api-keys', settings)).token)
    const asked: string[] = []
    page.on('response', (response) => {
      if (response.status() >= 400) asked.push(`${new URL(page.url()).pathname}: ${response.url()}`)
    })
    for (const { path } of await framedPages(running, running.demo.apiKey)) {
      if (!/^\/\w*$/.test(path)) continue
      await page.goto(`${running.url}${path}`)
      await page.waitForLoadState('networkidle')
    }
    expect(asked).toEqual([])
    expectQuiet(signed)
  })

  it('and one that is restricted to projects finds their schedules and runs', async () => {
    const { apiKey } = await ask<{ apiKey: { scopes: string[] } }>('GET', '/v1/me')
    const settings = { name: 'of the website', scopes: apiKey.scopes, projectIds: ['website'] }
    const { token } = await ask<{ token: string }>('POST', '/v1/api-keys', settings)
    const page = await open('/schedules', {}, token)
    await page.getByRole('link', { name: 'Website' }).click()
    await page.getByRole('link', { name: 'Nightly build' }).click()
    await page.getByRole('heading', { name: 'Nightly build' }).waitFor()
    await page.locator('tbody tr').first().waitFor()
    await page.getByRole('link', { name: 'All runs' }).click()
    await page.getByText('of Nightly build').waitFor()
    expect(await page.locator('tbody tr').count()).toBeGreaterThan(0)
    await page.goto(`${running.url}/agents/${running.demo.agentId}/schedules/${(await scheduleNamed('Triage')).id}`)
    await page.getByText('This session may read the runs of its projects only.').waitFor()
    expectQuiet(signed)
  })
})

/** Reverses the direction of what follows it, in any text that people, agents or other services gave. */
const REVERSING = '\u202e'

/** Properties that programs read: identifiers, times, words of the contract and addresses. */
const OF_PROGRAMS =
  /^(?:id|key|cron|timezone|url|enc|etag|sha256|digest|token|secret|type|kind|role|overlap|status|lastOutcomes|format|encoding|failure|outcome|position|issuer|after|scopes|bundles|handle|contentType|redirectTo|localTime|resourceType|parentType)$|(?:Id|Ids|At|Hash|[cC]ursor)$/

/** Times, UUIDs and paths of the API. */
const MACHINE_READ = /^(?:\d{4}-\d\d-\d\dT|[\da-f]{8}-[\da-f]{4}-|\/v1\/)/

function spoiled(value: unknown, name = ''): unknown {
  if (OF_PROGRAMS.test(name)) return value
  if (typeof value === 'string') return MACHINE_READ.test(value) ? value : `${REVERSING}${value}`
  if (Array.isArray(value)) return value.map((each) => spoiled(each, name))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, spoiled(each, key)]))
}

/** All that is read on a page, apart from what is being edited. */
const READ = `[document.title, ...Array.from(document.querySelectorAll('body, body *:not(script)')).filter((each) => !each.closest('[contenteditable]'))
  .flatMap((each) => [
    ...Array.from(each.attributes).filter(({ name }) => /^(?:title|alt|label|placeholder|aria-.*)$/.test(name)).map(({ value }) => value),
    ...Array.from(each.childNodes).filter(({ nodeType }) => nodeType === Node.TEXT_NODE).map(({ data }) => data),
  ])]`

describe('every text that somebody stored', () => {
  it('shows the characters that would mislead, on every page', async () => {
    const addresses = await addressesOf(running, running.demo.apiKey)
    const page = await open('/nowhere')
    await page.route(/\/(?:api\/v1|session\/providers|oauth\/consent)/, async (route) => {
      const response = await route.fetch({ headers: { ...route.request().headers(), 'Sec-Fetch-Site': 'same-origin' } })
      if (!/^application\/json/.test(response.headers()['content-type'] ?? '')) return await route.fulfill({ response })
      await route.fulfill({ response, json: spoiled(await response.json()) })
    })
    const problems: [path: string, ...texts: string[]][] = []
    for (const { path, address, isOwn = false } of addresses) {
      await page.goto(`${running.url}${address}`)
      const stored = page
        .getByRole('main')
        .getByText(isOwn ? /./ : '\ufffd')
        .first()
      await stored.waitFor({ state: 'attached' }).catch(() => problems.push([path, 'shows nothing that was stored']))
      await page.waitForLoadState('networkidle')
      const texts = (await page.evaluate<string[]>(READ)).filter((text) => text.includes(REVERSING))
      if (texts.length > 0) problems.push([path, ...texts])
    }
    expect(problems).toEqual([])
  })
})

describe('every page', () => {
  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)('is accessible by the rules of axe: %s, %i pixels', async (colorScheme, width) => {
    const { id, agentId } = await scheduleNamed('Triage new issues')
    const { items } = await ask<{ items: { id: string }[] }>('GET', '/v1/runs?status=failed&limit=1')
    const page = await open('/', { colorScheme, viewport: { width, height: 900 } })
    const paths = ['/', '/schedules', `/agents/${agentId}/schedules/${id}`, '/runs', `/runs/${items[0]?.id}`]
    for (const path of paths) {
      await page.goto(`${running.url}${path}`)
      await page.waitForLoadState('networkidle')
      await expectAccessible(page)
    }
    await page.getByRole('heading').first().waitFor()
    await page.keyboard.press('?')
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor()
    await expectAccessible(page)
    expectQuiet(signed)
  })
})
