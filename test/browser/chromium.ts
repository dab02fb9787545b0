/** The Chromium of this machine, and its pages with what they report. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/**
 * Without the pages of the address bar's suggestions, which take more time than the page of most tests. The rest is
 * what Playwright disables, which this switch replaces.
 */
const DISABLED_FEATURES = [
  'WebUIOmniboxPopup',
  'WebUIOmniboxAimPopup',
  'WebUIOmniboxFullPopup',
  'AimEnabled',
  'AvoidUnnecessaryBeforeUnloadCheckSync',
  'DestroyProfileOnBrowserClose',
  'HttpsFirstBalancedModeAutoEnable',
  'HttpsUpgrades',
  'LensOverlay',
  'MediaRouter',
  'NetworkTimeServiceQuerying',
  'OptimizationHints',
  'PaintHolding',
  'PreconnectToSearch',
  'ThirdPartyStoragePartitioning',
]

/**
 * @param args further arguments.
 * @throws if there is none: `CHROMIUM` names it, where it is not at its place in Debian.
 */
export function launchChromium(args: string[] = []): Promise<Browser> {
  return chromium.launch({
    args: [`--disable-features=${DISABLED_FEATURES}`, ...args],
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    // Chromium refuses to be sandboxed as root.
    chromiumSandbox: process.getuid?.() !== 0,
  })
}

export interface Observed {
  readonly page: Page
  /** Errors and warnings of the console, and exceptions. */
  readonly complaints: string[]
  /** The URLs of everything that the page asked for. */
  readonly requested: string[]
}

/** An empty page, with a storage of its own. */
export async function newPage(browser: Browser, options: BrowserContextOptions = {}): Promise<Observed> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  // Fails if the whole browser is closed, which closes the context anyway.
  page.on('close', () => context.close().catch(() => undefined))
  const complaints: string[] = []
  const requested: string[] = []
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
  })
  page.on('pageerror', ({ message }) => complaints.push(message))
  page.on('request', (request) => requested.push(request.url()))
  return { page, complaints, requested }
}
