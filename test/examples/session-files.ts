import { v7 as newUuid } from 'uuid'
import { ifNoneMatchVariations, projectEventOf, projectOf, type Row, type Rows, withQuery } from '../support/example.ts'
import type { Workspace } from '../support/workspace.ts'

const isDeleted: Row['variations'] = {
  'the session is deleted': {
    status: 410,
    async apply(workspace, example) {
      await workspace.deleteSession(example.ids[0] ?? '')
      return example
    },
  },
}

const isArchived: Row['variations'] = {
  'the project is archived': {
    status: 409,
    async apply(workspace, example) {
      await workspace.archiveProject(projectOf(example))
      return example
    },
  },
}

async function prepareFile(workspace: Workspace) {
  const projectId = await workspace.addProject()
  const sessionId = await workspace.addSession(projectId)
  const fileId = await workspace.addSessionFile(sessionId, 'notes.md')
  return {
    path: `/v1/sessions/${sessionId}/files/${fileId}`,
    ids: [sessionId, fileId],
    projectIds: [projectId],
  }
}

export const sessionFileRows: Rows = {
  listSessionFiles: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const sessionId = await workspace.addSession(projectId)
      await workspace.addSessionFiles(sessionId, 2)
      return { path: `/v1/sessions/${sessionId}/files`, ids: [sessionId], projectIds: [projectId] }
    },
    outOfReach: 403,
    variations: {
      'the page is not the last': {
        apply: async (_, example) => ({ ...example, path: `${example.path}?limit=1` }),
      },
      'the cursor is in another session': {
        status: 409,
        async apply(workspace, example) {
          const elsewhere = await workspace.addSession(projectOf(example))
          // An id before those of the session's own files.
          const cursor = await workspace.addSessionFile(elsewhere, 'notes.md', `00${newUuid().slice(2)}`)
          return { ...example, path: `${example.path.replace(/\?.*/, '')}?cursor=${cursor}` }
        },
      },
      'the session has no files': {
        idle: true,
        async apply(workspace, example) {
          const [sessionId = ''] = example.ids
          const empty = await workspace.addSession(projectOf(example))
          return { ...example, path: example.path.replace(sessionId, empty), ids: [empty] }
        },
      },
      ...isDeleted,
    },
  },

  searchSessionFiles: {
    async prepare(workspace) {
      await workspace.addSessionFiles(await workspace.addSession(await workspace.addProject()), 2)
      return { path: '/v1/session-files?limit=1', ids: [] }
    },
    outOfReach: 403,
    reachesAll: true,
    namesNothing: true,
    idle: true,
    variations: {
      'it names a session': {
        async apply(workspace, example) {
          const sessionId = await workspace.addSession(await workspace.addProject())
          await workspace.addSessionFile(sessionId, 'src/app.ts')
          return withQuery(example, { sessionId })
        },
      },
      'it searches': { apply: async (_, example) => withQuery(example, { query: 'SRC' }) },
      'it searches a session': {
        async apply(workspace, example) {
          const sessionId = await workspace.addSession(await workspace.addProject())
          await workspace.addSessionFile(sessionId, 'src/app.ts')
          return withQuery(example, { sessionId, query: 'SRC' })
        },
      },
      'the session is deleted': {
        status: 410,
        async apply(workspace, example) {
          const sessionId = await workspace.addSession(await workspace.addProject())
          await workspace.deleteSession(sessionId)
          return withQuery(example, { sessionId })
        },
      },
      'it names an unknown session': {
        status: 404,
        apply: async (_, example) => withQuery(example, { sessionId: newUuid() }),
      },
    },
  },

  putSessionFile: {
    async prepare(workspace) {
      const projectId = await workspace.addProject()
      const sessionId = await workspace.addSession(projectId)
      return {
        path: `/v1/sessions/${sessionId}/files?path=notes.md`,
        body: 'Notes',
        headers: { 'Content-Length': '5' },
        ids: [sessionId],
        projectIds: [projectId],
      }
    },
    outOfReach: 403,
    calls: 2,
    events: projectEventOf('session-file.created', { isNew: true, name: 'notes.md' }),
    variations: {
      'there is a file at the path': {
        exists: true,
        events: projectEventOf('session-file.updated', { isNew: true, name: 'notes.md' }),
        async apply(workspace, example) {
          await workspace.addSessionFile(example.ids[0] ?? '', 'notes.md')
          return example
        },
      },
      ...isDeleted,
      ...isArchived,
    },
  },

  retrieveSessionFile: {
    prepare: prepareFile,
    outOfReach: 403,
    variations: isDeleted,
  },

  retrieveSessionFileContent: {
    async prepare(workspace) {
      const { path, ...rest } = await prepareFile(workspace)
      return { path: `${path}/content`, ...rest }
    },
    outOfReach: 403,
    variations: {
      'the request has a range': {
        status: 206,
        apply: async (_, example) => ({ ...example, headers: { ...example.headers, Range: 'bytes=0-3' } }),
      },
      'the content has no bytes in the range': {
        status: 416,
        apply: async (_, example) => ({ ...example, headers: { ...example.headers, Range: 'bytes=999-' } }),
      },
      ...ifNoneMatchVariations,
      ...isDeleted,
    },
  },

  deleteSessionFile: {
    prepare: prepareFile,
    outOfReach: 403,
    events: projectEventOf('session-file.deleted', { name: 'notes.md' }),
    variations: { ...isDeleted, ...isArchived },
  },
}
