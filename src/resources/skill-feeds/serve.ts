/**
 * A feed as installers read it: its index, by the Agent Skills Discovery specification 0.2.0, and the archives beneath
 * it. The token in the path is the only credential. Whatever is wrong, the response is the same 404.
 */
import type { Context } from 'hono'
import { FEED_PREFIX, hashToken, isToken } from '../../access/api-key.ts'
import { countAgainst, countRefusedKey, getAddress, refuseBlocked } from '../../access/rate-limit.ts'
import { sha256 } from '../../crypto/digest.ts'
import { isUnavailable } from '../../db/failures.ts'
import { runBatch } from '../../db/statement.ts'
import { ApiError, unavailable } from '../../errors.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import type { HonoEnvironment } from '../../http/context.ts'
import { getObject } from '../../objects/store.ts'
import { selectAllOffered, selectLiveFeed, selectNamedOffered, selectOneOfAll, selectOneOfNamed } from './offered.ts'

const SCHEMA = 'https://schemas.agentskills.io/discovery/0.2.0/schema.json'
const INDEX = 'index.json'
/** The ID of the skill and the version: two versions of different skills can have the same name. */
const ARCHIVE = /^([0-9a-f-]{36})-([1-9]\d{0,9})\.tar\.gz$/
/** The installer drops an entry whose description has more UTF-16 units. The service counts code points. */
const MAX_DESCRIPTION_UNITS = 1024

type FeedContext = Context<HonoEnvironment>

export async function serveSkillFeed(c: FeedContext): Promise<Response> {
  try {
    return c.req.param('file') === INDEX ? await serveIndex(c) : await serveArchive(c)
  } catch (error) {
    throw isUnavailable(error) ? unavailable() : error
  }
}

async function serveIndex(c: FeedContext): Promise<Response> {
  const steps = { feed: selectLiveFeed, offered: [selectAllOffered, selectNamedOffered] }
  const { feed, offered } = await runBatch(c.env.DB, steps, await admit(c))
  await requireFeed(c, feed)
  const skills = uniquelyNamed(offered).map(({ id, name, description, version, digest }) => ({
    name,
    description: shortened(description),
    type: 'archive',
    url: `${id}-${version}.tar.gz`,
    digest: `sha256:${digest}`,
  }))
  const body = JSON.stringify({ $schema: SCHEMA, skills })
  const headers = { ETag: `"${sha256(body)}"`, 'Content-Type': 'application/json' }
  return isCurrent(c, headers.ETag) ? c.body(null, 304, headers) : c.body(body, 200, headers)
}

async function serveArchive(c: FeedContext): Promise<Response> {
  const [, skillId = null, version = null] = ARCHIVE.exec(c.req.param('file') ?? '') ?? []
  const steps = { feed: selectLiveFeed, archives: [selectOneOfAll, selectOneOfNamed] }
  const { feed, archives } = await runBatch(c.env.DB, steps, { ...(await admit(c)), skillId, version })
  await requireFeed(c, feed)
  const [archive] = archives
  if (!archive) throw notFound()
  const headers = { ETag: `"${archive.digest}"`, 'Content-Type': 'application/gzip' }
  const content = isCurrent(c, headers.ETag) ? null : await getObject(c.env.OBJECTS, archive.objectKey)
  // A proxy that compresses or rewrites the archive breaks its digest.
  c.set('cacheControl', 'private, no-cache, no-transform')
  return content ? c.body(content, 200, headers) : c.body(null, 304, headers)
}

/**
 * Counts the request against the rate limits.
 * @returns the values that all statements of a feed need.
 * @throws {ApiError} 404 if the token is malformed, 429 over a rate limit.
 */
async function admit({ env, req }: FeedContext) {
  const token = req.param('token') ?? ''
  const address = getAddress(req.raw)
  refuseBlocked(address, undefined, env)
  if (!isToken(token, FEED_PREFIX)) {
    await countRefusedKey(address, env)
    throw notFound()
  }
  const hash = hashToken(token)
  await countAgainst('KEY_RATE_LIMIT', `feed ${hash} ${address}`, env)
  return { hash, now: new Date().toISOString() }
}

/** @throws {ApiError} 404 if no live feed has the token. */
async function requireFeed({ env, req }: FeedContext, feeds: readonly unknown[]): Promise<void> {
  if (feeds.length > 0) return
  await countRefusedKey(getAddress(req.raw), env)
  throw notFound()
}

function notFound(): ApiError {
  return new ApiError('skill_feed_not_found', 'There is no such feed, or it has ended.')
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
