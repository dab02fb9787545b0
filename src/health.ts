/**
 * `GET /health`: whether this deployment can serve requests. It needs no API key and reveals nothing that is stored.
 */
import { eq } from 'drizzle-orm'
import { sqliteTable, text as textColumn } from 'drizzle-orm/sqlite-core'
import type { Context } from 'hono'
import journal from '../migrations/meta/_journal.json' with { type: 'json' }
import { countAgainst, getAddress } from './access/rate-limit.ts'
import { parseKeyRing } from './crypto/key-ring.ts'
import { isMissingTable } from './db/failures.ts'
import { text } from './db/parameters.ts'
import { query, runBatch, unguarded } from './db/statement.ts'
import type { Environment } from './environment.ts'
import { errorResponse, unavailable } from './errors.ts'
import type { HonoEnvironment } from './http/context.ts'

/** The table in which wrangler records the applied migrations. */
const appliedMigrations = sqliteTable('d1_migrations', { name: textColumn().notNull() })

const name = text('name')

const NEWEST_MIGRATION = `${journal.entries.at(-1)?.tag}.sql`

/** During a deployment the database is ahead of the code, so later migrations are ignored. */
export const selectMigration = unguarded([name], () =>
  query.select({ name: appliedMigrations.name }).from(appliedMigrations).where(eq(appliedMigrations.name, name)),
)

export async function health(c: Context<HonoEnvironment>): Promise<Response> {
  await countAgainst('REFUSAL_RATE_LIMIT', `health ${getAddress(c.req.raw)}`, c.env)
  const schema = await schemaHealth(c.env.DB)
  const encryptionKeys = keysHealth(c.env)
  if (schema === 'current' && encryptionKeys === 'configured') {
    return c.json({ database: 'answers', schema, encryptionKeys })
  }
  const problems = [
    ...(schema === 'unknown' ? ['The database does not answer.'] : []),
    ...(schema === 'not current' ? [`The schema is not current: apply the migrations up to ${NEWEST_MIGRATION}.`] : []),
    ...(encryptionKeys === 'configured' ? [] : ['ENCRYPTION_KEYS is not configured.']),
  ]
  return errorResponse(c, unavailable(problems.join(' ')))
}

/** `unknown` if the database does not answer. */
async function schemaHealth(database: D1Database): Promise<'current' | 'not current' | 'unknown'> {
  try {
    const { applied } = await runBatch(database, { applied: selectMigration }, { name: NEWEST_MIGRATION })
    return applied.length > 0 ? 'current' : 'not current'
  } catch (error) {
    // Before the first migration.
    return isMissingTable(error) ? 'not current' : 'unknown'
  }
}

function keysHealth({ ENCRYPTION_KEYS }: Environment): 'configured' | 'not configured' {
  try {
    parseKeyRing(ENCRYPTION_KEYS)
    return 'configured'
  } catch {
    return 'not configured'
  }
}
