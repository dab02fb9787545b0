/** docs/schedules.md: its commands and its receiver against the demo workspace of `npm run dev`. */
import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Service } from '../../../../../scripts/service.ts'
import { ROOT } from '../../../../support/commands.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../../../support/dev-server.ts'
import { blocksOf, commandsIn, type GuideCommand, runGuideCommand } from '../../../../support/guide.ts'

const GUIDE = readFileSync(join(ROOT, 'docs', 'schedules.md'), 'utf8')
const DOCUMENTED_PORT = '8000'
const PATIENCE_MS = 30_000

interface Run {
  readonly id: string
  readonly status: string
  readonly message: string | null
  readonly lastError: string | null
  readonly sessionId: string | null
}

describe('the guide to schedules', () => {
  const state = newFolder()
  /** In the project, so that the receiver finds its library. */
  const folder = mkdtempSync(join(ROOT, '.guide-'))
  const variables: Record<string, string> = {}
  let server: DevServer
  let receiver: ChildProcess | undefined
  let service: Service
  let schedule: string

  beforeAll(async () => {
    const port = await freePort()
    server = await startDevServer(state, port)
    const demo = readDemo(state)
    service = new Service(demo.baseUrl, demo.apiKey)
    Object.assign(variables, {
      WORKSPACE_URL: demo.baseUrl,
      WORKSPACE_API_KEY: demo.apiKey,
      PROJECT_ID: demo.projectId,
      SESSION_ID: demo.sessionId,
      RECEIVER_PORT: String(await freePort()),
    })
  })

  afterAll(async () => {
    receiver?.kill()
    rmSync(folder, { recursive: true })
    await stopDevServer(server)
  })

  /** Runs a command of the guide. @returns the response, which is as documented. */
  const run = ({ command, output }: GuideCommand): Promise<string> => {
    const toReceiver = (text: string) => text.replaceAll(DOCUMENTED_PORT, variables.RECEIVER_PORT ?? '')
    return runGuideCommand({ command: toReceiver(command), output: toReceiver(output) }, variables)
  }

  const [create = '', endpoint = '', runNow = '', claim = ''] = blocksOf(GUIDE, 'console')

  /** Waits until the run has the status. */
  async function runWith(id: string, status: string): Promise<Run> {
    const end = Date.now() + PATIENCE_MS
    for (;;) {
      const { body } = await service.send<Run>('GET', `/v1/runs/${id}`)
      if (body.status === status || Date.now() > end) return body
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }

  async function untilReceiverListens(): Promise<void> {
    const url = `http://localhost:${variables.RECEIVER_PORT}`
    while (!(await fetch(url, { method: 'POST' }).catch(() => undefined)))
      await new Promise((resolve) => setTimeout(resolve, 50))
  }

  const createRun = async () => (await service.send<Run>('POST', `${schedule}/runs`)).body

  it('creates a schedule, and the same settings again change nothing', async () => {
    const [{ command: assignment = '' } = {}, put] = commandsIn(create)
    const [name = '', id = ''] = assignment.split('=')
    variables[name] = id
    schedule = `/v1/projects/${variables.PROJECT_ID}/schedules/${id}`
    if (!put) throw new Error('The guide creates no schedule')
    expect(await run(put)).toBe(await run(put))
  })

  it('delivers its payload to the receiver, which verifies it and completes the run with a session', async () => {
    const [setUrl, rotate] = commandsIn(endpoint)
    if (!setUrl || !rotate) throw new Error('The guide sets no run endpoint')
    await run(setUrl)
    variables.RUN_ENDPOINT_SECRET = JSON.parse(await run(rotate)).secret
    const [code = ''] = blocksOf(GUIDE, 'js')
    const file = join(folder, 'receiver.mjs')
    writeFileSync(file, code.replace(DOCUMENTED_PORT, variables.RECEIVER_PORT ?? ''))
    receiver = spawn(process.execPath, [file], { env: { ...process.env, ...variables }, stdio: 'ignore' })
    await untilReceiverListens()

    const [post, get] = commandsIn(runNow)
    if (!post || !get) throw new Error('The guide creates no run')
    variables.RUN_ID = JSON.parse(await run(post)).id
    await runWith(variables.RUN_ID ?? '', 'succeeded')
    const finished = JSON.parse(await run(get))
    expect(finished).toMatchObject({ message: 'Built main.', sessionId: variables.SESSION_ID })
  })

  it('refuses a delivery with another signature', async () => {
    const { status } = await fetch(`http://localhost:${variables.RECEIVER_PORT}/runs`, {
      method: 'POST',
      headers: { 'webhook-id': 'x', 'webhook-timestamp': '1', 'webhook-signature': 'v1,x' },
      body: '{}',
    })
    expect(status).toBe(401)
  })

  it('pauses the schedule after three failures in a row, and says why', async () => {
    await service.send('PATCH', schedule, { payload: { branch: 'gone' } })
    for (let count = 0; count < 3; count++) {
      const { id } = await createRun()
      expect(await runWith(id, 'failed')).toMatchObject({
        failure: 'task',
        message: 'There is no branch gone.',
      })
    }
    const { body } = await service.send<object>('GET', schedule)
    expect(body).toMatchObject({
      enabledAt: null,
      nextRunAt: null,
      pausedReason: '3 runs in a row failed. The last failure (task): There is no branch gone.',
      statistics: { runs: 4, succeeded: 1, failed: 3 },
    })
  })

  it('lets a worker claim runs without a run endpoint, and skips a run that overlaps', async () => {
    receiver?.kill()
    await service.send('DELETE', '/v1/run-endpoint')
    await service.send('PATCH', schedule, { payload: { branch: 'main' }, enabled: true })
    const { id } = await createRun()
    expect(await createRun()).toMatchObject({
      status: 'skipped',
      lastError: expect.stringMatching(/^The run of .+ was not finished\.$/),
    })
    const [command] = commandsIn(claim)
    const { output = '' } = command ?? {}
    const claimed = JSON.parse(
      await run({
        command: command?.command ?? '',
        output: output.replace('"previous":null', '"previous":{…}'),
      }),
    )
    const [{ claimId, previous }] = claimed.items
    expect(claimed.items).toMatchObject([{ id, name: 'Release build', payload: { branch: 'main' } }])
    expect(previous).toMatchObject({ status: 'failed', failure: 'task' })
    expect(await createRun()).toMatchObject({ status: 'skipped' })
    await service.send('POST', `/v1/runs/${id}/complete`, { claimId, outcome: 'succeeded' })
    expect(await createRun()).toMatchObject({ status: 'pending' })
  })
})
