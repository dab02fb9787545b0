/** The kinds of resources that can be restored. */
export const DELETED_KINDS = ['project', 'agent', 'user', 'session', 'pull_request', 'schedule', 'skill'] as const
