import { v7 as newUuid } from 'uuid'
import { readBytes } from '../../http/body.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { describeProblem } from '../../http/problems.ts'
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

export const deleteProfilePicture = endpoint(
  deleteProfilePictureContract,
  async ({ params: { userId } }, context) => {
    const values = { userId, deleteAfter: deleteAfter(new Date(context.now)) }
    const [facts, , [deleted]] = await context.run(deletable, [addDeletedToOrphans, deletePicture], values)
    deletable.requireMet(facts, context)
    if (deleted?.objectKey) await deleteObject(context.environment.OBJECTS, deleted.objectKey)
    return { body: { userId, deleted: true as const } }
  },
)

export const putProfilePicture = endpoint(
  putProfilePictureContract,
  async ({ params: { userId }, request, path }, context) => {
    const bytes = await readBytes(request, LIMIT_BYTES, context.caller)
    const contentType = imageTypeOf(bytes)
    if (!contentType) {
      const sent = `${bytes.byteLength} bytes`
      const allowed = 'a PNG, JPEG, GIF or WebP image'
      const advice = 'Send the bytes of the image as the body, not JSON, Base64 or a form.'
      const problem = { wrong: 'is not an image of a known type', sent, allowed, advice }
      throw await context.caller.inputError(describeProblem('body', problem))
    }

    const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
    const [before, [upload]] = await context.run(uploadable, [beginUpload, leasePicture], {
      userId,
      objectId: newUuid(),
      leaseExpiresAt: leaseExpiresAt.toISOString(),
      deleteAfter: deleteAfter(leaseExpiresAt),
    })
    if (!upload) throw uploadable.refusal(before, context)

    await putObject(context.environment.OBJECTS, upload.objectKey, bytes)

    const stored = context.caller.takeTime()
    const steps = [addReplacedToOrphans, putPicture, removeRecordedFromOrphans] as const
    const [after, , [picture]] = await context.run(recordable, steps, {
      userId,
      ...upload,
      contentType,
      deleteAfter: deleteAfter(stored),
    })
    if (!picture) throw recordable.refusal(after, context)
    return {
      body: { userId, contentType, updatedAt: picture.updatedAt },
      location: after.isNew ? path : undefined,
    }
  },
)

export const retrieveProfilePicture = endpoint(
  retrieveProfilePictureContract,
  async ({ params, headers: requested }, context) => {
    const { objectKey, contentType } = await context.runForRow(readable, [selectPicture], params)
    const headers = {
      ETag: entityTagOf(objectKey),
      'Content-Disposition': `inline; filename="profile-picture.${contentType.replace('image/', '')}"`,
    }
    if (matchesEntityTag(requested['If-None-Match'], headers.ETag)) return { notModified: true, headers }
    return {
      content: await getObject(context.environment.OBJECTS, objectKey),
      headers: { ...headers, 'Content-Type': contentType },
    }
  },
)
