import { v7 as newUuid } from 'uuid'
import { one } from '../../access/request-context.ts'
import { readBytes } from '../../http/body.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { describeProblem } from '../../http/problems.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { deleteObject, getObject, putObject, toEntityTag } from '../../objects/store.ts'
import {
  deleteProfilePictureContract,
  LIMIT_BYTES,
  putProfilePictureContract,
  retrieveProfilePictureContract,
} from './contract.ts'
import { detectImageType } from './image-type.ts'
import {
  addDeletedToOrphans,
  addReplacedToOrphans,
  beginUpload,
  deletable,
  deletePicture,
  leasePicture,
  putPicture,
  readable,
  recordable,
  removeRecordedFromOrphans,
  selectPicture,
  uploadable,
} from './statements.ts'

/** How long an upload may take, once the service has its body. */
const UPLOAD_LEASE_MS = 120_000

export const deleteProfilePicture = endpoint(deleteProfilePictureContract, async (c, context) => {
  const { userId } = c.req.valid('param')
  const { deleted } = await context.run(
    deletable,
    { addDeletedToOrphans, deleted: deletePicture },
    { userId, deleteAfter: deleteAfter(new Date(context.now)) },
  )
  const [picture] = deleted
  if (picture?.objectKey) await deleteObject(context.environment.OBJECTS, picture.objectKey)
  return { body: { userId, deleted: true } }
})

export const putProfilePicture = endpoint(putProfilePictureContract, async (c, context) => {
  const { userId } = c.req.valid('param')
  const bytes = await readBytes(c.req.raw, LIMIT_BYTES, context.caller)
  const contentType = detectImageType(bytes)
  if (!contentType) {
    const sent = `${bytes.byteLength} bytes`
    const allowed = 'a PNG, JPEG, GIF or WebP image'
    const advice = 'Send the bytes of the image as the body, not JSON, Base64 or a form.'
    const problem = { wrong: 'is not an image of a known type', sent, allowed, advice }
    throw await context.caller.inputError(describeProblem('body', problem))
  }

  const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
  const { upload } = await context.run(
    uploadable,
    { upload: one(beginUpload), leasePicture },
    {
      userId,
      objectId: newUuid(),
      leaseExpiresAt: leaseExpiresAt.toISOString(),
      deleteAfter: deleteAfter(leaseExpiresAt),
    },
  )

  await putObject(context.environment.OBJECTS, upload.objectKey, bytes)

  const stored = context.caller.takeTime()
  const { check, picture } = await context.run(
    recordable,
    { addReplacedToOrphans, picture: one(putPicture), removeRecordedFromOrphans },
    { userId, ...upload, contentType, deleteAfter: deleteAfter(stored) },
  )
  return {
    body: { userId, contentType, updatedAt: picture.updatedAt },
    location: check.isNew ? context.path : undefined,
  }
})

export const retrieveProfilePicture = endpoint(retrieveProfilePictureContract, async (c, context) => {
  const { picture } = await context.run(readable, { picture: one(selectPicture) }, c.req.valid('param'))
  const { objectKey, contentType } = picture
  const headers = {
    ETag: toEntityTag(objectKey),
    'Content-Disposition': `inline; filename="profile-picture.${contentType.replace('image/', '')}"`,
  }
  if (matchesEntityTag(c.req.valid('header')['If-None-Match'], headers.ETag)) return { notModified: true, headers }
  return {
    content: await getObject(context.environment.OBJECTS, objectKey),
    headers: { ...headers, 'Content-Type': contentType },
  }
})
