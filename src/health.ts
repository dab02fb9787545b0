/** `GET /health`: whether this deployment can serve. It needs no key and says nothing of what is stored. */
import { eq, sql } from 'drizzle-orm'
import { sqliteTable, text } from 'drizzle-orm/sqlite-core'
import type { Context } from 'hono'
import journal from '../migrations/meta/_journal.json' with { type: 'json' }
import { addressOf, countAgainst } from './access/rate-limit.ts'
import { parseKeyRing } from './crypto/key-ring.ts'
import { query, runBatch, unguarded } from './db/statement.ts'
import type { Environment } from './environment.ts'
import { ApiError, errorResponse } from './errors.ts'
import type { HonoEnvironment } from './http/context.ts'

/** Where wrangler records the migrations that it applied. */
const appliedMigrations = sqliteTable('d1_migrations', { name: text().notNull() })

const NEWEST_MIGRATION = `${journal.entries.at(-1)?.tag}.sql`

/** A row if the migration is applied, whatever came after it: the database may be ahead of the code, while it is deployed. */
export const selectMigration = unguarded(() =>
  query
    .select({ name: appliedMigrations.name })
    .from(appliedMigrations)
    .where(eq(appliedMigrations.name, sql.placeholder('name'))),
)

export const selectOne = unguarded(() => query.select({ one: sql<1>`1`.as('one') }).from(sql`(select 1)`))

/** 200 and what is well; or 503 and what is not, in the one error shape. */
export async function health(c: Context<HonoEnvironment>): Promise<Response> {
  await countAgainst('REFUSAL_RATE_LIMIT', `health ${addressOf(c.req.raw)}`, c.env)
  const database = await databaseHealth(c.env.DB)
  const schema = database === 'answers' ? await schemaHealth(c.env.DB) : 'unknown'
  const encryptionKeys = keysHealth(c.env)
  if (database === 'answers' && schema === 'current' && encryptionKeys === 'configured') {
    return c.json({ database, schema, encryptionKeys })
  }
  return errorResponse(
    c,
    new ApiError(503, `database: ${database}; schema: ${schema}; encryptionKeys: ${encryptionKeys}`, {
      'Retry-After': '5',
    }),
  )
}

async function databaseHealth(database: D1Database): Promise<'answers' | 'does not answer'> {
  try {
    await runBatch(database, [selectOne], {})
    return 'answers'
  } catch {
    return 'does not answer'
  }
}

async function schemaHealth(database: D1Database): Promise<string> {
  try {
    const [[applied]] = await runBatch(database, [selectMigration], { name: NEWEST_MIGRATION })
    if (applied) return 'current'
  } catch {
    // The table of migrations is not there: none was applied.
  }
  return `not current, apply the migrations up to ${NEWEST_MIGRATION}`
}

function keysHealth({ ENCRYPTION_KEYS }: Environment): 'configured' | 'not configured' {
  try {
    parseKeyRing(ENCRYPTION_KEYS)
    return 'configured'
  } catch {
    return 'not configured'
  }
}
