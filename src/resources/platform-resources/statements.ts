/**
 * Platform resources in SQL. A deletion moves the row of a resource to `deletions`, and its ID is never used again. What
 * depends on the resource is gone at once, because every statement looks for what its rows depend on. It stays in its
 * tables until the deletion is final; then the purge removes it.
 */
import { and, asc, eq, getTableName, gt, isNotNull, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { copyToDeletions } from '../../access/deletions.ts'
import { createdOrUpdated, eventType, guardedChange, recordedBefore } from '../../access/events.ts'
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
  ofAllProjectsOrOne,
  projectExists,
  projectIdOrNull,
  projectIsAccessible,
  projectIsActive,
  withAccessTo,
} from '../../access/project.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { differs, edited, isNewIfRequired, matchesRevision, newRevision } from '../../access/revision.ts'
import { hasDeleted, listOf } from '../../db/examined.ts'
import { cursor, type NamedParameters, now, number, type Parameter, text, textOrNull } from '../../db/parameters.ts'
import { containsIfGiven, equalsIfGiven, excluded, indexedBy, insertRow } from '../../db/rows.ts'
import { apiKeys, deletions, projects } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import type { Kind } from './contract.ts'
import { projectMismatch } from './failures.ts'

const name = text('name')
const archived = number('archived')
/** The text that the names of a list contain; null: any. */
export const nameQuery = textOrNull('query')
/** Where a list with the latest first begins: before this time, or at this time with an ID before the cursor. */
const createdBefore = text('createdBefore')

/** The columns of a resource that its responses have. */
type ResourceFields = Pick<ResourceTable, 'id' | 'name' | 'createdAt' | 'updatedAt'>
type ProjectResourceFields = ResourceFields & Pick<ProjectResourceTable, 'projectId'>

/** The type of the resource in events. */
const eventResource = ({ type }: Kind) => (type === 'pull_request' ? 'pull-request' : type)

/** Creates the resource, or renames it. */
function putStatement<Fields extends ResourceFields>(
  kind: Kind,
  fields: Fields,
  puttable: Preconditions,
  ofProject: { readonly projectId?: typeof projects.id } = {},
) {
  const { table, type, idName } = kind
  const id = text(idName)
  const recorded = recordedBefore(
    puttable,
    { id, name },
    {
      type: createdOrUpdated(eventResource(kind), table.id),
      id,
      name,
      projectId: type === 'project' ? id : ofProject.projectId,
    },
    differs(table, { name }),
  )
  return guardedChange(puttable, { name }, recorded, () =>
    query
      .insert(table)
      .select(
        puttable.rows(
          insertRow(table, {
            organizationId: apiKeys.organizationId,
            id,
            ...ofProject,
            name,
            createdAt: now,
            updatedAt: now,
            revision: newRevision,
          }),
        ),
      )
      .onConflictDoUpdate({
        target: [table.organizationId, table.id],
        set: edited(table, { name: excluded('name') }),
      })
      .returning({ ...fields, revision: table.revision }),
  )
}

/** Moves the row of the resource to `deletions`. */
function deletionStatements(kind: Kind, deletable: Preconditions, ofProject?: SQLiteColumn) {
  const { table, type, idName } = kind
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
      .where(and(eq(table.organizationId, deletable.organizationId), eq(table.id, text(idName))))
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
export function organizationResourceStatements(
  kind: Kind,
  fields: ResourceFields,
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
  const listedOrganization = sql`${authorized.rows({ organizationId: apiKeys.organizationId }, toList)}`
  return {
    puttable,
    put: putStatement(kind, fields, puttable),
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

/** Archives projects and agents. An archived one keeps the time at which it was archived first. */
export function archivingStatements(
  kind: Kind<ResourceTable & Record<'archivedAt', SQLiteColumn>> & { readonly type: 'project' | 'agent' },
  fields: ResourceFields,
  toChange: NamedPreconditions,
) {
  const { table, type, idName } = kind
  const { joins, exists, isNotDeleted } = namedResource(kind)
  const archivable = requiring(joins, { exists, ...toChange, isNotDeleted, ...conditionsOfChange(kind) })
  const settings = { archivedAt: sql`case when ${archived} then coalesce(${table.archivedAt}, ${now}) end` }
  const recorded = recordedBefore(
    archivable,
    { archived },
    {
      type: eventType(sql`case when ${archived}
      then ${sql.raw(`'${type}.archived'`)} else ${sql.raw(`'${type}.unarchived'`)} end`),
      id: table.id,
      name: table.name,
      projectId: type === 'project' ? table.id : undefined,
    },
    differs(table, settings),
  )
  return {
    archivable,
    archive: guardedChange(archivable, { archived }, recorded, () =>
      query
        .update(table)
        .set(edited(table, settings))
        .where(and(eq(table.organizationId, archivable.organizationId), eq(table.id, text(idName))))
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
    put: putStatement(kind, fields, puttable, { projectId: projects.id }),
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
