/** SPEC.txt, Endpoints, 6; docs/contract.md, Profile pictures. */
import * as z from 'zod/mini'
import type { Contract } from '../http/endpoint.ts'
import { docs, externalId } from '../http/fields.ts'

export const deleteProfilePictureContract = {
  operationId: 'deleteProfilePicture',
  method: 'DELETE',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Delete a profile picture',
  description: "Deletes the caller's own profile picture. It succeeds when there is none.",
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: z.object({
    userId: externalId({ description: 'The user: the one that the key acts as.', example: 'ada' }),
  }),
  success: {
    status: 200,
    description: 'The user has no profile picture.',
    schema: z
      .strictObject({ userId: z.string(), deleted: z.literal(true) })
      .register(docs, { id: 'ProfilePictureDeletion' }),
    example: { userId: 'ada', deleted: true },
  },
  errors: {
    400: 'The path is wrong, or the key lacks the caller scope.',
    403: "The picture is not the caller's own.",
    404: 'The organization has no user with this id.',
    409: 'An upload of a new picture is under way.',
    500: 'The picture could not be deleted.',
    503: 'A store cannot answer now; `Retry-After` says when to ask again, and asking again is safe.',
  },
} as const satisfies Contract
