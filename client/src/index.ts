/** The public names of the package. */
export type { components, operations, paths } from './api.ts'
export type { WorkspaceClient } from './client.ts'
export { type Result, WorkspaceError } from './errors.ts'
export type { EventFeed, FollowOptions, WorkspaceEvent } from './events.ts'
export { createLeaseKey, type LeaseKey, leaseVariables, openLease, type SealedLease } from './lease.ts'
export type { Answer, Body, Call, CallOptions, Content, Data, List, Options } from './operation.ts'
export type { Resources } from './resources.ts'
export {
  type ScheduleRunMessage,
  verifyWebhook,
  type WebhookHeaders,
  WebhookVerificationError,
} from './webhook.ts'
export { Workspace, type WorkspaceOptions } from './workspace.ts'
