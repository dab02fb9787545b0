/** The package, as its users get it: packed, and installed into an empty folder. */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { ROOT } from '../../test/support/commands.ts'
import {
  type DevServer,
  freePort,
  newFolder,
  readDemo,
  startDevServer,
  stopDevServer,
} from '../../test/support/dev-server.ts'
import { newState, rowsOf } from '../../test/support/local-state.ts'
import { install, pack } from '../../test/support/packages.ts'
import { entry, readBytes, writeFiles } from './support/skill-folders.ts'

const folder = newFolder()
const state = newState()
let service: DevServer

beforeAll(async () => {
  const installed = pack('cli', folder).then((tarball) => install(join(folder, 'cli'), tarball))
  service = await startDevServer(state, await freePort())
  await installed
})
afterAll(async () => {
  await stopDevServer(service)
  for (const path of [folder, state]) rmSync(path, { recursive: true })
})

/** How a command ended. */
interface Ended {
  readonly code: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

describe('the packed cli', () => {
  const cli = join(folder, 'cli')
  const home = join(folder, 'home')
  const work = join(folder, 'work')
  const loginFile = join(home, 'workspace', 'login.json')
  const SECRET = `hello-${randomBytes(8).toString('hex')}`
  let demo: ReturnType<typeof readDemo>
  /** An organization without a run endpoint. */
  let other: { readonly apiKey: string; readonly agentId: string; readonly projectId: string }

  beforeAll(() => {
    demo = readDemo(state)
    other = demo.otherOrganization
    for (const path of [home, work]) mkdirSync(path)
  })

  const environment = (apiKey = '', url = apiKey && demo.baseUrl) => ({
    ...process.env,
    XDG_CONFIG_HOME: home,
    WORKSPACE_URL: url,
    WORKSPACE_API_KEY: apiKey,
  })

  /** Starts the installed command. Without a key, it uses what `login` stored. */
  function start(args: readonly string[], apiKey?: string, url?: string, node = process.execPath): ChildProcess {
    const bin = join(cli, 'node_modules', '.bin', 'workspace')
    return spawn(node, [bin, ...args], { cwd: work, env: environment(apiKey, url), stdio: 'pipe' })
  }

  async function endOf(child: ChildProcess, standardInput = ''): Promise<Ended> {
    // It may have ended already, or not read all.
    child.stdin?.on('error', () => {}).end(standardInput)
    const [stdout, stderr, [code, signal]] = await Promise.all([
      child.stdout ? text(child.stdout) : '',
      child.stderr ? text(child.stderr) : '',
      new Promise<[number | null, string | null]>((resolve) => child.on('close', (...how) => resolve(how))),
    ])
    return { code, signal, stdout, stderr }
  }

  const workspace = (args: readonly string[], apiKey?: string, standardInput?: string) =>
    endOf(start(args, apiKey), standardInput)

  /** @returns the lines that a command printed. @throws if it failed. */
  async function lines(args: readonly string[], apiKey?: string): Promise<string[]> {
    const { code, stdout, stderr } = await workspace(args, apiKey)
    expect([args, code, stderr]).toEqual([args, 0, ''])
    return stdout.split('\n').slice(0, -1)
  }

  const json = async (args: readonly string[], apiKey?: string) =>
    (await lines([...args, '--json'], apiKey)).map((line) => JSON.parse(line))

  async function call(method: string, path: string, body?: object, apiKey = other.apiKey) {
    const response = await fetch(demo.baseUrl + path, {
      method,
      headers: { Authorization: `Bearer ${apiKey}`, 'Content-Type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    })
    // biome-ignore lint/suspicious/noExplicitAny: each test knows what it gets.
    return { status: response.status, body: (await response.json()) as any }
  }

  const tick = () => fetch(`${demo.baseUrl}/cdn-cgi/handler/scheduled`)
  const until = async (isTrue: () => boolean | Promise<boolean>) => {
    while (!(await isTrue())) await setTimeout(50)
  }

  it('needs no other package', async () => {
    const packages = join(cli, 'node_modules')
    expect(readdirSync(packages).filter((name) => !name.startsWith('.'))).toEqual(['@workspace-api'])
    const installed = join(packages, '@workspace-api', 'cli')
    expect(readdirSync(installed).sort()).toEqual([
      'LICENSE',
      'README.md',
      'THIRD-PARTY-NOTICES.txt',
      'dist',
      'package.json',
    ])
    expect(readdirSync(join(installed, 'dist'))).toEqual(['proxied-fetch.cjs', 'workspace.cjs'])
    expect(readFileSync(join(installed, 'dist', 'workspace.cjs'), 'utf8')).not.toContain(ROOT)
    const [usage] = await lines(['--help'])
    expect(usage).toBe('Usage: workspace [options] [command]')
  })

  it('has the licences of the packages in its bundle', () => {
    const installed = join(cli, 'node_modules', '@workspace-api', 'cli')
    const files = readdirSync(join(installed, 'dist')).map((file) => join(installed, 'dist', file))
    const code = files.map((file) => readFileSync(file, 'utf8')).join('\n')
    const notices = readFileSync(join(installed, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
    // esbuild writes the name of each file above its code.
    const sources = code.matchAll(/^ *\/\/ (\S*node_modules\/((?:@[^/]+\/)?[^/]+))\//gm)
    const packages = new Map(Array.from(sources, ([, path = '', name = '']) => [path, name]))
    expect([...packages.values()]).toEqual(expect.arrayContaining(['@bomb.sh/tab', 'commander', 'undici', 'zod']))
    for (const [path, name] of packages) {
      const { version, author } = JSON.parse(readFileSync(join(ROOT, path, 'package.json'), 'utf8'))
      expect(notices).toMatch(new RegExp(`^${name} ${version} \\(\\S+\\)$`, 'm'))
      const file = readdirSync(join(ROOT, path)).find((each) => each.startsWith('LICENSE'))
      const licence = file ? readFileSync(join(ROOT, path, file), 'utf8').trim() : `Copyright (c) ${author}`
      expect(notices).toContain(licence)
    }
  })

  it.each([20, 22])('runs on Node %i', { tags: 'slow' }, async (version) => {
    const installed = await install(join(folder, `cli-node-${version}`), `node@${version}`)
    const node = join(installed, 'node_modules', 'node', 'bin', 'node')
    writeFiles(join(work, 'old-skills', 'older'), { 'SKILL.md': entry(`older-${version}`) })
    for (const args of [
      ['whoami'],
      ['skills', 'push', 'old-skills'],
      ['skills', 'pull', `old-skills-${version}`, '--all'],
      ['skills', 'pull', `old-skills-${version}`],
      ['schedules', 'list'],
      ['runs', 'list'],
      ['files', 'list', demo.sessionId],
      ['env', 'list', '--project', demo.projectId],
    ]) {
      const { code, stderr } = await endOf(start(args, demo.apiKey, demo.baseUrl, node))
      expect([args, code, stderr]).toEqual([args, 0, ''])
    }
    const args = ['env', 'run', '--project', demo.projectId, '--', 'sh', '-c', 'exit 7']
    expect((await endOf(start(args, demo.leaseKey, demo.baseUrl, node))).code).toBe(7)
  })

  it('stores a login for this user only, after it verified the key', async () => {
    const login = ['login', '--url', `${demo.baseUrl}/`]
    const refused = await workspace(login, '', 'wsk_wrong')
    expect([refused.code, refused.stdout]).toEqual([1, ''])
    expect(refused.stderr).toMatch(/^The API key is not valid/)
    expect(existsSync(loginFile)).toBe(false)

    const { code, stdout } = await workspace(login, '', `${demo.apiKey}\n`)
    expect([code, stdout]).toEqual([0, expect.stringContaining(`Stored in ${loginFile}.`)])
    expect(statSync(loginFile).mode & 0o777).toBe(0o600)
    expect(statSync(join(home, 'workspace')).mode & 0o777).toBe(0o700)
    const again = await endOf(start(['login', '--json'], '', demo.baseUrl), demo.apiKey)
    expect([again.code, JSON.parse(again.stdout).url, again.stderr]).toEqual([0, demo.baseUrl, ''])
    expect((await json(['whoami']))[0]).toMatchObject({ url: demo.baseUrl, apiKey: { name: 'demo' } })
    expect((await lines(['whoami'])).join('\n')).toMatch(/^organization +Acme \(/m)
    expect((await json(['whoami'], other.apiKey))[0]).toMatchObject({ organization: { name: 'Globex' } })
    // The key is for the service of the login only.
    const elsewhere = await endOf(start(['whoami'], '', 'http://localhost:1'))
    expect([elsewhere.code, elsewhere.stderr]).toEqual([2, expect.stringMatching(/^There is no API key for http:/)])
  })

  it('removes the stored login, and revokes its key if asked to', async () => {
    const logIn = async (token: string) =>
      expect((await workspace(['login', '--url', demo.baseUrl], '', token)).code).toBe(0)
    await logIn(demo.apiKey)
    expect(await lines(['logout'])).toEqual([`Removed ${loginFile}. Its API key stays valid.`])
    expect(existsSync(loginFile)).toBe(false)
    expect(await lines(['logout'])).toEqual(['There is no stored login.'])

    const [key] = await json(['keys', 'create', 'console', '--scope', 'skills:read'], demo.apiKey)
    for (let count = 0; count < 2; count++) {
      // The second time, the key is revoked already.
      if (count === 0) await logIn(key.token)
      else writeFileSync(loginFile, JSON.stringify({ url: demo.baseUrl, apiKey: key.token }))
      const outcome = count === 0 ? 'Revoked the API key' : 'The API key was no longer valid'
      expect(await lines(['logout', '--revoke'])).toEqual([`${outcome}. Removed ${loginFile}.`])
      expect(existsSync(loginFile)).toBe(false)
    }
    expect((await workspace(['whoami'], key.token)).stderr).toMatch(/^The API key was revoked/)
    await logIn(demo.apiKey)
  })

  it.runIf(process.platform === 'linux')('asks for the address and the key, and does not show the key', async () => {
    const bin = join(cli, 'node_modules', '.bin', 'workspace')
    const typescript = join(work, 'typescript')
    const child = spawn('script', ['-qec', `${process.execPath} ${bin} login`, typescript], {
      env: environment(),
      stdio: 'pipe',
    })
    let shown = ''
    child.stdout.on('data', (chunk) => {
      shown += chunk
    })
    await until(() => shown.includes('Service'))
    child.stdin.write(`${demo.baseUrl}\r`)
    await until(() => shown.includes('API key: '))
    child.stdin.write(`${demo.apiKey}\r`)
    const code = await new Promise((resolve) => child.on('exit', resolve))
    expect([code, shown]).toEqual([0, expect.stringContaining('Logged in')])
    expect(shown).toContain(demo.baseUrl)
    expect(shown + readFileSync(typescript, 'utf8')).not.toContain(demo.apiKey.slice(4))
  })

  it('pushes and pulls skills, and makes a feed of them', async () => {
    const skill = writeFiles(join(work, 'skills', 'notes'), {
      'SKILL.md': entry('notes'),
      'run.sh': '#!/bin/sh\n',
    })
    expect(await lines(['skills', 'push', 'skills'])).toEqual(['created   notes, 2 files'])
    expect(await json(['skills', 'push', 'skills'])).toEqual([{ outcome: 'unchanged', name: 'notes', files: 2 }])
    expect(await lines(['skills', 'pull', 'pulled', 'notes'])).toEqual(['created   notes, 2 files'])
    expect(readBytes(join(work, 'pulled', 'notes'))).toEqual(readBytes(skill))
    expect(await json(['skills', 'pull', 'pulled', 'notes'])).toEqual([
      { outcome: 'unchanged', name: 'notes', files: 2 },
    ])

    writeFiles(skill, { 'run.sh': '#!/bin/sh\ntrue\n' })
    await lines(['skills', 'push', 'skills'])
    const listed = (await json(['skills', 'list'])).find(({ name }) => name === 'notes')
    expect(listed).toMatchObject({ name: 'notes', latestVersion: 2 })
    const row = (await lines(['skills', 'list'])).find((line) => line.startsWith('notes '))
    expect(row).toMatch(new RegExp(`^notes +2 +${listed.id.slice(0, 8)}\\S*$`))

    const created = await workspace(['skills', 'feed', 'create', 'Laptops', '--skill', 'notes@1'])
    expect(created.code, created.stderr).toBe(0)
    const index = await fetch(`${created.stdout.trim()}/.well-known/agent-skills/index.json`)
    expect(await index.json()).toMatchObject({ skills: [{ name: 'notes' }] })
    const feeds = await json(['skills', 'feed', 'list'])
    const { id } = feeds.find(({ name }) => name === 'Laptops')
    expect(await lines(['skills', 'feed', 'delete', id])).toEqual([`Deleted ${id}.`])
  })

  describe('env run', () => {
    const run = (...command: string[]) =>
      start(['env', 'run', '--project', demo.projectId, '--', ...command], demo.leaseKey)
    const GREET = 'console.log(process.env.GREETING)'

    beforeAll(async () => {
      writeFileSync(join(work, '.env'), `GREETING=${SECRET}\nTOKEN=other-${SECRET}\n`)
      const push = ['env', 'push', '.env', '--project', demo.projectId]
      expect((await lines(push)).at(-1)).toBe('2 variables pushed')
      rmSync(join(work, '.env'))
    })

    it('lists names, without values', async () => {
      const list = ['env', 'list', '--project', demo.projectId]
      const listed = await json(list)
      expect(listed.map(({ key }) => key)).toEqual(expect.arrayContaining(['GREETING', 'TOKEN']))
      expect(JSON.stringify(listed) + (await lines(list))).not.toContain(SECRET)
    })

    it('starts a command with the variables, and passes its exit code on', async () => {
      expect(await endOf(run('node', '-e', GREET))).toEqual({
        code: 0,
        signal: null,
        stdout: `${SECRET}\n`,
        stderr: '',
      })
      const only = ['env', 'run', '--project', demo.projectId, '--only', 'GREETING', '--', 'sh', '-c']
      const some = await workspace([...only, 'echo $GREETING$TOKEN; cat; exit 7'], demo.leaseKey, 'input')
      expect(some).toEqual({ code: 7, signal: null, stdout: `${SECRET}\ninput`, stderr: '' })
      expect(await endOf(run('no-such-command'))).toMatchObject({
        code: 127,
        stderr: 'no-such-command cannot be started: it does not exist.\n',
      })
      const unrestricted = await workspace(['env', 'run', '--project', demo.projectId, '--', 'true'])
      const advice = `workspace keys create sandbox --scope environment-variables:lease --project ${demo.projectId}`
      expect(unrestricted).toMatchObject({
        code: 1,
        stdout: '',
        stderr: `This needs an API key that is restricted to projects. To create one: ${advice}\n`,
      })
    })

    it('accepts the key that its error says how to create', async () => {
      const scope = ['--scope', 'environment-variables:lease', '--project', demo.projectId]
      const { stdout } = await workspace(['keys', 'create', 'sandbox', ...scope])
      const args = ['env', 'run', '--project', demo.projectId, '--only', 'GREETING', '--', 'node', '-e', GREET]
      expect(await workspace(args, stdout.trim())).toMatchObject({ code: 0, stdout: `${SECRET}\n` })
    })

    it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)('passes %s on, and how the command ended', async (signal) => {
      const trapping = run('sh', '-c', `trap 'exit 3' ${signal.slice(3)}; echo ready; while :; do sleep 0.05; done`)
      trapping.stdout?.once('data', () => trapping.kill(signal))
      expect(await endOf(trapping)).toMatchObject({ code: 3, signal: null })
      const ending = run('sh', '-c', 'echo ready; exec sleep 60')
      ending.stdout?.once('data', () => ending.kill(signal))
      expect(await endOf(ending)).toMatchObject({ code: null, signal })
    })

    it.runIf(process.platform === 'linux')('leaves no value in an argument, a file or a log', async () => {
      const child = run('sh', '-c', 'echo ready; exec sleep 60')
      await new Promise((resolve) => child.stdout?.once('data', resolve))
      const commandLines = readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .map((pid) => {
          try {
            return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
          } catch {
            return ''
          }
        })
      child.kill()
      expect((await endOf(child)).signal).toBe('SIGTERM')
      expect(commandLines.filter((line) => line.includes('sleep')).length).toBeGreaterThan(0)
      expect(commandLines.join('\n')).not.toContain(SECRET)
      expect(service.printed).not.toContain(SECRET)
      const found = [home, work, state].map(
        (path) => spawnSync('grep', ['-rla', SECRET, path], { encoding: 'utf8' }).stdout,
      )
      expect(found).toEqual(['', '', ''])
    })

    // After it, the variables of the project do not fit any more.
    it.runIf(process.platform === 'linux')('says what to do if the variables are too large', async () => {
      const large = Array.from({ length: 40 }, (_, index) => `LARGE_${index}=${'x'.repeat(65_000)}\n`)
      writeFileSync(join(work, '.env'), large.join(''))
      await lines(['env', 'push', '.env', '--project', demo.projectId])
      const { code, stdout, stderr } = await endOf(run('true'))
      expect([code, stdout]).toEqual([126, ''])
      expect(stderr).toMatch(/^true cannot be started: the variables have 2\.5 MiB, .* --only\.\n$/)
      const only = ['env', 'run', '--project', demo.projectId, '--only', 'GREETING', '--', 'true']
      expect((await workspace(only, demo.leaseKey)).code).toBe(0)
    })
  })

  it('applies schedules from files', async () => {
    const yaml = (more = '') => `project: ${other.projectId}\ncron: 30 9 * * mon-fri\ntimezone: Europe/Paris\n${more}`
    const files = {
      'build.yaml': yaml('name: Build\npayload:\n  branch: main\n'),
      'once.yml': `agent: ${other.agentId}\nrunAt: 2999-01-01T00:00:00Z\n`,
      'README.md': 'No schedule.',
    }
    writeFiles(join(work, 'schedules'), files)
    const apply = (...more: string[]) => lines(['schedules', 'apply', 'schedules', ...more], other.apiKey)
    const outcomes = (...words: string[]) => [`${words[0]?.padEnd(9)} build.yaml`, `${words[1]?.padEnd(9)} once.yml`]
    const nothing = 'Nothing was changed: this was a dry run.'
    expect(await apply('--dry-run')).toEqual([...outcomes('to create', 'to create'), nothing])
    expect(await apply()).toEqual(outcomes('created', 'created'))
    expect(await apply('--dry-run')).toEqual([...outcomes('unchanged', 'unchanged'), nothing])
    expect(await apply()).toEqual(outcomes('unchanged', 'unchanged'))

    writeFiles(join(work, 'schedules'), {
      'build.yaml': yaml('name: Build\npayload:\n  branch: next\nenabled: false\n'),
      'none.yaml': `project: ${other.projectId}\ncron: 61 * * * *\ntimezone: UTC\ncolour: red\n`,
      'zone.yaml': `project: ${other.projectId}\ncron: '@daily'\n`,
      'two.yaml': `project: a\nagent: b\ncron: '@daily'\n`,
      'wrong.yaml': 'project: "a\n',
    })
    const wrong = await workspace(['schedules', 'apply', 'schedules'], other.apiKey)
    expect([wrong.code, wrong.stdout, wrong.stderr.split('\n')]).toEqual([
      1,
      '',
      [
        expect.stringMatching(/^schedules\/none\.yaml: (?=.*minute)(?=.*colour)/),
        expect.stringMatching(/^schedules\/two\.yaml: has to have either project or agent/),
        expect.stringMatching(/^schedules\/wrong\.yaml: line \d+: is not YAML/),
        expect.stringMatching(/^schedules\/zone\.yaml: the file has a cron expression and no timezone/),
        '',
      ],
    ])
    for (const name of ['none', 'two', 'wrong', 'zone']) rmSync(join(work, 'schedules', `${name}.yaml`))
    expect(await apply('--dry-run')).toEqual([...outcomes('to change', 'unchanged'), nothing])
    expect(await apply()).toEqual(outcomes('changed', 'unchanged'))

    const listed = await json(['schedules', 'list'], other.apiKey)
    expect(listed.find(({ name }) => name === 'Build')).toMatchObject({
      projectId: other.projectId,
      enabledAt: null,
    })
    const table = await lines(['schedules', 'list', '--project', other.projectId, '-o', 'wide'], other.apiKey)
    expect(table.find((line) => line.includes('Build'))).toMatch(
      new RegExp(`30 9 \\* \\* mon-fri +paused +- +project ${other.projectId} +Europe/Paris +by a request$`),
    )
    const preview = ['schedules', 'preview', '0 12 * * *', '--timezone', 'Asia/Tokyo', '--from', '2026-01-01T00:00:00Z']
    expect((await json(preview))[0]).toEqual({
      at: '2026-01-01T03:00:00.000Z',
      localTime: '2026-01-01T12:00:00+09:00',
    })
  })

  describe('runs', () => {
    let scheduleId: string
    const payload = { prompt: 'Review.' }

    beforeAll(async () => {
      scheduleId = crypto.randomUUID()
      const path = `/v1/agents/${other.agentId}/schedules/${scheduleId}`
      expect((await call('PUT', path, { name: 'Review', cron: '0 0 1 1 *', payload })).status).toBe(201)
    })

    const newRun = async () =>
      (await call('POST', `/v1/agents/${other.agentId}/schedules/${scheduleId}/runs`)).body.id as string
    const runOf = async (id: string) => (await call('GET', `/v1/runs/${id}`)).body
    const worker = (...args: string[]) => start(['runs', 'work', '--lease', '60', '--poll', '1', ...args], other.apiKey)
    /** What a child prints on standard error, once the pattern is in it. */
    async function printed(child: ChildProcess, pattern: RegExp): Promise<string> {
      let text = ''
      child.stderr?.on('data', (chunk) => {
        text += chunk
      })
      await until(() => pattern.test(text))
      return text
    }
    /** Ends a lease, and runs the tick after it. The other organization is in the second database. */
    async function endLease(id: string) {
      await rowsOf(
        state,
        `UPDATE "runs" SET "checkAt" = '2026-01-01T00:00:00.000Z' WHERE "id" = '${id}' AND "status" = 'delivered'`,
        1,
      )
      await tick()
      await vi.waitFor(async () => expect((await runOf(id)).status).toBe('pending'), 30_000)
    }

    it('are listed and completed', async () => {
      const id = await newRun()
      const [pending] = await json(['runs', 'list', '--status', 'pending', '--schedule', scheduleId], other.apiKey)
      expect(pending).toMatchObject({ id, status: 'pending' })
      const complete = ['runs', 'complete', id, 'succeeded', '--message', 'Done.']
      expect(await lines(complete, other.apiKey)).toEqual([`The run ${id} has succeeded.`])
      const again = await workspace(['runs', 'complete', id, 'failed'], other.apiKey)
      expect([again.code, again.stdout]).toEqual([1, ''])
      expect((await lines(['runs', 'list', '--limit', '1'], other.apiKey))[1]).toMatch(/ succeeded .* Done\.$/)
    })

    it('are worked on: the run is on standard input, and the exit code is its outcome', async () => {
      const id = await newRun()
      const good = await endOf(worker('--once', '--json', '--', 'sh', '-c', 'cat; echo working'))
      expect([good.code, good.stdout]).toEqual([0, `${JSON.stringify({ outcome: 'succeeded', name: 'Review', id })}\n`])
      const [input = '', printed] = good.stderr.split('\n')
      expect([printed, JSON.parse(input)]).toEqual(['working', expect.objectContaining({ id, payload, attempt: 1 })])
      expect(JSON.parse(input)).not.toHaveProperty('claimId')
      expect(await runOf(id)).toMatchObject({ status: 'succeeded', message: null })

      const failing = await newRun()
      const bad = await endOf(worker('--once', '--', 'sh', '-c', 'echo Tests failed. >&2; exit 3'))
      expect([bad.code, bad.stdout, bad.stderr]).toEqual([0, `failed    ${failing}, Review\n`, 'Tests failed.\n'])
      expect(await runOf(failing)).toMatchObject({ status: 'failed', failure: 'task', message: 'Tests failed.' })
      const shown = await lines(['runs', 'show', failing], other.apiKey)
      expect(shown.map((line) => line.replace(/ {2,}/, ': '))).toEqual(
        expect.arrayContaining([
          `run: ${failing}`,
          `schedule: Review (${scheduleId})`,
          'status: failed (task)',
          'sent or claimed: 1 time',
          'message: Tests failed.',
        ]),
      )
      const again = await workspace(['runs', 'redeliver', failing], other.apiKey)
      expect([again.code, again.stdout]).toEqual([1, ''])
    })

    it('stay pending if the command cannot be started', async () => {
      const id = await newRun()
      const { code, stderr } = await endOf(worker('--', 'no-such-command'))
      expect([code, stderr]).toEqual([1, 'no-such-command cannot be started: it does not exist.\n'])
      expect(await runOf(id)).toMatchObject({ status: 'pending', attempts: 0 })
      expect((await endOf(worker('--once', '--', 'true'))).stdout).toBe(`succeeded ${id}, Review\n`)
    })

    it('are finished after SIGTERM, several at a time', async () => {
      const ids = [await newRun(), await newRun(), await newRun()]
      const child = worker('--concurrency', '2', '--', 'sh', '-c', 'echo started; sleep 2')
      await printed(child, /started\nstarted\n/)
      child.kill('SIGTERM')
      const { code, stdout } = await endOf(child)
      expect([code, stdout.trim().split('\n').sort()]).toEqual([
        0,
        [`succeeded ${ids[0]}, Review`, `succeeded ${ids[1]}, Review`].sort(),
      ])
      expect((await runOf(ids[2] as string)).status).toBe('pending')
      expect((await endOf(worker('--once', '--', 'true'))).code).toBe(0)
    })

    it('are all worked on by a worker of more than one claim takes', async () => {
      const ids: string[] = []
      while (ids.length < 22) ids.push(await newRun())
      const { code, stdout } = await endOf(worker('--concurrency', '30', '--once', '--', 'true'))
      expect([code, stdout.trim().split('\n').sort()]).toEqual([0, ids.map((id) => `succeeded ${id}, Review`).sort()])
    })

    it('are given back after a second SIGTERM, which stops the command', async () => {
      const id = await newRun()
      const child = worker('--', 'sh', '-c', 'echo started; sleep 600 & echo $!; wait')
      const started = await printed(child, /started\n\d+\n/)
      child.kill('SIGTERM')
      await setTimeout(300)
      child.kill('SIGTERM')
      expect(await endOf(child)).toMatchObject({ code: 0, stdout: `released  ${id}, Review\n` })
      // What the command started has ended, too.
      await until(() => !existsSync(`/proc/${Number(/\d+/.exec(started))}`))
      await endLease(id)
      expect((await endOf(worker('--once', '--', 'true'))).code).toBe(0)
    })

    it('are claimed again after kill -9, and completed once; a worker that lost its claim stops its command', async () => {
      const id = await newRun()
      const first = worker('--', 'sh', '-c', 'echo $$; exec sleep 600')
      const pid = Number(/\d+/.exec(await printed(first, /\d+\n/)))
      const [{ claimId }] = (await rowsOf(state, `SELECT "claimId" FROM "runs" WHERE "id" = '${id}'`, 1)) as [
        { claimId: string },
      ]
      first.kill('SIGKILL')
      // The command outlives it.
      process.kill(pid)
      expect((await endOf(first)).signal).toBe('SIGKILL')
      expect(await runOf(id)).toMatchObject({ status: 'delivered', attempts: 1 })
      expect((await endOf(worker('--once', '--', 'true'))).stdout).toBe('')

      await endLease(id)
      const second = worker('--', 'sh', '-c', 'echo started; exec sleep 600')
      await printed(second, /started/)
      await endLease(id)
      const third = await endOf(worker('--once', '--', 'true'))
      expect(third.stdout).toBe(`succeeded ${id}, Review\n`)
      // The second one notices when it renews its claim.
      const lost = await new Promise((resolve) => second.stdout?.once('data', (data) => resolve(String(data))))
      second.kill()
      expect([lost, (await endOf(second)).code]).toEqual([`lost      ${id}, Review\n`, 0])

      const late = await workspace(['runs', 'complete', id, 'failed', '--claim', claimId], other.apiKey)
      expect(late.code).toBe(1)
      expect(await runOf(id)).toMatchObject({ status: 'succeeded', attempts: 3 })
      const events = await json(
        ['events', '--resource', `run/${id}`, '--types', 'run.succeeded,run.failed'],
        other.apiKey,
      )
      expect(events.map(({ type }) => type)).toEqual(['run.succeeded'])
    })
  })

  it('stores, reads and lists the files of a session', async () => {
    const bytes = randomBytes(100_000)
    writeFileSync(join(work, 'data.bin'), bytes)
    const put = ['files', 'put', demo.sessionId, 'data.bin', '--path', 'out/data.bin']
    expect(await lines([...put, '--type', 'image/png'])).toEqual(['created   out/data.bin, 100000 bytes'])
    expect(await json(put)).toEqual([expect.objectContaining({ outcome: 'updated', path: 'out/data.bin' })])
    await lines(['files', 'get', demo.sessionId, 'out/data.bin', '--output', 'copy.bin'])
    expect(readFileSync(join(work, 'copy.bin')).equals(bytes)).toBe(true)
    const listed = await json(['files', 'list', demo.sessionId])
    expect(listed.map(({ path }) => path)).toContain('out/data.bin')
    expect(await lines(['files', 'list', demo.sessionId, '--limit', '2'])).toHaveLength(3)
    const nowhere = await workspace(['files', 'get', demo.sessionId, 'out/data.bin', '--output', 'no/dir/x'])
    expect([nowhere.code, nowhere.stderr]).toEqual([1, 'no/dir/x cannot be written: its folder does not exist.\n'])
    const missing = await workspace(['files', 'get', demo.sessionId, 'nothing'])
    expect([missing.code, missing.stderr]).toEqual([1, 'The session has no file at the path nothing.\n'])
  })

  it('creates, lists and revokes API keys, and lists the events', async () => {
    const create = ['keys', 'create', 'sandbox', '--scope', 'skills:read', '--project', demo.projectId]
    const created = await workspace(create)
    expect(created.code, created.stderr).toBe(0)
    const token = created.stdout.trim()
    const [me] = await json(['whoami'], token)
    expect(me.apiKey).toMatchObject({
      name: 'sandbox',
      scopes: ['skills:read'],
      projectIds: [demo.projectId],
    })
    expect((await lines(['keys', 'list'])).join('\n')).toMatch(
      new RegExp(`^${me.apiKey.id.slice(0, 8)}\\S* +sandbox `, 'm'),
    )
    expect(await lines(['keys', 'revoke', me.apiKey.id])).toEqual([`Revoked ${me.apiKey.id}.`])
    expect((await workspace(['whoami'], token)).code).toBe(1)
    const [latest] = await json(['events', '--limit', '1'])
    expect(latest).toMatchObject({ type: 'api-key.revoked', resource: { path: `/v1/api-keys/${me.apiKey.id}` } })
    const [headings, ...rows] = await lines(['events', '--types', 'api-key.created', '--limit', '2'])
    expect(headings?.split(/ +/)).toEqual(['TIME', 'EVENT'])
    expect(rows).toHaveLength(2)
    expect(rows[0]).toMatch(/^\d+ (s|min) ago +demo \(ada\) created the API key sandbox$/)
  })

  it('follows events from now on, and continues after a cursor', async () => {
    const rename = (name: string) => call('PUT', `/v1/projects/${other.projectId}`, { name })
    await rename('before')
    const child = start(['events', '--follow', '--types', 'project.*'], other.apiKey)
    let stdout = ''
    child.stdout?.on('data', (data) => {
      stdout += data
    })
    // It says nothing until something happens.
    let count = 0
    await until(async () => {
      await rename(`followed \u202e${++count}`)
      await setTimeout(300)
      return stdout.includes('followed')
    })
    child.kill('SIGINT')
    const ended = await endOf(child)
    expect(ended.code).toBe(0)
    const [line = ''] = stdout.split('\n')
    expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}demo \(grace\) renamed the project followed \ufffd\d+$/)
    expect(stdout).not.toContain('before')
    const [, cursor = ''] = /^To continue: --after ([0-9a-z]{11})\n$/.exec(ended.stderr) ?? []
    expect(cursor).not.toBe('')

    await rename('later')
    const restricted = await call('POST', '/v1/api-keys', {
      name: 'restricted',
      scopes: ['audit-events:read'],
      projectIds: [other.projectId],
    })
    const {
      code,
      stdout: after,
      stderr,
    } = await workspace(['events', '--after', cursor, '--json'], restricted.body.token)
    const names = after
      .split('\n')
      .slice(0, -1)
      .map((each) => JSON.parse(each).resource.name)
    expect([code, names.at(-1)]).toEqual([0, 'later'])
    expect(after).not.toMatch(/[\u202e]/)
    expect(stderr).toMatch(/^To continue: --after [0-9a-z]{11}\n$/)
    const refused = await workspace(['events'], restricted.body.token)
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'This API key is restricted to projects. Use a key that is not.\n',
    ])
  })

  it('continues to follow events after the service was away', async () => {
    const port = await freePort()
    const url = `http://127.0.0.1:${port}`
    const child = start(['events', '--follow'], other.apiKey, url)
    const stderr = await new Promise<string>((resolve) => child.stderr?.once('data', (data) => resolve(String(data))))
    expect(stderr).toBe(`No answer from ${url}: the connection was refused (ECONNREFUSED).\n`)
    child.kill('SIGTERM')
    expect((await endOf(child)).code).toBe(0)
  })

  it('completes commands and options in shells', async () => {
    const completed = async (...words: string[]) =>
      (await lines(['complete', '--', ...words])).map((line) => line.replace(/\t.*/, ''))
    expect(await completed('sk')).toEqual(['skills', ':4'])
    expect(await completed('runs', '')).toEqual(['list', 'show', 'complete', 'redeliver', 'work', ':4'])
    expect(await completed('runs', 'work', '--con')).toEqual(['--concurrency', ':4'])
    // Files, where there is nothing else.
    expect(await completed('env', 'push', '')).toEqual([':0'])
    for (const shell of ['bash', 'zsh', 'fish']) {
      expect((await lines(['completion', shell])).join('\n')).toContain('workspace complete --')
    }
    const bin = join(cli, 'node_modules', '.bin')
    // It stands in for the package bash-completion.
    const words = `_get_comp_words_by_ref() { cur=pu; words=(workspace skills pu); cword=2; }`
    const script = `${words}; compopt() { :; }; source <(workspace completion bash); source <(workspace completion bash); __workspace_complete; echo "\${COMPREPLY[@]}"`
    const { stdout, stderr } = spawnSync('bash', ['-c', script], {
      encoding: 'utf8',
      env: { ...process.env, PATH: `${bin}:${process.env.PATH}` },
    })
    expect([stdout.trim().split(/\s+/), stderr]).toEqual([['push', 'pull', 'publish'], ''])
  })
})
