/** The life of what the host platform has: make or rename, retrieve, list, archive, delete. */
import * as z from 'zod/mini'
import { words } from '#words'
import type { Contract } from '../../http/endpoint.ts'
import { docs, externalId, instant, text } from '../../http/fields.ts'
import { pageQuery, pageSchema } from '../../http/paging.ts'
import { INPUT_IS_WRONG, OUT_OF_REACH, STORE_IS_AWAY, UNFORESEEN } from '../../http/statuses.ts'
import { AGENT, type Kind, PROJECT, PULL_REQUEST, SESSION, USER } from './kinds.ts'

const EXAMPLE_PROJECT_ID = 'website'
const projectId = () =>
  externalId({ description: words('The project that it belongs to.'), example: words(EXAMPLE_PROJECT_ID) })
const name = () => text(1, 255, { description: words('What people call it.') })

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
          description: words(`Since when the ${noun} is archived, and frozen; null if it is not.`),
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
  const success = { status: 200, description: words(`The ${noun}.`), schema, example } as const
  const errors = {
    400: INPUT_IS_WRONG,
    ...(!isOfOrganization && { 403: OUT_OF_REACH }),
    404: words(`The organization has no ${noun} with this id.`),
    410: words(`The ${noun} was deleted.`),
    500: UNFORESEEN,
    503: STORE_IS_AWAY,
  }
  const limited = words('The key is limited to projects.')
  const changeErrors = { ...errors, 403: isOfOrganization ? limited : OUT_OF_REACH }

  return {
    put: {
      ...writes,
      operationId: `put${kind.name}`,
      method: 'PUT',
      path: one,
      summary: words(`Put a ${noun}`),
      description: words(
        `Makes the ${noun}, or renames it. The id of one that was deleted is never used again.`,
      ),
      params,
      body: z.strictObject({ ...(isOfProject && { projectId: projectId() }), name: name() }).register(docs, {
        id: `New${kind.name}`,
        example: words({ ...(isOfProject && { projectId: EXAMPLE_PROJECT_ID }), name: kind.exampleName }),
      }) as unknown as z.ZodMiniObject<PutBody>,
      success,
      errors: {
        400: INPUT_IS_WRONG,
        403: changeErrors[403],
        ...(isOfProject && { 404: words('The organization has no such project.') }),
        409: isOfProject
          ? words(
              `The project is archived, the ${noun} belongs to another project, or the organization has the most ${noun}s allowed.`,
            )
          : words(`The organization has the most ${noun}s allowed.`),
        410: words(`The ${noun} was deleted.`),
        500: UNFORESEEN,
        503: STORE_IS_AWAY,
      },
    },
    retrieve: {
      ...reads,
      operationId: `retrieve${kind.name}`,
      method: 'GET',
      path: one,
      summary: words(`Retrieve a ${noun}`),
      description: words(`Answers with one ${noun}.`),
      params,
      success,
      errors,
    },
    list: {
      ...reads,
      operationId: `list${kind.plural}`,
      method: 'GET',
      path: all,
      summary: words(`List ${noun}s`),
      description: words(
        `Lists the ${noun}s of the organization in order of id.` +
          (isOfProject ? ' A key that is limited to projects has to name one of them.' : ''),
      ),
      params: z.object({}),
      query: z.object({
        ...(isOfProject && { projectId: z.optional(projectId()) }),
        ...pageQuery(kind.id()),
      }) as z.ZodMiniObject<ListQuery>,
      success: {
        status: 200,
        description: words(`A page of ${noun}s.`),
        schema: pageSchema(`${kind.name}Page`, schema, kind.id()),
        example: words({ items: [example], nextCursor: null }),
      },
      errors: {
        400: INPUT_IS_WRONG,
        ...(isOfProject && { 403: OUT_OF_REACH, 404: 'The organization has no such project.' }),
        500: UNFORESEEN,
        503: STORE_IS_AWAY,
      },
    },
    update: {
      ...writes,
      operationId: `update${kind.name}`,
      method: 'PATCH',
      path: one,
      summary: words(`Archive or unarchive a ${noun}`),
      description: words(`An archived ${noun} is frozen: what belongs to it can be read and not changed.`),
      params,
      body: z
        .strictObject({ archived: z.boolean() })
        .register(docs, { id: `${kind.name}Update`, example: words({ archived: true }) }),
      success,
      errors: changeErrors,
    },
    remove: {
      ...writes,
      operationId: `delete${kind.name}`,
      method: 'DELETE',
      path: one,
      summary: words(`Delete a ${noun}`),
      description: words(
        `Deletes the ${noun} and all that hangs on it. Its id is never used again.` +
          (kind.type === 'user' ? ' The API keys of the user are revoked.' : ''),
      ),
      params,
      success: {
        status: 200,
        description: words(`The ${noun} is deleted.`),
        schema: z
          .strictObject({ deleted: z.literal(true), id: z.string() })
          .register(docs, { id: `${kind.name}Deletion` }),
        example: words({ deleted: true, id: kind.exampleId }),
      },
      errors: {
        ...changeErrors,
        ...(kind.type === 'user' && {
          403: words('The key is limited to projects, or the user has a live key that yours may not delete.'),
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
