/** The profile pictures of users (docs/contract-resources.md, Profile pictures). */
import * as z from 'zod/mini'
import { userNotFound } from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, externalId, ifNoneMatch, instant } from '../../http/fields.ts'
import { INTERNAL_ERROR, INVALID_INPUT, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { otherUser, pictureNotFound, uploadExpired, uploadInProgress } from './failures.ts'

const ownUser = () =>
  z.object({
    userId: externalId({ description: 'The user that the API key acts as.', example: EXAMPLE_IDS.userId }),
  })

export const deleteProfilePictureContract = {
  operationId: 'deleteProfilePicture',
  method: 'DELETE',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Delete a profile picture',
  description: 'Deletes the profile picture of the user that the API key acts as. Succeeds if there is none.',
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: ownUser(),
  success: {
    status: 200,
    description: 'The user has no profile picture.',
    schema: z
      .strictObject({ userId: z.string(), deleted: z.literal(true) })
      .register(docs, { id: 'ProfilePictureDeletion' }),
    example: { userId: EXAMPLE_IDS.userId, deleted: true },
  },
  failures: [otherUser, userNotFound, uploadInProgress],
  errors: {
    400: INVALID_INPUT,
    403: 'The API key acts as another user.',
    404: 'The organization has no user with this userId.',
    409: 'A new picture is being uploaded.',
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  },
} as const satisfies Contract

export const LIMIT_BYTES = 5 * 2 ** 20
const MEDIA_TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'] as const

export const putProfilePictureContract = {
  operationId: 'putProfilePicture',
  method: 'PUT',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Put a profile picture',
  description:
    'Stores the body as the profile picture of the user that the API key acts as, in place of the current one. ' +
    'Each success is a change with an event, because pictures are not compared.',
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: ownUser(),
  bodyLimitBytes: LIMIT_BYTES,
  upload: {
    description:
      'A PNG, JPEG, GIF or WebP image of up to 5 MiB. The service detects the format from the bytes and ignores `Content-Type`.',
    // The first one, so that the reference page asks for a file.
    mediaTypes: ['application/octet-stream', ...MEDIA_TYPES],
  },
  success: {
    status: 200,
    description: 'The picture replaces the one before.',
    created: 'The picture is stored; there was none before.',
    schema: z
      .strictObject({ userId: z.string(), contentType: z.enum(MEDIA_TYPES), updatedAt: instant() })
      .register(docs, { id: 'ProfilePicture' }),
    example: { userId: EXAMPLE_IDS.userId, contentType: 'image/png', updatedAt: '2026-03-29T01:00:00.000Z' },
  },
  failures: [otherUser, userNotFound, uploadExpired],
} as const satisfies Contract

export const retrieveProfilePictureContract = {
  operationId: 'retrieveProfilePicture',
  method: 'GET',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: 'Retrieve a profile picture',
  description: 'Returns the profile picture of any user of the organization.',
  scope: 'profile-picture:read',
  params: z.object({ userId: externalId({ description: 'The user.', example: EXAMPLE_IDS.userId }) }),
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: 'The picture.',
    mediaTypes: MEDIA_TYPES,
    headers: {
      ETag: 'The entity tag of the picture.',
      'Content-Disposition': '`inline`, with a file name for the format: browsers may show the picture.',
    },
    conditional: true,
  },
  failures: [userNotFound, pictureNotFound],
} as const satisfies Contract
