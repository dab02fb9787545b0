/** `workspace runs work`, on a service that answers as each test says. packages.test.ts has it on the real one. */
import { once } from 'node:events'
import { chmodSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterEach, describe, expect, it } from 'vitest'
import { startWorkspace } from '../../test/support/commands.ts'

const RUN = { id: '0198c2a4-7e00-7a1b-8c2d-3e4f5a6b7c81', name: 'Review' }
/** How far the service's clock is ahead of this machine's. */
const AHEAD_MS = 5 * 3600_000
/** A command is stopped ten seconds before its claim ends, so this leaves it eight, also on a busy machine. */
const LEASE_MS = 18_000

interface Answer {
  readonly status?: number
  readonly body: object
}
/** What answers a request; undefined closes the connection. The API key may not read the run endpoint, by default. */
interface Answers extends Partial<Record<'renew' | 'complete', (request: object) => Answer | undefined>> {
  readonly runEndpoint?: Answer
  /** When the claim ends; by default, after `LEASE_MS`. */
  readonly leaseExpiresAt?: string
}
const FORBIDDEN = { status: 403, body: { error: 'The API key does not have the scope run-endpoint:read.' } }

const server = createServer()
afterEach(() => server.removeAllListeners('request').close())

const serviceTime = () => Date.now() + AHEAD_MS
const claimUntil = (time: number) => ({
  ...RUN,
  claimId: crypto.randomUUID(),
  leaseExpiresAt: new Date(time).toISOString(),
})

async function listen(port = 0): Promise<number> {
  await once(server.listen(port, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

/** Starts a worker, which gets one run. */
const work = (answers: Answers, ...command: string[]) => workIn({}, answers, ...command)

/** @param env its environment. */
async function workIn(env: NodeJS.ProcessEnv, answers: Answers, ...command: string[]) {
  const { leaseExpiresAt } = answers
  const claim = { ...claimUntil(serviceTime() + LEASE_MS), ...(leaseExpiresAt && { leaseExpiresAt }) }
  const requests: string[] = []
  const answerTo = ({ method, url }: IncomingMessage, body: string): Answer | undefined => {
    if (method === 'GET') return answers.runEndpoint ?? FORBIDDEN
    const operation = url?.split('/').at(-1) as 'claim' | 'renew' | 'complete'
    requests.push(operation)
    if (operation === 'claim') return { body: { items: [claim] } }
    return answers[operation]?.({ ...JSON.parse(body), ...claim })
  }
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const result = answerTo(request, await text(request))
    if (!result) return response.destroy()
    response.setHeader('Date', new Date(serviceTime()).toUTCString())
    response.writeHead(result.status ?? 200, {
      'Content-Type': 'application/json',
      Connection: 'close',
    })
    return response.end(JSON.stringify(result.body))
  }
  server.on('request', answer)
  const port = await listen()
  const login = { url: `http://127.0.0.1:${port}`, apiKey: 'x' }
  const args = ['runs', 'work', '--once', '--lease', '900', '--', ...command]
  const child = startWorkspace(args, login, { env })
  const printed = { stdout: '', stderr: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.on('data', (chunk) => {
      printed[name] += chunk
    })
  }
  const ended = once(child, 'close').then(([code]) => ({ code, ...printed }))
  return { claim, requests, printed, port, ended }
}

const SLEEP = ['sh', '-c', `trap 'echo stopped; exit 1' TERM; sleep 600 & wait`]

describe('runs work', () => {
  it('stops a command before the time of its run is over, by the clock of the service', async () => {
    const { requests, claim, ended } = await work({ renew: () => ({ body: claim }) }, ...SLEEP)
    expect(await ended).toEqual({ code: 0, stdout: `timed out ${RUN.id}, Review\n`, stderr: 'stopped\n' })
    expect(new Set(requests)).toEqual(new Set(['claim', 'renew']))
  })

  it('lets a command run while renewals extend the claim', async () => {
    const { requests, ended } = await work(
      {
        renew: () => ({ body: claimUntil(serviceTime() + LEASE_MS) }),
        complete: ({ outcome }: { outcome?: string }) => ({ body: { outcome } }),
      },
      'sleep',
      '10',
    )
    expect(await ended).toEqual({ code: 0, stdout: `succeeded ${RUN.id}, Review\n`, stderr: '' })
    expect(requests.filter((operation) => operation === 'renew').length).toBeGreaterThan(2)
    expect(requests.at(-1)).toBe('complete')
  })

  it('lets a command run whose claim lasts for ever, as a service says', async () => {
    const { ended } = await work(
      {
        leaseExpiresAt: '2999-01-01T00:00:00.000Z',
        complete: ({ outcome }: { outcome?: string }) => ({ body: { outcome } }),
      },
      'true',
    )
    expect(await ended).toEqual({ code: 0, stdout: `succeeded ${RUN.id}, Review\n`, stderr: '' })
  })

  it('stops a command whose claim cannot be renewed, and one whose claim is lost', async () => {
    const { requests, port, ended } = await work({}, ...SLEEP)
    const { code, stdout, stderr } = await ended
    expect([code, stdout]).toEqual([0, `lost      ${RUN.id}, Review\n`])
    expect(stderr).toMatch(new RegExp(`^(No answer from http://127.0.0.1:${port}: .*\n)+stopped\n$`))
    expect(requests).not.toContain('complete')
    server.removeAllListeners('request').close()

    const error = 'This is not the current claim of the run.'
    const second = await work({ renew: () => ({ status: 409, body: { error } }) }, ...SLEEP)
    expect(await second.ended).toMatchObject({
      code: 0,
      stdout: `lost      ${RUN.id}, Review\n`,
      stderr: `${error}\nstopped\n`,
    })
    expect(second.requests).toEqual(['claim', 'renew'])
  })

  it('says why an outcome is refused, and goes on to the next run', async () => {
    const error = 'The time limit of the run is over.'
    const complete = () => ({ status: 409, body: { error } })
    const { requests, ended } = await work({ complete }, 'true')
    expect(await ended).toEqual({ code: 0, stdout: `lost      ${RUN.id}, Review\n`, stderr: `${error}\n` })
    expect(requests).toEqual(['claim', 'complete'])
  })

  it('completes a run when the service answers again', async () => {
    const statuses = [502]
    const complete = () => ({ status: statuses.shift() ?? 200, body: {} })
    const command = 'echo started; until [ -e "$0" ]; do sleep 0.1; done'
    const mayEnd = join(mkdtempSync(join(tmpdir(), 'workspace-api-work-')), 'may-end')
    const { requests, printed, port, ended } = await work({ complete }, 'sh', '-c', command, mayEnd)
    await expect.poll(() => printed.stderr).toContain('started')
    server.close()
    writeFileSync(mayEnd, '')
    await expect.poll(() => printed.stderr, { timeout: 10_000 }).toContain('ECONNREFUSED')
    await listen(port)
    expect((await ended).stdout).toBe(`succeeded ${RUN.id}, Review\n`)
    expect(requests).toEqual(['claim', 'complete', 'complete'])
  })

  it('gives up on an outcome five minutes after the end of the claim', async () => {
    // A second is a hundredth of a second to the timeouts of requests.
    const faster = 'const { timeout } = AbortSignal; AbortSignal.timeout = (ms) => timeout(Math.ceil(ms / 100))'
    const env = { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(faster)}"` }
    const start = Date.now()
    const { requests, ended } = await workIn(env, { complete: () => ({ status: 503, body: {} }) }, 'true')
    expect(await ended).toEqual({
      code: 0,
      stdout: `lost      ${RUN.id}, Review\n`,
      stderr: 'The outcome "succeeded" was not sent.\n',
    })
    expect(requests.slice(0, 2)).toEqual(['claim', 'complete'])
    expect(requests.filter((operation) => operation === 'complete').length).toBeGreaterThan(1)
    expect(Date.now() - start).toBeGreaterThan((LEASE_MS + 5 * 60_000) / 100 - 1000)
  })

  it.each<[name: string, message: string, ...command: string[]]>([
    ['its last lines', 'a\nb\nc', 'sh', '-c', String.raw`echo out; printf 'a\n\nb \r\nc\n' >&2; exit 3`],
    ['its exit code, if it has none', 'The command ended with exit code 3.', 'sh', '-c', 'echo out; exit 3'],
    ['a signal', 'The command was ended by SIGKILL.', 'sh', '-c', 'kill -9 $$'],
    [
      'them without control characters',
      'red x y',
      'sh',
      '-c',
      String.raw`printf '\033[31mred\033[0m\tx\a y\0' >&2; exit 1`,
    ],
    [
      '1,000 characters of a long line',
      'é'.repeat(1000),
      'node',
      '-e',
      `console.error('é'.repeat(9000)); process.exit(1)`,
    ],
    [
      'whole lines',
      'x'.repeat(600),
      'node',
      '-e',
      `console.error('y'.repeat(600) + '\\n' + 'x'.repeat(600)); process.exit(1)`,
    ],
    ['them while something that it started keeps them open', 'bye', 'sh', '-c', 'sleep 20 & echo bye >&2; exit 1'],
  ])('records of the standard error of a failed command: %s', async (_, message, ...command) => {
    const sent: object[] = []
    const complete = (body: object) => {
      sent.push(body)
      return { body: {} }
    }
    const { ended } = await work({ complete }, ...command)
    expect(await ended).toMatchObject({ code: 0, stdout: `failed    ${RUN.id}, Review\n` })
    expect(sent).toMatchObject([{ outcome: 'failed', message }])
  })

  it('passes standard error on as it is, while the command runs', async () => {
    const text = String.raw`\033[31mred\033[0m\r\n`
    const { printed, ended } = await work(
      { complete: () => ({ body: {} }), leaseExpiresAt: '2999-01-01T00:00:00.000Z' },
      'sh',
      '-c',
      `printf '${text}' >&2; read x; sleep 3`,
    )
    await expect.poll(() => printed.stderr).toBe('\u001b[31mred\u001b[0m\r\n')
    expect(printed.stdout).toBe('')
    expect(await ended).toEqual({
      code: 0,
      stdout: `succeeded ${RUN.id}, Review\n`,
      stderr: '\u001b[31mred\u001b[0m\r\n',
    })
  })

  const commands = mkdtempSync(join(tmpdir(), 'workspace-api-commands-'))
  writeFileSync(join(commands, 'text'), '#!/bin/sh\n')
  chmodSync(join(commands, 'text'), 0o644)
  mkdirSync(join(commands, 'folder'))
  it.each([
    ['no-such-command', 'it does not exist'],
    [join(commands, 'nothing'), 'it does not exist'],
    [join(commands, 'text', 'nothing'), 'it does not exist'],
    [join(commands, 'text'), 'permission denied'],
    [join(commands, 'folder'), 'permission denied'],
  ])('claims nothing for a command that cannot be started: %j', async (command, reason) => {
    const { requests, ended } = await work({}, command)
    expect(await ended).toEqual({ code: 1, stdout: '', stderr: `${command} cannot be started: ${reason}.\n` })
    expect(requests).toEqual([])
  })

  it('finds a command by its name in PATH, also behind one that is no command', async () => {
    const PATH = `${commands}:${process.env.PATH}`
    writeFileSync(join(commands, 'true'), '')
    const { ended } = await workIn({ PATH }, { complete: () => ({ body: {} }) }, 'true')
    expect(await ended).toMatchObject({ code: 0, stdout: `succeeded ${RUN.id}, Review\n` })
  })

  it('warns of a run endpoint', async () => {
    const runEndpoint = { body: { url: 'https://hooks.example.com/runs' } }
    const { ended } = await work({ runEndpoint, complete: () => ({ body: {} }) }, 'true')
    expect(await ended).toMatchObject({
      code: 0,
      stdout: `succeeded ${RUN.id}, Review\n`,
      stderr: expect.stringMatching(/^Warning: the organization has a run endpoint, .*\n$/),
    })
  })
})
