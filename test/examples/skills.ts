import { ifMatchVariations, ifNoneMatchVariations, type Rows } from '../support/example.ts'

const NEW_SKILL = {
  name: 'release-notes',
  description: 'Writes release notes.',
  files: [{ filename: 'SKILL.md', content: '# Release notes' }],
}

export const skillRows: Rows = {
  retrieveSkill: {
    async prepare(workspace) {
      const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes', 'notes.txt': 'none' })
      return { path: `/v1/skills/${skillId}`, ids: [skillId] }
    },
    variations: {
      ...ifNoneMatchVariations,
      'it has no files': {
        async apply(workspace, example) {
          const skillId = await workspace.addSkill({})
          return { ...example, path: `/v1/skills/${skillId}`, ids: [skillId] }
        },
      },
    },
  },

  listSkills: {
    async prepare(workspace) {
      await workspace.addSkill({ 'SKILL.md': '# Notes' })
      return { path: '/v1/skills?limit=1', ids: [] }
    },
    namesNothing: true,
    variations: {
      'it has a name': {
        async apply(workspace, example) {
          await workspace.addSkill({}, undefined, NEW_SKILL.name)
          return { ...example, path: `${example.path}&name=${NEW_SKILL.name}` }
        },
      },
    },
  },

  createSkill: {
    prepare: async () => ({ path: '/v1/skills', json: NEW_SKILL, ids: [] }),
    namesNothing: true,
    variations: {
      'it has an Idempotency-Key': {
        apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
      },
      'the name is taken': {
        status: 409,
        async apply(workspace, example) {
          await workspace.addSkill({}, undefined, NEW_SKILL.name)
          return example
        },
      },
      'the organization has the most skills allowed': {
        status: 409,
        apply: async (_, example) => ({ ...example, environment: { SKILL_LIMIT: '0' } }),
      },
    },
  },

  updateSkill: {
    async prepare(workspace) {
      const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes', 'notes.txt': 'none' })
      return { path: `/v1/skills/${skillId}`, json: { name: 'renamed' }, ids: [skillId] }
    },
    variations: {
      ...ifMatchVariations,
      'it gets other files': {
        apply: async (_, example) => ({ ...example, json: { ...NEW_SKILL, name: 'renamed' } }),
      },
      'the name is taken': {
        status: 409,
        async apply(workspace, example) {
          await workspace.addSkill({}, undefined, 'renamed')
          return example
        },
      },
      'the organization has the most bytes allowed': {
        status: 409,
        needs: 'it gets other files',
        apply: async (_, example) => ({ ...example, environment: { SKILL_BYTE_LIMIT: '0' } }),
      },
    },
  },

  deleteSkill: {
    async prepare(workspace) {
      const skillId = await workspace.addSkill({ 'SKILL.md': '# Notes', 'notes.txt': 'none' })
      return { path: `/v1/skills/${skillId}`, ids: [skillId] }
    },
    variations: ifMatchVariations,
  },
}
