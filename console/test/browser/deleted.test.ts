/**
 * The page of what was deleted, as people use it.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { choose, isFocused, tabTo } from './keyboard.ts'
import { addPerson, type Person, senderOf } from './people.ts'

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

interface Deleted {
  readonly name: string
  readonly path: string
}

/** A resource with a name of its own, which the person has deleted. */
async function deleteOne(person: Person, kind: string, fields: object = {}): Promise<Deleted> {
  const id = randomUUID()
  const deleted = { name: `The ${kind} ${id.slice(0, 8)}`, path: `/v1/${kind}/${id}` }
  await person.send('PUT', deleted.path, { name: deleted.name, ...fields })
  await person.send('DELETE', deleted.path)
  return deleted
}

/** Another project of the demo than most of it. */
async function otherProject(person: Person): Promise<string> {
  const { items } = await person.send<{ items: { id: string }[] }>('GET', '/v1/projects?query=Mobile')
  return items[0]?.id ?? ''
}

const deleteSession = (person: Person) => deleteOne(person, 'sessions', { projectId: running.demo.projectId })

async function openDeleted(person: Pick<Person, 'apiKey'>, search = '', options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, `/deleted${search}`, options)
  await session.page.getByRole('heading', { name: 'Deleted', exact: true }).waitFor()
  return session
}

const row = (page: Page, { name }: Deleted) => page.getByRole('row').filter({ hasText: name })
const undo = (page: Page, { name }: Deleted) =>
  page.getByRole('button', { name: `Undo the deletion of ${name}`, exact: true })
const isThere = (person: Person, { path }: Deleted) =>
  person.send('GET', path).then(
    () => true,
    () => false,
  )
async function isRestorable(person: Person, { name }: Deleted): Promise<boolean> {
  const { items } = await person.send<{ items: { name: string }[] }>('GET', '/v1/deletions?limit=1000')
  return items.some((deletion) => deletion.name === name)
}

describe('by mouse', () => {
  it('says what was deleted, where, when and by whom, and restores it', async () => {
    const person = await addPerson(running)
    const deleted = await deleteSession(person)
    const session = await openDeleted(person)
    const { page } = session
    await row(page, deleted).getByText('Session · Website').waitFor()
    await row(page, deleted).getByText(`by ${person.name}`).locator('visible=true').waitFor()
    await row(page, deleted).getByText('in 6 days').locator('visible=true').waitFor()
    await undo(page, deleted).click()
    await page.getByText(`${deleted.name} restored.`).waitFor()
    await row(page, deleted).waitFor({ state: 'detached' })
    expect(await isThere(person, deleted)).toBe(true)
    expectQuiet(session)
    await session.close()
  })

  it('says who has deleted the sessions of the demo', async () => {
    const session = await openDeleted(running.demo)
    const { page } = session
    for (const [name, person] of [
      ['Try the new search', 'Ada Lovelace'],
      ['Compare two search engines', 'Katherine Johnson'],
    ] as const) {
      await row(page, { name, path: '' }).getByText(`by ${person}`).locator('visible=true').waitFor()
    }
    expectQuiet(session)
    await session.close()
  })

  it('names the person of the latest deletion, if it was restored in between', async () => {
    const [person, other] = [await addPerson(running), await addPerson(running)]
    const deleted = await deleteSession(other)
    const { items } = await person.send<{ items: { id: string; name: string }[] }>('GET', '/v1/deletions')
    await person.send('POST', `/v1/deletions/${items.find(({ name }) => name === deleted.name)?.id}/restore`)
    await person.send('DELETE', deleted.path)
    const session = await openDeleted(person)
    const { page } = session
    await row(page, deleted).getByText(`by ${person.name}`).locator('visible=true').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('restores many at once', async () => {
    const person = await addPerson(running)
    const project = await deleteOne(person, 'projects')
    const agent = await deleteOne(person, 'agents')
    const kept = await deleteOne(person, 'users')
    const session = await openDeleted(person)
    const { page } = session
    for (const { name } of [project, agent]) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    const toolbar = page.getByRole('toolbar', { name: 'Selected deletions' })
    await toolbar.getByText('2 selected').waitFor()
    await toolbar.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('2 restored.').waitFor()
    await toolbar.waitFor({ state: 'detached' })
    expect([await isThere(person, project), await isThere(person, agent)]).toEqual([true, true])
    await row(page, kept).waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('deletes many for good, after it has named them', async () => {
    const person = await addPerson(running)
    const all = [await deleteSession(person), await deleteOne(person, 'agents')]
    const session = await openDeleted(person)
    const { page } = session
    for (const { name } of all) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete for good' }).click()
    const dialog = page.getByRole('dialog', { name: 'Delete 2 for good?' })
    for (const { name } of all) await dialog.getByText(name).waitFor()
    await dialog.getByRole('button', { name: 'Cancel' }).click()
    for (const deleted of all) expect(await isRestorable(person, deleted)).toBe(true)
    await page.getByRole('toolbar').getByRole('button', { name: 'Delete for good' }).click()
    await dialog.getByRole('button', { name: 'Delete for good' }).click()
    await page.getByText('2 deleted for good.').waitFor()
    for (const deleted of all) {
      await row(page, deleted).waitFor({ state: 'detached' })
      expect(await isRestorable(person, deleted)).toBe(false)
    }
    expectQuiet(session)
    await session.close()
  })

  it('is narrowed by kind, project and name, and the view is a link', async () => {
    const person = await addPerson(running)
    const agent = await deleteOne(person, 'agents')
    const one = await deleteSession(person)
    const other = await deleteOne(person, 'sessions', { projectId: await otherProject(person) })
    const session = await openDeleted(person)
    const { page } = session
    await row(page, agent).waitFor()
    await page.getByRole('combobox', { name: 'Kind' }).selectOption('Session')
    await row(page, agent).waitFor({ state: 'detached' })
    await row(page, other).waitFor()
    await page.getByRole('combobox', { name: 'Project' }).selectOption('Website')
    await row(page, other).waitFor({ state: 'detached' })
    await row(page, one).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: 'Deleted' }).click()
    await page.keyboard.press('/')
    await page.keyboard.type(one.name.toUpperCase())
    await page.waitForURL(/kind=session.*project=website|project=website.*kind=session/)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.reload()
    await row(page, one).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    await page.getByRole('searchbox').fill('nothing has this name')
    await page.getByText('Nothing that was deleted matches').waitFor()
    await page.getByRole('link', { name: 'Show everything that can be restored' }).click()
    await row(page, agent).waitFor()
    expectQuiet(session)
    await session.close()
  })
})

describe('a list of several pages', () => {
  const isList = (url: URL) => url.pathname === '/api/v1/deletions'

  it('is searched to its end', async () => {
    // In another organization, so that the lists of other tests stay short.
    const { apiKey, userId } = running.demo.otherOrganization
    const person = { id: userId, name: 'Grace Hopper', apiKey, send: senderOf(running.demo.baseUrl, apiKey) }
    const projectId = randomUUID()
    await person.send('PUT', `/v1/projects/${projectId}`, { name: 'Shop' })
    const first = await deleteOne(person, 'sessions', { projectId })
    for (let count = 0; count < 100; count += 10) {
      await Promise.all(Array.from({ length: 10 }, () => deleteOne(person, 'sessions', { projectId })))
    }
    const session = await openDeleted(person, `?project=${projectId}`)
    const { page } = session
    await expect.poll(() => page.getByRole('row').count()).toBe(101)
    await page.getByRole('searchbox').fill(first.name)
    await row(page, first).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.getByRole('searchbox').fill('')
    await expect.poll(() => page.getByRole('row').count()).toBe(102)
    expectQuiet(session)
    await session.close()
  })

  it('is shown from the first page that is not empty', async () => {
    const person = await addPerson(running)
    const deleted = await deleteSession(person)
    const session = await openDeleted(person, '?kind=user')
    const { page } = session
    const cursors: (string | null)[] = []
    await page.route(isList, (route) => {
      const url = new URL(route.request().url())
      const cursor = url.searchParams.get('cursor')
      cursors.push(cursor)
      if (cursors.length < 3) return route.fulfill({ json: { items: [], nextCursor: `${cursors.length}` } })
      url.searchParams.delete('cursor')
      return route.continue({ url: url.href })
    })
    await page.getByLabel('Kind').selectOption('Session')
    await row(page, deleted).waitFor()
    expect(cursors).toEqual([null, '1', '2'])
    expectQuiet(session)
    await session.close()
  })

  it('is read on by the person after ten empty pages', async () => {
    const session = await openDeleted(await addPerson(running), '?kind=user')
    const { page } = session
    let requests = 0
    await page.route(isList, (route) => {
      requests++
      return route.fulfill({ json: { items: [], nextCursor: `${requests}` } })
    })
    await page.getByLabel('Kind').selectOption('Skill')
    await page.getByText('Nothing that was deleted matches').waitFor()
    await page.getByRole('button', { name: 'Show more' }).waitFor()
    expect(requests).toBe(10)
    expectQuiet(session)
    await session.close()
  })
})

describe('by keyboard alone', () => {
  it('something is found and restored', async () => {
    const person = await addPerson(running)
    const deleted = await deleteOne(person, 'pull-requests', { projectId: running.demo.projectId })
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, '/')
    const { page } = session
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.getByRole('searchbox').waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(deleted.name)
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await tabTo(page, undo(page, deleted))
    await page.keyboard.press('Enter')
    await page.getByText(`${deleted.name} restored.`).waitFor()
    expect(await isThere(person, deleted)).toBe(true)
    // The focus stays in the page, although the button is gone.
    await expect.poll(() => isFocused(page.getByRole('main'))).toBe(true)
    expectQuiet(session)
    await session.close()
  })

  it('one is deleted for good, after it was named', async () => {
    const person = await addPerson(running)
    const deleted = await deleteSession(person)
    const session = await openDeleted(person, `?q=${encodeURIComponent(deleted.name)}`)
    const { page } = session
    const dialog = page.getByRole('dialog', { name: `Delete ${deleted.name} for good?` })
    const button = await choose(page, `Actions for ${deleted.name}`, 'Delete for good')
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    expect(await isFocused(button)).toBe(true)
    expect(await isRestorable(person, deleted)).toBe(true)
    await choose(page, `Actions for ${deleted.name}`, 'Delete for good')
    await tabTo(page, dialog.getByRole('button', { name: 'Delete for good' }))
    await page.keyboard.press('Enter')
    await page.getByText(`${deleted.name} deleted for good.`).waitFor()
    expect(await isRestorable(person, deleted)).toBe(false)
    expectQuiet(session)
    await session.close()
  })
})

describe('what the service refuses', () => {
  it('is said for each, and the others are restored', async () => {
    const person = await addPerson(running)
    const projectId = randomUUID()
    await person.send('PUT', `/v1/projects/${projectId}`, { name: 'Shop' })
    const child = await deleteOne(person, 'sessions', { projectId })
    await person.send('DELETE', `/v1/projects/${projectId}`)
    const other = await deleteOne(person, 'agents')
    const session = await openDeleted(person)
    const { page } = session
    for (const { name } of [child, other]) await page.getByRole('checkbox', { name: `Select ${name}` }).check()
    await page.getByRole('toolbar').getByRole('button', { name: 'Undo' }).click()
    await page.getByText('1 restored.').waitFor()
    await page.getByText(new RegExp(`^${child.name}: The project .* deleted`)).waitFor()
    await row(page, child).waitFor()
    expect(await isThere(person, other)).toBe(true)
    expectQuiet(session, [/status of 409/])
    await session.close()
  })

  it('is said in the dialog that asked for it', async () => {
    const person = await addPerson(running, { without: ['audit-events:read'] })
    const deleted = await deleteSession(person)
    const session = await openDeleted(person)
    const { page } = session
    await page.getByRole('button', { name: `Actions for ${deleted.name}` }).click()
    await page.getByRole('menuitem', { name: 'Delete for good' }).click()
    const { items } = await person.send<{ items: { id: string; name: string }[] }>('GET', '/v1/deletions')
    await person.send('POST', `/v1/deletions/${items.find(({ name }) => name === deleted.name)?.id}/restore`)
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Delete for good' }).click()
    await dialog
      .getByRole('alert')
      .getByText(/deletion/)
      .waitFor()
    expect(await isThere(person, deleted)).toBe(true)
    expectQuiet(session, [/status of 404/])
    await session.close()
  })
})

it('a deletion of another window is shown, and its restoration', async () => {
  const person = await addPerson(running)
  const session = await openDeleted(person)
  const { page } = session
  await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
  const deleted = await deleteSession(person)
  await row(page, deleted).waitFor()
  const { items } = await person.send<{ items: { id: string; name: string }[] }>('GET', '/v1/deletions')
  await person.send('POST', `/v1/deletions/${items.find(({ name }) => name === deleted.name)?.id}/restore`)
  await row(page, deleted).waitFor({ state: 'detached' })
  expectQuiet(session)
  await session.close()
})

it('many deletions of another window are read together', async () => {
  const person = await addPerson(running)
  const session = await openDeleted(person)
  const { page } = session
  await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
  let lists = 0
  page.on('request', (request) => {
    if (request.url().includes('/api/v1/deletions?')) lists++
  })
  const all = await Promise.all(Array.from({ length: 20 }, () => deleteSession(person)))
  for (const deleted of all) await row(page, deleted).waitFor()
  expect(lists).toBeLessThan(5)
  expectQuiet(session)
  await session.close()
})

describe('a schedule that was deleted on its page', () => {
  async function newSchedule(person: Person, parent = `agents/${running.demo.agentId}`) {
    const id = randomUUID()
    const schedule = { name: `Report ${id.slice(0, 8)}`, path: `/v1/${parent}/schedules/${id}` }
    const timezone = parent.startsWith('projects/') && { timezone: 'UTC' }
    await person.send('PUT', schedule.path, { name: schedule.name, cron: '0 3 1 1 *', ...timezone })
    return schedule
  }

  /** @param meanwhile is done before the page looks for the deletion. */
  async function openSchedule(person: Person, parent?: string, meanwhile?: () => Promise<unknown>) {
    const { name, path } = await newSchedule(person, parent)
    const session = await signedIn(browser, { url: running.url, apiKey: person.apiKey }, path.replace('/v1', ''))
    const { page } = session
    if (meanwhile) {
      await page.route(
        ({ pathname }) => pathname === '/api/v1/deletions',
        async (route) => {
          await meanwhile()
          await route.continue()
        },
        { times: 1 },
      )
    }
    await page.getByRole('button', { name: 'More actions' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(`${name} deleted.`).waitFor()
    return { session, page, deleted: { name, path } }
  }

  it('is restored by the message about it', async () => {
    const person = await addPerson(running)
    const { session, page, deleted } = await openSchedule(person)
    expect(await isThere(person, deleted)).toBe(false)
    await page.getByRole('region', { name: 'Messages' }).getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`${deleted.name} restored.`).waitFor()
    expect(await isThere(person, deleted)).toBe(true)
    await page.getByRole('link', { name: deleted.name }).waitFor()
    expectQuiet(session, [/status of 404/])
    await session.close()
  })

  it('is the one that is restored, and not what was deleted since', async () => {
    const person = await addPerson(running)
    const other = await newSchedule(person)
    const { session, page, deleted } = await openSchedule(person, undefined, () => person.send('DELETE', other.path))
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`${deleted.name} restored.`).waitFor()
    expect([await isThere(person, deleted), await isThere(person, other)]).toEqual([true, false])
    await session.close()
  })

  it('is listed again at once, also without events', async () => {
    const person = await addPerson(running, { without: ['audit-events:read'] })
    const { session, page, deleted } = await openSchedule(person)
    await page.getByRole('link', { name: 'Schedules', exact: true }).click()
    await page.getByRole('heading', { name: 'Schedules', exact: true }).waitFor()
    await page.getByRole('link', { name: 'Nightly build' }).waitFor()
    expect(await page.getByRole('link', { name: deleted.name }).count()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByRole('link', { name: deleted.name }).waitFor()
    expectQuiet(session, [/status of 404/])
    await session.close()
  })

  it('is restored by a session that is restricted to its project', async () => {
    const person = await addPerson(running, { projectIds: [running.demo.projectId] })
    const { session, page, deleted } = await openSchedule(person, `projects/${running.demo.projectId}`)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`${deleted.name} restored.`).waitFor()
    expect(await isThere(person, deleted)).toBe(true)
    await session.close()
  })

  it('is not, if the session is restricted to projects and the schedule is that of an agent', async () => {
    const person = await addPerson(running, { projectIds: [running.demo.projectId] })
    const { session, page } = await openSchedule(person)
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    // Nor is its deletion asked for, which the service would refuse.
    const requested = `performance.getEntriesByType('resource').map(({ name }) => new URL(name).pathname)`
    expect(await page.evaluate(requested)).not.toContain('/api/v1/deletions')
    await session.close()
  })

  it('is not, if the session may not restore', async () => {
    const { session, page } = await openSchedule(await addPerson(running, { without: ['deletions:write'] }))
    expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    await session.close()
  })
})

describe('what the session may not do is not offered', () => {
  it('without the scopes to restore and to delete for good', async () => {
    const person = await addPerson(running)
    const deleted = await deleteSession(person)
    const reader = await addPerson(running, { without: ['deletions:write', 'deletions:purge'] })
    const session = await openDeleted(reader)
    const { page } = session
    await row(page, deleted).waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    expect(await page.getByRole('checkbox').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to delete for good', async () => {
    const person = await addPerson(running, { without: ['deletions:purge'] })
    const deleted = await deleteSession(person)
    const session = await openDeleted(person)
    const { page } = session
    await undo(page, deleted).waitFor()
    await page.getByRole('checkbox', { name: `Select ${deleted.name}` }).check()
    await page.getByRole('toolbar').waitFor()
    expect(await page.getByText('Delete for good').count()).toBe(0)
    expect(await page.getByRole('button', { name: `Actions for ${deleted.name}` }).count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('without the scope to read deletions', async () => {
    const session = await openDeleted(await addPerson(running, { without: ['deletions:read'] }))
    await session.page.getByText('This session may not read deletions.').waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('outside the projects that the session is restricted to', async () => {
    const person = await addPerson(running)
    const [one, other] = [
      await deleteSession(person),
      await deleteOne(person, 'sessions', { projectId: await otherProject(person) }),
    ]
    const session = await openDeleted(await addPerson(running, { projectIds: [running.demo.projectId] }))
    const { page } = session
    await undo(page, one).click()
    await page.getByText(`${one.name} restored.`).waitFor()
    expect(await page.getByText(other.name).count()).toBe(0)
    expect(await isThere(person, one)).toBe(true)
    expectQuiet(session)
    await session.close()
  })
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const person = await addPerson(running)
  const deleted = await deleteOne(person, 'users')
  const session = await openDeleted(person, '', look)
  const { page } = session
  await undo(page, deleted).waitFor()
  await page.getByRole('checkbox', { name: `Select ${deleted.name}` }).check()
  await expectAccessible(page)
  await page.getByRole('toolbar').getByRole('button', { name: 'Delete for good' }).click()
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})
