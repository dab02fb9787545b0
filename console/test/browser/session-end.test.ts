/**
 * A session that ends while a person works, in Chromium: nothing that was typed is lost.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page, Route } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium, newPage } from '../../../test/browser/chromium.ts'
import { freePort } from '../../../test/support/dev-server.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible } from './axe.ts'
import { isFocused } from './keyboard.ts'
import { addPerson, ISSUER, type Person, senderOf, signInAs, writeBeside } from './people.ts'

let running: Console
let browser: Browser

beforeAll(async () => {
  running = await startConsole('--sign-in', String(await freePort()))
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})

const KEY_BUTTON = 'Sign in with the API key'
const expired = (page: Page) => page.getByRole('dialog', { name: 'Session ended' })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })

/** Signs in as a person does, at an address where there are providers, too. */
async function open(apiKey: string, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  const { page } = await newPage(browser, options)
  await signIn(page, apiKey, path)
  return page
}

async function signIn(page: Page, apiKey: string, path: string): Promise<void> {
  await page.goto(`${running.url}/sign-in/${running.demo.organizationId}?next=${encodeURIComponent(path)}`)
  await page.getByLabel('API key').fill(apiKey)
  await button(page, KEY_BUTTON).click()
  await page.locator('nav').first().waitFor({ state: 'attached' })
}

async function endSession(page: Page): Promise<void> {
  const [cookie] = (await page.context().cookies()).filter(({ name }) => name === '__Host-session')
  const headers = { Authorization: `Bearer ${cookie?.value}` }
  const response = await fetch(`${running.demo.baseUrl}/v1/me/api-key`, { method: 'DELETE', headers })
  expect(response.status).toBe(200)
}

/** Ends the session while the page asks nothing by itself, so that the click is the first to notice. */
async function clickAfterEnd(page: Page, name: string): Promise<void> {
  const { promise: clicked, resolve: letGo } = Promise.withResolvers<void>()
  const hold = async (route: Route) => {
    if (route.request().method() === 'GET') await clicked
    await route.fallback()
  }
  await page.route('**/v1/**', hold)
  await endSession(page)
  await page.getByRole('button', { name, exact: true }).last().click()
  letGo()
  // Chromium can lose a request that is sent while the last route goes.
  await expired(page).waitFor()
  await page.unroute('**/v1/**', hold)
}

async function signInAgain(page: Page, apiKey: string): Promise<void> {
  const dialog = expired(page)
  await dialog.getByText('Sign in again to continue. What you typed is kept.').waitFor()
  await dialog.getByLabel('API key').fill(apiKey)
  await dialog.getByRole('button', { name: KEY_BUTTON }).click()
  await dialog.waitFor({ state: 'detached' })
}

const storage = (page: Page) => page.evaluate<string>('JSON.stringify({ ...localStorage, ...sessionStorage })')

/** How to come to an editor, what is typed there, and how it is saved. */
interface Editor {
  readonly path: string
  /** Opens it, where it has no address. */
  readonly open?: (page: Page) => Promise<unknown>
  /** Types or chooses the rest. */
  readonly fill?: (page: Page) => Promise<unknown>
  /** The field with the text that must not be lost, or a choice. */
  readonly field: string | RegExp
  readonly value?: string
  readonly verb: string
}

const inDialog = (page: Page) => page.getByRole('dialog').last()
const act = (name: string, label: string) => async (page: Page) => {
  await button(page, `Actions for ${name}`).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}
const press = (name: string) => (page: Page) => button(page, name).click()
const SECRET = 'postgres://secret-value'
const HOOK = 'https://hooks.example.com/secret-path'

/** Every editor of the console. */
async function editorsOf(person: Person): Promise<Readonly<Record<string, Editor>>> {
  const { projectId, agentId } = running.demo
  const send = senderOf(running.demo.baseUrl, running.demo.serviceKey)
  const name = (what: string) => `${what} ${randomUUID().slice(0, 8)}`
  const [scheduleId, value, renamed] = [randomUUID(), name('team'), name('Person')]
  await send('PUT', `/v1/agents/${agentId}/schedules/${scheduleId}`, { name: name('Nightly'), cron: '0 3 1 1 *' })
  // The receiver of `npm run dev` completes each run.
  await send('DELETE', '/v1/run-endpoint')
  const { id: runId } = await send<{ id: string }>('POST', `/v1/agents/${agentId}/schedules/${scheduleId}/runs`)
  const rule = { issuer: ISSUER, claim: 'groups', value, role: 'member' }
  const { id: ruleId } = await send<{ id: string }>('POST', '/v1/sign-in-rules', rule)
  const colleague = await addPerson(running)
  await signInAs(running, colleague, { ruleIds: [ruleId] })
  await send('PUT', `/v1/users/${randomUUID()}`, { name: renamed })
  const endpoint = await send<{ id: string }>('POST', '/v1/event-endpoints', { url: `https://example.com/${value}` })
  const skill = name('skill').replace(' ', '-')
  const { id: skillId } = await send<{ id: string }>('POST', '/v1/skills', {
    files: [{ filename: 'SKILL.md', content: `---\nname: ${skill}\ndescription: Test.\n---\n` }],
  })
  void person
  return {
    'a new schedule': {
      path: '/schedules',
      open: press('New schedule'),
      fill: (page) => inDialog(page).getByLabel('Belongs to').selectOption('Website'),
      field: 'Name',
      verb: 'Save',
    },
    'a schedule': {
      path: `/agents/${agentId}/schedules/${scheduleId}`,
      open: press('Edit'),
      field: 'Name',
      verb: 'Save',
    },
    'the outcome of a run': { path: `/runs/${runId}`, open: press('Complete'), field: 'Message', verb: 'Complete' },
    'a new skill': {
      path: '/skills/new',
      fill: (page) =>
        page.getByRole('textbox', { name: 'Text of SKILL.md' }).fill(`---\nname: ${skill}-2\ndescription: A.\n---\n`),
      field: 'What changed',
      verb: 'Create',
    },
    'a skill': {
      path: `/skills/${skillId}/edit`,
      fill: async (page) => {
        await page.getByRole('textbox', { name: 'Text of SKILL.md' }).click()
        await page.keyboard.press('Control+End')
        await page.keyboard.type('Typed before.')
      },
      field: 'What changed',
      verb: 'Save new version',
    },
    'a new feed': { path: '/skills/feeds', open: press('New feed'), field: 'Name', verb: 'Create' },
    'a new variable': {
      path: `/variables?project=${projectId}`,
      open: press('New variable'),
      fill: (page) => page.getByLabel('Value', { exact: true }).fill(SECRET),
      field: 'Name',
      value: `V_${value.replaceAll(/\W/g, '_')}`,
      verb: 'Set',
    },
    'a new key': {
      path: '/keys',
      open: press('New key'),
      fill: (page) => page.getByLabel('How long it is valid').selectOption('As long as this sign-in'),
      field: 'Name',
      verb: 'Create',
    },
    'a new person': {
      path: '/people',
      open: press('New person'),
      fill: (page) => inDialog(page).getByLabel('ID', { exact: true }).fill(randomUUID()),
      field: 'Name',
      verb: 'Create',
    },
    'a new name': {
      path: `/people?q=${encodeURIComponent(renamed)}`,
      open: act(renamed, 'Rename'),
      field: 'Name',
      verb: 'Rename',
    },
    'a new rule': {
      path: '/people/sign-in',
      open: press('New rule'),
      fill: async (page) => {
        await inDialog(page).getByLabel('Identity provider').fill(ISSUER)
        await inDialog(page).getByLabel('Claim', { exact: true }).fill('groups')
      },
      field: 'Value',
      verb: 'Create',
    },
    'a rule': { path: '/people/sign-in', open: act(`groups = ${value}`, 'Edit'), field: 'Value', verb: 'Save' },
    'an invitation': {
      path: '/people/sign-in',
      open: press('Invite'),
      field: 'E-mail address',
      value: `${randomUUID()}@example.com`,
      verb: 'Invite',
    },
    'a role': {
      path: `/people/users/${colleague.id}`,
      open: press('Change role'),
      fill: async (page) => {
        await page.getByLabel('A role of their own, whatever the rules say').check()
        await page.getByLabel(/^Viewer/).check()
      },
      field: /^Viewer/,
      verb: 'Save',
    },
    'a new event endpoint': {
      path: '/endpoints',
      open: press('New event endpoint'),
      fill: (page) => page.getByLabel('URL', { exact: true }).fill(HOOK),
      field: 'Note',
      verb: 'Create',
    },
    'an event endpoint': { path: `/endpoints/${endpoint.id}`, open: press('Edit'), field: 'Note', verb: 'Save' },
    'a place in the events': {
      path: `/endpoints/${endpoint.id}`,
      open: async (page) => {
        await button(page, 'More actions').click()
        await page.getByRole('menuitem', { name: 'Rewind', exact: true }).click()
      },
      field: 'From',
      value: '2026-11-24T08:00:01',
      verb: 'Rewind',
    },
    'the run endpoint': {
      path: '/endpoints',
      open: press('Set the run endpoint'),
      field: 'URL',
      value: 'https://example.com/runs',
      verb: 'Save',
    },
  }
}

describe('a session that ends', () => {
  it('in the middle of any editor loses nothing, also over a reload; a secret is not kept', async () => {
    const person = await addPerson(running)
    const page = await open(person.apiKey, '/')
    for (const [what, editor] of Object.entries(await editorsOf(person))) {
      const { path, field, verb, value = `typed into ${what}` } = editor
      const typed = page.getByLabel(field, { exact: true }).last()
      const isChoice = field instanceof RegExp
      const expectTyped = () =>
        expect
          .poll(() => (isChoice ? typed.isChecked() : typed.inputValue()), { message: what })
          .toBe(isChoice || value)
      await page.goto(`${running.url}${path}`)
      await editor.open?.(page)
      if (!isChoice) await typed.fill(value)
      await editor.fill?.(page)
      // Without a question, and at once: the address of a redirect has no more time either.
      await page.reload()
      await expectTyped()
      await page.getByText(/^Not saved yet\. Last typed: /).waitFor()
      const kept = await storage(page)
      for (const secret of [SECRET, 'secret-path', person.apiKey]) expect(kept).not.toContain(secret)
      // What is not kept is typed again.
      if (what === 'a new variable' || what === 'a new event endpoint') await editor.fill?.(page)
      await expect.poll(() => page.locator('form :invalid').count(), { message: what }).toBe(0)
      await clickAfterEnd(page, verb)
      await signInAgain(page, person.apiKey)
      // What was asked is done, and the draft is gone.
      await expect.poll(async () => (await storage(page)).includes('draft:'), { message: what }).toBe(false)
      expect(await page.getByRole('alert').allInnerTexts(), what).toEqual([])
    }
    await page.context().close()
  })

  it('is continued in a window of the identity provider; a draft belongs to one person, until they sign out', async () => {
    const { page } = await newPage(browser)
    const asAda = page.getByRole('button', { name: 'Ada Lovelace' })
    const draft = () => inDialog(page).getByLabel('Name', { exact: true })
    await page.goto(`${running.url}/schedules`)
    // Nobody was signed in here.
    await page.getByRole('link', { name: 'Continue with Demo provider' }).waitFor()
    expect(await page.getByText('Session ended.').count()).toBe(0)
    await page.getByRole('link', { name: 'Continue with Demo provider' }).click()
    await asAda.click()
    await button(page, 'New schedule').click()
    await draft().fill('Typed by Ada')
    await endSession(page)
    // Within five seconds, without a request of the person.
    await expired(page).waitFor()
    await expect.poll(() => isFocused(button(page, 'Continue with Demo provider'))).toBe(true)
    await expectAccessible(page)
    const continueAs = async (name: string) => {
      const opened = page.waitForEvent('popup')
      await expired(page).getByRole('button', { name: 'Continue with Demo provider' }).click()
      const popup = await opened
      // The window closes by itself where the browser allows it.
      await popup.getByRole('button', { name }).click()
    }
    await continueAs('Ada Lovelace')
    await expired(page).waitFor({ state: 'detached' })
    expect(await draft().inputValue()).toBe('Typed by Ada')
    // Another person sees nothing of it.
    await endSession(page)
    await expired(page).waitFor()
    await continueAs('Grace Hopper')
    await page.getByRole('heading', { name: 'Today' }).waitFor()
    await page.getByText('Signed in as Grace Hopper. What somebody else typed here before is kept for them.').waitFor()
    await page.goto(`${running.url}/schedules`)
    await button(page, 'New schedule').waitFor()
    expect(await page.getByText('Signed in as').count()).toBe(0)
    expect(await page.getByRole('dialog').count()).toBe(0)
    // The sign-in page says why it is shown, and the draft comes back with its person.
    await endSession(page)
    await page.reload()
    await page.getByRole('status').getByText('Session ended. Sign in again.').waitFor()
    await page.getByRole('link', { name: 'Continue with Demo provider' }).click()
    await asAda.click()
    await expect.poll(() => draft().inputValue()).toBe('Typed by Ada')
    await page.goto(`${running.url}/pins`)
    const other = await page.context().newPage()
    await other.goto(`${running.url}/schedules`)
    await other.getByRole('dialog').getByText('Not saved yet').waitFor()
    await button(page, 'Sign out').click()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await page.getByText('Session ended.').count()).toBe(0)
    await other.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await storage(page)).not.toContain('Typed by Ada')
    await page.context().close()
  })

  it('can wait: the person looks at the page, and signs in when they want', async () => {
    const person = await addPerson(running)
    const page = await open(person.apiKey, '/variables?project=website')
    await button(page, 'New variable').click()
    await inDialog(page)
      .getByLabel('Name', { exact: true })
      .fill(`V_${randomUUID().slice(0, 4)}`)
    await inDialog(page).getByLabel('Value', { exact: true }).fill(SECRET)
    await endSession(page)
    await expired(page).waitFor()
    // The page waits for the person, not for the service.
    await page.waitForTimeout(6000)
    expect(await page.getByText('The service takes long to respond.').count()).toBe(0)
    await expired(page).getByRole('button', { name: 'Not now' }).click()
    await expired(page).waitFor({ state: 'detached' })
    // Not below the dialog, where nobody can press it.
    await inDialog(page).getByRole('button', { name: 'Sign in again' }).click()
    await expired(page).getByRole('button', { name: 'Not now' }).click()
    // What the person does asks again, and is done then.
    await button(page, 'Set').click()
    await signInAgain(page, person.apiKey)
    await page.getByText(/^V_.* set\.$/).waitFor()
    await page.context().close()
  })
})

describe('an admin who signed in with a provider', () => {
  it('makes a lasting key that leases, after they have confirmed who they are, and revokes a key of somebody else', async () => {
    const colleague = await addPerson(running)
    const { page } = await newPage(browser)
    await page.goto(`${running.url}/keys`)
    await page.getByRole('link', { name: 'Continue with Demo provider' }).click()
    await page.getByRole('button', { name: 'Ada Lovelace' }).click()
    await page.getByRole('heading', { name: 'Keys' }).waitFor()
    const { apiKey } = await page.evaluate<{ apiKey: { id: string } }>(
      async () => await (await fetch('/api/v1/me')).json(),
    )
    const earlier = new Date(Date.now() - 11 * 60_000).toISOString()
    await writeBeside(running, [
      { sql: 'UPDATE "apiKeys" SET "createdAt" = ? WHERE "id" = ?', parameters: [earlier, apiKey.id] },
    ])
    await button(page, 'New key').click()
    const field = (label: string) => inDialog(page).getByLabel(label, { exact: true })
    await field('Name').fill('continuous integration')
    await field('Purpose').selectOption('Lease the environment variables of a project')
    await field('Website').check()
    await field('Acts as').selectOption('Nobody')
    expect(await field('Your API key').count()).toBe(0)
    await button(page, 'Create').click()
    const confirm = page.getByRole('dialog', { name: 'Confirm it is you' })
    await confirm.waitFor()
    await expectAccessible(page)
    expect(await confirm.getByLabel('API key').count()).toBe(0)
    const opened = page.waitForEvent('popup')
    await confirm.getByRole('button', { name: 'Continue with Demo provider' }).click()
    const popup = await opened
    await popup.getByRole('button', { name: 'Ada Lovelace' }).click()
    const token = (await page.locator('[data-secret]').textContent())?.trim() ?? ''
    interface Me {
      readonly user: object | null
      readonly apiKey: { readonly scopes: readonly string[]; readonly expiresAt: string }
    }
    const me = await senderOf(running.demo.baseUrl, token)<Me>('GET', '/v1/me')
    expect([me.user, me.apiKey.scopes]).toEqual([null, ['environment-variables:lease']])
    expect(Date.parse(me.apiKey.expiresAt) - Date.now()).toBeGreaterThan(89 * 86_400_000)
    await button(page, 'Done').click()
    const name = `laptop of ${colleague.name}`
    await act(name, 'Revoke')(page)
    await inDialog(page).getByRole('button', { name: 'Revoke', exact: true }).click()
    await page.getByText(`${name} revoked.`).waitFor()
    await expect(colleague.send('GET', '/v1/me')).rejects.toThrow('401')
    await page.context().close()
  })
})
