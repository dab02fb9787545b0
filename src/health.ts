/**
 * `GET /health`: whether this deployment can serve requests. It needs no API key and reveals nothing that is stored.
 */
import { eq } from 'drizzle-orm'
import { sqliteTable, text as textColumn } from 'drizzle-orm/sqlite-core'
import type { Context } from 'hono'
import journal from '../migrations/meta/_journal.json' with { type: 'json' }
import { getAddress } from './access/address.ts'
import { countAgainst } from './access/rate-limit.ts'
import { parseKeyRing } from './crypto/key-ring.ts'
import { type Database, databaseNumbers, requireDatabase } from './db/database.ts'
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
export const selectMigration = unguarded({ name }, () =>
  query.select({ name: appliedMigrations.name }).from(appliedMigrations).where(eq(appliedMigrations.name, name)),
)

export async function health(c: Context<HonoEnvironment>): Promise<Response> {
  await countAgainst('REFUSAL_RATE_LIMIT', `health ${getAddress(c.req.raw)}`, c.env)
  const numbers = databaseNumbers(c.env)
  const schemas = await Promise.all(numbers.map((number) => schemaHealth(requireDatabase(c.env, number))))
  const encryptionKeys = keysHealth(c.env)
  if (schemas.every((schema) => schema === 'current') && encryptionKeys === 'configured') {
    const databases = numbers.length > 1 && { databases: numbers.length }
    return c.json({ database: 'answers', schema: 'current', ...databases, encryptionKeys })
  }
  const problems = [
    ...schemas.flatMap((schema, index) => problemOf(schema, numbers.length > 1 ? ` ${numbers[index]}` : '')),
    ...(encryptionKeys === 'configured' ? [] : ['ENCRYPTION_KEYS is not configured.']),
  ]
  return errorResponse(c, unavailable(problems.join(' ')))
}

type SchemaHealth = 'current' | 'not current' | 'unknown'

/** @param name what follows the word "database". */
function problemOf(schema: SchemaHealth, name: string): string[] {
  if (schema === 'current') return []
  if (schema === 'unknown') return [`The database${name} does not answer.`]
  return [
    `The schema${name && ` of the database${name}`} is not current: apply the migrations up to ${NEWEST_MIGRATION}.`,
  ]
}

/** `unknown` if the database does not answer. */
async function schemaHealth(database: Database): Promise<SchemaHealth> {
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
