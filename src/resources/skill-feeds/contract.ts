/** The feeds of skills (docs/contract-resources.md, Feeds). */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, instant, rule, text, time, uuid } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { feedLimit, feedNotFound, namedSkillNotFound, namedVersionNotFound } from './failures.ts'

/** An installer downloads all skills of a feed at once, and the rate limit allows 600 requests a minute. */
const MAX_SKILLS = 500

const isDistinct = (skills: readonly { readonly skillId: string }[]) =>
  new Set(skills.map(({ skillId }) => skillId)).size === skills.length

const VERSION = 'a whole number of at least 1'
const versionNumber = z.int(VERSION).check(z.minimum(1, VERSION), z.maximum(2 ** 31 - 1, VERSION))

const feed = {
  id: uuid(),
  name: z.string(),
  skills: z
    .nullable(
      z.array(
        z.strictObject({ skillId: uuid(), version: z.nullable(z.int()) }).register(docs, { id: 'SkillFeedEntry' }),
      ),
    )
    .register(docs, {
      description: 'The skills of the feed, each with its version, or null for the current one; null: all skills.',
    }),
  expiresAt: z.nullable(instant()).register(docs, { description: 'When the feed ends; null if it does not.' }),
  apiKeyId: uuid('The API key that the feed ends with: the one that made it, or its successor.'),
  createdAt: instant(),
}

const skillFeed = z.strictObject(feed).register(docs, { id: 'SkillFeed' })
const newSkillFeed = z
  .strictObject({
    ...feed,
    url: z.string().register(docs, {
      description: 'The address to install from. It contains the secret token, and no other response has it.',
    }),
  })
  .register(docs, { id: 'SkillFeedWithUrl' })

const exampleFeed = {
  id: EXAMPLE_IDS.skillFeedId,
  name: 'Laptops of the team',
  skills: [{ skillId: EXAMPLE_IDS.skillId, version: null }],
  expiresAt: null,
  apiKeyId: EXAMPLE_IDS.apiKeyId,
  createdAt: '2026-03-29T01:00:00.000Z',
}

export const createSkillFeedContract = {
  operationId: 'createSkillFeed',
  showsSecretOnce: true,
  method: 'POST',
  path: '/v1/skill-feeds',
  tag: 'Skills',
  summary: 'Create a feed of skills',
  description:
    'Creates an address from which installers of skills, such as `npx skills add`, install without an API key. Anyone who has the address can read the skills, so `skill-feeds:write` is enough to publish every skill of the organization, without `skills:read`. ' +
    'The feed ends when it is deleted, when it expires, or when the API key that made it is revoked or expires. Rotating that key keeps the feed.',
  scope: 'skill-feeds:write',
  params: z.object({}),
  body: z
    .strictObject({
      name: text(1, 255, { description: 'What the feed is for.' }),
      skills: z
        .optional(
          z
            .array(
              z
                .strictObject({ skillId: uuid('The skill.'), version: z.optional(versionNumber) })
                .register(docs, { id: 'NewSkillFeedEntry' }),
              `an array of up to ${MAX_SKILLS} skills`,
            )
            .check(z.maxLength(MAX_SKILLS), rule(isDistinct, 'has a skill several times', 'each skill once')),
        )
        .register(docs, {
          description:
            'The skills of the feed. With `version`, the feed stays at this version; without, it follows the current one. All skills of the organization if it is left out.',
        }),
      expiresAt: z.optional(z.nullable(time())).register(docs, {
        description: 'When the feed ends, in any form of RFC 3339; null if it does not.',
      }),
    })
    .register(docs, {
      id: 'NewSkillFeed',
      example: { name: exampleFeed.name, skills: [{ skillId: EXAMPLE_IDS.skillId }] },
    }),
  success: {
    status: 201,
    description: 'The feed was created. Only this response contains its address.',
    schema: newSkillFeed,
    example: {
      ...exampleFeed,
      url: 'https://api.example.com/feeds/wsf_…',
    },
    headers: { Location: 'The path of the feed.' },
  },
  failures: [namedSkillNotFound, namedVersionNotFound, feedLimit],
} as const satisfies Contract

export const listSkillFeedsContract = {
  operationId: 'listSkillFeeds',
  method: 'GET',
  path: '/v1/skill-feeds',
  tag: 'Skills',
  summary: 'List the feeds of skills',
  description:
    'Lists the feeds of the organization in order of creation, also those that have ended, without their addresses.',
  scope: 'skill-feeds:read',
  params: z.object({}),
  query: z.object(pageQuery(uuid())),
  success: {
    status: 200,
    description: 'A page of feeds.',
    schema: pageSchema('SkillFeedPage', skillFeed, uuid()),
    example: { items: [exampleFeed], nextCursor: null },
  },
} as const satisfies Contract

export const deleteSkillFeedContract = {
  operationId: 'deleteSkillFeed',
  method: 'DELETE',
  path: '/v1/skill-feeds/{feedId}',
  tag: 'Skills',
  summary: 'Delete a feed of skills',
  description: 'Deletes a feed. Its address answers 404 from then on; what was installed stays installed.',
  scope: 'skill-feeds:write',
  params: z.object({ feedId: uuid('The feed.', EXAMPLE_IDS.skillFeedId) }),
  success: {
    status: 200,
    description: 'The feed was deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'SkillFeedDeletion' }),
    example: { deleted: true, id: exampleFeed.id },
  },
  failures: [feedNotFound],
} as const satisfies Contract
