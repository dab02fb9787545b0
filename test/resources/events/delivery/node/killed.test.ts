/** `kill -9` of the service between the POST to a receiver and the move of the endpoint: repeated, never lost. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../../../support/dev-server.ts'
import { rowsOf } from '../../../../support/local-state.ts'

const KILLS = 20

it('arrives again with the same ID, and nothing is lost', { tags: 'slow' }, async () => {
  const state = newFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const got: { id: string; events: string[] }[] = []
  let server: DevServer | undefined
  /** What happens to a request before its response; undefined: nothing. */
  let atRequest: (() => void) | undefined
  let afterResponse: (() => void) | undefined

  const receiver = createServer(async (request, response) => {
    const { data } = JSON.parse(await text(request))
    got.push({ id: String(request.headers['webhook-id']), events: data.items.map(({ id }: { id: string }) => id) })
    atRequest?.()
    response.writeHead(204).end(() => afterResponse?.())
  })
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  onTestFinished(async () => {
    receiver.close()
    if (server) await stopDevServer(server)
  })

  server = await startDevServer(state, port)
  const { apiKey } = readDemo(state)
  const send = async (method: string, path: string, json?: object) => {
    const response = await fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      ...(json && { body: JSON.stringify(json) }),
    })
    return response.json() as Promise<Record<string, unknown>>
  }
  const created = await send('POST', '/v1/event-endpoints', {
    url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`,
    types: ['project.*'],
  })
  const { cursor } = created

  const kill = async () => {
    const { process: child } = server as DevServer
    child.removeAllListeners('exit')
    const ended = new Promise((resolve) => child.on('close', resolve))
    process.kill(-(child.pid as number), 'SIGKILL')
    await ended
    server = undefined
  }
  let repeated = 0
  for (let count = 0; count < KILLS; count++) {
    let killed: Promise<void> | undefined
    const now = () => {
      killed ??= kill()
    }
    // Before the response, right after it, and a little later.
    if (count % 4 === 0) atRequest = now
    else afterResponse = () => void setTimeout([0, 1, 3][(count % 4) - 1]).then(now)
    await send('PUT', `/v1/projects/project-${count}`, { name: `Project ${count}` }).catch(() => undefined)
    await expect.poll(() => killed !== undefined).toBe(true)
    await killed
    atRequest = undefined
    afterResponse = undefined
    const last = got.at(-1)
    // As if a minute had passed.
    await rowsOf(
      state,
      `UPDATE "eventEndpoints" SET "leaseExpiresAt" = '2020-01-01T00:00:00.000Z' WHERE "leaseId" IS NOT NULL`,
    )
    const [row] = await rowsOf(state, `SELECT "messageId" FROM "eventEndpoints" WHERE "id" = '${created.id}'`)
    const before = got.length
    server = await startDevServer(state, port)
    if (row?.messageId === null) continue
    repeated++
    await expect.poll(() => got.length, { timeout: 90_000 }).toBeGreaterThan(before)
    expect(got[before]).toEqual(last)
  }
  const feed = (await send('GET', `/v1/events?types=project.*&limit=1000&after=${cursor}`)) as {
    items?: { id: string }[]
  }
  const wanted = feed.items?.map(({ id }) => id) ?? []
  await expect.poll(() => new Set(got.flatMap(({ events }) => events)).size).toBe(wanted.length)
  console.log(`${KILLS} kills, ${repeated} messages repeated, ${wanted.length} events`)
  expect(wanted).toHaveLength(KILLS)
  expect([...new Set(got.flatMap(({ events }) => events))]).toEqual(wanted)
  expect(repeated).toBeGreaterThan(KILLS / 4)
})
