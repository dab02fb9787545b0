/** Skills and their files, in SQL. */
import { and, asc, eq, gt, isNotNull, isNull, ne, notExists, or, type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { now } from '../../access/guard.ts'
import { authorized, type Join, precondition, requiring } from '../../access/preconditions.ts'
import { withinQuotas } from '../../access/quotas.ts'
import { matchesRevision } from '../../access/revision.ts'
import { chunkOf, excluded, insertRow } from '../../db/rows.ts'
import { apiKeys, skillFiles, skills } from '../../db/schema.ts'
import { guarded, guardedChange, query } from '../../db/statement.ts'
import { ApiError, idempotencyKeyReused } from '../../errors.ts'

const skillId = sql.placeholder('skillId')
const name = sql.placeholder('name')
const description = sql.placeholder('description')
/** New for each request that changes the skill. The statements that follow the change find the skill by it. */
const revision = sql.placeholder('revision')
/** The total size of the files that the request brings; null if it keeps the stored ones. */
const sizeBytes = sql.placeholder('sizeBytes')
const idempotencyKey = sql.placeholder('idempotencyKey')
const idempotencyFingerprint = sql.placeholder('idempotencyFingerprint')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

const isNamed = and(eq(skills.organizationId, apiKeys.organizationId), eq(skills.id, skillId))
const namedSkill: Join = { table: skills, on: isNamed }

const isOfSkill = and(eq(skillFiles.organizationId, skills.organizationId), eq(skillFiles.skillId, skills.id))

const fields = {
  id: skills.id,
  name: skills.name,
  description: skills.description,
  createdAt: skills.createdAt,
  updatedAt: skills.updatedAt,
}
const withRevision = { ...fields, revision: skills.revision }
const fileFields = { id: skillFiles.id, filename: skillFiles.filename, content: skillFiles.content }

const skillExists = precondition(
  isNotNull(skills.id),
  () => new ApiError('skill_not_found', 'There is no skill with this skillId.'),
)

const editedCopyIsCurrent = { matchesRevision: matchesRevision('skill', skills.revision) }

export const readable = requiring([namedSkill], { skillExists })

export const selectSkill = guarded(() => readable.rows(withRevision))

export const selectSkillFiles = guarded(() => selectFilesWhere(isNamed))

function selectFilesWhere(isSelected: SQL | undefined) {
  return authorized
    .rows(fileFields)
    .innerJoin(skills, isSelected)
    .innerJoin(skillFiles, isOfSkill)
    .orderBy(asc(skillFiles.filename))
}

const isAfterCursor = and(eq(skills.organizationId, apiKeys.organizationId), gt(skills.id, cursor))

export const selectSkills = guarded(() =>
  authorized.rows(fields).innerJoin(skills, isAfterCursor).orderBy(asc(skills.id)).limit(rowLimit),
)

/** At most one, because names are unique. */
export const selectSkillByName = guarded(() =>
  authorized.rows(fields).innerJoin(skills, and(isAfterCursor, eq(skills.name, name))),
)

const other = alias(skills, 'other')
const nameIsFree = precondition(
  notExists(
    query
      .select({ id: other.id })
      .from(other)
      .where(
        and(eq(other.organizationId, apiKeys.organizationId), eq(other.name, name), ne(other.id, skillId)),
      ),
  ),
  () =>
    new ApiError(
      'skill_name_taken',
      'Another skill has this name. Choose another name, or change that skill.',
    ),
)

/** The skill that an earlier request with the same `Idempotency-Key` created. */
const repeated = alias(skills, 'repeated')
const isRepeated = and(
  eq(repeated.organizationId, apiKeys.organizationId),
  eq(repeated.idempotencyKey, idempotencyKey),
)

export const creatable = requiring([{ table: repeated, on: isRepeated }], {
  isFirstRequest: precondition(isNull(repeated.id), () => idempotencyKeyReused('a new skill')),
  exceededQuota: withinQuotas({ skills: sql`1`, skillBytes: sql`${sizeBytes}` }),
  nameIsFree,
})

export const insertSkill = guardedChange(() =>
  query.insert(skills).select(
    creatable.rows(
      insertRow(skills, {
        organizationId: apiKeys.organizationId,
        id: skillId,
        name,
        description,
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

/** A chunk of the request's files. */
export const FILES = chunkOf('id', 'filename', 'content')

export const putFiles = guarded(() =>
  query
    .insert(skillFiles)
    .select(
      authorized
        .rows(
          insertRow(skillFiles, {
            organizationId: skills.organizationId,
            skillId: skills.id,
            filename: FILES.column('filename'),
            id: FILES.column('id'),
            content: FILES.column('content'),
          }),
        )
        .innerJoin(skills, isWritten)
        .innerJoin(FILES.table, isNotNull(FILES.column('filename'))),
    )
    .onConflictDoUpdate({
      target: [skillFiles.organizationId, skillFiles.skillId, skillFiles.filename],
      set: { content: excluded('content') },
      setWhere: ne(skillFiles.content, excluded('content')),
    }),
)

/** The skill that this request created, or an earlier one with the same `Idempotency-Key` and an equal body. */
const isCreated = and(
  eq(skills.organizationId, apiKeys.organizationId),
  eq(
    skills.id,
    sql`coalesce(${query.select({ id: repeated.id }).from(repeated).where(isRepeated)}, ${skillId})`,
  ),
  or(isNull(skills.idempotencyKey), eq(skills.idempotencyFingerprint, idempotencyFingerprint)),
)

export const selectCreated = guarded(() => authorized.rows(withRevision).innerJoin(skills, isCreated))

export const selectCreatedFiles = guarded(() => selectFilesWhere(isCreated))

const storedBytes = sql`${query
  .select({ bytes: sql`coalesce(sum(octet_length(${skillFiles.content})), 0)` })
  .from(skillFiles)
  .where(isOfSkill)}`

export const updatable = requiring([namedSkill], {
  skillExists,
  exceededQuota: withinQuotas({
    skillBytes: sql`case when ${sizeBytes} is null then 0 else ${sizeBytes} - ${storedBytes} end`,
  }),
  nameIsFree,
  ...editedCopyIsCurrent,
})

/** A value that is null stays as it is. */
export const updateSkill = guardedChange(() =>
  query
    .update(skills)
    .set({
      name: sql`coalesce(${name}, ${skills.name})`,
      description: sql`coalesce(${description}, ${skills.description})`,
      revision: sql`${revision}`,
      updatedAt: sql`${now}`,
    })
    .where(and(eq(skills.organizationId, updatable.organizationId), eq(skills.id, skillId)))
    .returning(withRevision),
)

/** Deletes the files whose names are not among the request's. */
export const deleteOtherFiles = guarded(() =>
  query
    .delete(skillFiles)
    .where(
      and(
        eq(
          skillFiles.organizationId,
          authorized.rows({ organizationId: skills.organizationId }).innerJoin(skills, isWritten),
        ),
        eq(skillFiles.skillId, skillId),
        sql`${skillFiles.filename} not in (select value from json_each(${sql.placeholder('filenames')}))`,
      ),
    ),
)

export const selectUpdatedFiles = guarded(() => selectFilesWhere(isWritten))

export const deletable = requiring([namedSkill], { skillExists, ...editedCopyIsCurrent })

export const deleteFiles = guarded(() =>
  query
    .delete(skillFiles)
    .where(and(eq(skillFiles.organizationId, deletable.organizationId), eq(skillFiles.skillId, skillId))),
)

export const deleteSkill = guardedChange(() =>
  query
    .delete(skills)
    .where(and(eq(skills.organizationId, deletable.organizationId), eq(skills.id, skillId)))
    .returning({ id: skills.id }),
)
