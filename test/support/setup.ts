/**
 * Before each file: empty databases of the current schema and an empty object store, whatever the file
 * before left. Random values are the same each time, unless `SEED` is set.
 */
import { applyD1Migrations } from 'cloudflare:test'
import { env as bindings } from 'cloudflare:workers'
import * as fc from 'fast-check'
import { afterAll, expect } from 'vitest'
import { databaseNumbers, requireDatabase } from '../../src/db/database.ts'
import { seenFailures } from './document.ts'
import { drawDatabase, env } from './env.ts'
import { emptyStores } from './stores.ts'

fc.configureGlobal({ seed: env.SEED })
drawDatabase(expect.getState().testPath ?? '')
for (const number of databaseNumbers(bindings)) {
  await applyD1Migrations(requireDatabase(bindings, number), env.MIGRATIONS)
}
await emptyStores()

afterAll(async () => {
  await fetch('https://seen-failures.example.com', { method: 'POST', body: [...seenFailures, ''].join('\n') })
  seenFailures.clear()
})
