import type { D1Migration } from '@cloudflare/vitest-plugin'
import type { Environment } from '../../src/environment.ts'

declare global {
  namespace Cloudflare {
    interface Env extends Environment {
      readonly MIGRATIONS: D1Migration[]
      /** Not empty: the tests that run a sample run whole (`npm test -- --long`). */
      readonly LONG: string
      /** Of all random values that tests make with fast-check, which prints it if a test fails. */
      readonly SEED: number
    }
  }
}
