/**
 * A feed as installers read it: its index, by the Agent Skills Discovery specification 0.2.0, and the archives beneath
 * it. The token in the path is the only credential. Whatever is wrong, the response is the same 404.
 */
import type { Context } from 'hono'
import { getAddress } from '../../access/address.ts'
import { parseToken } from '../../access/api-key.ts'
import { MAX_HOPS } from '../../access/caller.ts'
import { countAgainst, countRefusedKey, refuseBlocked } from '../../access/rate-limit.ts'
import { RecentMap } from '../../access/recent-map.ts'
import { sha256 } from '../../crypto/digest.ts'
import { type Database, databaseOf } from '../../db/database.ts'
import { isUnavailable, StoreUnavailable } from '../../db/failures.ts'
import { type RowOf, runBatch } from '../../db/statement.ts'
import { ApiError, failure, stopped, unavailable } from '../../errors.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import type { HonoEnvironment } from '../../http/context.ts'
import { getObject } from '../../objects/store.ts'
import { selectAllOffered, selectFeed, selectNamedOffered, selectOneOfAll, selectOneOfNamed } from './offered.ts'

const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const INDEX = 'index.json'
/** The ID of the skill and the version: two versions of different skills can have the same name. */
const ARCHIVE = /^([0-9a-f-]{36})-([1-9]\d{0,9})\.tar\.gz$/
/** The installer drops an entry whose description has more UTF-16 units. The service counts code points. */
const MAX_DESCRIPTION_UNITS = 1024

/** The databases of feeds that moved with their organization, by their hash. */
const movedFeeds = new RecentMap<string, number>()

type FeedContext = Context<HonoEnvironment>

export async function serveSkillFeed(c: FeedContext): Promise<Response> {
  try {
    return c.req.param('file') === INDEX ? await serveIndex(c) : await serveArchive(c)
  } catch (error) {
    throw isUnavailable(error) ? unavailable() : error
  }
}

async function serveIndex(c: FeedContext): Promise<Response> {
  const { offered } = await readFeed(c, (database, values) =>
    runBatch(database, { feed: selectFeed, offered: [selectAllOffered, selectNamedOffered] }, values),
  )
  const skills = uniquelyNamed(offered).map(({ id, name, description, version, digest }) => ({
    name,
    description: shortened(description),
    type: 'archive',
    url: `${id}-${version}.tar.gz`,
    digest: `sha256:${digest}`,
  }))
  const body = JSON.stringify({ $schema: SCHEMA, skills })
  const headers = { ETag: `"${await sha256(body)}"`, 'Content-Type': 'application/json' }
  return isCurrent(c, headers.ETag) ? c.body(null, 304, headers) : c.body(body, 200, headers)
}

async function serveArchive(c: FeedContext): Promise<Response> {
  const [, skillId = null, version = null] = ARCHIVE.exec(c.req.param('file') ?? '') ?? []
  const steps = { feed: selectFeed, archives: [selectOneOfAll, selectOneOfNamed] }
  const {
    archives: [archive],
  } = await readFeed(c, (database, values) => runBatch(database, steps, { ...values, skillId, version }))
  if (!archive) throw notFound()
  const headers = { ETag: `"${archive.digest}"`, 'Content-Type': 'application/gzip' }
  const content = isCurrent(c, headers.ETag) ? null : await getObject(c.env.OBJECTS, archive.objectKey)
  // A proxy that compresses or rewrites the archive breaks its digest.
  c.set('cacheControl', 'private, no-cache, no-transform')
  return content ? c.body(content, 200, headers) : c.body(null, 304, headers)
}

/**
 * Counts the request against the rate limits.
 * @returns what the token says.
 * @throws {ApiError} 404 if the token is malformed, 429 over a rate limit.
 */
async function admit({ env, req }: FeedContext) {
  const token = req.param('token') ?? ''
  const address = getAddress(req.raw)
  refuseBlocked(address, undefined, env)
  const parsed = await parseToken(token, 'wsf')
  if (!parsed) {
    await countRefusedKey(address, env)
    throw notFound()
  }
  await countAgainst('KEY_RATE_LIMIT', `feed ${parsed.hash} ${address}`, env)
  return parsed
}

/**
 * Reads in the database that the token names, or in the one that the feed moved to.
 * @throws {ApiError} 404 if no live feed has the token, 503 if the operator has stopped feeds.
 */
async function readFeed<Rows extends { readonly feed: readonly RowOf<typeof selectFeed>[] }>(
  c: FeedContext,
  read: (database: Database, values: { readonly hash: string; readonly now: string }) => Promise<Rows>,
): Promise<Rows> {
  const { hash, databaseNumber } = await admit(c)
  const values = { hash, now: new Date().toISOString() }
  let number = movedFeeds.get(hash) ?? databaseNumber
  for (let hops = 0; hops <= MAX_HOPS; hops++) {
    const database = databaseOf(c.env, number)
    const rows = database && (await read(database, values))
    const feed = rows?.feed[0]
    if (!rows || !feed) {
      await countRefusedKey(getAddress(c.req.raw), c.env)
      throw notFound()
    }
    if (feed.movedTo === null) {
      if (feed.isStopped === 1) throw new ApiError(stopped('feeds'))
      return rows
    }
    number = feed.movedTo
    movedFeeds.set(hash, number)
  }
  throw new StoreUnavailable('The feed moves to another database')
}

function notFound(): ApiError {
  return new ApiError(failure('skill_feed_not_found', 'There is no such feed, or it has ended.'))
}

function isCurrent(c: FeedContext, entityTag: string): boolean {
  return matchesEntityTag(c.req.header('If-None-Match'), entityTag)
}

/** A pinned version keeps a name that another skill may have since. In the feed, the first one has it. */
function uniquelyNamed<Skill extends { readonly name: string }>(skills: readonly Skill[]): Skill[] {
  const names = new Set<string>()
  return skills.filter(({ name }) => names.size < names.add(name).size)
}

function shortened(description: string): string {
  if (description.length <= MAX_DESCRIPTION_UNITS) return description
  return description
    .slice(0, MAX_DESCRIPTION_UNITS)
    .toWellFormed()
    .replace(/\ufffd$/, '')
}
