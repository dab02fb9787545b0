/**
 * Sign-in with the identity provider of `npm run dev -- --sign-in`, in Chromium. test/node/sign-in.test.ts has providers
 * that misbehave.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, newPage, type Observed } from '../../../test/browser/chromium.ts'
import { expectQuiet } from '../../../test/browser/console.ts'
import { freePort } from '../../../test/support/dev-server.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { press } from './keyboard.ts'

let running: Console
let browser: Browser
let issuer: string
let seen: Observed
let page: Page

beforeAll(async () => {
  const port = await freePort()
  issuer = `http://127.0.0.1:${port}`
  running = await startConsole('--sign-in', String(port))
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})
afterEach(async () => {
  await seen.page.context().close()
})

async function open(path: string, options: BrowserContextOptions = {}): Promise<void> {
  seen = await newPage(browser, options)
  page = seen.page
  await page.goto(`${running.url}${path}`)
  await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
}

const REFUSED = /status of 403/
/** That there is no session yet. */
const SIGNED_OUT = /status of 401/

/** The pages asked nobody but the console; only the person was at the provider. */
function expectNothingElse(expected: readonly RegExp[] = []): void {
  const foreign = seen.requested.filter((url) => !url.startsWith(`${running.url}/`) && !url.startsWith(`${issuer}/`))
  const atProvider = seen.requested.filter((url) => url.startsWith(`${issuer}/`)).map((url) => new URL(url).pathname)
  expect(atProvider.filter((path) => !/^\/(?:auth|login)(?:\/|$)/.test(path))).toEqual([])
  const problems = () => [...seen.complaints, ...foreign]
  expectQuiet({ page, problems, close: async () => undefined }, [SIGNED_OUT, ...expected])
}

async function continueAs(name: string): Promise<void> {
  await page.getByRole('link', { name: 'Continue with Demo provider' }).click()
  await page.getByRole('button', { name }).click()
  await page.waitForURL((url) => url.origin === running.url)
}

interface Me {
  readonly user: { readonly id: string; readonly name: string }
  readonly apiKey: { readonly scopes: readonly string[] }
}

/** Asks as the page does, with the cookie of the session. */
const me = (): Promise<Me> => page.evaluate(async () => await (await fetch('/api/v1/me')).json())

async function signOut(): Promise<void> {
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
}

describe('somebody whom a rule admits', () => {
  it('comes to the page that they wanted, signed in, and is the same user the next time', async () => {
    await open('/schedules?state=paused')
    await continueAs('Ada Lovelace')
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    expect(page.url()).toBe(`${running.url}/schedules?state=paused`)
    const first = await me()
    expect(first.user.name).toBe('Ada Lovelace')
    expect(first.apiKey.scopes).toContain('users:write')
    expect(first.apiKey.scopes).not.toContain('environment-variables:lease')
    expect(await page.evaluate('document.cookie')).toBe('')
    // The user of the demo has the same name, and another ID.
    expect(first.user.id).not.toBe(running.demo.userId)
    const picture = () =>
      page.evaluate(async (id) => (await fetch(`/api/picture/v1/users/${id}/profile-picture`)).status, first.user.id)
    await expect.poll(picture).toBe(200)
    await page.reload()
    await page.getByRole('heading', { name: 'Schedules' }).waitFor()
    await signOut()
    expect((await page.evaluate(async () => await fetch('/api/v1/me').then(({ status }) => status))) as number).toBe(
      401,
    )
    await continueAs('Ada Lovelace')
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    expect((await me()).user).toEqual(first.user)
    expectNothingElse()
  })

  it('gets the role of the rule, by keyboard alone', async () => {
    await open('/')
    await press(page, page.getByRole('link', { name: 'Continue with Demo provider' }))
    await press(page, page.getByRole('button', { name: 'Grace Hopper' }))
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    const { user, apiKey } = await me()
    expect(user.name).toBe('Grace Hopper')
    expect(apiKey.scopes).toContain('schedules:write')
    expect(apiKey.scopes).not.toContain('users:write')
    expectNothingElse()
  })

  it('is told that they have no API key, and where to get one', async () => {
    await open('/keys')
    await continueAs('Grace Hopper')
    await page.getByRole('heading', { name: 'No API key' }).waitFor()
    await page
      .getByText('Only keys that act for you are listed here. This session may not create one: ask an admin for a key.')
      .waitFor()
    await page.goto(`${running.url}/keys?q=nothing`)
    await page.getByRole('heading', { name: 'Nothing matches' }).waitFor()
    await page.goto(`${running.url}/keys`)
    await signOut()
    await continueAs('Ada Lovelace')
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    await page.goto(`${running.url}/keys`)
    // An admin sees the keys of everybody.
    await page.getByRole('link', { name: 'demo lease', exact: true }).waitFor()
    await page.route('**/api/v1/api-keys?*', (route) => route.fulfill({ json: { items: [], nextCursor: null } }))
    await page.reload()
    await page.getByRole('heading', { name: 'No API key' }).waitFor()
    await page
      .getByText('A program that uses the API needs a key. Create one with “New key”.', { exact: true })
      .waitFor()
    expectNothingElse()
  })

  it('is in Activity, with their provider', async () => {
    await open('/activity?types=api-key.session-created')
    await continueAs('Grace Hopper')
    const line = page.getByRole('listitem').filter({ hasText: 'Grace Hopper signed in with ' }).first()
    // Not also that she did it with the session, which has her name.
    await expect
      .poll(async () => /Grace.*/.exec((await line.textContent()) ?? '')?.[0])
      .toBe(`Grace Hopper signed in with ${issuer}`)
    expectNothingElse()
  })

  it('finds the only provider in each form of an admin', async () => {
    await open('/people/sign-in')
    await continueAs('Ada Lovelace')
    const field = page.getByLabel('Identity provider')
    await expect.poll(() => field.inputValue()).toBe(issuer)
    for (const name of ['Invite', 'New rule']) {
      await page.getByRole('button', { name, exact: true }).click()
      const field = page.getByRole('dialog').getByLabel('Identity provider')
      await expect.poll(() => field.inputValue()).toBe(issuer)
      await field.clear()
      expect(await field.inputValue()).toBe('')
      await page.keyboard.press('Escape')
    }
    const email = `${randomUUID()}@example.com`
    await page.getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByRole('dialog').getByLabel('E-mail address').fill(email)
    await page.getByRole('dialog').getByRole('button', { name: 'Invite', exact: true }).click()
    await page.getByRole('heading', { name: `${email} is invited` }).waitFor()
    expectNothingElse()
  })

  it('is signed out once the rule is deleted', async () => {
    await open('/')
    await continueAs('Grace Hopper')
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    const headers = { Authorization: `Bearer ${running.demo.apiKey}`, 'Content-Type': 'application/json' }
    const rules = `${running.demo.baseUrl}/v1/sign-in-rules`
    const { items } = (await (await fetch(rules, { headers })).json()) as {
      items: { id: string; issuer: string; claim: string; value: string; role: string }[]
    }
    const { id, ...rule } = items.find(
      (each) => each.issuer === issuer && each.value === 'engineers',
    ) as (typeof items)[0]
    expect((await fetch(`${rules}/${id}`, { method: 'DELETE', headers })).status).toBe(200)
    // The page finds out by itself.
    await page.getByRole('dialog', { name: 'Session ended' }).getByRole('button', { name: 'Sign-in page' }).click()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    await continueAs('Grace Hopper')
    await page.getByRole('heading', { name: 'You have no access' }).waitFor()
    const { issuer: of, claim, value, role } = rule
    const body = JSON.stringify({ issuer: of, claim, value, role })
    expect((await fetch(rules, { method: 'POST', headers, body })).status).toBe(201)
    await continueAs('Grace Hopper')
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    expectNothingElse([REFUSED])
  })
})

describe('somebody whom no rule admits', () => {
  it('sees what the provider says of them, and can be somebody else', async () => {
    await open('/runs', { permissions: ['clipboard-read', 'clipboard-write'] })
    await continueAs('Mallory')
    const problem = page.getByRole('alert')
    await problem.getByRole('heading', { name: 'You have no access' }).waitFor()
    const claims = await problem.locator('dl > div').allInnerTexts()
    const pairs = claims.map((claim) => claim.replace(/\s+/, '='))
    for (const pair of ['groups=visitors', 'email=mallory@example.net', `iss=${issuer}`]) expect(pairs).toContain(pair)
    // Neither the code nor the claims stay.
    expect(page.url()).toBe(`${running.url}/sign-in/${running.demo.organizationId}?next=%2Fruns`)
    expect(await page.locator('#sign-in-problem').count()).toBe(0)
    await page.getByRole('button', { name: 'Copy the claims' }).click()
    await page.getByText('Copied', { exact: true }).waitFor()
    const copied = await page.evaluate<string>('navigator.clipboard.readText()')
    expect(copied.split('\n').sort()).toEqual(pairs.sort())
    await continueAs('Ada Lovelace')
    await page.getByRole('heading', { name: 'Runs' }).waitFor()
    await signOut()
    expect(await page.getByRole('alert').count()).toBe(0)
    expectNothingElse([REFUSED])
  })

  it('sees text where the claims are HTML', async () => {
    seen = await newPage(browser)
    page = seen.page
    const hostile = ['<img src=x onerror="document.title = 1">', '\u202e</script><script>document.title = 1</script>']
    await page.route('**/sign-in/start/nobody', async (route) => {
      const response = await route.fetch()
      const json = JSON.stringify([hostile]).replaceAll('<', String.raw`\u003c`)
      const body = (await response.text()).replace('"claims":[]', () => `"claims":${json}`)
      await route.fulfill({ response, body })
    })
    await page.goto(`${running.url}/sign-in/start/nobody`)
    const claim = page.getByRole('alert').locator('dl > div')
    await claim.waitFor()
    expect(await claim.textContent()).toContain('<img src=x')
    expect(await claim.textContent()).toContain('\ufffd</script>')
    expect(await page.title()).toBe('Sign in · Workspace')
    expectNothingElse([/status of 404/])
  })
})

it('starts again after a callback that was used before', async () => {
  await open('/runs')
  await continueAs('Ada Lovelace')
  await page.getByRole('heading', { name: 'Runs' }).waitFor()
  const callback = seen.requested.find((url) => url.startsWith(`${running.url}/sign-in/callback/demo`)) as string
  await page.goto(callback)
  await page.getByRole('alert').getByRole('heading', { name: 'Start again' }).waitFor()
  expect(new URL(page.url()).search).toBe('')
  // The session of before is still there.
  await page.goto(`${running.url}/pins`)
  await page.getByRole('heading', { name: 'Pins', exact: true }).waitFor()
  expectNothingElse([/status of 400/])
})

it('has an address for each organization, which it remembers after a sign-in by key, too', async () => {
  const path = `/sign-in/${running.demo.organizationId}`
  await open(`${path}?next=/pins`)
  await page.getByLabel('API key').fill(running.demo.apiKey)
  await page.getByRole('button', { name: 'Sign in with the API key' }).click()
  await page.getByRole('heading', { name: 'Pins', exact: true }).waitFor()
  await signOut()
  await page.waitForURL(`${running.url}${path}`)
  await page.goto(`${running.url}/sign-in/another-organization`)
  await page.getByLabel('API key').waitFor()
  expect(await page.getByRole('link', { name: /^Continue/ }).count()).toBe(0)
  expectNothingElse()
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width pixels', async (look) => {
  await open('/', look)
  await expectAccessible(page)
  await continueAs('Mallory')
  await page.getByRole('heading', { name: 'You have no access' }).waitFor()
  await expectAccessible(page)
  expectNothingElse([REFUSED])
})
