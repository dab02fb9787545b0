import { v7 as newUuid } from 'uuid'
import { mintToken } from '../../access/api-key.ts'
import { authorized } from '../../access/preconditions.ts'
import { one } from '../../access/request-context.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toPage, toPaging } from '../../http/paging.ts'
import { createSkillFeedContract, deleteSkillFeedContract, listSkillFeedsContract } from './contract.ts'
import { creatable, deletable, deleteFeed, insertFeed, selectFeeds } from './statements.ts'

/** The list of skills is stored as JSON. */
function parseSkills<Row extends { readonly skills: string | null }>(row: Row) {
  return { ...row, skills: row.skills === null ? null : JSON.parse(row.skills) }
}

export const createSkillFeed = endpoint(createSkillFeedContract, async (c, context) => {
  const { hash, tokenIn } = await mintToken('wsf')
  const { name, skills, expiresAt = null } = c.req.valid('json')
  const entries = skills?.map(({ skillId, version = null }) => ({ skillId, version }))
  const { feed } = await context.run(
    creatable,
    { feed: one(insertFeed) },
    {
      id: newUuid(),
      hash,
      name,
      skills: entries ? JSON.stringify(entries) : null,
      expiresAt,
    },
  )
  const { path } = context
  const base = path.slice(0, path.indexOf('/v1/'))
  const url = new URL(`${base}/feeds/${tokenIn(context.caller.databaseNumber)}`, c.req.url).href
  return { body: { ...parseSkills(feed), url }, location: `${path}/${feed.id}` }
})

export const listSkillFeeds = endpoint(listSkillFeedsContract, async (c, context) => {
  const query = c.req.valid('query')
  const { feeds } = await context.run(authorized, { feeds: selectFeeds }, toPaging(query))
  return { body: toPage(feeds.map(parseSkills), query, ({ id }) => id) }
})

export const deleteSkillFeed = endpoint(deleteSkillFeedContract, async (c, context) => {
  const { deleted } = await context.run(deletable, { deleted: one(deleteFeed) }, c.req.valid('param'))
  return { body: { deleted: true, id: deleted.id } }
})
