/** What `workspace` does if its output is closed, or a download breaks off, on a service that the tests answer for. */
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runWorkspace, startWorkspace } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'

const folder = newFolder()
const login = { url: '', apiKey: 'x' }
const ID = '0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81'
const EVENT = {
  id: ID,
  type: 'user.updated',
  resource: { type: 'user', id: 'ada', path: '/v1/users/ada', name: 'Ada' },
  projectId: null,
  actor: null,
  requestId: null,
  createdAt: '2026-03-27T14:30:01.457Z',
}
const requests: string[] = []
const server = createServer(answer)

beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening')
  login.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
  rmSync(folder, { recursive: true })
})

function answer({ method, url = '' }: IncomingMessage, response: ServerResponse): void {
  requests.push(`${method} ${url}`)
  const json = (body: object, status = 200) =>
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body))
  if (url.endsWith('/content')) {
    response.writeHead(200, { 'Content-Length': '1000000' })
    response.write('the beginning', () => response.destroy())
  } else if (url.includes('/files')) json({ items: [{ id: ID, path: 'data.bin' }], nextCursor: null })
  // A list that has no end.
  else if (url.includes('/audit-events')) json({ items: [EVENT], nextCursor: ID })
  else if (url.includes('/events')) json({ items: [EVENT], nextCursor: '00000000001', hasMore: true })
  else if (method === 'GET') {
    response.setHeader('Error-Code', 'schedule_not_found')
    json({ error: 'There is no such schedule.' }, 404)
  } else json({}, 201)
}

/** Runs a command whose standard output nobody reads. */
async function unread(...args: string[]) {
  const child = startWorkspace(args, login, { cwd: folder })
  child.stdout?.destroy()
  const [stderr, [status]] = await Promise.all([child.stderr ? text(child.stderr) : '', once(child, 'close')])
  return { status, stderr }
}

describe('a closed standard output', () => {
  it('ends a list', async () => {
    expect(await unread('events', '--json', '--limit', '1000000')).toEqual({ status: 0, stderr: '' })
    expect(requests.length).toBeLessThan(100)
  })

  it.each([[[]], [['--json']]])('ends what follows events: %j', async (options) => {
    expect(await unread('events', '--follow', ...options)).toEqual({ status: 0, stderr: '' })
  })

  it('does not end work half-way, and its exit code says that the output is lost', async () => {
    mkdirSync(join(folder, 'schedules'))
    for (const name of ['a', 'b', 'c']) {
      const file = join(folder, 'schedules', `${name}.yaml`)
      writeFileSync(file, "project: website\ncron: '@daily'\ntimezone: UTC\n")
    }
    requests.length = 0
    expect(await unread('schedules', 'apply', 'schedules')).toEqual({
      status: 1,
      stderr: 'Standard output is closed: what follows is not printed.\n',
    })
    expect(requests.filter((request) => request.startsWith('PUT'))).toHaveLength(3)
  })
})

describe('a download that breaks off', () => {
  it('leaves the old file, and nothing else', async () => {
    const downloads = join(folder, 'downloads')
    mkdirSync(downloads)
    writeFileSync(join(downloads, 'data.bin'), 'old')
    const get = ['files', 'get', ID, 'data.bin', '--output', 'data.bin']
    expect(await runWorkspace(get, login, {}, downloads)).toMatchObject({
      status: 1,
      printed: 'The connection was lost while data.bin was read.\n',
    })
    expect(readdirSync(downloads)).toEqual(['data.bin'])
    expect(readFileSync(join(downloads, 'data.bin'), 'utf8')).toBe('old')
  })
})
