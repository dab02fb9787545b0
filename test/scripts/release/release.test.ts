/** A release, made from a copy of the repository, published to a registry on this machine, and installed by name. */
import { execFileSync } from 'node:child_process'
import {
  appendFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { ROOT } from '../../support/commands.ts'
import { newFolder } from '../../support/dev-server.ts'
import { run } from '../../support/packages.ts'
import { type Registry, startRegistry } from '../../support/registry.ts'
import { type RunningService, startService } from '../../support/service.ts'

const VERSION = '7.8.9'
const REPOSITORY = 'https://github.com/acme/workspace-api'
const SCOPE = '@workspace-api'
const PACKAGES = ['client', 'cli', 'service', 'mcp', 'console']
const TYPESCRIPT = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')).devDependencies.typescript

/** Some of the packages in the bundles of the Workers, whose licences are passed on. */
const BUNDLED = {
  service: ['hono', 'drizzle-orm', 'zod', 'modern-tar'],
  mcp: ['@modelcontextprotocol/server', 'zod'],
  console: ['hono', 'jose', 'oauth4webapi'],
}

/** What a user of the client writes. */
const PROGRAM = `
import { Workspace } from '@workspace-api/client'

const { WORKSPACE_URL: url = '', WORKSPACE_API_KEY: apiKey = '' } = process.env
const workspace = new Workspace({ url, apiKey })
const project = await workspace.projects.put('website', { name: 'Website' })
const name: string = project.name
console.log(name)
`

/** The packages of the copy are links to these. */
const INSTALLED = globSync('{,*/}node_modules', { cwd: ROOT })

const folder = newFolder()
const copy = join(folder, 'copy')
/** Where the jobs of the workflow have the packages: the one that packs, and the one that publishes. */
const packed = join(copy, 'release')
const publishing = join(folder, 'publishing')
const output = join(publishing, 'release')
const bin = join(folder, 'bin')
const app = join(folder, 'app')
let registry: Registry

/** The files that Git has or would have, with the packages that are installed here. */
beforeAll(async () => {
  const started = startRegistry(SCOPE)
  const list = ['ls-files', '--cached', '--others', '--exclude-standard']
  const files = execFileSync('git', list, { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')
  for (const file of files.filter((each) => existsSync(join(ROOT, each)))) {
    mkdirSync(dirname(join(copy, file)), { recursive: true })
    cpSync(join(ROOT, file), join(copy, file))
  }
  for (const path of INSTALLED) symlinkSync(join(ROOT, path), join(copy, path))
  registry = await started
})
afterAll(async () => {
  await registry.close()
  rmSync(folder, { recursive: true })
})

const inCopy = (...path: string[]) => join(copy, ...path)
const readJson = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const release = (...args: string[]) =>
  run(process.execPath, [inCopy('scripts', 'release', 'release.ts'), ...args], copy)

const workflow = () => parse(readFileSync(inCopy('.github', 'workflows', 'release.yml'), 'utf8'))
/** What the step of a job says that uses an action. */
const inputsOf = (job: string, action: string) =>
  workflow().jobs[job].steps.find((each: { uses?: string }) => each.uses?.startsWith(`actions/${action}@`)).with

/** Runs the step of a job that begins like this. @param more options in the place of `--provenance`. */
function runStep(job: string, start: string, tag: string, more = ''): Promise<string> {
  const step = workflow().jobs[job].steps.find((each: { run?: string }) => each.run?.startsWith(start))
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}`, GITHUB_REF_NAME: tag, NPM_TOKEN: 'any' }
  return run('bash', ['-euc', step.run.replace('--provenance', more)], job === 'publish' ? publishing : copy, env)
}

/** Checks out as `actions/checkout` does in the job that publishes. */
async function checkOut(): Promise<void> {
  const author = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.com']
  const git = (cwd: string, ...args: string[]) => run('git', [...author, ...args], cwd)
  await git(copy, 'init', '--quiet')
  await git(copy, 'add', '--all', '--', ':!*node_modules')
  await git(copy, 'commit', '--quiet', '--message', 'A release')
  await git(folder, 'clone', '--quiet', '--no-checkout', copy, publishing)
  await git(publishing, 'sparse-checkout', 'set', inputsOf('publish', 'checkout')['sparse-checkout'])
  await git(publishing, 'checkout', '--quiet')
}

/** Copies as `actions/upload-artifact` and `actions/download-artifact` do. */
function handOver(): void {
  const [uploaded, downloaded] = [inputsOf('pack', 'upload-artifact'), inputsOf('publish', 'download-artifact')]
  expect(downloaded.name).toBe(uploaded.name)
  rmSync(join(publishing, downloaded.path), { recursive: true, force: true })
  cpSync(join(copy, uploaded.path), join(publishing, downloaded.path), { recursive: true })
}

const pack = (tag = `v${VERSION}`) => runStep('pack', 'npm run release -- pack', tag)
const publish = () => runStep('publish', 'node scripts/release/publish.ts', `v${VERSION}`, `--registry ${registry.url}`)
/** What npm prints before is not the script's. */
const linesOf = (printed: string) =>
  printed
    .trim()
    .split('\n')
    .filter((line) => line && !line.startsWith('>'))

/** A user who has never used npm: no cache, and nothing configured but the registry. */
function emptyMachine(): NodeJS.ProcessEnv {
  const home = join(folder, 'home')
  mkdirSync(home, { recursive: true })
  return { PATH: process.env.PATH, HOME: home, npm_config_registry: registry.url }
}

describe('a release', { tags: 'slow' }, () => {
  it('is prepared: versions, the changelog, the document and the migrations', async () => {
    await expect(pack('v1.0.1')).rejects.toThrow('The tag v1.0.1 does not fit @workspace-api/service')
    const before = readFileSync(inCopy('package.json'), 'utf8')
    await expect(release('prepare', VERSION)).rejects.toThrow('"repository" in package.json is not the address')
    expect(readFileSync(inCopy('package.json'), 'utf8')).toBe(before)
    const manifest = { ...readJson(inCopy('package.json')), repository: REPOSITORY }
    writeFileSync(inCopy('package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    const changelog = readFileSync(inCopy('CHANGELOG.md'), 'utf8')
    writeFileSync(inCopy('CHANGELOG.md'), changelog.replace('## [Unreleased]', '$&\n\n### Fixed\n\n- A test.'))
    await release('prepare', VERSION)
    expect(readFileSync(inCopy('docs/deploy.md'), 'utf8')).toContain(
      `deploy.workers.cloudflare.com/?url=${REPOSITORY})`,
    )
    const folders = ['.', ...readJson(inCopy('package.json')).workspaces]
    const { packages, version } = readJson(inCopy('package-lock.json'))
    expect(version).toBe(VERSION)
    for (const each of folders) {
      const manifest = readJson(inCopy(each, 'package.json'))
      expect([each, manifest.version, packages[each === '.' ? '' : each].version]).toEqual([each, VERSION, VERSION])
    }
    expect(readJson(inCopy('public', 'openapi.json')).info.version).toBe(VERSION)
    expect(readFileSync(inCopy('CHANGELOG.md'), 'utf8')).toMatch(
      /^## \[Unreleased\]\n\n## \[7\.8\.9\] - \d{4}-\d\d-\d\d\n\n\S/m,
    )
    await expect(release('prepare', VERSION)).rejects.toThrow(`CHANGELOG.md has ${VERSION} already.`)
    await expect(release('prepare', '8.0.0')).rejects.toThrow('CHANGELOG.md has nothing under "## [Unreleased]".')
  })

  it('is not packed if a released migration has changed, nor checked', async () => {
    const check = () => run(process.execPath, [inCopy('scripts', 'checks', 'migrations-in-step.ts')], copy)
    await check()
    const message = 'migrations/0000_initial.sql was released, and has changed since.'
    const migration = inCopy('migrations', '0000_initial.sql')
    const before = readFileSync(migration)
    appendFileSync(migration, '\n')
    await expect(check()).rejects.toThrow(message)
    await expect(pack()).rejects.toThrow(message)
    writeFileSync(migration, before)
  })

  it('is packed, with its notes', async () => {
    const printed = await pack()
    const expected = [...PACKAGES.map((name) => `workspace-api-${name}-${VERSION}.tgz`), 'notes.md']
    expect(linesOf(printed)).toEqual(expected)
    expect(readdirSync(packed).sort()).toEqual(expected.toSorted())
    const notes = readFileSync(join(packed, 'notes.md'), 'utf8')
    expect(notes).toMatch(/^\S/)
    expect(notes).not.toMatch(/^## /m)
  })

  it('is published by the only job that may, and this job runs nothing that is installed', async () => {
    const { permissions, jobs } = workflow()
    const mayPublish = Object.keys(jobs).filter((name) => 'id-token' in { ...permissions, ...jobs[name].permissions })
    expect(mayPublish).toEqual(['publish'])
    expect([jobs.publish.environment, jobs.publish.needs]).toEqual(['npm', ['test', 'pack']])
    const lines = jobs.publish.steps.map((each: { run?: string }) => each.run ?? '')
    expect(lines.join('\n')).not.toMatch(/\bnpm (ci|install|run)\b|\bnpx\b/)
    await checkOut()
    expect(globSync('**/node_modules', { cwd: publishing })).toEqual([])
    handOver()
  })

  it('is a release on GitHub, with its packages and notes', async () => {
    mkdirSync(bin)
    // In the place of GitHub's command: it prints what it was called with.
    writeFileSync(join(bin, 'gh'), '#!/bin/sh\nprintf "%s\\n" "$@"\n', { mode: 0o755 })
    const tag = `v${VERSION}`
    const files = PACKAGES.map((name) => `release/workspace-api-${name}-${VERSION}.tgz`).sort()
    const options = ['--verify-tag', '--notes-file', 'release/notes.md']
    expect(linesOf(await runStep('publish', 'gh ', tag))).toEqual(['release', 'create', tag, ...files, ...options])
  })

  it('is published once, and is the same when it is packed and published again', async () => {
    const ids = PACKAGES.toSorted().map((name) => `${SCOPE}/${name}@${VERSION}`)
    expect(linesOf(await publish())).toEqual(ids.map((id) => `published  ${id}`))
    rmSync(packed, { recursive: true })
    await pack()
    handOver()
    expect(linesOf(await publish())).toEqual(ids.map((id) => `unchanged  ${id}`))
    const tarball = join(output, `workspace-api-mcp-${VERSION}.tgz`)
    writeFileSync(tarball, gzipSync(gunzipSync(readFileSync(tarball)), { level: 1 }))
    await expect(publish()).rejects.toThrow(`${SCOPE}/mcp@${VERSION} is published with other contents.`)
  })

  it('is installed by name into an empty folder, without tests, sources and paths of the machine', async () => {
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), JSON.stringify({ private: true, type: 'module' }))
    const names = [...PACKAGES.map((name) => `${SCOPE}/${name}`), `typescript@${TYPESCRIPT}`, '@types/node@24']
    await run('npm', ['install', ...names], app, emptyMachine())
    for (const name of PACKAGES) {
      const installed = join(app, 'node_modules', SCOPE, name)
      const {
        version,
        repository,
        scripts,
        devDependencies,
        private: isPrivate,
      } = readJson(join(installed, 'package.json'))
      expect([name, version, scripts, devDependencies, isPrivate]).toEqual([
        name,
        VERSION,
        undefined,
        undefined,
        undefined,
      ])
      expect(repository.url).toBe(`git+${REPOSITORY}.git`)
      const files = globSync('**', { cwd: installed }).filter((file) => statSync(join(installed, file)).isFile())
      expect(files).toContain('LICENSE')
      expect(files.filter((file) => /(^|\/)(test|src|node_modules)\/|(?<!\.d)\.tsx?$/.test(file))).toEqual([])
      for (const file of files) {
        const text = INSTALLED.reduce(
          (rest, packages) => rest.replaceAll(join(ROOT, packages), ''),
          readFileSync(join(installed, file), 'utf8'),
        )
        expect([name, file, [ROOT, folder].filter((path) => text.includes(path))]).toEqual([name, file, []])
      }
    }
    for (const [name, packages] of Object.entries(BUNDLED)) {
      const notices = readFileSync(join(app, 'node_modules', SCOPE, name, 'THIRD-PARTY-NOTICES.txt'), 'utf8')
      for (const each of packages) expect(notices).toMatch(new RegExp(`^${each} \\d[\\w.-]+ \\(.+\\)$`, 'm'))
    }
  })

  describe('that is installed', () => {
    let service: RunningService
    let env: NodeJS.ProcessEnv
    beforeAll(async () => {
      const configPath = (name: string) => join('node_modules', SCOPE, name, 'wrangler.json')
      const others = ['mcp', 'console'].map((name) => ({ configPath: configPath(name) }))
      service = await startService({}, { root: app, api: configPath('service'), others })
      const { apiKey } = await service.addOrganization()
      env = { ...emptyMachine(), WORKSPACE_URL: service.url, WORKSPACE_API_KEY: apiKey }
    })
    afterAll(() => service?.close())

    it('serves the API, its pages and MCP', async () => {
      const health = await fetch(`${service.url}/health`)
      expect([health.status, await health.json()]).toEqual([200, expect.objectContaining({ schema: 'current' })])
      const document = await fetch(`${service.url}/openapi.json`)
      expect(await document.json()).toMatchObject({ info: { version: VERSION } })
      const headers = {
        Authorization: `Bearer ${env.WORKSPACE_API_KEY}`,
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
      }
      const params = {
        protocolVersion: '2025-06-18',
        capabilities: {},
        clientInfo: { name: 'test', version: '1.0.0' },
      }
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })
      const mcp = await fetch(`${service.url}/mcp`, { method: 'POST', headers, body })
      expect([mcp.status, await mcp.text()]).toEqual([200, expect.stringContaining(`"version":"${VERSION}"`)])
    })

    it.each(['service', 'mcp', 'console'])('is deployed from the package %s as it is', async (name) => {
      const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
      const config = join('node_modules', SCOPE, name, 'wrangler.json')
      const printed = await run(process.execPath, [wrangler, 'deploy', '--dry-run', '--config', config, '--env='], app)
      expect(printed).toContain('--dry-run: exiting now.')
      expect(printed).not.toContain('Running custom build')
    })

    it('is called by a program whose types compile', async () => {
      writeFileSync(join(app, 'program.ts'), PROGRAM)
      const options = ['--strict', '--target', 'es2022', '--module', 'nodenext', '--outDir', 'built', '--types', 'node']
      await run('npx', ['--no', '--', 'tsc', ...options, 'program.ts'], app, env)
      expect(await run('node', [join('built', 'program.js')], app, env)).toBe('Website\n')
    })

    it('is called by the command', async () => {
      const workspace = (...args: string[]) => run('npx', ['--no', '--', 'workspace', ...args], app, env)
      expect(await workspace('--version')).toBe(`${VERSION}\n`)
      expect(JSON.parse(await workspace('whoami', '--json')).organization.name).toBe('Acme')
    })
  })
})
