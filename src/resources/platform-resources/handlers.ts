import type { CallerFacts } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import type { RequestContext } from '../../access/request-context.ts'
import type { Statement } from '../../db/statement.ts'
import type { Quota } from '../../environment.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { type PageRequest, pageOf, pagingOf } from '../../http/paging.ts'
import {
  agentContracts,
  type Contracts,
  projectContracts,
  pullRequestContracts,
  sessionContracts,
  userContracts,
} from './contract.ts'
import { AGENT, type Kind, PROJECT, PULL_REQUEST, SESSION, USER } from './kinds.ts'
import {
  agentStatements,
  explainListOfProject,
  projectStatements,
  pullRequestStatements,
  type Resource,
  sessionStatements,
  userStatements,
} from './statements.ts'

interface Facts extends CallerFacts {
  exists: 0 | 1
  inReach: 0 | 1
  isDeleted: 0 | 1
  isFrozen: 0 | 1
  isChangeable: 0 | 1
  isRemovable: 0 | 1
}

interface Statements {
  explain: Statement<Facts>
  explainPut: Statement<Facts & { exceededQuota: Quota | null; projectExists?: 0 | 1; isElsewhere?: 0 | 1 }>
  put: Statement<Resource>
  retrieve: Statement<Resource>
  explainList: Statement<CallerFacts & { inReach?: 0 | 1 }>
  /** Each answers with rows that the others don't. */
  lists: readonly Statement<Resource>[]
  listOfProject?: Statement<Resource>
  removals: readonly [remember: Statement, remove: Statement, ...Statement[]]
}

const noProject = () => new ApiError(404, 'projectId: there is no project with this id')

const deleted = ({ noun }: Kind) =>
  new ApiError(410, `The ${noun} was deleted, and its id is never used again: choose another id`)

const frozen = () => new ApiError(409, 'The project is archived, and so frozen: unarchive it first')

const limited = ({ noun }: Kind) =>
  new ApiError(
    403,
    `This API key is limited to projects. To change ${noun}s, which belong to the whole organization, use a key that is not.`,
  )

/** Deleting a user revokes the user's keys. */
const keepsKeys = () =>
  new ApiError(
    403,
    'The user has a live API key that yours may not delete: use a key that acts for no user and was not rotated, or delete that key first',
  )

/** What stands in the way of reading it, and of changing what is not out of reach. */
function refusalOf(kind: Kind, facts: Facts): ApiError {
  if (!facts.exists) return new ApiError(404, `${kind.idName}: there is no ${kind.noun} with this id`)
  if (!facts.inReach) return outOfReach()
  return facts.isDeleted ? deleted(kind) : frozen()
}

function changeRefusalOf(kind: Kind, facts: Facts): ApiError {
  return facts.exists && !facts.isChangeable ? limited(kind) : refusalOf(kind, facts)
}

function removalRefusalOf(kind: Kind, facts: Facts): ApiError {
  return facts.exists && facts.isChangeable && !facts.isRemovable ? keepsKeys() : changeRefusalOf(kind, facts)
}

function idOf({ idName }: Kind, params: Readonly<Record<string, string>>): string {
  return params[idName] ?? ''
}

type ListRequest = PageRequest & { readonly projectId?: string | undefined }

/** The operations of a kind. */
function lifeOf<const K extends Kind>(kind: K, contracts: Contracts<K>, statements: Statements) {
  const { noun, isOfProject } = kind
  const { explain, explainPut, put, retrieve, explainList, lists, listOfProject, removals } = statements
  async function listRows(context: RequestContext, request: ListRequest): Promise<readonly Resource[]> {
    if (listOfProject && request.projectId !== undefined) {
      const values = { ...pagingOf(request), projectId: request.projectId }
      const [facts, rows] = await context.run({ check: explainListOfProject }, [listOfProject], values)
      if (!facts.projectExists) throw noProject()
      if (!facts.inReach) throw outOfReach()
      return rows
    }
    const [facts, ...rows] = await context.run({ check: explainList }, lists, pagingOf(request))
    if (isOfProject && !facts.inReach) {
      throw new ApiError(403, 'This API key is limited to projects: name one of them as "projectId".')
    }
    return rows.flat()
  }

  return {
    put: endpoint(contracts.put, async ({ params, body }, context) => {
      const values = { id: idOf(kind, params), name: body.name, projectId: body.projectId ?? null }
      const [facts, [row]] = await context.run({ check: explainPut }, [put], values)
      if (row) return { body: row }
      if (isOfProject && !facts.projectExists) throw noProject()
      if (!facts.inReach) throw outOfReach()
      if (!facts.isChangeable) throw limited(kind)
      if (facts.exists && facts.isDeleted) throw deleted(kind)
      if (facts.isElsewhere) throw new ApiError(409, `projectId: the ${noun} belongs to another project`)
      if (!facts.isFrozen && facts.exceededQuota) throw quotaExceeded(facts.exceededQuota, context.limits)
      throw frozen()
    }),

    retrieve: endpoint(contracts.retrieve, async ({ params }, context) => {
      const [facts, [row]] = await context.run({ check: explain }, [retrieve], { id: idOf(kind, params) })
      if (!row) throw refusalOf(kind, facts)
      return { body: row }
    }),

    list: endpoint(contracts.list, async ({ query }, context) => {
      const rows = await listRows(context, query)
      return { body: pageOf(rows, query, ({ id }) => String(id)) }
    }),

    remove: endpoint(contracts.remove, async ({ params }, context) => {
      const id = idOf(kind, params)
      const [facts, , [removed]] = await context.run({ check: explain }, removals, { id })
      if (!removed) throw removalRefusalOf(kind, facts)
      return { body: { deleted: true as const, id } }
    }),
  }
}

/** Archives and unarchives what can be. */
function archivingOf<const K extends typeof PROJECT | typeof AGENT>(
  kind: K,
  contracts: Contracts<K>,
  { explain, archive }: { explain: Statement<Facts>; archive: Statement<Resource> },
) {
  return endpoint(contracts.update, async ({ params, body }, context) => {
    const values = { id: idOf(kind, params), archived: Number(body.archived) }
    const [facts, [row]] = await context.run({ check: explain }, [archive], values)
    if (!row) throw changeRefusalOf(kind, facts)
    return { body: row }
  })
}

export const projects = {
  ...lifeOf(PROJECT, projectContracts, projectStatements),
  update: archivingOf(PROJECT, projectContracts, projectStatements),
}
export const agents = {
  ...lifeOf(AGENT, agentContracts, agentStatements),
  update: archivingOf(AGENT, agentContracts, agentStatements),
}
export const sessions = lifeOf(SESSION, sessionContracts, sessionStatements)
export const pullRequests = lifeOf(PULL_REQUEST, pullRequestContracts, pullRequestStatements)
export const users = lifeOf(USER, userContracts, userStatements)
