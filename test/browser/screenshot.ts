/** Takes the pictures of docs/: the reference page, and pages of the console. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeScript, parsed } from '../../operate/command-line.ts'
import { ROOT } from '../support/commands.ts'
import { newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { launchChromium, newPage } from './chromium.ts'
import { signedIn } from './console.ts'
import { enterKey, openOperation } from './reference.ts'

parsed(
  describeScript(
    'docs:screenshot',
    'Takes the pictures of docs/: the reference page, and pages of the console. Needs Chromium, as `npm run test:slow` does.',
    [''],
  ),
)

const OPERATION = { tag: 'Skills', summary: 'Retrieve a skill' }
/** The screenshot shows the port. */
const PORT = 8787
const CONSOLE_PORT = 8788
const CONSOLE_PAGES = { today: '/', schedules: '/schedules' }

const pictureOf = (name: string) => ({
  path: join(ROOT, 'docs', `${name}.png`),
  animations: 'disabled' as const,
  caret: 'hide' as const,
})

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
  await page.screenshot(pictureOf('reference'))
  const console = { url: `http://localhost:${CONSOLE_PORT}`, apiKey: demo.apiKey }
  const signed = await signedIn(browser, console)
  for (const [name, path] of Object.entries(CONSOLE_PAGES)) {
    await signed.page.goto(`${console.url}${path}`)
    await signed.page.waitForLoadState('networkidle')
    await signed.page.screenshot(pictureOf(`console-${name}`))
  }
} finally {
  await browser.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
}
