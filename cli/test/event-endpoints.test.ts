/** `workspace events endpoints` with the service and a receiver. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { runWorkspace, startWorkspace, type WorkspaceLogin } from '../../test/support/commands.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'

let service: SharedService
let login: WorkspaceLogin
const received: { body: string; headers: Record<string, string> }[] = []
const receiver = createServer(async (request, response) => {
  received.push({ body: await text(request), headers: request.headers as Record<string, string> })
  response.writeHead(request.url === '/broken' ? 500 : 204).end()
})
let receiverUrl: string

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  service = await sharedService()
  login = { url: service.url, apiKey: (await service.addOrganization()).apiKey }
})
afterAll(async () => {
  receiver.close()
})

const run = (...args: string[]) => runWorkspace(['events', 'endpoints', ...args], login)
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout)

it('creates, tests, changes, rotates, rewinds and deletes an event endpoint', async () => {
  const created = await run(
    'create',
    `${receiverUrl}/events`,
    '--types',
    'skill.*,run.failed',
    '--note',
    'For the cache',
    '--no-batch',
  )
  const [, id = ''] = /^Created (\S+)\. Its secret is shown only now:\n$/.exec(created.stderr) ?? []
  expect([created.status, created.stdout]).toEqual([0, expect.stringMatching(/^whsec_\S+\n$/)])
  expect((await run('list')).stdout).toMatch(
    /\n\S+ +127\.0\.0\.1:\d+…ents +standard +skill\.\*, ?run\.failed +all +0 +working\n/,
  )
  const [{ batch, note, types }] = [await json('list')]
  expect({ batch, note, types }).toEqual({ batch: false, note: 'For the cache', types: ['skill.*', 'run.failed'] })

  expect(await run('test', id)).toMatchObject({ status: 0, stdout: expect.stringMatching(/^HTTP 204 \(\d+ ms\)\n$/) })
  const { body = '', headers = {} } = received.at(-1) ?? {}
  new Webhook(created.stdout.trim()).verify(body, headers)

  const rotated = await run('rotate', id, '--overlap', '0')
  expect(rotated.stdout).toMatch(/^whsec_/)
  expect(rotated.stdout).not.toBe(created.stdout)

  expect(await run('update', id, '--url', `${receiverUrl}/broken`, '--types', 'all', '--batch')).toMatchObject({
    status: 0,
    stdout: `Updated ${id}.\n`,
  })
  expect(await json('list')).toMatchObject({ types: null, batch: true, note: 'For the cache' })
  expect(await run('test', id)).toMatchObject({ status: 1, stdout: expect.stringMatching(/^HTTP 500 \(/) })

  await run('update', id, '--disable')
  expect((await run('list')).stdout).toContain('disabled ')
  expect(await run('rewind', id, '--after', 'now')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(`^Moved ${id} to [0-9a-z]{11}\\. It has \\d+ events to deliver\\.\n$`),
  })
  expect(await run('delete', id)).toMatchObject({ status: 0, stdout: `Deleted ${id}.\n` })
  expect(await run('delete', id)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('There is no event endpoint'),
  })
})

it('reads the URL from standard input, so that no history of a shell has it, and prints no secret of a text', async () => {
  const child = startWorkspace(['events', 'endpoints', 'create', '-', '--text'], login, { stdio: 'pipe' })
  child.stdin?.end(`${receiverUrl}/chat\n`)
  const printed = Promise.all([child.stdout, child.stderr].map((stream) => text(stream as Readable)))
  expect(await new Promise((resolve) => child.on('close', resolve))).toBe(0)
  expect(await printed).toEqual(['', expect.stringMatching(/^Created \S+\.\n$/)])
  expect(await json('list')).toMatchObject({ format: 'text', url: expect.stringMatching(/…chat$/) })
})
