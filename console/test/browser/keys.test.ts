/**
 * The pages of API keys, as people use them.
 * @module-tag slow
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, press, tabTo } from './keyboard.ts'
import { addPerson, ISSUER, type Person, senderOf, signInAs, writeBeside } from './people.ts'
import { expectForgotten } from './secrets.ts'

interface Me {
  readonly user: { readonly id: string } | null
  readonly apiKey: {
    readonly id: string
    readonly name: string
    readonly scopes: string[]
    readonly projectIds: string[] | null
    readonly expiresAt: string | null
  }
}

interface Key {
  readonly id: string
  readonly token: string
}

let running: Console
let browser: Browser

beforeAll(async () => {
  running = await startConsole()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await running.stop()
})

async function open(apiKey: string, path = '/keys', options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey }, path, options)
  await session.page.getByRole('heading', { level: 1 }).waitFor()
  return session
}

const me = (token: string) => senderOf(running.demo.baseUrl, token)<Me>('GET', '/v1/me')
const isRefused = (token: string) =>
  me(token).then(
    () => false,
    (error: Error) => error.message.includes('401'),
  )
const addKey = (person: Person, name: string, apiKey = person.apiKey) =>
  senderOf(running.demo.baseUrl, apiKey)<Key>('POST', '/v1/api-keys', { name, scopes: ['api-keys:write'] })

const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })
const field = (page: Page, label: string) => page.getByRole('dialog').getByLabel(label, { exact: true })
const button = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const shownToken = async (page: Page) => (await page.locator('[data-secret]').textContent())?.trim() ?? ''

async function act(page: Page, name: string, label: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

describe('a new key', () => {
  it('by mouse: is for a purpose, in one project; its token is shown once and copied', async () => {
    const person = await addPerson(running)
    const permissions = ['clipboard-read', 'clipboard-write']
    const session = await open(person.apiKey, '/keys', { permissions })
    const { page } = session
    await page.getByRole('button', { name: 'New key' }).click()
    await field(page, 'Name').fill('reviewer')
    await field(page, 'Purpose').selectOption('Agent in one project')
    await page.getByText('Choose the projects.').waitFor()
    expect(await button(page, 'Create').isDisabled()).toBe(true)
    await field(page, 'Website').check()
    await page.getByText(/^What it may do: \d+ of/).click()
    await page.getByRole('group', { name: 'Skills', exact: true }).getByLabel('read').uncheck()
    await field(page, 'How long it is valid').selectOption('As long as this sign-in')
    expect(await field(page, 'Your API key').count()).toBe(0)
    await button(page, 'Create').click()
    const token = await shownToken(page)
    // Escape does not lose it, however often it is pressed: Chromium lets a page prevent only the first.
    for (let presses = 0; presses < 3; presses++) await page.keyboard.press('Escape')
    await page.getByText('Copy the token first').waitFor()
    expect(await page.locator('dialog:modal [data-secret]').isVisible()).toBe(true)
    await button(page, 'Copy').click()
    await page.getByText('Copied.').waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(token)
    await button(page, 'Done').click()
    await row(page, 'reviewer').waitFor()
    await expectForgotten(page, token)
    const { user, apiKey } = await me(token)
    expect([user?.id, apiKey.projectIds]).toEqual([person.id, [running.demo.projectId]])
    expect(apiKey.scopes).toContain('session-files:write')
    expect(apiKey.scopes).not.toContain('skills:read')
    await page.goBack()
    await page.goForward()
    await row(page, 'reviewer').waitFor()
    await expectForgotten(page, token)
    expectQuiet(session)
    await session.close()
  })

  it('that outlives the sign-in needs an API key of this organization, which is not kept', async () => {
    const person = await addPerson(running)
    const session = await open(person.apiKey)
    const { page } = session
    await page.getByRole('button', { name: 'New key' }).click()
    await field(page, 'Name').fill('build machine')
    await field(page, 'Purpose').selectOption('Read everything')
    await field(page, 'How long it is valid').selectOption('For ever')
    for (const [entered, problem] of [
      ['wsk_IktcosBrZzZ5r5q8CnOS6OU6uNDdXahrg0FDhXDicM81tEmHu', /^The API key that you entered: /],
      [running.demo.otherOrganization.apiKey, /belongs to another organization, Globex/],
      [running.demo.leaseKey, /scope/],
    ] as const) {
      await field(page, 'Your API key').fill(entered)
      await button(page, 'Create').click()
      await page.getByRole('alert').getByText(problem).waitFor()
      // Nothing that was typed is lost, and the person stays signed in.
      expect(await field(page, 'Name').inputValue()).toBe('build machine')
      expect(await field(page, 'How long it is valid').inputValue()).toBe('never')
    }
    await field(page, 'Your API key').fill(person.apiKey)
    await button(page, 'Create').click()
    const token = await shownToken(page)
    await expectForgotten(page, person.apiKey)
    await button(page, 'Done').click()
    await row(page, 'build machine').waitFor()
    await expectForgotten(page, token, person.apiKey)
    const { apiKey } = await me(token)
    expect(apiKey.expiresAt).toBe(null)
    expect(apiKey.scopes.every((scope) => scope.endsWith(':read'))).toBe(true)
    expectQuiet(session, [/status of 40[0134]/])
    await session.close()
  })

  it('by keyboard alone: it is created, rotated and revoked', async () => {
    const person = await addPerson(running)
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('k')
    await press(page, page.getByRole('button', { name: 'New key' }))
    await tabTo(page, field(page, 'Name'))
    await page.keyboard.type('worker')
    await tabTo(page, field(page, 'Purpose'))
    await page.keyboard.type('Run w')
    await tabTo(page, field(page, 'How long it is valid'))
    await page.keyboard.type('As')
    await page.keyboard.press('Tab')
    await press(page, button(page, 'Create'))
    const token = await shownToken(page)
    expect((await me(token)).apiKey.scopes).toContain('runs:write')
    await press(page, button(page, 'Done'))
    await row(page, 'worker').waitFor()

    await choose(page, 'Actions for worker', 'Rotate')
    await tabTo(page, field(page, 'How long the old token stays valid'))
    await page.keyboard.type('It ends')
    await press(page, button(page, 'Rotate'))
    const successor = await shownToken(page)
    expect(successor).not.toBe(token)
    await press(page, button(page, 'Done'))
    await expectForgotten(page, token, successor)
    expect([await isRefused(token), await isRefused(successor)]).toEqual([true, false])

    await tabTo(page, page.getByRole('searchbox'))
    await page.keyboard.type('worker')
    await page.waitForURL(/q=worker/)
    await row(page, 'worker').getByText('Expires soon').waitFor()
    await page.getByLabel('State').selectOption('expiring')
    await expect.poll(() => row(page, 'worker').count()).toBe(1)
    await choose(page, 'Actions for worker', 'Revoke')
    await press(page, button(page, 'Revoke'))
    await page.getByText('worker revoked.').waitFor()
    await page.getByText('Nothing matches').waitFor()
    expect(await isRefused(successor)).toBe(true)
    expectQuiet(session)
    await session.close()
  })
})

describe('a rotation', () => {
  it('gives a new token, and the old one stays valid for a day', async () => {
    const person = await addPerson(running)
    const key = await addKey(person, 'old laptop')
    const session = await open(person.apiKey, `/keys/${key.id}`)
    const { page } = session
    await page.getByRole('button', { name: 'Rotate' }).click()
    await field(page, 'Your API key').fill(person.apiKey)
    await button(page, 'Rotate').click()
    const token = await shownToken(page)
    await page.getByText('The old one is valid until').waitFor()
    await button(page, 'Done').click()
    await page.waitForURL(`${running.url}/keys`)
    await row(page, 'old laptop').filter({ hasText: 'Rotated' }).waitFor()
    await row(page, 'old laptop').filter({ hasText: 'Active' }).waitFor()
    expect([await isRefused(key.token), await isRefused(token)]).toEqual([false, false])
    await expectForgotten(page, token, key.token, person.apiKey)
    expectQuiet(session)
    await session.close()
  })

  it('of the key that one has signed in with says that the sign-in ends', async () => {
    const person = await addPerson(running)
    const name = `laptop of ${person.name}`
    const session = await open(person.apiKey)
    const { page } = session
    await act(page, name, 'Rotate')
    await field(page, 'How long the old token stays valid').selectOption('It ends at once')
    await page.getByText('You signed in with this key: your sign-in ends with the old token.').waitFor()
    await field(page, 'Your API key').fill(person.apiKey)
    await button(page, 'Rotate').click()
    // It can still be copied when the page has heard that the session has ended.
    await page.locator('[data-secret]').waitFor()
    await page.waitForResponse((response) => response.url().includes('/api/v1/') && response.status() === 401)
    await page.waitForLoadState('networkidle')
    const token = await shownToken(page)
    expect([await isRefused(person.apiKey), await isRefused(token)]).toEqual([true, false])
    await button(page, 'Done').click()
    await page.getByRole('dialog', { name: 'Session ended' }).waitFor()
    expectQuiet(session, [/status of 401/])
    await session.close()
  })
})

describe('a revocation', () => {
  it('lists what else ends, and ends it', async () => {
    const person = await addPerson(running)
    const leaked = await addKey(person, 'leaked')
    const child = await addKey(person, 'child of it', leaked.token)
    const grandchild = await addKey(person, 'grandchild of it', child.token)
    await senderOf(running.demo.baseUrl, leaked.token)('POST', '/v1/me/sessions', { name: 'sign-in with it' })
    const session = await open(person.apiKey)
    const { page } = session
    await row(page, 'leaked').getByText('made 2 keys').waitFor()
    await act(page, 'leaked', 'Revoke')
    const endings = page.getByRole('region', { name: 'What ends with it' }).getByRole('listitem')
    await expect.poll(() => endings.allInnerTexts()).toEqual([expect.stringContaining('sign-in with it')])
    expect(await page.getByText('your own sign-in').count()).toBe(0)
    await page.getByLabel('Also revoke the 2 keys that were created with it').check()
    const names = async () => (await endings.allInnerTexts()).map((text) => text.split(',')[0]?.trim())
    expect((await names()).sort()).toEqual(['child of it', 'grandchild of it', 'sign-in with it'])
    await button(page, 'Revoke').click()
    await page.getByText('leaked and 3 others revoked.').waitFor()
    for (const { token } of [leaked, child, grandchild]) expect(await isRefused(token)).toBe(true)
    await expect.poll(() => row(page, 'child of it').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('deletes the sign-in rules that were created with it, if that is asked for', async () => {
    const person = await addPerson(running)
    const { scopes } = (await me(person.apiKey)).apiKey
    const leaked = await person.send<Key>('POST', '/v1/api-keys', { name: 'leaked admin', scopes })
    const rule = { issuer: ISSUER, claim: 'groups', value: `of ${leaked.id}`, role: 'viewer' }
    const { id } = await senderOf(running.demo.baseUrl, leaked.token)<{ id: string }>('POST', '/v1/sign-in-rules', rule)
    const session = await open(person.apiKey)
    const { page } = session
    await act(page, 'leaked admin', 'Revoke')
    expect(await page.getByText('sign-in rule').count()).toBe(0)
    await page.getByLabel('Also end what was created with it').check()
    await page.getByRole('region', { name: 'What ends with it' }).getByText(`groups = of ${leaked.id}`).waitFor()
    await button(page, 'Revoke').click()
    await page.getByText(/^leaked admin.* revoked\.$/).waitFor()
    await expect(person.send('GET', `/v1/sign-in-rules/${id}`)).rejects.toThrow('404')
    expectQuiet(session)
    await session.close()
  })

  it('leaves what was created with the key, unless that is asked for', async () => {
    const person = await addPerson(running)
    const parent = await addKey(person, 'parent')
    const child = await addKey(person, 'the child', parent.token)
    const session = await open(person.apiKey, `/keys/${parent.id}`)
    const { page } = session
    await page.getByRole('main').getByRole('link', { name: 'the child' }).waitFor()
    await page.getByRole('button', { name: 'Revoke' }).click()
    await page.getByLabel('Also revoke the key that was created with it', { exact: true }).waitFor()
    await button(page, 'Revoke').click()
    await page.waitForURL(`${running.url}/keys`)
    expect([await isRefused(parent.token), await isRefused(child.token)]).toEqual([true, false])
    await row(page, 'the child').getByRole('link').click()
    await page.getByText('a key that is gone').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it.each(['its sign-in', 'its key'])('of %s ends the own session, and says so before', async (which) => {
    const person = await addPerson(running)
    const session = await open(person.apiKey)
    const { page } = session
    if (which === 'its sign-in') {
      await page.getByRole('button', { name: 'My sessions' }).click()
      await row(page, `laptop of ${person.name}`).getByText('you, here').waitFor()
    }
    await act(page, `laptop of ${person.name}`, which === 'its sign-in' ? 'End' : 'Revoke')
    await page.getByText('It ends your own sign-in: you are signed out.').waitFor()
    await button(page, which === 'its sign-in' ? 'End' : 'Revoke').click()
    await page.getByRole('dialog', { name: 'Session ended' }).waitFor()
    expect(await isRefused(person.apiKey)).toBe(which === 'its key')
    expectQuiet(session, [/status of 401/])
    await session.close()
  })

  it('that the service refuses says why', async () => {
    // Without events, the page does not hear that the key is gone.
    const person = await addPerson(running, { without: ['audit-events:read'] })
    const key = await addKey(person, 'gone')
    const session = await open(person.apiKey)
    const { page } = session
    await act(page, 'gone', 'Revoke')
    await person.send('DELETE', `/v1/api-keys/${key.id}`)
    await button(page, 'Revoke').click()
    await page.getByRole('alert').getByText('There is no such API key.').waitFor()
    expectQuiet(session, [/status of 404/])
    await session.close()
  })
})

describe('my sessions', () => {
  it('by mouse: all end, the one here too; keys stay', async () => {
    const person = await addPerson(running)
    const other = await person.send<Key>('POST', '/v1/me/sessions', { name: 'phone' })
    const colleague = await addPerson(running)
    const theirs = await colleague.send<Key>('POST', '/v1/me/sessions', {})
    const session = await open(person.apiKey)
    const { page } = session
    await page.getByRole('button', { name: 'My sessions' }).click()
    const spare = await person.send<Key>('POST', '/v1/me/sessions', { name: 'tablet' })
    await act(page, 'tablet', 'End')
    await page.getByRole('dialog', { name: 'End the sign-in with tablet?' }).waitFor()
    await button(page, 'End').click()
    await page.getByText('The sign-in with tablet ended.').waitFor()
    expect(await isRefused(spare.token)).toBe(true)
    await row(page, 'phone').waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(3)
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await button(page, 'Cancel').click()
    expect(await isRefused(other.token)).toBe(false)
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByText('All your sign-ins end, in this browser and in every other.').waitFor()
    await button(page, 'Sign out').click()
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await isRefused(other.token)).toBe(true)
    expect([await isRefused(person.apiKey), await isRefused(theirs.token)]).toEqual([false, false])
    expect(await page.context().cookies()).toEqual([])
    await page.goto(`${running.url}/keys`)
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expectQuiet(session, [/status of 401/])
    await session.close()
  })

  it('by keyboard alone: all end', async () => {
    const person = await addPerson(running)
    const other = await person.send<Key>('POST', '/v1/me/sessions', {})
    const session = await open(person.apiKey)
    const { page } = session
    await press(page, page.getByRole('button', { name: 'My sessions' }))
    await press(page, page.getByRole('button', { name: 'Sign out everywhere' }))
    await press(page, button(page, 'Sign out'))
    await page.getByRole('heading', { name: 'Sign in to Workspace' }).waitFor()
    expect(await isRefused(other.token)).toBe(true)
    expectQuiet(session, [/status of 401/])
    await session.close()
  })

  it('are those of everybody for a key that acts as no user, which has none to end', async () => {
    const session = await open(running.demo.serviceKey, '/keys?kind=session')
    const { page } = session
    await page.getByRole('button', { name: 'Signed in' }).waitFor()
    await page.getByText('you, here').waitFor()
    expect(await page.getByRole('button', { name: 'Sign out everywhere' }).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })
})

/** Makes a key of a person the one of an app that the person connected, signed in with their API key or an identity. */
async function connectApp(person: Person, name = 'Editor'): Promise<Key> {
  const { projectId, organizationId, baseUrl, serviceKey } = running.demo
  const { apiKey: own } = await person.send<{ apiKey: Key & { identityId: string | null } }>('GET', '/v1/me')
  const settings = { name, scopes: ['skills:read'], projectIds: [projectId], userId: person.id }
  const key = await senderOf(baseUrl, serviceKey)<Key>('POST', '/v1/api-keys', settings)
  const sql = `UPDATE "apiKeys" SET "kind" = 'grant', "clientId" = 'https://editor.example.com/client.json', "clientName" = ?,
    "redirectHost" = 'editor.example.com', "grantEndsAt" = ?, "expiresAt" = ?, "createdByKeyId" = ?, "identityId" = ? WHERE "organizationId" = ? AND "id" = ?`
  const [end, earlier] = [60, 20].map((days) => new Date(Date.now() + days * 86_400_000).toISOString())
  const parameters = [name, end ?? '', earlier ?? '', own.id, own.identityId, organizationId, key.id]
  await writeBeside(running, [{ sql, parameters }])
  return key
}

describe('connected apps', () => {
  it('by mouse: one is looked at and disconnected', async () => {
    const person = await addPerson(running)
    const app = await connectApp(person)
    const session = await open(person.apiKey)
    const { page } = session
    await row(page, `laptop of ${person.name}`).waitFor()
    expect(await row(page, 'Editor').count()).toBe(0)
    await page.getByRole('button', { name: 'Connected apps' }).click()
    const texts = row(page, 'Editor')
    for (const text of ['editor.example.com', 'Read skills', 'Website']) await texts.getByText(text).last().waitFor()
    await page.getByRole('searchbox').fill('EDITOR.EXAMPLE')
    await page.waitForURL(/q=EDITOR/)
    await page.getByRole('link', { name: 'Editor' }).click()
    for (const text of ['https://editor.example.com/client.json', 'Ends at the latest', 'connected app']) {
      await page.getByText(text).waitFor()
    }
    expect(await isRefused(app.token)).toBe(false)
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await page.getByText('The next request of the app is refused.').waitFor()
    await button(page, 'Disconnect').click()
    await page.getByText('Editor disconnected.').waitFor()
    await page.getByText('No app is connected').waitFor()
    expect(await isRefused(app.token)).toBe(true)
    expectQuiet(session)
    await session.close()
  })

  it('by keyboard alone: one of two is disconnected', async () => {
    const person = await addPerson(running)
    const [app, other] = [await connectApp(person), await connectApp(person, 'Chat')]
    const session = await open(person.apiKey)
    const { page } = session
    await press(page, page.getByRole('button', { name: 'Connected apps' }))
    await choose(page, 'Actions for Editor', 'Disconnect')
    await press(page, button(page, 'Disconnect'))
    await page.getByText('Editor disconnected.').waitFor()
    await row(page, 'Chat').waitFor()
    expect([await isRefused(app.token), await isRefused(other.token)]).toEqual([true, false])
    expectQuiet(session)
    await session.close()
  })

  it.each([false, true])('without the scope to change keys: own ones, of an identity: %s', async (isIdentity) => {
    const person = await addPerson(running, { without: ['api-keys:write'] })
    const other = { ...(await addPerson(running)), id: person.id }
    if (isIdentity) await signInAs(running, person)
    const [app, kept] = [await connectApp(person), await connectApp(person, 'Chat')]
    // A session of the same user, with another key.
    const others = await connectApp(other, 'Robot')
    const session = await open(person.apiKey, '/keys?kind=grant')
    const { page } = session
    await row(page, 'Robot').waitFor()
    expect(await page.getByRole('button', { name: 'Actions for Robot' }).count()).toBe(0)
    await choose(page, 'Actions for Editor', 'Disconnect')
    await press(page, button(page, 'Disconnect'))
    await page.getByText('Editor disconnected.').waitFor()
    await page.getByRole('link', { name: 'Robot' }).click()
    await page.getByRole('heading', { name: 'What it may do' }).waitFor()
    expect(await page.getByRole('button', { name: 'Disconnect' }).count()).toBe(0)
    await page.goBack()
    await page.getByRole('link', { name: 'Chat' }).click()
    await page.getByRole('button', { name: 'Disconnect' }).click()
    await button(page, 'Disconnect').click()
    await page.getByText('Chat disconnected.').waitFor()
    expect(await Promise.all([app, kept, others].map(({ token }) => isRefused(token)))).toEqual([true, true, false])
    expectQuiet(session)
    await session.close()
  })

  it('have names that nobody has checked', async () => {
    const person = await addPerson(running)
    await connectApp(person, 'Ac\u202eme')
    const session = await open(person.apiKey, '/keys?kind=grant')
    await row(session.page, 'Ac\ufffdme').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('without the scope to change keys', async () => {
    const person = await addPerson(running, { without: ['api-keys:write'] })
    const session = await open(person.apiKey)
    await row(session.page, `laptop of ${person.name}`).waitFor()
    expect(await session.page.getByRole('button', { name: /^(New key|Actions for)/ }).count()).toBe(0)
    await session.page.getByRole('link', { name: `laptop of ${person.name}` }).click()
    await session.page.getByRole('heading', { name: 'What it may do' }).waitFor()
    expect(await session.page.getByRole('button', { name: /^(Rotate|Revoke)$/ }).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to read keys', async () => {
    const person = await addPerson(running, { without: ['api-keys:read'] })
    const session = await open(person.apiKey)
    await session.page.getByText('This session may not read API keys.').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('scopes, purposes and projects that it does not have', async () => {
    const { projectId } = running.demo
    const person = await addPerson(running, { without: ['skills:write', 'runs:write'], projectIds: [projectId] })
    const session = await open(person.apiKey)
    const { page } = session
    await page.getByRole('button', { name: 'New key' }).click()
    const purposes = await field(page, 'Purpose').getByRole('option').allInnerTexts()
    expect(purposes).toContain('Agent in one project')
    expect(purposes).not.toContain('Run worker')
    expect(purposes).not.toContain('Deploy skills')
    await field(page, 'Purpose').selectOption('Something else')
    const skills = page.getByRole('group', { name: 'Skills', exact: true })
    expect(await skills.getByRole('checkbox').count()).toBe(1)
    expect(await field(page, 'All').count()).toBe(0)
    await field(page, 'Website').waitFor()
    expect(await field(page, 'Payments').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })
})

it('Activity says who signed in, and leads to keys', async () => {
  const person = await addPerson(running)
  const key = await addKey(person, 'from Activity')
  const session = await open(person.apiKey, `/activity?user=${person.id}`)
  const { page } = session
  await page.getByText(`${person.name} signed in with laptop of ${person.name}`).waitFor()
  await page.getByRole('link', { name: 'from Activity', exact: true }).click()
  await page.waitForURL(`${running.url}/keys/${key.id}`)
  await page.getByRole('heading', { name: 'from Activity' }).waitFor()
  expectQuiet(session)
  await session.close()
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const person = await addPerson(running)
  await addKey(person, 'spare')
  await connectApp(person, 'An editor with a very long name of its own')
  const session = await open(person.apiKey, '/keys', look)
  const { page } = session
  await page.getByRole('button', { name: 'Connected apps' }).click()
  await row(page, 'An editor with a very long name of its own').waitFor()
  await expectAccessible(page)
  await page.getByRole('link', { name: 'An editor' }).click()
  await page.getByText('Ends at the latest').waitFor()
  await expectAccessible(page)
  await page.goto(`${running.url}/keys?kind=session`)
  await page.getByRole('button', { name: 'Sign out everywhere' }).click()
  await expectAccessible(page)
  await page.goto(`${running.url}/keys`)
  await row(page, 'spare').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'New key' }).click()
  await field(page, 'Purpose').selectOption('Something else')
  await field(page, 'Only some').check()
  await expectAccessible(page)
  await field(page, 'Purpose').selectOption('All that you may do')
  await field(page, 'All').check()
  await field(page, 'Name').fill('look')
  await field(page, 'How long it is valid').selectOption('As long as this sign-in')
  await button(page, 'Create').click()
  await page.locator('[data-secret]').waitFor()
  await expectAccessible(page)
  await button(page, 'Done').click()
  await act(page, `laptop of ${person.name}`, 'Revoke')
  await page.getByText('Ends with it').waitFor()
  await expectAccessible(page)
  await button(page, 'Cancel').click()
  await page.getByRole('link', { name: `laptop of ${person.name}` }).click()
  await page.getByRole('heading', { name: 'What it may do' }).waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})
