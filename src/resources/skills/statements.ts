/** Skills and their files, in SQL. */
import { and, asc, eq, gt, isNotNull, isNull, ne, or, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { callerOrganization, explaining, mayAct, now } from '../../access/guard.ts'
import { exceededQuota } from '../../access/quotas.ts'
import { apiKeys, skillFiles, skills } from '../../db/schema.ts'
import { chunkOf, excluded, guarded, guardedChange, insertRow, query } from '../../db/statement.ts'

const skillId = sql.placeholder('skillId')
const name = sql.placeholder('name')
const description = sql.placeholder('description')
/** New with each request that changes the skill; what the request does to the files asks for it. */
const revision = sql.placeholder('revision')
/** Of the contents of the request's files; null if it leaves them as they are. */
const sizeBytes = sql.placeholder('sizeBytes')
const idempotencyKey = sql.placeholder('idempotencyKey')
const idempotencyFingerprint = sql.placeholder('idempotencyFingerprint')
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

const isSkill = and(eq(skills.organizationId, apiKeys.organizationId), eq(skills.id, skillId))

/** SPEC.txt, Skill. */
const fields = {
  id: skills.id,
  name: skills.name,
  description: skills.description,
  createdAt: skills.createdAt,
  updatedAt: skills.updatedAt,
}
const fileFields = { id: skillFiles.id, filename: skillFiles.filename, content: skillFiles.content }

export const explainSkill = guarded(() =>
  explaining({
    revision: sql<string | null>`${skills.revision}`.as('revision'),
  }).leftJoin(skills, isSkill),
)

export const selectSkill = guarded(() =>
  query.select(fields).from(apiKeys).innerJoin(skills, isSkill).where(mayAct),
)

export const selectSkillFiles = guarded(() =>
  query
    .select(fileFields)
    .from(apiKeys)
    .innerJoin(
      skillFiles,
      and(eq(skillFiles.organizationId, apiKeys.organizationId), eq(skillFiles.skillId, skillId)),
    )
    .where(mayAct)
    .orderBy(asc(skillFiles.filename)),
)

export const selectSkills = guarded(() =>
  query
    .select(fields)
    .from(apiKeys)
    .innerJoin(skills, and(eq(skills.organizationId, apiKeys.organizationId), gt(skills.id, cursor)))
    .where(mayAct)
    .orderBy(asc(skills.id))
    .limit(rowLimit),
)

/** The skill that an earlier request with the same `Idempotency-Key` made. */
const repeated = alias(skills, 'repeated')
const isRepeated = and(
  eq(repeated.organizationId, apiKeys.organizationId),
  eq(repeated.idempotencyKey, idempotencyKey),
)

const exceededByNew = exceededQuota({ skills: sql`1`, skillBytes: sql`${sizeBytes}` })

export const explainCreation = guarded(() =>
  explaining({
    isRepeated: sql<0 | 1>`${isNotNull(repeated.id)}`.as('isRepeated'),
    exceededQuota: exceededByNew.as('exceededQuota'),
  }).leftJoin(repeated, isRepeated),
)

/** Does nothing if the name is taken, or the request is repeated. */
export const insertSkill = guardedChange(() =>
  query
    .insert(skills)
    .select(
      query
        .select(
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
        )
        .from(apiKeys)
        .where(and(mayAct, isNull(exceededByNew))),
    )
    .onConflictDoNothing(),
)

/** A chunk of the request's files. */
export const FILES = chunkOf('id', 'filename', 'content')

/** Puts a chunk of files into the skill that this request made or changed. */
export const putFiles = guarded(() =>
  query
    .insert(skillFiles)
    .select(
      query
        .select(
          insertRow(skillFiles, {
            organizationId: skills.organizationId,
            skillId: skills.id,
            filename: FILES.column('filename'),
            id: FILES.column('id'),
            content: FILES.column('content'),
          }),
        )
        .from(apiKeys)
        .innerJoin(skills, and(isSkill, eq(skills.revision, revision)))
        .innerJoin(FILES.table, isNotNull(FILES.column('filename')))
        .where(mayAct),
    )
    .onConflictDoUpdate({
      target: [skillFiles.organizationId, skillFiles.skillId, skillFiles.filename],
      set: { content: excluded('content') },
      setWhere: ne(skillFiles.content, excluded('content')),
    }),
)

/** The skill that this request made, or that an earlier one with the same `Idempotency-Key` and an equal body made. */
const isCreated = and(
  eq(skills.organizationId, apiKeys.organizationId),
  eq(
    skills.id,
    sql`coalesce(${query.select({ id: repeated.id }).from(repeated).where(isRepeated)}, ${skillId})`,
  ),
  or(isNull(skills.idempotencyKey), eq(skills.idempotencyFingerprint, idempotencyFingerprint)),
)

export const selectCreated = guarded(() =>
  query.select(fields).from(apiKeys).innerJoin(skills, isCreated).where(mayAct),
)

export const selectCreatedFiles = guarded(() =>
  query
    .select(fileFields)
    .from(apiKeys)
    .innerJoin(skills, isCreated)
    .innerJoin(
      skillFiles,
      and(eq(skillFiles.organizationId, skills.organizationId), eq(skillFiles.skillId, skills.id)),
    )
    .where(mayAct)
    .orderBy(asc(skillFiles.filename)),
)

const other = alias(skills, 'other')
const isNameTaken = sql`exists ${query
  .select({ one: sql`1` })
  .from(other)
  .where(
    and(eq(other.organizationId, skills.organizationId), eq(other.name, name), ne(other.id, skills.id)),
  )}`

const storedBytes = sql`${query
  .select({ bytes: sql`coalesce(sum(octet_length(${skillFiles.content})), 0)` })
  .from(skillFiles)
  .where(and(eq(skillFiles.organizationId, skills.organizationId), eq(skillFiles.skillId, skills.id)))}`
const exceededByChange = exceededQuota(
  { skillBytes: sql`case when ${sizeBytes} is null then 0 else ${sizeBytes} - ${storedBytes} end` },
  skills.organizationId,
)

export const explainUpdate = guarded(() =>
  explaining({
    revision: sql<string | null>`${skills.revision}`.as('revision'),
    exceededQuota: exceededByChange.as('exceededQuota'),
  }).leftJoin(skills, isSkill),
)

/** What is null stays as it is. */
export const updateSkill = guardedChange(() =>
  query
    .update(skills)
    .set({
      name: sql`coalesce(${name}, ${skills.name})`,
      description: sql`coalesce(${description}, ${skills.description})`,
      revision: sql`${revision}`,
      updatedAt: sql`${now}`,
    })
    .where(
      and(
        eq(skills.organizationId, callerOrganization),
        eq(skills.id, skillId),
        sql`not ${isNameTaken}`,
        isNull(exceededByChange),
      ),
    )
    .returning(fields),
)

/** The organization of the skill that this request changed, or NULL, which matches no row. */
const changedOrganization = query
  .select({ organizationId: skills.organizationId })
  .from(apiKeys)
  .innerJoin(skills, and(isSkill, eq(skills.revision, revision)))
  .where(mayAct)

/** Deletes the files of other names than the request's. */
export const deleteOtherFiles = guarded(() =>
  query
    .delete(skillFiles)
    .where(
      and(
        eq(skillFiles.organizationId, changedOrganization),
        eq(skillFiles.skillId, skillId),
        sql`${skillFiles.filename} not in (select value from json_each(${sql.placeholder('filenames')}))`,
      ),
    ),
)

/** The files of the skill that this request changed. */
export const selectChangedFiles = guarded(() =>
  query
    .select(fileFields)
    .from(apiKeys)
    .innerJoin(skills, and(isSkill, eq(skills.revision, revision)))
    .innerJoin(
      skillFiles,
      and(eq(skillFiles.organizationId, skills.organizationId), eq(skillFiles.skillId, skills.id)),
    )
    .where(mayAct)
    .orderBy(asc(skillFiles.filename)),
)

/** A caller that may delete the skill may delete its files. */
export const deleteFiles = guarded(() =>
  query
    .delete(skillFiles)
    .where(and(eq(skillFiles.organizationId, callerOrganization), eq(skillFiles.skillId, skillId))),
)

export const deleteSkill = guardedChange(() =>
  query
    .delete(skills)
    .where(and(eq(skills.organizationId, callerOrganization), eq(skills.id, skillId)))
    .returning({ id: skills.id }),
)
