/** What people do by keyboard alone. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export const isFocused = (target: Locator) =>
  target.evaluate((element) => element === element.ownerDocument.activeElement)

/** Presses Tab until something has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 150; presses++) {
    if (await isFocused(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('Tab does not reach it')
}

/** Moves the focus to a button, and presses it. */
export async function press(page: Page, target: Locator): Promise<void> {
  await target.waitFor()
  await tabTo(page, target)
  await page.keyboard.press('Enter')
}

/** Opens a menu and chooses from it. @returns its button. */
export async function choose(page: Page, menu: string, label: string): Promise<Locator> {
  const button = page.getByRole('button', { name: menu, exact: true })
  const item = page.getByRole('menuitem', { name: label, exact: true })
  await press(page, button)
  await item.waitFor()
  await expect.poll(() => page.evaluate('document.activeElement.role')).toBe('menuitem')
  while (!(await isFocused(item))) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  return button
}
