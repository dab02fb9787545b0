/** Takes docs/reference.png, the screenshot of the reference page. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../../operate/wrangler.ts'
import { launchChromium, newPage } from '../../test/browser/chromium.ts'
import { enterKey, openOperation } from '../../test/browser/reference.ts'
import { newFolder, readDemo, startDevServer, stopDevServer } from '../../test/support/dev-server.ts'
import { describeScript, parsed } from '../command-line.ts'

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
