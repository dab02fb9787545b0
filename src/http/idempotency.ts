/** `Idempotency-Key`: what makes two requests the same. */
import { sha256 } from '../crypto/digest.ts'

/**
 * What is stored of a request that carries an `Idempotency-Key`; all null without one.
 * @param body the validated body: its properties are in the order of the contract, so equal bodies have equal fingerprints.
 */
export function idempotencyOf(key: string | undefined, body: object) {
  if (key === undefined) return { idempotencyKey: null, idempotencyFingerprint: null }
  return { idempotencyKey: key, idempotencyFingerprint: sha256(JSON.stringify(body)) }
}
