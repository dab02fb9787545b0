import { expect } from 'vitest'
import {
  eventOf,
  ifMatchVariations,
  ifNoneMatchVariations,
  noEvents,
  type Row,
  type Rows,
  withQuery,
} from '../support/example.ts'
import { entryFile, skillOf } from '../support/skills.ts'
import type { Workspace } from '../support/workspace.ts'

const OTHER_FILE = { filename: 'notes.txt', content: 'none' }
const NEW_SKILL = skillOf({ files: [] })

/** The files of the skill that `addSkill` adds, in a request. */
const filesOf = (name: string) => [entryFile(name), OTHER_FILE]
const contentsOf = (name: string) =>
  Object.fromEntries(filesOf(name).map(({ filename, content }) => [filename, content]))

function addSkill(workspace: Workspace, name = `notes-${workspace.newId()}`): Promise<string> {
  return workspace.addSkill(contentsOf(name), undefined, name)
}

const noSuchVersion = (path: (skillId: string) => string): Row['variations'][string] => ({
  status: 404,
  apply: async (_, example) => ({ ...example, path: path(example.ids[0] ?? '') }),
})

export const skillRows: Rows = {
  retrieveSkill: {
    async prepare(workspace) {
      const skillId = await addSkill(workspace)
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
      await addSkill(workspace)
      return { path: '/v1/skills?limit=1', ids: [] }
    },
    namesNothing: true,
    variations: {
      'it has a name': {
        async apply(workspace, example) {
          await addSkill(workspace, 'release-notes')
          return withQuery(example, { name: 'release-notes' })
        },
      },
      'it searches': { apply: async (_, example) => withQuery(example, { query: 'NOTES' }) },
    },
  },

  createSkill: {
    prepare: async () => ({ path: '/v1/skills', json: NEW_SKILL, ids: [] }),
    namesNothing: true,
    calls: 2,
    events: eventOf('skill.created', { isNew: true, name: 'release-notes' }),
    variations: {
      'it has an Idempotency-Key': {
        apply: async (_, example) => ({ ...example, headers: { 'Idempotency-Key': 'new' } }),
      },
      'it has a binary file': {
        apply: async (_, example) => ({
          ...example,
          json: skillOf({ files: [{ filename: 'a.bin', content: '/w==', encoding: 'base64' }] }),
        }),
      },
      'the name is taken': {
        status: 409,
        async apply(workspace, example) {
          await addSkill(workspace, 'release-notes')
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
      const skillId = await addSkill(workspace)
      const json = { files: [entryFile('renamed'), OTHER_FILE] }
      return { path: `/v1/skills/${skillId}`, json, ids: [skillId] }
    },
    calls: 2,
    events: eventOf('skill.updated', { name: 'renamed' }),
    variations: {
      ...ifMatchVariations,
      'it gets other files': {
        apply: async (_, example) => ({ ...example, json: skillOf({ name: 'renamed' }) }),
      },
      'nothing differs': {
        idle: true,
        calls: 1,
        events: noEvents,
        lifts: 409,
        async apply(workspace, example) {
          const skill = (await workspace.dump('skills')).find(({ id }) => id === example.ids[0])
          return { ...example, json: { files: filesOf(String(skill?.name)) } }
        },
      },
      'a version is too many': {
        apply: async (_, example) => ({ ...example, environment: { SKILL_VERSION_LIMIT: '1' } }),
      },
      'the name is taken': {
        status: 409,
        async apply(workspace, example) {
          await addSkill(workspace, 'renamed')
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
      const skillId = await addSkill(workspace)
      return { path: `/v1/skills/${skillId}`, ids: [skillId] }
    },
    events: eventOf('skill.deleted', { name: expect.stringMatching(/^notes-/) }),
    variations: ifMatchVariations,
  },

  listSkillVersions: {
    async prepare(workspace) {
      const skillId = await addSkill(workspace)
      return { path: `/v1/skills/${skillId}/versions?limit=1`, ids: [skillId] }
    },
    variations: {},
  },

  retrieveSkillVersion: {
    async prepare(workspace) {
      const skillId = await addSkill(workspace)
      return { path: `/v1/skills/${skillId}/versions/1`, ids: [skillId] }
    },
    variations: { 'there is no such version': noSuchVersion((id) => `/v1/skills/${id}/versions/2`) },
  },

  publishSkillVersion: {
    async prepare(workspace) {
      const skillId = await addSkill(workspace)
      await workspace.addSkillVersion(skillId, contentsOf('earlier'), 'earlier')
      return { path: `/v1/skills/${skillId}/publish`, json: { version: 2 }, ids: [skillId] }
    },
    events: ({ ids: [id] }) => [{ type: 'skill.published', path: `/v1/skills/${id}`, name: 'earlier' }],
    variations: {
      ...ifMatchVariations,
      'it is the current version': {
        idle: true,
        events: noEvents,
        lifts: 409,
        apply: async (_, example) => ({ ...example, json: { version: 1 } }),
      },
      'there is no such version': {
        status: 404,
        apply: async (_, example) => ({ ...example, json: { version: 3 } }),
      },
      'its name is taken': {
        status: 409,
        async apply(workspace, example) {
          await addSkill(workspace, 'earlier')
          return example
        },
      },
    },
  },

  retrieveSkillArchive: {
    async prepare(workspace) {
      const skillId = await addSkill(workspace)
      return { path: `/v1/skills/${skillId}/archive`, ids: [skillId] }
    },
    variations: {
      ...ifNoneMatchVariations,
      'it names a version': {
        apply: async (_, example) => ({ ...example, path: `${example.path}?version=1` }),
      },
      'there is no such version': noSuchVersion((id) => `/v1/skills/${id}/archive?version=2`),
    },
  },
}
