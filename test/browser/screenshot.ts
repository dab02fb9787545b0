/** Takes docs/reference.png, the screenshot of the reference page. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeScript, parsed } from '../../operate/command-line.ts'
import { ROOT } from '../support/commands.ts'
import { newFolder, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { launchChromium, newPage } from './chromium.ts'
import { enterKey, openOperation } from './reference.ts'

parsed(
  describeScript(
    'docs:screenshot',
    'Takes docs/reference.png, the screenshot of the reference page. Needs Chromium, as `npm run test:slow` does.',
    [''],
  ),
)

const OPERATION = { tag: 'Skills', summary: 'Retrieve a skill' }
/** The screenshot shows the port. */
const PORT = 8787
const PICTURE = join(ROOT, 'docs', 'reference.png')

const state = newFolder()
const service = await startDevServer(state, PORT)
const browser = await launchChromium()
try {
  const demo = readDemo(state)
  const { page } = await newPage(browser)
  await page.goto(`${demo.baseUrl}/docs`)
  await enterKey(page, demo.apiKey)
  await openOperation(page, OPERATION)
  await page.getByRole('heading', { name: OPERATION.summary }).scrollIntoViewIfNeeded()
  await page.screenshot({ path: PICTURE, animations: 'disabled', caret: 'hide' })
} finally {
  await browser.close()
  await stopDevServer(service)
  rmSync(state, { recursive: true })
}
