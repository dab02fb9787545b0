/**
 * A database that is nearly full: creations are refused, so that deletions and revocations have the rest
 * (docs/limits.md, "A full database").
 */
import type { Caller } from '../access/caller.ts'
import { type ApiError, databaseFull, internalError, RETRY_LATER, unavailable } from '../errors.ts'
import type { Contract } from './contract.ts'

export function isRefusedWhenFull({ success, worksWhenFull }: Contract): boolean {
  return !(worksWhenFull ?? (success.status !== 201 && !('created' in success)))
}

/** False for an operation whose specification has no 503. @param contract undefined outside of the operations. */
export const documents503 = (contract: Contract | undefined) => !contract?.errors || 503 in contract.errors

/** The answer to a request for which the database has no room, as far as its contract allows. */
export function noRoom(contract: Contract | undefined): ApiError {
  const { message } = databaseFull()
  if (!documents503(contract)) return internalError(RETRY_LATER, message)
  return contract && isRefusedWhenFull(contract) ? databaseFull() : unavailable(message)
}

/**
 * What the isolate knows is from its last batch, so it looks again before it refuses a creation.
 * @throws {ApiError} 507, or 500 where that is not documented, if the database is still nearly full.
 */
export async function requireRoom(contract: Contract, caller: Caller): Promise<void> {
  if (!isRefusedWhenFull(contract)) return
  await caller.requireAuthorized()
  if (caller.isDatabaseNearlyFull) throw noRoom(contract)
}
