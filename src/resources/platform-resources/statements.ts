/**
 * Platform resources in SQL. A deletion moves the id of a resource to `deletions`, where it is never used again. What depends on
 * the resource is gone at once, because every statement looks for what its rows depend on; the purge removes it from its tables.
 */
import { and, asc, eq, getTableColumns, getTableName, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { now } from '../../access/guard.ts'
import {
  hasProject,
  namedProjectResource,
  namedResource,
  type ProjectResourceTable,
  type ResourceTable,
} from '../../access/platform-resource.ts'
import {
  authorized,
  isNew,
  type NamedPreconditions,
  type Preconditions,
  precondition,
  requiring,
} from '../../access/preconditions.ts'
import {
  namedProject,
  projectExists,
  projectIsActive,
  projectIsInReach,
  unrestrictedFor,
  withinReach,
} from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { isNewIfRequired, matchesRevision, newRevision } from '../../access/revision.ts'
import { excluded, insertRow, selectByIndex } from '../../db/rows.ts'
import { apiKeys, deletions, projects } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import type { Kind } from './contract.ts'

const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

/** A resource as the API has it. */
function fieldsOf(table: ResourceTable) {
  const { organizationId, revision, ...fields } = getTableColumns(table)
  // Of a table of any kind, the type checker knows the columns only as properties of the table.
  const { id, name, createdAt, updatedAt } = table
  return { ...fields, id, name, createdAt, updatedAt }
}

const withRevision = (table: ResourceTable) => ({ ...fieldsOf(table), revision: table.revision })

/** Creates the resource, or renames it. */
function putStatement(
  { table, idName }: Kind,
  puttable: Preconditions,
  ofProject: { readonly projectId?: typeof projects.id } = {},
) {
  return guardedChange(() =>
    query
      .insert(table)
      .select(
        puttable.rows(
          insertRow(table, {
            organizationId: apiKeys.organizationId,
            id: sql.placeholder(idName),
            ...ofProject,
            name: sql.placeholder('name'),
            createdAt: now,
            updatedAt: now,
            revision: newRevision,
          }),
        ),
      )
      .onConflictDoUpdate({
        target: [table.organizationId, table.id],
        set: { name: excluded('name'), updatedAt: excluded('updatedAt'), revision: excluded('revision') },
      })
      .returning(withRevision(table)),
  )
}

/** Records the deletion of the resource, and then deletes its row. */
function deletionStatements(
  { table, type, idName }: Kind,
  deletable: Preconditions,
  projectId?: SQLiteColumn,
) {
  const recordDeletion = guarded(() =>
    query.insert(deletions).select(
      deletable.rows(
        insertRow(deletions, {
          organizationId: table.organizationId,
          resourceType: type,
          resourceId: table.id,
          projectId: projectId ?? null,
          deletedAt: now,
        }),
      ),
    ),
  )
  const deleteRow = guardedChange(() =>
    query
      .delete(table)
      .where(and(eq(table.organizationId, deletable.organizationId), eq(table.id, sql.placeholder(idName))))
      .returning({ id: table.id }),
  )
  return [recordDeletion, deleteRow] as const
}

/** Lists the resources of the organization that meet the condition, in order of id. */
export function listStatement(table: ResourceTable, listable: Pick<Preconditions, 'rows'>, condition?: SQL) {
  return guarded(() =>
    listable
      .rows(fieldsOf(table), condition)
      .innerJoin(table, and(eq(table.organizationId, apiKeys.organizationId), gt(table.id, cursor)))
      .orderBy(asc(table.id))
      .limit(rowLimit),
  )
}

const conditionsOfChange = ({ noun, table }: Kind) => ({
  matchesRevision: matchesRevision(noun, table.revision),
})
const conditionsOfPut = (kind: Kind) => ({
  ...conditionsOfChange(kind),
  isNewIfRequired: isNewIfRequired(kind.noun, kind.table.revision),
})

/** What operations require of the API key, besides the scope. */
interface Access {
  readonly toRead?: NamedPreconditions
  readonly toChange: NamedPreconditions
  /** The same as `toChange` if it is left out. */
  readonly toDelete?: NamedPreconditions
  readonly toList?: SQL
}

/** Of projects, agents and users, which belong to the organization itself. */
export function organizationResourceStatements(
  kind: Kind,
  { toRead = {}, toChange, toDelete = toChange, toList }: Access,
) {
  const { table, quota } = kind
  const { joins, exists, isNotDeleted } = namedResource(kind)
  const exceededQuota = withinQuotas({ [quota]: isNull(table.id) })
  const puttable = requiring(
    joins,
    { ...toChange, isNotDeleted, exceededQuota, ...conditionsOfPut(kind) },
    { isNew: isNew(table.id) },
  )
  const readable = requiring(joins, { exists, ...toRead, isNotDeleted })
  const deletable = requiring(joins, { exists, ...toDelete, isNotDeleted, ...conditionsOfChange(kind) })
  return {
    puttable,
    put: putStatement(kind, puttable),
    readable,
    retrieve: guarded(() => readable.rows(withRevision(table))),
    list: listStatement(table, authorized, toList),
    deletable,
    deletion: deletionStatements(kind, deletable),
  }
}

/** Of projects and agents, which can be archived. An archived one keeps the time at which it was archived first. */
export function archivingStatements(
  kind: Kind<ResourceTable & Record<'archivedAt', SQLiteColumn>>,
  toChange: NamedPreconditions,
) {
  const { table, idName } = kind
  const { joins, exists, isNotDeleted } = namedResource(kind)
  const archivable = requiring(joins, { exists, ...toChange, isNotDeleted, ...conditionsOfChange(kind) })
  const archivedAt = sql`case when ${sql.placeholder('archived')} then coalesce(${table.archivedAt}, ${now}) end`
  return {
    archivable,
    archive: guardedChange(() =>
      query
        .update(table)
        .set({ archivedAt, updatedAt: sql`${now}`, revision: newRevision })
        .where(
          and(eq(table.organizationId, archivable.organizationId), eq(table.id, sql.placeholder(idName))),
        )
        .returning(withRevision(table)),
    ),
  }
}

/** Of sessions and pull requests, which belong to a project. */
export function projectResourceStatements(kind: Kind<ProjectResourceTable>) {
  const { table, noun, quota } = kind
  const { joins, itsProject, exists, isInReach, isNotDeleted } = namedProjectResource(kind)
  const puttable = requiring(
    [namedProject, ...joins],
    {
      projectExists,
      projectIsInReach,
      isInReach: withinReach(sql`coalesce(${table.projectId}, ${deletions.projectId}, ${projects.id})`),
      isNotDeleted,
      staysInProject: precondition(
        or(isNull(table.id), eq(table.projectId, projects.id)),
        () =>
          new ApiError(
            'project_mismatch',
            `The ${noun} belongs to another project. Send the projectId of that project.`,
          ),
      ),
      projectIsActive,
      exceededQuota: withinQuotas({ [quota]: isNull(table.id) }),
      ...conditionsOfPut(kind),
    },
    { isNew: isNew(table.id) },
  )
  const readable = requiring(joins, { exists, isInReach, isNotDeleted })
  const deletable = requiring([...joins, itsProject], {
    exists,
    isInReach,
    isNotDeleted,
    projectIsActive,
    ...conditionsOfChange(kind),
  })
  const listable = requiring([], {
    isUnrestricted: unrestrictedFor(`Lists of all ${noun}s`, 'Name one of its projects as projectId.'),
  })
  const listableInProject = requiring([namedProject], { projectExists, projectIsInReach })
  return {
    puttable,
    put: putStatement(kind, puttable, { projectId: projects.id }),
    readable,
    retrieve: guarded(() => readable.rows(withRevision(table))),
    listable,
    list: listStatement(table, listable, hasProject(table)),
    listableInProject,
    listInProject: guarded(() =>
      selectByIndex(table, `${getTableName(table)}ByProject`, fieldsOf(table))
        .where(
          and(
            eq(table.organizationId, listableInProject.organizationId),
            eq(table.projectId, sql.placeholder('projectId')),
            gt(table.id, cursor),
          ),
        )
        .orderBy(asc(table.id))
        .limit(rowLimit),
    ),
    deletable,
    deletion: deletionStatements(kind, deletable, table.projectId),
  }
}
