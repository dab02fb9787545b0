/**
 * Before each file: an empty database of the current schema and an empty object store, whatever the file
 * before left. Random values are the same each time, unless `SEED` is set.
 */
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { emptyStores } from './stores.ts'

fc.configureGlobal({ seed: env.SEED })
await applyD1Migrations(env.DB, env.MIGRATIONS)
await emptyStores()
