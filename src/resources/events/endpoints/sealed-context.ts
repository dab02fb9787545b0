import type { SealedContext } from '../../../crypto/sealed-value.ts'

/** The context that the URL or the secret of an event endpoint is sealed for. */
export function eventEndpointContext(organizationId: string, id: string, part: 'url' | 'secret'): SealedContext {
  return { purpose: 'event-endpoint', organizationId, projectId: null, name: `${id} ${part}` }
}
