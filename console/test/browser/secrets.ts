/** Whether a page keeps a text: it must not keep the tokens and secrets that it has shown. */
import type { Page } from 'playwright-core'
import { expect } from 'vitest'

/** What a page could keep it in, as an expression of the page. The client of the queries is a property of a component. */
const KEPT = `(async () => {
  const root = document.querySelector('#root')
  const key = Object.keys(root).find((name) => name.startsWith('__reactContainer'))
  const fibers = [root[key]]
  let client
  while (!client && fibers.length > 0) {
    const fiber = fibers.pop()
    client = fiber.memoizedProps?.client
    fibers.push(...[fiber.child, fiber.sibling].filter(Boolean))
  }
  const seen = new WeakSet()
  const plain = (_, value) => {
    if (value instanceof Map || value instanceof Set) return [...value]
    if (value instanceof Error) return value.message
    if (typeof value !== 'object' || value === null) return value
    if (seen.has(value)) return undefined
    seen.add(value)
    return value
  }
  const cached = [client.getQueryCache(), client.getMutationCache()].flatMap((cache) => cache.getAll())
  return JSON.stringify({
    cached: cached.map(({ queryKey, state }) => ({ queryKey, state })),
    count: cached.length,
    page: document.documentElement.outerHTML,
    fields: [...document.querySelectorAll('input, textarea')].map(({ value }) => value),
    storage: [{ ...localStorage }, { ...sessionStorage }, document.cookie, await indexedDB.databases(), await caches.keys()],
    address: location.href,
    history: history.state,
    requested: performance.getEntriesByType('resource').map(({ name }) => name),
  }, plain)
})()`

/** @param texts what it must not have. */
export async function expectForgotten(page: Page, ...texts: readonly string[]): Promise<void> {
  const kept = await page.evaluate<string>(KEPT)
  // The queries of the page are among what is looked at.
  expect((JSON.parse(kept) as { count: number }).count).toBeGreaterThan(2)
  for (const text of texts) expect(kept).not.toContain(text)
}
