import type { ProjectResourceTable } from '../../access/platform-resource.ts'
import { authorized, type Preconditions } from '../../access/preconditions.ts'
import type { RequestContext } from '../../access/request-context.ts'
import type { Statement, Values } from '../../db/statement.ts'
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

async function remove({ deletable, deletion }: Deletion, values: Values, context: RequestContext) {
  const [facts, , [removed]] = await context.run(deletable, deletion, values)
  if (!removed) throw deletable.refusal(facts, context)
  return { body: { deleted: true as const, id: removed.id } }
}

/** Of projects, agents and users. */
export function organizationResourceEndpoints<const K extends Kind>(
  contracts: OrganizationResourceContracts<K>,
  statements: OrganizationResourceStatements,
) {
  const { puttable, put, readable, retrieve, list } = statements
  return {
    put: endpoint(contracts.put, async ({ params, body }, context) => ({
      body: await context.runForRow(puttable, [put], { ...params, ...body }),
    })),
    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => ({
      body: await context.runForRow(readable, [retrieve], params),
    })),
    list: endpoint(contracts.list, async ({ query }, context) => {
      const [, resources] = await context.run(authorized, [list], pagingOf(query))
      return { body: pageOf(resources, query, ({ id }) => id) }
    }),
    remove: endpoint(contracts.remove, ({ params }, context) => remove(statements, params, context)),
  }
}

/** Of projects and agents. */
export function archivingEndpoint<const K extends Kind>(
  contract: ArchivingContract<K>,
  { archivable, archive }: ReturnType<typeof archivingStatements>,
) {
  return endpoint(contract, async ({ params, body }, context) => ({
    body: await context.runForRow(archivable, [archive], { ...params, archived: Number(body.archived) }),
  }))
}

/** Of sessions and pull requests. */
export function projectResourceEndpoints<const K extends Kind<ProjectResourceTable>>(
  contracts: ProjectResourceContracts<K>,
  statements: ProjectResourceStatements,
) {
  const { puttable, put, readable, retrieve } = statements
  return {
    put: endpoint(contracts.put, async ({ params, body }, context) => ({
      body: await context.runForRow(puttable, [put], { ...params, ...body }),
    })),
    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => ({
      body: await context.runForRow(readable, [retrieve], params),
    })),
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
    remove: endpoint(contracts.remove, ({ params }, context) => remove(statements, params, context)),
  }
}
