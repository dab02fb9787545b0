import { type Example, eventOf, type Rows } from '../support/example.ts'

const withVersion = async (example: Example, version: number): Promise<Example> => ({
  ...example,
  json: { name: 'Laptops', skills: example.ids.map((skillId) => ({ skillId, version })) },
})

export const skillFeedRows: Rows = {
  createSkillFeed: {
    async prepare(workspace) {
      const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes' })
      return { path: '/v1/skill-feeds', json: { name: 'Laptops', skills: [{ skillId }] }, ids: [skillId] }
    },
    events: eventOf('skill-feed.created', { isNew: true, name: 'Laptops' }),
    variations: {
      'it names a version': { apply: (_, example) => withVersion(example, 1) },
      'it names a version that the skill does not have': {
        status: 404,
        apply: (_, example) => withVersion(example, 2),
      },
      'it ended already': {
        status: 400,
        async apply(_, example) {
          return { ...example, json: { ...(example.json as object), expiresAt: '2020-01-01T00:00:00Z' } }
        },
      },
      'the organization has the most feeds allowed': {
        status: 409,
        async apply(workspace, example) {
          for (let count = 0; count < 100; count++) await workspace.addSkillFeed()
          return example
        },
      },
    },
  },

  listSkillFeeds: {
    async prepare(workspace) {
      await workspace.addSkillFeed()
      return { path: '/v1/skill-feeds?limit=1', ids: [] }
    },
    namesNothing: true,
    variations: {},
  },

  deleteSkillFeed: {
    async prepare(workspace) {
      const feedId = await workspace.addSkillFeed()
      return { path: `/v1/skill-feeds/${feedId}`, ids: [feedId] }
    },
    events: eventOf('skill-feed.deleted', { name: 'Laptops' }),
    variations: {},
  },
}
