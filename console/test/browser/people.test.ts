/**
 * The pages of people, agents and projects, as people use them.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import { crc32, deflateSync } from 'node:zlib'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, isFocused, press, tabTo } from './keyboard.ts'
import { addPerson, type Person, senderOf } from './people.ts'

/** More than a list shows at first. */
const CROWD = 60

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

async function open(apiKey: string, path = '/people', options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey }, path, options)
  await session.page.getByRole('heading', { level: 1 }).waitFor()
  return session
}

const service = () => senderOf(running.demo.baseUrl, running.demo.serviceKey)
const field = (page: Page, label: string) => page.getByRole('dialog').getByLabel(label, { exact: true })
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true })
const inDialog = (page: Page, name: string) => page.getByRole('dialog').getByRole('button', { name, exact: true })
const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true })
const row = (page: Page, name: string) =>
  page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) })

interface Resource {
  readonly id: string
  readonly name: string
  readonly archivedAt?: string | null
}

async function addResource(kind: 'users' | 'agents' | 'projects', name: string): Promise<Resource> {
  return service()('PUT', `/v1/${kind}/${randomUUID()}`, { name })
}

const find = (kind: string, id: string) =>
  service()<Resource>('GET', `/v1/${kind}/${encodeURIComponent(id)}`).catch((error: Error) => error.message)

/** A PNG, all black. */
function picture(side: number) {
  const chunk = (type: string, data: Buffer) => {
    const typed = Buffer.concat([Buffer.from(type), data])
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)]
    length.writeUInt32BE(data.length)
    sum.writeUInt32BE(crc32(typed))
    return Buffer.concat([length, typed, sum])
  }
  const header = Buffer.alloc(13)
  header.writeUInt32BE(side, 0)
  header.writeUInt32BE(side, 4)
  // Eight bits of each of red, green and blue.
  header.set([8, 2], 8)
  const buffer = Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(Buffer.alloc(side * (side * 3 + 1)))),
    chunk('IEND', Buffer.alloc(0)),
  ])
  return { name: 'me.png', mimeType: 'image/png', buffer }
}

/** The width of the picture that a page shows of a person; undefined: none. */
async function widthOf(page: Page, { name }: Resource): Promise<number | undefined> {
  const images = page.getByRole('main').getByRole('img', { name: `Picture of ${name}` })
  const [width] = await images.evaluateAll((all) =>
    (all as unknown as { naturalWidth: number }[]).map((each) => each.naturalWidth),
  )
  return width
}

async function upload(page: Page, label: string, file: ReturnType<typeof picture>): Promise<void> {
  const [chooser] = await Promise.all([page.waitForEvent('filechooser'), button(page, label).click()])
  await chooser.setFiles(file)
}

const putPicture = ({ id, apiKey }: Person, side: number) =>
  fetch(`${running.demo.baseUrl}/v1/users/${id}/profile-picture`, {
    method: 'PUT',
    headers: { Authorization: `Bearer ${apiKey}` },
    body: picture(side).buffer,
  }).then(({ status }) => expect(status).toBeLessThan(300))

async function act(page: Page, name: string, label: string): Promise<void> {
  await button(page, `Actions for ${name}`).click()
  await page.getByRole('menuitem', { name: label, exact: true }).click()
}

describe('by mouse', () => {
  it('a person is created, found, renamed, deleted and restored', async () => {
    const me = await addPerson(running)
    const id = `grace.${randomUUID().slice(0, 8)}@example.com`
    const name = `Grace ${id.slice(6, 14)}`
    const session = await open(me.apiKey)
    const { page } = session
    await button(page, 'New person').click()
    await field(page, 'Name').fill(name)
    await field(page, 'ID').fill(id)
    await inDialog(page, 'Create').click()
    await page.getByText(`${name} created.`).waitFor()
    await heading(page, name).waitFor()
    await page.waitForURL(({ pathname }) => decodeURIComponent(pathname) === `/people/users/${id}`)
    // An address that ends as a file does.
    await page.reload()
    await heading(page, name).waitFor()
    expect(await find('users', id)).toMatchObject({ id, name })

    await page.getByRole('link', { name: 'People', exact: true }).click()
    await page.getByRole('searchbox').fill(name.toUpperCase())
    await page.waitForURL(/q=GRACE/)
    await row(page, name).getByText(id).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await act(page, name, 'Rename')
    await field(page, 'Name').fill(`${name} Hopper`)
    await inDialog(page, 'Rename').click()
    await page.getByText(`${name} renamed to ${name} Hopper.`).waitFor()
    await row(page, `${name} Hopper`).waitFor()
    expect(await find('users', id)).toMatchObject({ name: `${name} Hopper` })

    await act(page, `${name} Hopper`, 'Delete')
    await page.getByRole('dialog').getByText('All keys of this person').waitFor()
    await inDialog(page, 'Cancel').click()
    expect(await find('users', id)).toMatchObject({ id })
    await act(page, `${name} Hopper`, 'Delete')
    await inDialog(page, 'Delete').click()
    await page.getByText('Nothing matches').waitFor()
    expect(await find('users', id)).toContain('410')
    await button(page, 'Undo').click()
    await row(page, `${name} Hopper`).waitFor()
    expect(await find('users', id)).toMatchObject({ id })
    expectQuiet(session)
    await session.close()
  })

  it('a project is created under a new UUID, archived, unarchived and deleted', async () => {
    const { apiKey } = await addPerson(running)
    const session = await open(apiKey, '/people?kind=projects')
    const { page } = session
    const name = `Shop ${randomUUID().slice(0, 8)}`
    await button(page, 'New project').click()
    await field(page, 'Name').fill(name)
    await inDialog(page, 'Create').click()
    await heading(page, name).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    expect(id).toMatch(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/)
    const isArchived = async () => Boolean(((await find('projects', id)) as Resource).archivedAt)
    await button(page, 'Archive').click()
    await page.getByText(`${name} archived.`).waitFor()
    await page.getByText('It is archived: what belongs to it can be read').waitFor()
    expect(await isArchived()).toBe(true)
    await button(page, 'Undo').click()
    await page.getByText(`${name} unarchived.`).waitFor()
    await button(page, 'Archive').waitFor()
    expect(await isArchived()).toBe(false)
    await page.goto(`${running.url}/people?kind=projects&q=${encodeURIComponent(name)}`)
    await act(page, name, 'Archive')
    await row(page, name).getByText('Archived', { exact: true }).waitFor()
    await act(page, name, 'Unarchive')
    await row(page, name).getByText('Archived', { exact: true }).waitFor({ state: 'detached' })
    expect(await isArchived()).toBe(false)
    await page.getByRole('link', { name, exact: true }).click()
    await page.getByText('It has none.').waitFor()
    await button(page, 'Delete').click()
    await inDialog(page, 'Delete').click()
    await page.waitForURL(/\/people\?kind=projects$/)
    await row(page, 'Website').waitFor()
    expect(await row(page, name).count()).toBe(0)
    expect(await find('projects', id)).toContain('410')
    expectQuiet(session)
    await session.close()
  })

  it('a picture is uploaded, replaced and removed', async () => {
    const me = await addPerson(running)
    const session = await open(me.apiKey, `/people/users/${me.id}`)
    const { page } = session
    expect(await button(page, 'Remove').count()).toBe(0)
    await upload(page, 'Upload a picture', picture(24))
    await page.getByText('Your picture is uploaded.').waitFor()
    await expect.poll(() => widthOf(page, me)).toBe(24)
    await upload(page, 'Replace the picture', picture(40))
    await expect.poll(() => widthOf(page, me)).toBe(40)
    await page.getByRole('link', { name: 'People', exact: true }).click()
    await page.getByRole('searchbox').fill(me.name)
    await row(page, me.name).getByText('you').waitFor()
    await expect.poll(() => row(page, me.name).locator('img').count()).toBe(1)
    await row(page, me.name).getByRole('link', { name: me.name }).click()
    await button(page, 'Remove').click()
    await page.getByText('Your picture is removed.').waitFor()
    await expect.poll(() => widthOf(page, me)).toBe(undefined)
    await button(page, 'Upload a picture').waitFor()
    // The button that was pressed is gone, but not the focus.
    expect(await isFocused(button(page, 'Upload a picture'))).toBe(true)
    expectQuiet(session)
    await session.close()
  })
})

describe('by keyboard alone', () => {
  it('an agent is created, renamed, archived, deleted and restored', async () => {
    const { apiKey } = await addPerson(running)
    const session = await signedIn(browser, { url: running.url, apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('o')
    await press(page, button(page, 'Agents'))
    await page.waitForURL(/kind=agents/)
    await press(page, button(page, 'New agent'))
    const name = `Owl ${randomUUID().slice(0, 8)}`
    await tabTo(page, field(page, 'Name'))
    await page.keyboard.type(name)
    await page.keyboard.press('Enter')
    await heading(page, name).waitFor()
    const id = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    await press(page, button(page, 'Edit'))
    await tabTo(page, field(page, 'Name'))
    await page.keyboard.press('End')
    await page.keyboard.type(' II')
    await tabTo(page, field(page, 'Description'))
    await page.keyboard.type('Hunts at night.')
    await press(page, inDialog(page, 'Save'))
    await heading(page, `${name} II`).waitFor()
    await page.getByText('Hunts at night.').waitFor()
    await expect.poll(() => isFocused(button(page, 'Edit'))).toBe(true)
    await press(page, button(page, 'Archive'))
    await button(page, 'Unarchive').waitFor()
    expect(await find('agents', id)).toMatchObject({
      name: `${name} II`,
      description: 'Hunts at night.',
      archivedAt: expect.any(String),
    })
    await press(page, page.getByRole('link', { name: 'People', exact: true }))
    await press(page, button(page, 'Agents'))
    await page.keyboard.press('/')
    await page.keyboard.type(name)
    await page.waitForURL(/q=Owl/)
    await choose(page, `Actions for ${name} II`, 'Delete')
    await press(page, inDialog(page, 'Delete'))
    await page.getByText('Nothing matches').waitFor()
    // The message before it offers to undo that it was archived.
    await press(page, button(page, 'Undo').last())
    await row(page, `${name} II`).waitFor()
    expect(await find('agents', id)).toMatchObject({ id })
    expectQuiet(session)
    await session.close()
  })

  it('a picture is uploaded and removed', async () => {
    const me = await addPerson(running)
    const session = await open(me.apiKey, `/people/users/${me.id}`)
    const { page } = session
    await button(page, 'Upload a picture').waitFor()
    const [chooser] = await Promise.all([
      page.waitForEvent('filechooser'),
      press(page, button(page, 'Upload a picture')),
    ])
    await chooser.setFiles(picture(24))
    await expect.poll(() => widthOf(page, me)).toBe(24)
    await press(page, button(page, 'Remove'))
    await expect.poll(() => widthOf(page, me)).toBe(undefined)
    expectQuiet(session)
    await session.close()
  })
})

describe('what the service refuses', () => {
  it('is said where a picture is uploaded: another type, too many bytes', async () => {
    const me = await addPerson(running)
    await putPicture(me, 24)
    const session = await open(me.apiKey, `/people/users/${me.id}`)
    const { page } = session
    await expect.poll(() => widthOf(page, me)).toBe(24)
    const alert = page.getByRole('main').getByRole('alert')
    await upload(page, 'Replace the picture', { ...picture(8), buffer: Buffer.from('GIF, they said') })
    await alert.getByText(/PNG, JPEG, GIF or WebP/).waitFor()
    await upload(page, 'Replace the picture', { ...picture(8), buffer: Buffer.alloc(5 * 2 ** 20 + 1) })
    await alert.getByText(/5 MiB|5,?242,?880/).waitFor()
    expect(await widthOf(page, me)).toBe(24)
    await upload(page, 'Replace the picture', picture(8))
    await expect.poll(() => widthOf(page, me)).toBe(8)
    expect(await alert.count()).toBe(0)
    expectQuiet(session, [/status of 4(?:00|13)/])
    await session.close()
  })

  it('is said in the form, which keeps what was typed', async () => {
    const other = await addResource('users', 'Grace')
    const { apiKey } = await addPerson(running)
    const session = await open(apiKey)
    const { page } = session
    await button(page, 'New person').click()
    await field(page, 'Name').fill('Heidi')
    await field(page, 'ID').fill(other.id)
    await inDialog(page, 'Create').click()
    await page
      .getByRole('alert')
      .getByText(/already|exists/)
      .waitFor()
    expect([await field(page, 'Name').inputValue(), await field(page, 'ID').inputValue()]).toEqual(['Heidi', other.id])
    expect(await find('users', other.id)).toMatchObject({ name: 'Grace' })
    await page.keyboard.press('Escape')
    await button(page, 'Agents').click()
    await button(page, 'New agent').click()
    await field(page, 'Name').fill('Owl')
    await field(page, 'ID').fill('no UUID')
    await inDialog(page, 'Create').click()
    await page
      .getByRole('alert')
      .getByText(/no UUID/)
      .waitFor()
    expect(await field(page, 'Name').inputValue()).toBe('Owl')
    expectQuiet(session, [/status of 4(?:00|12)/])
    await session.close()
  })

  it('is said in the dialog: a person does not delete somebody who has a key', async () => {
    const [me, other] = [await addPerson(running), await addPerson(running)]
    const session = await open(me.apiKey, `/people/users/${other.id}`)
    const { page } = session
    await button(page, 'Delete').click()
    await inDialog(page, 'Delete').click()
    await page
      .getByRole('alert')
      .getByText(/live API key/)
      .waitFor()
    expect(await find('users', other.id)).toMatchObject({ id: other.id })
    expectQuiet(session, [/status of 403/])
    await session.close()
  })

  it('is said of somebody who was deleted, or never was', async () => {
    const { apiKey } = await addPerson(running)
    const session = await open(apiKey, '/people/users/nobody')
    await session.page.getByRole('alert').getByText('There is no such user.', { exact: true }).waitFor()
    expectQuiet(session, [/status of 404/])
    await session.close()
  })
})

it('who deletes their own user is told that the sign-in ends, and is signed out', async () => {
  const me = await addPerson(running)
  const session = await open(me.apiKey, `/people/users/${me.id}`)
  const { page } = session
  await button(page, 'Delete').click()
  await page.getByRole('dialog').getByText('This is you: your sign-in ends').waitFor()
  await inDialog(page, 'Delete').click()
  await page.getByLabel('API key').waitFor()
  expect(await find('users', me.id)).toContain('410')
  expectQuiet(session, [/status of 401/])
  await session.close()
})

describe('the projects of a person', () => {
  it('are those of the keys: all, some, or no key', async () => {
    const [all, some, none] = [
      await addPerson(running),
      await addPerson(running, { projectIds: [running.demo.projectId] }),
      await addResource('users', `Mary ${randomUUID().slice(0, 6)}`),
    ]
    const session = await open(running.demo.serviceKey)
    const { page } = session
    for (const [{ name }, reach] of [
      [all, 'all'],
      [none, 'no key'],
      [some, 'Website'],
    ] as const) {
      await page.getByRole('searchbox').fill(name)
      await row(page, name).getByText(reach, { exact: true }).waitFor()
    }
    await page.getByRole('link', { name: some.name }).click()
    await page.getByText(/With these keys, this person reaches Website\./).waitFor()
    await page.getByRole('link', { name: `laptop of ${some.name}` }).click()
    await heading(page, `laptop of ${some.name}`).waitFor()
    await page.goBack()
    expectQuiet(session)
    await session.close()
  })

  it('are not known of others to a session that acts as a person', async () => {
    const [me, other] = [await addPerson(running), await addPerson(running)]
    const session = await open(me.apiKey)
    const { page } = session
    await page.getByRole('searchbox').fill(me.name)
    await row(page, me.name).getByText('all', { exact: true }).waitFor()
    await page.getByRole('searchbox').fill(other.name)
    await row(page, other.name).getByText('not known to this session').waitFor()
    await page.getByRole('link', { name: other.name }).click()
    await page.getByText('you see only the keys of that person').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it('a row is opened although the search has not begun yet', async () => {
  const person = await addPerson(running)
  const session = await open(person.apiKey)
  const { page } = session
  await row(page, person.name).waitFor()
  // The page of the person comes after the pause of the search.
  await page.route('**/*.js', async (route) => {
    await new Promise((resolve) => setTimeout(resolve, 1000))
    await route.continue()
  })
  await page.getByRole('searchbox').fill(person.name)
  await row(page, person.name)
    .getByRole('link', { name: person.name, exact: true })
    .evaluate((link: { click(): void }) => link.click())
  await heading(page, person.name).waitFor()
  expectQuiet(session)
  await session.close()
})

describe('what the key may not do is not offered', () => {
  it('to change, to see keys or pictures', async () => {
    const [me, other] = [
      await addPerson(running, { without: ['users:write', 'api-keys:read', 'profile-picture:write', 'sign-in:read'] }),
      await addPerson(running),
    ]
    const session = await open(me.apiKey, `/people?q=${encodeURIComponent(me.name)}`)
    const { page } = session
    await row(page, me.name).waitFor()
    expect(await button(page, 'New person').count()).toBe(0)
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    expect(await page.getByRole('columnheader').allTextContents()).toEqual(['Name', 'Created'])
    for (const { id, name } of [me, other]) {
      await page.goto(`${running.url}/people/users/${id}`)
      await heading(page, name).waitFor()
      expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
      expect(await page.getByRole('heading', { name: 'Keys' }).count()).toBe(0)
    }
    await page.goto(`${running.url}/people?kind=agents`)
    await button(page, 'New agent').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('to change the picture of somebody else', async () => {
    const [me, other] = [await addPerson(running), await addPerson(running)]
    await putPicture(other, 24)
    const session = await open(me.apiKey, `/people/users/${other.id}`)
    const { page } = session
    await expect.poll(() => widthOf(page, other)).toBe(24)
    expect(await page.getByRole('main').getByRole('button').allTextContents()).toEqual(['Rename', 'Delete'])
    expectQuiet(session)
    await session.close()
  })

  it('outside the projects of the key', async () => {
    const me = await addPerson(running, { projectIds: [running.demo.projectId] })
    const session = await open(me.apiKey, '/people?kind=projects')
    const { page } = session
    await button(page, 'Actions for Website').waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expect(await page.getByRole('button', { name: /^New/ }).count()).toBe(0)
    await button(page, 'People').click()
    await row(page, 'Katherine Johnson').waitFor()
    expect(await page.getByRole('button', { name: /^(?:New|Actions)/ }).count()).toBe(0)
    // It changes its own picture nevertheless.
    await page.goto(`${running.url}/people/users/${me.id}`)
    await button(page, 'Upload a picture').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('to read at all', async () => {
    const me = await addPerson(running, { without: ['users:read', 'profile-picture:read'] })
    const session = await open(me.apiKey)
    const { page } = session
    await page.getByText('This session may not read who is here.').waitFor()
    await page.goto(`${running.url}/people/users/${me.id}`)
    await page.getByText('This session may not read users.').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it('pictures are asked for when they come into view, once for each person', async () => {
  const name = `Crowd ${randomUUID().slice(0, 8)}`
  await Promise.all(Array.from({ length: CROWD }, () => addResource('users', name)))
  const { apiKey } = await addPerson(running)
  const session = await open(apiKey, `/people?q=${encodeURIComponent(name)}`)
  const { page } = session
  // Other tests change people of the same organization, and such an event has the pictures read again.
  await page.route('**/api/v1/events?*', (route) => {
    const after = new URL(route.request().url()).searchParams.get('after')
    return after === 'now'
      ? route.continue()
      : route.fulfill({ json: { items: [], nextCursor: after, hasMore: false } })
  })
  const asked: string[] = []
  page.on('request', (request) => {
    if (request.url().includes('/api/picture/')) asked.push(request.url())
  })
  await page.reload()
  await row(page, name).first().waitFor()
  await expect.poll(() => asked.length).toBeGreaterThan(5)
  await page.waitForLoadState('networkidle')
  expect(asked.length).toBeLessThan(30)
  await button(page, 'Show more').click()
  await expect.poll(() => row(page, name).count()).toBe(CROWD)
  for (const last of [row(page, name).last(), row(page, name).first()]) {
    await last.scrollIntoViewIfNeeded()
    await page.waitForLoadState('networkidle')
  }
  expect(new Set(asked).size).toBe(asked.length)
  expectQuiet(session)
  await session.close()
})

it('shows what changes elsewhere: a picture, a name, the own name', async () => {
  const [me, other] = [await addPerson(running), await addPerson(running)]
  await putPicture(other, 16)
  const session = await open(me.apiKey, `/people/users/${other.id}`)
  const { page } = session
  await expect.poll(() => widthOf(page, other)).toBe(16)
  await putPicture(other, 24)
  await expect.poll(() => widthOf(page, other), { timeout: 15_000 }).toBe(24)
  await other.send('PUT', `/v1/users/${other.id}`, { name: `${other.name} Somerville` })
  await heading(page, `${other.name} Somerville`).waitFor()
  // Their own name is in the navigation.
  await me.send('PUT', `/v1/users/${me.id}`, { name: `${me.name} Fairfax` })
  await page.getByRole('region', { name: 'You' }).getByText(`${me.name} Fairfax`).waitFor()
  expectQuiet(session)
  await session.close()
})

it('an event leads to what it is about: a person, a picture, an agent, a project', async () => {
  const me = await addPerson(running)
  await putPicture(me, 24)
  const agent = await addResource('agents', `Owl ${randomUUID().slice(0, 6)}`)
  const project = await addResource('projects', `Shop ${randomUUID().slice(0, 6)}`)
  // An ID is any text.
  const strange = `a/b? c#%${randomUUID().slice(0, 6)}.com`
  const name = `Strange ${strange.slice(8, 14)}`
  await service()('PUT', `/v1/users/${encodeURIComponent(strange)}`, { name })
  const session = await open(me.apiKey, '/activity')
  const { page } = session
  for (const each of [agent, project, { id: strange, name }]) {
    await page.getByRole('main').getByRole('link', { name: each.name, exact: true }).first().click()
    await heading(page, each.name).waitFor()
    await page.reload()
    await heading(page, each.name).waitFor()
    expect(await page.getByRole('main').getByText(each.id).count()).toBeGreaterThan(0)
    await page.goto(`${running.url}/activity`)
  }
  await page.goto(`${running.url}/activity?types=profile-picture.set`)
  await page.getByRole('main').getByRole('link', { name: me.name, exact: true }).first().click()
  await expect.poll(() => widthOf(page, me)).toBe(24)
  expectQuiet(session)
  await session.close()
})

it('characters that change the direction of a name are seen', async () => {
  const suffix = randomUUID().slice(0, 6)
  const { id } = await addResource('users', `Ada \u202e${suffix}`)
  const { apiKey } = await addPerson(running)
  const session = await open(apiKey, `/people?q=${suffix}`)
  const { page } = session
  await page.getByRole('link', { name: `Ada \ufffd${suffix}` }).click()
  await page.waitForURL(`${running.url}/people/users/${id}`)
  await heading(page, `Ada \ufffd${suffix}`).waitFor()
  expectQuiet(session)
  await session.close()
})

describe.each(LOOKS)('with assistive technology: %o', (look) => {
  it('the lists, the pages and the dialogs are accessible', async () => {
    const me = await addPerson(running)
    await putPicture(me, 24)
    const archived = await addResource('projects', `Attic ${'x'.repeat(60)}`)
    await service()('PATCH', `/v1/projects/${archived.id}`, { archived: true })
    const session = await open(me.apiKey, `/people?q=${encodeURIComponent(me.name)}`, look)
    const { page } = session
    await expect.poll(() => row(page, me.name).locator('img').count()).toBe(1)
    await expectAccessible(page)
    await button(page, 'New person').click()
    await expectAccessible(page)
    await page.keyboard.press('Escape')
    for (const kind of ['agents', 'projects']) {
      await page.goto(`${running.url}/people?kind=${kind}`)
      await page.getByRole('row').nth(1).waitFor()
      await expectAccessible(page)
    }
    await page.goto(`${running.url}/people?q=nothing-has-this-name`)
    await page.getByText('Nothing matches').waitFor()
    await expectAccessible(page)
    for (const path of [`users/${me.id}`, `projects/${archived.id}`, `agents/${running.demo.agentId}`]) {
      await page.goto(`${running.url}/people/${path}`)
      await button(page, 'Delete').waitFor()
      await page.waitForLoadState('networkidle')
      await expectAccessible(page)
    }
    await button(page, 'Delete').click()
    await expectAccessible(page)
    expectQuiet(session)
    await session.close()
  })
})
