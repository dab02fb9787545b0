/** The files of a session (docs/contract-resources.md, Session files). */
import * as z from 'zod/mini'
import { projectArchived, projectForbidden, quotaExceeded, sessionNotFound } from '../../access/failures.ts'
import type { Contract } from '../../http/contract.ts'
import { EXAMPLE_IDS } from '../../http/example-ids.ts'
import { docs, ifNoneMatch, instant, parameter, relativePath, uuid } from '../../http/fields.ts'
import { limitInDigits, pageQuery, pageSchema, pagesExamine, searchQuery } from '../../http/paging.ts'
import { INTERNAL_ERROR, INVALID_INPUT, OTHER_PROJECTS, STORE_UNAVAILABLE } from '../../http/statuses.ts'
import { cursorMismatch, sessionDeleted, sessionFileNotFound, sessionRequired, uploadExpired } from './failures.ts'

const PATH_LENGTH = 1000
const CONTENT_LIMIT_BYTES = 95_000_000

const sessionFile = z
  .strictObject({
    id: uuid(),
    sessionId: uuid(),
    path: z.string(),
    createdAt: instant(),
    updatedAt: instant(),
  })
  .register(docs, { id: 'SessionFile' })

const sessionFileDetails = z
  .extend(sessionFile, {
    sizeBytes: z.int().register(docs, { description: 'The size of the content.' }),
    contentType: z.string().register(docs, {
      description: 'The `Content-Type` of the upload; `application/octet-stream` if it had none.',
    }),
    sha256: z.string().register(docs, { description: 'The SHA-256 of the content, in lower-case hexadecimal.' }),
  })
  .register(docs, { id: 'SessionFileDetails' })

const exampleFile = {
  id: EXAMPLE_IDS.fileId,
  sessionId: EXAMPLE_IDS.sessionId,
  path: EXAMPLE_IDS.filePath,
  createdAt: '2026-03-29T01:00:00.000Z',
  updatedAt: '2026-03-29T01:00:00.000Z',
}

const exampleDetails = {
  ...exampleFile,
  sizeBytes: 6,
  contentType: 'text/plain; charset=utf-8',
  sha256: '5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03',
}

export const listSessionFilesContract = {
  operationId: 'listSessionFiles',
  method: 'GET',
  path: '/v1/sessions/{sessionId}/files',
  tag: 'Sessions',
  summary: 'List session files',
  description:
    'Lists the files of a session in order of creation, without their contents. ' +
    'Pass `nextCursor` as `cursor` to get the next page.',
  scope: 'session-files:read',
  params: z.object({ sessionId: uuid('The session.', EXAMPLE_IDS.sessionId) }),
  query: z.object({ ...pageQuery(uuid()), limit: limitInDigits }),
  success: {
    status: 200,
    description: 'A page of files.',
    schema: pageSchema('SessionFilePage', sessionFile, uuid()),
    example: {
      items: [exampleFile],
      nextCursor: null,
    },
  },
  failures: [projectForbidden, sessionNotFound, sessionDeleted, cursorMismatch],
  errors: {
    400: INVALID_INPUT,
    403: OTHER_PROJECTS,
    404: 'The organization has no session with this sessionId.',
    409: 'The cursor is a file of another session.',
    410: 'The session was deleted, with its files.',
    500: INTERNAL_ERROR,
    503: STORE_UNAVAILABLE,
  },
} as const satisfies Contract

export const searchSessionFilesContract = {
  operationId: 'searchSessionFiles',
  method: 'GET',
  path: '/v1/session-files',
  tag: 'Sessions',
  summary: 'Search session files',
  description:
    'Lists the files of all sessions, or of one, in order of creation, without their contents. An API key that is restricted to projects has to name a session in `sessionId`. ' +
    pagesExamine('With `query`', 'files'),
  scope: 'session-files:read',
  params: z.object({}),
  query: z.object({
    sessionId: z.optional(uuid('The session.', EXAMPLE_IDS.sessionId)),
    ...searchQuery('path'),
    ...pageQuery(uuid()),
  }),
  success: listSessionFilesContract.success,
  failures: [sessionRequired, projectForbidden, sessionNotFound, sessionDeleted],
} as const satisfies Contract

const fileParams = z.object({
  sessionId: uuid('The session.', EXAMPLE_IDS.sessionId),
  fileId: uuid('The file.', EXAMPLE_IDS.fileId),
})

export const putSessionFileContract = {
  operationId: 'putSessionFile',
  method: 'PUT',
  path: '/v1/sessions/{sessionId}/files',
  tag: 'Sessions',
  summary: 'Put a session file',
  description:
    'Stores the body, and its `Content-Type`, as the file at a path. If a file exists at the path, it keeps its ID and gets the new content.',
  scope: 'session-files:write',
  params: z.object({ sessionId: uuid('The session.', EXAMPLE_IDS.sessionId) }),
  query: z.object({
    path: relativePath(PATH_LENGTH, {
      description:
        'The path of the file, relative to the folder that the session worked in. A `+` in a query means a space; write a plus sign as `%2B`.',
      example: exampleFile.path,
    }),
  }),
  bodyLimitBytes: CONTENT_LIMIT_BYTES,
  upload: {
    description: 'The content, up to 95 MB (95,000,000 bytes). `Content-Length` is required.',
    // The first one, so that the reference page asks for a file.
    mediaTypes: ['application/octet-stream', '*/*'],
    needsLength: true,
  },
  success: {
    status: 200,
    description: 'The file has the new content.',
    created: 'The file was created.',
    schema: sessionFileDetails,
    example: exampleDetails,
  },
  failures: [projectForbidden, sessionNotFound, sessionDeleted, projectArchived, quotaExceeded, uploadExpired],
} as const satisfies Contract

export const retrieveSessionFileContract = {
  operationId: 'retrieveSessionFile',
  method: 'GET',
  path: '/v1/sessions/{sessionId}/files/{fileId}',
  tag: 'Sessions',
  summary: 'Retrieve a session file',
  description: 'Returns what is known of a file, without its content.',
  scope: 'session-files:read',
  params: fileParams,
  success: { status: 200, description: 'The file.', schema: sessionFileDetails, example: exampleDetails },
  failures: [projectForbidden, sessionNotFound, sessionFileNotFound, sessionDeleted],
} as const satisfies Contract

export const retrieveSessionFileContentContract = {
  operationId: 'retrieveSessionFileContent',
  method: 'GET',
  path: '/v1/sessions/{sessionId}/files/{fileId}/content',
  tag: 'Sessions',
  summary: 'Retrieve the content of a session file',
  description: 'Returns the bytes of a file as they were stored, or one range of them.',
  scope: 'session-files:read',
  params: fileParams,
  headers: z.object({
    'If-None-Match': ifNoneMatch(),
    Range: z.optional(parameter()).register(docs, {
      description:
        'One range of bytes, such as `bytes=0-1023`. If several ranges are given, the response is the whole content.',
    }),
    'If-Range': z.optional(parameter()).register(docs, {
      description: 'The ETag of your partial copy. If the content has changed, the response is the whole content.',
    }),
  }),
  success: {
    status: 200,
    description: 'The content. The `contentType` of the file says what it is.',
    mediaTypes: ['application/octet-stream'],
    headers: {
      ETag: 'The entity tag of the content.',
      'Accept-Ranges': '`bytes`',
      'Content-Disposition': '`attachment`: browsers save the content and do not show it.',
    },
    conditional: true,
    partial: true,
  },
  failures: [projectForbidden, sessionNotFound, sessionFileNotFound, sessionDeleted],
} as const satisfies Contract

export const deleteSessionFileContract = {
  operationId: 'deleteSessionFile',
  method: 'DELETE',
  path: '/v1/sessions/{sessionId}/files/{fileId}',
  tag: 'Sessions',
  summary: 'Delete a session file',
  description: 'Deletes a file and its content.',
  scope: 'session-files:write',
  params: fileParams,
  success: {
    status: 200,
    description: 'The file is deleted.',
    schema: z.strictObject({ deleted: z.literal(true), id: uuid() }).register(docs, { id: 'SessionFileDeletion' }),
    example: { deleted: true, id: exampleFile.id },
  },
  failures: [projectForbidden, sessionNotFound, sessionFileNotFound, sessionDeleted, projectArchived],
} as const satisfies Contract
