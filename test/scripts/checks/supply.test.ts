import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { type Unstable_Config as Config, unstable_readConfig as readConfig } from 'wrangler'
import { ROOT } from '../../support/commands.ts'

const read = (file: string) => readFileSync(join(ROOT, file), 'utf8')
/** Each folder that has a package.json. */
const FOLDERS: readonly string[] = ['', ...JSON.parse(read('package.json')).workspaces]

describe('what is deployed', () => {
  const config = readConfig({ config: join(ROOT, 'wrangler.toml') })

  it('has no secret, and no setting of a development machine', () => {
    expect(config.vars).toMatchObject({ RATE_LIMIT: 'on', LOCAL_RECEIVERS: 'off' })
    expect(config.vars).not.toHaveProperty('ENCRYPTION_KEYS')
    expect(config.vars).not.toHaveProperty('CORS_ORIGINS')
    expect(read('wrangler.toml')).not.toMatch(/[A-Za-z0-9+/]{43}=|wsk_|whsec_/)
  })

  it('has a staging environment that is production under other names', () => {
    expect(config.definedEnvironments).toEqual(['staging'])
    const staging = readConfig({ config: join(ROOT, 'wrangler.toml'), env: 'staging' })
    expect(withoutNames(staging)).toEqual(withoutNames(config))
    const names = namesOf(config)
    expect(names).toHaveLength(12)
    expect(namesOf(staging).filter((name) => names.includes(name))).toEqual([])
  })

  it('logs to the platform, without addresses and headers', () => {
    expect(config.observability).toMatchObject({ enabled: true, logs: { invocation_logs: false } })
  })
})

/** All that both environments have in common: bindings, settings, triggers, limits. */
function withoutNames({ routes, targetEnvironment, ...config }: Config): unknown {
  return JSON.parse(JSON.stringify(config), (key, value) => {
    if (key === 'namespace_id') return undefined
    return typeof value === 'string' ? value.replace(/-staging$/, '') : value
  })
}

/** What there is one of in an account. */
function namesOf({ name, d1_databases, r2_buckets, queues, ratelimits }: Config): unknown[] {
  return [
    name,
    ...d1_databases.map(({ database_name }) => database_name),
    ...r2_buckets.map(({ bucket_name }) => bucket_name),
    ...(queues.consumers ?? []).flatMap(({ queue, dead_letter_queue }) => [queue, dead_letter_queue ?? []].flat()),
    ...ratelimits.map(({ namespace_id }) => namespace_id),
  ]
}

describe('the repository', () => {
  const files = execFileSync('git', ['ls-files'], { cwd: ROOT, encoding: 'utf8' }).trim().split('\n')

  it('leaves out the secret of a development machine', () => {
    expect(read('.gitignore').split('\n')).toContain('.dev.vars')
    expect(files.filter((file) => /(^|\/)\.(dev\.vars|env)$/.test(file))).toEqual([])
  })

  it('names its address in package.json, and the button in docs/deploy.md has the same', () => {
    const { repository } = JSON.parse(read('package.json'))
    expect(repository).toMatch(/^https:\/\/[^/]+\/[^/]+\/[^/]+(?<!\.git)$/)
    const [, button] = /deploy\.workers\.cloudflare\.com\/\?url=([^)]+)/.exec(read('docs/deploy.md')) ?? []
    expect(button).toBe(repository)
    const placeholders = files.filter(
      (file) => /\.(md|json|yml)$/.test(file) && read(file).includes('OWNER/REPOSITORY'),
    )
    expect(placeholders).toEqual(repository.endsWith('/OWNER/REPOSITORY') ? ['docs/deploy.md', 'package.json'] : [])
  })

  it('has exact versions only', () => {
    for (const folder of FOLDERS) {
      const { dependencies, devDependencies, optionalDependencies } = JSON.parse(read(join(folder, 'package.json')))
      for (const version of Object.values({ ...dependencies, ...devDependencies, ...optionalDependencies })) {
        expect(version).toMatch(/^\d+\.\d+\.\d+(-[\w.]+)?$/)
      }
    }
  })

  it('names the actions of its workflows by commit', () => {
    const workflows = files.filter((file) => file.startsWith('.github/workflows/'))
    const actions = workflows.flatMap((file) => Array.from(read(file).matchAll(/uses: (.+)/g), ([, action]) => action))
    expect(actions.length).toBeGreaterThan(5)
    for (const action of actions) expect(action).toMatch(/^[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('lets no install script run, because what it downloads has no checksum in the lock file', () => {
    const { allowScripts } = JSON.parse(read('package.json'))
    expect(allowScripts).toEqual({ esbuild: false, workerd: false })
    const names = Array.from(
      read('docs/dependencies.md').matchAll(/^\| (\S+) \| \d+\.\d+\.\d+ \|$/gm),
      ([, name]) => name,
    )
    expect([...new Set(names)].sort()).toEqual(['esbuild', 'workerd'])
  })

  it('brings the Node that the scripts run on, as a package of the lock file', () => {
    const { optionalDependencies } = JSON.parse(read('package.json'))
    expect([...new Set(Object.values(optionalDependencies))]).toEqual([process.versions.node])
    const { packages } = JSON.parse(read('package-lock.json'))
    for (const name of Object.keys(optionalDependencies)) {
      const { version, os, cpu, bin, hasInstallScript } = packages[`node_modules/${name}`]
      expect([name, version, hasInstallScript]).toEqual([name, process.versions.node, undefined])
      // npm installs the build for this system only, and links it as `node`.
      expect(name).toContain(`${os}`.replace('win32', 'win'))
      expect(name).toContain(`${cpu}`)
      expect(bin).toEqual({ node: expect.stringMatching(/^bin\/node(\.exe)?$/) })
    }
  })

  it('says nothing of the machine that it was written on', () => {
    const texts = files.filter((file) => /\.(ts|md|json|toml|sql|mjs)$/.test(file) && file !== 'package-lock.json')
    const found = texts.filter((file) => /(?<![\w.-])\/(home|Users|work)\/\w+\//.test(read(file)))
    expect(found).toEqual([])
  })

  it('has a migration for every step, in order', () => {
    const numbers = readdirSync(join(ROOT, 'migrations'))
      .filter((file) => file.endsWith('.sql'))
      .map((file) => Number(file.slice(0, 4)))
    expect(numbers).toEqual(numbers.map((_, index) => index))
  })
})

describe('verify:lock', () => {
  /** Runs the check on a copy of the project whose lock file lacks the `integrity` of these packages alone. */
  async function checkLockWithout(paths: readonly string[], args: readonly string[] = [], registry = NOWHERE) {
    const lock = JSON.parse(read('package-lock.json'))
    for (const [path, entry] of Object.entries<Record<string, unknown>>(lock.packages)) {
      if (path.includes('node_modules/') && !entry.link) entry.integrity ??= 'sha512-filled'
      if (paths.includes(path)) delete entry.integrity
    }
    const folder = mkdtempSync(join(tmpdir(), 'workspace-api-lock-'))
    try {
      for (const part of FOLDERS) {
        mkdirSync(join(folder, part), { recursive: true })
        cpSync(join(ROOT, part, 'package.json'), join(folder, part, 'package.json'))
      }
      writeFileSync(join(folder, 'package-lock.json'), JSON.stringify(lock))
      const script = join(ROOT, 'scripts', 'checks', 'lock-complete.ts')
      const options = { cwd: folder, env: { ...process.env, npm_config_registry: registry } }
      const { status, stderr } = await new Promise<{ status: unknown; stderr: string }>((resolve) =>
        execFile(process.execPath, [script, ...args], options, (error, _, stderr) =>
          resolve({ status: error?.code ?? 0, stderr }),
        ),
      )
      const { packages } = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'))
      const integrity = paths.map((path) => packages[path].integrity)
      return { status, integrity, lines: stderr.split('\n').filter((line) => /package-lock.json|@\d/.test(line)) }
    } finally {
      rmSync(folder, { recursive: true })
    }
  }
  const WITHOUT = ['node_modules/hono', 'node_modules/@biomejs/cli-darwin-arm64']
  /** Nothing listens there. */
  const NOWHERE = 'http://127.0.0.1:9'

  it('accepts a lock file whose packages all have integrity', async () => {
    expect(await checkLockWithout([])).toEqual({ status: 0, integrity: [], lines: [] })
    expect(await checkLockWithout([], ['--strict'])).toEqual({ status: 0, integrity: [], lines: [] })
  })

  it('names the packages without integrity in one line: as a warning, and as a failure with --strict', async () => {
    const message =
      'package-lock.json: 2 packages without integrity: @biomejs/cli-darwin-arm64, hono. Where npm reaches the public registry, run: npm run check -- lock --complete'
    const integrity = [undefined, undefined]
    expect(await checkLockWithout(WITHOUT)).toEqual({ status: 0, integrity, lines: [`Warning: ${message}`] })
    expect(await checkLockWithout(WITHOUT, ['--strict'])).toEqual({ status: 1, integrity, lines: [message] })
  })

  it('--complete adds the integrity that the registry has, of the same version', async () => {
    const { packages } = JSON.parse(read('package-lock.json'))
    const { version } = packages['node_modules/hono']
    const server = createServer((request, response) => {
      if (request.url !== '/hono') return response.writeHead(404).end('{}')
      const versions = ['0.0.1', version].map((each) => [
        each,
        { name: 'hono', version: each, dist: { integrity: `sha512-${each}` } },
      ])
      return response.end(
        JSON.stringify({ name: 'hono', 'dist-tags': { latest: '0.0.1' }, versions: Object.fromEntries(versions) }),
      )
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const registry = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const [path, other] = WITHOUT
    expect(await checkLockWithout([String(path)], ['--complete'], registry)).toEqual({
      status: 0,
      integrity: [`sha512-${version}`],
      lines: [],
    })
    expect(await checkLockWithout(WITHOUT, ['--complete'], registry)).toEqual({
      status: 1,
      integrity: [`sha512-${version}`, undefined],
      lines: [
        `@biomejs/cli-darwin-arm64@${packages[String(other)].version}: the registry has no integrity of this package.`,
      ],
    })
    server.close()
  })
})
