import { execFile, execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, describe, expect, it } from 'vitest'
import { parseToken } from '../../src/access/api-key.ts'
import { readConfiguration } from '../../tools/wrangler.ts'
import type { CloudflareApi } from '../support/cloudflare-api.ts'
import { ROOT } from '../support/commands.ts'
import { endProjects, NOWHERE, newAccount, newProject, run, TOML } from '../support/project.ts'

const MIGRATIONS = readdirSync(join(ROOT, 'migrations')).filter((file) => file.endsWith('.sql'))

afterEach(endProjects)

describe('npm run deploy -- --dry-run', () => {
  const dryRun = (...args: string[]) => run('deploy', ['--dry-run', ...args], NOWHERE)

  it.each(['', 'staging'])('lists every resource and step of environment "%s"', async (env) => {
    const keyFiles = () => readdirSync(ROOT).filter((file) => file.startsWith('encryption-keys'))
    const before = keyFiles()
    const { code, printed } = await dryRun(`--env=${env}`)
    const config = readConfiguration({ environment: env })
    const queues = config.queues.consumers?.flatMap((each) => [each.queue, each.dead_letter_queue ?? []].flat())
    const commands = [
      ...config.d1_databases.map(({ database_name }) => `d1 create ${database_name}`),
      ...config.r2_buckets.map(({ bucket_name }) => `r2 bucket create ${bucket_name}`),
      ...new Set(queues?.map((queue) => `queues create ${queue}`)),
      'deploy --dry-run',
      `deploy --secrets-file encryption-keys.${env || 'production'}.json`,
      'deploy',
    ]
    expect(commands).toHaveLength(9)
    for (const command of commands) expect(printed).toContain(`$ npm run wrangler -- ${command} --env=${env}\n`)
    const [mcp, pages] = ['mcp', 'console'].map((folder) => ({
      environment: env,
      config: join(ROOT, folder, 'wrangler.toml'),
    }))
    for (const other of [mcp, pages]) {
      expect(printed).toContain(`$ npm run wrangler -- deploy --config ${other?.config} --env=${env}\n`)
    }
    const words = [
      'Secret ENCRYPTION_KEYS',
      'Read replication of',
      'workers.dev',
      `Worker ${config.name}\n`,
      `Worker ${readConfiguration(mcp ?? {}).name}\n`,
      `Worker ${readConfiguration(pages ?? {}).name}\n`,
      'env.MCP (',
      'env.API (',
      'env.SIGN_IN (',
      'First key',
      'Health',
      ...(config.triggers.crons ?? []).map((cron) => `cron trigger ${cron}`),
      ...config.ratelimits.map(({ name }) => `${name}: `),
      ...Object.keys(config.vars).map((name) => `env.${name} (`),
      ...MIGRATIONS,
    ]
    for (const word of words) expect(printed).toContain(word)
    expect(printed).toMatch(/The configuration is valid\. Nothing was created or changed\.\n$/)
    expect(code).toBe(0)
    expect(keyFiles()).toEqual(before)
  })

  it('takes the settings that wrangler.toml has as comments', async () => {
    const settings = /^# (?=(routes|placement|limits|head_sampling_rate) = )/gm
    expect(TOML.match(settings)).toHaveLength(4)
    const project = newProject(TOML.replaceAll(settings, ''))
    const { code, printed } = await dryRun('--config', project.config)
    for (const word of ['route api.example.com', 'placement: mode smart', 'limit: cpu_ms ']) {
      expect(printed).toContain(word)
    }
    expect(printed).not.toContain('workers.dev')
    expect(code).toBe(0)
    const staging = readConfiguration({ config: project.config, environment: 'staging' })
    expect([staging.routes, staging.placement]).toEqual([[], { mode: 'smart' }])
  })

  it.each([
    ['a wrong value', TOML.replace('crons = ["* * * * *"]', 'crons = 5'), /crons/],
    ['a setting that there is not', `surprise = true\n${TOML}`, /surprise/],
    ['code that is not there', TOML.replace('dist/index.mjs', 'dist/nothing.mjs'), /nothing\.mjs/],
    [
      'run endpoints on this machine',
      TOML.replace('LOCAL_RECEIVERS = "off"', 'LOCAL_RECEIVERS = "on"'),
      /LOCAL_RECEIVERS is "on"/,
    ],
    [
      'a binding to another MCP Worker',
      TOML.replace('service = "workspace-api-mcp"', 'service = "other-mcp"'),
      /mcp.wrangler\.toml does not match wrangler\.toml/,
    ],
    ['no TOML', TOML.replace('[vars]', '[vars'), /toml/i],
  ])('fails for %s', async (_, toml, reason) => {
    const { code, printed } = await dryRun('--config', newProject(toml).config)
    expect(printed).toMatch(reason)
    expect(printed).not.toContain('is valid')
    expect(code).toBe(1)
  })

  it('fails for a console that cannot sign people in', async () => {
    const project = newProject(TOML)
    const toml = readFileSync(join(ROOT, 'console', 'wrangler.toml'), 'utf8')
    mkdirSync(join(project.folder, 'console'))
    writeFileSync(join(project.folder, 'console', 'wrangler.toml'), toml.replace('"SIGN_IN"', '"SIGNIN"'))
    const { code, printed } = await dryRun('--config', project.config)
    expect(printed).toMatch(/console.wrangler\.toml does not match .*bindings API and SIGN_IN of the service/)
    expect(code).toBe(1)
  })

  it('fails for an environment that there is not', async () => {
    const { code, printed } = await dryRun('--env', 'nowhere')
    expect(printed).toContain('nowhere')
    expect(code).toBe(1)
  })
})

describe('npm run deploy', () => {
  const made = (printed: string) => JSON.parse(/^\{.*"(?:apiKey|claimLink)".*\}$/m.exec(printed)?.[0] ?? 'null')
  /** The row that the database has of a claim link. */
  const hashOfLink = async (link: string) => (await parseToken(link.slice(link.indexOf('#') + 1), 'wsc'))?.hash

  /** With the services in another form of TOML. */
  const OTHER_TOML = TOML.replaceAll(/^\[\[services\]\]\n(?:[a-z]+ = .*\n)+/gm, '').replace(
    /^\[assets\]/m,
    `services = [
  { service = 'workspace-api-mcp', 'binding' = 'MCP' }, # a comment
  { service = 'workspace-api-console', 'binding' = 'AUTH', entrypoint = 'Tokens' },
]
[assets]`,
  )

  it('takes an empty account to a running service', async () => {
    const { api, url, deploy, rowsOf } = await newAccount()
    const project = newProject(OTHER_TOML)
    project.addConsole()
    const { printed, code } = await deploy(project)
    expect(printed).toContain('is healthy')
    const consoleUrl = `https://workspace-api-console.${api.subdomain}.workers.dev`
    expect(printed).toContain(`uploaded to https://workspace-api.${api.subdomain}.workers.dev\n`)
    expect(printed).toContain(`uploaded to ${consoleUrl}\n`)
    const addresses = api.uploads.get('workspace-api')?.map(({ bindings }) => {
      return bindings.find(({ name }) => name === 'CONSOLE_URL')
    })
    expect(addresses).toEqual([0, 1].map(() => expect.objectContaining({ text: consoleUrl })))
    const [ofConsole] = api.uploads.get('workspace-api-console') ?? []
    expect(ofConsole?.bindings.find(({ name }) => name === 'API_URL')).toMatchObject({ text: url })
    expect(code).toBe(0)

    const services = (worker: string) =>
      api.uploads
        .get(worker)
        ?.map(({ bindings }) => bindings.filter(({ type }) => type === 'service').map(({ service }) => service))
    expect(['workspace-api', 'workspace-api-mcp', 'workspace-api-console'].map(services)).toEqual([
      [[], ['workspace-api-mcp', 'workspace-api-console']],
      [['workspace-api']],
      [['workspace-api', 'workspace-api']],
    ])
    const [namespace, ...namespaces] = api.namespaces
    expect([namespace?.title, namespaces]).toEqual(['workspace-api-console-oauth', []])
    expect(ofConsole?.bindings).toContainEqual({ type: 'kv_namespace', name: 'OAUTH_KV', namespace_id: namespace?.id })
    expect(ofConsole?.bindings.find(({ name }) => name === 'CONSOLE_URL')).toMatchObject({ text: consoleUrl })
    expect(ofConsole?.bindings).toContainEqual(expect.objectContaining({ name: 'SIGN_IN', entrypoint: 'SignIn' }))
    expect(readdirSync(project.folder).filter((file) => file.includes('without-mcp'))).toEqual([])

    expect(api.databases.map(({ name }) => name)).toEqual(['workspace-api'])
    expect(api.buckets).toEqual(['workspace-api-objects'])
    expect(api.queues).toEqual([
      'workspace-api-deliveries',
      'workspace-api-deliveries-slow',
      'workspace-api-ticks',
      'workspace-api-deliveries-dead',
    ])
    const consumer = { script_name: 'workspace-api', dead_letter_queue: 'workspace-api-deliveries-dead' }
    expect([...api.consumers].sort()).toMatchObject([
      ['workspace-api-deliveries', { ...consumer, settings: { batch_size: 1 } }],
      [
        'workspace-api-deliveries-dead',
        { script_name: 'workspace-api', settings: { batch_size: 100, max_concurrency: 1 } },
      ],
      ['workspace-api-deliveries-slow', { ...consumer, settings: { batch_size: 1, max_concurrency: 5 } }],
      ['workspace-api-ticks', { script_name: 'workspace-api', settings: { batch_size: 1 } }],
    ])
    expect(api.schedules.get('workspace-api')).toEqual([{ cron: '* * * * *' }])
    expect(rowsOf('d1_migrations').map(({ name }) => name)).toEqual(MIGRATIONS)

    const { ENCRYPTION_KEYS } = project.keys()
    expect(ENCRYPTION_KEYS).toMatch(/^key-\d+:[A-Za-z0-9+/]{43}=$/)
    expect(statSync(join(project.folder, 'encryption-keys.production.json')).mode & 0o777).toBe(0o600)
    const [upload] = api.uploads.get('workspace-api') ?? []
    expect(upload?.bindings).toContainEqual({
      type: 'secret_text',
      name: 'ENCRYPTION_KEYS',
      text: ENCRYPTION_KEYS,
    })
    expect(upload?.bindings).toContainEqual({ type: 'd1', name: 'DB', id: api.databases[0]?.uuid })
    expect(printed).not.toContain(ENCRYPTION_KEYS)
    const uploaded = api.calls.indexOf('PUT /workers/scripts/workspace-api')
    const migrated = api.calls.findIndex((call) => call.endsWith('/query'))
    expect(migrated).toBeGreaterThan(-1)
    expect(migrated).toBeLessThan(uploaded)

    const { organizationId, userId, claimLink } = made(printed)
    expect(printed).not.toContain('wsk_')
    expect(claimLink).toMatch(new RegExp(`^${url}/claim#wsc_`))
    expect(userId).toBeNull()
    expect(rowsOf('organizations')).toMatchObject([{ id: organizationId, name: 'Workspace' }])
    expect(rowsOf('apiKeys')).toMatchObject([{ organizationId, userId: null, hash: await hashOfLink(claimLink) }])
    const [link] = rowsOf('apiKeys')
    expect(Date.parse(String(link?.expiresAt)) - Date.parse(String(link?.createdAt))).toBe(3_600_000)
    expect(readFileSync(project.config, 'utf8')).toBe(OTHER_TOML)
  })

  it('deploys in a build of Cloudflare, which has created resources and named them in wrangler.toml', {
    tags: 'slow',
  }, async () => {
    const { api, variables, rowsOf, deployOnTerminal } = await newAccount()
    const ofBuild = (worker: string) => ({
      ...variables,
      CI: 'true',
      WORKERS_CI: '1',
      CLOUDFLARE_ACCOUNT_ID: '0123456789abcdef0123456789abcdef',
      WRANGLER_CI_OVERRIDE_NAME: worker,
      WRANGLER_CI_MATCH_TAG: `tag of ${worker}`,
    })
    const url = String(variables.CLOUDFLARE_API_BASE_URL)
    const uuid = api.provide('workspace-api', {
      buckets: ['workspace-api-objects'],
      queues: ['workspace-api-deliveries'],
    })
    const project = newProject(
      TOML.replace('database_name = "workspace-api"\n', `database_name = "workspace-api"\ndatabase_id = "${uuid}"\n`),
    )
    project.addConsole()
    const args = ['--config', project.config, '--url', url]

    const other = await run('deploy', args, ofBuild('acme'))
    expect(other.printed).toContain('This is a build of the Worker "acme", but wrangler.toml names "workspace-api".')
    expect([other.code, api.uploads.size]).toEqual([1, 0])

    const first = await run('deploy', args, ofBuild('workspace-api'))
    expect(first.printed).toContain('is healthy')
    expect(first.printed).toContain('The file ends with this build')
    expect(first.printed).not.toContain('wsk_')
    expect(api.databases.map((each) => each.uuid)).toEqual([uuid])
    expect([api.buckets.length, api.queues.length]).toEqual([1, 4])
    const bound = (worker: string) =>
      api.uploads
        .get(worker)
        ?.at(-1)
        ?.bindings.map(({ name }) => name)
    expect(bound('workspace-api')).toEqual(expect.arrayContaining(['DB', 'MCP', 'AUTH']))
    expect(bound('workspace-api-mcp')).toEqual(['API'])
    expect(bound('workspace-api-console')).toEqual(expect.arrayContaining(['API', 'SIGN_IN', 'OAUTH_KV']))

    // Nobody has used the link, so the next build makes another one, and the first one ends.
    const links = [first, await run('deploy', args, ofBuild('workspace-api'))].map(
      ({ printed }) => made(printed).claimLink,
    )
    const hashes = await Promise.all(links.map(hashOfLink))
    const [ended, live] = hashes.map((expected) => rowsOf('apiKeys').find(({ hash }) => hash === expected))
    expect([ended?.revokedAt, live?.revokedAt]).toEqual([expect.any(String), null])
    const secrets = Object.fromEntries(api.secrets.get('workspace-api') ?? [])
    expect(secrets).toEqual(project.keys())

    // On a terminal, the key itself is printed.
    const { apiKey, organizationId } = made(await deployOnTerminal(project))
    const hash = (await parseToken(apiKey))?.hash
    expect(rowsOf('apiKeys').find((row) => row.hash === hash)).toMatchObject({ organizationId, expiresAt: null })
    const last = await run('deploy', args, ofBuild('workspace-api'))
    expect(last.printed).toContain('First key: skipped: an organization exists')
    expect(rowsOf('organizations')).toHaveLength(1)
  })

  /** With its console, whose address is the stand-in's too. */
  async function deployed() {
    const account = await newAccount()
    const project = newProject(TOML.replace('\n[vars]\n', `\n[vars]\nCONSOLE_URL = "${account.url}"\n`))
    project.addConsole()
    expect((await account.deploy(project)).code).toBe(0)
    return { ...account, project }
  }
  const WORKERS = ['workspace-api', 'workspace-api-mcp', 'workspace-api-console']

  it('asks the new version of each Worker, and leaves what works', async () => {
    const { api, url, deploy, project } = await deployed()
    const before = WORKERS.map((name) => api.served.get(name))
    const { code, printed } = await deploy(project)
    expect([code, printed]).toEqual([
      0,
      expect.stringContaining(
        `Health: ${url} is healthy; ${url}/mcp answers; ${url}/.well-known/oauth-authorization-server answers\n`,
      ),
    ])
    for (const [index, name] of WORKERS.entries()) {
      const [version] = api.served.get(name) ?? []
      expect(version?.version_id).not.toBe(before[index]?.[0]?.version_id)
    }
    const asked = `workspace-api="${api.served.get('workspace-api')?.[0]?.version_id}"`
    expect(api.overrides).toContain(asked)
  })

  it('goes back to what served before, whatever fails', { tags: 'slow' }, async () => {
    const { api, deploy, project } = await deployed()
    const failing = (call: string | RegExp | ((named: string) => boolean)) => () => {
      api.failing = { call, status: 400 }
    }
    const set = (values: Partial<Pick<CloudflareApi, 'isHealthy' | 'mcpStatus' | 'consoleStatus'>>) => () =>
      void Object.assign(api, values)
    const sql = (text: string) => () => void api.databases[0]?.sqlite.exec(text)
    const index = 'CREATE INDEX `pinsByResource` ON `pins` (`organizationId`,`resourceType`,`resourceId`)'
    // How many Workers go back: the last one that was uploaded first.
    const cases: [what: string, fail: () => void, step: string, taken: number, repair?: () => void][] = [
      ['the API is not healthy', set({ isHealthy: false }), 'Health', 3, set({ isHealthy: true })],
      ['the MCP Worker fails', set({ mcpStatus: 502 }), 'Health', 3, set({ mcpStatus: 401 })],
      ['the console fails', set({ consoleStatus: 500 }), 'Health', 3, set({ consoleStatus: 200 })],
      [
        'MCP is not uploaded',
        failing('POST /workers/scripts/workspace-api-mcp/versions'),
        'Worker workspace-api-mcp',
        1,
      ],
      [
        'the console is not uploaded',
        failing('POST /workers/scripts/workspace-api-console/versions'),
        'Worker workspace-api-console',
        2,
      ],
      ['the API is not uploaded', failing('POST /workers/scripts/workspace-api/versions'), 'Worker workspace-api', 0],
      ['cron triggers are refused', failing('PUT /workers/scripts/workspace-api/schedules'), 'Worker workspace-api', 1],
      ['a consumer is refused', failing(/^PUT \/queues\/.*consumers/), 'Worker workspace-api', 1],
      ['the schema differs', sql('DROP INDEX "pinsByResource"'), 'Migrations', 0, sql(index)],
      ['a bucket is refused', failing('GET /r2/buckets/workspace-api-objects'), 'R2 bucket workspace-api-objects', 0],
    ]
    const before = WORKERS.map((name) => api.served.get(name))
    for (const [what, fail, step, taken, repair] of cases) {
      fail()
      const { code, printed } = await deploy(project)
      repair?.()
      api.failing = undefined
      const failed = /^\d+\/\d+ (.*): failed$/m.exec(printed)?.[1]
      expect([what, code, failed]).toEqual([what, 1, step])
      expect([what, WORKERS.map((name) => api.served.get(name))]).toEqual([what, before])
      const back = WORKERS.slice(0, taken).map(
        (name, at) => `${name} serves version ${before[at]?.[0]?.version_id} again`,
      )
      expect([what, printed.split('\n').filter((line) => line.endsWith(' again'))]).toEqual([what, back.reverse()])
      expect([what, printed.includes('What these steps changed otherwise stays')]).toEqual([what, taken > 0])
    }

    // What cannot go back is named, with what to type, and the others go back.
    api.consoleStatus = 500
    let deployments = 0
    // The first is wrangler's.
    failing((named) => named === 'POST /workers/scripts/workspace-api-mcp/deployments' && ++deployments === 2)()
    const { code, printed } = await deploy(project)
    expect([code, printed]).toEqual([
      1,
      expect.stringMatching(
        /Worker workspace-api-mcp could not go back \(.*A failure on purpose.*\): npm run wrangler -- rollback/,
      ),
    ])
    expect(printed).toMatch(/^workspace-api serves version .* again$/m)
  })

  it('--check compares the account with the configuration, and changes nothing', { tags: 'slow' }, async () => {
    const { api, deploy } = await newAccount()
    // A list of tables, as the identity providers of the console are.
    const project = newProject(TOML.replace('\n[vars]\n', '\n[vars]\nTABLES = [{ id = "okta" }]\n'))
    project.addConsole()
    const check = async () => {
      const before = api.calls.length
      const { code, printed } = await deploy(project, '--check')
      const changing = api.calls.slice(before).filter((call) => !/^GET |\/query$/.test(call))
      const differing = printed.split('\n').filter((line) => /^(?!Account)[^.]+: (?!as configured)/.test(line))
      return { code, printed, differing, changing }
    }
    const empty = await check()
    expect([empty.code, empty.changing, api.databases.length]).toEqual([1, [], 0])
    expect(empty.differing).toContain('Worker workspace-api: missing. Run npm run deploy.')

    expect((await deploy(project)).code).toBe(0)
    const { printed, ...rest } = await check()
    expect([rest, printed.split('\n').length]).toEqual([{ code: 0, differing: [], changing: [] }, 26])
    expect(printed).toContain('Everything is as configured.')
    expect(printed).toContain('This check does not compare the values of secrets, static files, routes,')

    const bindings = (worker: string) => api.uploads.get(worker)?.at(-1)?.bindings ?? []
    const without = <Item>(list: Item[], isGone: (item: Item) => boolean) => {
      const index = list.findIndex(isGone)
      const gone = list.splice(index, 1)
      return () => void list.splice(index, 0, ...gone)
    }
    const replacing = <Key, Value>(map: Map<Key, Value>, key: Key, value?: Value) => {
      const had = map.get(key) as Value
      if (value === undefined) map.delete(key)
      else map.set(key, value)
      return () => void map.set(key, had)
    }
    const codeOf = (worker: string) => api.modules.get(worker)?.get('index.js') ?? ''
    const [DEAD, SLOW, CONSOLE] = [
      'workspace-api-deliveries-dead',
      'workspace-api-deliveries-slow',
      'workspace-api-console',
    ] as const
    const assigning = <Target extends object>(target: Target | undefined, values: Partial<Target>) => {
      if (!target) throw new Error('There is nothing to change')
      const had = { ...target }
      Object.assign(target, values)
      return () => void Object.assign(target, had)
    }
    const bindingOf = (name: string) => bindings('workspace-api').find((each) => each.name === name)
    const [upload, slow, database] = [
      api.uploads.get('workspace-api')?.at(-1),
      api.consumers.get(SLOW),
      api.databases[0],
    ]
    if (!upload || !slow || !database) throw new Error('There is no deployment')
    /** What is broken at the same time, and the lines that tell it. */
    const rounds: [(() => () => void)[], string[]][] = [
      [
        [
          () => assigning(database, { read_replication: { mode: 'auto' } }),
          () => {
            database.sqlite.exec('DELETE FROM "d1_migrations"')
            const insert = database.sqlite.prepare('INSERT INTO "d1_migrations" ("name") VALUES (?)')
            return () => MIGRATIONS.forEach((name) => void insert.run(name))
          },
          () => without(api.buckets, () => true),
          () => {
            const settings = { ...slow.settings, batch_size: 10, max_retries: 3, retry_delay: 0, max_concurrency: null }
            return replacing(api.consumers, SLOW, { ...slow, dead_letter_queue: 'other', settings })
          },
          () => without(api.queues, (name) => name === DEAD),
          () => assigning(upload, { compatibility_flags: ['nodejs_compat'] }),
          () => assigning(upload, { observability: { enabled: true, logs: { enabled: true, invocation_logs: true } } }),
          () => assigning(bindingOf('PIN_LIMIT'), { text: '51' }),
          () => assigning(bindingOf('AUTH'), { entrypoint: 'Other' }),
          () => assigning(bindingOf('KEY_RATE_LIMIT'), { simple: { limit: 1, period: 60 } }),
          () => without(bindings('workspace-api'), ({ name }) => name === 'MCP'),
          () => replacing(api.secrets, 'workspace-api', new Map()),
          () => replacing(api.schedules, 'workspace-api', [{ cron: '* * * * *' }, { cron: '0 0 * * *' }]),
          () => {
            api.shared.add('workspace-api-mcp')
            return () => api.shared.clear()
          },
          () => replacing(api.modules, CONSOLE, new Map([['index.js', `${codeOf(CONSOLE)} `]])),
          () => assigning(api, { version: '0.9.0' }),
        ],
        [
          'Read replication of workspace-api: is auto, and the configuration says disabled.',
          `Migrations of workspace-api: missing: ${MIGRATIONS.join(', ')}.`,
          'R2 bucket workspace-api-objects: missing.',
          `Queue ${SLOW}: its consumer has dead_letter_queue other instead of ${DEAD}, max_batch_size 10 instead of 1, max_retries 3 instead of 5, retry_delay 0 instead of 30, max_concurrency null instead of 5.`,
          `Queue ${DEAD}: missing.`,
          'Worker workspace-api: these settings and bindings are missing or have another value: compatibility_flags, observability, PIN_LIMIT, MCP, AUTH, KEY_RATE_LIMIT.',
          'Secret ENCRYPTION_KEYS of workspace-api: missing. If this deployment had one, put encryption-keys.production.json back',
          'Cron Triggers of workspace-api: not in the configuration: 0 0 * * *.',
          'Deployed version of workspace-api-mcp: 2 versions share the requests.',
          `Code of ${CONSOLE}: is not the code of this folder.`,
          'Version of the code: is 0.9.0, and this folder has ',
        ],
      ],
      [
        [
          () => replacing(api.consumers, DEAD),
          () => replacing(api.schedules, 'workspace-api'),
          () => {
            const modules = api.modules.get('workspace-api') ?? new Map()
            const [last] = [...modules.keys()].filter((name) => name !== 'index.mjs' && name.endsWith('.mjs'))
            return replacing(api.modules, 'workspace-api', new Map([...modules, [String(last), 'other']]))
          },
          () => replacing(api.modules, 'workspace-api-mcp', new Map([['index.js', 'other']])),
          () => assigning(api, { isHealthy: false }),
        ],
        [
          `Queue ${DEAD}: its consumer workspace-api is missing.`,
          'Code of workspace-api: is not the code of this folder.',
          'Cron Triggers of workspace-api: missing: * * * * *.',
          'Code of workspace-api-mcp: is not the code of this folder.',
          'Health: ',
          'Version of the code: ',
        ],
      ],
    ]
    for (const [breakages, expected] of rounds) {
      const repairs = breakages.map((breakIt) => breakIt())
      const { code, differing, changing } = await check()
      for (const repair of repairs.toReversed()) repair()
      const lines = expected.map((line) => expect.stringContaining(line))
      expect([code, changing, differing]).toEqual([1, [], expect.arrayContaining(lines)])
      expect(differing).toHaveLength(lines.length)
    }
    expect((await check()).code).toBe(0)
  })

  it('leaves nothing after the commands of "Leave" in docs/day-2.md', { tags: 'slow' }, async () => {
    const { api, deploy, variables } = await newAccount()
    const project = newProject()
    project.addConsole()
    expect((await deploy(project)).code).toBe(0)
    const page = readFileSync(join(ROOT, 'docs', 'day-2.md'), 'utf8')
    const leave = page.slice(page.indexOf('## Leave')).replace('<database_name in wrangler.toml>', 'workspace-api')
    const commands = Array.from(leave.matchAll(/npm run wrangler -- (.*?)(?=`|$)/gm), ([, args = '']) => args)
    const wrangler = join(ROOT, 'node_modules', 'wrangler', 'bin', 'wrangler.js')
    for (const args of commands) {
      // With CI set, wrangler takes a yes for each question.
      const env = { ...process.env, ...variables, CI: 'true' }
      await promisify(execFile)(process.execPath, [wrangler, ...args.split(' ')], { cwd: ROOT, env })
    }
    const { uploads, databases, queues, buckets, namespaces } = api
    expect([[...uploads.keys()], databases, queues, buckets, namespaces]).toEqual([[], [], [], [], []])
  })

  it('creates staging for a user with read replication, and upgrades it when run again', {
    tags: 'slow',
  }, async () => {
    const { api, deploy, rowsOf, variables } = await newAccount()
    const project = newProject(TOML.replaceAll('READ_REPLICATION = "off"', 'READ_REPLICATION = "on"'))
    const args = ['--env', 'staging', '--organization', 'Acme', '--user', 'ada', '--subdomain', 'acme']
    const { printed } = await deploy(project, ...args)
    expect(printed).toContain('is healthy')
    expect(api.databases).toMatchObject([{ name: 'workspace-api-staging', read_replication: { mode: 'auto' } }])
    expect([...api.uploads.keys()]).toEqual(['workspace-api-staging', 'workspace-api-mcp-staging'])
    expect(api.subdomain).toBe('acme')
    const keys = project.keys('staging')
    expect(keys).toHaveProperty('ENCRYPTION_KEYS')
    const { organizationId } = made(printed)
    expect(rowsOf('organizations')).toMatchObject([{ id: organizationId, name: 'Acme' }])
    expect(rowsOf('users')).toMatchObject([{ organizationId, id: 'ada' }])

    const key = ['--organization-id', organizationId, '--user', 'grace', '--remote']
    const further = await run('operate bootstrap', [...key, '--env', 'staging'], variables)
    expect(made(further.printed)).toMatchObject({ organizationId, userId: 'grace' })
    const elsewhere = await run('operate bootstrap', key, variables)
    expect([elsewhere.code, rowsOf('apiKeys').length]).toEqual([1, 2])

    const resources = () => {
      const { databases, buckets, queues, subdomain, secrets } = api
      return structuredClone({ ids: databases.map(({ uuid }) => uuid), buckets, queues, subdomain, secrets })
    }
    const before = resources()
    writeFileSync(project.config, TOML)
    const upgraded = await deploy(project, '--env', 'staging')
    expect(upgraded.printed).toContain('is healthy')
    expect(made(upgraded.printed)).toBeNull()
    expect(resources()).toEqual(before)
    const [, , upgrade, ...others] = api.uploads.get('workspace-api-staging') ?? []
    expect(others).toEqual([])
    expect(upgrade?.bindings).toContainEqual(expect.objectContaining({ service: 'workspace-api-mcp-staging' }))
    expect(upgrade?.bindings.map(({ name }) => name)).not.toContain('ENCRYPTION_KEYS')
    expect([rowsOf('organizations').length, rowsOf('apiKeys').length]).toEqual([1, 2])
    expect(project.keys('staging')).toEqual(keys)
    expect(readFileSync(project.config, 'utf8')).toBe(TOML)
    expect(api.databases[0]?.read_replication).toEqual({ mode: 'disabled' })
  })

  it('says which step failed, and continues from there when run again', { tags: 'slow' }, async () => {
    const { api, deploy, rowsOf } = await newAccount()
    const project = newProject()
    project.addConsole()
    const failAt = async (call: string, status: number, title: string) => {
      api.failing = { call, status }
      const { code, printed } = await deploy(project)
      expect(printed).toMatch(new RegExp(`^\\d+/\\d+ ${title}: failed$`, 'm'))
      expect(printed).toContain('A failure on purpose')
      expect(printed).toContain('run the same command again')
      expect(code).toBe(1)
    }
    await failAt('POST /queues', 500, 'Queue workspace-api-deliveries')
    expect([api.buckets.length, api.queues.length]).toEqual([1, 0])
    await failAt('PUT /workers/scripts/workspace-api', 400, 'Worker workspace-api')
    expect([api.uploads.size, rowsOf('organizations').length]).toEqual([0, 0])
    const keys = project.keys()
    // The namespace is there, and Cloudflare would refuse another one of its title.
    await failAt('PUT /workers/scripts/workspace-api-console', 400, 'Worker workspace-api-console')
    expect(api.namespaces).toHaveLength(1)

    const { printed } = await deploy(project)
    expect(printed).toContain('is healthy')
    expect([api.databases.length, api.buckets.length, api.queues.length]).toEqual([1, 1, 4])
    expect(api.namespaces).toHaveLength(1)
    expect(Object.fromEntries(api.secrets.get('workspace-api') ?? [])).toEqual(keys)
    expect(rowsOf('organizations')).toHaveLength(1)
  })

  it('creates no key in the place of one that stored values need', async () => {
    const [project, { api, deploy }] = [newProject(), await newAccount()]
    expect((await deploy(project)).code).toBe(0)
    const file = join(project.folder, 'encryption-keys.production.json')
    const keys = project.keys()
    rmSync(file)
    api.secrets.set('workspace-api', new Map())
    api.databases[0]?.sqlite.exec(
      `INSERT INTO "runEndpoints" ("organizationId", "url", "sealedSecret", "createdAt", "updatedAt")
        VALUES ('acme', 'https://acme.example/runs', 'v1.key.sealed', '2026-01-01', '2026-01-01')`,
    )
    const { code, printed } = await deploy(project)
    expect(printed).toContain('The Worker has no ENCRYPTION_KEYS, but the database workspace-api has values')
    expect([code, api.secrets.get('workspace-api')?.size]).toEqual([1, 0])
    writeFileSync(file, JSON.stringify(keys))
    expect((await deploy(project)).code).toBe(0)
    expect(Object.fromEntries(api.secrets.get('workspace-api') ?? [])).toEqual(keys)
  })

  it('says what to do if nobody is logged in', async () => {
    const { code, printed } = await run('deploy', ['--config', newProject().config], {
      ...NOWHERE,
      XDG_CONFIG_HOME: newProject().folder,
    })
    expect(printed).toContain('npm run wrangler -- login')
    expect(printed).toContain('CLOUDFLARE_API_TOKEN')
    expect(code).toBe(1)
  })

  it('leaves the secret out of git', () => {
    const file = 'encryption-keys.production.json'
    expect(execFileSync('git', ['check-ignore', file], { cwd: ROOT, encoding: 'utf8' }).trim()).toBe(file)
  })
})
