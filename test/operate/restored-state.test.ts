/** What a restore does not take from the backup: what has changed since, and what a restore may not repeat. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, expect, it } from 'vitest'
import { callScript } from '../support/commands.ts'
import { newFolder } from '../support/dev-server.ts'
import { countOf, newState, rowsOf } from '../support/local-state.ts'

let state: string
let folder: string
let organizationId: string
beforeEach(async () => {
  state = newState()
  folder = newFolder()
  organizationId = JSON.parse(await call('operate bootstrap', '--organization', 'Acme', '--user', 'ada')).organizationId
  return () => [state, folder].map((path) => rmSync(path, { recursive: true }))
})

const call = (script: string, ...args: string[]) => callScript(script, ...args, '--persist-to', state)
const backupFile = () => join(folder, 'backup.sqlite')
const backup = () => call('operate backup', '--output', backupFile())
const restore = () => call('operate restore', '--yes', '--input', backupFile())
const live = '"apiKeys" WHERE "revokedAt" IS NULL'

it('keeps the expiry that a key has today, of more keys than one statement changes', async () => {
  await rowsOf(
    state,
    `WITH RECURSIVE "number" ("n") AS (SELECT 1 UNION ALL SELECT "n" + 1 FROM "number" WHERE "n" < 2500)
     INSERT INTO "apiKeys" ("organizationId", "id", "name", "hash", "scopes", "createdAt")
     SELECT '${organizationId}', 'key-' || "n", 'key', 'hash-' || "n", '[]', '2026' FROM "number"`,
  )
  await backup()
  await rowsOf(state, `UPDATE "apiKeys" SET "expiresAt" = '2099', "rotatedAt" = '2098' WHERE "id" = 'key-7'`)
  await rowsOf(state, `UPDATE "apiKeys" SET "revokedAt" = '2026' WHERE "id" = 'key-8'`)
  expect(await restore()).toContain('Restored. Valid API keys: 2500.')
  expect(await countOf(state, live)).toBe(2500)
  const changed = `SELECT "expiresAt", "rotatedAt", "revokedAt" FROM "apiKeys" WHERE "id" IN ('key-7', 'key-8')`
  const [expiring, revoked] = await rowsOf(state, `${changed} ORDER BY "id"`)
  expect(expiring).toEqual({ expiresAt: '2099', rotatedAt: '2098', revokedAt: null })
  expect(revoked?.revokedAt).not.toBeNull()
})

it('revives no key that was revoked where no organization is left', async () => {
  await backup()
  await rowsOf(state, 'DELETE FROM "organizations"')
  await rowsOf(state, `UPDATE "apiKeys" SET "revokedAt" = '2026'`)
  expect(await restore()).toContain('No API key is valid.')
  expect([await countOf(state, live), await countOf(state, '"organizations"')]).toEqual([0, 1])
})

it('counts usage again, and deletes no object for a week', async () => {
  await rowsOf(state, `UPDATE "organizationUsage" SET "users" = 99, "files" = 7`)
  await rowsOf(state, `INSERT INTO "orphanedObjects" VALUES ('soon', '2026'), ('later', '2999')`)
  await backup()
  await restore()
  expect(await rowsOf(state, 'SELECT "users", "files" FROM "organizationUsage"')).toEqual([{ users: 1, files: 0 }])
  const inSixDays = new Date(Date.now() + 6 * 86_400_000).toISOString()
  expect(await countOf(state, `"orphanedObjects" WHERE "deleteAfter" < '${inSixDays}'`)).toBe(0)
  expect(await countOf(state, `"orphanedObjects" WHERE "deleteAfter" = '2999'`)).toBe(1)
})
