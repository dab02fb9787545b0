import type { D1Migration } from '@cloudflare/vitest-plugin'
import type { Environment } from '../../src/environment.ts'

declare global {
  namespace Cloudflare {
    interface Env extends Environment {
      readonly MIGRATIONS: D1Migration[]
      /** Not empty: the tests that run a sample run whole (`npm test -- --long`). */
      readonly LONG: string
    }
  }
}
