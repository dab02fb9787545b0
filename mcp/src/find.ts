/** The tool that finds what other tools need the ID of. */
import * as z from 'zod/mini'
import { docs, externalId, pageQuery, searchQuery, text } from '../../src/contracts.ts'
import type { Input, ToolContract } from './tool.ts'

const TYPES = ['project', 'agent', 'session'] as const
type Type = (typeof TYPES)[number]

function list(type: Type, filters: Record<string, z.ZodMiniType> = {}): ToolContract {
  return {
    method: 'GET',
    path: `/v1/${type}s`,
    description: `Lists ${type}s.`,
    scope: `${type}s:read`,
    params: z.object({}),
    query: z.object({ ...searchQuery('name'), ...filters, ...pageQuery(text(1, 1000)) }),
  }
}

const LISTS: Readonly<Record<Type, ToolContract>> = {
  project: list('project'),
  agent: list('agent'),
  session: list('session', {
    projectId: z.optional(externalId({})).register(docs, { description: 'Only sessions of this project.' }),
  }),
}

export const listsByType = Object.values(LISTS)

export const findProperties = { type: z.enum(TYPES, TYPES.map((type) => `"${type}"`).join(', ')) }

export function listOf({ type }: Input): ToolContract | undefined {
  return Object.hasOwn(LISTS, String(type)) ? LISTS[type as Type] : undefined
}
