/** The service that the test files on Node share. It starts when the first of them asks for it. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { TestProject } from 'vitest/node'
import type { RunningService, Write } from './service.ts'

/** Runs are sent to this machine. With the limit, a test of the limit needs few skills. */
const SETTINGS = { LOCAL_RECEIVERS: 'on', SKILL_LIMIT: '2000' }

/** What the test files ask for (service.ts), by path. */
const ANSWERS: Readonly<Record<string, (service: RunningService, body: unknown) => unknown>> = {
  '/url': ({ url }) => ({ url }),
  '/organization': ({ addOrganization }) => addOrganization(),
  '/write': ({ write }, body) => write(body as Write[]),
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  let service: Promise<RunningService> | undefined
  const server = createServer(async (request, response) => {
    try {
      service ??= import('./service.ts').then(({ startService }) => startService(SETTINGS))
      const answer = await ANSWERS[request.url ?? '']?.(await service, await json(request))
      response.end(JSON.stringify(answer ?? null))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  project.provide('sharedService', `http://127.0.0.1:${(server.address() as AddressInfo).port}`)
  return async () => {
    server.close()
    await (await service)?.close()
  }
}
