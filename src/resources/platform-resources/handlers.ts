import { deletionValues } from '../../access/deletions.ts'
import type { ProjectResourceTable } from '../../access/platform-resource.ts'
import { authorized, type Preconditions } from '../../access/preconditions.ts'
import { one, type RequestContext } from '../../access/request-context.ts'
import type { Values } from '../../db/parameters.ts'
import type { Statement, Steps } from '../../db/statement.ts'
import { type ConditionalHeaders, matchesEntityTag, parseConditions, withEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { END, toExaminedPage, toPaging } from '../../http/paging.ts'
import type { ChangingContract, Kind, OrganizationResourceContracts, ProjectResourceContracts } from './contract.ts'
import { fromCreationCursor, toCreationCursor } from './creation-cursor.ts'
import type { organizationResourceStatements, projectResourceStatements } from './statements.ts'

type Resource = Readonly<Record<'id' | 'name' | 'createdAt' | 'updatedAt' | 'revision', string>>
/** A resource of a project. */
type ProjectResource = Resource & { readonly projectId: string }

// What a request sets differs by kind, so these values are checked by the test of each kind.
interface Put<Row> {
  readonly puttable: Preconditions<{ readonly isNew: 0 | 1 }>
  readonly put: Statement<Row>
}

interface Retrieval<Row> {
  readonly readable: Preconditions
  readonly retrieve: Statement<Row>
}

interface Deletion {
  readonly deletable: Preconditions
  readonly deletion: Steps & { readonly removed: Statement<{ id: string }> }
}

interface Changing {
  readonly changeable: Preconditions
  readonly change: Statement<Resource>
}

type ProjectResourceStatements = Put<ProjectResource> &
  Retrieval<ProjectResource> &
  Deletion &
  Pick<ReturnType<typeof projectResourceStatements>, 'listable' | 'list' | 'listInProject' | 'listLatest'>

type List = ReturnType<typeof organizationResourceStatements>['list']

interface OrganizationResourceStatements extends Put<Resource>, Retrieval<Resource>, Deletion {
  readonly unset: Values
  readonly list: List
  /** Returns rows where the other list returns none. */
  readonly listAccessible?: List
}

/** The ID in the path, which each kind names differently. */
const idIn = ({ idName }: Kind, params: Readonly<Record<string, string>>): string => params[idName] ?? ''

async function put<Row extends Resource>(
  { puttable, put }: Put<Row>,
  fields: object,
  headers: ConditionalHeaders,
  context: RequestContext,
) {
  const values = { ...fields, ...parseConditions(headers) } as Values
  const { check, resource } = await context.run(puttable, { resource: one(put) }, values)
  return { ...withEntityTag(resource), location: check.isNew ? context.path : undefined }
}

async function retrieve<Row extends Resource>(
  { readable, retrieve }: Retrieval<Row>,
  id: string,
  { 'If-None-Match': ifNoneMatch }: ConditionalHeaders,
  context: RequestContext,
) {
  const { resource } = await context.run(readable, { resource: one(retrieve) }, { id })
  const { body, headers } = withEntityTag(resource)
  if (matchesEntityTag(ifNoneMatch, headers.ETag)) return { notModified: true as const, headers }
  return { body, headers }
}

async function remove(
  { deletable, deletion }: Deletion,
  id: string,
  headers: ConditionalHeaders,
  context: RequestContext,
) {
  const steps = { ...deletion, removed: one(deletion.removed) }
  const values = { id, ...parseConditions(headers), ...deletionValues(context) }
  const { removed } = await context.run(deletable, steps, values)
  return { body: { deleted: true as const, id: removed.id } }
}

/** The operations on projects, agents and users. */
export function organizationResourceEndpoints<const K extends Kind>(
  kind: K,
  contracts: OrganizationResourceContracts<K>,
  statements: OrganizationResourceStatements,
) {
  return {
    put: endpoint(contracts.put, (c, context) => {
      const fields = { id: idIn(kind, c.req.valid('param')), ...statements.unset, ...c.req.valid('json') }
      return put(statements, fields, c.req.valid('header'), context)
    }),
    retrieve: endpoint(contracts.retrieve, (c, context) =>
      retrieve(statements, idIn(kind, c.req.valid('param')), c.req.valid('header'), context),
    ),
    list: endpoint(contracts.list, async (c, context) => {
      const query = c.req.valid('query')
      const { resources } = await context.run(
        authorized,
        { resources: statements.listAccessible ? [statements.list, statements.listAccessible] : [statements.list] },
        { ...toPaging(query), query: query.query ?? null },
      )
      return { body: toExaminedPage(resources, query, ({ id }) => id) }
    }),
    remove: endpoint(contracts.remove, (c, context) =>
      remove(statements, idIn(kind, c.req.valid('param')), c.req.valid('header'), context),
    ),
  }
}

/** The operation that changes and archives projects and agents. */
export function changingEndpoint<const K extends Kind>(
  kind: K,
  contract: ChangingContract<K>,
  { changeable, change }: Changing,
) {
  return endpoint(contract, async (c, context) => {
    const { archived, ...changes } = c.req.valid('json')
    const values = {
      id: idIn(kind, c.req.valid('param')),
      ...parseConditions(c.req.valid('header')),
      changes: JSON.stringify(changes),
      archived: archived === undefined ? null : Number(archived),
    }
    const { resource } = await context.run(changeable, { resource: one(change) }, values)
    return withEntityTag(resource)
  })
}

/** The operations on sessions and pull requests. */
export function projectResourceEndpoints<const K extends Kind<ProjectResourceTable>>(
  kind: K,
  contracts: ProjectResourceContracts<K>,
  statements: ProjectResourceStatements,
) {
  return {
    put: endpoint(contracts.put, (c, context) => {
      const fields = { id: idIn(kind, c.req.valid('param')), ...c.req.valid('json') }
      return put(statements, fields, c.req.valid('header'), context)
    }),
    retrieve: endpoint(contracts.retrieve, (c, context) =>
      retrieve(statements, idIn(kind, c.req.valid('param')), c.req.valid('header'), context),
    ),
    list: endpoint(contracts.list, async (c, context) => {
      const query = c.req.valid('query')
      const { order, projectId = null, query: nameQuery = null } = query
      const isLatestFirst = order === '-createdAt'
      const list = isLatestFirst
        ? statements.listLatest
        : projectId === null
          ? statements.list
          : statements.listInProject
      const position = isLatestFirst ? fromCreationCursor(query.cursor) : { createdBefore: END }
      const { resources } = await context.run(
        statements.listable,
        { resources: list },
        { ...toPaging(query), ...position, query: nameQuery, projectId },
      )
      return { body: toExaminedPage(resources, query, (last) => (isLatestFirst ? toCreationCursor(last) : last.id)) }
    }),
    remove: endpoint(contracts.remove, (c, context) =>
      remove(statements, idIn(kind, c.req.valid('param')), c.req.valid('header'), context),
    ),
  }
}
