/**
 * `workspace login` with the console, in Chromium: the real command asks, and a person decides.
 * @module-tag slow
 */
import type { ChildProcess } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from 'vitest'
import { findConsole } from '../../../cli/src/browser-login.ts'
import { launchChromium, newPage, type Observed } from '../../../test/browser/chromium.ts'
import { expectQuiet } from '../../../test/browser/console.ts'
import { runWorkspace, startWorkspace } from '../../../test/support/commands.ts'
import { freePort, newFolder } from '../../../test/support/dev-server.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { addPerson, type Person, senderOf } from './people.ts'

let running: Console
let browser: Browser
let folder: string
let commands: ChildProcess[]
let seen: Observed
let page: Page
let person: Person

beforeAll(async () => {
  running = await startConsole('--sign-in', String(await freePort()))
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})

beforeEach(async () => {
  commands = []
  folder = newFolder()
  mkdirSync(join(folder, 'bin'))
  // In the place of the browser's opener.
  writeFileSync(join(folder, 'bin', 'xdg-open'), '#!/bin/sh\n')
  chmodSync(join(folder, 'bin', 'xdg-open'), 0o755)
  person = await addPerson(running)
})
afterEach(async () => {
  for (const command of commands) command.kill()
  rmSync(folder, { recursive: true })
  await seen.page.context().close()
})

const NOBODY = { url: '', apiKey: '' }
const environment = () => ({
  DISPLAY: ':0',
  SSH_CONNECTION: '',
  SSH_TTY: '',
  PATH: `${join(folder, 'bin')}:${process.env.PATH}`,
  XDG_CONFIG_HOME: folder,
})
const loginFile = () => join(folder, 'workspace', 'login.json')

/** Starts the command. @returns the address that it opens, how it goes on, and its standard input. */
async function logIn(...args: readonly string[]) {
  const all = ['login', '--url', running.demo.baseUrl, '--console-url', running.url, ...args]
  const command = startWorkspace(all, NOBODY, { env: environment(), stdio: 'pipe' })
  commands.push(command)
  let printed = ''
  for (const stream of [command.stdout, command.stderr]) stream?.on('data', (chunk) => (printed += chunk))
  const ended = new Promise<{ status: number | null; printed: string }>((resolve) => {
    command.on('close', (status) => resolve({ status, printed }))
  })
  const address = await vi.waitFor(
    () => /^https?:\S+$/m.exec(printed)?.[0] ?? Promise.reject(new Error(printed)),
    30_000,
  )
  return { address, ended, type: (text: string) => command.stdin?.write(`${text}\n`) }
}

async function open(address: string, options: BrowserContextOptions = {}): Promise<void> {
  seen = await newPage(browser, options)
  page = seen.page
  await page.goto(address)
}

async function signIn(): Promise<void> {
  await page.getByLabel('API key').fill(person.apiKey)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: /^Log in on / }).waitFor()
}

/** The pages asked nobody but the console; in the end, the browser went to the command. */
function expectNothingElse(expected: readonly RegExp[] = []): void {
  const elsewhere = seen.requested.filter((url) => !url.startsWith(`${running.url}/`))
  const foreign = elsewhere.filter((url) => !/^http:\/\/127\.0\.0\.1:\d+\/callback\?/.test(url))
  const problems = () => [...seen.complaints, ...foreign]
  // That there is no session yet.
  expectQuiet({ page, problems, close: async () => undefined }, [/status of 401/, ...expected])
}

const whoami = async () => JSON.parse((await runWorkspace(['whoami', '--json'], NOBODY, environment())).stdout)

it('signs in first, allows it by keyboard, and is told to go back to the terminal', async () => {
  // On a terminal, the command asks for it.
  expect(await findConsole(running.demo.baseUrl)).toBe(running.url)
  const { address, ended } = await logIn()
  await open(address)
  await page.waitForURL(/\/sign-in\?/)
  await signIn()
  expect(page.url()).toBe(address)
  const machine = new URL(address).searchParams.get('machine')
  const main = await page.getByRole('main').textContent()
  for (const words of [machine, person.name, 'Acme', 'everything that you may do']) expect(main).toContain(words)
  expect(await page.getByRole('note').textContent()).toContain('only if you have just run workspace login yourself')
  for (const { colorScheme, viewport } of LOOKS) {
    await page.emulateMedia({ colorScheme })
    await page.setViewportSize(viewport)
    await expectAccessible(page)
  }
  await page.getByLabel('For how long').focus()
  await page.keyboard.press('7')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Enter')
  await page.getByText('You can close this window, and continue in the terminal.').waitFor()
  expect(new URL(page.url()).host).toBe(`127.0.0.1:${new URL(address).searchParams.get('port')}`)
  const { status, printed } = await ended
  expect([status, printed]).toEqual([0, expect.stringContaining(`with the key workspace on ${machine} of Acme`)])
  expect(printed).toMatch(/, which expires in \d days\. Stored in /)
  const me = await whoami()
  const own = await person.send<typeof me>('GET', '/v1/me')
  expect(me).toMatchObject({ user: { id: person.id }, apiKey: { kind: 'grant', scopes: own.apiKey.scopes } })
  const { apiKey } = JSON.parse(readFileSync(loginFile(), 'utf8'))
  const everywhere = `${seen.requested} ${seen.complaints} ${printed} ${await page.content()}`
  expect(everywhere).not.toContain(apiKey)
  expectNothingElse()
  // It shows among the connected apps, and disconnecting it ends the login.
  await page.goto(`${running.url}/keys?kind=grant`)
  await page.getByRole('link', { name: `workspace on ${machine}` }).waitFor()
  await person.send('DELETE', `/v1/api-keys/${me.apiKey.id}`)
  const refused = await runWorkspace(['whoami'], NOBODY, environment())
  expect(refused.printed).toMatch(/^The API key was revoked.* Run `workspace login`\.\n$/)
})

it('signs in with an identity provider first, and the login ends with the access of the person', async () => {
  const { address, ended } = await logIn()
  await open(address)
  await page.getByRole('link', { name: 'Continue with Demo provider' }).click()
  await page.getByRole('button', { name: 'Grace Hopper' }).click()
  await page.getByRole('heading', { name: /^Log in on / }).waitFor()
  expect(page.url()).toBe(address)
  await page.getByRole('button', { name: 'Allow' }).click()
  expect((await ended).status).toBe(0)
  const { user, apiKey } = await whoami()
  expect(user.name).toBe('Grace Hopper')
  const { demo } = running
  const admin = senderOf(demo.baseUrl, demo.serviceKey)
  await admin('PATCH', `/v1/identities/${apiKey.identityId}`, { blocked: true })
  const refused = await runWorkspace(['whoami'], NOBODY, environment())
  expect(refused.printed).toMatch(/^The API key was revoked.* Run `workspace login`\.\n$/)
})

it('denies it', async () => {
  const { address, ended } = await logIn()
  await open(address)
  await signIn()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('You can close this window').waitFor()
  const { status, printed } = await ended
  expect([status, printed]).toEqual([1, expect.stringContaining('The login was denied in the browser.')])
  expect(existsSync(loginFile())).toBe(false)
  const { items } = await person.send<{ items: unknown[] }>('GET', '/v1/api-keys?kind=grant')
  expect(items).toEqual([])
  expectNothingElse()
})

it('shows a code that the person pastes', async () => {
  const { address, ended, type } = await logIn('--no-browser')
  await open(address)
  await signIn()
  await page.getByRole('button', { name: 'Allow' }).click()
  const dialog = page.getByRole('dialog', { name: 'Your code' })
  await expectAccessible(page)
  const code = (await dialog.locator('[data-secret]').textContent()) ?? ''
  expect(code).toMatch(/^[\w-]{43}@localhost:\d+$/)
  type(code)
  expect((await ended).status).toBe(0)
  expect((await whoami()).user.id).toBe(person.id)
  await page.getByRole('button', { name: 'Done' }).click()
  await page.getByRole('heading', { name: 'That is all' }).waitFor()
  expect(await page.content()).not.toContain(code)
  // It works once.
  const again = await logIn('--no-browser')
  again.type(code)
  expect(await again.ended).toMatchObject({ status: 1, printed: expect.stringContaining('The code is not valid') })
  expectNothingElse()
})

it('denies it without a browser of the command', async () => {
  const { address } = await logIn('--no-browser')
  await open(address)
  await signIn()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await page.getByText('You can close this page.').waitFor()
  expectNothingElse()
})

it('gives a program on another port a code that is worth nothing to it', async () => {
  const { address, ended } = await logIn()
  const thief = createServer((_, response) => response.end('Thank you'))
  await new Promise<void>((resolve) => thief.listen(0, '127.0.0.1', resolve))
  const { port } = thief.address() as AddressInfo
  const changed = new URL(address)
  changed.searchParams.set('port', String(port))
  await open(changed.href)
  await signIn()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText('Thank you').waitFor()
  const answer = new URL(page.url()).searchParams
  const redeem = (verifier: string) =>
    fetch(`${running.url}/login/token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ code: answer.get('code'), verifier }),
    })
  expect((await redeem('v'.repeat(43))).status).toBe(400)
  const { items } = await person.send<{ items: unknown[] }>('GET', '/v1/api-keys?kind=grant')
  expect(items).toEqual([])
  // And the command, to which it is brought now, gets nothing either.
  await page.goto(`http://127.0.0.1:${new URL(address).searchParams.get('port')}/callback?${answer}`)
  expect(await ended).toMatchObject({ status: 1, printed: expect.stringContaining('The code is not valid') })
  thief.close()
})

it('says what is wrong with an address, and what the service refuses', async () => {
  const { address } = await logIn()
  const elsewhere = new URL(address)
  elsewhere.searchParams.set('resource', 'https://evil.example')
  await open(elsewhere.href)
  await signIn()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByRole('alert').getByText('This console belongs to another service.').waitFor()
  expect(await page.getByRole('button', { name: 'Allow' }).isEnabled()).toBe(true)
  const wrong = new URL(address)
  wrong.searchParams.set('machine', '<b>laptop')
  await page.goto(wrong.href)
  await page.getByRole('heading', { name: 'The command cannot be logged in' }).waitFor()
  expect(await page.getByRole('alert').textContent()).toBe(
    'Its address has no valid machine. Run `workspace login` again.',
  )
  expect(await page.getByRole('button').count()).toBe(0)
  expectNothingElse([/status of 400/])
})
