/** The life of what the host platform has: make or rename, retrieve, list, archive, delete. */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { docs, externalId, instant, text } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_PROJECTS, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { AGENT, type Kind, PROJECT, PULL_REQUEST, SESSION, USER } from './kinds.ts'

const EXAMPLE_PROJECT_ID = 'website'
const projectId = () =>
  externalId({ description: 'The project that it belongs to.', example: EXAMPLE_PROJECT_ID })
const name = () => text(1, 255, { description: 'What people call it.' })

type ListQuery = ReturnType<typeof pageQuery> & {
  projectId: z.ZodMiniOptional<z.ZodMiniType<string, string>>
}

/** Only what belongs to a project has `projectId`, and then it is required. */
type PutBody = {
  name: z.ZodMiniType<string, string>
  projectId: z.ZodMiniOptional<z.ZodMiniType<string, string>>
}

export type Contracts<K extends Kind> = ReturnType<typeof contractsOf<K>>

function contractsOf<const K extends Kind>(kind: K) {
  const { noun, isOfProject, isArchivable, isOfOrganization } = kind
  const one = `/v1/${kind.path}/{${kind.idName}}` as `/v1/${K['path']}/{${K['idName']}}`
  const all = `/v1/${kind.path}` as `/v1/${K['path']}`
  const reads = { tag: kind.tag, scope: `${kind.path}:read` } as const
  const writes = { tag: kind.tag, scope: `${kind.path}:write` } as const
  const params = z.object({ [kind.idName as string]: kind.id() })

  const schema: z.ZodMiniObject = z
    .strictObject({
      id: kind.id(),
      ...(isOfProject && { projectId: z.string() }),
      name: z.string(),
      ...(isArchivable && {
        archivedAt: z.nullable(instant()).register(docs, {
          description: `Since when the ${noun} is archived, and frozen; null if it is not.`,
        }),
      }),
      createdAt: instant(),
      updatedAt: instant(),
    })
    .register(docs, { id: kind.name })
  const example = {
    id: kind.exampleId,
    ...(isOfProject && { projectId: EXAMPLE_PROJECT_ID }),
    name: kind.exampleName,
    ...(isArchivable && { archivedAt: null }),
    createdAt: '2026-03-02T09:15:00.000Z',
    updatedAt: '2026-03-02T09:15:00.000Z',
  }
  const success = { status: 200, description: `The ${noun}.`, schema, example } as const
  const errors = {
    400: INVALID_INPUT,
    ...(!isOfOrganization && { 403: OTHER_PROJECTS }),
    404: `The organization has no ${noun} with this id.`,
    410: `The ${noun} was deleted.`,
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  }
  const limited = 'The key is limited to projects.'
  const changeErrors = { ...errors, 403: isOfOrganization ? limited : OTHER_PROJECTS }

  return {
    put: {
      ...writes,
      operationId: `put${kind.name}`,
      method: 'PUT',
      path: one,
      summary: `Put a ${noun}`,
      description: `Makes the ${noun}, or renames it. The id of one that was deleted is never used again.`,
      params,
      body: z.strictObject({ ...(isOfProject && { projectId: projectId() }), name: name() }).register(docs, {
        id: `New${kind.name}`,
        example: { ...(isOfProject && { projectId: EXAMPLE_PROJECT_ID }), name: kind.exampleName },
      }) as unknown as z.ZodMiniObject<PutBody>,
      success,
      errors: {
        400: INVALID_INPUT,
        403: changeErrors[403],
        ...(isOfProject && { 404: 'The organization has no such project.' }),
        409: isOfProject
          ? `The project is archived, the ${noun} belongs to another project, or the organization has the most ${noun}s allowed.`
          : `The organization has the most ${noun}s allowed.`,
        410: `The ${noun} was deleted.`,
        500: INTERNAL_ERROR,
        503: STORE_UNAVAILABLE,
      },
    },
    retrieve: {
      ...reads,
      operationId: `retrieve${kind.name}`,
      method: 'GET',
      path: one,
      summary: `Retrieve a ${noun}`,
      description: `Answers with one ${noun}.`,
      params,
      success,
      errors,
    },
    list: {
      ...reads,
      operationId: `list${kind.plural}`,
      method: 'GET',
      path: all,
      summary: `List ${noun}s`,
      description:
        `Lists the ${noun}s of the organization in order of id.` +
        (isOfProject ? ' A key that is limited to projects has to name one of them.' : ''),
      params: z.object({}),
      query: z.object({
        ...(isOfProject && { projectId: z.optional(projectId()) }),
        ...pageQuery(kind.id()),
      }) as z.ZodMiniObject<ListQuery>,
      success: {
        status: 200,
        description: `A page of ${noun}s.`,
        schema: pageSchema(`${kind.name}Page`, schema, kind.id()),
        example: { items: [example], nextCursor: null },
      },
      errors: {
        400: INVALID_INPUT,
        ...(isOfProject && { 403: OTHER_PROJECTS, 404: 'The organization has no such project.' }),
        500: INTERNAL_ERROR,
        503: STORE_UNAVAILABLE,
      },
    },
    update: {
      ...writes,
      operationId: `update${kind.name}`,
      method: 'PATCH',
      path: one,
      summary: `Archive or unarchive a ${noun}`,
      description: `An archived ${noun} is frozen: what belongs to it can be read and not changed.`,
      params,
      body: z
        .strictObject({ archived: z.boolean() })
        .register(docs, { id: `${kind.name}Update`, example: { archived: true } }),
      success,
      errors: changeErrors,
    },
    remove: {
      ...writes,
      operationId: `delete${kind.name}`,
      method: 'DELETE',
      path: one,
      summary: `Delete a ${noun}`,
      description:
        `Deletes the ${noun} and all that hangs on it. Its id is never used again.` +
        (kind.type === 'user' ? ' The API keys of the user are revoked.' : ''),
      params,
      success: {
        status: 200,
        description: `The ${noun} is deleted.`,
        schema: z
          .strictObject({ deleted: z.literal(true), id: z.string() })
          .register(docs, { id: `${kind.name}Deletion` }),
        example: { deleted: true, id: kind.exampleId },
      },
      errors: {
        ...changeErrors,
        ...(kind.type === 'user' && {
          403: 'The key is limited to projects, or the user has a live key that yours may not delete.',
        }),
        ...(isOfProject && { 409: 'The project is archived: unarchive it first.' }),
      },
    },
  } as const satisfies Record<string, Contract>
}

export const projectContracts = contractsOf(PROJECT)
export const agentContracts = contractsOf(AGENT)
export const sessionContracts = contractsOf(SESSION)
export const pullRequestContracts = contractsOf(PULL_REQUEST)
export const userContracts = contractsOf(USER)
