/** The contracts of platform resources: put, retrieve, list, delete, and for some kinds change and archive. */
import * as z from 'zod/mini'
import {
  alreadyExists,
  deleted,
  etagMismatch,
  notFound,
  projectArchived,
  projectForbidden,
  projectNotFound,
  projectRequired,
  quotaExceeded,
} from '../../access/failures.ts'
import type { ProjectResourceTable, ResourceKind, ResourceTable } from '../../access/platform-resource.ts'
import type { Quota } from '../../environment.ts'
import type { Failure } from '../../errors.ts'
import type { Contract, Tag } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import {
  docs,
  ENTITY_TAG,
  externalId,
  ifMatch,
  ifNoneMatch,
  instant,
  isUuid,
  onlyToCreate,
  someOf,
  text,
} from '../../http/fields.ts'
import { pageQuery, pageSchema, pagesExamine, searchQuery } from '../../http/paging.ts'
import { UNDO } from '../../http/statuses.ts'
import { isCreationCursor } from './creation-cursor.ts'
import { projectMismatch } from './failures.ts'

/** The facts of a kind of platform resource. */
export interface Kind<Table extends ResourceTable = ResourceTable> extends ResourceKind<Table> {
  /** The article of the noun, in summaries. */
  readonly article: 'a' | 'an'
  /** In paths and scopes. */
  readonly path: 'projects' | 'agents' | 'users' | 'sessions' | 'pull-requests'
  /** In operationIds and the names of schemas. */
  readonly name: string
  readonly tag: Tag
  readonly id: () => z.ZodMiniType<string, string>
  readonly exampleId: string
  readonly exampleName: string
  /** What is deleted with it, in a sentence. */
  readonly dependents: string
  readonly quota: Quota
}

/** Which API keys may not. Without `read`, every API key with the scope may read. */
export interface Forbidden {
  readonly read?: Failure
  readonly change: Failure
  /** Beside `change`. */
  readonly delete?: Failure
}

const EXAMPLE_DESCRIPTION = 'Owned by the web team.'
const EXAMPLE_TIME = '2026-03-02T09:15:00.000Z'

const name = () => text(1, 255, { description: 'The display name.' })
const description = () => z.nullable(text(1, 500, { description: 'What it is for, for people; null if nobody said.' }))
const projectId = () => externalId({ description: 'The project that it belongs to.', example: EXAMPLE_IDS.projectId })

/** What the contracts of all kinds share. @param fields those that not all kinds have, with an example of each. */
function sharedContracts<const K extends Kind, Fields extends z.core.$ZodLooseShape>(
  kind: K,
  fields: Fields,
  examples: object,
) {
  const { noun } = kind
  const schema = z
    .strictObject({ id: kind.id(), ...fields, createdAt: instant(), updatedAt: instant() })
    .register(docs, { id: kind.name })
  const example = { id: kind.exampleId, ...examples, createdAt: EXAMPLE_TIME, updatedAt: EXAMPLE_TIME }
  const one = {
    path: `/v1/${kind.path}/{${kind.idName}}` as `/v1/${K['path']}/{${K['idName']}}`,
    tag: kind.tag,
    params: z.object({ [kind.idName as string]: kind.id() }),
    success: { status: 200, description: `The ${noun}.`, schema, example, headers: ENTITY_TAG },
  } as const
  const failures = [notFound(kind), deleted(kind)]
  return {
    put: {
      ...one,
      operationId: `put${kind.name}`,
      method: 'PUT',
      scope: `${kind.path}:write`,
      summary: `Put ${kind.article} ${noun}`,
      description: `Creates the ${noun}, or replaces it. The ID of a deleted ${noun} cannot be used again.`,
      failures: [deleted(kind), etagMismatch, alreadyExists],
      headers: z.object({ 'If-Match': ifMatch(), 'If-None-Match': onlyToCreate() }),
      success: { ...one.success, created: `The ${noun} was created.` },
    },
    retrieve: {
      ...one,
      operationId: `retrieve${kind.name}`,
      method: 'GET',
      scope: `${kind.path}:read`,
      summary: `Retrieve ${kind.article} ${noun}`,
      description: `Returns one ${noun}.`,
      failures,
      headers: z.object({ 'If-None-Match': ifNoneMatch() }),
      success: { ...one.success, conditional: true },
    },
    list: {
      operationId: `list${kind.name}s`,
      method: 'GET',
      path: `/v1/${kind.path}` as `/v1/${K['path']}`,
      tag: kind.tag,
      scope: `${kind.path}:read`,
      summary: `List ${noun}s`,
      description: `Lists the ${noun}s of the organization, sorted by ID.`,
      query: z.object({ ...searchQuery('name'), ...pageQuery(kind.id()) }),
      params: z.object({}),
      success: {
        status: 200,
        description: `A page of ${noun}s.`,
        schema: pageSchema(`${kind.name}Page`, schema, kind.id()),
        example: { items: [example], nextCursor: null },
      },
    },
    remove: {
      ...one,
      operationId: `delete${kind.name}`,
      method: 'DELETE',
      scope: `${kind.path}:write`,
      summary: `Delete ${kind.article} ${noun}`,
      description: `Deletes the ${noun} with ${kind.dependents}. Its ID cannot be used again. ${UNDO}`,
      success: {
        status: 200,
        description: `The ${noun} is deleted.`,
        schema: z
          .strictObject({ deleted: z.literal(true), id: z.string() })
          .register(docs, { id: `${kind.name}Deletion` }),
        example: { deleted: true, id: kind.exampleId },
      },
      failures: [...failures, etagMismatch],
      headers: z.object({ 'If-Match': ifMatch() }),
    },
  } as const
}

export type OrganizationResourceContracts<K extends Kind> = ReturnType<typeof organizationResourceContracts<K>>

/** The contracts of projects, agents and users, which belong to the organization itself. */
export function organizationResourceContracts<const K extends Kind>(kind: K, forbidden: Forbidden) {
  const archivedAt = z.nullable(instant()).register(docs, {
    description: `When the ${kind.noun} was archived; null if it is not archived.`,
  })
  /** Projects and agents have more than a name. */
  const isDescribed = 'description' in kind.table
  const body = { name: kind.exampleName, ...(isDescribed && { description: EXAMPLE_DESCRIPTION }) }
  const { put, retrieve, list, remove } = sharedContracts(
    kind,
    { name: z.string(), ...(isDescribed && { description: z.nullable(z.string()), archivedAt }) },
    { ...body, ...(isDescribed && { archivedAt: null }) },
  )
  return {
    put: {
      ...put,
      body: z
        .strictObject({ name: name(), ...(isDescribed && { description: z.optional(description()) }) })
        .register(docs, { id: `New${kind.name}`, example: body }),
      failures: [...put.failures, forbidden.change, quotaExceeded],
    },
    retrieve: {
      ...retrieve,
      failures: [...retrieve.failures, ...(forbidden.read ? [forbidden.read] : [])],
    },
    list: { ...list, description: `${list.description} ${pagesExamine('With `query`', `${kind.noun}s`)}` },
    remove: {
      ...remove,
      failures: [...remove.failures, forbidden.change, ...(forbidden.delete ? [forbidden.delete] : [])],
    },
  } as const satisfies Record<string, Contract>
}

export type ChangingContract<K extends Kind> = ReturnType<typeof changingContract<K>>

/** The contract that changes and archives projects and agents. */
export function changingContract<const K extends Kind>(
  kind: K,
  { retrieve }: OrganizationResourceContracts<K>,
  forbidden: Forbidden,
) {
  const { conditional, ...success } = retrieve.success
  return {
    ...retrieve,
    operationId: `update${kind.name}`,
    method: 'PATCH',
    scope: `${kind.path}:write`,
    summary: `Update ${kind.article} ${kind.noun}`,
    description: `Changes what is sent. With \`archived\`, archives or unarchives the ${kind.noun}: everything that belongs to an archived ${kind.noun} can be read but not changed.`,
    body: someOf({
      name: z.optional(name()),
      description: z.optional(description()),
      archived: z.optional(z.boolean()),
    }).register(docs, { id: `${kind.name}Update`, example: { archived: true } }),
    failures: [notFound(kind), deleted(kind), forbidden.change, etagMismatch],
    headers: z.object({ 'If-Match': ifMatch() }),
    success,
  } as const satisfies Contract
}

/** A cursor continues the order in which it was returned. */
function isCursorOfOrder({
  value: { order, cursor },
  issues,
}: z.core.ParsePayload<{ readonly order?: string | undefined; readonly cursor?: string | undefined }>): void {
  if (issues.length > 0 || cursor === undefined) return
  if (order === undefined ? isUuid(cursor) : isCreationCursor(cursor)) return
  const message = 'the nextCursor of a page in the same order'
  issues.push({ code: 'custom', input: cursor, path: ['cursor'], message, params: { wrong: 'is of another order' } })
}

export type ProjectResourceContracts<K extends Kind<ProjectResourceTable>> = ReturnType<
  typeof projectResourceContracts<K>
>

/** The contracts of sessions and pull requests, which belong to a project. */
export function projectResourceContracts<const K extends Kind<ProjectResourceTable>>(kind: K) {
  const body = { projectId: EXAMPLE_IDS.projectId, name: kind.exampleName }
  const { put, retrieve, list, remove } = sharedContracts(kind, { projectId: z.string(), name: z.string() }, body)
  const { schema } = retrieve.success
  return {
    put: {
      ...put,
      body: z
        .strictObject({ projectId: projectId(), name: name() })
        .register(docs, { id: `New${kind.name}`, example: body }),
      failures: [
        ...put.failures,
        projectForbidden,
        projectNotFound,
        projectArchived,
        projectMismatch(kind.noun),
        quotaExceeded,
      ],
    },
    retrieve: {
      ...retrieve,
      failures: [...retrieve.failures, projectForbidden],
    },
    list: {
      ...list,
      description:
        `Lists the ${kind.noun}s of the organization, sorted by ID or the latest first. An API key that is restricted to projects has to name one of its projects in \`projectId\`. ` +
        pagesExamine('With `query`, or with `projectId` and `order`', `${kind.noun}s`),
      query: z
        .object({
          projectId: z.optional(projectId()),
          order: z
            .optional(z.enum(['-createdAt']))
            .register(docs, { description: '`-createdAt`: the latest first. Default: by ID.' }),
          ...searchQuery('name'),
          // An ID, or the position in the order of creation.
          ...pageQuery(externalId({})),
        })
        .check(isCursorOfOrder),
      success: { ...list.success, schema: pageSchema(`${kind.name}Page`, schema, z.string()) },
      failures: [projectRequired, projectForbidden, projectNotFound],
    },
    remove: {
      ...remove,
      failures: [...remove.failures, projectForbidden, projectArchived],
    },
  } as const satisfies Record<string, Contract>
}
