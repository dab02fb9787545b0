/** What the pages ask the API about sessions and their files, and what they tell it to do. */
import { infiniteQueryOptions, queryOptions } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { refresh, workspace } from '../api.ts'
import { growingQuery } from '../lists.ts'

type Schemas = components['schemas']
export type Session = Schemas['Session']
export type SessionFile = Schemas['SessionFile']
export type FileDetails = Schemas['SessionFileDetails']

const PAGE = 50

interface SessionFilters {
  readonly query?: string | undefined
  readonly projectId?: string | undefined
}

/** The latest first. */
export const sessionsQuery = (filters: SessionFilters) =>
  growingQuery({
    queryKey: ['sessions', 'list', filters],
    limit: PAGE,
    read: (limit, cursor) => workspace.sessions.list({ ...filters, order: '-createdAt', limit, cursor }).page(),
  })

export const sessionQuery = (sessionId: string) =>
  queryOptions({
    queryKey: ['sessions', 'one', sessionId],
    queryFn: () => workspace.sessions.retrieve(sessionId),
  })

export const removeSession = (sessionId: string) => workspace.sessions.delete(sessionId)

export async function setPinned(sessionId: string, isPinned: boolean): Promise<void> {
  await (isPinned ? workspace.pins.put('session', sessionId) : workspace.pins.delete('session', sessionId))
  await refresh('pins')
}

/** How many files a tree has. */
export const MAX_FILES = 5000
const FILES_PER_REQUEST = 1000

export interface FileList {
  readonly files: readonly SessionFile[]
  /** False if the session has more than a tree shows. */
  readonly isComplete: boolean
}

/** The files whose path contains the text. */
export const filesQuery = (sessionId: string, query?: string) =>
  queryOptions({
    queryKey: ['files', sessionId, 'list', query],
    queryFn: async (): Promise<FileList> => {
      const files: SessionFile[] = []
      for await (const file of workspace.sessionFiles.search({ sessionId, query, limit: FILES_PER_REQUEST })) {
        if (files.length === MAX_FILES) return { files, isComplete: false }
        files.push(file)
      }
      return { files, isComplete: true }
    },
    placeholderData: (previous, previousQuery) => (previousQuery?.queryKey[1] === sessionId ? previous : undefined),
  })

export const fileQuery = (sessionId: string, fileId: string) =>
  queryOptions({
    queryKey: ['files', sessionId, 'one', fileId],
    queryFn: () => workspace.sessions.files.retrieve(sessionId, fileId),
  })

/** The first read of a text. */
export const FIRST_BYTES = 256 * 1024
const MAX_READ_BYTES = 2 * 1024 * 1024
/** How long contents stay in memory after they were shown. */
const KEPT_MS = 60_000

type Range = readonly [first: number, last: number]

/** Bytes of a file, from its start on or from its end back. Each page is as large as all before it. */
export const partsQuery = (file: FileDetails, from: 'start' | 'end') =>
  infiniteQueryOptions({
    // The key does not begin with `files`: a content stays the same, whatever event there is.
    queryKey: ['contents', file.id, file.sha256, from],
    queryFn: ({ pageParam: [first, last] }) => readContent(file, { range: `bytes=${first}-${last}` }),
    initialPageParam: nextRange(file, from, 0, FIRST_BYTES) as Range,
    getNextPageParam: (_last, pages) => {
      const loaded = pages.reduce((sum, { length }) => sum + length, 0)
      return nextRange(file, from, loaded, Math.min(loaded, MAX_READ_BYTES))
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  })

function nextRange({ sizeBytes }: FileDetails, from: 'start' | 'end', loaded: number, max: number): Range | undefined {
  const length = Math.min(max, sizeBytes - loaded)
  if (length <= 0) return undefined
  const first = from === 'start' ? loaded : sizeBytes - loaded - length
  return [first, first + length - 1]
}

export const contentQuery = (file: FileDetails) =>
  queryOptions({
    queryKey: ['contents', file.id, file.sha256, 'whole'],
    queryFn: () => readContent(file),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: KEPT_MS,
  })

async function readContent(
  { sessionId, id }: FileDetails,
  options: { range?: string } = {},
): Promise<Uint8Array<ArrayBuffer>> {
  const response = await workspace.sessions.files.content.retrieve(sessionId, id, options)
  return new Uint8Array(await response.arrayBuffer())
}

/** What the browser itself may load: a download, or the page of an HTML file without its scripts. */
export function contentPath({ sessionId, id }: FileDetails, route: '/api' | '/api/render'): string {
  return `${route}/v1/sessions/${sessionId}/files/${id}/content`
}

/** A large file on a slow line. The service accepts an upload for an hour. */
const UPLOAD_TIMEOUT_MS = 60 * 60 * 1000

/** @returns whether it has replaced a file. */
export async function upload(sessionId: string, path: string, content: Blob, signal: AbortSignal): Promise<boolean> {
  const options = { path, signal, timeout: UPLOAD_TIMEOUT_MS }
  const { response } = await workspace.sessions.files.put(sessionId, content, options).withResponse()
  return response.status === 200
}

export async function remove({ sessionId, id }: SessionFile): Promise<void> {
  await workspace.sessions.files.delete(sessionId, id)
}

export const refreshFiles = () => refresh('files')
