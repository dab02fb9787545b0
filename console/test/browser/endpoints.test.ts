/**
 * The pages of endpoints, as people use them, with receivers of this process.
 * @module-tag slow
 */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, press, tabTo } from './keyboard.ts'
import { addPerson, type Person } from './people.ts'
import { expectForgotten } from './secrets.ts'

interface Endpoint {
  readonly id: string
  readonly types: readonly string[] | null
  readonly note: string | null
  readonly projectId: string | null
  readonly disabledAt: string | null
  readonly behind: number
}

interface Received {
  readonly headers: Record<string, string>
  readonly body: string
}

let running: Console
let browser: Browser
let server: Server
let person: Person
/** What the receivers got, by path, and how each answers: 204 unless the test says otherwise. */
const received = new Map<string, Received[]>()
const answers = new Map<string, number>()

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
  server = createServer(async (request, response) => {
    const { url: path = '', headers } = request
    const all = received.get(path) ?? []
    received.set(path, all)
    all.push({ headers: headers as Record<string, string>, body: await text(request) })
    response.writeHead(answers.get(path) ?? 204).end()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  person = await addPerson(running)
})
afterAll(async () => {
  await browser.close()
  await running.stop()
  server.close()
})

afterEach(async () => {
  for (const { id } of await endpoints()) {
    if (!demoIds.includes(id)) await person.send('DELETE', `/v1/event-endpoints/${id}`)
  }
})

/** The demo's endpoint, which stays. */
const demoIds = ['0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c75']
const endpoints = async () => (await person.send<{ items: Endpoint[] }>('GET', '/v1/event-endpoints')).items
const newest = async () => (await endpoints()).at(-1) as Endpoint

/** A receiver of its own. Its path is its name: the pages show the end of it. */
function newReceiver() {
  const path = `/${crypto.randomUUID()}`
  const { port } = server.address() as AddressInfo
  return {
    path,
    url: `http://localhost:${port}${path}`,
    /** The URL as responses show it. */
    shown: `localhost:${port}…${path.slice(-4)}`,
    got: () => received.get(path) ?? [],
    types: () =>
      (received.get(path) ?? []).flatMap(({ body }) =>
        (JSON.parse(body).data.items as { type: string }[]).map(({ type }) => type),
      ),
    answer: (status: number) => answers.set(path, status),
  }
}

function addEndpoint(url: string, settings: object = {}) {
  return person.send<Endpoint & { secret: string }>('POST', '/v1/event-endpoints', { url, ...settings })
}

const rename = (name: string) => person.send('PUT', `/v1/projects/${running.demo.projectId}`, { name })

async function open(path = '/endpoints', apiKey = person.apiKey, options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey }, path, options)
  await session.page.getByRole('heading', { level: 1 }).waitFor()
  return session
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name }) })
const field = (page: Page, label: string) => page.getByRole('dialog').getByLabel(label, { exact: true })
const button = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const shownSecret = async (page: Page) => (await page.locator('[data-secret]').textContent())?.trim() ?? ''

async function act(page: Page, name: string, label: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

describe('an event endpoint', () => {
  it('by mouse: is created, gets what it is for, and is tested', async () => {
    const receiver = newReceiver()
    const session = await open()
    const { page } = session
    await page.getByRole('button', { name: 'New event endpoint' }).click()
    await field(page, 'URL').fill(receiver.url)
    await field(page, 'Only some').check()
    await page.getByText('Tick the events that it gets.').waitFor()
    await page.getByRole('group', { name: 'Project', exact: true }).getByLabel('all', { exact: true }).check()
    await field(page, 'Note').fill('Watches projects')
    await button(page, 'Create').click()
    const secret = await shownSecret(page)
    expect(secret).toMatch(/^whsec_/)
    await page.keyboard.press('Escape')
    await page.getByText('Copy the secret first').waitFor()
    await button(page, 'Done').click()
    await row(page, receiver.shown).getByText('project.*').waitFor()
    await expectForgotten(page, secret, receiver.path)
    await rename('Website 2')
    await expect.poll(receiver.types).toEqual(['project.updated'])
    const [{ headers, body }] = receiver.got() as [Received]
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
    await act(page, receiver.shown, 'Test')
    await page.getByText(/^Test of .+: 204 in \d+ ms$/).waitFor()
    await expect.poll(receiver.types).toEqual(['project.updated', 'event-endpoint.tested'])
    await row(page, receiver.shown).getByRole('link').click()
    await page.getByText('Watches projects').waitFor()
    await page.getByRole('cell', { name: '204' }).waitFor()
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page
      .getByRole('status')
      .filter({ hasText: /^Test: 204 in \d+ ms$/ })
      .waitFor()
    await page.goBack()
    await row(page, receiver.shown).waitFor()
    await expectForgotten(page, secret, receiver.path)
    expectQuiet(session)
    await session.close()
  })

  it('by keyboard alone: is created for a chat, disabled, enabled and deleted', async () => {
    const receiver = newReceiver()
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('n')
    await press(page, page.getByRole('button', { name: 'New event endpoint' }))
    await tabTo(page, field(page, 'URL'))
    await page.keyboard.type(receiver.url)
    await tabTo(page, field(page, 'For programs: events as JSON, signed'))
    await tabTo(page, field(page, 'For chats such as Slack: sentences'))
    await page.keyboard.press('Space')
    await press(page, button(page, 'Create'))
    // Sentences are not signed, so there is no secret.
    await row(page, receiver.shown).getByText('all events').waitFor()
    const menu = `Actions for ${receiver.shown}`
    await choose(page, menu, 'Disable')
    await row(page, receiver.shown).getByText('Disabled', { exact: true }).waitFor()
    await choose(page, menu, 'Enable')
    await row(page, receiver.shown)
      .getByText(/^(Enabled|Sending)$/)
      .waitFor()
    await choose(page, menu, 'Test')
    await page.getByText(/^Test of .+: 204 in \d+ ms$/).waitFor()
    expect(receiver.got().at(-1)?.body).toContain(`${person.name} tested the event endpoint`)
    await page.getByRole('button', { name: menu }).press('Enter')
    await page.getByRole('menuitem', { name: 'Rewind' }).waitFor()
    expect(await page.getByRole('menuitem', { name: 'Rotate the secret' }).count()).toBe(0)
    await page.keyboard.press('Escape')
    await choose(page, menu, 'Delete')
    await press(page, button(page, 'Delete'))
    await expect.poll(() => row(page, receiver.shown).count()).toBe(0)
    expect((await endpoints()).map(({ id }) => id)).toEqual(demoIds)
    expectQuiet(session)
    await session.close()
  })

  it('shows that its receiver fails, and why it was disabled', async () => {
    const receiver = newReceiver()
    const { id } = await addEndpoint(receiver.url, { types: ['project.*'] })
    receiver.answer(500)
    const session = await open(`/endpoints/${id}`)
    const { page } = session
    await page.getByRole('button', { name: 'Test', exact: true }).click()
    await page
      .getByRole('status')
      .filter({ hasText: /^Test: 500 in \d+ ms: HTTP 500$/ })
      .waitFor()
    await rename('Website 3')
    await expect.poll(() => receiver.types()).toContain('project.updated')
    await page.reload()
    await page.getByText('Failing', { exact: true }).waitFor()
    await page.getByRole('cell', { name: 'HTTP 500' }).waitFor()
    await page.getByText('Next attempt').waitFor()
    receiver.answer(410)
    // It tries again at once.
    await person.send('PATCH', `/v1/event-endpoints/${id}`, { enabled: true })
    await expect.poll(async () => (await newest()).disabledAt).not.toBe(null)
    await page.reload()
    await page.getByText('Disabled by failures').waitFor()
    await page.getByText('It responded with HTTP 410.').waitFor()
    receiver.answer(204)
    await page.getByRole('button', { name: 'Enable' }).click()
    await expect.poll(async () => (await newest()).behind).toBe(0)
    await page.getByText('Enabled', { exact: true }).waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('is edited: what others change meanwhile stays, and so does its URL', async () => {
    const receiver = newReceiver()
    const { id } = await addEndpoint(receiver.url, { types: ['skill.updated', 'agent.*'], note: 'Before' })
    const session = await open(`/endpoints/${id}`)
    const { page } = session
    await page.getByRole('button', { name: 'Edit' }).click()
    await field(page, 'Note').waitFor()
    await person.send('PATCH', `/v1/event-endpoints/${id}`, { note: 'By another' })
    const skills = page.getByRole('group', { name: 'Skill', exact: true })
    expect(await skills.getByLabel('updated').isChecked()).toBe(true)
    await skills.getByLabel('all', { exact: true }).check()
    await field(page, 'Project').selectOption({ value: running.demo.projectId })
    await button(page, 'Save').click()
    await page.getByText('Saved.').waitFor()
    const { projectId } = running.demo
    expect(await newest()).toMatchObject({ note: 'By another', types: ['agent.*', 'skill.*'], projectId })
    const other = newReceiver()
    await page.getByRole('button', { name: 'Edit' }).click()
    await field(page, 'New URL').fill('http://10.0.0.1/')
    await button(page, 'Save').click()
    await page
      .getByRole('alert')
      .getByText(/^The URL /)
      .waitFor()
    expect(await field(page, 'New URL').inputValue()).toBe('http://10.0.0.1/')
    await field(page, 'New URL').fill(other.url)
    await button(page, 'Save').click()
    await page.getByRole('heading', { name: other.shown }).waitFor()
    await expectForgotten(page, other.path)
    expectQuiet(session, [/status of 400/])
    await session.close()
  })

  it('gets a new secret, which is shown once', async () => {
    const receiver = newReceiver()
    const { secret: old } = await addEndpoint(receiver.url, { types: ['project.*'] })
    const session = await open()
    const { page } = session
    await act(page, receiver.shown, 'Rotate the secret')
    await field(page, 'How long the old secret stays valid').selectOption('It ends at once')
    await button(page, 'Rotate').click()
    const secret = await shownSecret(page)
    expect(secret).not.toBe(old)
    await button(page, 'Done').click()
    await expectForgotten(page, secret, old)
    await act(page, receiver.shown, 'Test')
    await expect.poll(() => receiver.got().length).toBe(1)
    const [{ headers, body }] = receiver.got() as [Received]
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow()
    expect(() => new Webhook(old).verify(body, headers)).toThrow()
    expectQuiet(session)
    await session.close()
  })

  it('is rewound to a time, and to now', async () => {
    const receiver = newReceiver()
    const { id } = await addEndpoint(receiver.url, { types: ['project.updated'] })
    await rename('Website 4')
    await expect.poll(receiver.types).toEqual(['project.updated'])
    const session = await open()
    const { page } = session
    await act(page, receiver.shown, 'Rewind')
    // The field of the browser has no time zone.
    const hourAgo = new Date(Date.now() - 3_600_000)
    const local = new Date(hourAgo.getTime() - hourAgo.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
    await field(page, 'From').fill(local)
    await button(page, 'Rewind').click()
    await page.getByText(`${receiver.shown} rewound.`).waitFor()
    await expect.poll(() => receiver.types().length).toBeGreaterThan(1)
    await person.send('PATCH', `/v1/event-endpoints/${id}`, { enabled: false })
    await rename('Website 5')
    await expect.poll(async () => (await newest()).behind).toBe(1)
    await act(page, receiver.shown, 'Rewind')
    await field(page, 'Those from now on: what waits is left out').check()
    await button(page, 'Rewind').click()
    await expect.poll(async () => (await newest()).behind).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('that the service refuses says why, and loses nothing that was typed', async () => {
    const session = await open()
    const { page } = session
    await page.getByRole('button', { name: 'New event endpoint' }).click()
    await field(page, 'URL').fill('ftp://example.com')
    await field(page, 'Note').fill('A note')
    await button(page, 'Create').click()
    await page
      .getByRole('alert')
      .getByText(/^The URL /)
      .waitFor()
    expect(await field(page, 'URL').inputValue()).toBe('ftp://example.com')
    expect(await field(page, 'Note').inputValue()).toBe('A note')
    expectQuiet(session, [/status of 400/])
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('without the scopes to change endpoints', async () => {
    const reader = await addPerson(running, { without: ['event-endpoints:write', 'run-endpoint:write'] })
    const session = await open('/endpoints', reader.apiKey)
    const { page } = session
    await page.getByRole('link', { name: /^hooks\.example\.com/ }).waitFor()
    await page.getByText('each run that is created').waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    await page.getByRole('link', { name: /^hooks\.example\.com/ }).click()
    await page.getByRole('heading', { name: 'Last deliveries' }).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without the scopes to read endpoints', async () => {
    const other = await addPerson(running, { without: ['event-endpoints:read', 'run-endpoint:read'] })
    const session = await open('/endpoints', other.apiKey)
    await session.page.getByText('This session may not read event endpoints.').waitFor()
    await session.page.getByText('This session may not read the run endpoint.').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('if the session is restricted to projects', async () => {
    const other = await addPerson(running, { projectIds: [running.demo.projectId] })
    const session = await open('/endpoints', other.apiKey)
    await session.page.getByText('Endpoints belong to the organization').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const receiver = newReceiver()
  await addEndpoint(receiver.url, { note: 'For a look' })
  const session = await open('/endpoints', person.apiKey, look)
  const { page } = session
  await row(page, receiver.shown).waitFor()
  await page.getByRole('heading', { name: 'Run endpoint' }).waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'New event endpoint' }).click()
  await field(page, 'Only some').check()
  await expectAccessible(page)
  await button(page, 'Cancel').click()
  await act(page, receiver.shown, 'Rewind')
  await expectAccessible(page)
  await button(page, 'Cancel').click()
  await page.getByRole('link', { name: /^hooks\.example\.com/ }).click()
  await page.getByText('Disabled by failures').waitFor()
  await page.getByText('HTTP 503').locator('visible=true').first().waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})

it('Activity leads to endpoints', async () => {
  const receiver = newReceiver()
  const { id } = await addEndpoint(receiver.url)
  const session = await open(`/activity?resource=event-endpoint/${id}`)
  await session.page.getByRole('link', { name: receiver.shown, exact: true }).click()
  await session.page.waitForURL(`${running.url}/endpoints/${id}`)
  expectQuiet(session)
  await session.close()
})

it('Today shows endpoints that fail, and which run waits for what', async () => {
  const { url: before } = await person.send<{ url: string }>('GET', '/v1/run-endpoint')
  // Nothing listens there.
  await person.send('PUT', '/v1/run-endpoint', { url: 'http://localhost:1/runs' })
  const schedule = `/v1/agents/${running.demo.agentId}/schedules/${crypto.randomUUID()}`
  await person.send('PUT', schedule, { name: 'Sent to nobody', cron: '0 3 1 1 *' })
  const { id } = await person.send<{ id: string }>('POST', `${schedule}/runs`)
  const run = () => person.send<{ lastError: string | null }>('GET', `/v1/runs/${id}`)
  await expect.poll(async () => (await run()).lastError).not.toBe(null)
  const session = await open('/')
  const { page } = session
  const attention = page.getByRole('region', { name: 'Needs attention' })
  const line = (name: string) => attention.getByRole('listitem').filter({ has: page.getByRole('link', { name }) })
  await line('Run endpoint').getByText('Unreachable').waitFor()
  await line('Run endpoint')
    .getByText(/^No response in \d+ ms/)
    .waitFor()
  await line('Event endpoint').getByText('Disabled by failures').waitFor()
  await line('Event endpoint').getByText('Every attempt of three days failed. The last one: HTTP 503').waitFor()
  await expectAccessible(page)
  await line('Run endpoint').getByRole('link').click()
  const section = page.getByRole('region', { name: 'Run endpoint' })
  await section.getByRole('definition').getByText('Unreachable').waitFor()
  await page.goBack()
  // A run that nobody took, an hour later.
  await page.route('**/api/v1/runs?*', async (route) => {
    const response = await route.fetch({ headers: { ...route.request().headers(), 'Sec-Fetch-Site': 'same-origin' } })
    const { items, ...rest } = await response.json()
    const untouched = { attempts: 0, lastAttempts: [], lastError: null, nextAttemptAt: null }
    const json = { ...rest, items: items.map((each: object) => ({ ...each, ...untouched })) }
    await route.fulfill({ response, json })
  })
  await page.clock.setFixedTime(Date.now() + 3_600_000)
  await page.reload()
  await line('Sent to nobody')
    .getByText(/^for the run endpoint, due /)
    .waitFor()
  expect(await line('Run endpoint').count()).toBe(0)
  expect(await attention.getByText('for a worker').count()).toBe(0)
  await line('Event endpoint').getByRole('link').click()
  await page.getByRole('heading', { name: /^hooks\.example\.com/ }).waitFor()
  expectQuiet(session)
  await session.close()
  await person.send('DELETE', schedule)
  await person.send('PUT', '/v1/run-endpoint', { url: before })
})

// The last one, because the organization has one run endpoint.
it('the run endpoint is changed, rotated, deleted and set again', async () => {
  const receiver = newReceiver()
  const session = await open()
  const { page } = session
  await page.getByRole('button', { name: 'Change the URL' }).click()
  await field(page, 'URL').fill('ftp://example.com')
  await button(page, 'Save').click()
  await page
    .getByRole('alert')
    .getByText(/^The URL /)
    .waitFor()
  await field(page, 'URL').fill(receiver.url)
  await button(page, 'Save').click()
  await page.getByRole('main').getByText(receiver.url).waitFor()
  await page.getByRole('button', { name: 'Rotate its secret' }).click()
  await field(page, 'How long the old secret stays valid').selectOption('It ends at once')
  await button(page, 'Rotate').click()
  const rotated = await shownSecret(page)
  await button(page, 'Done').click()
  await expectForgotten(page, rotated)
  const schedule = `/v1/agents/${running.demo.agentId}/schedules/${crypto.randomUUID()}`
  await person.send('PUT', schedule, { name: 'Delivered to me', cron: '0 3 1 1 *' })
  await person.send('POST', `${schedule}/runs`)
  await expect.poll(() => receiver.got().length).toBe(1)
  const [{ headers, body }] = receiver.got() as [Received]
  expect(() => new Webhook(rotated).verify(body, headers)).not.toThrow()
  await page.reload()
  await page.getByRole('row').filter({ hasText: 'Delivered to me' }).getByText('204').waitFor()
  await page.getByRole('button', { name: 'Delete the run endpoint' }).click()
  await button(page, 'Delete').click()
  await page.getByText('No run endpoint').waitFor()
  await page.getByRole('button', { name: 'Set the run endpoint' }).click()
  await field(page, 'URL').fill(receiver.url)
  await button(page, 'Save').click()
  const secret = await shownSecret(page)
  await button(page, 'Done').click()
  await page.getByRole('main').getByText(receiver.url).waitFor()
  await expectForgotten(page, secret)
  expectQuiet(session, [/status of 40[04]/])
  await session.close()
})
