/** A skill and its files, in SQL. */
import { and, asc, eq, sql } from 'drizzle-orm'
import { explaining, mayAct } from '../access/caller.ts'
import { apiKeys, skillFiles, skills } from '../db/schema.ts'
import { compile, query } from '../db/statement.ts'

const skillId = sql.placeholder('skillId')

const isSkill = and(eq(skills.organizationId, apiKeys.organizationId), eq(skills.id, skillId))

export const explainSkill = compile(
  explaining({
    revision: sql<string | null>`${skills.revision}`.as('revision'),
  }).leftJoin(skills, isSkill),
)

export const selectSkill = compile(
  query
    .select({
      id: skills.id,
      name: skills.name,
      description: skills.description,
      createdAt: skills.createdAt,
      updatedAt: skills.updatedAt,
    })
    .from(apiKeys)
    .innerJoin(skills, isSkill)
    .where(mayAct),
)

export const selectSkillFiles = compile(
  query
    .select({ id: skillFiles.id, filename: skillFiles.filename, content: skillFiles.content })
    .from(apiKeys)
    .innerJoin(
      skillFiles,
      and(eq(skillFiles.organizationId, apiKeys.organizationId), eq(skillFiles.skillId, skillId)),
    )
    .where(mayAct)
    .orderBy(asc(skillFiles.filename)),
)
