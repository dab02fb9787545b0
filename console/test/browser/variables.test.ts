/**
 * The page of environment variables, as people use it.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { leaseVariables, Workspace } from '../../../client/src/index.ts'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, type SignedIn, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, isFocused, press, tabTo } from './keyboard.ts'
import { addPerson, type Person, senderOf } from './people.ts'
import { expectForgotten } from './secrets.ts'

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

/** A person with a project of their own. */
async function addOwner(variables: Readonly<Record<string, string>> = {}, options?: Parameters<typeof addPerson>[1]) {
  const owner = await addPerson(running)
  const projectId = `shop-${randomUUID()}`
  await owner.send('PUT', `/v1/projects/${projectId}`, { name: `Shop of ${owner.name}` })
  const path = `/v1/projects/${projectId}/environment-variables`
  const entries = Object.entries(variables).map(([key, value]) => ({ key, value }))
  if (entries.length > 0) await owner.send('POST', path, { variables: entries })
  const person = options ? await addPerson(running, options) : owner
  return { owner, person, projectId, path, project: `Shop of ${owner.name}` }
}

/** What an agent reads, with a key of this name. */
async function lease(projectId: string, name = 'sandbox', keys?: readonly string[]) {
  const settings = { name, scopes: ['environment-variables:lease'], projectIds: [projectId] }
  const service = senderOf(running.demo.baseUrl, running.demo.serviceKey)
  const { token } = await service<{ token: string }>('POST', '/v1/api-keys', settings)
  return await leaseVariables(new Workspace({ url: running.demo.baseUrl, apiKey: token }), projectId, keys)
}

/** The session, with all that the page has written to its console. */
interface Opened extends SignedIn {
  readonly logged: string[]
}

async function open(person: Pick<Person, 'apiKey'>, search = '', options?: BrowserContextOptions): Promise<Opened> {
  const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, `/variables${search}`, options)
  const logged: string[] = []
  session.page.on('console', (message) => logged.push(message.text()))
  await session.page.getByRole('heading', { name: 'Variables', exact: true }).waitFor()
  return { ...session, logged }
}

const row = (page: Page, name: string) => page.getByRole('row').filter({ has: page.getByText(name, { exact: true }) })
const names = async (page: Page) =>
  (await page.getByRole('row').locator('td:first-child code').allInnerTexts()).map((text) => text.trim())
const value = (page: Page) => page.getByRole('dialog').getByLabel('Value', { exact: true })
const button = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })

async function act(page: Page, name: string, label: string): Promise<void> {
  await page.getByRole('button', { name: `Actions for ${name}`, exact: true }).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

const isHidden = (page: Page) =>
  page.evaluate(`getComputedStyle(document.querySelector('textarea')).webkitTextSecurity === 'disc'`)

const SECRET = '-----BEGIN KEY-----\nc2VjcmV0IG9m"<&\\ the shop\n-----END KEY-----\n'
const LINES = SECRET.trim().split('\n').slice(1, 2)

describe('by mouse', () => {
  it('a variable of several lines is set, and its value is kept nowhere', async () => {
    const { person, projectId, project } = await addOwner()
    const session = await open(person, `?project=${projectId}`)
    const { page, logged } = session
    const requested: string[] = []
    page.on('request', (request) => requested.push(request.url()))
    await page.getByText('No variables yet').waitFor()
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('dialog', { name: `New variable in ${project}` }).waitFor()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('CERTIFICATE')
    await value(page).fill(SECRET)
    await page.getByText(`3 lines, ${SECRET.length} characters. It ends with a space or a line break.`).waitFor()
    expect(await isHidden(page)).toBe(true)
    // What is typed is in the field, and not in the text of the page.
    expect(await page.content()).not.toContain(LINES[0]?.slice(0, 12))
    await page.getByLabel('Show the value while I type').check()
    expect(await isHidden(page)).toBe(false)
    await button(page, 'Set').click()
    await page.getByText('CERTIFICATE set.').waitFor()
    await row(page, 'CERTIFICATE').getByText(`by ${person.name}`).locator('visible=true').waitFor()
    expect(await lease(projectId)).toEqual({ CERTIFICATE: SECRET })
    const secrets = [...LINES, ...LINES.flatMap((line) => [line.slice(0, 12), encodeURIComponent(line)])]
    await expectForgotten(page, ...secrets)
    for (const secret of secrets) expect(JSON.stringify([requested, logged])).not.toContain(secret)
    await page.reload()
    await row(page, 'CERTIFICATE').waitFor()
    await act(page, 'CERTIFICATE', 'Set a new value')
    expect([await value(page).inputValue(), await isHidden(page)]).toEqual(['', true])
    await expectForgotten(page, ...secrets)
    expectQuiet(session)
    await session.close()
  })

  it('a value is replaced: by its menu, or by its name, which the dialog says', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'first', OTHER: 'stays' })
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await act(page, 'TOKEN', 'Set a new value')
    await value(page).fill('second')
    await button(page, 'Replace the value').click()
    await page.getByText('TOKEN set.').waitFor()
    expect(await lease(projectId)).toEqual({ TOKEN: 'second', OTHER: 'stays' })
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('TOKEN')
    await page.getByText('TOKEN exists already: it gets the new value.').waitFor()
    await value(page).fill('third')
    await button(page, 'Replace the value').click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await lease(projectId)).toEqual({ TOKEN: 'third', OTHER: 'stays' })
    expectQuiet(session)
    await session.close()
  })

  it('an invalid name is not sent', async () => {
    const { person, projectId } = await addOwner()
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await page.getByRole('button', { name: 'New variable' }).click()
    for (const name of ['', '1ST', 'A-B', 'sk-live/secret', '..', 'A ']) {
      await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill(name)
      await value(page).fill('x')
      await button(page, 'Set').click()
      expect(await page.locator('input:invalid').count()).toBe(1)
    }
    expect(await lease(projectId)).toEqual({})
    expectQuiet(session)
    await session.close()
  })

  it('is deleted, after it was named', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'a', OTHER: 'b' })
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await act(page, 'TOKEN', 'Delete')
    const dialog = page.getByRole('dialog', { name: 'Delete TOKEN?' })
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(Object.keys(await lease(projectId))).toEqual(['OTHER', 'TOKEN'])
    await act(page, 'TOKEN', 'Delete')
    await dialog.getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByText('TOKEN deleted.').waitFor()
    await expect.poll(() => names(page)).toEqual(['OTHER'])
    expect(Object.keys(await lease(projectId))).toEqual(['OTHER'])
    expectQuiet(session)
    await session.close()
  })

  it('the page of a project is found by its name, and the view is a link', async () => {
    const { person, projectId, project } = await addOwner({ TOKEN: 'a', TOKEN_OF_MAIL: 'b', LOG_LEVEL: 'c' })
    const session = await open(person)
    const { page } = session
    await page.getByRole('searchbox').fill(project.toUpperCase())
    await page.getByRole('link', { name: project, exact: true }).click()
    await expect.poll(() => names(page)).toEqual(['LOG_LEVEL', 'TOKEN', 'TOKEN_OF_MAIL'])
    await page.keyboard.press('/')
    await page.keyboard.type('token')
    await expect.poll(() => names(page)).toEqual(['TOKEN', 'TOKEN_OF_MAIL'])
    await page.waitForURL(`${running.url}/variables?project=${projectId}&q=token`)
    await page.reload()
    await expect.poll(() => names(page)).toEqual(['TOKEN', 'TOKEN_OF_MAIL'])
    await page.getByRole('searchbox').fill('nothing')
    await page.getByRole('link', { name: 'Show all variables' }).click()
    await expect.poll(() => names(page)).toHaveLength(3)
    await page.getByLabel('Project').selectOption('All projects')
    await page.getByRole('searchbox', { name: 'Search projects by name' }).fill('nothing has this name')
    await page.getByRole('link', { name: 'Show all projects' }).click()
    await page.getByRole('link', { name: 'Website', exact: true }).click()
    await row(page, 'DATABASE_URL').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

describe('by keyboard alone', () => {
  it('a variable is set, set again and deleted', async () => {
    const { person, projectId, project } = await addOwner()
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('v')
    await page.getByRole('searchbox').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(project)
    await press(page, page.getByRole('link', { name: project, exact: true }))
    await press(page, page.getByRole('button', { name: 'New variable' }))
    await tabTo(page, page.getByRole('dialog').getByLabel('Name', { exact: true }))
    await page.keyboard.type('GREETING')
    await tabTo(page, value(page))
    await page.keyboard.type('one')
    await page.keyboard.press('Enter')
    await page.keyboard.type('two')
    await press(page, button(page, 'Set'))
    await row(page, 'GREETING').waitFor()
    expect(await lease(projectId)).toEqual({ GREETING: 'one\ntwo' })
    const menu = await choose(page, 'Actions for GREETING', 'Set a new value')
    await tabTo(page, value(page))
    await page.keyboard.type('three')
    await tabTo(page, page.getByLabel('Show the value while I type'))
    await page.keyboard.press('Space')
    expect(await isHidden(page)).toBe(false)
    await press(page, button(page, 'Replace the value'))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await expect.poll(() => isFocused(menu)).toBe(true)
    expect(await lease(projectId)).toEqual({ GREETING: 'three' })
    await choose(page, 'Actions for GREETING', 'Delete')
    await press(page, button(page, 'Delete'))
    await page.getByText('No variables yet').waitFor()
    expect(await lease(projectId)).toEqual({})
    expectQuiet(session)
    await session.close()
  })
})

describe('who has leased a variable', () => {
  it('is the one of the latest lease with it, as it happens', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'a', OTHER: 'b', UNUSED: 'c' })
    await lease(projectId, 'old machine', ['OTHER', 'TOKEN'])
    await lease(projectId, 'build machine', ['TOKEN'])
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await row(page, 'TOKEN').getByText('by build machine').locator('visible=true').waitFor()
    await row(page, 'OTHER').getByText('by old machine').locator('visible=true').waitFor()
    await row(page, 'UNUSED').getByText('no lease known').locator('visible=true').waitFor()
    await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
    await lease(projectId, 'new machine', ['UNUSED'])
    await row(page, 'UNUSED').getByText('by new machine').locator('visible=true').waitFor()
    expect(await page.getByText('perhaps').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('is not that of an earlier variable of the same name', async () => {
    const { person, projectId, path } = await addOwner({ TOKEN: 'a', OTHER: 'b' })
    await lease(projectId, 'old machine')
    await person.send('DELETE', `${path}/TOKEN`)
    await person.send('PUT', `${path}/TOKEN`, { value: 'c' })
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await row(page, 'OTHER').getByText('by old machine').locator('visible=true').waitFor()
    await row(page, 'TOKEN').getByText('no lease known').locator('visible=true').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('is said to be uncertain where the event names only the first of many', async () => {
    const keys = Array.from({ length: 40 }, (_, index) => `VARIABLE_${index + 10}_${'X'.repeat(20)}`)
    const { person, projectId } = await addOwner(Object.fromEntries(keys.map((key) => [key, 'a'])))
    await lease(projectId)
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    const rowOf = (index: number) => page.getByRole('row').nth(index + 1)
    await rowOf(0).getByText('by sandbox').locator('visible=true').waitFor()
    // A name has 32 characters and what separates it from the next has 2: the 30th is cut.
    for (const index of [0, 10, 28]) expect(await rowOf(index).textContent()).toMatch(/leased: [^p]* by sandbox/)
    for (const index of [29, 30, 39]) expect(await rowOf(index).textContent()).toMatch(/leased: perhaps .* by sandbox/)
    // One request set them all, and its time is that of each.
    for (const index of [0, 29, 39]) expect(await rowOf(index).textContent()).toContain(`by ${person.name}`)
    expectQuiet(session)
    await session.close()
  })
})

describe('what the service refuses', () => {
  it('is said, and what was typed stays', async () => {
    const { person, projectId, path } = await addOwner({ TOKEN: 'a' }, undefined)
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await person.send('PATCH', `/v1/projects/${projectId}`, { archived: true })
    await act(page, 'TOKEN', 'Set a new value')
    await value(page).fill('typed for nothing')
    await button(page, 'Replace the value').click()
    await page.getByRole('alert').getByText('archived').waitFor()
    expect(await value(page).inputValue()).toBe('typed for nothing')
    await button(page, 'Cancel').click()
    await expectForgotten(page, 'typed for nothing')
    await act(page, 'TOKEN', 'Delete')
    await button(page, 'Delete').click()
    await page.getByRole('alert').getByText('archived').waitFor()
    expect(await person.send<{ items: object[] }>('GET', path)).toMatchObject({ items: [{ key: 'TOKEN' }] })
    expectQuiet(session, [/status of 409/])
    await session.close()
  })

  it('of a value that is too long: the value is neither cut nor repeated', async () => {
    const { person, projectId } = await addOwner()
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    const long = 'hidden text '.repeat(6000)
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('LONG')
    await value(page).fill(long)
    await button(page, 'Set').click()
    await page.getByRole('alert').getByText('64 KiB').waitFor()
    expect(await value(page).inputValue()).toBe(long)
    expect(await page.content()).not.toContain('hidden text')
    expectQuiet(session, [/status of 400/])
    await session.close()
  })

  it('of an unknown project', async () => {
    const session = await open(await addPerson(running), '?project=nowhere')
    await session.page.getByRole('alert').getByText('There is no such project.').waitFor()
    expectQuiet(session, [/status of 404/])
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('without the scope to change variables', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'a' }, { without: ['environment-variables:write'] })
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await row(page, 'TOKEN').waitFor()
    const buttons = await page.getByRole('main').getByRole('button').allInnerTexts()
    expect(buttons).toEqual(['Copy', 'Copy'])
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to read their names: only to set one', async () => {
    const { person, projectId } = await addOwner({}, { without: ['environment-variables:read'] })
    const session = await open(person, `?project=${projectId}`)
    const { page } = session
    await page.getByText('This session may not read the names').waitFor()
    await page.getByRole('button', { name: 'New variable' }).click()
    await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('TOKEN')
    await value(page).fill('unseen')
    await button(page, 'Set').click()
    await page.getByText('TOKEN set.').waitFor()
    expect(await lease(projectId)).toEqual({ TOKEN: 'unseen' })
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to read events', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'a' }, { without: ['audit-events:read'] })
    const session = await open(person, `?project=${projectId}`)
    await row(session.page, 'TOKEN').waitFor()
    expect(await session.page.getByText(/leased|lease known/).count()).toBe(0)
    expect(await session.page.getByRole('table').getByRole('link').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to list projects', async () => {
    const { person, projectId } = await addOwner({ TOKEN: 'a' }, { without: ['projects:read'] })
    const session = await open(person)
    await session.page.getByText('This session may not list projects.').waitFor()
    await session.page.goto(`${running.url}/variables?project=${projectId}`)
    await row(session.page, 'TOKEN').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('outside the project that the session is restricted to', async () => {
    const { owner, projectId, path } = await addOwner({ TOKEN: 'a' })
    const session = await open(await addPerson(running, { projectIds: [projectId] }))
    const { page } = session
    await row(page, 'TOKEN').waitFor()
    expect(await page.getByLabel('Project').getByRole('option').allInnerTexts()).toEqual([
      'All projects',
      expect.stringContaining('Shop of'),
    ])
    await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
    await owner.send('PUT', `${path}/LATER`, { value: 'b' })
    await row(page, 'LATER').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it('the commands for agents name the project, and are copied', async () => {
  const person = await addPerson(running)
  const projectId = `Ada's; $(reboot) ${randomUUID()}`
  await person.send('PUT', `/v1/projects/${encodeURIComponent(projectId)}`, { name: 'Shop' })
  const permissions = ['clipboard-read', 'clipboard-write']
  const session = await open(person, `?project=${encodeURIComponent(projectId)}`, { permissions })
  const { page } = session
  const word = `'${projectId.replace("'", "'\\''")}'`
  for (const [name, command] of [
    ['create an API key', `workspace keys create sandbox --scope environment-variables:lease --project ${word}`],
    ['start a program with the variables', `workspace env run --project ${word} -- npm start`],
  ] as const) {
    await page.getByRole('button', { name: `Copy the command: ${name}` }).click()
    await expect.poll(() => page.evaluate('navigator.clipboard.readText()')).toBe(command)
  }
  expectQuiet(session)
  await session.close()
})

it('an event leads to the variables of its project, and a variable to the events of its project', async () => {
  const { person, projectId, project } = await addOwner({ TOKEN: 'a', OTHER: 'b' })
  await lease(projectId, 'build machine', ['TOKEN'])
  const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, `/activity?project=${projectId}`)
  const { page } = session
  const line = page.getByRole('listitem').filter({ hasText: 'leased the environment variables' })
  await line.getByRole('link', { name: 'TOKEN', exact: true }).click()
  await page.waitForURL(`${running.url}/variables?project=${projectId}`)
  // Activity, which is still shown, has such a link too.
  await page.getByRole('table').getByRole('link', { name: 'OTHER', exact: true }).click()
  await expect
    .poll(() => page.getByRole('main').getByRole('listitem').getByRole('paragraph').allInnerTexts())
    .toEqual([
      `build machine leased the environment variables TOKEN in ${project}`,
      // One request has set both.
      `${person.name} set the environment variables OTHER, TOKEN in ${project}`,
    ])
  await page.getByRole('main').getByRole('listitem').getByRole('link', { name: 'OTHER, TOKEN', exact: true }).click()
  await page.waitForURL(`${running.url}/variables?project=${projectId}`)
  expectQuiet(session)
  await session.close()
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const { person, projectId } = await addOwner({ TOKEN: 'a', OTHER: 'b' })
  await lease(projectId, 'build machine', ['TOKEN'])
  const session = await open(person, '', look)
  const { page } = session
  await page.getByRole('link', { name: 'Website', exact: true }).waitFor()
  await expectAccessible(page)
  await page.goto(`${running.url}/variables?project=${projectId}`)
  await row(page, 'TOKEN').getByText('by build machine').locator('visible=true').waitFor()
  await expectAccessible(page)
  await page.getByRole('button', { name: 'New variable' }).click()
  await page.getByRole('dialog').getByLabel('Name', { exact: true }).fill('TOKEN')
  await value(page).fill('something\nhidden')
  await expectAccessible(page)
  await button(page, 'Cancel').click()
  await act(page, 'TOKEN', 'Delete')
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})
