/** How much of a test runs: a sample in `npm test`, more in the long form (`npm test -- --long`). */
import { env } from 'cloudflare:workers'

export const isLong = env.LONG !== ''

/** The one for `npm test`, or the one for the long form. */
export function sized<T>(sample: T, whole: T): T {
  return isLong ? whole : sample
}
