/**
 * Skills and their feeds, as people read, compare, edit and publish them.
 * @module-tag slow
 */
import { randomUUID } from 'node:crypto'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, type SignedIn, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible, LOOKS } from './axe.ts'
import { tabTo } from './keyboard.ts'
import { addPerson, type Person } from './people.ts'

/** On a busy machine, pages take longer than the second that is the default. */
const POLL = { timeout: 30_000 }

/** What Chromium writes of a change that the service refuses. */
const REFUSED = /status of (400|412)/

let service: Console
let browser: Browser

beforeAll(async () => {
  service = await startConsole()
  browser = await launchChromium()
})
afterAll(async () => {
  await browser.close()
  await service.stop()
})

interface SkillFile {
  readonly filename: string
  readonly content: string
  readonly encoding?: 'utf-8' | 'base64'
  readonly executable?: boolean
}

interface Version {
  readonly version: number
  readonly message: string | null
  readonly userId: string | null
  readonly isCurrent: boolean
  readonly files: readonly SkillFile[]
}

const entry = (name: string, text: string): SkillFile => ({
  filename: 'SKILL.md',
  content: `---\nname: ${name}\ndescription: Describes ${name}.\n---\n\n${text}\n`,
})

/** A picture of one pixel. */
const PIXEL = 'R0lGODlhAQABAPAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw=='

interface Skill {
  readonly id: string
  readonly name: string
}

async function newSkill(person: Person, text: string, files: readonly SkillFile[] = []): Promise<Skill> {
  const name = `skill-${randomUUID().slice(0, 8)}`
  const { id } = await person.send<{ id: string }>('POST', '/v1/skills', { files: [entry(name, text), ...files] })
  return { id, name }
}

function update(person: Person, { id, name }: Skill, text: string, files: readonly SkillFile[] = [], message?: string) {
  return person.send('PATCH', `/v1/skills/${id}`, { files: [entry(name, text), ...files], message })
}

async function versionsOf(person: Person, { id }: Skill): Promise<readonly Version[]> {
  return (await person.send<{ items: Version[] }>('GET', `/v1/skills/${id}/versions`)).items
}

const readVersion = (person: Person, { id }: Skill, version: number) =>
  person.send<Version>('GET', `/v1/skills/${id}/versions/${version}`)

/** The text of the file that is edited, as CodeMirror shows it. */
const editor = (page: Page) => page.getByRole('textbox', { name: /^Text of / })
const saveButton = (page: Page) => page.getByRole('button', { name: 'Save new version' })

/** Adds a line to the end of the file that is open. */
async function addLine(page: Page, line: string): Promise<void> {
  await editor(page).press('Control+End')
  await page.keyboard.type(line)
}

const FILL_STORAGE = `for (let size = 2 ** 22; size >= 1; size /= 2) {
  try {
    localStorage.setItem('full' + size, 'x'.repeat(size))
  } catch {}
}`

/** A script that remembers the longest task. */
const OBSERVE = `{
  const state = (window.state = { longest: 0 })
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) state.longest = Math.max(state.longest, duration)
  }).observe({ type: 'longtask' })
}`

const idle = (page: Page) => expect.poll(() => page.locator('[aria-busy=true]').count(), POLL).toBe(0)

let opened: SignedIn | undefined
let expected: readonly RegExp[] = []

async function open(person: Pick<Person, 'apiKey'>, path: string, options: BrowserContextOptions = {}): Promise<Page> {
  opened = await signedIn(browser, { url: service.url, apiKey: person.apiKey }, path, options)
  return opened.page
}

afterEach(async () => {
  const session = opened
  const allowed = expected
  opened = undefined
  expected = []
  if (session) expectQuiet(session, allowed)
  await session?.close()
})

describe('reading', () => {
  it('finds a skill and opens a file of it, by keyboard alone', async () => {
    const person = await addPerson(service)
    const { id, name } = await newSkill(person, '# Steps', [{ filename: 'docs/more.md', content: '# More\n' }])
    await newSkill(person, '# Others')
    const page = await open(person, '/skills')
    const names = page.getByRole('table').getByRole('link')
    await names.first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.type(name)
    await expect.poll(() => names.allTextContents(), POLL).toEqual([name])
    await tabTo(page, names)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Steps' }).waitFor()
    expect(page.url()).toBe(`${service.url}/skills/${id}`)
    await page.getByText(`Describes ${name}.`).first().waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Home')
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'More', exact: true }).waitFor()
    expect(new URL(page.url()).searchParams.get('file')).toBe('docs/more.md')
  })

  it('shows files of each kind', async () => {
    const person = await addPerson(service)
    const { id } = await newSkill(person, 'See [more](docs/more.md).', [
      { filename: 'docs/more.md', content: '# More\n' },
      { filename: 'run.sh', content: '#!/bin/sh\necho hello\n', executable: true },
      { filename: 'pixel.gif', content: PIXEL, encoding: 'base64' },
      { filename: 'tool.bin', content: Buffer.from([0, 255, 1]).toString('base64'), encoding: 'base64' },
      { filename: 'page.html', content: '<h1>Source</h1>' },
      { filename: 'list.json', content: '{"a":1}' },
    ])
    const page = await open(person, `/skills/${id}`)
    const article = page.getByRole('article')
    const openFile = (name: string) => page.getByRole('treeitem', { name, exact: true }).click()
    await article.getByRole('link', { name: 'more' }).click()
    await article.getByRole('heading', { name: 'More', exact: true }).waitFor()
    await openFile('run.sh')
    await article.getByText('echo hello').waitFor()
    await article.getByText('executable').waitFor()
    await openFile('pixel.gif')
    await article.getByRole('img', { name: 'pixel.gif' }).waitFor()
    await openFile('tool.bin')
    await article.getByText('This file is not text').waitFor()
    await openFile('page.html')
    await article.getByText('<h1>Source</h1>').waitFor()
    expect(await article.getByRole('button', { name: 'Render' }).count()).toBe(0)
    await openFile('list.json')
    await article.getByText('"a": 1').waitFor()
    await openFile('SKILL.md')
    await article.getByText('Front matter').click()
    await article.getByText(/^name: skill-/).waitFor()
  })

  it('shows an earlier version, publishes it, and undoes that', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'The first text.')
    await update(person, skill, 'The second text.', [], 'Say it again')
    const page = await open(person, `/skills/${skill.id}`)
    await page.getByText('The second text.').waitFor()
    await page.getByRole('link', { name: 'Versions (2)' }).click()
    await page.getByRole('cell', { name: /Say it again/ }).waitFor()
    expect(await page.getByRole('row').nth(1).textContent()).toContain(person.name)
    await page.getByRole('link', { name: 'Version 1' }).click()
    await page.getByText('The first text.').waitFor()
    expect(new URL(page.url()).searchParams.get('version')).toBe('1')
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
    const current = async () => (await versionsOf(person, skill)).find(({ isCurrent }) => isCurrent)?.version
    await page.getByRole('button', { name: 'Publish this version' }).click()
    await page.getByText('Version 1 is the current one now.').waitFor()
    expect(await current()).toBe(1)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Version 2 is the current one again.').waitFor()
    expect(await current()).toBe(2)
  })

  it('compares any two versions', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'First.', [
      { filename: 'gone.txt', content: 'gone\n' },
      { filename: 'same.txt', content: 'same\n' },
      { filename: 'tool.sh', content: 'true\n' },
    ])
    await update(person, skill, 'Second.', [{ filename: 'same.txt', content: 'same\n' }])
    await update(person, skill, 'Third.', [
      { filename: 'same.txt', content: 'same\n' },
      { filename: 'new.txt', content: 'new\n' },
      { filename: 'tool.sh', content: 'true\n', executable: true },
    ])
    const page = await open(person, `/skills/${skill.id}?view=versions`)
    await page.getByRole('link', { name: 'Changes of version 3' }).click()
    await page.getByText('1 file changed, 1 removed').waitFor({ state: 'detached' })
    await page.getByText('2 files added, 1 changed').waitFor()
    await page.getByText('+ Third.').waitFor()
    // By keyboard: the version before the second.
    await page.getByLabel('From').focus()
    await page.keyboard.press('ArrowDown')
    await page.getByText('1 file added, 2 changed, 1 removed').waitFor()
    expect(new URL(page.url()).search).toBe('?from=1&to=3')
    const changes = page.getByRole('region', { name: 'Changed files' })
    for (const text of ['- First.', '+ Third.', '- gone', '+ new', 'now executable']) {
      await changes.getByText(text, { exact: true }).waitFor()
    }
    expect(await changes.getByText('same.txt').count()).toBe(0)
    await changes.getByText('3 unchanged lines').or(changes.getByText('2 unchanged lines')).first().waitFor()
    await changes.getByLabel('Unchanged lines, too').check()
    await changes.getByText(`name: ${skill.name}`).waitFor()
    await page.getByRole('button', { name: 'Swap' }).click()
    await changes.getByText('+ First.').waitFor()
  })

  it('Activity leads from a change of a skill to what it changed', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'Before.')
    await update(person, skill, 'After.')
    await update(person, skill, 'Last.')
    const page = await open(person, `/activity?resource=skill/${skill.id}&types=skill.updated`)
    await page
      .getByRole('listitem')
      .filter({ hasText: skill.name })
      .nth(1)
      .getByRole('link', { name: skill.name })
      .first()
      .click()
    await page.getByText('+ After.').waitFor()
    await page.getByText('- Before.').waitFor()
    expect(new URL(page.url()).search).toBe('?from=1&to=2')
  })
})

describe('editing', () => {
  it('saves a new version with a message, by mouse', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'One.', [{ filename: 'run.sh', content: 'true\r\n', executable: true }])
    const page = await open(person, `/skills/${skill.id}`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await editor(page).waitFor()
    expect(await saveButton(page).isDisabled()).toBe(true)
    await addLine(page, 'Two.')
    await page.getByText('1 file changed').waitFor()
    await page.getByRole('treeitem', { name: 'run.sh' }).click()
    await page.getByRole('textbox', { name: 'Text of run.sh' }).waitFor()
    await addLine(page, 'false')
    await page.getByRole('textbox', { name: 'What changed' }).fill('Add a second step')
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByText('+ Two.').waitFor()
    await saveButton(page).click()
    await page.getByText('Saved. Agents get it from now on.').waitFor()
    await page.getByText('Add a second step').first().waitFor()
    const { files, message, userId } = await readVersion(person, skill, 2)
    expect({ message, userId }).toEqual({ message: 'Add a second step', userId: person.id })
    expect(files).toMatchObject([
      { filename: 'SKILL.md', content: `${entry(skill.name, 'One.').content}Two.` },
      // What was not changed stays: line breaks and the executable bit.
      { filename: 'run.sh', content: 'true\r\nfalse', executable: true },
    ])
  })

  it('saves a new version, by keyboard alone', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'One.')
    const page = await open(person, `/skills/${skill.id}`)
    await page.getByText('One.').waitFor()
    await tabTo(page, page.getByRole('link', { name: 'Edit' }))
    await page.keyboard.press('Enter')
    await editor(page).waitFor()
    await tabTo(page, editor(page))
    await page.keyboard.press('Control+End')
    await page.keyboard.type('Two.')
    await page.keyboard.press('Control+z')
    await page.getByText('No file changed').waitFor()
    await page.keyboard.type('Three.')
    await page.getByText('1 file changed').waitFor()
    await page.keyboard.press('Shift+Tab')
    for (let presses = 0; presses < 20 && !(await page.locator('form input:focus').count()); presses++) {
      await page.keyboard.press('Shift+Tab')
    }
    await page.keyboard.type('By keyboard')
    await page.keyboard.press('Enter')
    await page.getByText('Saved. Agents get it from now on.').waitFor()
    expect(await readVersion(person, skill, 2)).toMatchObject({
      message: 'By keyboard',
      files: [{ content: `${entry(skill.name, 'One.').content}Three.` }],
    })
  })

  it('adds, renames and deletes files', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'One.', [
      { filename: 'old.txt', content: 'kept\n' },
      { filename: 'unused.txt', content: 'unused\n' },
    ])
    const page = await open(person, `/skills/${skill.id}/edit`)
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'Add a file' }).click()
    await dialog.getByLabel('Path').fill('OLD.txt')
    await dialog.getByText('Another file has this path.').waitFor()
    await dialog.getByLabel('Path').fill('docs/new.md')
    await dialog.getByRole('button', { name: 'Add' }).click()
    await page.getByRole('textbox', { name: 'Text of docs/new.md' }).click()
    await page.keyboard.type('New')
    await page.getByLabel('Executable').check()
    await page.keyboard.press('Tab')

    await page.getByRole('treeitem', { name: 'old.txt' }).click()
    await page.getByRole('button', { name: 'Actions for old.txt' }).click()
    await page.getByRole('menuitem', { name: 'Rename' }).click()
    await dialog.getByLabel('Path').fill('renamed.txt')
    await dialog.getByRole('button', { name: 'Rename' }).click()

    for (const isUndone of [true, false]) {
      await page.getByRole('treeitem', { name: 'unused.txt' }).click()
      await page.getByRole('button', { name: 'Actions for unused.txt' }).click()
      await page.getByRole('menuitem', { name: 'Delete' }).click()
      await page.getByRole('treeitem', { name: 'unused.txt' }).waitFor({ state: 'detached' })
      if (isUndone) await page.getByRole('button', { name: 'Undo' }).first().click()
    }
    // SKILL.md has to stay.
    await page.getByRole('treeitem', { name: 'SKILL.md' }).click()
    await page.getByRole('heading', { name: 'SKILL.md' }).waitFor()
    expect(await page.getByRole('button', { name: /^Actions for/ }).count()).toBe(0)
    await page.getByText('2 files added, 2 removed').waitFor()
    await saveButton(page).click()
    await page.getByText('Saved. Agents get it from now on.').waitFor()
    const { files } = await readVersion(person, skill, 2)
    expect(files).toMatchObject([
      { filename: 'SKILL.md' },
      { filename: 'docs/new.md', content: 'New', executable: true },
      { filename: 'renamed.txt', content: 'kept\n' },
    ])
    expect(files).toHaveLength(3)
  })

  it('asks before it loses what was written', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'One.')
    const page = await open(person, `/skills/${skill.id}`)
    await page.getByRole('link', { name: 'Edit' }).click()
    await editor(page).waitFor()
    // Without changes, it does not ask.
    await page.keyboard.press('Escape')
    await page.getByRole('heading', { name: skill.name, exact: true }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    await addLine(page, 'Unsaved.')
    const dialog = page.getByRole('dialog', { name: 'Discard your changes?' })
    const ways = [
      () => page.keyboard.press('Escape'),
      () => page.goBack(),
      () => page.getByRole('link', { name: 'Pins' }).click(),
      () => page.getByRole('main').getByRole('button', { name: 'Cancel' }).first().click(),
    ]
    for (const leave of ways) {
      await leave()
      await dialog.waitFor()
      await page.keyboard.press('Escape')
      await dialog.waitFor({ state: 'detached' })
      expect(new URL(page.url()).pathname).toBe(`/skills/${skill.id}/edit`)
      await editor(page).getByText('Unsaved.').waitFor()
    }
    // What is kept is not lost with the page, so the browser does not ask.
    await page.reload()
    await editor(page).getByText('Unsaved.').waitFor()
    await page.getByRole('link', { name: 'Pins' }).click()
    await dialog.getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('heading', { name: 'Pins', exact: true }).waitFor()
    expect(await versionsOf(person, skill)).toHaveLength(1)
    // The browser asks if it has no room to keep it.
    await page.evaluate(FILL_STORAGE)
    await page.goto(`${service.url}/skills/${skill.id}/edit`)
    await editor(page).waitFor()
    expect(await editor(page).getByText('Unsaved.').count()).toBe(0)
    await addLine(page, 'Too much.')
    const asked = page.waitForEvent('dialog')
    void page.reload().catch(() => undefined)
    expect((await asked).type()).toBe('beforeunload')
    await (await asked).dismiss()
  })

  it('shows both texts if somebody else was faster, and loses neither', async () => {
    const person = await addPerson(service)
    const other = await addPerson(service)
    const skill = await newSkill(person, 'One.', [{ filename: 'a.txt', content: 'a\n' }])
    const page = await open(person, `/skills/${skill.id}/edit`)
    await editor(page).waitFor()
    await addLine(page, 'Mine.')
    await update(other, skill, 'One.\nTheirs.', [{ filename: 'a.txt', content: 'theirs too\n' }], 'Be faster')
    expected = [REFUSED]
    await saveButton(page).click()
    await page.getByText('Somebody else has changed this skill.').waitFor()
    const note = page.getByRole('alert').filter({ hasText: 'Version 2 is current' })
    await expect.poll(() => note.textContent(), POLL).toContain(`Be faster, by ${other.name}`)
    expect(await note.textContent()).toContain('You have both changed SKILL.md.')
    await page.getByText('- Theirs.').waitFor()
    await page.getByText('+ Mine.').waitFor()
    await editor(page).getByText('Mine.', { exact: true }).waitFor()
    await page.getByRole('radio', { name: 'their text' }).check()
    await editor(page).getByText('Theirs.', { exact: true }).waitFor()
    await addLine(page, 'Continued.')
    await page.getByText('- Continued.').waitFor()
    await page.getByRole('radio', { name: 'your text' }).check()
    await editor(page).getByText('Mine.', { exact: true }).waitFor()
    expect(await editor(page).getByText('Continued.').count()).toBe(0)
    await page.getByRole('radio', { name: 'their text' }).check()
    await editor(page).getByText('Continued.').waitFor()
    await saveButton(page).click()
    await page.getByText('Saved. Agents get it from now on.').waitFor()
    expect((await readVersion(person, skill, 3)).files).toMatchObject([
      { content: `${entry(skill.name, 'One.\nTheirs.').content}Continued.` },
      // What only the other person changed stays theirs.
      { filename: 'a.txt', content: 'theirs too\n' },
    ])
  })

  it('joins the changes of different files, and saves only when it is asked to', async () => {
    const person = await addPerson(service)
    const skill = await newSkill(person, 'One.', [
      { filename: 'a.txt', content: 'a\n' },
      { filename: 'b.txt', content: 'b\n' },
    ])
    const page = await open(person, `/skills/${skill.id}/edit?file=b.txt`)
    await page.getByRole('textbox', { name: 'Text of b.txt' }).waitFor()
    await addLine(page, 'mine')
    // The other person changes one file and deletes the one that is edited here.
    await update(person, skill, 'One.', [{ filename: 'a.txt', content: 'theirs\n' }])
    expected = [REFUSED]
    await saveButton(page).click()
    await page.getByText('You have both changed b.txt.').waitFor()
    await page.getByText('1 file added').waitFor()
    expect(await versionsOf(person, skill)).toHaveLength(2)
    await saveButton(page).click()
    await page.getByText('Saved. Agents get it from now on.').waitFor()
    expect((await readVersion(person, skill, 3)).files).toMatchObject([
      { filename: 'SKILL.md' },
      { filename: 'a.txt', content: 'theirs\n' },
      { filename: 'b.txt', content: 'b\nmine' },
    ])
  })

  it('creates a skill, and shows what the service says is wrong', async () => {
    const person = await addPerson(service)
    const name = `skill-${randomUUID().slice(0, 8)}`
    const page = await open(person, '/skills')
    await page.getByRole('link', { name: 'New skill' }).click()
    await editor(page).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(`---\nname: Not A Name\ndescription: New.\n---\nText.\n`)
    expected = [REFUSED]
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('alert').getByText('SKILL.md, line 2: name has the wrong format').waitFor()
    await editor(page).getByText('name: Not A Name').waitFor()
    await editor(page).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(`---\nname: ${name}\ndescription: New.\n---\nText.\n`)
    await page.getByRole('button', { name: 'Create' }).click()
    await page.getByRole('heading', { name, exact: true }).waitFor()
    const { items } = await person.send<{ items: Skill[] }>('GET', `/v1/skills?name=${name}`)
    expect(page.url()).toBe(`${service.url}/skills/${items[0]?.id}`)
  })

  it('deletes a skill', async () => {
    const person = await addPerson(service)
    const { id, name } = await newSkill(person, 'One.')
    const page = await open(person, `/skills/${id}`)
    await page.getByRole('button', { name: `Actions for ${name}` }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText(`${name} deleted.`).waitFor()
    expect(new URL(page.url()).pathname).toBe('/skills')
    const found = async () => (await person.send<{ items: Skill[] }>('GET', `/v1/skills?name=${name}`)).items.length
    expect(await found()).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText(`${name} restored.`).waitFor()
    expect(await found()).toBe(1)
  })
})

/** What a person copies, without the address. */
const INSTALLATION = /^DO_NOT_TRACK=1 npx skills add /

describe('feeds', () => {
  it('are created with the command to install from them, and revoked', async () => {
    const person = await addPerson(service)
    const { name } = await newSkill(person, 'One.')
    const page = await open(person, '/skills')
    await page.getByRole('link', { name: 'Feeds' }).click()
    await page.getByRole('button', { name: 'New feed' }).click()
    const dialog = page.getByRole('dialog')
    const feedName = `Laptops ${name}`
    await dialog.getByLabel('Name').fill(feedName)
    await dialog.getByLabel('Only these').check()
    expect(await dialog.getByRole('button', { name: 'Create' }).isDisabled()).toBe(true)
    await dialog.getByLabel(name).check()
    await dialog.getByRole('button', { name: 'Create' }).click()
    const command = (await dialog.getByText(INSTALLATION).textContent()) ?? ''
    const url = command.replace(INSTALLATION, '')
    const index = () => fetch(`${url}/.well-known/agent-skills/index.json`)
    const { skills } = (await (await index()).json()) as { skills: Skill[] }
    expect(skills.map((skill) => skill.name)).toEqual([name])
    await dialog.getByRole('button', { name: 'Done' }).click()
    // It is shown once.
    expect(await page.content()).not.toContain(url)
    const row = page.getByRole('row').filter({ hasText: feedName })
    expect(await row.textContent()).toContain('with this sign-in')
    await row.getByRole('button', { name: `Revoke ${feedName}` }).click()
    await dialog.getByRole('button', { name: 'Revoke' }).click()
    await row.waitFor({ state: 'detached' })
    expect((await index()).status).toBe(404)
  })

  it('last as long as an API key that is entered', async () => {
    const person = await addPerson(service)
    const { name } = await newSkill(person, 'One.')
    const page = await open(person, '/skills/feeds')
    const dialog = page.getByRole('dialog')
    await page.getByRole('button', { name: 'New feed' }).click()
    await dialog.getByLabel('Name').fill(name)
    await dialog.getByLabel('With an API key').check()
    expected = [/status of 401/]
    await dialog.getByLabel('Your API key').fill('wsk_wrong')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('The API key that you entered').waitFor()
    expect(await dialog.getByLabel('Name').inputValue()).toBe(name)
    await dialog.getByLabel('Your API key').fill(person.apiKey)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText(INSTALLATION).waitFor()
    await dialog.getByRole('button', { name: 'Done' }).click()
    const { items } = await person.send<{ items: { name: string; apiKeyId: string }[] }>('GET', '/v1/skill-feeds')
    const { apiKey } = await person.send<{ apiKey: { id: string } }>('GET', '/v1/me')
    expect(items.find((feed) => feed.name === name)?.apiKeyId).toBe(apiKey.id)
  })
})

describe('what nobody should trust or wait for', () => {
  it('shows a hostile SKILL.md as text, and keeps misleading characters visible where they are edited', async () => {
    const person = await addPerson(service)
    const { id } = await newSkill(
      person,
      '# Hostile\n\n<script>window.ran = true</script>\n\n[run](javascript:window.ran=true) ![p](https://127.0.0.1:1/p.png) \u202edesrever',
    )
    const page = await open(person, `/skills/${id}`)
    await page.getByRole('heading', { name: 'Hostile' }).waitFor()
    await page.getByText('<script>window.ran = true</script>').waitFor()
    const links = await page
      .getByRole('article')
      .getByRole('link')
      .evaluateAll((all) => all.map(({ href }) => href))
    expect(links).toEqual(['https://127.0.0.1:1/p.png'])
    expect(await page.evaluate('document.body.innerText')).not.toContain('\u202e')
    await page.getByRole('link', { name: 'Edit' }).click()
    await editor(page).locator('.cm-specialChar').first().waitFor()
    expect(await page.evaluate('"ran" in window')).toBe(false)
  })

  it('opens, edits and compares a skill of 100 files and 1 MB', async ({ annotate }) => {
    const person = await addPerson(service)
    const files = (word: string) => [
      ...Array.from({ length: 98 }, (_, index) => ({ filename: `docs/${index}.md`, content: `${word} ${index}\n` })),
      { filename: 'large.txt', content: Array.from({ length: 90_000 }, (_, line) => `${word} ${line}\n`).join('') },
    ]
    const skill = await newSkill(person, 'One.', files('old'))
    await update(person, skill, 'Two.', files('new'))
    const page = await open(person, `/skills/${skill.id}?file=large.txt`)
    await page.addInitScript(OBSERVE)
    await page.reload()
    await page.getByText('new 0', { exact: true }).waitFor()
    await page.getByRole('link', { name: 'Edit' }).click()
    // The file that was shown.
    await page.getByRole('textbox', { name: 'Text of large.txt' }).waitFor()
    await addLine(page, 'end')
    await page.getByText('1 file changed').waitFor()
    await page.getByRole('button', { name: 'Review changes' }).click()
    await page.getByText('large.txt', { exact: true }).click()
    await page.getByText('+ end', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').getByRole('button', { name: 'Discard' }).click()
    await page.getByRole('link', { name: 'Changes' }).click()
    await page.getByText('100 files changed').waitFor()
    await page.getByText('large.txt', { exact: true }).click()
    const changes = page.getByRole('textbox', { name: 'Changes of large.txt' })
    await changes.getByText('- old 0', { exact: true }).waitFor()
    const { longest } = await page.evaluate<{ longest: number }>('window.state')
    await annotate(`The longest task took ${Math.round(longest)} ms.`)
  })
})

it('offers nothing that the key may not do', async () => {
  const author = await addPerson(service)
  const skill = await newSkill(author, 'One.')
  await update(author, skill, 'Two.')
  const reader = await addPerson(service, { without: ['skills:write', 'skill-feeds:write'] })
  const page = await open(reader, '/skills')
  await page.getByRole('link', { name: 'Feeds' }).waitFor()
  expect(await page.getByRole('link', { name: 'New skill' }).count()).toBe(0)
  for (const view of ['', '?version=1', '?view=versions']) {
    await page.goto(`${service.url}/skills/${skill.id}${view}`)
    await page.getByRole('link', { name: 'Download' }).waitFor()
    await idle(page)
    for (const name of [/Publish/, /Actions/]) expect(await page.getByRole('button', { name }).count()).toBe(0)
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  }
  await page.goto(`${service.url}/skills/${skill.id}/edit`)
  await page.getByText('This session may not change skills.').waitFor()
  await page.goto(`${service.url}/skills/feeds`)
  await page.getByRole('table').waitFor()
  for (const name of [/New feed/, /Revoke/]) expect(await page.getByRole('button', { name }).count()).toBe(0)
})

it.each(LOOKS)('has no accessibility problem that axe finds, $colorScheme at $viewport.width pixels', async (look) => {
  const person = await addPerson(service)
  const skill = await newSkill(person, '# One\n\n- a\n', [{ filename: 'run.sh', content: 'true\n' }])
  await update(person, skill, '# Two', [{ filename: 'new.sh', content: 'true\n' }], 'A long message '.repeat(10))
  const page = await open(person, '/skills', look)
  const { id } = skill
  const paths = [
    '/skills',
    `/skills/${id}`,
    `/skills/${id}?view=files`,
    `/skills/${id}?version=1&file=run.sh`,
    `/skills/${id}?view=versions`,
    `/skills/${id}?from=1&to=2`,
    '/skills/new',
    '/skills/feeds',
    `/skills/${id}/edit`,
  ]
  for (const path of paths) {
    await page.goto(`${service.url}${path}`)
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor()
    await idle(page)
    await expectAccessible(page)
  }
  await editor(page).waitFor()
  await addLine(page, 'Mine.')
  await update(person, skill, 'Theirs.')
  expected = [REFUSED]
  await saveButton(page).click()
  await page.getByText('Somebody else has changed this skill.').waitFor()
  await idle(page)
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await page.getByRole('dialog').waitFor()
  await expectAccessible(page)
})
