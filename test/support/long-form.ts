/** How much of a test runs: a sample in `npm test`, all of it in the long form (`npm run test:long`). */
import { env } from './env.ts'

export const isLong = env.LONG !== ''

export function sized<T>(sample: T, whole: T): T {
  return isLong ? whole : sample
}

/** All items in the long form; otherwise every nth, from the place that the seed and the offset say. */
export function sampled<T>(nth: number, items: readonly T[], offset = 0): readonly T[] {
  return isLong ? items : items.filter((_, index) => (index + offset + env.SEED) % nth === 0)
}
