/**
 * Random deletions, restorations and permanent deletions, two of them at once, with ticks and days between them. After
 * each step, what the API shows is what it showed at first, without what is deleted. In the end everything is deleted for
 * good, and no row and no object is left.
 */

import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { request } from '../../support/api.ts'
import { type Deletable, newDeletables, type Shown, show } from '../../support/deletions.ts'
import { env } from '../../support/env.ts'
import { sized } from '../../support/long-form.ts'
import { advance, HOUR_MS, MINUTE_MS, stopClocks } from '../../support/runs.ts'
import { dumpStores } from '../../support/stores.ts'
import { tick } from '../../support/tick.ts'

stopClocks()

const DAY_MS = 24 * HOUR_MS
const UNDO_MS = 7 * DAY_MS

const place = fc.nat(1000)
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('delete' as const), place }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('delete with its parent' as const), place }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('restore' as const), place, times: fc.constantFrom(1, 2) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('purge' as const), place }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restore and purge' as const), place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('tick' as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('wait' as const), days: fc.constantFrom(1, 3, 7) }) },
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Few random steps may leave out one of what is counted, so these come first. */
const EACH: Step[] = [
  { kind: 'delete with its parent', place: 0 },
  // Refused, because its parent is deleted.
  { kind: 'restore', place: 0, times: 1 },
  { kind: 'restore', place: 1, times: 2 },
  { kind: 'purge', place: 0 },
  { kind: 'delete', place: 0 },
  { kind: 'wait', days: 7 },
  { kind: 'tick' },
]

it('what comes back is what was there, and what is deleted for good leaves nothing', async () => {
  const seen = { restored: 0, refused: 0, purged: 0, expired: 0 }
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 12, maxLength: 20, size: 'max' }), async (steps) => {
      const world = await newWorld(seen)
      for (const each of steps) {
        await world.take(each)
        await world.check()
      }
      await world.deleteAll()
    }),
    { numRuns: sized(4, 100), seed: env.SEED, endOnFailure: true, examples: [[EACH]] },
  )
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0)
})

interface Deletion {
  readonly id: string
  readonly of: Deletable
  readonly finalAt: number
}

async function newWorld(seen: Record<'restored' | 'refused' | 'purged' | 'expired', number>) {
  const { workspace, key, usersKey, deletables } = await newDeletables()
  const before = await show(workspace, key, usersKey)
  /** Those that can be undone, the latest last. */
  let deletions: Deletion[] = []
  const final = new Set<Deletable>()
  const send = (method: string, path: string) => request(method, path, { key })
  const pick = <Item>(items: readonly Item[], place: number) => items[place % Math.max(items.length, 1)]
  const isDeleted = (each: Deletable) => final.has(each) || deletions.some((deletion) => deletion.of === each)
  const parentOf = ({ parent }: Deletable) => deletables.find(({ id }) => id === parent)
  const isHidden = (each: Deletable): boolean => {
    const parent = parentOf(each)
    return isDeleted(each) || (parent !== undefined && isHidden(parent))
  }

  /** It can be restored no more, nor what it had. */
  function end(deletion: Deletion) {
    deletions = deletions.filter((each) => each !== deletion)
    final.add(deletion.of)
    for (const within of deletions.filter((each) => parentOf(each.of) === deletion.of)) end(within)
  }

  async function remove(each: Deletable) {
    const { status } = await send('DELETE', each.path)
    expect([each.path, status]).toEqual([each.path, isHidden(each) ? expect.toSatisfy(isGone) : 200])
    if (status !== 200) return
    const { items } = (await send('GET', '/v1/deletions?limit=1')).body
    expect(items[0].resourceId).toBe(each.id)
    deletions.push({ id: items[0].id, of: each, finalAt: Date.now() + UNDO_MS })
    expect(items[0].finalAt).toBe(new Date(Date.now() + UNDO_MS).toISOString())
    // The order of the list is that of the IDs, which have milliseconds.
    advance(1)
  }

  async function restore(deletion: Deletion, times: number) {
    const path = `/v1/deletions/${deletion.id}/restore`
    const statuses = (await Promise.all(Array.from({ length: times }, () => send('POST', path)))).map((r) => r.status)
    const parent = parentOf(deletion.of)
    if (parent && isDeleted(parent)) {
      seen.refused++
      return expect(new Set(statuses)).toEqual(new Set([409]))
    }
    seen.restored++
    expect(statuses.sort()).toEqual([200, 404].slice(0, times))
    deletions = deletions.filter((each) => each !== deletion)
  }

  async function purge(deletion: Deletion) {
    expect((await send('DELETE', `/v1/deletions/${deletion.id}`)).status).toBe(200)
    expect((await send('DELETE', `/v1/deletions/${deletion.id}`)).status).toBe(404)
    end(deletion)
    seen.purged++
  }

  /** One of both wins. */
  async function restoreAndPurge(deletion: Deletion) {
    const parent = parentOf(deletion.of)
    if (parent && isDeleted(parent)) return
    const [restored, purged] = await Promise.all([
      send('POST', `/v1/deletions/${deletion.id}/restore`),
      send('DELETE', `/v1/deletions/${deletion.id}`),
    ])
    expect([restored?.status, purged?.status].sort()).toEqual([200, 404])
    if (purged?.status === 200) end(deletion)
    else deletions = deletions.filter((each) => each !== deletion)
  }

  async function pass(ms: number) {
    advance(ms)
    for (const deletion of deletions.filter(({ finalAt }) => finalAt <= Date.now())) {
      seen.expired++
      end(deletion)
    }
  }

  async function ticks(count: number) {
    for (let number = 0; number < count; number++) {
      await pass(MINUTE_MS)
      await tick(env, new Date())
    }
  }

  return {
    async take(step: Step) {
      if (step.kind === 'delete') return remove(pick(deletables, step.place) as Deletable)
      if (step.kind === 'delete with its parent') {
        const each = pick(
          deletables.filter(({ parent }) => parent),
          step.place,
        ) as Deletable
        await remove(each)
        return remove(parentOf(each) as Deletable)
      }
      if (step.kind === 'tick') return ticks(1)
      if (step.kind === 'wait') return pass(step.days * DAY_MS)
      const deletion = pick(deletions, step.place)
      if (!deletion) return
      if (step.kind === 'restore') return restore(deletion, step.times)
      if (step.kind === 'purge') return purge(deletion)
      return restoreAndPurge(deletion)
    },

    async check() {
      const hidden = deletables.filter(isHidden).map(({ id }) => id)
      const isShown = ([path, { content }]: [string, Shown]) =>
        !hidden.some((id) => path.includes(id) || JSON.stringify(content).includes(id))
      expect(await show(workspace, key, usersKey)).toEqual(new Map([...before].filter(isShown)))
      const { items } = (await send('GET', '/v1/deletions?limit=1000')).body
      expect(items.map(({ id }: Deletion) => id)).toEqual(deletions.map(({ id }) => id).reverse())
      expect(await workspace.usage()).toEqual(await workspace.countedUsage())
    },

    async deleteAll() {
      for (const each of deletables.toReversed()) if (!isHidden(each)) await remove(each)
      for (const deletion of deletions.slice()) await purge(deletion)
      await ticks(3)
      expect(final.size).toBeGreaterThan(0)
      const { deletions: tombstones = [], ...rest } = await dumpStores()
      const own = Object.entries(rest).flatMap(([store, entries]) =>
        entries.filter((entry) => entry.includes(workspace.organizationId)).map(() => store),
      )
      const stays = ['apiKeys', 'auditEvents', 'eventUsage', 'organizationUsage', 'organizations', 'users']
      expect(own.filter((store) => !stays.includes(store))).toEqual([])
      expect(await workspace.dump('users')).toEqual([expect.objectContaining({ id: workspace.userId })])
      const ofOwn = tombstones
        .map((row) => JSON.parse(row))
        .filter((row) => row.organizationId === workspace.organizationId)
      expect(ofOwn.map(({ id, row, purgedAt }) => [id, row, typeof purgedAt])).toEqual(
        ofOwn.map(() => [null, null, 'string']),
      )
      expect(ofOwn.map(({ resourceId }) => resourceId).sort()).toEqual(deletables.map(({ id }) => id).sort())
      const { organizationId: _, users, ...usage } = (await workspace.usage()) ?? {}
      expect([users, Object.values(usage).every((used) => used === 0)]).toEqual([1, true])
    },
  }
}

const isGone = (status: number) => [404, 410].includes(status)
