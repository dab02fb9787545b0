/**
 * Shows the progress of a key rotation: after a new key was added to the front of ENCRYPTION_KEYS, the tick
 * re-encrypts the values of older keys. This command only reads, so it can be stopped and started at any
 * time.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parse } from 'dotenv'
import { parseKeyRing } from '../src/crypto/key-ring.ts'
import { describeScript, getTarget, parsed, withTarget } from '../tools/command-line.ts'
import { ROOT } from '../tools/wrangler.ts'
import { Databases } from './databases.ts'
import { SEALED_BY_KEY } from './sealed-by-key.ts'
import { requireStateFolder } from './state-folder.ts'

const TICK_MS = 60_000
/** How long after it is due a tick is counted. */
const SETTLING_MS = 10_000

const options = parsed(
  withTarget(
    describeScript(
      'operate reseal',
      'Shows the progress of a key rotation, until no value is encrypted with an older key (docs/day-2.md). Only reads, so it can be stopped and started at any time.',
      ['--to key-1774621801000', '--to key-1774621801000 --remote'],
    ).requiredOption('--to <key ID>', 'the ID of the first key in ENCRYPTION_KEYS'),
  ),
).opts()
const newest = options.to
const target = getTarget(options)
requireStateFolder(target)
requireNewestKey()
const databases = await Databases.open(target)

/** The number of values that each key has encrypted. */
async function countByKey(): Promise<Map<string, number>> {
  const rows = (
    await databases.map((database) => database.batch(SEALED_BY_KEY.map(({ counts }) => ({ sql: counts.sql }))))
  ).flat(2)
  const total = new Map<string, number>()
  for (const { keyId, count } of rows) {
    total.set(String(keyId), (total.get(String(keyId)) ?? 0) + Number(count))
  }
  return total
}

await watch()
databases.close()

/** @throws if another key is the first one on this machine. Cloudflare does not show the keys of a deployment. */
function requireNewestKey(): void {
  const file = join(ROOT, '.dev.vars')
  if (target.remote || !existsSync(file)) return
  const ring = parseKeyRing(parse(readFileSync(file)).ENCRYPTION_KEYS)
  if (newest !== ring.newest) {
    throw new Error(
      `--to is not the ID of the first key of ENCRYPTION_KEYS in .dev.vars; got "${newest}"; allowed: "${ring.newest}".`,
    )
  }
}

/** Counts the values at once and after each tick, until all are encrypted with the newest key. */
async function watch(): Promise<void> {
  let before = Number.POSITIVE_INFINITY
  for (;;) {
    const total = await countByKey()
    const done = total.get(newest) ?? 0
    const older = [...total].filter(([keyId]) => keyId !== newest)
    const left = older.reduce((sum, [, count]) => sum + count, 0)
    console.log(`${done} values are encrypted with ${newest}, ${left} with older keys`)
    if (left === 0) break
    if (left >= before) {
      const names = older.map(([keyId, count]) => `${keyId} (${count})`).join(', ')
      console.error(
        `No progress in the last tick. Values left: ${names}. A tick only runs while the service does, and only re-encrypts values whose key is in ENCRYPTION_KEYS.`,
      )
    } else if (done === 0) {
      console.error(
        `No value is encrypted with ${newest} yet. If the next tick changes nothing, check that the first key in ENCRYPTION_KEYS has this ID: it cannot be read from the service.`,
      )
    }
    before = left
    const now = Date.now()
    const next = now - ((now - SETTLING_MS) % TICK_MS) - SETTLING_MS + TICK_MS
    console.log(`${left} values left; the next tick is due at ${new Date(next).toISOString()}`)
    await setTimeout(next + SETTLING_MS - now)
  }
  console.log('You can remove the older keys from ENCRYPTION_KEYS. Keep them for restores of older backups.')
}
