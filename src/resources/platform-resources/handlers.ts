import type { ProjectResourceTable } from '../../access/platform-resource.ts'
import { authorized, type Preconditions } from '../../access/preconditions.ts'
import type { RequestContext } from '../../access/request-context.ts'
import type { Statement, Values } from '../../db/statement.ts'
import {
  type ConditionalHeaders,
  conditionsOf,
  matchesEntityTag,
  withEntityTag,
} from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import type {
  ArchivingContract,
  Kind,
  OrganizationResourceContracts,
  ProjectResourceContracts,
} from './contract.ts'
import type {
  archivingStatements,
  organizationResourceStatements,
  projectResourceStatements,
} from './statements.ts'

type Row = Readonly<Record<'id' | 'name' | 'createdAt' | 'updatedAt', string>>

type ProjectResourceStatements = ReturnType<typeof projectResourceStatements>

interface OrganizationResourceStatements
  extends Pick<
      ReturnType<typeof organizationResourceStatements>,
      'puttable' | 'put' | 'readable' | 'retrieve'
    >,
    Deletion {
  /** Of several, each returns rows that the others don't. */
  readonly list: Statement<Row> | readonly Statement<Row>[]
}

interface Deletion {
  readonly deletable: Preconditions
  readonly deletion: readonly [
    recordDeletion: Statement,
    deleteRow: Statement<{ id: string }>,
    ...Statement[],
  ]
}

interface Input {
  readonly params: Values
  readonly headers: ConditionalHeaders
  readonly path: string
}

async function put(
  { puttable, put }: Pick<OrganizationResourceStatements, 'puttable' | 'put'>,
  { params, headers, body, path }: Input & { readonly body: Values },
  context: RequestContext,
) {
  const values = { ...params, ...body, ...conditionsOf(headers) }
  const [facts, [resource]] = await context.run(puttable, [put], values)
  if (!resource) throw puttable.refusal(facts, context)
  return { ...withEntityTag(resource), location: facts.isNew ? path : undefined }
}

async function retrieve(
  { readable, retrieve }: Pick<OrganizationResourceStatements, 'readable' | 'retrieve'>,
  { params, headers: requested }: Input,
  context: RequestContext,
) {
  const { body, headers } = withEntityTag(await context.runForRow(readable, [retrieve], params))
  if (matchesEntityTag(requested['If-None-Match'], headers.ETag))
    return { notModified: true as const, headers }
  return { body, headers }
}

async function remove(
  { deletable, deletion }: Deletion,
  { params, headers }: Input,
  context: RequestContext,
) {
  const values = { ...params, ...conditionsOf(headers) }
  const [facts, , [removed]] = await context.run(deletable, deletion, values)
  if (!removed) throw deletable.refusal(facts, context)
  return { body: { deleted: true as const, id: removed.id } }
}

/** Of projects, agents and users. */
export function organizationResourceEndpoints<const K extends Kind>(
  contracts: OrganizationResourceContracts<K>,
  statements: OrganizationResourceStatements,
) {
  return {
    put: endpoint(contracts.put, (input, context) => put(statements, input, context)),
    retrieve: endpoint(contracts.retrieve, (input, context) => retrieve(statements, input, context)),
    list: endpoint(contracts.list, async ({ query }, context) => {
      const [, resources] = await context.run(authorized, [statements.list], pagingOf(query))
      return { body: pageOf(resources, query, ({ id }) => id) }
    }),
    remove: endpoint(contracts.remove, (input, context) => remove(statements, input, context)),
  }
}

/** Of projects and agents. */
export function archivingEndpoint<const K extends Kind>(
  contract: ArchivingContract<K>,
  { archivable, archive }: ReturnType<typeof archivingStatements>,
) {
  return endpoint(contract, async ({ params, headers, body }, context) => {
    const values = { ...params, ...conditionsOf(headers), archived: Number(body.archived) }
    return withEntityTag(await context.runForRow(archivable, [archive], values))
  })
}

/** Of sessions and pull requests. */
export function projectResourceEndpoints<const K extends Kind<ProjectResourceTable>>(
  contracts: ProjectResourceContracts<K>,
  statements: ProjectResourceStatements,
) {
  return {
    put: endpoint(contracts.put, (input, context) => put(statements, input, context)),
    retrieve: endpoint(contracts.retrieve, (input, context) => retrieve(statements, input, context)),
    list: endpoint(contracts.list, async ({ query }, context) => {
      const { projectId } = query
      const [listable, list]: [Preconditions, Statement<Row>] =
        projectId === undefined
          ? [statements.listable, statements.list]
          : [statements.listableInProject, statements.listInProject]
      const values = { ...pagingOf(query), projectId: projectId ?? null }
      const [facts, resources] = await context.run(listable, [list], values)
      listable.requireMet(facts, context)
      return { body: pageOf(resources, query, ({ id }) => id) }
    }),
    remove: endpoint(contracts.remove, (input, context) => remove(statements, input, context)),
  }
}
