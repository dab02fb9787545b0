/**
 * Platform resources in SQL. A deletion moves the row of a resource to `deletions`, and its ID is never used again. What
 * depends on the resource is gone at once, because every statement looks for what its rows depend on. It stays in its
 * tables until the deletion is final; then the purge removes it.
 */
import { and, asc, eq, getTableColumns, getTableName, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { copyToDeletions } from '../../access/deletions.ts'
import { createdOrUpdated, eventType, guardedChange, recordedBefore } from '../../access/events.ts'
import {
  hasProject,
  resourceId as id,
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
  ofAllProjectsOrOne,
  projectExists,
  projectIdOrNull,
  projectIsAccessible,
  projectIsActive,
  withAccessTo,
} from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import {
  changed,
  changes,
  differs,
  edited,
  isNewIfRequired,
  matchesRevision,
  newRevision,
} from '../../access/revision.ts'
import { hasDeleted, listOf } from '../../db/examined.ts'
import {
  cursor,
  type NamedParameters,
  now,
  numberOrNull,
  type Parameter,
  text,
  textOrNull,
} from '../../db/parameters.ts'
import { containsIfGiven, equalsIfGiven, excluded, indexedBy, insertRow } from '../../db/rows.ts'
import { apiKeys, deletions, projects } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import type { Kind } from './contract.ts'
import { projectMismatch } from './failures.ts'

/** The columns that a request sets, of kinds without further ones. */
const NAME = { name: text('name') }
/** A kind may have further columns that a request sets. */
type Written = typeof NAME & NamedParameters
/** The columns that a request sets, of projects and agents. */
export const DESCRIBED = { ...NAME, description: textOrNull('description') }
/** 1 archives the resource, 0 unarchives it; null leaves it as it is. */
const archived = numberOrNull('archived')
/** The text that the names of a list contain; null: any. */
export const nameQuery = textOrNull('query')
/** Where a list with the latest first begins: before this time, or at this time with an ID before the cursor. */
const createdBefore = text('createdBefore')

/** The columns of a resource that its responses have. */
type ResourceFields = Pick<ResourceTable, 'id' | 'name' | 'createdAt' | 'updatedAt'>
type ProjectResourceFields = ResourceFields & Pick<ProjectResourceTable, 'projectId'>

/** The type of the resource in events. */
const eventResource = ({ type }: Kind) => (type === 'pull_request' ? 'pull-request' : type)

/** The columns of the table by their names, as those that a kind has beside the others are not known here. */
const columnsOf = (table: ResourceTable) => getTableColumns(table) as Readonly<Record<string, SQLiteColumn>>

const columnsBy = (written: Written, toValue: (name: string) => SQL) =>
  Object.fromEntries(Object.keys(written).map((name) => [name, toValue(name)]))

/** Creates the resource, or replaces what a request sets. */
function putStatement<Fields extends ResourceFields, Own extends Written, P extends Parameter>(
  kind: Kind,
  fields: Fields,
  puttable: Preconditions<unknown, P>,
  written: Own,
  ofProject: { readonly projectId?: typeof projects.id } = {},
) {
  const { table, type } = kind
  const recorded = recordedBefore(
    puttable,
    { id, ...written },
    {
      type: createdOrUpdated(eventResource(kind), table.id),
      id,
      name: written.name,
      projectId: type === 'project' ? id : ofProject.projectId,
    },
    differs(columnsOf(table), written),
  )
  return guardedChange(puttable, written, recorded, () =>
    query
      .insert(table)
      .select(
        puttable.rows(
          insertRow(table, {
            organizationId: apiKeys.organizationId,
            id,
            ...ofProject,
            ...written,
            createdAt: now,
            updatedAt: now,
            revision: newRevision,
          }),
        ),
      )
      .onConflictDoUpdate({
        target: [table.organizationId, table.id],
        set: edited(columnsOf(table) as never, columnsBy(written, excluded)),
      })
      .returning({ ...fields, revision: table.revision }),
  )
}

/** Moves the row of the resource to `deletions`. */
function deletionStatements<P extends Parameter>(
  kind: Kind,
  deletable: Preconditions<unknown, P>,
  ofProject?: SQLiteColumn,
) {
  const { table, type } = kind
  const projectId = type === 'project' ? table.id : ofProject
  const recorded = recordedBefore(
    deletable,
    {},
    {
      type: `${eventResource(kind)}.deleted`,
      id: table.id,
      name: table.name,
      projectId,
    },
  )
  const removed = guardedChange(deletable, {}, recorded, () =>
    query
      .delete(table)
      .where(and(eq(table.organizationId, deletable.organizationId), eq(table.id, id)))
      .returning({ id: table.id }),
  )
  return { copyDeleted: copyToDeletions(deletable, type, table, { projectId }), removed }
}

interface ListOptions<Range extends NamedParameters> {
  /** The table by the index of this order, if that is not the primary key. */
  readonly source?: SQL
  readonly isInRange: SQL | undefined
  /** The parameters of the range. */
  readonly range: Range
  readonly order: SQL
  readonly condition?: SQL | undefined
  /** False if the condition holds for every row. */
  readonly mayLeaveOut?: SQL | undefined
}

function listStatement<Fields extends ResourceFields, P extends Parameter, Range extends NamedParameters>(
  table: ResourceTable,
  fields: Fields,
  listable: Pick<Preconditions<unknown, P>, 'takes'>,
  { condition, range, mayLeaveOut, ...options }: ListOptions<Range>,
) {
  return listOf(
    listable,
    { ...range, nameQuery },
    {
      table,
      ...options,
      position: { id: table.id, createdAt: table.createdAt },
      fields: { ...fields },
      isListed: and(containsIfGiven(table.name, nameQuery), condition),
      mayLeaveOut: or(isNotNull(nameQuery), mayLeaveOut),
    },
  )
}

const conditionsOfChange = ({ table }: Kind) => ({
  matchesRevision: matchesRevision(table.revision),
})
const conditionsOfPut = (kind: Kind) => ({
  ...conditionsOfChange(kind),
  isNewIfRequired: isNewIfRequired(kind.table.revision),
})

/** What operations require of the API key, besides the scope. */
interface Access {
  readonly toRead?: NamedPreconditions
  readonly toChange: NamedPreconditions
  /** The same as `toChange` if it is left out. */
  readonly toDelete?: NamedPreconditions
  readonly toList?: SQL
}

/** Statements on projects, agents and users, which belong to the organization itself. */
export function organizationResourceStatements<Own extends Written = typeof NAME>(
  kind: Kind,
  fields: ResourceFields,
  { toRead = {}, toChange, toDelete = toChange, toList }: Access,
  written: Own = NAME as Own,
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
  const listedOrganization = sql`${authorized.rows({ organizationId: apiKeys.organizationId }, toList)}`
  const { name: _, ...optional } = written
  return {
    /** What a PUT leaves out. */
    unset: Object.fromEntries(Object.keys(optional).map((name) => [name, null])),
    puttable,
    put: putStatement(kind, fields, puttable, written),
    readable,
    retrieve: guarded(readable, {}, () => readable.rows({ ...fields, revision: table.revision })),
    list: listStatement(table, fields, authorized, {
      isInRange: and(eq(table.organizationId, listedOrganization), gt(table.id, cursor)),
      range: { cursor },
      order: asc(table.id),
    }),
    deletable,
    deletion: deletionStatements(kind, deletable),
  }
}

/** Changes projects and agents, and archives them. An archived one keeps the time at which it was archived first. */
export function changingStatements<Own extends Written>(
  kind: Kind<ResourceTable & Record<'archivedAt', SQLiteColumn>> & { readonly type: 'project' | 'agent' },
  fields: ResourceFields,
  toChange: NamedPreconditions,
  written: Own,
) {
  const { table, type } = kind
  const { joins, exists, isNotDeleted } = namedResource(kind)
  const changeable = requiring(joins, { exists, ...toChange, isNotDeleted, ...conditionsOfChange(kind) })
  const columns = columnsOf(table)
  const settings = {
    ...columnsBy(written, (name) => changed(name, sql`${columns[name]}`)),
    archivedAt: sql`case when ${archived} is null then ${table.archivedAt}
      when ${archived} then coalesce(${table.archivedAt}, ${now}) end`,
  }
  const recorded = recordedBefore(
    changeable,
    { changes, archived },
    {
      type: eventType(sql`case when ${archived} and ${table.archivedAt} is null then ${sql.raw(`'${type}.archived'`)}
        when not ${archived} and ${table.archivedAt} is not null then ${sql.raw(`'${type}.unarchived'`)}
        else ${sql.raw(`'${type}.updated'`)} end`),
      id: table.id,
      name: changed('name', table.name),
      projectId: type === 'project' ? table.id : undefined,
    },
    differs(columns, settings),
  )
  return {
    changeable,
    change: guardedChange(changeable, { changes, archived }, recorded, () =>
      query
        .update(table)
        .set(edited(columns as never, settings))
        .where(and(eq(table.organizationId, changeable.organizationId), eq(table.id, id)))
        .returning({ ...fields, revision: table.revision }),
    ),
  }
}

/** Statements on sessions and pull requests, which belong to a project. */
export function projectResourceStatements(kind: Kind<ProjectResourceTable>, fields: ProjectResourceFields) {
  const { table, noun, quota } = kind
  const { joins, itsProject, exists, isAccessible, isNotDeleted } = namedProjectResource(kind)
  const puttable = requiring(
    [namedProject, ...joins],
    {
      projectExists,
      projectIsAccessible,
      isAccessible: withAccessTo(sql`coalesce(${table.projectId}, ${deletions.projectId}, ${projects.id})`),
      isNotDeleted,
      staysInProject: precondition(or(isNull(table.id), eq(table.projectId, projects.id)), projectMismatch(noun)),
      projectIsActive,
      exceededQuota: withinQuotas({ [quota]: isNull(table.id) }),
      ...conditionsOfPut(kind),
    },
    { isNew: isNew(table.id) },
  )
  const readable = requiring(joins, { exists, isAccessible, isNotDeleted })
  const deletable = requiring([...joins, itsProject], {
    exists,
    isAccessible,
    isNotDeleted,
    projectIsActive,
    ...conditionsOfChange(kind),
  })
  const listable = ofAllProjectsOrOne()
  const isInOrganization = eq(table.organizationId, listable.organizationId)
  const name = getTableName(table)
  const hasDeletedProjects = hasDeleted(listable.organizationId, 'project')
  const byId = { range: { cursor }, order: asc(table.id), condition: hasProject(table) } as const
  return {
    puttable,
    put: putStatement(kind, fields, puttable, NAME, { projectId: projects.id }),
    readable,
    retrieve: guarded(readable, {}, () => readable.rows({ ...fields, revision: table.revision })),
    listable,
    list: listStatement(table, fields, listable, {
      ...byId,
      isInRange: and(isInOrganization, gt(table.id, cursor)),
      mayLeaveOut: hasDeletedProjects,
    }),
    listInProject: listStatement(table, fields, listable, {
      ...byId,
      source: indexedBy(table, `${name}ByProject`),
      isInRange: and(isInOrganization, eq(table.projectId, projectIdOrNull), gt(table.id, cursor)),
    }),
    listLatest: listStatement(table, fields, listable, {
      source: indexedBy(table, `${name}ByCreation`),
      isInRange: and(isInOrganization, sql`(${table.createdAt}, ${table.id}) < (${createdBefore}, ${cursor})`),
      range: { createdBefore, cursor },
      order: sql`${table.createdAt} desc, ${table.id} desc`,
      condition: and(equalsIfGiven(table.projectId, projectIdOrNull), hasProject(table)),
      mayLeaveOut: or(isNotNull(projectIdOrNull), hasDeletedProjects),
    }),
    deletable,
    deletion: deletionStatements(kind, deletable, table.projectId),
  }
}
