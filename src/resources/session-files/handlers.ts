import { v7 as newUuid } from 'uuid'
import type { CallerFacts } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import type { RequestContext } from '../../access/request-context.ts'
import type { Quota } from '../../environment.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { matchesEntityTag } from '../../http/conditional.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import { contentRange, rangeOf } from '../../http/range.ts'
import { deleteAfter } from '../../objects/orphans.ts'
import { deleteObject, entityTagOf, getObject, putObject } from '../../objects/store.ts'
import {
  deleteSessionFileContract,
  listSessionFilesContract,
  putSessionFileContract,
  retrieveSessionFileContentContract,
} from './contract.ts'
import {
  beginUpload,
  deleteFile,
  explainFile,
  explainList,
  explainUpload,
  keepUploaded,
  orphanContent,
  orphanReplaced,
  orphanUnrecorded,
  putFile,
  selectContent,
  selectFiles,
} from './statements.ts'

/** How long an upload may take. */
const UPLOAD_LEASE_MS = 3_600_000

interface Facts extends CallerFacts {
  sessionExists: 0 | 1
  inReach: 0 | 1
  isDeleted: 0 | 1
  /** Where the request names a file. */
  fileExists?: 0 | 1
}

/** What stands in the way of reading, in the order of docs/contract.md. */
function refusalOf(facts: Facts): ApiError | undefined {
  if (!facts.sessionExists) return new ApiError(404, 'sessionId: there is no session with this id')
  if (!facts.isDeleted && facts.fileExists === 0) {
    return new ApiError(404, 'fileId: the session has no file with this id')
  }
  if (!facts.inReach) return outOfReach()
  if (facts.isDeleted) return new ApiError(410, 'The session was deleted, and its files with it')
  return undefined
}

const frozen = () => new ApiError(409, "The session's project is archived, and so frozen: unarchive it first")

/** What stands in the way of an upload where nothing stands in the way of reading. */
function conflictOf(
  facts: Facts & { isFrozen: 0 | 1; exceededQuota: Quota | null },
  { limits }: RequestContext,
): ApiError {
  if (facts.isFrozen) return frozen()
  if (facts.exceededQuota) return quotaExceeded(facts.exceededQuota, limits)
  return new ApiError(409, 'The upload took over an hour: send a smaller file')
}

export const listSessionFiles = endpoint(listSessionFilesContract, async ({ params, query }, context) => {
  const values = { ...params, ...pagingOf(query) }
  const [facts, files] = await context.run({ check: explainList }, [selectFiles], values)
  const refusal = refusalOf(facts)
  if (refusal) throw refusal
  if (facts.cursorIsElsewhere) {
    throw new ApiError(409, 'cursor: it is a file of another session; pass the nextCursor of the page before')
  }
  return { body: pageOf(files, query, ({ id }) => id) }
})

export const putSessionFile = endpoint(
  putSessionFileContract,
  async ({ params, query, request }, context) => {
    const leaseExpiresAt = new Date(Date.parse(context.now) + UPLOAD_LEASE_MS)
    const sizeBytes = Number(request.headers.get('Content-Length'))
    const file = { ...params, ...query, sizeBytes }
    const [before, [upload]] = await context.run({ check: explainUpload }, [beginUpload], {
      ...file,
      objectId: newUuid(),
      deleteAfter: deleteAfter(leaseExpiresAt),
    })
    if (!upload) throw refusalOf(before) ?? conflictOf(before, context)

    await putObject(
      context.environment.OBJECTS,
      upload.objectKey,
      request.body ?? new ArrayBuffer(0),
      sizeBytes,
    )

    const stored = new Date()
    const steps = [orphanReplaced, putFile, keepUploaded, orphanUnrecorded] as const
    const [after, , [recorded]] = await context.run({ check: explainUpload }, steps, {
      ...file,
      ...upload,
      fileId: newUuid(),
      now: stored.toISOString(),
      deleteAfter: deleteAfter(stored),
      notSweptBefore: deleteAfter(stored),
    })
    if (recorded) return { body: recorded }
    throw refusalOf(after) ?? conflictOf(after, context)
  },
)

export const retrieveSessionFileContent = endpoint(
  retrieveSessionFileContentContract,
  async ({ params, headers: asked }, context) => {
    const [facts, [content]] = await context.run({ check: explainFile }, [selectContent], params)
    if (!content) throw refusalOf(facts)
    const { objectKey, sizeBytes } = content
    const ETag = entityTagOf(objectKey)
    const headers = {
      ETag,
      'Accept-Ranges': 'bytes',
      'Content-Disposition': 'attachment',
    }
    if (matchesEntityTag(asked['If-None-Match'], ETag)) return { notModified: true, headers }
    const range = rangeOf(asked.Range, asked['If-Range'], ETag, sizeBytes)
    return {
      // Nothing is stored for the files of the first service, which had no contents.
      content:
        sizeBytes > 0
          ? await getObject(context.environment.OBJECTS, objectKey, range)
          : new Blob([]).stream(),
      isPartial: range !== undefined,
      headers: {
        ...headers,
        'Content-Type': 'application/octet-stream',
        ...(range && { 'Content-Range': contentRange(range, sizeBytes) }),
      },
    }
  },
)

export const deleteSessionFile = endpoint(deleteSessionFileContract, async ({ params }, context) => {
  const values = { ...params, deleteAfter: deleteAfter(new Date(context.now)) }
  const [facts, , [deleted]] = await context.run({ check: explainFile }, [orphanContent, deleteFile], values)
  if (!deleted) throw refusalOf(facts) ?? frozen()
  await deleteObject(context.environment.OBJECTS, deleted.objectKey)
  return { body: { deleted: true as const, id: params.fileId } }
})
