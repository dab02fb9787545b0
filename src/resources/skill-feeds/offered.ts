/**
 * What a feed offers to a client that has its token, in SQL. No API key is sent, so there is no guard of the caller's
 * key: each statement begins from the hash of the token, and requires that the feed and its API key are live.
 */
import { and, asc, eq, gt, isNotNull, isNull, or, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { isNotStopped } from '../../db/halts.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { apiKeys, skillFeeds, skills, skillVersions } from '../../db/schema.ts'
import { query, unguarded } from '../../db/statement.ts'

const hash = text('hash')
/** The skill of the archive that an address names; null if it names none. */
const skillId = textOrNull('skillId')
const version = textOrNull('version')

/** The feed of a token and the API key that it ends with, while both are live. */
const isLive = and(
  eq(skillFeeds.hash, hash),
  isNull(skillFeeds.movedTo),
  or(isNull(skillFeeds.expiresAt), gt(skillFeeds.expiresAt, now)),
  isNull(apiKeys.revokedAt),
  or(isNull(apiKeys.expiresAt), gt(apiKeys.expiresAt, now)),
  isNull(apiKeys.suspendedAt),
)
const itsKey = and(eq(apiKeys.organizationId, skillFeeds.organizationId), eq(apiKeys.id, skillFeeds.apiKeyId))

/** No row if the feed is not live; `movedTo` is the number of the database that decides instead. */
export const selectFeed = unguarded({ hash, now }, () =>
  query
    .select({
      movedTo: skillFeeds.movedTo,
      isStopped: sql<0 | 1>`not ${isNotStopped('feeds', skillFeeds.organizationId)}`.as('isStopped'),
    })
    .from(skillFeeds)
    .leftJoin(apiKeys, itsKey)
    .where(and(eq(skillFeeds.hash, hash), or(isNotNull(skillFeeds.movedTo), isLive))),
)

const offered = {
  id: skills.id,
  name: skillVersions.name,
  description: skillVersions.description,
  version: skillVersions.version,
  digest: skillVersions.digest,
  objectKey: skillVersions.objectKey,
}

const isOfFeed = eq(skills.organizationId, skillFeeds.organizationId)

function isVersionOfSkill(version: SQLWrapper) {
  return and(
    eq(skillVersions.organizationId, skills.organizationId),
    eq(skillVersions.skillId, skills.id),
    eq(skillVersions.version, version),
  )
}

/** No rows if the feed names its skills. */
const selectAll = (condition?: SQL) =>
  query
    .select(offered)
    .from(skillFeeds)
    .innerJoin(apiKeys, itsKey)
    .innerJoin(skills, and(isNull(skillFeeds.skills), isOfFeed))
    .innerJoin(skillVersions, isVersionOfSkill(skills.version))
    .where(and(isLive, condition))

/** No rows if the feed does not name its skills. */
const selectNamed = (condition?: SQL) =>
  query
    .select(offered)
    .from(skillFeeds)
    .innerJoin(apiKeys, itsKey)
    .innerJoin(sql`json_each(${skillFeeds.skills}) as "named"`, sql`true`)
    // SQLite does not reorder a cross join. Otherwise it may read all skills of the organization first.
    .crossJoin(skills)
    .innerJoin(skillVersions, isVersionOfSkill(sql`coalesce("named".value ->> 'version', ${skills.version})`))
    .where(and(isLive, isOfFeed, sql`${skills.id} = "named".value ->> 'skillId'`, condition))

/** In order of creation. */
export const selectAllOffered = unguarded({ hash, now }, () => selectAll().orderBy(asc(skills.id)))
/** In the order of the feed. */
export const selectNamedOffered = unguarded({ hash, now }, () => selectNamed().orderBy(asc(sql`"named".key`)))

const isRequested = and(
  eq(skills.id, skillId),
  // The address has it as text.
  eq(skillVersions.version, sql`cast(${version} as integer)`),
)

export const selectOneOfAll = unguarded({ hash, now, skillId, version }, () => selectAll(isRequested))
export const selectOneOfNamed = unguarded({ hash, now, skillId, version }, () => selectNamed(isRequested))
