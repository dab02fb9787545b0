import { v7 as newUuid } from 'uuid'
import type { CallerFacts } from '../../access/guard.ts'
import { ApiError } from '../../errors.ts'
import { readBytes } from '../../http/body.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { deleteObject, entityTagOf, getObject, putObject } from '../../objects/store.ts'
import {
  deleteProfilePictureContract,
  LIMIT_BYTES,
  putProfilePictureContract,
  retrieveProfilePictureContract,
} from './contract.ts'
import { imageTypeOf } from './image-type.ts'
import {
  beginUpload,
  explainPicture,
  keepUploaded,
  leasePicture,
  linkPicture,
  orphanPicture,
  orphanReplaced,
  selectPicture,
  unlinkPicture,
} from './statements.ts'

/** How long an upload may take, once its body is here. */
const UPLOAD_LEASE_MS = 120_000

interface Facts extends CallerFacts {
  userExists: 0 | 1
  isOwn: 0 | 1
}

function refusalOf({ userExists, isOwn }: Facts): ApiError | undefined {
  if (!userExists) return new ApiError(404, 'userId: there is no user with this id')
  if (!isOwn) return new ApiError(403, 'userId: you can change your own profile picture only')
  return undefined
}

export const deleteProfilePicture = endpoint(
  deleteProfilePictureContract,
  async ({ params: { userId } }, context) => {
    const [explanation, , [unlinked]] = await context.run(
      { check: explainPicture },
      [orphanPicture, unlinkPicture],
      {
        userId,
        deleteAfter: deleteAfter(new Date(context.now)),
      },
    )
    if (!unlinked) {
      const refusal = refusalOf(explanation)
      if (refusal) throw refusal
      if (explanation.isUploading)
        throw new ApiError(409, 'An upload of a new picture is under way: try again when it is done')
    }
    if (unlinked?.objectKey) await deleteObject(context.environment.OBJECTS, unlinked.objectKey)
    return { body: { userId, deleted: true as const } }
  },
)

export const putProfilePicture = endpoint(
  putProfilePictureContract,
  async ({ params: { userId }, request }, context) => {
    const bytes = await readBytes(request, LIMIT_BYTES, context.caller)
    const contentType = imageTypeOf(bytes)
    if (!contentType)
      throw await context.caller.inputError(
        `body: expected a PNG, JPEG, GIF or WebP picture, got ${bytes.byteLength} bytes that are none`,
      )

    const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
    const [facts, [upload]] = await context.run({ check: explainPicture }, [beginUpload, leasePicture], {
      userId,
      objectId: newUuid(),
      leaseExpiresAt: leaseExpiresAt.toISOString(),
      deleteAfter: deleteAfter(leaseExpiresAt),
    })
    if (!upload) throw refusalOf(facts)

    await putObject(context.environment.OBJECTS, upload.objectKey, bytes, bytes.byteLength)

    const stored = new Date()
    const [after, , [picture]] = await context.run(
      { check: explainPicture },
      [orphanReplaced, linkPicture, keepUploaded],
      {
        userId,
        ...upload,
        contentType,
        now: stored.toISOString(),
        deleteAfter: deleteAfter(stored),
      },
    )
    if (picture) return { body: { userId, contentType, updatedAt: picture.updatedAt } }
    throw (
      refusalOf(after) ??
      new ApiError(409, 'The upload took too long, or a newer one took its place: try again')
    )
  },
)

export const retrieveProfilePicture = endpoint(
  retrieveProfilePictureContract,
  async ({ params, headers: asked }, context) => {
    const [facts, [picture]] = await context.run({ check: explainPicture }, [selectPicture], params)
    if (!picture) {
      throw new ApiError(
        404,
        facts.userExists ? 'The user has no picture' : 'userId: there is no user with this id',
      )
    }
    const { objectKey, contentType } = picture
    const headers = {
      ETag: entityTagOf(objectKey),
      'Content-Disposition': `inline; filename="profile-picture.${contentType.replace('image/', '')}"`,
    }
    if (matchesEntityTag(asked['If-None-Match'], headers.ETag)) return { notModified: true, headers }
    return {
      content: await getObject(context.environment.OBJECTS, objectKey),
      headers: { ...headers, 'Content-Type': contentType },
    }
  },
)
