/** The deletions that can still be undone (docs/contract-resources.md, Deletions). */
import * as z from 'zod/mini'
import type { DeletedType } from '../../access/deletions.ts'
import {
  agentArchived,
  projectArchived,
  projectForbidden,
  projectRequired,
  scheduleLimitReached,
  unrestrictedKeyRequired,
} from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, externalId, instant, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema, pagesExamine } from '../../http/paging.ts'
import { deletionNotFound, parentDeleted, skillNameTaken } from './failures.ts'

/** What can be restored. */
export const DELETED_TYPES = [
  'project',
  'agent',
  'session',
  'pull_request',
  'user',
  'schedule',
  'skill',
] as const satisfies readonly DeletedType[]

const resource = { resourceType: z.enum(DELETED_TYPES), resourceId: z.string() }

const deletion = z
  .strictObject({
    id: uuid(),
    ...resource,
    name: z.nullable(z.string()),
    projectId: z.nullable(z.string()).register(docs, {
      description: 'The deleted project, or the project of what was deleted.',
    }),
    agentId: z.nullable(z.string()).register(docs, { description: 'The agent of a schedule.' }),
    deletedAt: instant(),
    finalAt: instant('Until when it can be restored.'),
  })
  .register(docs, { id: 'Deletion' })

const exampleDeletion = {
  id: EXAMPLE_IDS.deletionId,
  resourceType: 'session',
  resourceId: EXAMPLE_IDS.deletedSessionId,
  name: 'Try the new search',
  projectId: EXAMPLE_IDS.projectId,
  agentId: null,
  deletedAt: '2026-03-29T01:00:00.000Z',
  finalAt: '2026-04-05T01:00:00.000Z',
}

const failures = [deletionNotFound, projectForbidden, unrestrictedKeyRequired]
const named = {
  tag: 'Deletions',
  params: z.object({ deletionId: uuid('The deletion.', EXAMPLE_IDS.deletionId) }),
} as const

export const listDeletionsContract = {
  operationId: 'listDeletions',
  method: 'GET',
  path: '/v1/deletions',
  tag: 'Deletions',
  summary: 'List what can be restored',
  description:
    'Lists the deletions that can be undone, the latest first. What a deleted project, agent or user had is restored with it and not listed. ' +
    'An API key that is restricted to projects has to name one of them in `projectId`, which may be deleted. ' +
    pagesExamine('With `resourceType`', 'deletions'),
  scope: 'deletions:read',
  params: z.object({}),
  query: z.object({
    resourceType: z.optional(z.enum(DELETED_TYPES)).register(docs, { description: 'Only what had this type.' }),
    projectId: z.optional(externalId({ description: 'Only the project and what belonged to it.' })),
    ...pageQuery(uuid()),
  }),
  success: {
    status: 200,
    description: 'A page of deletions.',
    schema: pageSchema('DeletionPage', deletion, uuid()),
    example: { items: [exampleDeletion], nextCursor: null },
  },
  failures: [projectRequired, projectForbidden],
} as const satisfies Contract

export const retrieveDeletionContract = {
  ...named,
  operationId: 'retrieveDeletion',
  method: 'GET',
  path: '/v1/deletions/{deletionId}',
  summary: 'Retrieve a deletion',
  description: 'Returns one deletion that can be undone.',
  scope: 'deletions:read',
  success: { status: 200, description: 'The deletion.', schema: deletion, example: exampleDeletion },
  failures,
} as const satisfies Contract

export const restoreDeletionContract = {
  ...named,
  operationId: 'restoreDeletion',
  method: 'POST',
  isRepeatable: true,
  path: '/v1/deletions/{deletionId}/restore',
  summary: 'Restore what was deleted',
  description:
    'Undoes a deletion: the resource is back under its ID, with everything that was in it. The API keys of a user stay revoked. Schedules fire again from their next run on.',
  scope: 'deletions:write',
  success: {
    status: 200,
    description: 'The resource is restored, and the deletion is gone.',
    schema: z.strictObject({ restored: z.literal(true), ...resource }).register(docs, { id: 'Restoration' }),
    example: { restored: true, resourceType: 'session', resourceId: EXAMPLE_IDS.deletedSessionId },
  },
  failures: [
    ...failures,
    parentDeleted,
    projectArchived,
    agentArchived,
    skillNameTaken,
    scheduleLimitReached('project'),
    scheduleLimitReached('agent'),
  ],
} as const satisfies Contract

export const purgeDeletionContract = {
  tag: 'Deletions',
  params: z.object({ deletionId: uuid('The deletion.', EXAMPLE_IDS.purgedDeletionId) }),
  operationId: 'purgeDeletion',
  method: 'DELETE',
  path: '/v1/deletions/{deletionId}',
  summary: 'Delete for good',
  description:
    'Makes a deletion final: what was deleted cannot be restored any more and counts towards no quota. Its rows and objects are removed within minutes.',
  scope: 'deletions:purge',
  success: {
    status: 200,
    description: 'The deletion is final.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'DeletionPurge' }),
    example: { deleted: true, id: EXAMPLE_IDS.purgedDeletionId },
  },
  failures,
} as const satisfies Contract
