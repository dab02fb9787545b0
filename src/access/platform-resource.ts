/**
 * The platform resource that a request names (a project, agent, user, session or pull request), and what operations
 * require of it.
 */
import { and, eq, isNotNull, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { AnySQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { type Parameter, text } from '../db/parameters.ts'
import { agents, apiKeys, deletions, projects } from '../db/schema.ts'
import { agentArchived, deleted, notFound } from './failures.ts'
import { precondition } from './preconditions.ts'
import { withAccessTo } from './project.ts'

type TextColumn = AnySQLiteColumn<{ data: string; notNull: true }>
/** The columns that the tables of all kinds have. */
export type ResourceTable = SQLiteTable &
  Record<'organizationId' | 'id' | 'name' | 'createdAt' | 'updatedAt' | 'revision', TextColumn>
/** The table of sessions, or of pull requests: they belong to a project. */
export type ProjectResourceTable = ResourceTable & Record<'projectId', TextColumn>

export interface ResourceKind<Table extends ResourceTable = ResourceTable, IdName extends string = string> {
  readonly type: 'project' | 'agent' | 'user' | 'session' | 'pull_request'
  /** In sentences. */
  readonly noun: string
  /** The path parameter. */
  readonly idName: IdName
  readonly table: Table
}

export const agentIsActive = precondition(isNull(agents.archivedAt), agentArchived)

/** The ID in the path of an operation on the resource itself. */
export const resourceId = text('id')

/**
 * @param isThere true if there is a row, and nothing that it depends on was deleted.
 * @param id the parameter, if the operation is not on the resource itself.
 */
export function namedResource<Id extends Parameter = typeof resourceId>(
  kind: ResourceKind,
  isThere: SQL = isNotNull(kind.table.id),
  id: Id = resourceId as Parameter as Id,
) {
  const { type, table } = kind
  const row = {
    table,
    on: and(eq(table.organizationId, apiKeys.organizationId), eq(table.id, id)),
    takes: { id },
  }
  const deletion = {
    table: deletions,
    on: and(
      eq(deletions.organizationId, apiKeys.organizationId),
      eq(deletions.resourceType, type),
      eq(deletions.resourceId, id),
    ),
    takes: { id },
  }
  return {
    joins: [row, deletion],
    /** Holds for a deleted resource, too. */
    exists: precondition(or(isNotNull(table.id), isNotNull(deletions.resourceId)), notFound(kind)),
    /** Holds for an ID that was never used, too. */
    isNotDeleted: precondition(or(isThere, and(isNull(table.id), isNull(deletions.resourceId))), deleted(kind)),
  }
}

/**
 * True if the project of the row exists, else false. If it does not, the row counts as deleted, although the purge may
 * not have removed it yet. With IN, SQLite looks the ID up in the primary key, which D1 does not count as a row read;
 * with EXISTS it does. CASE does not distinguish NULL from false: for that, SQLite reads every project after a miss.
 * CASE also keeps SQLite from starting at all projects.
 */
export function hasProject({ organizationId, projectId }: Record<'organizationId' | 'projectId', SQLWrapper>): SQL {
  const ids = sql`(select ${projects.organizationId}, ${projects.id} from ${projects})`
  return sql`case when (${organizationId}, ${projectId}) in ${ids} then 1 else 0 end`
}

/** A session or a pull request, which is deleted with its project. */
export function namedProjectResource<Id extends Parameter = typeof resourceId>(
  kind: ResourceKind<ProjectResourceTable>,
  id?: Id,
) {
  const { table } = kind
  const itsProject = {
    table: projects,
    on: and(eq(projects.organizationId, table.organizationId), eq(projects.id, table.projectId)),
    takes: {},
  }
  return {
    ...namedResource(kind, hasProject(table), id),
    /** For `projectIsActive`. */
    itsProject,
    isAccessible: withAccessTo(sql`coalesce(${table.projectId}, ${deletions.projectId})`),
  }
}
