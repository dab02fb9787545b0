import { v7 as newUuid } from 'uuid'
import { one } from '../../access/request-context.ts'
import { HOUR_MS } from '../../durations.ts'
import { parseMediaType } from '../../http/body.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toExaminedPage, toPage, toPaging } from '../../http/paging.ts'
import { contentRange, parseRange } from '../../http/range.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { deleteObject, getObject, streamObject, toEntityTag } from '../../objects/store.ts'
import {
  deleteSessionFileContract,
  listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
  retrieveSessionFileContract,
  searchSessionFilesContract,
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
  searchable,
  searchableInSession,
  searchFiles,
  searchFilesOfSession,
  selectContent,
  selectFile,
  selectFiles,
  uploadable,
} from './statements.ts'

/** How long an upload may take. */
const UPLOAD_LEASE_MS = HOUR_MS

export const listSessionFiles = endpoint(listSessionFilesContract, async (c, context) => {
  const query = c.req.valid('query')
  const values = { ...c.req.valid('param'), ...toPaging(query) }
  const { files } = await context.run(listable, { files: selectFiles }, values)
  return { body: toPage(files, query, ({ id }) => id) }
})

export const searchSessionFiles = endpoint(searchSessionFilesContract, async (c, context) => {
  const query = c.req.valid('query')
  const { sessionId, query: text } = query
  // Paths are stored in this form.
  const values = { ...toPaging(query), query: text?.normalize('NFC') ?? null }
  const { files } =
    sessionId === undefined
      ? await context.run(searchable, { files: searchFiles }, values)
      : await context.run(searchableInSession, { files: searchFilesOfSession }, { ...values, sessionId })
  return { body: toExaminedPage(files, query, ({ id }) => id) }
})

export const putSessionFile = endpoint(putSessionFileContract, async (c, context) => {
  const request = c.req.raw
  const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
  const sizeBytes = Number(request.headers.get('Content-Length'))
  const contentType = await parseMediaType(request, context.caller)
  const file = { ...c.req.valid('param'), ...c.req.valid('query'), sizeBytes }
  const { upload } = await context.run(
    uploadable,
    { upload: one(beginUpload) },
    { ...file, objectId: newUuid(), deleteAfter: deleteAfter(leaseExpiresAt) },
  )

  const body = request.body ?? new Blob([]).stream()
  const sha256 = await streamObject(context.environment.OBJECTS, upload.objectKey, body, sizeBytes)

  const stored = context.caller.takeTime()
  const { check, recorded } = await context.run(
    recordable,
    { addReplacedToOrphans, recorded: one(putFile), removeRecordedFromOrphans, addUnrecordedToOrphans },
    {
      ...file,
      ...upload,
      contentType,
      sha256,
      fileId: newUuid(),
      deleteAfter: deleteAfter(stored),
      notSweptBefore: deleteAfter(stored),
    },
  )
  return { body: recorded, location: check.isNew ? `${context.path}/${recorded.id}` : undefined }
})

export const retrieveSessionFile = endpoint(retrieveSessionFileContract, async (c, context) => {
  const { file } = await context.run(readable, { file: one(selectFile) }, c.req.valid('param'))
  return { body: file }
})

export const retrieveSessionFileContent = endpoint(retrieveSessionFileContentContract, async (c, context) => {
  const requested = c.req.valid('header')
  const { stored } = await context.run(readable, { stored: one(selectContent) }, c.req.valid('param'))
  const { objectKey, sizeBytes } = stored
  const ETag = toEntityTag(objectKey)
  const headers = {
    ETag,
    'Accept-Ranges': 'bytes',
    'Content-Disposition': 'attachment',
  }
  if (matchesEntityTag(requested['If-None-Match'], ETag)) return { notModified: true, headers }
  const range = parseRange(requested.Range, requested['If-Range'], ETag, sizeBytes)
  return {
    // An empty content is not read: the demo's file has no object.
    content: sizeBytes > 0 ? await getObject(context.environment.OBJECTS, objectKey, range) : new Blob([]).stream(),
    isPartial: range !== undefined,
    headers: {
      ...headers,
      // Never a type that a browser would run or show.
      'Content-Type': 'application/octet-stream',
      ...(range && { 'Content-Range': contentRange(range, sizeBytes) }),
    },
  }
})

export const deleteSessionFile = endpoint(deleteSessionFileContract, async (c, context) => {
  const params = c.req.valid('param')
  const { deleted } = await context.run(
    deletable,
    { addDeletedToOrphans, deleted: one(deleteFile) },
    { ...params, deleteAfter: deleteAfter(new Date(context.now)) },
  )
  // The file is gone: a failure of R2 is no failure of the request.
  context.caller.waitUntil(deleteObject(context.environment.OBJECTS, deleted.objectKey))
  return { body: { deleted: true, id: params.fileId } }
})
