/**
 * A person connects an app, in Chromium: from the address that the app opens to the address that it gets back.
 * @module-tag slow
 */
import { createHash } from 'node:crypto'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { launchChromium, newPage } from '../../../test/browser/chromium.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible } from './axe.ts'
import { addPerson } from './people.ts'

let running: Console
let browser: Browser
/** The app, which is sent the person. */
let app: Server
let redirect: string

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
  app = createServer((_, response) => response.end('Back in the app'))
  await new Promise<void>((resolve) => app.listen(0, '127.0.0.1', resolve))
  redirect = `http://127.0.0.1:${(app.address() as AddressInfo).port}/callback`
})
afterAll(async () => {
  app.close()
  await browser.close()
  await running.stop()
})

const VERIFIER = 'v'.repeat(43)

async function register(name: string): Promise<string> {
  const response = await fetch(`${running.url}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({
      client_name: name,
      redirect_uris: [redirect],
      token_endpoint_auth_method: 'none',
      grant_types: ['authorization_code', 'refresh_token'],
    }),
  })
  return ((await response.json()) as { client_id: string }).client_id
}

function addressOf(clientId: string, changes: Record<string, string> = {}): string {
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirect,
    code_challenge: createHash('sha256').update(VERIFIER).digest('base64url'),
    code_challenge_method: 'S256',
    // A router that reads numbers would write it in another way.
    state: '1e3',
    resource: new URL('/mcp', running.demo.baseUrl).href,
    ...changes,
  }
  return `${running.url}/authorize?${new URLSearchParams(parameters)}`
}

async function redeem(clientId: string, page: Page): Promise<{ access_token: string }> {
  const code = new URL(page.url()).searchParams.get('code') ?? ''
  const form = {
    grant_type: 'authorization_code',
    code,
    client_id: clientId,
    redirect_uri: redirect,
    code_verifier: VERIFIER,
  }
  const response = await fetch(`${running.url}/oauth/token`, { method: 'POST', body: new URLSearchParams(form) })
  return (await response.json()) as { access_token: string }
}

const signIn = async (page: Page, apiKey: string) => {
  await page.getByLabel('API key').fill(apiKey)
  await page.keyboard.press('Enter')
}

it('signs in first, ticks what the app may do, and is sent back by the browser', async () => {
  const name = 'Editor <img src=x onerror=alert(1)> \u202egnp'
  const clientId = await register(name)
  const person = await addPerson(running)
  const { page, complaints, requested } = await newPage(browser)
  // From another site: a Strict cookie is not sent with this.
  await page.goto(`${redirect}?start`)
  await page.evaluate(`location.assign(${JSON.stringify(addressOf(clientId, { scope: 'pins' }))})`)
  await page.waitForURL(/\/sign-in\?/)
  await signIn(page, person.apiKey)
  await page.getByRole('heading', { name: /^Connect Editor <img/ }).waitFor()
  expect(await page.getByText('Nobody has checked its name.').count()).toBe(1)
  expect(await page.getByRole('note').textContent()).toContain('127.0.0.1 is this computer')
  const main = await page.getByRole('main').textContent()
  for (const word of [person.name, 'Acme', '127.0.0.1']) expect(main).toContain(word)
  expect(main).not.toContain('\u202e')
  expect(await page.getByRole('checkbox', { name: 'Change your pins' }).isChecked()).toBe(true)
  expect(await page.getByRole('checkbox', { name: 'Read skills' }).isChecked()).toBe(false)
  for (const [colorScheme, width] of [
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize({ width, height: 900 })
    await expectAccessible(page)
  }
  // By keyboard alone.
  await page.getByRole('checkbox', { name: 'Read skills' }).focus()
  await page.keyboard.press('Space')
  await page.getByLabel('For how long').focus()
  await page.keyboard.press('7')
  await page.getByRole('button', { name: 'Connect' }).focus()
  await page.keyboard.press('Enter')
  await page.getByText('Back in the app').waitFor()
  const { searchParams } = new URL(page.url())
  expect([searchParams.get('state'), searchParams.get('iss')]).toEqual(['1e3', running.url])
  const { access_token: token } = await redeem(clientId, page)
  const call = await fetch(new URL('/mcp', running.demo.baseUrl), {
    method: 'POST',
    headers: {
      Authorization: `Bearer ${token}`,
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'who_am_i', arguments: {} } }),
  })
  const { result } = (await call.json()) as {
    result: { structuredContent: { apiKey: { scopes: string[]; expiresAt: string } } }
  }
  expect(result.structuredContent).toMatchObject({ user: { name: person.name } })
  const { scopes, expiresAt } = result.structuredContent.apiKey
  expect(scopes).toEqual(expect.arrayContaining(['skills:read', 'pins:read', 'pins:write']))
  expect(Math.round((Date.parse(expiresAt) - Date.now()) / 86_400_000)).toBe(7)
  // The words of the consent.
  await page.goto(`${running.url}/keys?kind=grant`)
  const row = page.getByRole('row').filter({ hasText: 'Editor' })
  await row.getByText('Read skills, Change your pins').locator('visible=true').waitFor()
  await row.getByRole('link').click()
  await page.getByRole('heading', { name: 'What it may do' }).waitFor()
  expect(await page.getByRole('main').getByRole('listitem').allInnerTexts()).toEqual([
    'Read skills',
    'Change your pins',
  ])
  expect(complaints.filter((each) => !/401/.test(each))).toEqual([])
  expect(requested.filter((each) => !each.startsWith(running.url) && !each.startsWith('http://127.0.0.1'))).toEqual([])
  await page.context().close()
})

it('offers no more than the person may do, and sends a refusal back', async () => {
  const clientId = await register('Editor')
  const person = await addPerson(running, { without: ['pins:read', 'pins:write', 'session-files:write'] })
  const { page } = await newPage(browser)
  await page.goto(addressOf(clientId))
  await signIn(page, person.apiKey)
  await page.getByRole('heading', { name: 'Connect Editor' }).waitFor()
  expect(await page.getByRole('checkbox', { name: 'See your pins' }).isDisabled()).toBe(true)
  expect(await page.getByRole('checkbox', { name: 'Read session files' }).isChecked()).toBe(true)
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('Back in the app').waitFor()
  expect(new URL(page.url()).searchParams.get('error')).toBe('access_denied')
  await page.context().close()
})

it('says what is wrong with a request, and goes nowhere', async () => {
  const clientId = await register('Editor')
  const { page } = await newPage(browser)
  await page.goto(addressOf(clientId, { redirect_uri: 'https://evil.example.com/' }))
  await signIn(page, running.demo.apiKey)
  await page.getByRole('heading', { name: 'The app cannot be connected' }).waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('The request of the app is not valid')
  expect(new URL(page.url()).origin).toBe(running.url)
  await page.context().close()
})
