/**
 * The page of activity, as people use it.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
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

async function openActivity({ apiKey }: Pick<Person, 'apiKey'>, search = '', options?: BrowserContextOptions) {
  const session = await signedIn(browser, { url: running.url, apiKey }, `/activity${search}`, options)
  await session.page.getByRole('heading', { name: 'Activity', exact: true }).waitFor()
  return session
}

const lines = (page: Page) => page.getByRole('main').getByRole('listitem').getByRole('paragraph')
const expectLines = (page: Page, sentences: readonly string[]) =>
  expect.poll(() => lines(page).allInnerTexts()).toEqual(sentences)

/** A person who has changed this and that: the sentences of it, the latest first. */
async function addActor() {
  const person = await addPerson(running)
  const [projectId, sessionId, agentId, scheduleId] = [randomUUID(), randomUUID(), randomUUID(), randomUUID()]
  await person.send('PUT', `/v1/projects/${projectId}`, { name: 'Shop' })
  await person.send('PUT', `/v1/sessions/${sessionId}`, { projectId, name: 'Fix the cart' })
  await person.send('PUT', `/v1/agents/${agentId}`, { name: 'Night owl' })
  const schedule = `/v1/agents/${agentId}/schedules/${scheduleId}`
  await person.send('PUT', schedule, { cron: '0 6 * * *', name: 'Nightly review' })
  await person.send('PATCH', schedule, { enabled: false })
  await person.send('PUT', `/v1/pins/session/${sessionId}`)
  const sentences = [
    `${person.name} pinned a session`,
    `${person.name} paused the schedule Nightly review`,
    `${person.name} created the schedule Nightly review`,
    `${person.name} created the agent Night owl`,
    `${person.name} created the session Fix the cart in Shop`,
    `${person.name} created the project Shop`,
  ]
  return { person, projectId, sessionId, agentId, scheduleId, schedule, sentences }
}

/** Events of the person, without that of the sign-in. */
const OWN = 'types=project.*,session.*,agent.*,schedule.*,pin.*'

describe('events', () => {
  it('are sentences, the latest first, with links to what they are about', async () => {
    const { person, projectId, sessionId, agentId, schedule, sentences } = await addActor()
    const session = await openActivity(person, `?user=${person.id}&${OWN}`)
    const { page } = session
    await expectLines(page, sentences)
    const links = await lines(page).getByRole('link').all()
    expect(await Promise.all(links.map((link) => link.getAttribute('href')))).toEqual([
      `/sessions/${sessionId}`,
      schedule.replace('/v1', ''),
      schedule.replace('/v1', ''),
      `/people/agents/${agentId}`,
      `/sessions/${sessionId}`,
      `/people/projects/${projectId}`,
    ])
    expect(await page.getByRole('heading', { level: 2 }).allInnerTexts()).toEqual(['Today'])
    await page.getByRole('link', { name: 'Nightly review', exact: true }).first().click()
    await page.getByRole('heading', { name: 'Nightly review' }).waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('have a link only if what they are about has a page', async () => {
    const person = await addPerson(running)
    const [projectId, pullRequestId] = [randomUUID(), randomUUID()]
    await person.send('PUT', `/v1/projects/${projectId}`, { name: 'Shop' })
    await person.send('PUT', `/v1/pull-requests/${pullRequestId}`, { projectId, name: 'Add a cart' })
    await person.send('PUT', `/v1/pins/pull_request/${pullRequestId}`)
    await person.send('PUT', `/v1/pins/project/${projectId}`)
    const session = await openActivity(person, `?user=${person.id}&types=project.*,pull-request.*,pin.*`)
    const { page } = session
    await expectLines(page, [
      `${person.name} pinned a project`,
      `${person.name} pinned a pull request`,
      `${person.name} created the pull request Add a cart in Shop`,
      `${person.name} created the project Shop`,
    ])
    const links = await Promise.all((await lines(page).all()).map((line) => line.getByRole('link').all()))
    const addresses = await Promise.all(links.map(([link]) => link?.getAttribute('href') ?? null))
    expect(addresses).toEqual([`/people/projects/${projectId}`, null, null, `/people/projects/${projectId}`])
    await lines(page).first().getByRole('link').click()
    await page.getByRole('heading', { name: 'Shop' }).waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('are shown as they happen', async () => {
    const { person, schedule, sentences } = await addActor()
    const session = await openActivity(person, `?user=${person.id}&${OWN}`)
    const { page } = session
    await expectLines(page, sentences)
    // The page hears of changes after its first request for events.
    await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
    await person.send('DELETE', schedule)
    await expectLines(page, [`${person.name} deleted the schedule Nightly review`, ...sentences])
    // What is gone leads to where it can be restored.
    await lines(page).first().getByRole('link').click()
    await page.getByRole('button', { name: 'Undo the deletion of Nightly review' }).waitFor()
    expect(await page.getByRole('row').count()).toBe(2)
    expectQuiet(session)
    await session.close()
  })

  it('of a deletion have no link, if the session may not read deletions', async () => {
    const { person, schedule, sentences } = await addActor()
    await person.send('DELETE', schedule)
    const session = await openActivity(
      await addPerson(running, { without: ['deletions:read'] }),
      `?user=${person.id}&${OWN}`,
    )
    const { page } = session
    await expectLines(page, [`${person.name} deleted the schedule Nightly review`, ...sentences])
    expect(await lines(page).first().getByRole('link').count()).toBe(0)
    expectQuiet(session)
    await session.close()
  })

  it('lead to what was deleted in a project, also if its name looks like a number', async () => {
    const person = await addPerson(running)
    const [projectId, sessionId] = [`2024.10 ${randomUUID()}`, randomUUID()]
    await person.send('PUT', `/v1/projects/${encodeURIComponent(projectId)}`, { name: 'Shop' })
    await person.send('PUT', `/v1/sessions/${sessionId}`, { projectId, name: '1.10' })
    await person.send('DELETE', `/v1/sessions/${sessionId}`)
    const session = await openActivity(person, `?user=${person.id}&types=session.deleted`)
    const { page } = session
    await expectLines(page, [`${person.name} deleted the session 1.10 in Shop`])
    await lines(page).getByRole('link').click()
    await page.getByRole('button', { name: 'Undo the deletion of 1.10' }).waitFor()
    expect(await page.getByRole('searchbox').inputValue()).toBe('1.10')
    await page.getByLabel('Kind').selectOption({ label: 'Session' })
    expect(await page.getByLabel('Project').locator('option:checked').textContent()).toBe('Shop')
    expectQuiet(session)
    await session.close()
  })

  it('are grouped by day', async () => {
    const { person, sentences } = await addActor()
    const session = await openActivity(person, `?user=${person.id}&${OWN}`)
    const { page } = session
    const headings = () => page.getByRole('heading', { level: 2 }).allInnerTexts()
    await expectLines(page, sentences)
    await page.clock.setFixedTime(Date.now() + 24 * 3_600_000)
    await page.reload()
    await expect.poll(headings).toEqual(['Yesterday'])
    await page.clock.setFixedTime(Date.now() + 48 * 3_600_000)
    await page.reload()
    const day = new Date().toLocaleDateString('en-US', { weekday: 'long' })
    await expect.poll(headings).toEqual([expect.stringContaining(day)])
    expectQuiet(session)
    await session.close()
  })

  it('have each its time on one line, on a narrow screen', async () => {
    const { page, close } = await openActivity(running.demo, '', { viewport: { width: 390, height: 844 } })
    const time = page.getByRole('main').locator('time').first()
    // Two lines are 40 px high.
    expect((await time.boundingBox())?.height).toBeLessThan(30)
    await close()
  })

  it('come in pages', async () => {
    const demoSend = senderOf(running.demo.baseUrl, running.demo.apiKey)
    const session = await openActivity(running.demo, '?types=session-file.*')
    const { page } = session
    await expect.poll(() => lines(page).count()).toBe(50)
    await page.getByRole('button', { name: 'Show more' }).click()
    await expect.poll(() => lines(page).count()).toBe(100)
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' })
    const { items } = await demoSend<{ items: object[] }>('GET', '/v1/audit-events?types=session-file.*&limit=1000')
    await expect.poll(() => lines(page).count()).toBe(items.length)
    expectQuiet(session)
    await session.close()
  })

  it('show names as they are, with each character visible', async () => {
    const person = await addPerson(running)
    const name = '<img src=x onerror=alert(1)> [a](javascript:alert(1)) \u202egnp.exe'
    await person.send('PUT', `/v1/agents/${randomUUID()}`, { name })
    const session = await openActivity(person, `?user=${person.id}&types=agent.*`)
    const { page } = session
    const shown = '<img src=x onerror=alert(1)> [a](javascript:alert(1)) \ufffdgnp.exe'
    await expect.poll(() => lines(page).allTextContents()).toEqual([`${person.name} created the agent ${shown}`])
    expect(await page.getByRole('main').locator('img').count()).toBe(0)
    // Its direction does not reach the rest of the sentence.
    expect(await lines(page).locator('bdi').allTextContents()).toEqual([person.name, shown])
    expectQuiet(session)
    await session.close()
  })
})

describe('filters', () => {
  it('by person, kind, change and project are chosen, and kept in the address', async () => {
    const { person, projectId, sentences } = await addActor()
    const session = await openActivity(person)
    const { page } = session
    const addressed = (search: object) =>
      expect.poll(() => Object.fromEntries(new URL(page.url()).searchParams)).toEqual(search)
    await lines(page).first().waitFor()
    await page.getByLabel('Person').selectOption({ label: person.name })
    await addressed({ user: person.id })
    // The last one is that of the sign-in.
    await expect.poll(() => lines(page).count()).toBe(sentences.length + 1)
    await page.getByLabel('Kind').selectOption({ label: 'Schedule' })
    await addressed({ types: 'schedule.*', user: person.id })
    await expectLines(page, sentences.slice(1, 3))
    await page.getByLabel('Change').selectOption({ label: 'Paused' })
    await addressed({ types: 'schedule.paused', user: person.id })
    await expectLines(page, sentences.slice(1, 2))
    await page.reload()
    await expectLines(page, sentences.slice(1, 2))
    await page.getByLabel('Change').selectOption({ label: 'Any change' })
    await expectLines(page, sentences.slice(1, 3))
    await page.getByLabel('Kind').selectOption({ label: 'Everything' })
    await page.getByLabel('Project').selectOption(projectId)
    await addressed({ user: person.id, project: projectId })
    await expectLines(page, sentences.slice(4))
    await page.goBack()
    await addressed({ user: person.id })
    await page.getByRole('link', { name: 'Show all' }).click()
    await addressed({})
    expectQuiet(session)
    await session.close()
  })

  it('by thing are chosen from an event, by keyboard', async () => {
    const { person, scheduleId, sentences } = await addActor()
    const session = await openActivity(person, `?user=${person.id}&${OWN}`)
    const { page } = session
    await expectLines(page, sentences)
    await page.getByRole('link', { name: 'Only events about Nightly review' }).first().focus()
    await page.keyboard.press('Enter')
    await expectLines(page, sentences.slice(1, 3))
    expect(decodeURIComponent(page.url())).toContain(`resource=schedule/${scheduleId}`)
    await page.getByRole('link', { name: 'Only Nightly review: show the events of everything' }).focus()
    await page.keyboard.press('Enter')
    await expectLines(page, sentences)
    expectQuiet(session)
    await session.close()
  })

  it('by day are typed, in the time zone of the person', async () => {
    const { person, sentences } = await addActor()
    // Their day begins at 12:00 UTC of the day before.
    const session = await openActivity(person, `?user=${person.id}&${OWN}`, { timezoneId: 'Pacific/Auckland' })
    const { page } = session
    const dayOf = (at: number) => new Date(at).toLocaleDateString('en-CA', { timeZone: 'Pacific/Auckland' })
    const today = dayOf(Date.now())
    const yesterday = dayOf(Date.now() - 24 * 3_600_000)
    await expectLines(page, sentences)
    const asked: URLSearchParams[] = []
    page.on('request', (each) => each.url().includes('since=') && asked.push(new URL(each.url()).searchParams))
    await page.getByLabel('Day', { exact: true }).fill(yesterday)
    await page.getByText('No event matches').waitFor()
    for (const name of ['since', 'until']) expect(asked[0]?.get(name)).toMatch(/T1[123]:00:00.000Z$/)
    await page.getByLabel('Day', { exact: true }).fill(today)
    await expectLines(page, sentences)
    expect(new URL(page.url()).searchParams.get('day')).toBe(today)
    // What is typed on the way to a year is not asked for.
    await page.getByLabel('Day', { exact: true }).fill('0020-01-01')
    await expectLines(page, sentences)
    expect(new URL(page.url()).searchParams.get('day')).toBe(today)
    await page.getByLabel('Day', { exact: true }).fill('')
    await expect.poll(() => new URL(page.url()).searchParams.get('day')).toBe(null)
    await page.goto(`${running.url}/activity?user=${person.id}&${OWN}&day=2026-13-01`)
    await expectLines(page, sentences)
    expect(asked.every((each) => (each.get('since') ?? '') >= '2000')).toBe(true)
    expectQuiet(session)
    await session.close()
  })

  it('that nothing matches say so', async () => {
    const session = await openActivity(running.demo, '?types=skill-feed.deleted')
    await session.page.getByText('No event matches').waitFor()
    await session.page.getByRole('link', { name: 'Show all events' }).click()
    await lines(session.page).first().waitFor()
    expectQuiet(session)
    await session.close()
  })

  it('that are wrong show the error of the API', async () => {
    const session = await openActivity(running.demo, '?types=skil.updated')
    await session.page.getByText('types has the unknown type "skil.updated"').waitFor()
    expectQuiet(session, [/status of 400/])
    await session.close()
  })
})

describe('what the session may read', () => {
  it('is the events of its projects, if it is restricted to projects', async () => {
    const { person, projectId } = await addActor()
    const { apiKey } = await addPerson(running, { projectIds: [projectId] })
    const session = await openActivity({ apiKey }, '?types=project.*,session.*')
    const { page } = session
    const own = (project: string) => [`created the session Fix the cart in ${project}`, 'created the project Shop']
    const sentences = async () =>
      (await lines(page).allInnerTexts()).map((text) => text.replace(/^.*? (?=created|renamed)/, ''))
    await expect.poll(sentences).toEqual(own('Shop'))
    // The feed, which such a session reads, knows no times.
    expect(await page.getByLabel('Day', { exact: true }).count()).toBe(0)
    await page.waitForResponse((response) => response.url().includes('/api/v1/events?'))
    await person.send('PUT', `/v1/projects/${projectId}`, { name: 'Boutique' })
    await expect.poll(sentences).toEqual(['renamed the project Boutique', ...own('Boutique')])
    expectQuiet(session)
    await session.close()
  })

  it('is nothing without the scope', async () => {
    const session = await openActivity(await addPerson(running, { without: ['audit-events:read'] }))
    await session.page.getByText('This session may not read events.').waitFor()
    expectQuiet(session)
    await session.close()
  })
})

it.each(LOOKS)('is accessible: $colorScheme, $viewport.width px', async (look) => {
  const { person, scheduleId } = await addActor()
  const session = await openActivity(person, '', look)
  const { page } = session
  await lines(page).first().waitFor()
  await expectAccessible(page)
  await page.goto(`${running.url}/activity?types=schedule.*&resource=schedule/${scheduleId}`)
  await lines(page).first().waitFor()
  await expectAccessible(page)
  expectQuiet(session)
  await session.close()
})
