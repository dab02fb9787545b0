/** How much of a test runs: a sample in `npm test`, all of it in the long form (`npm run verify:long`). */
import { env } from 'cloudflare:workers'

export const isLong = env.LONG !== ''

export function sized<T>(sample: T, whole: T): T {
  return isLong ? whole : sample
}
