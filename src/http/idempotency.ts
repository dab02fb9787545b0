/** `Idempotency-Key`: how a repeated request is recognized. */
import { sha256 } from '../crypto/digest.ts'

/**
 * The columns that recognize a repeated request; null without an `Idempotency-Key`.
 * @param body the validated body, whose properties are in the order of the contract, so that equal bodies have equal
 *   fingerprints.
 */
export async function toIdempotency(key: string | undefined, body: object) {
  if (key === undefined) return { idempotencyKey: null, idempotencyFingerprint: null }
  return { idempotencyKey: key, idempotencyFingerprint: await sha256(JSON.stringify(body)) }
}
