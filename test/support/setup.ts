/**
 * Before each file: an empty database of the current schema and an empty object store, whatever the file
 * before left.
 */
import { applyD1Migrations } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { emptyStores } from './stores.ts'

await applyD1Migrations(env.DB, env.MIGRATIONS)
await emptyStores()
