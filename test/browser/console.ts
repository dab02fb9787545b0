/** The console in Chromium, signed in. A test fails if a page complains, breaks a policy or asks another origin. */
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { expect } from 'vitest'
import { newPage } from './chromium.ts'

export interface SignedIn {
  readonly page: Page
  /** What Chromium and the pages have complained about, and requests to other origins. */
  problems(): string[]
  close(): Promise<void>
}

/** Opens a page of the console as a person does: by the sign-in page. */
export async function signedIn(
  browser: Browser,
  { url, apiKey }: { readonly url: string; readonly apiKey: string },
  path = '/',
  options: BrowserContextOptions = {},
): Promise<SignedIn> {
  const { page, complaints, requested } = await newPage(browser, options)
  await page.goto(`${url}/sign-in?next=${encodeURIComponent(path)}`)
  await page.getByLabel('API key').fill(apiKey)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.locator('nav').first().waitFor({ state: 'attached' })
  const problems = () => [
    ...complaints,
    ...requested.filter((each) => !each.startsWith(`${url}/`) && !each.startsWith(`blob:${url}/`)),
  ]
  return { page, problems, close: () => page.context().close() }
}

/** For the end of a test. A refused request is a complaint of Chromium's; a test names those that it expects. */
export function expectQuiet({ problems }: SignedIn, expected: readonly RegExp[] = []): void {
  expect(problems().filter((problem) => !expected.some((each) => each.test(problem)))).toEqual([])
}
