/**
 * The reference page, in Chromium, on a service that runs.
 * @module-tag slow
 */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Browser } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ROOT } from '../support/commands.ts'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { newState } from '../support/local-state.ts'
import { launchChromium, newPage, type Observed } from './chromium.ts'
import {
  closeGroup,
  enterKey,
  openGroups,
  openOperation,
  openRequest,
  sendRequest,
  stopAnimations,
  tryOperation,
} from './reference.ts'

const RETRIEVE_SKILL = {
  tag: 'Skills',
  summary: 'Retrieve a skill',
  method: 'get',
  path: '/v1/skills/{skillId}',
}
const CREATE_SCHEDULE = {
  tag: 'Agents',
  summary: 'Create an agent schedule',
  method: 'post',
  path: '/v1/agents/{agentId}/schedules',
}
const RETRIEVE_PICTURE = {
  tag: 'Users',
  summary: 'Retrieve a profile picture',
  method: 'get',
  path: '/v1/users/{userId}/profile-picture',
}

const state = newState()
let service: DevServer
let browser: Browser
let demo: ReturnType<typeof readDemo>

beforeAll(async () => {
  service = await startDevServer(state, await freePort())
  browser = await launchChromium()
  demo = readDemo(state)
})
afterAll(async () => {
  await browser.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
})

describe.each(['', '/api/public-api'])('the reference page at "%s/docs"', (basePath) => {
  let observed: Observed

  beforeEach(async () => {
    observed = await newPage(browser)
    await observed.page.goto(`${demo.baseUrl}${basePath}/docs`)
    await observed.page.getByRole('heading', { name: 'Workspace API' }).waitFor()
    await stopAnimations(observed.page)
  })
  afterEach(() => observed.page.close())

  /** Nothing but the service was asked, and nothing complained except of these statuses. */
  function expectQuiet(statuses: readonly number[] = []): void {
    const base = `${demo.baseUrl}${basePath}/`
    const outside = observed.requested.filter((url) => !url.replace(/^blob:.*/, base).startsWith(base))
    expect(outside).toEqual([])
    const complaints = statuses.map((status) =>
      expect.stringContaining(`the server responded with a status of ${status}`),
    )
    expect(observed.complaints).toEqual(complaints)
  }

  it('opens with a clean console, and asks for its own files alone', async () => {
    await observed.page.waitForLoadState('networkidle')
    const base = `${demo.baseUrl}${basePath}/`
    expect(observed.requested.map((url) => url.replace(base, '')).sort()).toEqual([
      'docs',
      expect.stringMatching(/^docs\/reference-\w+\.js$/),
      expect.stringMatching(/^docs\/viewer-\w+\.js$/),
      'openapi.json',
    ])
    expectQuiet()
  })

  it.each([
    ['API contract', 'docs/contract'],
    ['llms.txt', 'llms.txt'],
  ])('links %s, which it serves', async (name, path) => {
    const link = observed.page.getByRole('link', { name, exact: true }).first()
    const url = new URL((await link.getAttribute('href')) ?? '', observed.page.url())
    expect(url.href).toBe(`${demo.baseUrl}${basePath}/${path}`)
    expect((await fetch(url)).status).toBe(200)
  })

  it('tries an operation with the key that is entered, and shows the answer', async () => {
    await enterKey(observed.page, demo.apiKey)
    const response = await tryOperation(observed.page, RETRIEVE_SKILL, { skillId: demo.skillId })
    await response.getByText('200 OK').waitFor()
    await response.getByText(demo.skillId).first().waitFor()
    expect(observed.requested.at(-1)).toBe(`${demo.baseUrl}${basePath}/v1/skills/${demo.skillId}`)
    expectQuiet()
  })

  // The rest of the page does not depend on its address.
  if (basePath !== '') return

  it('lists every operation of the document, and what it sends', async () => {
    const sidebar = observed.page.getByRole('complementary')
    await openGroups(sidebar)
    const links = await sidebar.getByRole('link', { name: 'HTTP Method' }).all()
    const targets = await Promise.all(links.map((link) => link.getAttribute('href')))
    const { paths, webhooks } = JSON.parse(readFileSync(join(ROOT, 'public', 'openapi.json'), 'utf8'))
    const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { tags }]) => tags.map(() => method.toUpperCase() + path)),
    )
    const received = Object.keys(webhooks).map((name) => `webhook/POST/${name.toLowerCase()}`)
    expect(targets.map((target) => target?.replace(/^#tag\/[^/]+\//, '')).sort()).toEqual(
      [...operations, ...received].sort(),
    )
    expectQuiet()
  })

  it('sends the example of a body that the document has', async () => {
    await enterKey(observed.page, demo.apiKey)
    const response = await tryOperation(observed.page, CREATE_SCHEDULE, { agentId: demo.agentId })
    await response.getByText('201 Created').waitFor()
    await response.getByText('nextRunAt').first().waitFor()
    expectQuiet()
  })

  it('shows a picture', async () => {
    await enterKey(observed.page, demo.apiKey)
    const response = await tryOperation(observed.page, RETRIEVE_PICTURE, { userId: demo.userId })
    await response.getByText('200 OK').waitFor()
    await response.getByRole('img').last().waitFor()
    expectQuiet()
  })

  it('shows what the service says without a key', async () => {
    const response = await tryOperation(observed.page, RETRIEVE_SKILL, { skillId: demo.skillId })
    await response.getByText('401 Unauthorized').waitFor()
    await response.getByText('The API key is not valid').first().waitFor()
    expectQuiet([401])
  })

  it('keeps the key in this tab alone, also when it is loaded again, until the field is emptied', async () => {
    const context = await browser.newContext({ viewport: { width: 1280, height: 800 } })
    const page = await context.newPage()
    await page.goto(`${demo.baseUrl}${basePath}/docs`)
    await enterKey(page, demo.apiKey)
    const response = await tryOperation(page, RETRIEVE_SKILL, { skillId: demo.skillId })
    await response.getByText('200 OK').waitFor()
    const elsewhere = 'JSON.stringify([localStorage, document.cookie, location.href])'
    expect(await page.evaluate(elsewhere)).not.toContain(demo.apiKey)
    expect(await page.evaluate('indexedDB.databases()')).toEqual([])

    await page.reload()
    expect(await page.getByPlaceholder('Token').inputValue()).toBe(demo.apiKey)
    const again = await tryOperation(page, RETRIEVE_SKILL, { skillId: demo.skillId })
    await again.getByText('200 OK').waitFor()
    await page.getByText('keeps it until the tab is closed').first().waitFor()

    const otherTab = await context.newPage()
    await otherTab.goto(`${demo.baseUrl}${basePath}/docs`)
    expect(await otherTab.getByPlaceholder('Token').inputValue()).toBe('')

    await page.reload()
    await enterKey(page, '')
    await page.reload()
    expect(await page.getByPlaceholder('Token').inputValue()).toBe('')
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).not.toContain(demo.apiKey)
    await context.close()
  })

  it.each(['Create a project schedule', 'Create an agent schedule'])(
    'has "%s" under Schedules, and finds it by "Create a schedule"',
    async (summary) => {
      const { page } = observed
      await openOperation(page, { tag: 'Schedules', summary })
      await page.waitForURL(/#tag\/schedules\/POST\//i)

      await page.keyboard.press('Control+k')
      await page.getByRole('combobox', { name: 'Search' }).fill('Create a schedule')
      await page.getByRole('option', { name: summary }).first().waitFor()
      expectQuiet()
    },
  )
})

/** What these delete or archive is what other requests need, so they come last, in this order. */
const LAST = [
  'deleteSession',
  'deletePullRequest',
  'updateProject',
  'deleteProject',
  'updateAgent',
  'deleteAgent',
  'deleteApiKey',
  'deleteOwnApiKey',
  // Revokes the key of the page.
  'deleteUser',
]
/** The others are tried with the key of a user, which the last one revokes. */
const WITH_LEASE_KEY = ['leaseEnvironmentVariables', 'deleteOwnApiKey']
const FILE = {
  name: 'picture.gif',
  mimeType: 'image/gif',
  buffer: Buffer.from('GIF89a, an example of a picture'),
}

describe('the requests that the reference page fills in', () => {
  const { paths } = JSON.parse(readFileSync(join(ROOT, 'public', 'openapi.json'), 'utf8'))
  const operations = Object.entries<Record<string, Operation>>(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      path,
      method,
      tag: operation.tags[0] ?? '',
      ...operation,
    })),
  )
  const rankOf = ({ operationId, method }: { operationId: string; method: string }) =>
    LAST.includes(operationId) ? 2 + LAST.indexOf(operationId) : Number(method === 'delete')

  it('succeed on the demo, each as it is', { timeout: 1_800_000 }, async () => {
    const { page } = await newPage(browser)
    await page.emulateMedia({ reducedMotion: 'reduce' })
    const answers: string[] = []
    page.on('response', (response) => {
      const { pathname } = new URL(response.url())
      if (pathname.startsWith('/v1/')) answers.push(`${response.request().method()} ${response.status()} ${pathname}`)
    })
    const sent: string[] = []
    let [entered, opened] = ['', '']
    page.on('request', (request) => sent.push(...Object.keys(request.headers())))
    for (const { operationId, tag, summary, method, path, requestBody } of operations.toSorted(
      (a, b) => rankOf(a) - rankOf(b) || a.tag.localeCompare(b.tag),
    )) {
      const key = WITH_LEASE_KEY.includes(operationId) ? demo.leaseKey : demo.apiKey
      if (key !== entered) {
        await page.goto('about:blank')
        await page.goto(`${demo.baseUrl}/docs`)
        await stopAnimations(page)
        await enterKey(page, key)
      } else if (tag !== opened) await closeGroup(page.getByRole('complementary'), opened)
      ;[entered, opened] = [key, tag]
      const dialog = await openRequest(page, { tag, summary, method, path })
      if (requestBody?.content['application/octet-stream']) {
        const chosen = page.waitForEvent('filechooser')
        await dialog.getByRole('button', { name: 'Select File' }).click()
        await (await chosen).setFiles(FILE)
      }
      const response = await sendRequest(dialog)
      await response.getByText(/^\d{3} /).waitFor()
      expect([`${method} ${path}`, answers.splice(0)]).toEqual([
        `${method} ${path}`,
        [expect.stringMatching(new RegExp(`^${method} 20[01] `, 'i'))],
      ])
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
    }
    expect(sent).not.toContain('idempotency-key')
    expect(operations.length).toBeGreaterThan(60)
  })
})

interface Operation {
  readonly operationId: string
  readonly tags: readonly string[]
  readonly summary: string
  readonly requestBody?: { readonly content: Readonly<Record<string, unknown>> }
}
