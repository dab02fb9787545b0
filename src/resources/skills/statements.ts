/** Skills and their versions, in SQL. */
import {
  and,
  asc,
  desc,
  eq,
  exists,
  gt,
  inArray,
  isNotNull,
  isNull,
  lt,
  ne,
  notExists,
  or,
  type SQL,
  type SQLWrapper,
  sql,
} from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { copyToDeletions } from '../../access/deletions.ts'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import {
  authorized,
  type Preconditions,
  precondition,
  requiring,
  uncheckedPrecondition,
} from '../../access/preconditions.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { matchesRevision } from '../../access/revision.ts'
import { listOf } from '../../db/examined.ts'
import {
  cursor,
  type NamedParameters,
  now,
  number,
  type Parameter,
  rowLimit,
  text,
  textOrNull,
} from '../../db/parameters.ts'
import { chunkOf, containsIfGiven, excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, orphanedObjects, skillContents, skillFeeds, skills, skillVersions } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { writtenObject } from '../../objects/orphans.ts'
import { DATA_URL_START } from './content.ts'
import { keyReusedForSkill, skillNameTaken, skillNotFound, uploadExpired, versionNotFound } from './failures.ts'
import type { StoredFile } from './version.ts'

const skillId = text('skillId')
const name = text('name')
const description = text('description')
/** New for each request that changes the skill. The statements that follow the change find the skill by it. */
const revision = text('revision')
/**
 * When the sweep may delete the archive that the request is about to store, if it is not recorded; or those of removed
 * versions.
 */
const deleteAfter = text('deleteAfter')
const objectId = text('objectId')
const objectKey = text('objectKey')
const digest = text('digest')
const archiveBytes = number('archiveBytes')
const message = textOrNull('message')
/** JSON array of the new version's files, as it is stored (version.ts). */
const files = text('files')
/** JSON array of their contents: `{ sha256, bytes }`, each once. */
const contents = text('contents')
/** The number of the named version, in decimal digits. */
const versionNumber = text('version')
const versionNumberOrNull = textOrNull('version')
const version = sql`cast(${versionNumber} as integer)`
/** How many versions stay beside the current one. */
const othersKept = number('othersKept')
const idempotencyKey = textOrNull('idempotencyKey')
const idempotencyFingerprint = textOrNull('idempotencyFingerprint')

const isNamed = and(eq(skills.organizationId, apiKeys.organizationId), eq(skills.id, skillId))
const namedSkill = { table: skills, on: isNamed, takes: { skillId } }

const isVersionOfSkill = (versions: Record<'organizationId' | 'skillId', SQLWrapper>) =>
  and(eq(versions.organizationId, skills.organizationId), eq(versions.skillId, skills.id))
const isOfSkill = isVersionOfSkill(skillVersions)
const isCurrent = and(isOfSkill, eq(skillVersions.version, skills.version))

const fields = {
  id: skills.id,
  name: skills.name,
  description: skills.description,
  createdAt: skills.createdAt,
  updatedAt: skills.updatedAt,
}
const withRevision = { ...fields, revision: skills.revision }

/** The files of a version, a row each. */
const file = sql`json_each(${skillVersions.files}) as "file"`
const ofFile = <Value>(name: keyof StoredFile) => sql<Value>`("file".value ->> ${sql.raw(`'${name}'`)})`.as(name)
const contentOfFile = and(
  eq(skillContents.organizationId, skillVersions.organizationId),
  eq(skillContents.skillId, skillVersions.skillId),
  sql`${skillContents.sha256} = "file".value ->> 'sha256'`,
)

const skillExists = precondition(isNotNull(skills.id), skillNotFound)

const editedCopyIsCurrent = { matchesRevision: matchesRevision(skills.revision) }

export const readable = requiring([namedSkill], { skillExists })

export const selectSkill = guarded(readable, {}, () => readable.rows(withRevision))

export const selectSkillFiles = guarded(authorized, { skillId }, () => selectFilesWhere(isNamed))

/** The files of the current version, as a skill has them. */
function selectFilesWhere(isSelected: SQL | undefined) {
  return authorized
    .rows({
      id: ofFile<string>('id'),
      filename: ofFile<string>('filename'),
      content:
        sql<string>`case "file".value ->> 'encoding' when 'base64' then ${sql.raw(`'${DATA_URL_START}'`)} else '' end
        || ${skillContents.content}`.as('content'),
    })
    .innerJoin(skills, isSelected)
    .innerJoin(skillVersions, isCurrent)
    .innerJoin(file, sql`true`)
    .innerJoin(skillContents, contentOfFile)
    .orderBy(asc(sql`"file".key`))
}

const nameQuery = textOrNull('query')
const hasQuery = containsIfGiven(skills.name, nameQuery)

export const selectSkills = listOf(
  authorized,
  { cursor, nameQuery },
  {
    table: skills,
    isInRange: and(eq(skills.organizationId, authorized.organizationId), gt(skills.id, cursor)),
    order: asc(skills.id),
    position: { id: skills.id },
    fields,
    isListed: hasQuery,
    mayLeaveOut: isNotNull(nameQuery),
  },
)

/** At most one, because names are unique. */
export const selectSkillByName = guarded(authorized, { cursor, name, nameQuery }, () =>
  authorized
    .rows(fields, hasQuery)
    .innerJoin(
      skills,
      and(eq(skills.organizationId, apiKeys.organizationId), gt(skills.id, cursor), eq(skills.name, name)),
    ),
)

const other = alias(skills, 'other')
/** @param takes the parameters of the new name. */
const nameIsFree = <Own extends NamedParameters>(newName: SQLWrapper, takes: Own) =>
  precondition(
    notExists(
      query
        .select({ id: other.id })
        .from(other)
        .where(and(eq(other.organizationId, apiKeys.organizationId), eq(other.name, newName), ne(other.id, skillId))),
    ),
    skillNameTaken,
    { skillId, ...takes },
  )

/** The bytes of the new version's contents that the skill does not have yet. */
const addedBytes = sql`(select coalesce(sum("new".value ->> 'bytes'), 0) from json_each(${contents}) as "new"
  where ${notExists(
    query
      .select({ one: sql`1` })
      .from(skillContents)
      .where(
        and(
          eq(skillContents.organizationId, apiKeys.organizationId),
          eq(skillContents.skillId, skillId),
          sql`${skillContents.sha256} = "new".value ->> 'sha256'`,
        ),
      ),
  )})`

/** The skill that an earlier request with the same `Idempotency-Key` created. */
const repeated = alias(skills, 'repeated')
const isRepeated = and(eq(repeated.organizationId, apiKeys.organizationId), eq(repeated.idempotencyKey, idempotencyKey))
const repeatedSkill = { table: repeated, on: isRepeated, takes: { idempotencyKey } }

const isCreatable = {
  isFirstRequest: precondition(isNull(repeated.id), keyReusedForSkill),
  exceededQuota: withinQuotas({ skills: sql`1`, skillBytes: addedBytes }, { contents, skillId }),
  nameIsFree: nameIsFree(name, { name }),
}

const archiveIsStored = uncheckedPrecondition(isNotNull(orphanedObjects.objectKey), uploadExpired)

/**
 * Adds the archive that the request is about to store to the orphans, so that the sweep deletes it if it is not
 * recorded.
 * @param parameters of the further condition.
 */
function beginArchive<P extends Parameter, Own extends NamedParameters>(
  preconditions: Pick<Preconditions<unknown, P>, 'rows' | 'takes'>,
  parameters: Own,
  condition?: SQL,
) {
  return guarded(preconditions, { objectId, deleteAfter, ...parameters }, () =>
    query
      .insert(orphanedObjects)
      .select(
        preconditions.rows(
          insertRow(orphanedObjects, {
            objectKey: sql`'skills/' || ${apiKeys.organizationId} || '/' || ${objectId}`,
            deleteAfter,
          }),
          condition,
        ),
      )
      // A retry after a commit that was not confirmed finds the row.
      .onConflictDoUpdate({
        target: orphanedObjects.objectKey,
        set: { deleteAfter: excluded('deleteAfter') },
      })
      .returning({ objectKey: orphanedObjects.objectKey }),
  )
}

export const beginnable = requiring([repeatedSkill], isCreatable)

export const beginCreation = beginArchive(beginnable, {})

export const creatable = requiring([repeatedSkill, writtenObject], { ...isCreatable, archiveIsStored })

const recordedCreation = recordedAfter({ skillId, name }, { type: 'skill.created', id: skillId, name })

export const insertSkill = guardedChange(
  creatable,
  { description, revision, idempotencyFingerprint },
  recordedCreation,
  () =>
    query.insert(skills).select(
      creatable.rows(
        insertRow(skills, {
          organizationId: apiKeys.organizationId,
          id: skillId,
          name,
          description,
          version: sql`1`,
          latestVersion: sql`1`,
          revision,
          createdAt: now,
          updatedAt: now,
          idempotencyKey,
          idempotencyFingerprint,
        }),
      ),
    ),
)

/** The skill that this request created or changed. */
const isWritten = and(isNamed, eq(skills.revision, revision))

export const insertVersion = guarded(
  authorized,
  { digest, objectKey, archiveBytes, files, message, skillId, revision },
  () =>
    query
      .insert(skillVersions)
      .select(
        authorized
          .rows(
            insertRow(skillVersions, {
              organizationId: skills.organizationId,
              skillId: skills.id,
              version: skills.version,
              name: skills.name,
              description: skills.description,
              digest,
              objectKey,
              // D1 binds every number as a float.
              archiveBytes: sql`cast(${archiveBytes} as integer)`,
              files,
              message,
              apiKeyId: apiKeys.id,
              userId: apiKeys.userId,
              createdAt: now,
            }),
          )
          .innerJoin(skills, isWritten),
      )
      // A retry after a commit that was not confirmed has them already.
      .onConflictDoNothing(),
)

/** A chunk of the new version's contents. */
export const CONTENTS = chunkOf('sha256', 'content')

export const putContents = guarded(authorized, { skillId, revision }, () =>
  query
    .insert(skillContents)
    .select(
      authorized
        .rows(
          insertRow(skillContents, {
            organizationId: skills.organizationId,
            skillId: skills.id,
            sha256: CONTENTS.column('sha256'),
            content: CONTENTS.column('content'),
          }),
        )
        .innerJoin(skills, isWritten)
        .innerJoin(CONTENTS.table, isNotNull(CONTENTS.column('sha256'))),
    )
    .onConflictDoNothing(),
)

const writtenOrganization = authorized.rows({ organizationId: skills.organizationId }).innerJoin(skills, isWritten)

export const removeArchiveFromOrphans = guarded(authorized, { objectKey, skillId, revision }, () =>
  query
    .delete(orphanedObjects)
    .where(and(eq(orphanedObjects.objectKey, objectKey), sql`${writtenOrganization} is not null`)),
)

/** The skill that this request created, or an earlier one with the same `Idempotency-Key` and an equal body. */
const isCreated = and(
  eq(skills.organizationId, apiKeys.organizationId),
  eq(skills.id, sql`coalesce(${query.select({ id: repeated.id }).from(repeated).where(isRepeated)}, ${skillId})`),
  or(isNull(skills.idempotencyKey), eq(skills.idempotencyFingerprint, idempotencyFingerprint)),
)

export const selectCreated = guarded(authorized, { idempotencyKey, skillId, idempotencyFingerprint }, () =>
  authorized.rows(withRevision).innerJoin(skills, isCreated),
)

export const selectCreatedFiles = guarded(authorized, { idempotencyKey, skillId, idempotencyFingerprint }, () =>
  selectFilesWhere(isCreated),
)

const currentVersion = { table: skillVersions, on: isCurrent, takes: {} }
/** The demo's skill has no version at first. */
const isChanged = sql`${skillVersions.files} is not ${files}`

const isChangeable = {
  skillExists,
  exceededQuota: withinQuotas({ skillBytes: addedBytes }, { contents, skillId }),
  nameIsFree: nameIsFree(name, { name }),
  ...editedCopyIsCurrent,
}

/** What a change requires before its archive is stored. */
export const changeable = requiring([namedSkill, currentVersion], isChangeable)

export const beginChange = beginArchive(changeable, { files }, isChanged)

export const updatable = requiring([namedSkill, currentVersion, writtenObject], {
  ...isChangeable,
  archiveIsStored,
})

const recordedUpdate = recordedBefore(
  updatable,
  { name, files },
  { type: 'skill.updated', id: skills.id, name },
  isChanged,
)

export const updateSkill = guardedChange(updatable, { description, revision, files }, recordedUpdate, () =>
  query
    .update(skills)
    .set({
      name: sql`${name}`,
      description: sql`${description}`,
      version: sql`${skills.latestVersion} + 1`,
      latestVersion: sql`${skills.latestVersion} + 1`,
      revision: sql`${revision}`,
      updatedAt: sql`${now}`,
    })
    .where(
      and(
        eq(skills.organizationId, sql`${updatable.rows({ organizationId: skills.organizationId }, isChanged)}`),
        eq(skills.id, skillId),
      ),
    ),
)

/** SQLite has no OFFSET without LIMIT. After the limit was lowered, the next updates remove the rest. */
const MAX_REMOVED = 1000

const older = alias(skillVersions, 'older')
/** The oldest versions that are too many, without the current one. */
const tooMany = authorized
  .rows({ version: older.version })
  .innerJoin(skills, isWritten)
  .innerJoin(older, and(isVersionOfSkill(older), ne(older.version, skills.version)))
  .orderBy(desc(older.version))
  .limit(MAX_REMOVED)
  .offset(othersKept)

/** They stay if a feed names them. The feeds are read only if there are too many versions. */
const isTooOld = and(
  eq(skillVersions.organizationId, writtenOrganization),
  eq(skillVersions.skillId, skillId),
  inArray(skillVersions.version, tooMany),
  sql`${skillVersions.version} not in (select "named".value ->> 'version' from ${skillFeeds}, json_each(${skillFeeds.skills}) as "named"
    where ${skillFeeds.organizationId} = ${writtenOrganization}
      and "named".value ->> 'skillId' = ${skillId} and "named".value ->> 'version' is not null)`,
)

export const addOldArchivesToOrphans = guarded(authorized, { deleteAfter, skillId, revision, othersKept }, () =>
  query
    .insert(orphanedObjects)
    .select(
      query
        .select(insertRow(orphanedObjects, { objectKey: skillVersions.objectKey, deleteAfter }))
        .from(skillVersions)
        .where(isTooOld),
    )
    .onConflictDoNothing(),
)

export const deleteOldVersions = guarded(authorized, { skillId, revision, othersKept }, () =>
  query.delete(skillVersions).where(isTooOld),
)

/** Deletes the contents that only the deleted versions had. */
export const deleteUnusedContents = guarded(authorized, { skillId, revision }, () =>
  query.delete(skillContents).where(
    and(
      sql`changes() > 0`,
      eq(skillContents.organizationId, writtenOrganization),
      eq(skillContents.skillId, skillId),
      sql`${skillContents.sha256} not in (select "file".value ->> 'sha256' from ${skillVersions}, ${file}
        where ${skillVersions.organizationId} = ${writtenOrganization} and ${skillVersions.skillId} = ${skillId})`,
    ),
  ),
)

/** The skill, if its current version has the files of the request. */
const isUpToDate = and(
  isNamed,
  exists(
    query
      .select({ one: sql`1` })
      .from(skillVersions)
      .where(and(isCurrent, eq(skillVersions.files, files))),
  ),
)

export const selectUpToDate = guarded(authorized, { skillId, files }, () =>
  authorized.rows(withRevision).innerJoin(skills, isUpToDate),
)

export const selectUpToDateFiles = guarded(authorized, { skillId, files }, () => selectFilesWhere(isUpToDate))

const namedVersion = {
  table: skillVersions,
  on: and(isOfSkill, eq(skillVersions.version, version)),
  takes: { versionNumber },
}
const versionExists = precondition(or(isNull(skills.id), isNotNull(skillVersions.version)), versionNotFound)

export const publishable = requiring([namedSkill, namedVersion], {
  skillExists,
  versionExists,
  nameIsFree: nameIsFree(skillVersions.name, {}),
  ...editedCopyIsCurrent,
})

const published = alias(skillVersions, 'published')
const ofPublished = (column: 'name' | 'description') =>
  sql`${query
    .select({ [column]: published[column] })
    .from(published)
    .where(and(isVersionOfSkill(published), eq(published.version, version)))}`

const recordedPublication = recordedBefore(
  publishable,
  {},
  { type: 'skill.published', id: skills.id, name: skillVersions.name },
  ne(skills.version, version),
)

/** Changes nothing if the version is the current one. */
export const publish = guardedChange(publishable, { revision }, recordedPublication, () =>
  query
    .update(skills)
    .set({
      version,
      name: ofPublished('name'),
      description: ofPublished('description'),
      revision: sql`${revision}`,
      updatedAt: sql`${now}`,
    })
    .where(
      and(eq(skills.organizationId, publishable.organizationId), eq(skills.id, skillId), ne(skills.version, version)),
    ),
)

/** The skill whose current version is the one to publish now. */
export const selectPublished = guarded(authorized, { skillId, versionNumber }, () =>
  authorized.rows(withRevision).innerJoin(skills, and(isNamed, eq(skills.version, version))),
)

/** What a list of versions has. */
const versionFields = {
  version: skillVersions.version,
  name: skillVersions.name,
  description: skillVersions.description,
  digest: sql<string>`'sha256:' || ${skillVersions.digest}`.as('digest'),
  isCurrent: sql<0 | 1>`${eq(skillVersions.version, skills.version)}`.as('isCurrent'),
  message: skillVersions.message,
  apiKeyId: skillVersions.apiKeyId,
  userId: skillVersions.userId,
  createdAt: skillVersions.createdAt,
}

export const selectVersions = guarded(readable, { cursor, rowLimit }, () =>
  readable
    .rows(versionFields)
    .innerJoin(skillVersions, and(isOfSkill, lt(skillVersions.version, sql`cast(${cursor} as integer)`)))
    .orderBy(desc(skillVersions.version))
    .limit(rowLimit),
)

export const versionReadable = requiring([namedSkill, namedVersion], { skillExists, versionExists })

export const selectVersion = guarded(versionReadable, {}, () => versionReadable.rows(versionFields))

export const selectVersionFiles = guarded(versionReadable, {}, () =>
  versionReadable
    .rows({
      filename: ofFile<string>('filename'),
      content: skillContents.content,
      encoding: ofFile<'utf-8' | 'base64'>('encoding'),
      executable: ofFile<0 | 1>('executable'),
      sizeBytes: ofFile<number>('sizeBytes'),
      sha256: ofFile<string>('sha256'),
    })
    .innerJoin(file, sql`true`)
    .innerJoin(skillContents, contentOfFile)
    .orderBy(asc(sql`"file".key`)),
)

/** The version in the query, or the current one. */
export const archiveReadable = requiring(
  [
    namedSkill,
    {
      table: skillVersions,
      on: and(isOfSkill, eq(skillVersions.version, sql`coalesce(${version}, ${skills.version})`)),
      takes: { versionNumberOrNull },
    },
  ],
  { skillExists, versionExists },
)

export const selectArchive = guarded(archiveReadable, {}, () =>
  archiveReadable.rows({
    name: skillVersions.name,
    version: skillVersions.version,
    digest: skillVersions.digest,
    objectKey: skillVersions.objectKey,
  }),
)

export const deletable = requiring([namedSkill], { skillExists, ...editedCopyIsCurrent })

export const copyDeleted = copyToDeletions(deletable, 'skill', skills)

const recordedDeletion = recordedBefore(deletable, {}, { type: 'skill.deleted', id: skills.id, name: skills.name })

export const deleteSkill = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(skills)
    .where(and(eq(skills.organizationId, deletable.organizationId), eq(skills.id, skillId)))
    .returning({ id: skills.id }),
)
