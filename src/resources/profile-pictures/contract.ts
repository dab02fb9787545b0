/** SPEC.txt, Endpoints, 6; docs/contract.md, Profile pictures. */
import * as z from 'zod/mini'
import { words } from '#words'
import type { Contract } from '../../http/endpoint.ts'
import { docs, externalId, ifNoneMatch, instant } from '../../http/fields.ts'
import { INPUT_IS_WRONG, STORE_IS_AWAY, UNFORESEEN } from '../../http/statuses.ts'

export const deleteProfilePictureContract = {
  operationId: 'deleteProfilePicture',
  method: 'DELETE',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: words('Delete a profile picture'),
  description: words("Deletes the caller's own profile picture. It succeeds when there is none."),
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: z.object({
    userId: externalId({
      description: words('The user: the one that the key acts as.'),
      example: words('ada'),
    }),
  }),
  success: {
    status: 200,
    description: words('The user has no profile picture.'),
    schema: z
      .strictObject({ userId: z.string(), deleted: z.literal(true) })
      .register(docs, { id: 'ProfilePictureDeletion' }),
    example: words({ userId: 'ada', deleted: true }),
  },
  errors: {
    400: words('The path is wrong, or the key lacks the caller scope.'),
    403: "The picture is not the caller's own.",
    404: words('The organization has no user with this id.'),
    409: words('An upload of a new picture is under way.'),
    500: words('The picture could not be deleted.'),
    503: words('A store cannot answer now; `Retry-After` says when to ask again, and asking again is safe.'),
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
  summary: words('Put a profile picture'),
  description: words("Stores the body as the caller's own profile picture, in place of the one before."),
  scope: 'profile-picture:write',
  actsAsUser: true,
  params: z.object({
    userId: externalId({
      description: words('The user: the one that the key acts as.'),
      example: words('ada'),
    }),
  }),
  bodyLimitBytes: LIMIT_BYTES,
  upload: {
    description: words(
      'A PNG, JPEG, GIF or WebP of up to 5 MiB. Its bytes tell which, whatever `Content-Type` says.',
    ),
    mediaTypes: MEDIA_TYPES,
  },
  success: {
    status: 200,
    description: words('The picture is stored.'),
    schema: z
      .strictObject({ userId: z.string(), contentType: z.enum(MEDIA_TYPES), updatedAt: instant() })
      .register(docs, { id: 'ProfilePicture' }),
    example: words({ userId: 'ada', contentType: 'image/png', updatedAt: '2026-03-29T01:00:00.000Z' }),
  },
  errors: {
    400: words(`${INPUT_IS_WRONG} Or the body is none of these pictures.`),
    403: "The picture is not the caller's own.",
    404: NO_USER,
    409: words('The upload took too long, or a newer one took its place.'),
    500: UNFORESEEN,
    503: STORE_IS_AWAY,
  },
} as const satisfies Contract

export const retrieveProfilePictureContract = {
  operationId: 'retrieveProfilePicture',
  method: 'GET',
  path: '/v1/users/{userId}/profile-picture',
  tag: 'Users',
  summary: words('Retrieve a profile picture'),
  description: words('Answers with the picture of a user of the organization.'),
  scope: 'profile-picture:read',
  params: z.object({ userId: externalId({ description: words('The user.'), example: words('ada') }) }),
  headers: z.object({ 'If-None-Match': ifNoneMatch() }),
  success: {
    status: 200,
    description: words('The picture.'),
    mediaTypes: MEDIA_TYPES,
    headers: {
      ETag: 'The entity tag of the picture.',
      'Content-Disposition': "`inline` with a file name of the picture's type: browsers may show it.",
    },
    conditional: true,
  },
  errors: {
    400: INPUT_IS_WRONG,
    404: words(`${NO_USER} Or the user has no picture.`),
    500: UNFORESEEN,
    503: STORE_IS_AWAY,
  },
} as const satisfies Contract
