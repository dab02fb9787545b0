/** SPEC.txt, Endpoints, 6; docs/contract.md, Profile pictures. */
import * as z from 'zod/mini'
import type { Contract } from '../../http/contract.ts'
import { docs, externalId, ifNoneMatch, instant } from '../../http/fields.ts'
import { INTERNAL_ERROR, INVALID_INPUT, STORE_UNAVAILABLE } from '../../http/statuses.ts'

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
    userId: externalId({
      description: 'The user: the one that the key acts as.',
      example: 'ada',
    }),
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

export const LIMIT_BYTES = 5 * 2 ** 20
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

const NO_USER = 'The organization has no user with this id.'

export const putProfilePictureContract = {
  operationId: 'putProfilePicture',
  method: 'PUT',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Put a profile picture',
  description: "Stores the body as the caller's own profile picture, in place of the one before.",
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: z.object({
    userId: externalId({
      description: 'The user: the one that the key acts as.',
      example: 'ada',
    }),
  }),
  bodyLimitBytes: LIMIT_BYTES,
  upload: {
    description:
      'A PNG, JPEG, GIF or WebP of up to 5 MiB. Its bytes tell which, whatever `Content-Type` says.',
    mediaTypes: MEDIA_TYPES,
  },
  success: {
    status: 200,
    description: 'The picture is stored.',
    schema: z
      .strictObject({ userId: z.string(), contentType: z.enum(MEDIA_TYPES), updatedAt: instant() })
      .register(docs, { id: 'ProfilePicture' }),
    example: { userId: 'ada', contentType: 'image/png', updatedAt: '2026-03-29T01:00:00.000Z' },
  },
  errors: {
    400: `${INVALID_INPUT} Or the body is not a PNG, JPEG, GIF or WebP image.`,
    403: "The picture is not the caller's own.",
    404: NO_USER,
    409: 'The upload took too long, or a newer one took its place.',
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  },
} as const satisfies Contract

export const retrieveProfilePictureContract = {
  operationId: 'retrieveProfilePicture',
  method: 'GET',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Retrieve a profile picture',
  description: 'Answers with the picture of a user of the organization.',
  scope: 'profile-picture:read',
  params: z.object({ userId: externalId({ description: 'The user.', example: 'ada' }) }),
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: 'The picture.',
    mediaTypes: MEDIA_TYPES,
    headers: {
      ETag: 'The entity tag of the picture.',
      'Content-Disposition': "`inline` with a file name of the picture's type: browsers may show it.",
    },
    conditional: true,
  },
  errors: {
    400: INVALID_INPUT,
    404: `${NO_USER} Or the user has no picture.`,
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  },
} as const satisfies Contract
