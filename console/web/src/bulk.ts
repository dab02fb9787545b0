/** The same change of several items. */
import { refresh } from './api.ts'

const AT_ONCE = 5

/** Does the same to several items, and reads again what the pages show. @returns the errors, each with its item. */
export async function forEach<Item>(
  items: readonly Item[],
  act: (item: Item) => Promise<unknown>,
  ...resources: readonly string[]
): Promise<(readonly [Item, Error])[]> {
  const waiting = [...items]
  const failed: (readonly [Item, Error])[] = []
  const worker = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const item = next
      await act(item).catch((error: Error) => failed.push([item, error]))
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  await refresh(...resources)
  return failed
}
