import type { D1Migration } from '@cloudflare/vitest-plugin'
import type { Environment } from '../../src/environment.ts'

declare global {
  namespace Cloudflare {
    interface Env extends Environment {
      readonly MIGRATIONS: D1Migration[]
      /** Not empty: the tests that run a seeded sample run whole (`npm run verify:long`). */
      readonly VERIFY_LONG: string
    }
  }
}
