/** `kill -9` of the service while projects are deleted, restored and purged: each is there whole, deleted, or gone. */
import { randomInt } from 'node:crypto'
import { setTimeout } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { ObjectStore } from '../../../../operate/objects.ts'
import { COUNT_USAGE } from '../../../../src/db/usage.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../../support/dev-server.ts'
import { rowsOf } from '../../../support/local-state.ts'

const KILLS = 8
const PROJECTS = ['one', 'two', 'three', 'four', 'five', 'six']
const VARIABLES = ['TOKEN', 'URL']

it('what comes back is what was there, and what is deleted for good leaves nothing', { tags: 'slow' }, async () => {
  const state = newFolder()
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  let server: DevServer | undefined = await startDevServer(state, port)
  onTestFinished(async () => {
    if (server) await stopDevServer(server)
  })
  const { serviceKey, organizationId } = readDemo(state)

  const fetchAs = (method: string, path: string, body?: string, type = 'application/json') =>
    fetch(url + path, {
      method,
      headers: { Authorization: `Bearer ${serviceKey}`, ...(body !== undefined && { 'Content-Type': type }) },
      ...(body !== undefined && { body }),
    })
  const send = async (method: string, path: string, json?: object) => {
    const response = await fetchAs(method, path, json && JSON.stringify(json))
    return { status: response.status, body: (await response.json()) as { items: never[]; statistics?: unknown } }
  }
  const items = async <Item = { id: string }>(path: string): Promise<Item[]> => (await send('GET', path)).body.items
  const tick = () => fetch(`${url}/cdn-cgi/handler/scheduled`)
  const sessionOf = (project: string) => `0198c2a4-0000-7000-8000-00000000000${PROJECTS.indexOf(project)}`

  for (const project of PROJECTS) {
    await send('PUT', `/v1/projects/${project}`, { name: `Project ${project}` })
    await send('PUT', `/v1/sessions/${sessionOf(project)}`, { projectId: project, name: 'Try' })
    await fetchAs('PUT', `/v1/sessions/${sessionOf(project)}/files?path=a.txt`, `Of ${project}`, 'text/plain')
    const variables = VARIABLES.map((key) => ({ key, value: `${key} of ${project}` }))
    await send('POST', `/v1/projects/${project}/environment-variables`, { variables })
    await send('PUT', `/v1/projects/${project}/schedules/${sessionOf(project)}`, {
      cron: '0 0 29 2 *',
      timezone: 'UTC',
    })
  }

  /** All that is in a project. */
  async function show(project: string): Promise<unknown> {
    const session = `/v1/sessions/${sessionOf(project)}`
    const files = await items(`${session}/files`)
    const { statistics: _, ...schedule } = (
      await send('GET', `/v1/projects/${project}/schedules/${sessionOf(project)}`)
    ).body
    return {
      project: await send('GET', `/v1/projects/${project}`),
      session: await send('GET', session),
      files,
      contents: await Promise.all(
        files.map(async ({ id }) => (await fetchAs('GET', `${session}/files/${id}/content`)).text()),
      ),
      variables: await items(`/v1/projects/${project}/environment-variables`),
      schedule,
    }
  }
  const before = new Map<string, unknown>()
  for (const project of PROJECTS) before.set(project, await show(project))

  async function kill() {
    const { process: child } = server as DevServer
    child.removeAllListeners('exit')
    const ended = new Promise((resolve) => child.on('close', resolve))
    process.kill(-(child.pid as number), 'SIGKILL')
    await ended
    server = undefined
  }

  /** Deletes, restores and seldom purges at random, with ticks, until the service is gone. */
  async function disturb(isOver: () => boolean) {
    while (!isOver()) {
      const deletions = await items('/v1/deletions?limit=100').catch(() => [])
      const deletion = deletions[randomInt(Math.max(deletions.length, 1))]
      const project = PROJECTS[randomInt(PROJECTS.length)] as string
      const [method, path] =
        randomInt(2) === 0 && deletion
          ? ['POST', `/v1/deletions/${deletion.id}/restore`]
          : ['DELETE', randomInt(3) === 0 ? `/v1/sessions/${sessionOf(project)}` : `/v1/projects/${project}`]
      const isPurge = deletion && randomInt(40) === 0
      await (isPurge ? send('DELETE', `/v1/deletions/${deletion.id}`) : send(method as string, path as string)).catch(
        () => undefined,
      )
      if (randomInt(10) === 0) await tick().catch(() => undefined)
    }
  }

  const final = new Set<string>()
  for (let count = 0; count < KILLS; count++) {
    let isOver = false
    const disturbing = Promise.all(Array.from({ length: 3 }, () => disturb(() => isOver)))
    await setTimeout(200 + randomInt(300))
    await kill()
    isOver = true
    await disturbing

    const present = await rowsOf(state, `SELECT "id" FROM "projects" WHERE "organizationId" = '${organizationId}'`)
    const deleted = await rowsOf(
      state,
      `SELECT "resourceId" AS "id", "row" FROM "deletions" WHERE "organizationId" = '${organizationId}' AND "resourceType" = 'project'`,
    )
    for (const project of PROJECTS) {
      const places = [...present, ...deleted].filter(({ id }) => id === project)
      expect([project, places]).toEqual([project, [expect.anything()]])
      if (places[0]?.row === null) final.add(project)
    }
    const [stored] = await rowsOf(
      state,
      `SELECT * FROM "organizationUsage" WHERE "organizationId" = '${organizationId}'`,
    )
    const counted = await rowsOf(state, `SELECT * FROM (${COUNT_USAGE}) WHERE "organizationId" = '${organizationId}'`)
    expect([stored]).toEqual(counted)

    server = await startDevServer(state, port)
    // First the projects, because their sessions need them.
    for (const type of ['project', 'session']) {
      for (const { id, projectId } of await items<{ id: string; projectId: string }>(
        `/v1/deletions?limit=100&resourceType=${type}`,
      )) {
        const { status } = await send('POST', `/v1/deletions/${id}/restore`)
        if (!final.has(projectId)) expect(status).toBe(200)
      }
    }
    for (const project of PROJECTS) {
      const { status } = await send('GET', `/v1/projects/${project}`)
      expect([project, status]).toEqual([project, final.has(project) ? 410 : 200])
      const isWhole = (await send('GET', `/v1/sessions/${sessionOf(project)}`)).status === 200
      if (status === 200 && isWhole) expect(await show(project)).toEqual(before.get(project))
    }
  }
  const restored = await items('/v1/events?types=project.restored,session.restored&limit=1000')
  expect(restored.length).toBeGreaterThan(KILLS)
  console.log(`${KILLS} kills, ${restored.length} restorations; deleted for good: ${[...final].join(', ') || 'none'}`)

  for (const project of PROJECTS) await send('DELETE', `/v1/projects/${project}`)
  for (const { id, projectId } of await items<{ id: string; projectId: string }>('/v1/deletions?limit=100'))
    if (PROJECTS.includes(projectId)) await send('DELETE', `/v1/deletions/${id}`)
  for (let count = 0; count < 3; count++) await tick()
  for (const [table, column] of [
    ['projects', 'id'],
    ['sessions', 'projectId'],
    ['environmentVariables', 'projectId'],
    ['variableRequests', 'projectId'],
    ['schedules', 'parentId'],
  ]) {
    const rows = await rowsOf(state, `SELECT "${column}" AS "id" FROM "${table}"`)
    expect([table, rows.filter(({ id }) => PROJECTS.includes(String(id)))]).toEqual([table, []])
  }
  const files = await rowsOf(state, 'SELECT "sessionId", "objectKey" FROM "sessionFiles"')
  const sessions = PROJECTS.map(sessionOf)
  expect(files.filter(({ sessionId }) => sessions.includes(String(sessionId)))).toEqual([])
  await stopDevServer(server as DevServer)
  server = undefined
  const store = await ObjectStore.open({ remote: false, persistTo: state })
  const keys = [...(await store.sizes()).keys()].filter((key) => key.startsWith('session-files/'))
  await store.close()
  expect(keys.sort()).toEqual(files.map(({ objectKey }) => String(objectKey)).sort())
})
