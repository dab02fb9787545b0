/** `workspace files`: the files of a session. */
import { createWriteStream, realpathSync, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import type { components, Workspace } from '../../client/src/index.ts'
import { describe, group, withJson, withLimit } from './command.ts'
import { readFile, replaceFile } from './local-files.ts'
import { type Columns, print, printBytes, printList } from './output.ts'
import { KINDS, resolve } from './resolve.ts'
import { CREATED, connect, pageSize } from './service.ts'
import { time } from './times.ts'

const SESSION = ['<session>', 'the ID of the session, its first characters, or its name'] as const

const put = withJson(
  describe('put', 'Stores a file in a session, at its path. A file that is there is replaced.', [
    'files put 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 report.pdf --type application/pdf',
    'files put 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 /tmp/out.log --path logs/out.log',
  ])
    .argument(...SESSION)
    .argument('<file>', 'the file to store')
    .option('--path <path>', 'its path in the session; default: as the file is given')
    .option('--type <media type>', 'its media type; default: application/octet-stream'),
).action(async (session, file, { path = file, type = 'application/octet-stream', json }) => {
  // A large file may take long.
  const options = { path, contentType: type, timeout: Number.POSITIVE_INFINITY }
  const content = readFile(file)
  const workspace = connect()
  const sessionId = await resolve(workspace, KINDS.session, session)
  const uploaded = workspace.sessions.files.put(sessionId, content, options)
  const { data: stored, response } = await uploaded.withResponse()
  const outcome = response.status === CREATED ? 'created' : 'updated'
  print({ json }, { outcome, ...stored }, `${outcome}   ${stored.path}, ${stored.sizeBytes} bytes`)
})

const get = describe('get', 'Writes the content of a file of a session to standard output, or to a file.', [
  'files get 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 logs/out.log',
  'files get 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 report.pdf --output report.pdf',
])
  .argument(...SESSION)
  .argument('<path>', 'the path of the file in the session')
  .option('--output <file>', 'where to write it; a file that is there is replaced')
  .action(async (session, path, { output }) => {
    const workspace = connect()
    const sessionId = await resolve(workspace, KINDS.session, session)
    const fileId = await idOf(workspace, sessionId, path)
    const { body } = await workspace.sessions.files.content.retrieve(sessionId, fileId)
    if (!body) return
    await (output === undefined ? printBytes(body) : save(body, output)).catch((error: Error) => {
      throw error instanceof TypeError ? new Error(`The connection was lost while ${path} was read.`) : error
    })
  })

async function save(body: AsyncIterable<Uint8Array>, output: string): Promise<void> {
  const found = statSync(output, { throwIfNoEntry: false })
  const isDevice = found && !found.isFile() && !found.isDirectory()
  if (isDevice) await pipeline(body, createWriteStream(output))
  else await replaceFile(found?.isFile() ? realpathSync(output) : output, body, found && found.mode & 0o777)
}

async function idOf(workspace: Workspace, sessionId: string, path: string): Promise<string> {
  for await (const file of filesOf(workspace, sessionId)) {
    if (file.path === path.normalize('NFC')) return file.id
  }
  throw new Error(`The session has no file at the path ${path}.`)
}

type SessionFile = components['schemas']['SessionFile']

function filesOf(workspace: Workspace, sessionId: string, limit?: number) {
  return workspace.sessions.files.list(sessionId, { limit: pageSize(limit) })
}

const list = withLimit(
  describe('list', 'Lists the files of a session in order of creation.', [
    'files list 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900',
    'files list 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900 --limit 20 --json',
  ]).argument(...SESSION),
).action(async (session, output) => {
  const workspace = connect()
  const sessionId = await resolve(workspace, KINDS.session, session)
  const columns: Columns<SessionFile> = { PATH: ({ path }) => path, UPDATED: ({ updatedAt }) => time(updatedAt) }
  await printList(output, filesOf(workspace, sessionId, output.limit), columns, { ID: ({ id }) => id })
})

const remove = withJson(
  describe('delete', 'Deletes files of a session.', ['files delete "Rebuild the checkout" logs/out.log'])
    .argument(...SESSION)
    .argument('<paths...>', 'the paths of the files in the session'),
).action(async (session, paths, output) => {
  const workspace = connect()
  const sessionId = await resolve(workspace, KINDS.session, session)
  // All are found before the first is deleted.
  const found: { path: string; fileId: string }[] = []
  for (const path of paths) found.push({ path, fileId: await idOf(workspace, sessionId, path) })
  for (const { path, fileId } of found) {
    print(output, await workspace.sessions.files.delete(sessionId, fileId), `Deleted ${path}.`)
  }
})

export const files = group(
  'files',
  'Stores, reads, lists and deletes the files of a session.',
  ['files list 0198c2a4-6b0f-7a11-8c44-d2f1a5b7e900'],
  [put, get, list, remove],
)
