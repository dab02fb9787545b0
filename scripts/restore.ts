/**
 * Puts a backup in the place of the database (docs/restore.md). What is there is written to a file before. Then: schema up to
 * date, keys that were revoked since are revoked, schedules go on from now, and the tick looks for objects that no
 * row refers to.
 *
 *     npm run restore -- --input backup.sql [--revoke-all-keys] [--remote [--env staging] | --persist-to some/dir]
 */
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { nextRun } from '../src/schedules/next-run.ts'
import {
  applyMigrations,
  executeFile,
  executeSql,
  exportDatabase,
  literal,
  TARGET_OPTIONS,
  targetOf,
} from './wrangler.ts'

const { values: options } = parseArgs({
  options: {
    input: { type: 'string' },
    'revoke-all-keys': { type: 'boolean', default: false },
    ...TARGET_OPTIONS,
  },
})
const { input } = options
if (!input || !existsSync(input)) {
  console.error('--input: expected a file that `npm run backup` wrote')
  process.exit(1)
}
const target = targetOf(options)
const now = new Date()

const replaced = `${input}.replaced-${now.toISOString().replaceAll(/[:.]/g, '-')}.sql`
exportDatabase(target, replaced)
console.log(`What was there: ${replaced}`)

/** Keys that live now, and until when. A key of the backup that is not among them was revoked, or deleted with its user. */
const liveKeys = has('apiKeys')
  ? executeSql(target, 'SELECT "hash", "expiresAt" FROM "apiKeys" WHERE "revokedAt" IS NULL')
  : []

const folder = mkdtempSync(join(tmpdir(), 'workspace-api-restore-'))
runStatements(dropEverything())
executeFile(target, input)
applyMigrations(target)
runStatements([...revocations(), ...postponements(), ...searchForOrphans()])
rmSync(folder, { recursive: true })

const [{ live, schedules } = {}] = executeSql(
  target,
  `SELECT (SELECT count(*) FROM "apiKeys" WHERE "revokedAt" IS NULL) AS "live",
     (SELECT count(*) FROM "schedules" WHERE "nextRunAt" IS NOT NULL) AS "schedules"`,
)
console.log(
  `Restored ${input}: ${live} keys are live, ${schedules} schedules go on from ${now.toISOString()}`,
)

function has(table: string): boolean {
  return executeSql(target, `SELECT 1 FROM sqlite_master WHERE "name" = ${literal(table)}`).length > 0
}

function runStatements(statements: readonly string[]): void {
  if (statements.length === 0) return
  const file = join(folder, 'statements.sql')
  writeFileSync(file, `${statements.join(';\n')};\n`)
  executeFile(target, file)
}

function dropEverything(): string[] {
  const objects = executeSql(
    target,
    `SELECT "type", "name" FROM sqlite_master WHERE "type" IN ('table', 'trigger') AND "name" NOT LIKE 'sqlite_%'
     AND "name" NOT LIKE '_cf_%' ORDER BY "type" DESC`,
  )
  return objects.map(({ type, name }) => `DROP ${String(type).toUpperCase()} "${name}"`)
}

function revocations(): string[] {
  const at = literal(now.toISOString())
  if (options['revoke-all-keys']) return [`UPDATE "apiKeys" SET "revokedAt" = coalesce("revokedAt", ${at})`]
  const live = literal(JSON.stringify(liveKeys))
  const known = `(SELECT value FROM json_each(${live}) WHERE value ->> 'hash' = "apiKeys"."hash")`
  return [
    `UPDATE "apiKeys" SET "revokedAt" = coalesce("revokedAt", ${at}) WHERE NOT EXISTS ${known}`,
    `UPDATE "apiKeys" SET "expiresAt" = ${known} ->> 'expiresAt' WHERE EXISTS ${known}`,
  ]
}

/** Whatever came due since the backup was made has run, or is missed: run ids derive from schedule and instant. */
function postponements(): string[] {
  const due = executeSql(
    target,
    `SELECT "organizationId", "parentType", "parentId", "id", "cron", "timezone" FROM "schedules"
     WHERE "nextRunAt" <= ${literal(now.toISOString())}`,
  )
  return due.map(({ organizationId, parentType, parentId, id, cron, timezone }) => {
    const next = nextRun(String(cron), String(timezone), now).toISOString()
    return `UPDATE "schedules" SET "nextRunAt" = ${literal(next)} WHERE "organizationId" = ${literal(organizationId ?? null)}
      AND "parentType" = ${literal(parentType ?? null)} AND "parentId" = ${literal(parentId ?? null)} AND "id" = ${literal(id ?? null)}`
  })
}

function searchForOrphans(): string[] {
  return [
    `INSERT INTO "objectSearches" ("startedAt", "cursor") VALUES (${literal(now.toISOString())}, NULL) ON CONFLICT DO NOTHING`,
  ]
}
