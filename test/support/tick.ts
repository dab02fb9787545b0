/** The tick of the database that has the organizations of the tests. */

import { databaseNumbers } from '../../src/db/database.ts'
import * as scheduled from '../../src/scheduled.ts'
import { databaseNumber, deployed } from './env.ts'

export const tick = (environment: Cloudflare.Env, now: Date) =>
  scheduled.tick(deployed(environment), now, databaseNumber())

/** The ticks of all databases. */
export async function tickAll(environment: Cloudflare.Env, now: Date): Promise<void> {
  const all = deployed(environment)
  for (const number of databaseNumbers(all)) await scheduled.tick(all, now, number)
}
