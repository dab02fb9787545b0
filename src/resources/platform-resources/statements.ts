/**
 * The life of what the host platform has, in SQL, once for all kinds. What is deleted leaves its table and enters
 * `deletions`; what hangs on it is gone at once, because every statement looks for what it hangs on.
 */
import { and, asc, eq, getTableColumns, gt, isNotNull, isNull, ne, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { recordRevocations } from '../../access/audit.ts'
import {
  explainCaller,
  explaining,
  explainUnlimited,
  isInReach,
  isUnrestricted,
  mayAct,
  now,
} from '../../access/guard.ts'
import { isManageable } from '../../access/manage-keys.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, deletions, projects, type sessions } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { AGENT, type Kind, PROJECT, PULL_REQUEST, SESSION, USER } from './kinds.ts'

const id = sql.placeholder('id')
const name = sql.placeholder('name')
const projectId = sql.placeholder('projectId')
const archived = sql.placeholder('archived')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

/** A row of any kind, in the shape of the wire. */
export type Resource = Record<string, string | null>

/** The project that the request names, of the caller's organization. */
const isNamedProject = and(eq(projects.organizationId, apiKeys.organizationId), eq(projects.id, projectId))

/** True if the caller's key isn't limited to other projects: than the project itself, or than the one that it belongs to. */
function reach(type: Kind['type'], itsProjectId: SQL = sql`null`): SQL<0 | 1> {
  if (type === 'project') return isInReach(sql`${id}`)
  return type === 'session' || type === 'pull_request' ? isInReach(itsProjectId) : sql<0 | 1>`true`
}

/** @param isRemovable what else a caller needs to delete it. */
function lifeOf(
  { type, table: anyTable, quota, isOfProject, isOfOrganization }: Kind,
  isRemovable: SQL = sql`true`,
) {
  // The type checker can't build queries on the union of the tables. Of the columns of sessions,
  // kinds that belong to no project lack `projectId`, and nothing below uses it for them.
  const table = anyTable as typeof sessions
  const { organizationId, ...fields } = getTableColumns(table)

  const isIt = and(eq(table.organizationId, apiKeys.organizationId), eq(table.id, id))
  const wasDeleted = and(
    eq(deletions.organizationId, apiKeys.organizationId),
    eq(deletions.resourceType, type),
    eq(deletions.resourceId, id),
  )
  /** True if the project that it belongs to is there, and as the condition says. */
  const hasProject = (condition?: SQL) =>
    isOfProject
      ? sql<0 | 1>`exists ${query
          .select({ one: sql`1` })
          .from(projects)
          .where(
            and(eq(projects.organizationId, organizationId), eq(projects.id, table.projectId), condition),
          )}`
      : sql<0 | 1>`true`
  const isUnfrozen = hasProject(isNull(projects.archivedAt))

  const isReached = reach(type, sql`${table.projectId}`)
  const wasReached = reach(type, sql`coalesce(${table.projectId}, ${deletions.projectId})`)

  const isChangeable = isOfOrganization ? isUnrestricted : undefined

  const exists = or(isNotNull(table.id), isNotNull(deletions.resourceId))
  const facts = {
    exists: sql<0 | 1>`${exists}`.as('exists'),
    inReach: sql<0 | 1>`${wasReached}`.as('inReach'),
    isDeleted: sql<0 | 1>`${isNull(table.id)} or not ${hasProject()}`.as('isDeleted'),
    isFrozen: sql<0 | 1>`not ${isUnfrozen}`.as('isFrozen'),
    isChangeable: sql<0 | 1>`${isChangeable ?? true}`.as('isChangeable'),
    isRemovable: sql<0 | 1>`${isRemovable}`.as('isRemovable'),
  }
  const explain = guarded(() => explaining(facts).leftJoin(table, isIt).leftJoin(deletions, wasDeleted))

  const isNew = sql`not exists ${query
    .select({ one: sql`1` })
    .from(table)
    .where(and(eq(organizationId, apiKeys.organizationId), eq(table.id, id)))}`
  const exceeded = exceededQuota({ [quota]: isNew })
  const putFacts = { ...facts, exceededQuota: exceeded.as('exceededQuota') }
  /** What a project holds is put into a project that is there, that the caller reaches, and that is not archived. */
  const explainPut = isOfProject
    ? guarded(() =>
        explaining({
          ...putFacts,
          inReach: sql<0 | 1>`${isInReach(projects.id)} and (not (${exists}) or ${wasReached})`.as('inReach'),
          isFrozen: sql<0 | 1>`${isNotNull(projects.archivedAt)}`.as('isFrozen'),
          projectExists: sql<0 | 1>`${isNotNull(projects.id)}`.as('projectExists'),
          isElsewhere: sql<0 | 1>`${ne(table.projectId, projectId)}`.as('isElsewhere'),
        })
          .leftJoin(table, isIt)
          .leftJoin(deletions, wasDeleted)
          .leftJoin(projects, isNamedProject),
      )
    : guarded(() => explaining(putFacts).leftJoin(table, isIt).leftJoin(deletions, wasDeleted))
  const isDeletion = sql`exists ${query.select({ one: sql`1` }).from(deletions).where(wasDeleted)}`
  const isOpen = sql`exists ${query
    .select({ one: sql`1` })
    .from(projects)
    .where(and(isNamedProject, isInReach(projects.id), isNull(projects.archivedAt)))}`
  const put = guardedChange(() =>
    query
      .insert(table)
      .select(
        query
          .select(
            insertRow(table, {
              organizationId: apiKeys.organizationId,
              id,
              ...(isOfProject && { projectId }),
              name,
              createdAt: now,
              updatedAt: now,
            }),
          )
          .from(apiKeys)
          .where(
            and(
              mayAct,
              isOfProject ? isOpen : isReached,
              isChangeable,
              sql`not ${isDeletion}`,
              isNull(exceeded),
            ),
          ),
      )
      .onConflictDoUpdate({
        target: [table.organizationId, table.id],
        set: { name: excluded('name'), updatedAt: excluded('updatedAt') },
        ...(isOfProject && { setWhere: eq(table.projectId, excluded('projectId')) }),
      })
      .returning(fields),
  )

  const retrieve = guarded(() =>
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(table, isIt)
      .where(and(mayAct, isReached, hasProject())),
  )

  const areProjectsLimited = isOfProject || type === 'project'
  const explainList = isOfProject ? explainUnlimited : explainCaller
  const list = guarded(() =>
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(table, and(eq(organizationId, apiKeys.organizationId), gt(table.id, cursor)))
      .where(and(mayAct, areProjectsLimited ? isUnrestricted : undefined, hasProject()))
      .orderBy(asc(table.id))
      .limit(rowLimit),
  )

  /** The organization that it may be deleted from, or NULL, which matches no row. */
  const isDeletable = and(mayAct, isReached, isChangeable, isRemovable, isUnfrozen)
  const deletableFrom = query
    .select({ organizationId })
    .from(apiKeys)
    .innerJoin(table, isIt)
    .where(isDeletable)
  const remember = guarded(() =>
    query.insert(deletions).select(
      query
        .select(
          insertRow(deletions, {
            organizationId,
            resourceType: type,
            resourceId: table.id,
            projectId: isOfProject ? table.projectId : null,
            deletedAt: now,
          }),
        )
        .from(apiKeys)
        .innerJoin(table, isIt)
        .where(isDeletable),
    ),
  )
  const remove = guardedChange(() =>
    query
      .delete(table)
      .where(and(eq(organizationId, deletableFrom), eq(table.id, id)))
      .returning({ id: table.id }),
  )

  return {
    explain,
    explainPut,
    put,
    retrieve,
    explainList,
    lists: [list],
    removals: [remember, remove] as const,
  }
}

/** Archives what can be: a row comes back if it is there and reached. */
function archiving({ table, type, isOfOrganization }: typeof PROJECT | typeof AGENT) {
  const { organizationId, ...fields } = getTableColumns(table as typeof projects)
  const changeableFrom = query
    .select({ organizationId: apiKeys.organizationId })
    .from(apiKeys)
    .where(and(mayAct, reach(type), isOfOrganization ? isUnrestricted : undefined))
  return guardedChange(() =>
    query
      .update(table as typeof projects)
      .set({
        archivedAt: sql`case when ${archived} then coalesce(${fields.archivedAt}, ${now}) end`,
        updatedAt: sql`${now}`,
      })
      .where(and(eq(organizationId, changeableFrom), eq(fields.id, id)))
      .returning(fields),
  )
}

/** Lists what belongs to the project that the request names. */
function listingOfProject(anyTable: typeof SESSION.table | typeof PULL_REQUEST.table) {
  const table = anyTable as typeof sessions
  const { organizationId, ...fields } = getTableColumns(table)
  const listedFrom = query
    .select({ organizationId: projects.organizationId })
    .from(apiKeys)
    .innerJoin(projects, isNamedProject)
    .where(and(mayAct, isInReach(projects.id)))
  return guarded(() =>
    query
      .select(fields)
      .from(table)
      .where(and(eq(organizationId, listedFrom), eq(table.projectId, projectId), gt(table.id, cursor)))
      .orderBy(asc(table.id))
      .limit(rowLimit),
  )
}

export const explainListOfProject = guarded(() =>
  explaining({
    projectExists: sql<0 | 1>`${isNotNull(projects.id)}`.as('projectExists'),
    inReach: sql<0 | 1>`${isInReach(projects.id)}`.as('inReach'),
  }).leftJoin(projects, isNamedProject),
)

/** Lists the projects that a limited key is limited to. */
function listingReached() {
  const { organizationId, ...fields } = getTableColumns(projects)
  const isListed = sql`${projects.id} in (select value from json_each(${apiKeys.projectIds}))`
  return guarded(() =>
    query
      .select(fields)
      .from(apiKeys)
      .innerJoin(projects, and(eq(organizationId, apiKeys.organizationId), gt(projects.id, cursor), isListed))
      .where(mayAct)
      .orderBy(asc(projects.id))
      .limit(rowLimit),
  )
}

/** A key of the user that the request names. */
const userKey = alias(apiKeys, 'userKey')
const isUserKey = and(
  eq(userKey.organizationId, apiKeys.organizationId),
  eq(userKey.userId, id),
  isNull(userKey.revokedAt),
)

/** True if the caller may manage each live key of the user. */
const managesUserKeys = sql`not exists ${query
  .select({ one: sql`1` })
  .from(userKey)
  .where(
    and(
      isUserKey,
      or(isNull(userKey.expiresAt), gt(userKey.expiresAt, now)),
      sql`not (${isManageable(userKey)})`,
    ),
  )}`
/** True once this request has deleted the user. */
const isUserDeleted = sql`exists ${query
  .select({ one: sql`1` })
  .from(deletions)
  .where(
    and(
      eq(deletions.organizationId, apiKeys.organizationId),
      eq(deletions.resourceType, 'user'),
      eq(deletions.resourceId, id),
      eq(deletions.deletedAt, now),
    ),
  )}`
const mayRevokeUserKeys = and(mayAct, isUnrestricted, managesUserKeys, isUserDeleted)

const recordUserKeys = recordRevocations(userKey as unknown as typeof apiKeys, isUserKey, mayRevokeUserKeys)

/** The keys of a user go with it, in the same transaction: who calls is asked of the key alone. */
export const revokeUserKeys = guarded(() =>
  query
    .update(apiKeys)
    .set({ revokedAt: sql`${now}` })
    .where(
      and(
        eq(
          apiKeys.organizationId,
          query.select({ organizationId: apiKeys.organizationId }).from(apiKeys).where(mayRevokeUserKeys),
        ),
        eq(apiKeys.userId, id),
        isNull(apiKeys.revokedAt),
      ),
    ),
)

const projectLife = lifeOf(PROJECT)
const userLife = lifeOf(USER, managesUserKeys)

export const projectStatements = {
  ...projectLife,
  lists: [...projectLife.lists, listingReached()],
  archive: archiving(PROJECT),
}
export const agentStatements = { ...lifeOf(AGENT), archive: archiving(AGENT) }
export const sessionStatements = { ...lifeOf(SESSION), listOfProject: listingOfProject(SESSION.table) }
export const pullRequestStatements = {
  ...lifeOf(PULL_REQUEST),
  listOfProject: listingOfProject(PULL_REQUEST.table),
}
export const userStatements = {
  ...userLife,
  removals: [...userLife.removals, recordUserKeys, revokeUserKeys] as const,
}
