/** The secrets that sign the webhooks of a receiver: the current one and, during a rotation, the one before. */
import type { KeyRing } from '../crypto/key-ring.ts'
import { open, type SealedContext } from '../crypto/sealed-value.ts'
import { describeFailure } from '../db/failures.ts'

export interface SealedSecrets {
  readonly sealedSecret: string | null
  /** Null if it has expired. */
  readonly previousSealedSecret: string | null
}

/** The secrets that sign; undefined if the key that encrypts the current one is no longer in the key ring. */
export async function openSecrets(
  { sealedSecret, previousSealedSecret }: SealedSecrets,
  context: SealedContext,
  ring: KeyRing,
): Promise<string[] | undefined> {
  const openOrLog = (sealed: string | null) =>
    sealed === null
      ? undefined
      : open(sealed, context, ring).catch((error) => {
          console.error(JSON.stringify({ organizationId: context.organizationId, failure: describeFailure(error) }))
          return undefined
        })
  const [current, previous] = await Promise.all([openOrLog(sealedSecret), openOrLog(previousSealedSecret)])
  return current === undefined ? undefined : [current, previous].filter((secret) => secret !== undefined)
}
