import type { D1Migration } from '@cloudflare/vitest-plugin'
import type { Environment } from '../../src/environment.ts'

declare global {
  namespace Cloudflare {
    interface Env extends Environment {
      /** Tests take it from `env` of test/support/env.ts. */
      readonly DB: D1Database
      /** Further databases, which test/db/databases.test.ts makes part of a deployment. */
      readonly SECOND_DB: D1Database
      readonly THIRD_DB: D1Database
      /** How many databases the deployment has. */
      readonly DATABASES: number
      readonly MIGRATIONS: D1Migration[]
      /** Not empty: the tests that run a sample run whole (`npm run test:long`). */
      readonly LONG: string
      /** The seed of all random values that tests make with fast-check, which prints it if a test fails. */
      /** The folder of the project. */
      readonly FOLDER: string
      readonly SEED: number
    }
  }
}
