/**
 * The IDs in the examples of the OpenAPI document. The demo workspace of `npm run dev` has all of them, so the examples
 * work there.
 */
export const EXAMPLE_IDS = {
  organizationId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
  userId: 'ada',
  projectId: 'website',
  agentId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901',
  sessionId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902',
  pullRequestId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  projectScheduleId: '0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81',
  agentScheduleId: '0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c82',
  /** Derived from the project's schedule and the time at which the run was due. */
  runId: '019d3da6-44c0-8af1-a829-4c5f72adcc57',
  /** Runs of the agent's schedule: one that was delivered, and one that is claimed. */
  deliveredRunId: '019d382d-8300-8344-8287-6df80a0feba7',
  claimedRunId: '019d3307-2700-8fc3-8798-6b258822d765',
  claimId: '7a0c6f1e-4b3d-4c55-9f0e-2d8b1c7e5a90',
  fileId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
  filePath: 'src/app.ts',
  skillId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71',
  skillFileId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c72',
  apiKeyId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c73',
  grantId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7b',
  skillFeedId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c74',
  eventEndpointId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c75',
  signInRuleId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c79',
  identityId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7a',
  invitationId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c7b',
  /** One to restore, and one to make final. */
  deletionId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c76',
  purgedDeletionId: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c78',
  deletedSessionId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e904',
  variableKey: 'DATABASE_URL',
} as const
