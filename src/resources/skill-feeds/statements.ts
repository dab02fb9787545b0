/** The feeds of an organization, in SQL. */
import { and, asc, count, eq, gt, isNotNull, sql } from 'drizzle-orm'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { authorized, precondition, preconditionUnless, requiring } from '../../access/preconditions.ts'
import { cursor, now, rowLimit, text, textOrNull } from '../../db/parameters.ts'
import { insertRow } from '../../db/rows.ts'
import { apiKeys, skillFeeds, skills, skillVersions } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { failure, filled } from '../../errors.ts'
import { feedLimit, feedNotFound, namedSkillNotFound, namedVersionNotFound } from './failures.ts'

/** The most feeds of an organization. */
const MAX_FEEDS = 100

const feedId = text('feedId')
const id = text('id')
const hash = text('hash')
const name = text('name')
const expiresAt = textOrNull('expiresAt')
/** JSON array of the skills that the feed names: `{ skillId, version }`. */
const named = textOrNull('skills')

const fields = {
  id: skillFeeds.id,
  name: skillFeeds.name,
  skills: skillFeeds.skills,
  expiresAt: skillFeeds.expiresAt,
  apiKeyId: skillFeeds.apiKeyId,
  createdAt: skillFeeds.createdAt,
}

const isOwn = eq(skillFeeds.organizationId, apiKeys.organizationId)

/** The position of a skill that the request names and the organization does not have. */
const missingSkill = sql<number | null>`(select "named".key from json_each(${named}) as "named"
  where not exists (select 1 from ${skills} where ${skills.organizationId} = ${apiKeys.organizationId}
    and ${skills.id} = "named".value ->> 'skillId') limit 1)`

/** The position of a skill that the request names with a version that it does not have. */
const missingVersion = sql<number | null>`(select "named".key from json_each(${named}) as "named"
  where "named".value ->> 'version' is not null and not exists (select 1 from ${skillVersions}
    where ${skillVersions.organizationId} = ${apiKeys.organizationId}
      and ${skillVersions.skillId} = "named".value ->> 'skillId'
      and ${skillVersions.version} = "named".value ->> 'version') limit 1)`

export const creatable = requiring([], {
  pastExpiresAt: preconditionUnless(
    sql<string | null>`case when ${expiresAt} <= ${now} then ${expiresAt} end`,
    (_, time) => failure('invalid_input', `expiresAt is not in the future; got "${time}"; allowed: a time after now.`),
    { expiresAt },
  ),
  missingSkill: preconditionUnless(missingSkill, (_, index) => filled(namedSkillNotFound, { index }), { named }),
  missingVersion: preconditionUnless(missingVersion, (_, index) => filled(namedVersionNotFound, { index }), { named }),
  isWithinLimit: precondition(
    sql`${query.select({ count: count() }).from(skillFeeds).where(isOwn)} < ${sql.raw(String(MAX_FEEDS))}`,
    filled(feedLimit, { limit: MAX_FEEDS }),
  ),
})

const created = { id, hash, name }
const recordedCreation = recordedAfter({ id, name }, { type: 'skill-feed.created', id, name })

export const insertFeed = guardedChange(creatable, created, recordedCreation, () =>
  query
    .insert(skillFeeds)
    .select(
      creatable.rows(
        insertRow(skillFeeds, {
          organizationId: apiKeys.organizationId,
          ...created,
          skills: named,
          expiresAt,
          apiKeyId: apiKeys.id,
          createdAt: now,
        }),
      ),
    )
    .returning(fields),
)

export const selectFeeds = guarded(authorized, { cursor, rowLimit }, () =>
  authorized
    .rows(fields)
    .innerJoin(skillFeeds, and(isOwn, gt(skillFeeds.id, cursor)))
    .orderBy(asc(skillFeeds.id))
    .limit(rowLimit),
)

const namedFeed = { table: skillFeeds, on: and(isOwn, eq(skillFeeds.id, feedId)), takes: { feedId } }

export const deletable = requiring([namedFeed], {
  feedExists: precondition(isNotNull(skillFeeds.id), feedNotFound),
})

const recordedDeletion = recordedBefore(
  deletable,
  {},
  {
    type: 'skill-feed.deleted',
    id: skillFeeds.id,
    name: skillFeeds.name,
  },
)

export const deleteFeed = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(skillFeeds)
    .where(and(eq(skillFeeds.organizationId, deletable.organizationId), eq(skillFeeds.id, feedId)))
    .returning({ id: skillFeeds.id }),
)
