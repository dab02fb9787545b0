/**
 * The page of pins, as people use it.
 * @module-tag slow
 */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, isFocused, tabTo } from './keyboard.ts'
import { addPerson, type Person } from './people.ts'

const NAMES = ['Rebuild the checkout', 'Payments', 'Accept Apple Pay', 'Find the flaky test', 'Retry failed webhooks']
const [CHECKOUT, PAYMENTS, APPLE_PAY, FLAKY, RETRIES] = NAMES as [string, string, string, string, string]

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

/** A person who has pinned the pins of the demo. */
async function addPinner(options?: Parameters<typeof addPerson>[1]): Promise<Person> {
  const person = await addPerson(running, options)
  for (const pin of running.demo.pins) await person.send('PUT', pathOf(pin))
  return person
}

const pathOf = ({ resourceType, resourceId }: (typeof running.demo.pins)[number]) =>
  `/v1/pins/${resourceType}/${resourceId}`

async function openPins(person: Pick<Person, 'apiKey'>, options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/pins', options)
  await session.page.getByRole('heading', { name: 'Pins', exact: true }).waitFor()
  return session
}

const rows = (page: Page) => page.getByRole('main').getByRole('listitem')
const row = (page: Page, name: string) => rows(page).filter({ hasText: name })
const shownNames = async (page: Page) => (await rows(page).allInnerTexts()).map((text) => text.trim().split('\n')[0])
const expectShown = (page: Page, names: readonly string[]) => expect.poll(() => shownNames(page)).toEqual(names)
async function expectStored(person: Person, names: readonly string[]): Promise<void> {
  const stored = async () => {
    const { items } = await person.send<{ items: { name: string }[] }>('GET', '/v1/pins')
    return items.map(({ name }) => name)
  }
  await expect.poll(stored).toEqual(names)
}
const announced = (page: Page, text: string) =>
  page.locator('main [aria-live]').getByText(text, { exact: true }).waitFor()

/** Opens the menu of a pin and chooses from it, by keyboard. */
const chooseFor = (page: Page, name: string, label: string) => choose(page, `Actions for ${name}`, label)

/** By the edge of another pin: the upper or lower quarter of its row. */
async function drag(page: Page, name: string, to: string, edge: 'top' | 'bottom'): Promise<void> {
  const { height } = (await row(page, to).boundingBox()) ?? { height: 0 }
  const y = edge === 'top' ? height / 4 : (height * 3) / 4
  await row(page, name).dragTo(row(page, to), {
    sourcePosition: { x: 16, y: height / 2 },
    targetPosition: { x: 200, y },
  })
}

describe('by mouse', () => {
  it('a pin is dragged before or after another', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    const { page } = session
    await expectShown(page, NAMES)
    await drag(page, RETRIES, CHECKOUT, 'top')
    await announced(page, `${RETRIES} moved to position 1 of 5`)
    await expectShown(page, [RETRIES, CHECKOUT, PAYMENTS, APPLE_PAY, FLAKY])
    await drag(page, CHECKOUT, APPLE_PAY, 'bottom')
    await announced(page, `${CHECKOUT} moved to position 4 of 5`)
    const names = [RETRIES, PAYMENTS, APPLE_PAY, CHECKOUT, FLAKY]
    await expectShown(page, names)
    await expectStored(person, names)
    // It is where it was.
    await drag(page, PAYMENTS, APPLE_PAY, 'top')
    await expectShown(page, names)
    await page.reload()
    await expectShown(page, names)
    expectQuiet(session)
    await session.close()
  })

  it('is unpinned, and pinned again where it was', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    const { page } = session
    for (const [name, position] of [
      [APPLE_PAY, 3],
      [CHECKOUT, 1],
      [RETRIES, 5],
    ] as const) {
      await page.getByRole('button', { name: `Actions for ${name}` }).click()
      await page.getByRole('menuitem', { name: 'Unpin' }).click()
      await expectShown(
        page,
        NAMES.filter((each) => each !== name),
      )
      await page.getByText(`${name} unpinned.`).waitFor()
      await expectStored(
        person,
        NAMES.filter((each) => each !== name),
      )
      await page.getByRole('button', { name: 'Pin again' }).click()
      await announced(page, `${name} pinned again at position ${position} of 5`)
      await expectStored(person, NAMES)
      await expectShown(page, NAMES)
    }
    expectQuiet(session)
    await session.close()
  })

  it('leads to what is pinned', async () => {
    const session = await openPins(await addPinner())
    await session.page.getByRole('link', { name: CHECKOUT }).click()
    await session.page.waitForURL(`${running.url}/sessions/${running.demo.sessionId}`)
    await session.close()
  })
})

describe('by keyboard alone', () => {
  it('pins are moved with Alt and an arrow, and keep the focus', async () => {
    const person = await addPinner()
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('p')
    const link = page.getByRole('main').getByRole('link', { name: PAYMENTS })
    await link.waitFor()
    await tabTo(page, link)
    await page.keyboard.press('Alt+ArrowUp')
    await announced(page, `${PAYMENTS} moved to position 1 of 5`)
    for (let presses = 0; presses < 4; presses++) await page.keyboard.press('Alt+ArrowDown')
    await announced(page, `${PAYMENTS} moved to position 5 of 5`)
    const names = [CHECKOUT, APPLE_PAY, FLAKY, RETRIES, PAYMENTS]
    await expectShown(page, names)
    await expectStored(person, names)
    expect(await isFocused(link)).toBe(true)
    expectQuiet(session)
    await session.close()
  })

  it('a menu moves pins, and leaves out what changes nothing', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    const { page } = session
    await chooseFor(page, FLAKY, 'Move up')
    await announced(page, `${FLAKY} moved to position 3 of 5`)
    await chooseFor(page, CHECKOUT, 'Move down')
    await announced(page, `${CHECKOUT} moved to position 2 of 5`)
    await chooseFor(page, RETRIES, 'Move to top')
    await announced(page, `${RETRIES} moved to position 1 of 5`)
    const button = await chooseFor(page, PAYMENTS, 'Move to bottom')
    await announced(page, `${PAYMENTS} moved to position 5 of 5`)
    await expect.poll(() => isFocused(button)).toBe(true)
    const names = [RETRIES, CHECKOUT, FLAKY, APPLE_PAY, PAYMENTS]
    await expectShown(page, names)
    await expectStored(person, names)
    await page.getByRole('button', { name: `Actions for ${RETRIES}` }).click()
    const disabled = page.locator('[role=menuitem][aria-disabled=true]:visible')
    expect(await disabled.allInnerTexts()).toEqual(['Move up', 'Move to top'])
    expectQuiet(session)
    await session.close()
  })

  it('something is found by its name and pinned, and unpinned', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    const { page } = session
    const open = page.getByRole('button', { name: 'Pin something' })
    const dialog = page.getByRole('dialog', { name: 'Pin something' })
    await tabTo(page, open)
    await page.keyboard.press('Enter')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await isFocused(open)).toBe(true)
    await page.keyboard.press('Enter')
    await dialog.getByText(CHECKOUT).waitFor()
    // What is pinned is not offered, nor is a project whose ID is not a UUID.
    expect(await dialog.getByRole('listitem').getByRole('button').allInnerTexts()).toEqual([
      expect.stringContaining('Update the icons'),
      expect.stringContaining('Mobile app'),
    ])
    await dialog.getByText('Not listed, because their IDs were chosen by hand: Website.').waitFor()
    expect(await dialog.getByText('UUID').count()).toBe(0)
    await page.keyboard.type('nothing has this name')
    await dialog.getByText('Nothing has a name with “nothing has this name”.').waitFor()
    await page.keyboard.press('Control+A')
    await page.keyboard.type('ICONS')
    const result = dialog.getByRole('button', { name: 'Update the icons' })
    await result.waitFor()
    await tabTo(page, result)
    await page.keyboard.press('Enter')
    await announced(page, 'Update the icons pinned at position 6 of 6')
    await dialog.waitFor({ state: 'detached' })
    expect(await isFocused(open)).toBe(true)
    await expectStored(person, [...NAMES, 'Update the icons'])
    await expectShown(page, [...NAMES, 'Update the icons'])
    await chooseFor(page, 'Update the icons', 'Unpin')
    await expectStored(person, NAMES)
    await expectShown(page, NAMES)
    const previous = page.getByRole('button', { name: `Actions for ${RETRIES}` })
    expect(await isFocused(previous)).toBe(true)
    expectQuiet(session)
    await session.close()
  })
})

describe('a move', () => {
  it('is shown before the service has made it', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    const { page } = session
    const held = Promise.withResolvers<void>()
    await page.route('**/api/v1/pins/**', async (route) => {
      await held.promise
      await route.continue()
    })
    await expectShown(page, NAMES)
    const link = page.getByRole('main').getByRole('link', { name: CHECKOUT })
    await link.focus()
    await page.keyboard.press('Alt+ArrowDown')
    await page.keyboard.press('Alt+ArrowDown')
    const names = [PAYMENTS, APPLE_PAY, CHECKOUT, FLAKY, RETRIES]
    await expectShown(page, names)
    await expectStored(person, NAMES)
    held.resolve()
    await expectStored(person, names)
    await expectShown(page, names)
    expectQuiet(session)
    await session.close()
  })

  it('is undone if the service refuses it, and says why', async () => {
    // Without events, the page does not hear that a pin is gone.
    const person = await addPinner({ without: ['audit-events:read'] })
    const session = await openPins(person)
    const { page } = session
    await expectShown(page, NAMES)
    await person.send('DELETE', pathOf(running.demo.pins[0]))
    await drag(page, RETRIES, CHECKOUT, 'top')
    await page.getByText('placement.target is not pinned. Name one of your pins.').waitFor()
    await expectShown(page, [PAYMENTS, APPLE_PAY, FLAKY, RETRIES])
    await expectStored(person, [PAYMENTS, APPLE_PAY, FLAKY, RETRIES])
    expectQuiet(session, [/status of 404/])
    await session.close()
  })

  it('of another window is shown', async () => {
    const person = await addPinner()
    const session = await openPins(person)
    await expectShown(session.page, NAMES)
    // The page hears of changes after its first request for events.
    await session.page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
    const [first, , , , last] = running.demo.pins
    const placement = { target: { type: first.resourceType, id: first.resourceId }, position: 'before' }
    await person.send('PATCH', pathOf(last), { placement })
    await expectShown(session.page, [RETRIES, CHECKOUT, PAYMENTS, APPLE_PAY, FLAKY])
    expectQuiet(session)
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('without a user', async () => {
    const session = await openPins({ apiKey: running.demo.serviceKey })
    await session.page.getByText('Pins belong to people').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to change pins', async () => {
    const person = await addPinner()
    const reader = await person.send<{ token: string }>('POST', '/v1/api-keys', {
      name: 'reader',
      scopes: ['pins:read'],
    })
    const session = await openPins({ apiKey: reader.token })
    await expectShown(session.page, NAMES)
    expect(await session.page.getByRole('main').getByRole('button').count()).toBe(0)
    expect(await session.page.locator('[draggable=true]').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without pins', async () => {
    const session = await openPins(await addPerson(running))
    await session.page.getByText('No pins yet').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('outside the projects that the session is restricted to', async () => {
    const person = await addPerson(running, { projectIds: [running.demo.projectId] })
    const session = await openPins(person)
    await session.page.getByRole('button', { name: 'Pin something' }).click()
    const dialog = session.page.getByRole('dialog')
    await dialog.getByRole('button', { name: CHECKOUT }).waitFor()
    expect(await dialog.getByText('Update the icons').count()).toBe(0)
    expect(await dialog.getByText(PAYMENTS).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const session = await openPins(await addPinner(), look)
  const { page } = session
  await expectShown(page, NAMES)
  await expectAccessible(page)
  await page.getByRole('button', { name: `Actions for ${PAYMENTS}` }).click()
  await page.getByRole('menuitem', { name: 'Unpin' }).waitFor()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Pin something' }).click()
  await page.getByRole('dialog').getByText('Update the icons').waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})
