import { v7 as newUuid } from 'uuid'
import { FEED_PREFIX, hashToken, mintToken } from '../../access/api-key.ts'
import { authorized } from '../../access/preconditions.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import { createSkillFeedContract, deleteSkillFeedContract, listSkillFeedsContract } from './contract.ts'
import { creatable, deletable, deleteFeed, insertFeed, selectFeeds } from './statements.ts'

/** The list of skills is stored as JSON. */
function parseSkills<Row extends { readonly skills: string | null }>(row: Row) {
  return { ...row, skills: row.skills === null ? null : JSON.parse(row.skills) }
}

export const createSkillFeed = endpoint(createSkillFeedContract, async ({ body, path, request }, context) => {
  const token = mintToken(FEED_PREFIX)
  const { name, skills, expiresAt = null } = body
  const entries = skills?.map(({ skillId, version = null }) => ({ skillId, version }))
  const row = await context.runForRow(creatable, [insertFeed], {
    id: newUuid(),
    hash: hashToken(token),
    name,
    skills: entries ? JSON.stringify(entries) : null,
    expiresAt,
  })
  const base = path.slice(0, path.indexOf('/v1/'))
  const url = new URL(`${base}/feeds/${token}`, request.url).href
  return { body: { ...parseSkills(row), url }, location: `${path}/${row.id}` }
})

export const listSkillFeeds = endpoint(listSkillFeedsContract, async ({ query }, context) => {
  const [, feeds] = await context.run(authorized, [selectFeeds], pagingOf(query))
  return { body: pageOf(feeds.map(parseSkills), query, ({ id }) => id) }
})

export const deleteSkillFeed = endpoint(deleteSkillFeedContract, async ({ params }, context) => {
  const { id } = await context.runForRow(deletable, [deleteFeed], params)
  return { body: { deleted: true as const, id } }
})
