/** `GET /health`: whether this deployment can serve requests. It needs no API key and reveals nothing that is stored. */
import { eq, sql } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Context } from 'hono'
import journal from '../migrations/meta/_journal.json' with { type: 'json' }
import { addressOf, countAgainst } from './access/rate-limit.ts'
import { parseKeyRing } from './crypto/key-ring.ts'
import { query, runBatch, unguarded } from './db/statement.ts'
import type { Environment } from './environment.ts'
import { errorResponse, unavailable } from './errors.ts'
import type { HonoEnvironment } from './http/context.ts'

/** The table in which wrangler records the applied migrations. */
const appliedMigrations = sqliteTable('d1_migrations', { name: text().notNull() })

const NEWEST_MIGRATION = `${journal.entries.at(-1)?.tag}.sql`

/** During a deployment the database is ahead of the code, so later migrations are ignored. */
export const selectMigration = unguarded(() =>
  query
    .select({ name: appliedMigrations.name })
    .from(appliedMigrations)
    .where(eq(appliedMigrations.name, sql.placeholder('name'))),
)

export const selectOne = unguarded(() => query.select({ one: sql<1>`1`.as('one') }).from(sql`(select 1)`))

export async function health(c: Context<HonoEnvironment>): Promise<Response> {
  await countAgainst('REFUSAL_RATE_LIMIT', `health ${addressOf(c.req.raw)}`, c.env)
  const database = await databaseHealth(c.env.DB)
  const schema = database === 'answers' ? await schemaHealth(c.env.DB) : 'unknown'
  const encryptionKeys = keysHealth(c.env)
  if (database === 'answers' && schema === 'current' && encryptionKeys === 'configured') {
    return c.json({ database, schema, encryptionKeys })
  }
  const problems = [
    ...(database === 'answers' ? [] : ['The database does not answer.']),
    ...(schema === 'not current'
      ? [`The schema is not current: apply the migrations up to ${NEWEST_MIGRATION}.`]
      : []),
    ...(encryptionKeys === 'configured' ? [] : ['ENCRYPTION_KEYS is not configured.']),
  ]
  return errorResponse(c, unavailable(problems.join(' ')))
}

async function databaseHealth(database: D1Database): Promise<'answers' | 'does not answer'> {
  try {
    await runBatch(database, [selectOne], {})
    return 'answers'
  } catch {
    return 'does not answer'
  }
}

async function schemaHealth(database: D1Database): Promise<'current' | 'not current'> {
  try {
    const [[applied]] = await runBatch(database, [selectMigration], { name: NEWEST_MIGRATION })
    if (applied) return 'current'
  } catch {
    // Without applied migrations there is no such table.
  }
  return 'not current'
}

function keysHealth({ ENCRYPTION_KEYS }: Environment): 'configured' | 'not configured' {
  try {
    parseKeyRing(ENCRYPTION_KEYS)
    return 'configured'
  } catch {
    return 'not configured'
  }
}
