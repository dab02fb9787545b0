/** The public names of the package. */
export type { components, operations, paths } from './api.ts'
export { createWorkspaceClient, type WorkspaceClient } from './client.ts'
export { dataOf, type Result, WorkspaceApiError } from './errors.ts'
export { type EventFeed, type EventsOptions, events, type WorkspaceEvent } from './events.ts'
export { type ItemOf, items, type ListPath } from './items.ts'
export { createLeaseKey, type LeaseKey, leaseVariables, openLease, type SealedLease } from './lease.ts'
export { type RetryOptions, retrying } from './retrying.ts'
export {
  type ScheduleRunMessage,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts'
