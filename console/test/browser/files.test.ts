/**
 * Sessions and their files, as people use them, and files of agents that nobody should trust.
 * @module-tag slow
 */
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Server } from 'node:net'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { launchChromium } from '../../../test/browser/chromium.ts'
import { expectQuiet, type SignedIn, signedIn } from '../../../test/browser/console.ts'
import { type Console, startConsole } from '../console.ts'
import { expectAccessible } from './axe.ts'
import { type HostileFile, hostileFiles } from './hostile.ts'
import { choose, press } from './keyboard.ts'

/** On a busy machine, pages take longer than the second that is the default. */
const POLL = { timeout: 30_000 }

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

async function call<Data>(method: string, path: string, body?: string | Buffer, contentType = 'application/json') {
  const { baseUrl, apiKey } = service.demo
  const headers = { Authorization: `Bearer ${apiKey}`, 'Content-Type': contentType }
  const response = await fetch(baseUrl + path, { method, headers, ...(body !== undefined && { body }) })
  expect([method, path.slice(0, 100), response.ok]).toEqual([method, path.slice(0, 100), true])
  return (await response.json()) as Data
}

/** A new session with these files. @returns its ID, and those of the files by path. */
async function newSession(name: string, files: readonly HostileFile[] = []) {
  const sessionId = crypto.randomUUID()
  await call('PUT', `/v1/sessions/${sessionId}`, JSON.stringify({ projectId: service.demo.projectId, name }))
  const fileIds: Record<string, string> = {}
  for (const { path, content, contentType } of files) {
    const target = `/v1/sessions/${sessionId}/files?path=${encodeURIComponent(path)}`
    fileIds[path] = (await call<{ id: string }>('PUT', target, content, contentType)).id
  }
  return { sessionId, fileIds }
}

const file = (path: string, content: string | Buffer, contentType = 'application/octet-stream') => ({
  path,
  content,
  contentType,
})

/** A picture of one pixel. */
const PIXEL = Buffer.from('R0lGODlhAQABAPAAAP8AAP///yH5BAAAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')
const LINES = Array.from({ length: 100_000 }, (_, index) => `line ${index}`).join('\n')

const FILES = [
  file('docs/README.md', '# The report\n\nSee [the *plan*](plan.md#next).\n'),
  file('docs/plan.md', '# The plan\n\n- [x] first\n'),
  file('data/list.json', '{"total":12345678901234567890,"none":[]}'),
  file('pixel.gif', PIXEL),
  file(
    'drawing.svg',
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>',
  ),
  file('page.html', '<h1>Rendered</h1>'),
  file('build.log', LINES),
  file('tool.bin', Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 3])),
  file('empty.txt', ''),
]

const NATURAL_WIDTH = (image: unknown) => (image as { readonly naturalWidth: number }).naturalWidth

/** What a person drops, as a script. */
const DROPPED = `(() => {
  const data = new DataTransfer()
  data.items.add(new File(['dropped'], 'c.txt', { type: 'text/plain' }))
  return data
})()`

describe('sessions and files', () => {
  let opened: SignedIn | undefined

  /** Opens a page of the console, signed in with a key that may do everything. */
  async function open(path: string, options: BrowserContextOptions = {}, apiKey: string = service.demo.apiKey) {
    opened = await signedIn(browser, { url: service.url, apiKey }, path, options)
    return opened.page
  }
  afterEach(async () => {
    if (opened) expectQuiet(opened)
    await opened?.close()
    opened = undefined
  })

  it('lists sessions, the latest first, by name and project', async () => {
    await newSession('An earlier one')
    await newSession('A later one')
    const page = await open('/sessions')
    const names = page.getByRole('table').getByRole('link')
    await names.first().waitFor()
    expect((await names.allTextContents()).slice(0, 2)).toEqual(['A later one', 'An earlier one'])
    await page.keyboard.press('/')
    await page.keyboard.type('earlier')
    await expect.poll(() => names.allTextContents(), POLL).toEqual(['An earlier one'])
    // The list has been filtered by fewer letters before.
    await expect.poll(() => new URL(page.url()).searchParams.get('q'), POLL).toBe('earlier')
    await page.getByLabel('Project').selectOption('Mobile app')
    await page.getByRole('link', { name: 'Show all sessions' }).click()
    await expect.poll(() => names.count(), POLL).toBeGreaterThan(1)
    await page.getByRole('link', { name: 'A later one' }).click()
    await page.getByRole('heading', { name: 'A later one', level: 1 }).waitFor()
    await page.getByText('No files yet').waitFor()
  })

  it('opens a file by keyboard alone', async () => {
    const { sessionId, fileIds } = await newSession('Keys', FILES)
    const page = await open(`/sessions/${sessionId}`)
    const tree = page.getByRole('tree')
    await tree.waitFor()
    await page.keyboard.press('/')
    await page.keyboard.press('Tab')
    expect(await page.locator('[role=tree]:focus').count()).toBe(1)
    const active = () => tree.locator('[data-active=true]').textContent()
    expect(await active()).toBe('data')
    await page.keyboard.press('ArrowLeft')
    await expect.poll(() => tree.getByText('list.json').count(), POLL).toBe(0)
    await page.keyboard.press('ArrowDown')
    expect(await active()).toBe('docs')
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('ArrowDown')
    expect(await active()).toBe('README.md')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'The report' }).waitFor()
    expect(new URL(page.url()).searchParams.get('file')).toBe(fileIds['docs/README.md'])
    await page.keyboard.press('End')
    await page.keyboard.press('Enter')
    await page.getByText('This file is not text').waitFor()
    await page.goBack()
    await page.getByRole('heading', { name: 'The report' }).waitFor()
  })

  it('shows files of each kind', async () => {
    const { sessionId } = await newSession('Kinds', FILES)
    const page = await open(`/sessions/${sessionId}`)
    const article = page.getByRole('article')
    const openFile = (name: string) => page.getByRole('treeitem', { name, exact: true }).click()

    await openFile('README.md')
    await article.getByRole('link', { name: 'the plan' }).click()
    await article.getByRole('heading', { name: 'The plan' }).waitFor()
    expect(await article.getByRole('checkbox', { name: 'done' }).isChecked()).toBe(true)

    await openFile('list.json')
    await article.getByText('"total": 12345678901234567890,').waitFor()
    await article.getByRole('button', { name: 'Source' }).click()
    await article.getByText('{"total":12345678901234567890,"none":[]}').waitFor()

    for (const [name, width] of [
      ['pixel.gif', 1],
      ['drawing.svg', 9],
    ] as const) {
      await openFile(name)
      const picture = article.getByRole('img', { name })
      await expect.poll(() => picture.evaluate(NATURAL_WIDTH), POLL).toBe(width)
    }

    await openFile('page.html')
    await article.getByText('<h1>Rendered</h1>').waitFor()
    await article.getByRole('button', { name: 'Render' }).click()
    await page.frameLocator('iframe').getByRole('heading', { name: 'Rendered' }).waitFor()

    await openFile('empty.txt')
    await article.getByText('The file is empty').waitFor()
  })

  it('reads a large text by ranges, from both ends', async () => {
    const { sessionId, fileIds } = await newSession('Large', FILES)
    const page = await open(`/sessions/${sessionId}?file=${fileIds['build.log']}`)
    await page.getByText('The first 262 KB of 1.1 MB.').waitFor()
    const ranges: (string | undefined)[] = []
    page.on('request', (request) => {
      if (request.url().endsWith('/content')) ranges.push(request.headers().range)
    })
    await page.reload()
    await page.getByText('The first 262 KB of 1.1 MB.').waitFor()
    await page.getByText('line 0', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('The first 524 KB of 1.1 MB.').waitFor()
    await page.getByRole('button', { name: 'Show the end' }).click()
    await page.getByText('The last 262 KB of 1.1 MB.').waitFor()
    const { length } = LINES
    expect(ranges).toEqual(['bytes=0-262143', 'bytes=262144-524287', `bytes=${length - 262_144}-${length - 1}`])
    await page.getByRole('textbox', { name: 'build.log' }).press('Control+End')
    for (const _ of [1, 2, 3]) await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('All of 1.1 MB.').waitFor()
  })

  it('uploads files, and asks before it replaces one', async () => {
    const { sessionId } = await newSession('Upload', [file('notes/a.txt', 'old', 'text/plain')])
    const page = await open(`/sessions/${sessionId}`)
    const text = (name: string, content: string) => ({ name, mimeType: 'text/plain', buffer: Buffer.from(content) })
    await page.getByLabel('Files to upload').setInputFiles([text('a.txt', 'new'), text('b.txt', 'second')])
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('button', { name: 'Upload', exact: true }).waitFor()
    await dialog.getByLabel('Folder').fill('notes')
    await dialog.getByText('replaces a file').waitFor()
    await dialog.getByRole('button', { name: 'Upload and replace 1' }).click()
    await page.getByText('Uploaded 2 files, of which 1 replaced another.').waitFor()
    await page.getByRole('treeitem', { name: 'a.txt' }).click()
    await page.getByText('new', { exact: true }).waitFor()

    const transfer = await page.evaluateHandle(DROPPED)
    await page.getByRole('region', { name: 'Files of the session' }).dispatchEvent('drop', { dataTransfer: transfer })
    await dialog.getByText('notes/c.txt').waitFor()
    await dialog.getByRole('button', { name: 'Upload' }).click()
    await page.getByRole('treeitem', { name: 'c.txt' }).click()
    await page.getByText('dropped', { exact: true }).waitFor()
  })

  it('downloads a file, and deletes it', async () => {
    const bytes = Buffer.from([0, 255, 1, 254])
    const { sessionId } = await newSession('Download', [file('a.bin', bytes)])
    const page = await open(`/sessions/${sessionId}`)
    await page.getByRole('treeitem', { name: 'a.bin' }).click()
    const downloading = page.waitForEvent('download')
    await page.getByRole('link', { name: 'Download' }).click()
    const download = await downloading
    expect(download.suggestedFilename()).toBe('a.bin')
    expect(readFileSync(await download.path())).toEqual(bytes)

    await page.getByRole('button', { name: 'Actions for a.bin' }).click()
    await page.getByRole('menuitem', { name: 'Delete' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click()
    await page.getByText('No files yet').waitFor()
    expect(await call('GET', `/v1/sessions/${sessionId}/files`)).toEqual({ items: [], nextCursor: null })
  })

  it('deletes a session after a question, and brings it back with its files', async () => {
    const { sessionId } = await newSession('Delete me', [file('a.txt', 'text')])
    const page = await open(`/sessions/${sessionId}`)
    await page.getByRole('treeitem', { name: 'a.txt' }).waitFor()
    await choose(page, 'Actions for Delete me', 'Delete')
    await press(page, page.getByRole('dialog', { name: 'Delete Delete me?' }).getByRole('button', { name: 'Delete' }))
    await page.getByText('Delete me deleted.').waitFor()
    expect(new URL(page.url()).pathname).toBe('/sessions')
    await expect.poll(() => page.getByRole('link', { name: 'Delete me' }).count(), POLL).toBe(0)
    await page.getByRole('button', { name: 'Undo' }).click()
    await page.getByText('Delete me restored.').waitFor()
    await page.getByRole('link', { name: 'Delete me' }).click()
    await page.getByRole('treeitem', { name: 'a.txt' }).waitFor()
  })

  it('pins a session', async () => {
    const { sessionId } = await newSession('Pin me')
    const page = await open(`/sessions/${sessionId}`)
    await page.getByRole('button', { name: 'Pin', exact: true }).click()
    await page.getByRole('button', { name: 'Unpin' }).waitFor()
    const pins = await call<{ items: { resourceId: string }[] }>('GET', '/v1/pins')
    expect(pins.items.map(({ resourceId }) => resourceId)).toContain(sessionId)
    await page.getByRole('button', { name: 'Unpin' }).click()
    await page.getByRole('button', { name: 'Pin', exact: true }).waitFor()
  })

  it('offers nothing that the key may not do', async () => {
    const { sessionId, fileIds } = await newSession('Read only', [file('a.txt', 'text')])
    const scopes = ['sessions:read', 'session-files:read', 'projects:read']
    const { token } = await call<{ token: string }>(
      'POST',
      '/v1/api-keys',
      JSON.stringify({ name: 'reader', scopes, projectIds: [service.demo.projectId] }),
    )
    const page = await open('/sessions', {}, token)
    await page.getByRole('link', { name: 'Read only' }).waitFor()
    expect(await page.getByLabel('Project').inputValue()).toBe(service.demo.projectId)
    await page.goto(`${service.url}/sessions/${sessionId}?file=${fileIds['a.txt']}`)
    await page.getByRole('link', { name: 'Download' }).waitFor()
    for (const name of [/Pin/, /Upload/, /Actions/]) expect(await page.getByRole('button', { name }).count()).toBe(0)
  })

  it.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
  ] as const)('has no accessibility problem that axe finds, %s at %s pixels', async (colorScheme, width) => {
    const { sessionId, fileIds } = await newSession('Axe', FILES)
    const page = await open('/sessions', { colorScheme })
    await page.setViewportSize({ width, height: 800 })
    const expectAccessibleOnceLoaded = async () => {
      await expect.poll(() => page.locator('[aria-busy=true]').count(), POLL).toBe(0)
      await expectAccessible(page)
    }
    await page.getByRole('link', { name: 'Axe' }).first().waitFor()
    await expectAccessibleOnceLoaded()
    await page.goto(`${service.url}/sessions/${sessionId}`)
    await page.getByRole('tree').waitFor()
    await expectAccessibleOnceLoaded()
    for (const path of ['docs/README.md', 'data/list.json', 'pixel.gif', 'build.log', 'tool.bin']) {
      await page.goto(`${service.url}/sessions/${sessionId}?file=${fileIds[path]}`)
      await page.getByRole('heading', { name: path }).waitFor()
      await expectAccessibleOnceLoaded()
    }
    await page.getByLabel('Files to upload').setInputFiles({ name: 'a.txt', mimeType: 'text/plain', buffer: PIXEL })
    await page.getByRole('dialog').waitFor()
    await expectAccessibleOnceLoaded()
  })
})

/** What Chromium writes of a rendered file whose scripts and requests it refuses. */
const REFUSED_IN_FRAME =
  /sandboxed|"?(default-src|style-src|img-src) ('none'|'unsafe-inline'|data:)|directive 'default-src|Unsafe attempt to/

/** Characters that hide, or change what is read. */
const MISLEADING = /[[\p{Cc}\p{Bidi_Control}\u200b\ufeff]--[\n\t]]/v

/** A script that observes the page, but not its frame. */
const OBSERVE = `{
  const state = { violations: [], longest: 0 }
  window.state = state
  document.addEventListener('securitypolicyviolation', (event) => state.violations.push(event.violatedDirective))
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) state.longest = Math.max(state.longest, duration)
  }).observe({ type: 'longtask' })
}`

const STATE = `({
  ...window.state,
  ran: 'ran' in window,
  title: document.title,
  links: Array.from(document.querySelectorAll('article a'), ({ href }) => href),
  text: document.body.innerText,
})`

interface State {
  readonly violations: readonly string[]
  /** The longest task of more than 50 ms. */
  readonly longest: number
  readonly links: readonly string[]
  readonly text: string
}

describe('files that agents should not have written', () => {
  const paths = hostileFiles('http://127.0.0.1:1').map(({ path }) => path)
  let listener: Server
  let connections = 0
  let session: Awaited<ReturnType<typeof newSession>>
  let signed: SignedIn
  let page: Page
  const alarms: string[] = []

  beforeAll(async () => {
    listener = createServer((socket) => {
      connections += 1
      socket.destroy()
    }).listen(0, '127.0.0.1')
    await new Promise((resolve) => listener.on('listening', resolve))
    const elsewhere = `http://127.0.0.1:${(listener.address() as AddressInfo).port}`
    session = await newSession('Hostile', hostileFiles(elsewhere))
    signed = await signedIn(browser, { url: service.url, apiKey: service.demo.apiKey }, '/sessions')
    page = signed.page
    page.on('dialog', async (dialog) => {
      alarms.push(`dialog: ${dialog.message()}`)
      await dialog.dismiss()
    })
    page.on('popup', () => alarms.push('popup'))
    page.on('download', () => alarms.push('download'))
    await page.addInitScript(OBSERVE)
  })
  afterAll(() => listener.close())
  beforeEach(() => {
    connections = 0
    alarms.length = 0
  })

  it.for(paths)('%j', async (path, { annotate }) => {
    const before = signed.problems().length
    const address = `${service.url}/sessions/${session.sessionId}?file=${session.fileIds[path]}`
    await page.goto(address)
    const article = page.getByRole('article')
    await article.waitFor()
    await expect.poll(() => article.locator('[aria-busy=true]').count(), POLL).toBe(0)
    const render = article.getByRole('button', { name: 'Render' })
    const isRendered = (await render.count()) > 0
    if (isRendered) await renderAndClick()
    const more = article.getByRole('button', { name: 'Show more' })
    if (await more.count()) await more.click()
    // What would connect or run needs a moment.
    await page.waitForTimeout(700)

    const state = await page.evaluate<State>(STATE)
    await annotate(`The longest task took ${Math.round(state.longest)} ms.`)
    expect(connections).toBe(0)
    expect(alarms).toEqual([])
    expect(page.url()).toBe(address)
    expect(state).toMatchObject({ violations: [], ran: false, title: 'Hostile · Workspace' })
    for (const link of state.links) expect(link).toMatch(new RegExp(`^(https:|mailto:|${service.url}/)`))
    expect(state.text).not.toMatch(MISLEADING)
    const problems = signed.problems().slice(before)
    expect(isRendered ? problems.filter((each) => !isOfFrame(each)) : problems).toEqual([])
  })

  /** A person renders the page, and uses what it has. */
  async function renderAndClick(): Promise<void> {
    await page.getByRole('button', { name: 'Render' }).click()
    const frame = page.frameLocator('iframe')
    await frame.locator('html').waitFor()
    for (const id of ['out', 'send']) {
      const element = frame.locator(`#${id}`).last()
      if (await element.isVisible()) await element.click()
    }
  }

  /** The page of the console asks for nothing elsewhere; what its frame asks for is refused before it leaves. */
  function isOfFrame(problem: string): boolean {
    return REFUSED_IN_FRAME.test(problem) || problem.startsWith('http://127.0.0.1:')
  }

  it('draws a picture of a billion copies on demand only', async () => {
    await page.goto(`${service.url}/sessions/${session.sessionId}?file=${session.fileIds['freeze/uses.svg']}`)
    await page.getByText('This picture could keep the browser busy').waitFor()
    expect(await page.getByRole('article').getByRole('img').count()).toBe(0)
  })
})
