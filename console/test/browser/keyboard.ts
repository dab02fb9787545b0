/** What people do without a mouse. */
import type { Locator, Page } from 'playwright-core'
import { expect } from 'vitest'

export const isFocused = (target: Locator) =>
  target.evaluate((element) => element === element.ownerDocument.activeElement)

/** Presses Tab until something has the focus. */
export async function tabTo(page: Page, target: Locator): Promise<void> {
  for (let presses = 0; presses < 80; presses++) {
    if (await isFocused(target)) return
    await page.keyboard.press('Tab')
  }
  throw new Error('Tab does not reach it')
}

/** Opens a menu and chooses from it. @returns its button. */
export async function chooseByKeyboard(page: Page, menu: string, label: string): Promise<Locator> {
  const button = page.getByRole('button', { name: menu, exact: true })
  const item = page.getByRole('menuitem', { name: label, exact: true })
  await tabTo(page, button)
  await page.keyboard.press('Enter')
  await item.waitFor()
  await expect.poll(() => isFocused(page.locator('[role=menuitem]:visible').first())).toBe(true)
  while (!(await isFocused(item))) await page.keyboard.press('ArrowDown')
  await page.keyboard.press('Enter')
  return button
}
