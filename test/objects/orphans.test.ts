import { describe, expect, it } from 'vitest'
import { objectsWith } from '../support/bindings.ts'
import { deployed, env } from '../support/env.ts'
import { tick, tickAll } from '../support/tick.ts'
import { Workspace } from '../support/workspace.ts'

const WEEK_MS = 7 * 86_400_000
const at = (ms: number) => new Date(Date.now() + ms)
const exists = async (key: string) => (await env.OBJECTS.head(key)) !== null

/** In database 0, whose tick searches for all. */
const searches = () => deployed(env).DB

async function searchForOrphans(startedAt = at(1000)): Promise<void> {
  await searches().prepare('INSERT INTO "objectSearches" ("startedAt") VALUES (?)').bind(startedAt.toISOString()).run()
}

const objectKeyOf = async (sessionId: string) =>
  String(
    await env.DB.prepare('SELECT "objectKey" FROM "sessionFiles" WHERE "sessionId" = ?')
      .bind(sessionId)
      .first('objectKey'),
  )

/** R2 refuses to delete an empty list of objects, which workerd allows. */
const likeR2 = objectsWith({
  delete: async (keys: string | string[]) => {
    if (keys.length === 0) throw new Error('delete: The number of keys must be between 1 and 1000')
    await env.OBJECTS.delete(keys)
  },
})

/** A session with a file whose content is stored. */
async function newFile() {
  const workspace = await Workspace.create()
  const sessionId = await workspace.addSession(await workspace.addProject())
  await workspace.addSessionFile(sessionId, 'kept.txt')
  return { objectKey: await objectKeyOf(sessionId), folder: `session-files/${workspace.organizationId}` }
}

describe('after a restore', () => {
  it('objects that no row refers to are deleted after a week, and others stay', async () => {
    const { objectKey, folder } = await newFile()
    const orphan = `${folder}/orphan`
    await env.OBJECTS.put(orphan, 'no row refers to it')
    await searchForOrphans()
    await tickAll(env, at(2000))
    expect(await searches().prepare('SELECT count(*) AS "n" FROM "objectSearches"').first('n')).toBe(0)
    await tick(env, at(WEEK_MS - 60_000))
    expect([await exists(orphan), await exists(objectKey)]).toEqual([true, true])
    await tick(env, at(WEEK_MS + 60_000))
    expect([await exists(orphan), await exists(objectKey)]).toEqual([false, true])
  })

  it('objects that were uploaded after the search began stay', async () => {
    const { folder } = await newFile()
    const [earlier, later] = [`${folder}/earlier`, `${folder}/later`]
    await env.OBJECTS.put(earlier, 'no row refers to it')
    await scheduler.wait(10)
    const startedAt = at(0)
    await scheduler.wait(10)
    await env.OBJECTS.put(later, 'no row refers to it yet')
    await searchForOrphans(startedAt)
    await tickAll(env, at(2000))
    await tick(env, at(WEEK_MS + 60_000))
    expect([await exists(earlier), await exists(later)]).toEqual([false, true])
  })

  it('an orphaned object that a row refers to again stays', async () => {
    const { objectKey } = await newFile()
    await env.DB.prepare('INSERT INTO "orphanedObjects" VALUES (?, ?)').bind(objectKey, at(-1000).toISOString()).run()
    await tick({ ...env, OBJECTS: likeR2 }, at(0))
    expect(await exists(objectKey)).toBe(true)
    const left = await env.DB.prepare('SELECT count(*) AS "n" FROM "orphanedObjects" WHERE "objectKey" = ?')
      .bind(objectKey)
      .first('n')
    expect(left).toBe(0)
  })
})
