/** What the host platform has, and names here under its own ids: five kinds with one life. */
import type * as z from 'zod/mini'
import { agents, projects, pullRequests, sessions, users } from '../../db/schema.ts'
import type { Quota } from '../../environment.ts'
import type { Tag } from '../../http/contract.ts'
import { externalId, uuid } from '../../http/fields.ts'

export interface Kind {
  /** As tables name it. */
  readonly type: 'project' | 'agent' | 'session' | 'pull_request' | 'user'
  /** As sentences name it. */
  readonly noun: string
  /** As paths and scopes name it. */
  readonly path: 'projects' | 'agents' | 'sessions' | 'pull-requests' | 'users'
  /** As operations name one, and many. */
  readonly name: string
  readonly plural: string
  /** The path parameter. */
  readonly idName: string
  readonly tag: Tag
  readonly id: () => z.ZodMiniType<string, string>
  readonly exampleId: string
  readonly exampleName: string
  readonly table: typeof projects | typeof agents | typeof sessions | typeof pullRequests | typeof users
  readonly quota: Quota
  /** True if it can be archived. */
  readonly isArchivable: boolean
  /** True if it belongs to a project: it is frozen while that is archived, and goes when that is deleted. */
  readonly isOfProject: boolean
  /** True if it belongs to the whole organization: only a key that is not limited to projects may change it. */
  readonly isOfOrganization: boolean
}

export const PROJECT = {
  type: 'project',
  noun: 'project',
  path: 'projects',
  name: 'Project',
  plural: 'Projects',
  idName: 'projectId',
  tag: 'Projects',
  id: () => externalId({ description: 'The project.', example: 'website' }),
  exampleId: 'website',
  exampleName: 'Website',
  table: projects,
  quota: 'projects',
  isArchivable: true,
  isOfProject: false,
  isOfOrganization: false,
} as const satisfies Kind

export const AGENT = {
  type: 'agent',
  noun: 'agent',
  path: 'agents',
  name: 'Agent',
  plural: 'Agents',
  idName: 'agentId',
  tag: 'Agents',
  id: () => uuid('The agent.'),
  exampleId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  exampleName: 'Reviewer',
  table: agents,
  quota: 'agents',
  isArchivable: true,
  isOfProject: false,
  isOfOrganization: true,
} as const satisfies Kind

export const SESSION = {
  type: 'session',
  noun: 'session',
  path: 'sessions',
  name: 'Session',
  plural: 'Sessions',
  idName: 'sessionId',
  tag: 'Sessions',
  id: () => uuid('The session.'),
  exampleId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  exampleName: 'Rebuild the checkout',
  table: sessions,
  quota: 'sessions',
  isArchivable: false,
  isOfProject: true,
  isOfOrganization: false,
} as const satisfies Kind

export const PULL_REQUEST = {
  type: 'pull_request',
  noun: 'pull request',
  path: 'pull-requests',
  name: 'PullRequest',
  plural: 'PullRequests',
  idName: 'pullRequestId',
  tag: 'Pull requests',
  id: () => uuid('The pull request.'),
  exampleId: '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
  exampleName: 'Accept Apple Pay',
  table: pullRequests,
  quota: 'pullRequests',
  isArchivable: false,
  isOfProject: true,
  isOfOrganization: false,
} as const satisfies Kind

export const USER = {
  type: 'user',
  noun: 'user',
  path: 'users',
  name: 'User',
  plural: 'Users',
  idName: 'userId',
  tag: 'Users',
  id: () => externalId({ description: 'The user.', example: 'ada' }),
  exampleId: 'ada',
  exampleName: 'Ada Lovelace',
  table: users,
  quota: 'users',
  isArchivable: false,
  isOfProject: false,
  isOfOrganization: true,
} as const satisfies Kind
