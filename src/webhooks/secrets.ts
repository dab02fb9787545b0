/** The secrets that sign the webhooks of a receiver: the current one and, during a rotation, the one before. */
import { type KeyRing, parseKeyRing } from '../crypto/key-ring.ts'
import { open, type SealedContext, seal } from '../crypto/sealed-value.ts'
import type { Environment } from '../environment.ts'
import { logFailure } from './deliveries.ts'
import { mintSecret } from './signature.ts'

export interface SealedSecrets {
  readonly sealedSecret: string | null
  /** Null if it has expired. */
  readonly previousSealedSecret: string | null
}

/** A new secret. The response has it, the database has it sealed. */
export async function newSecret(context: SealedContext, { ENCRYPTION_KEYS }: Pick<Environment, 'ENCRYPTION_KEYS'>) {
  const secret = mintSecret()
  return { secret, sealedSecret: await seal(secret, context, parseKeyRing(ENCRYPTION_KEYS)) }
}

/** When the previous secret of a rotation expires; null if it expires at once. */
export function expiryOf(overlapSeconds: number, now: string): string | null {
  return overlapSeconds > 0 ? new Date(Date.parse(now) + overlapSeconds * 1000).toISOString() : null
}

/** The value; undefined if the key that encrypts it is no longer in the key ring. */
export async function openOrLog(sealed: string, context: SealedContext, ring: KeyRing): Promise<string | undefined> {
  try {
    return await open(sealed, context, ring)
  } catch (error) {
    logFailure(context.organizationId, error)
    return undefined
  }
}

/** The secrets that sign; undefined if the key that encrypts the current one is no longer in the key ring. */
export async function openSecrets(
  { sealedSecret, previousSealedSecret }: SealedSecrets,
  context: SealedContext,
  ring: KeyRing,
): Promise<string[] | undefined> {
  const [current, previous] = await Promise.all(
    [sealedSecret, previousSealedSecret].map((sealed) =>
      sealed === null ? undefined : openOrLog(sealed, context, ring),
    ),
  )
  return current === undefined ? undefined : [current, previous].filter((secret) => secret !== undefined)
}
