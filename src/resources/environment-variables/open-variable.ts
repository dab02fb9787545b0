/** How a stored value is decrypted, for `ProjectEnvironments` and for leases. */
import type { KeyRing } from '../../crypto/key-ring.ts'
import { open } from '../../crypto/sealed-value.ts'

export interface SealedVariable {
  readonly key: string
  readonly sealedValue: string
}

export interface Owner {
  readonly organizationId: string
  readonly projectId: string
}

/** @throws if `ring` lacks the key of the value, or the value was altered. */
export function openVariable({ key, sealedValue }: SealedVariable, owner: Owner, ring: KeyRing) {
  return open(sealedValue, { purpose: 'environment-variable', ...owner, name: key }, ring)
}
