/** SPEC.txt, Endpoints, 7; docs/contract.md, Environment variables. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, externalId } from '../http/fields.ts'

const variableKey = z
  .string()
  .check(
    z.regex(
      /^[A-Za-z_][A-Za-z0-9_]*$/,
      'expected letters, digits and underscores, not beginning with a digit',
    ),
    z.maxLength(255, 'expected 1 to 255 characters'),
  )
  .register(docs, { minLength: 1, description: 'The name of the variable.', example: 'DATABASE_URL' })

export const deleteEnvironmentVariableContract = {
  operationId: 'deleteEnvironmentVariable',
  method: 'DELETE',
  path: '/v1/projects/{projectId}/environment-variables/{key}',
  tag: 'Projects',
  summary: 'Delete a project environment variable',
  description: 'Deletes one encrypted environment variable of a project.',
  scope: 'environment-variables:write',
  params: z.object({
    projectId: externalId({ description: 'The project.', example: 'website' }),
    key: variableKey,
  }),
  success: {
    status: 200,
    description: 'The variable is deleted.',
    schema: z
      .strictObject({ deleted: z.literal(true), key: z.string() })
      .register(docs, { id: 'EnvironmentVariableDeletion' }),
    example: { deleted: true, key: 'DATABASE_URL' },
  },
  errors: {
    400: 'The path is wrong, or the key lacks the caller scope.',
    403: 'The key is limited to other projects.',
    404: 'The organization has no such project, or the project has no such variable.',
    409: 'The project is archived: unarchive it first.',
    500: 'The variable could not be deleted.',
  },
} as const satisfies Contract
