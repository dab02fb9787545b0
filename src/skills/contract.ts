/** SPEC.txt, Endpoints, 5; docs/contract.md, Skills. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, instant, uuid } from '../http/fields.ts'

const skillFile = z
  .strictObject({
    id: uuid(),
    filename: z.string(),
    content: z.string().register(docs, { description: 'Exactly as it was stored.' }),
  })
  .register(docs, { id: 'SkillFile' })

const skill = z
  .strictObject({
    id: uuid(),
    name: z.string(),
    description: z.string(),
    createdAt: instant(),
    updatedAt: instant(),
    files: z
      .array(skillFile)
      .register(docs, { description: 'All files of the skill, in order of filename.' }),
  })
  .register(docs, { id: 'Skill' })

export const retrieveSkillContract = {
  operationId: 'retrieveSkill',
  method: 'GET',
  path: '/v1/skills/{skillId}',
  tag: 'Skills',
  summary: 'Retrieve a skill',
  description: 'Answers with a skill of the organization and all of its files.',
  scope: 'skills:read',
  params: z.object({ skillId: uuid('The skill.') }),
  headers: z.object({
    'If-None-Match': z.optional(z.string()).register(docs, {
      description: 'Entity tags that you already have; if one is current, the answer is 304.',
      example: '"0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70"',
    }),
  }),
  success: {
    status: 200,
    description: 'The skill and all of its files.',
    schema: skill,
    example: {
      id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c70',
      name: 'release-notes',
      description: 'Writes release notes from merged pull requests.',
      createdAt: '2026-03-02T09:15:00.000Z',
      updatedAt: '2026-03-29T01:00:00.000Z',
      files: [
        {
          id: '0198c2a4-7d1e-7c3a-9b52-3f6d8e1a4c71',
          filename: 'SKILL.md',
          content: '---\nname: release-notes\n---\n',
        },
      ],
    },
    headers: { ETag: 'The entity tag of the skill: it changes with every change of the skill or its files.' },
    conditional: true,
  },
  errors: {
    400: 'The path is wrong, or the key lacks the caller scope.',
    404: 'The organization has no skill with this id.',
    500: 'The skill could not be retrieved.',
  },
} as const satisfies Contract
