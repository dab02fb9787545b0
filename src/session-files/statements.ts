/** A page of a session's files, in SQL. Keyset paging: a page costs the rows that it answers with. */
import { and, asc, eq, gt, isNotNull, isNull, ne, not, sql } from 'drizzle-orm'
import { explaining, isInReach, mayAct } from '../access/caller.ts'
import { apiKeys, sessionFiles, sessions } from '../db/schema.ts'
import { compile, query } from '../db/statement.ts'

const sessionId = sql.placeholder('sessionId')
/** The id that the page begins after; the empty text comes before every id. */
const cursor = sql.placeholder('cursor')
const rowLimit = sql.placeholder('rowLimit')

const isElsewhere = sql<0 | 1>`exists ${query
  .select({ one: sql`1` })
  .from(sessionFiles)
  .where(
    and(
      eq(sessionFiles.organizationId, apiKeys.organizationId),
      eq(sessionFiles.id, cursor),
      ne(sessionFiles.sessionId, sessionId),
    ),
  )}`

const isSession = and(eq(sessions.organizationId, apiKeys.organizationId), eq(sessions.id, sessionId))

export const explainFiles = compile(
  explaining({
    sessionExists: sql<0 | 1>`${isNotNull(sessions.id)}`.as('sessionExists'),
    inReach: sql<0 | 1>`${isInReach(sessions.projectId)}`.as('inReach'),
    isDeleted: sql<0 | 1>`${isNotNull(sessions.deletedAt)}`.as('isDeleted'),
    cursorIsElsewhere: isElsewhere.as('cursorIsElsewhere'),
  }).leftJoin(sessions, isSession),
)

export const selectFiles = compile(
  query
    .select({
      id: sessionFiles.id,
      sessionId: sessionFiles.sessionId,
      path: sessionFiles.path,
      createdAt: sessionFiles.createdAt,
      updatedAt: sessionFiles.updatedAt,
    })
    .from(apiKeys)
    .innerJoin(sessions, isSession)
    .innerJoin(
      sessionFiles,
      and(
        eq(sessionFiles.organizationId, apiKeys.organizationId),
        eq(sessionFiles.sessionId, sessionId),
        gt(sessionFiles.id, cursor),
      ),
    )
    .where(and(mayAct, isInReach(sessions.projectId), isNull(sessions.deletedAt), not(isElsewhere)))
    .orderBy(asc(sessionFiles.id))
    .limit(rowLimit),
)
