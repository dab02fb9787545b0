import { v7 as newUuid } from 'uuid'
import { mediaTypeOf } from '../../http/body.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import { contentRange, rangeOf } from '../../http/range.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { deleteObject, entityTagOf, getObject, streamObject } from '../../objects/store.ts'
import {
  deleteSessionFileContract,
  listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
  retrieveSessionFileContract,
} from './contract.ts'
import {
  addDeletedToOrphans,
  addReplacedToOrphans,
  addUnrecordedToOrphans,
  beginUpload,
  deletable,
  deleteFile,
  listable,
  putFile,
  readable,
  recordable,
  removeRecordedFromOrphans,
  selectContent,
  selectFile,
  selectFiles,
  uploadable,
} from './statements.ts'

/** How long an upload may take. */
const UPLOAD_LEASE_MS = 3_600_000

export const listSessionFiles = endpoint(listSessionFilesContract, async ({ params, query }, context) => {
  const values = { ...params, ...pagingOf(query) }
  const [facts, files] = await context.run(listable, [selectFiles], values)
  listable.requireMet(facts, context)
  return { body: pageOf(files, query, ({ id }) => id) }
})

export const putSessionFile = endpoint(
  putSessionFileContract,
  async ({ params, query, request, path }, context) => {
    const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
    const sizeBytes = Number(request.headers.get('Content-Length'))
    const contentType = await mediaTypeOf(request, context.caller)
    const file = { ...params, ...query, sizeBytes }
    const upload = await context.runForRow(uploadable, [beginUpload], {
      ...file,
      objectId: newUuid(),
      deleteAfter: deleteAfter(leaseExpiresAt),
    })

    const body = request.body ?? new Blob([]).stream()
    const sha256 = await streamObject(context.environment.OBJECTS, upload.objectKey, body, sizeBytes)

    const stored = context.caller.takeTime()
    const steps = [addReplacedToOrphans, putFile, removeRecordedFromOrphans, addUnrecordedToOrphans] as const
    const [after, , [recorded]] = await context.run(recordable, steps, {
      ...file,
      ...upload,
      contentType,
      sha256,
      fileId: newUuid(),
      deleteAfter: deleteAfter(stored),
      notSweptBefore: deleteAfter(stored),
    })
    if (!recorded) throw recordable.refusal(after, context)
    return { body: recorded, location: after.isNew ? `${path}/${recorded.id}` : undefined }
  },
)

export const retrieveSessionFile = endpoint(retrieveSessionFileContract, async ({ params }, context) => ({
  body: await context.runForRow(readable, [selectFile], params),
}))

export const retrieveSessionFileContent = endpoint(
  retrieveSessionFileContentContract,
  async ({ params, headers: requested }, context) => {
    const { objectKey, sizeBytes } = await context.runForRow(readable, [selectContent], params)
    const ETag = entityTagOf(objectKey)
    const headers = {
      ETag,
      'Accept-Ranges': 'bytes',
      'Content-Disposition': 'attachment',
    }
    if (matchesEntityTag(requested['If-None-Match'], ETag)) return { notModified: true, headers }
    const range = rangeOf(requested.Range, requested['If-Range'], ETag, sizeBytes)
    return {
      // An empty content is not read: the demo's file has no object.
      content:
        sizeBytes > 0
          ? await getObject(context.environment.OBJECTS, objectKey, range)
          : new Blob([]).stream(),
      isPartial: range !== undefined,
      headers: {
        ...headers,
        // Never a type that a browser would run or show.
        'Content-Type': 'application/octet-stream',
        ...(range && { 'Content-Range': contentRange(range, sizeBytes) }),
      },
    }
  },
)

export const deleteSessionFile = endpoint(deleteSessionFileContract, async ({ params }, context) => {
  const values = { ...params, deleteAfter: deleteAfter(new Date(context.now)) }
  const deleted = await context.runForRow(deletable, [addDeletedToOrphans, deleteFile], values)
  await deleteObject(context.environment.OBJECTS, deleted.objectKey)
  return { body: { deleted: true as const, id: params.fileId } }
})
