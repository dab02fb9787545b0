/** Whether people with assistive technology can use a page: axe finds a part of what would stop them. */
import AxeBuilder from '@axe-core/playwright'
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** Light and dark on a desktop, and on a phone. */
export const LOOKS = [
  { colorScheme: 'light', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'dark', viewport: { width: 1280, height: 800 } },
  { colorScheme: 'light', viewport: { width: 390, height: 844 } },
] as const

/** The elements that make a page wider than the window. */
const TOO_WIDE = `document.documentElement.scrollWidth <= innerWidth ? [] : Array.from(document.body.querySelectorAll('*'))
  .filter((element) => element.getBoundingClientRect().right > innerWidth)
  .map((element) => element.outerHTML.slice(0, 200))`

/** Also: nothing is wider than the window, once what the page loads is there. */
export async function expectAccessible(page: Page): Promise<void> {
  // Only for the frames of a page, axe needs a second page, in which it joins their results.
  const { violations } = await new AxeBuilder({ page }).setLegacyMode(page.frames().length === 1).analyze()
  const problems = violations.map(({ id, nodes }) => [id, ...nodes.map(({ html }) => html)])
  expect(problems, page.url()).toEqual([])
  await expect.poll(() => page.evaluate(TOO_WIDE)).toEqual([])
}
