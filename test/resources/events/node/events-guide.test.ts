/** The receiver of docs/events.md, as its reader runs it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Service } from '../../../../scripts/service.ts'
import { ROOT } from '../../../support/commands.ts'
import { freePort } from '../../../support/dev-server.ts'
import { type SharedService, sharedService } from '../../../support/service.ts'

const GUIDE = readFileSync(join(ROOT, 'docs', 'events.md'), 'utf8')
const DOCUMENTED_PORT = '8001'

/** In the project, so that the receiver finds its library. */
const folder = mkdtempSync(join(ROOT, '.guide-'))
let running: SharedService
let receiver: ChildProcess | undefined
let printed = ''

beforeAll(async () => {
  running = await sharedService()
})
afterAll(async () => {
  receiver?.kill()
  rmSync(folder, { recursive: true })
})

it('keeps a cache fresh, and refuses what is not signed', async () => {
  const { apiKey } = await running.addOrganization()
  const service = new Service(running.url, apiKey)
  const port = String(await freePort())
  const [, sent = ''] = /-d '(\{ "url".*\})'/.exec(GUIDE) ?? []
  const { body: endpoint } = await service.send<{ id: string; secret: string }>(
    'POST',
    '/v1/event-endpoints',
    JSON.parse(sent.replace(DOCUMENTED_PORT, port)),
  )
  const [, code = ''] = /^```js\n([\s\S]*?)^```$/m.exec(GUIDE) ?? []
  const file = join(folder, 'receiver.mjs')
  writeFileSync(file, code.replace(DOCUMENTED_PORT, port))
  const variables = { EVENT_ENDPOINT_SECRET: endpoint.secret, WORKSPACE_URL: running.url, WORKSPACE_API_KEY: apiKey }
  receiver = spawn(process.execPath, [file], { env: { ...process.env, ...variables } })
  for (const stream of [receiver.stdout, receiver.stderr]) stream?.on('data', (chunk) => (printed += chunk))
  const url = `http://localhost:${port}/events`
  await expect
    .poll(() =>
      fetch(url, { method: 'POST', body: '{}' }).then(
        ({ status }) => status,
        () => 0,
      ),
    )
    .toBe(401)

  await service.send('PUT', '/v1/projects/website', { name: 'Website' })
  await expect.poll(() => printed).toContain('1 cached')
  await service.send('PUT', '/v1/projects/shop', { name: 'Shop' })
  await expect.poll(() => printed).toContain('2 cached')
  await service.send('DELETE', '/v1/projects/shop')
  await expect.poll(() => printed).toMatch(/2 cached\n1 cached\n/)
  // The last result is stored after the receiver has answered.
  await expect
    .poll(async () => (await service.send<object>('GET', `/v1/event-endpoints/${endpoint.id}`)).body)
    .toMatchObject({ failingSince: null, lastAttempts: [{ status: 204 }, { status: 204 }, { status: 204 }] })
})
