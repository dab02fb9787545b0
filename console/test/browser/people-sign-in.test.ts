/**
 * Who may sign in: rules, roles and people who have signed in, as an admin sees and changes them.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROLES } from '../../../src/contracts.ts'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, isFocused, press, tabTo } from './keyboard.ts'
import { addPerson, ISSUER, type Person, senderOf, signInAs } from './people.ts'

interface Rule {
  readonly id: string
  readonly issuer: string
  readonly claim: string
  readonly value: string
  readonly role: string
  readonly projectIds: readonly string[] | null
}

interface Identity {
  readonly id: string
  readonly role: string
  readonly projectIds: readonly string[] | null
  readonly ruleIds: readonly string[] | null
  readonly blockedAt: string | null
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

async function open(apiKey: string, path = '/people/sign-in', options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey }, path, options)
  await session.page.getByRole('heading', { level: 1 }).waitFor()
  return session
}

const service = () => senderOf(running.demo.baseUrl, running.demo.serviceKey)
const field = (page: Page, label: string) => page.getByRole('dialog').getByLabel(label, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const ruleRow = (page: Page, label: string) =>
  page.getByRole('row').filter({ has: page.getByText(label, { exact: true }) })
const role = (page: Page, name: string) => page.getByRole('group', { name: 'Role' }).getByLabel(name)
const ends = (page: Page) => page.getByRole('region', { name: 'What ends with it' })

/** No other test has a rule for it. */
const newValue = () => `team-${randomUUID().slice(0, 8)}`
const addRule = (value: string, settings: object = {}) =>
  service()<Rule>('POST', '/v1/sign-in-rules', { issuer: ISSUER, claim: 'groups', value, role: 'member', ...settings })
const ruleOf = async (value: string) => {
  const { items } = await service()<{ items: Rule[] }>('GET', '/v1/sign-in-rules')
  return items.find((rule) => rule.value === value)
}
const identityOf = (id: string) => service()<Identity>('GET', `/v1/identities/${id}`)
const isRefused = ({ send }: Person) =>
  send('GET', '/v1/me').then(
    () => false,
    (error: Error) => error.message.includes('401'),
  )

async function act(page: Page, name: string, label: string): Promise<void> {
  await button(page, `Actions for ${name}`).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

describe('a rule', () => {
  it('by mouse: is created for a project, changed and deleted; what it ends is said before', async () => {
    const me = await addPerson(running)
    const session = await open(me.apiKey, '/people')
    const { page } = session
    const value = newValue()
    await button(page, 'Sign-in').click()
    await button(page, 'New rule').click()
    await field(page, 'Identity provider').fill(ISSUER)
    await field(page, 'Claim').fill('groups')
    await field(page, 'Value').fill(value)
    await role(page, 'Member').check()
    await field(page, 'Only some').check()
    await page.getByText('Choose the projects.').waitFor()
    expect(await inDialog(page, 'Create').isDisabled()).toBe(true)
    await field(page, 'Website').check()
    await inDialog(page, 'Create').click()
    await page.getByText(`The rule groups = ${value} is created.`).waitFor()
    await ruleRow(page, `groups = ${value}`).getByText('Website').waitFor()
    const { projectId } = running.demo
    const rule = await ruleOf(value)
    expect(rule).toMatchObject({ issuer: ISSUER, claim: 'groups', role: 'member', projectIds: [projectId] })

    const [ada, other] = [await addPerson(running), await addPerson(running)]
    await signInAs(running, ada, { ruleIds: [rule?.id ?? ''], email: 'ada@example.com' })
    await signInAs(running, other, { ruleIds: null })
    await page.reload()
    await act(page, `groups = ${value}`, 'Edit')
    await expect.poll(() => ends(page).getByRole('listitem').allInnerTexts()).toEqual([`${ada.name} ada@example.com`])
    expect(await field(page, 'Website').isChecked()).toBe(true)
    await field(page, 'Value').fill(`${value}-leads`)
    await role(page, 'Viewer').check()
    await field(page, 'All').check()
    expect(await isRefused(ada)).toBe(false)
    await inDialog(page, 'Save').click()
    await ruleRow(page, `groups = ${value}-leads`).getByText('Viewer').waitFor()
    expect(await ruleOf(`${value}-leads`)).toMatchObject({ id: rule?.id, role: 'viewer', projectIds: null })
    expect([await isRefused(ada), await isRefused(other)]).toEqual([true, false])

    await act(page, `groups = ${value}-leads`, 'Delete')
    await page.getByText('It admits nobody from now on.').waitFor()
    await inDialog(page, 'Cancel').click()
    await act(page, `groups = ${value}-leads`, 'Delete')
    await inDialog(page, 'Delete').click()
    await page.getByText(`The rule groups = ${value}-leads is deleted.`).waitFor()
    await expect.poll(() => ruleRow(page, `groups = ${value}-leads`).count()).toBe(0)
    expect(await ruleOf(`${value}-leads`)).toBe(undefined)
    expectQuiet(session)
    await session.close()
  })

  it('by keyboard alone: is created for everybody of a provider, and deleted', async () => {
    const me = await addPerson(running)
    const session = await signedIn(browser, { url: running.url, apiKey: me.apiKey }, '/')
    const { page } = session
    const issuer = `https://${newValue()}.example.com`
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await press(page, button(page, 'Sign-in'))
    await press(page, button(page, 'New rule'))
    await tabTo(page, field(page, 'Identity provider'))
    await page.keyboard.type(issuer)
    await tabTo(page, field(page, 'People with a claim'))
    await page.keyboard.press('ArrowRight')
    await expect.poll(() => field(page, 'Claim').count()).toBe(0)
    await tabTo(page, role(page, 'Viewer'))
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await ruleRow(page, issuer.slice('https://'.length)).getByText('Member').waitFor()
    expect(await ruleOf(issuer)).toMatchObject({ issuer, claim: 'iss', role: 'member' })
    expect(await isFocused(button(page, 'New rule'))).toBe(true)
    // The rules of the demo come before it, and none of them is everybody's.
    await choose(page, 'Actions for everybody', 'Delete')
    await press(page, inDialog(page, 'Delete'))
    await page.getByText('The rule everybody is deleted.').waitFor()
    expect(await ruleOf(issuer)).toBe(undefined)
    expectQuiet(session)
    await session.close()
  })

  it('that somebody else has changed is not overwritten, and nothing that was typed is lost', async () => {
    const me = await addPerson(running)
    const value = newValue()
    const { id } = await addRule(value)
    const session = await open(me.apiKey)
    const { page } = session
    await act(page, `groups = ${value}`, 'Edit')
    await field(page, 'Claim').fill('teams')
    await service()('PATCH', `/v1/sign-in-rules/${id}`, { role: 'viewer' })
    // The page hears of it, but the form stays as it is.
    await ruleRow(page, `groups = ${value}`).getByText('Viewer').waitFor()
    expect(await role(page, 'Member').isChecked()).toBe(true)
    await inDialog(page, 'Save').click()
    await page.getByRole('alert').getByText('Somebody has changed this rule since you opened it.').waitFor()
    expect(await field(page, 'Claim').inputValue()).toBe('teams')
    expect(await ruleOf(value)).toMatchObject({ claim: 'groups', role: 'viewer' })
    await inDialog(page, 'Cancel').click()
    // The form begins with what the rule is now.
    await act(page, `groups = ${value}`, 'Edit')
    await expect.poll(() => role(page, 'Viewer').isChecked()).toBe(true)
    await inDialog(page, 'Save').click()
    await page.getByText(`The rule groups = ${value} is saved.`).waitFor()
    expectQuiet(session, [/status of 412/])
    await session.close()
  })

  it('that the service refuses says why', async () => {
    const me = await addPerson(running)
    const session = await open(me.apiKey)
    const { page } = session
    await button(page, 'New rule').click()
    await field(page, 'Identity provider').fill(ISSUER)
    await field(page, 'Claim').fill('groups')
    await field(page, 'Value').fill('x'.repeat(1001))
    await inDialog(page, 'Create').click()
    await page
      .getByRole('alert')
      .getByText(/^value is /)
      .waitFor()
    expect((await field(page, 'Value').inputValue()).length).toBe(1001)
    expectQuiet(session, [/status of 400/])
    await session.close()
  })

  it('with hostile text is shown as it is', async () => {
    const me = await addPerson(running)
    const value = `${newValue()}\u202e<b>x</b>`
    await addRule(value)
    const session = await open(me.apiKey)
    await ruleRow(session.page, `groups = ${value.replace('\u202e', '\ufffd')}`).waitFor()
    expectQuiet(session)
    await session.close()
  })
})

interface Invitation {
  readonly id: string
  readonly email: string
  readonly issuer: string
  readonly role: string
  readonly projectIds: readonly string[] | null
}

const invitationOf = async (email: string) => {
  const { items } = await service()<{ items: Invitation[] }>('GET', '/v1/invitations')
  return items.find((each) => each.email === email)
}
const newEmail = () => `${newValue()}@example.com`

describe('an invitation', () => {
  it('by mouse: is created for a project, with the link to send, and deleted', async () => {
    const me = await addPerson(running)
    const session = await open(me.apiKey)
    const { page } = session
    const email = newEmail()
    await button(page, 'Invite').click()
    await field(page, 'E-mail address').fill(email.toUpperCase())
    await field(page, 'Identity provider').fill(ISSUER)
    await role(page, 'Member').check()
    await field(page, 'Only some').check()
    await page.getByText('Choose the projects.').waitFor()
    await field(page, 'Website').check()
    await inDialog(page, 'Invite').click()
    await page.getByRole('heading', { name: `${email} is invited` }).waitFor()
    const link = `${running.url}/sign-in/${running.demo.organizationId}`
    await page.getByRole('dialog').getByText(link).waitFor()
    await inDialog(page, 'Close').click()
    await ruleRow(page, email).getByText('Website').waitFor()
    const invitation = await invitationOf(email)
    expect(invitation).toMatchObject({ issuer: ISSUER, role: 'member', projectIds: [running.demo.projectId] })
    await act(page, email, 'Delete')
    await page.getByText('It admits nobody from now on.').waitFor()
    await inDialog(page, 'Delete').click()
    await page.getByText(`The invitation of ${email} is deleted.`).waitFor()
    await expect.poll(() => ruleRow(page, email).count()).toBe(0)
    expect(await invitationOf(email)).toBe(undefined)
    expectQuiet(session)
    await session.close()
  })

  it('by keyboard alone: is created; one that the service refuses says why, and nothing that was typed is lost', async () => {
    const me = await addPerson(running)
    const email = newEmail()
    await service()('POST', '/v1/invitations', { email, issuer: ISSUER, role: 'viewer' })
    const session = await open(me.apiKey)
    const { page } = session
    await ruleRow(page, email).waitFor()
    await press(page, button(page, 'Invite'))
    await tabTo(page, field(page, 'E-mail address'))
    await page.keyboard.type(email)
    await tabTo(page, field(page, 'Identity provider'))
    await page.keyboard.type(ISSUER)
    await page.keyboard.press('Enter')
    await page.getByRole('alert').getByText('There is an open invitation for this e-mail address and issuer.').waitFor()
    expect(await field(page, 'E-mail address').inputValue()).toBe(email)
    await tabTo(page, field(page, 'E-mail address'))
    await page.keyboard.press('Home')
    await page.keyboard.type('second-')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: `second-${email} is invited` }).waitFor()
    await page.keyboard.press('Escape')
    await ruleRow(page, `second-${email}`).getByText('Viewer').waitFor()
    await choose(page, `Actions for ${email}`, 'Delete')
    await press(page, inDialog(page, 'Delete'))
    await expect.poll(() => ruleRow(page, email).count()).toBe(0)
    expectQuiet(session, [/status of 409/])
    await session.close()
  })

  it('is shown when it is made elsewhere, and cannot be made without sign-in:write', async () => {
    const me = await addPerson(running, { without: ['sign-in:write'] })
    const session = await open(me.apiKey)
    const { page } = session
    await page.getByRole('heading', { name: 'Invitations' }).waitFor()
    expect(await button(page, 'Invite').count()).toBe(0)
    const email = newEmail()
    await service()('POST', '/v1/invitations', { email, issuer: ISSUER, role: 'viewer' })
    await ruleRow(page, email).getByText('Viewer').waitFor()
    expect(await button(page, `Actions for ${email}`).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })
})

describe('who would get in', () => {
  it('is said of claims that are typed', async () => {
    const me = await addPerson(running)
    const [members, admins] = [newValue(), newValue()]
    await addRule(members, { projectIds: [running.demo.projectId] })
    await addRule(admins, { role: 'admin' })
    const session = await open(me.apiKey)
    const { page } = session
    const result = page.getByRole('region', { name: 'Who would get in?' }).getByRole('status')
    const attempt = async (claims: string) => {
      await page.getByLabel('Claims', { exact: true }).fill(claims)
      await expect.poll(() => result.textContent()).toBe('')
      await button(page, 'Try').click()
      await expect.poll(() => result.textContent()).not.toBe('')
      return (await result.allInnerTexts()).join().replace(/\s+/g, ' ')
    }
    await page.getByLabel('Identity provider').fill(ISSUER)
    expect(await attempt(`sub=1\ngroups = ${members}`)).toBe(
      `Gets in as Member Projects: Website. By the rule groups = ${members}.`,
    )
    expect(await attempt(`groups=${members}\n\ngroups=${admins}`)).toBe(
      `Gets in as Admin Projects: all. By the rule groups = ${admins}.`,
    )
    expect(await attempt(`groups=${members.toUpperCase()}`)).toBe('Does not get in: no rule matches.')
    await page.getByLabel('Claims', { exact: true }).fill('groups=x\nnothing')
    await button(page, 'Try').click()
    await page.getByText('Line 2 is not a claim; got "nothing"; allowed: name=value.').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('is said of an ID token as JSON, by keyboard', async () => {
    const me = await addPerson(running)
    const [nested, email] = [newValue(), `${newValue()}@example.com`]
    await addRule(nested, { claim: 'realm_access.roles' })
    await addRule(email, { claim: 'email', role: 'viewer' })
    const session = await open(me.apiKey)
    const { page } = session
    const claims = page.getByLabel('Claims', { exact: true })
    const result = page.getByRole('region', { name: 'Who would get in?' }).getByRole('status')
    await claims.waitFor()
    await tabTo(page, claims)
    await page.keyboard.insertText(JSON.stringify({ iss: ISSUER, sub: '1', realm_access: { roles: ['a', nested] } }))
    expect(await page.getByLabel('Identity provider').inputValue()).toBe(ISSUER)
    await press(page, button(page, 'Try'))
    await result.getByText(`realm_access.roles = ${nested}`).waitFor()
    for (const [verified, text] of [
      [true, 'Gets in as Viewer'],
      [false, 'Does not get in'],
    ] as const) {
      await claims.fill(JSON.stringify({ email: email.toUpperCase(), email_verified: verified }))
      await button(page, 'Try').click()
      await result.getByText(text).waitFor()
    }
    await claims.fill('{"groups": ')
    await button(page, 'Try').click()
    await page.getByText(/^The claims are not JSON: /).waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it('each role has the permissions of the service', async () => {
  const me = await addPerson(running)
  const session = await open(me.apiKey)
  const { page } = session
  const roles = page.getByRole('region', { name: 'Roles' })
  await roles.waitFor()
  for (const [name, scopes] of Object.entries(ROLES)) {
    const details = roles.locator('details').filter({ hasText: new RegExp(`^${name}`, 'i') })
    await details.locator('summary').click()
    const texts = (await details.locator('dl > div').allInnerTexts()).map((text) => text.split(/\s*\n\s*/))
    const shown = texts.flatMap(([resource = '', verbs = '']) =>
      verbs.split(', ').map((verb) => `${resource.toLowerCase().replaceAll(' ', '-')}:${verb}`),
    )
    expect(shown.sort()).toEqual([...scopes].sort())
  }
  expectQuiet(session)
  await session.close()
})

describe('a person who signs in', () => {
  it('by mouse: gets a role of their own, is blocked and unblocked, and is removed', async () => {
    const [me, ada] = [await addPerson(running), await addPerson(running)]
    const value = newValue()
    const { id: ruleId } = await addRule(value)
    const email = `${newValue()}@example.com`
    const id = await signInAs(running, ada, { ruleIds: [ruleId], email })
    const session = await open(me.apiKey, `/people?q=${encodeURIComponent(ada.name)}`)
    const { page } = session
    const row = page.getByRole('row').filter({ hasText: ada.id })
    await row.getByText('Member').last().waitFor()
    await row.getByRole('link').click()
    await page.getByText(email).waitFor()
    await page.getByRole('link', { name: `the rule groups = ${value}` }).waitFor()

    await button(page, 'Change role').click()
    expect(await field(page, 'The rules').isChecked()).toBe(true)
    await field(page, 'A role of their own, whatever the rules say').check()
    await role(page, 'Viewer').check()
    await field(page, 'Only some').check()
    await page.getByText('Choose the projects.').waitFor()
    await field(page, 'Website').check()
    expect(await isRefused(ada)).toBe(false)
    await inDialog(page, 'Save').click()
    await page.getByText('an admin, to this person').waitFor()
    expect(await identityOf(id)).toMatchObject({
      role: 'viewer',
      projectIds: [running.demo.projectId],
      ruleIds: null,
    })
    expect(await isRefused(ada)).toBe(true)
    await button(page, 'Change role').click()
    expect(await field(page, 'Website').isChecked()).toBe(true)
    await field(page, 'The rules').check()
    await inDialog(page, 'Save').click()
    await page.getByText(`The rules decide about ${ada.name}.`).waitFor()
    expect((await identityOf(id)).ruleIds).not.toBe(null)

    await button(page, 'Block').click()
    await ends(page).getByText('They cannot sign in until somebody unblocks them.').waitFor()
    await inDialog(page, 'Block').click()
    await page.getByText('Blocked', { exact: true }).waitFor()
    expect((await identityOf(id)).blockedAt).not.toBe(null)
    await page.getByRole('link', { name: 'People', exact: true }).click()
    await page.getByRole('searchbox').fill(ada.name)
    await row.getByText('Blocked').last().waitFor()
    await row.getByRole('link').click()
    await button(page, 'Unblock').click()
    await page.getByText(`${ada.name} can sign in again.`).waitFor()
    await button(page, 'Block').waitFor()
    expect((await identityOf(id)).blockedAt).toBe(null)

    await button(page, 'Remove access').click()
    await ends(page).getByText('to keep them out, block them instead').waitFor()
    await inDialog(page, 'Remove').click()
    await page.getByText(`The access of ${ada.name} is removed.`).waitFor()
    await expect.poll(() => page.getByRole('heading', { name: 'Sign-in' }).count()).toBe(0)
    await expect(identityOf(id)).rejects.toThrow('404')
    // The person stays.
    await heading(page, ada.name).waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('by keyboard alone: is blocked', async () => {
    const [me, ada] = [await addPerson(running), await addPerson(running)]
    const id = await signInAs(running, ada)
    const session = await open(me.apiKey, `/people/users/${ada.id}`)
    const { page } = session
    await press(page, button(page, 'Block'))
    await press(page, inDialog(page, 'Block'))
    await page.getByText(`${ada.name} is blocked.`).waitFor()
    expect((await identityOf(id)).blockedAt).not.toBe(null)
    expect(await isRefused(ada)).toBe(true)
    await press(page, button(page, 'Unblock'))
    await expect.poll(async () => (await identityOf(id)).blockedAt).toBe(null)
    expectQuiet(session)
    await session.close()
  })

  it('who does it to themselves is told that they are signed out, and is', async () => {
    const me = await addPerson(running)
    const value = newValue()
    const { id } = await addRule(value)
    await signInAs(running, me, { role: 'admin', ruleIds: [id] })
    const session = await open(me.apiKey, `/people/users/${me.id}`)
    const { page } = session
    await button(page, 'Block').click()
    await page.getByText('This is you: you are signed out.').waitFor()
    await inDialog(page, 'Cancel').click()
    await page.getByRole('link', { name: `the rule groups = ${value}` }).click()
    await act(page, `groups = ${value}`, 'Delete')
    await page.getByText('You are one of them: you are signed out.').waitFor()
    await inDialog(page, 'Delete').click()
    await page.getByRole('dialog', { name: 'Session ended' }).waitFor()
    expect(await isRefused(me)).toBe(true)
    expectQuiet(session, [/status of 401/])
    await session.close()
  })

  it('is not warned about others', async () => {
    const [me, ada] = [await addPerson(running), await addPerson(running)]
    await signInAs(running, me, { role: 'admin', ruleIds: null })
    await signInAs(running, ada)
    const session = await open(me.apiKey, `/people/users/${ada.id}`)
    const { page } = session
    await button(page, 'Block').click()
    await ends(page).waitFor()
    expect(await page.getByText('you are signed out').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('to change, without sign-in:write', async () => {
    const [me, ada] = [await addPerson(running, { without: ['sign-in:write'] }), await addPerson(running)]
    await addRule(newValue())
    await signInAs(running, ada)
    const session = await open(me.apiKey)
    const { page } = session
    await page.getByRole('row').nth(1).waitFor()
    expect(
      await page
        .getByRole('main')
        .getByRole('button', { name: /^(?:New|Actions)/ })
        .count(),
    ).toBe(0)
    // To try out changes nothing.
    await button(page, 'Try').waitFor()
    await page.goto(`${running.url}/people/users/${ada.id}`)
    await page.getByRole('heading', { name: 'Sign-in' }).waitFor()
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Rename', 'Delete'])
    expectQuiet(session)
    await session.close()
  })

  it.each([
    ['without sign-in:read', { without: ['sign-in:read'] }],
    ['restricted to projects', {}],
  ])('to read, %s', async (what, options) => {
    const projectIds = [running.demo.projectId]
    const me = await addPerson(running, what.startsWith('restricted') ? { projectIds } : options)
    const session = await open(me.apiKey, '/people')
    const { page } = session
    await button(page, 'Projects').waitFor()
    expect(await button(page, 'Sign-in').count()).toBe(0)
    await page.goto(`${running.url}/people/sign-in`)
    await page.getByText('This session may not read who may sign in').waitFor()
    expect(await button(page, 'New rule').count()).toBe(0)
    await page.goto(`${running.url}/people/users/${running.demo.userId}`)
    await page.getByRole('heading', { name: 'About this person' }).waitFor()
    await page.waitForLoadState('networkidle')
    expect(await page.getByRole('heading', { name: 'Sign-in' }).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('a role with permissions that the session lacks', async () => {
    const me = await addPerson(running, { without: ['api-keys:write'] })
    const session = await open(me.apiKey)
    const { page } = session
    await button(page, 'New rule').click()
    const disabled = await Promise.all(['Viewer', 'Member', 'Admin'].map((name) => role(page, name).isDisabled()))
    expect(disabled).toEqual([false, false, true])
    expectQuiet(session)
    await session.close()
  })
})

it('shows what changes elsewhere', async () => {
  const me = await addPerson(running)
  const value = newValue()
  const session = await open(me.apiKey)
  const { page } = session
  await page.getByRole('row').nth(1).waitFor()
  const { id } = await addRule(value)
  await ruleRow(page, `groups = ${value}`).getByText('Member').waitFor()
  await service()('PATCH', `/v1/sign-in-rules/${id}`, { role: 'viewer' })
  await ruleRow(page, `groups = ${value}`).getByText('Viewer').waitFor()
  await service()('DELETE', `/v1/sign-in-rules/${id}`)
  await expect.poll(() => ruleRow(page, `groups = ${value}`).count(), { timeout: 15_000 }).toBe(0)
  expectQuiet(session)
  await session.close()
})

it('Activity says what happened, and leads to rules and people', async () => {
  const [me, ada] = [await addPerson(running), await addPerson(running)]
  const value = newValue()
  const { id: ruleId } = await addRule(value)
  const id = await signInAs(running, ada, { email: `${value}@example.com` })
  await service()('PATCH', `/v1/identities/${id}`, { blocked: true })
  const session = await open(me.apiKey, `/activity?resource=sign-in-rule/${ruleId}`)
  const { page } = session
  await page.getByText('created the sign-in rule').waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: `groups=${value}`, exact: true })
    .click()
  await page.waitForURL(`${running.url}/people/sign-in`)
  await page.goto(`${running.url}/activity?resource=identity/${id}`)
  await page.getByText(/blocked .* from signing in/).waitFor()
  await page
    .getByRole('main')
    .getByRole('link', { name: `${value}@example.com`, exact: true })
    .click()
  await page.waitForURL(`${running.url}/people/users/${ada.id}`)
  await heading(page, ada.name).waitFor()
  expectQuiet(session)
  await session.close()
})

describe.each(LOOKS)('with assistive technology: %o', (look) => {
  it('the view, the forms and the person are accessible', async () => {
    const [me, ada] = [await addPerson(running), await addPerson(running)]
    const value = newValue()
    const { id } = await addRule(value, { claim: 'https://example.com/claims/a-long-name-of-a-claim', role: 'admin' })
    await signInAs(running, ada, { ruleIds: [id], email: `${value}@a-long-name-of-a-company.example.com` })
    const session = await open(me.apiKey, '/people/sign-in', look)
    const { page } = session
    const label = `https://example.com/claims/a-long-name-of-a-claim = ${value}`
    await ruleRow(page, label).waitFor()
    await page.getByLabel('Identity provider').fill(ISSUER)
    await page.getByLabel('Claims', { exact: true }).fill(`groups=${value}`)
    await button(page, 'Try').click()
    await page.getByText('Does not get in').waitFor()
    await page.getByRole('region', { name: 'Roles' }).getByText('Admin').click()
    await expectAccessible(page)
    await service()('POST', '/v1/invitations', {
      email: `${value}@a-long-name.example.com`,
      issuer: ISSUER,
      role: 'admin',
    })
    await ruleRow(page, `${value}@a-long-name.example.com`).waitFor()
    await expectAccessible(page)
    await button(page, 'Invite').click()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await button(page, 'New rule').click()
    await field(page, 'Only some').check()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await act(page, label, 'Edit')
    await ends(page).waitFor()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await page.goto(`${running.url}/people?q=${encodeURIComponent(ada.name)}`)
    await page.getByRole('row').filter({ hasText: ada.id }).getByText('Member').first().waitFor({ state: 'attached' })
    await expectAccessible(page)
    await page.goto(`${running.url}/people/users/${ada.id}`)
    await button(page, 'Change role').click()
    await field(page, 'A role of their own, whatever the rules say').check()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    await button(page, 'Remove access').click()
    await expectAccessible(page)
    expectQuiet(session)
    await session.close()
  })
})
