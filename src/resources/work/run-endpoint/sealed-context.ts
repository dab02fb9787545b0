import type { SealedContext } from '../../../crypto/sealed-value.ts'

/** The context that the secret of an organization's run endpoint is sealed for. */
export function runEndpointContext(organizationId: string): SealedContext {
  return { purpose: 'run-endpoint', organizationId, projectId: null, name: 'secret' }
}
