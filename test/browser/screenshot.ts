/** Takes the pictures of docs/: the reference page, and pages of the console. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { FLAKY_TEST_ID } from '../../scripts/dev/demo-week.ts'
import { EXAMPLE_IDS } from '../../src/http/example-ids.ts'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../support/commands.ts'
import { newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { launchChromium, newPage } from './chromium.ts'
import { signedIn } from './console.ts'
import { withPalette } from './palette.ts'
import { enterKey, openOperation } from './reference.ts'

parsed(
  describeScript(
    'generate screenshots',
    'Takes the pictures of docs/: the reference page, and pages of the console. Needs Chromium, as `npm run test:slow` does.',
    [''],
  ),
)

const OPERATION = { tag: 'Skills', summary: 'Retrieve a skill' }
/** The screenshot shows the port. */
const PORT = 8787
const CONSOLE_PORT = 8788
/** Low, because each picture is part of every clone. */
const CONSOLE_VIEW = {
  viewport: { width: 1024, height: 640 },
  locale: 'en-GB',
  timezoneId: 'Europe/Paris',
}
/** The pages of the console, in the order of its navigation. */
const CONSOLE_PAGES: Readonly<Record<string, string>> = {
  today: '/',
  schedules: '/schedules',
  runs: '/runs',
  pins: '/pins',
  sessions: `/sessions/${FLAKY_TEST_ID}`,
  skills: `/skills/${EXAMPLE_IDS.skillId}?from=3&to=5`,
  activity: '/activity',
  variables: `/variables?project=${EXAMPLE_IDS.projectId}`,
  keys: '/keys',
  people: '/people',
  endpoints: '/endpoints',
  deleted: '/deleted',
}
const DARK = ['skills', 'activity']

async function takePicture(page: Page, name: string): Promise<void> {
  const png = await page.screenshot({ animations: 'disabled', caret: 'hide' })
  writeFileSync(join(ROOT, 'docs', `${name}.png`), withPalette(png))
}

const state = newFolder()
const service = await startDevServer(state, PORT, '--console-port', String(CONSOLE_PORT))
const browser = await launchChromium()
try {
  const demo = readDemo(state)
  const { page } = await newPage(browser)
  await page.goto(`${demo.baseUrl}/docs`)
  await enterKey(page, demo.apiKey)
  await openOperation(page, OPERATION)
  await page.getByRole('heading', { name: OPERATION.summary }).scrollIntoViewIfNeeded()
  await takePicture(page, 'reference')
  const console = { url: `http://localhost:${CONSOLE_PORT}`, apiKey: demo.apiKey }
  const signed = await signedIn(browser, console, '/', CONSOLE_VIEW)
  for (const [name, path] of Object.entries(CONSOLE_PAGES)) {
    await signed.page.emulateMedia({ colorScheme: DARK.includes(name) ? 'dark' : 'light' })
    await signed.page.goto(`${console.url}${path}`)
    if (name === 'sessions') await signed.page.getByRole('treeitem', { name: 'report.md' }).click()
    await signed.page.waitForLoadState('networkidle')
    await takePicture(signed.page, `console-${name}`)
  }
} finally {
  await browser.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
}
