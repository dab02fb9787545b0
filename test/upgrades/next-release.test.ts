/**
 * The way back: the code of this release on the schema of the next. The sample migration expands the schema as
 * CONTRIBUTING.md allows, in every table.
 */
import { applyD1Migrations, reset } from 'cloudflare:test'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { request } from '../support/api.ts'
import { env } from '../support/env.ts'
import { listTables } from '../support/examples.ts'
import { answersOf } from './answers.ts'
import { countedUsage, dump, prepareOthers, usage } from './database.ts'
import { ACME, GLOBEX, type Row, type Rows, WEBSITE } from './schema-version.ts'
import { MIGRATIONS, rowsAt } from './schema-versions.ts'
import { addKey, changesWith, openDatabase, outbox, runTick } from './service.ts'

const NEWEST = MIGRATIONS.at(-1) ?? ''
const NEXT = 'nextColumn'
const NOTES = 'nextNotes'
/** What the sample migration gives to the rows that exist, and to those of this release. */
const DEFAULT = 'default'
/** What the next release writes. */
const WRITTEN_BY_NEXT = 'written by the next release'

/** A pin that one of the changes deletes and another one creates. */
const CREATED_AGAIN = `pins ${ACME} ada project ${WEBSITE}`

/** Expands the schema, and writes as the next release does: into the new column of each row, and into the new table. */
async function upgradeToNext(): Promise<void> {
  const tables = await listTables()
  const queries = [
    ...tables.map((table) => `ALTER TABLE "${table}" ADD COLUMN "${NEXT}" TEXT DEFAULT '${DEFAULT}' NOT NULL`),
    ...tables.map((table) => `CREATE INDEX "${table}By${NEXT}" ON "${table}" ("${NEXT}")`),
    `CREATE TABLE "${NOTES}" ("organizationId" TEXT, "projectId" TEXT, "text" TEXT NOT NULL,
      PRIMARY KEY ("organizationId", "projectId")) WITHOUT ROWID`,
  ]
  await applyD1Migrations(env.DB, [...env.MIGRATIONS, { name: '9999_next_release.sql', queries }])
  await env.DB.batch([
    ...tables.map((table) => env.DB.prepare(`UPDATE "${table}" SET "${NEXT}" = '${WRITTEN_BY_NEXT}'`)),
    env.DB.prepare(`INSERT INTO "${NOTES}" SELECT "organizationId", "id", 'a note' FROM "projects"`),
  ])
}

// The next file uses the same database.
afterAll(reset)
beforeEach(async () => {
  await reset()
  await prepareOthers()
  await openDatabase(NEWEST)
  await upgradeToNext()
})

/** The rows by their tables and primary keys. */
async function identities(rows: Rows): Promise<Map<string, Row>> {
  const found = new Map<string, Row>()
  for (const [table, each] of Object.entries(rows)) {
    const { results } = await env.DB.prepare(`SELECT "name" FROM pragma_table_info(?) WHERE "pk" > 0`)
      .bind(table)
      .all<{ name: string }>()
    for (const row of each) found.set(`${table} ${results.map(({ name }) => row[name]).join(' ')}`, row)
  }
  return found
}

describe('this release on the schema of the next', () => {
  it('is healthy, and answers with everything that was there', async () => {
    const health = await request('GET', '/health')
    expect([health.status, health.body.schema]).toEqual([200, 'current'])
    for (const organizationId of [ACME, GLOBEX]) {
      const key = await addKey(organizationId, 'ada')
      for (const [path, expected] of Object.entries(answersOf(organizationId, 'ada', rowsAt(NEWEST)))) {
        const { status, body } = await request('GET', path, { key })
        expect([path, status, body]).toEqual([path, 200, expected])
      }
    }
  })

  it('makes changes of each resource, and keeps what the next release wrote', async () => {
    const key = await addKey(ACME, 'ada')
    const before = await identities(await dump())
    for (const [method, path, options] of changesWith(outbox().DELIVERIES)) {
      const { body } = await request(method, path, { key, ...options })
      expect(body.error, `${method} ${path}`).toBeUndefined()
    }
    await runTick()
    const after = await identities(await dump())
    const lost = [...after].flatMap(([identity, row]) => {
      if (identity.startsWith(`${NOTES} `)) return []
      const isNew = !before.has(identity) || identity === CREATED_AGAIN
      const expected = isNew ? DEFAULT : before.get(identity)?.[NEXT]
      return row[NEXT] === expected ? [] : [`${identity}: ${row[NEXT]}`]
    })
    expect(lost).toEqual([])
    expect([...after.keys()].filter((identity) => !before.has(identity)).length).toBeGreaterThan(20)
    const { results } = await env.DB.prepare(`SELECT count(*) AS "notes" FROM "${NOTES}"`).all()
    expect(results).toEqual([{ notes: rowsAt(NEWEST).projects?.length }])
    const known = (await usage()).map((row) => ({ ...(row as Row), [NEXT]: undefined }))
    expect(known).toEqual(await countedUsage())
    expect(await env.DB.prepare('PRAGMA quick_check').raw()).toEqual([['ok']])
  })
})
