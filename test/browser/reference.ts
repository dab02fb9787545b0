/** What a reader does on the reference page. */
import type { Locator, Page } from 'playwright-core'

/** An operation, as the page names it. */
export interface Entry {
  readonly tag: string
  readonly summary: string
  readonly method: string
  readonly path: string
}

export async function enterKey(page: Page, apiKey: string): Promise<void> {
  await page.getByPlaceholder('Token').fill(apiKey)
}

/** Until the page is loaded again. Each frame of an animation computes styles, which takes half of the time. */
export async function stopAnimations(page: Page): Promise<void> {
  await page.addStyleTag({
    content: '*, ::before, ::after { animation: none !important; transition: none !important; }',
  })
}

/** Goes to an operation by the sidebar. */
export async function openOperation(page: Page, { tag, summary }: Pick<Entry, 'tag' | 'summary'>): Promise<void> {
  const sidebar = page.getByRole('complementary')
  // An operation may be in two groups.
  const inGroup = page.locator(`[href^="#tag/${tag.toLowerCase().replaceAll(' ', '-')}/"]`)
  const link = sidebar.getByRole('link', { name: `${summary} HTTP Method` }).and(inGroup)
  await openGroups(sidebar, tag)
  await link.click()
}

/** Opens the groups of the sidebar: one, or all. */
export async function openGroups(sidebar: Locator, tag = ''): Promise<void> {
  const closed = sidebar.getByRole('button', { name: `Open Group - ${tag}` })
  await sidebar
    .getByRole('button', { name: `Group - ${tag}` })
    .first()
    .waitFor()
  while ((await closed.count()) > 0) await closed.first().click()
}

/** Closes a group of the sidebar: the page gets slower with each that is open. */
export async function closeGroup(sidebar: Locator, tag: string): Promise<void> {
  await sidebar
    .getByRole('button', { name: `Close Group - ${tag}` })
    .first()
    .click()
}

/** Tries an operation, with these parameters of its path. @returns what the page shows of the response. */
export async function tryOperation(
  page: Page,
  entry: Entry,
  parameters: Readonly<Record<string, string>>,
): Promise<Locator> {
  const dialog = await openRequest(page, entry)
  for (const [name, value] of Object.entries(parameters)) {
    const row = dialog.getByRole('row', { name: `Include ${name} in request` })
    await row.getByRole('combobox', { name: 'Value' }).fill(value)
  }
  return sendRequest(dialog)
}

/** Opens the request of an operation, with what the page fills in. */
export async function openRequest(page: Page, entry: Entry): Promise<Locator> {
  await openOperation(page, entry)
  await page.getByRole('button', { name: `(${entry.method} ${entry.path})` }).click()
  return page.getByRole('dialog')
}

/** @returns what the page shows of the response. */
export async function sendRequest(dialog: Locator): Promise<Locator> {
  await dialog.getByRole('button', { name: /^Send \w+ request/ }).click()
  return dialog.getByRole('region', { name: 'Response', exact: true })
}
