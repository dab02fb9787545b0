/** Every command of `workspace --help`, with the service, as in the day of a user. A new command needs a step here. */
import { mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT, runWorkspace, type WorkspaceLogin } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { signInOf } from '../../test/support/identities.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { describedCommands } from './support/help.ts'
import { entry, writeFiles } from './support/skill-folders.ts'

const folder = newFolder()
const receiver = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(request.url === '/broken' ? 500 : 202).end())
})
let service: SharedService
let login: WorkspaceLogin
let receiverUrl: string
let agent: string
let session: string
const LOGGED_IN = { url: '', apiKey: '' }
const AGENT = '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901'

beforeAll(async () => {
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve))
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  service = await sharedService()
  login = { url: service.url, apiKey: (await service.addOrganization()).apiKey }
  // Pins belong to a user.
  await run(['users', 'put', 'ada', '--name', 'Ada'], /^created/)
  const { scopes } = JSON.parse(await run(['whoami', '--json'], /scopes/)).apiKey
  const key = await run(['keys', 'create', 'laptop', '--user', 'ada', '--scope', ...scopes], /^Created/)
  login = { ...login, apiKey: key.trim() }
  writeFiles(folder, {
    'skills/notes/SKILL.md': entry('notes'),
    'schedules/nightly.yaml': "project: website\nname: Nightly build\ncron: '@daily'\ntimezone: UTC\n",
    'schedules/weekly.yaml': "project: website\nname: Weekly report\ncron: '@weekly'\ntimezone: UTC\n",
    'report.txt': 'A report.\n',
    '.env': 'GREETING=hello\n',
  })
  mkdirSync(join(folder, 'pulled'))
})
afterAll(async () => {
  receiver.close()
  rmSync(folder, { recursive: true })
})

const commandsRun: string[][] = []
/** The lists whose tables have a column of IDs, and those from which IDs were taken. */
const lists = { withIds: new Set<string>(), taken: new Set<string>() }
/** IDs as tables printed them. */
const printedIds = new Set<string>()

const nameOf = (args: readonly string[]) => args.slice(0, args.findIndex((arg) => arg.startsWith('-')) >>> 0).join(' ')
const cellsOf = (line = '') => line.split(/ {2,}/)

interface Given {
  readonly input?: string
  readonly as?: WorkspaceLogin
}

/** Runs a command that succeeds. @returns what it printed on standard output. */
async function run(args: readonly string[], expected: RegExp, { input, as = login }: Given = {}): Promise<string> {
  commandsRun.push([...args])
  const { status, stdout, stderr } = await runWorkspace(args, as, { XDG_CONFIG_HOME: folder }, folder, input)
  expect([args, status, stderr + stdout]).toEqual([args, 0, expect.stringMatching(expected)])
  if (cellsOf(stdout.split('\n')[0]).includes('ID')) lists.withIds.add(nameOf(args))
  return stdout
}

/** @returns the ID that a list prints for the thing with this text in its row. */
async function listed(args: readonly string[], text: string, expected = /^/): Promise<string> {
  const [headings, ...rows] = (await run(args, expected)).split('\n').map(cellsOf)
  const id = rows.find((cells) => cells.includes(text))?.[headings?.indexOf('ID') ?? 0]
  if (id === undefined) throw new Error(`${args.join(' ')} has no ID of ${text}`)
  printedIds.add(id)
  lists.taken.add(nameOf(args))
  return id
}

describe('every command', () => {
  it('of logins', async () => {
    const input = login.apiKey
    await run(['login', '--url', service.url, '--profile', 'work'], /^Logged in to /, { input, as: LOGGED_IN })
    await run(['login', '--url', service.url], /^Logged in to .*login\.json\.$/m, { input, as: LOGGED_IN })
    await run(['profiles'], /^default +http\S+ +yes\nwork +http\S+ +-$/m, { as: LOGGED_IN })
    await run(['whoami', '--profile', 'work'], /^user +Ada/m, { as: LOGGED_IN })
    await run(['logout', '--profile', 'work'], /^Removed .*login\.work\.json\./, { as: LOGGED_IN })
    await run(['whoami'], /^user +Ada/m, { as: LOGGED_IN })
    await run(['completion', 'bash'], /workspace complete --/)
  })

  it('of projects, agents, sessions, pull requests and users', async () => {
    await run(['projects', 'put', 'website', '--name', 'Website'], /^created {3}website, Website$/m)
    await run(['projects', 'put', 'website', '--name', 'Web shop'], /^updated {3}website, Web shop$/m)
    await run(['projects', 'put', 'website', '--name', 'Web shop', '--description', 'Sells shoes.'], /^updated/)
    await run(['projects', 'update', 'Web shop', '--name', 'Shop'], /^updated {3}website, Shop$/m)
    await run(['projects', 'list', '-o', 'wide'], /^website +Shop .*Sells shoes\.$/m)
    await run(
      ['projects', 'update', 'Shop', '--name', 'Web shop', '--no-description'],
      /^updated {3}website, Web shop$/m,
    )
    await run(['projects', 'put', 'old', '--name', 'Old'], /^created/)
    await run(['projects', 'archive', 'Old'], /^Archived old\.$/m)
    const old = await listed(['projects', 'list'], 'Old', /^old +Old +\d+ (s|min) ago +\d+ (s|min) ago$/m)
    await run(['projects', 'unarchive', old], /^Unarchived old\.$/m)
    await run(['projects', 'update', old, '--description', 'Nobody uses it.'], /^updated {3}old, Old$/m)
    await run(['projects', 'archive', old], /^Archived old\.$/m)
    await run(['projects', 'delete', old], /^Deleted old\.$/m)
    const deleted = ['deletions', 'list', '--type', 'project']
    const deletion = await listed(deleted, 'Old', /project +Old +\d+ s ago +in 6 days$/m)
    await run(['deletions', 'restore', deletion], /^Restored the project Old\.$/m)
    await run(['projects', 'delete', 'Old'], /^Deleted old\.$/m)
    await run(['deletions', 'purge', await listed(deleted, 'Old'), '--yes'], /^Purged the project Old\.$/m)
    await run(['agents', 'put', AGENT, '--name', 'Reviewer'], /^created/)
    agent = await listed(['agents', 'list', '--query', 'VIEW'], 'Reviewer')
    await run(['agents', 'update', agent, '--description', 'Reads pull requests.'], /^updated/)
    await run(['agents', 'archive', agent], /^Archived/)
    await run(['agents', 'unarchive', agent], /^Unarchived/)
    const created = await run(['sessions', 'put', '--name', 'Checkout', '--project', 'web shop'], /^created/)
    const sessionId = /^created {3}(\S+), /.exec(created)?.[1] ?? expect.fail(created)
    await run(['sessions', 'put', '--name', 'Icons', '--project', 'website'], /^created/)
    await run(['sessions', 'list', '--project', 'Web shop', '-o', 'wide'], new RegExp(`Icons.*\n${sessionId} `))
    await run(['pull-requests', 'put', '--name', 'Apple Pay', '--project', 'website'], /^created/)
    await run(['pull-requests', 'list'], /Apple Pay +website /)
    await run(['users', 'put', 'grace', '--name', 'Grace'], /^created {3}grace, Grace$/m)
    const user = await listed(['users', 'list', '--utc'], 'Grace', /^grace +Grace +\d{4}-\d\d-\d\dT\S+Z$/m)
    await run(['users', 'delete', user], /^Deleted grace\.$/m)
  })

  it('of pins', async () => {
    // Another session began in the same minute, so its ID begins with the same characters.
    session = await listed(['sessions', 'list', '--query', 'checkout'], 'Checkout')
    await run(['pins', 'add', `session/${session}`], /^Pinned Checkout\.$/m)
    await run(['pins', 'add', 'pull-request/Apple Pay'], /^Pinned Apple Pay\.$/m)
    const pin = await listed(['pins', 'list'], 'Apple Pay', /Checkout.*\n.*pull-request +Apple Pay/)
    await run(['pins', 'move', pin, '--before', 'session/checkout'], /^Moved Apple Pay before Checkout\.$/m)
    await run(['pins', 'list'], /Apple Pay.*\n.*Checkout/)
    await run(['pins', 'remove', 'Checkout', pin], /^Unpinned Checkout\.\nUnpinned Apple Pay\.$/m)
  })

  it('of environment variables', async () => {
    const project = ['--project', 'Web shop']
    await run(['env', 'push', '.env', ...project], /^created {3}GREETING$/m)
    await run(['env', 'set', 'TOKEN', ...project], /^created {3}TOKEN$/m, { input: 'secret' })
    await run(['env', 'list', ...project], /^TOKEN +\d+ (s|min) ago/m)
    const scope = ['--scope', 'environment-variables:lease', '--project', 'website']
    const as = { ...login, apiKey: (await run(['keys', 'create', 'lease', ...scope], /^Created/)).trim() }
    const print = ['--', process.execPath, '-p', 'process.env.TOKEN']
    await run(['env', 'run', '--project', 'website', ...print], /^secret$/m, { as })
    await run(['env', 'pull', 'pulled/.env', '--project', 'website'], /^Wrote 2 variables to pulled\/\.env\.$/m, { as })
    expect(readFileSync(join(folder, 'pulled', '.env'), 'utf8')).toBe('GREETING=hello\nTOKEN=secret\n')
    await run(['env', 'delete', 'TOKEN', ...project], /^Deleted TOKEN\.$/m)
  })

  it('of schedules, runs and the run endpoint', async () => {
    await run(['schedules', 'preview', '@daily', '--count', '1'], /T00:00:00\.000Z/)
    await run(['schedules', 'apply', 'schedules'], /^created {3}nightly\.yaml\ncreated {3}weekly\.yaml$/m)
    await run(['schedules', 'pause', 'nightly build'], /^Paused Nightly build\.$/m)
    const nightly = ['schedules', 'list', '--query', 'nightly']
    const schedule = await listed(nightly, 'Nightly build', /Nightly build +@daily +paused/)
    await run(['schedules', 'resume', schedule, '--project', 'Web shop'], /^Resumed Nightly build\.$/m)
    await run(['schedules', 'pause', schedule], /^Paused Nightly build\.$/m)
    await run(['schedules', 'resume', schedule], /^Resumed Nightly build\.$/m)
    await run(['schedules', 'show', schedule, '--utc'], /^next run +\d{4}-\d\d-\d\dT00:00:00\.000Z$/m)
    const start = () => run(['schedules', 'run', schedule], /^Created the run/)
    await start()
    const pending = ['runs', 'list', '--schedule', schedule, '--status', 'pending']
    const first = await listed(pending, 'Nightly build', /Nightly build +\d+ (s|min) ago +pending/)
    await run(['runs', 'show', first.slice(0, 13)], /^status +pending$/m)
    await run(['runs', 'show', first], /^status +pending$/m)
    await run(['runs', 'complete', first, 'succeeded', '--session', session], /has succeeded\.$/m)
    await run(['schedules', 'list'], /Nightly build +@daily +in .* succeeded$/m)
    await start()
    await run(['runs', 'work', '--once', '--', 'true'], /^succeeded .*Nightly build$/m)

    const secret = await run(
      ['run-endpoint', 'set', `${receiverUrl}/runs`],
      /^Set http.* Its secret is shown only now:/,
    )
    await run(['run-endpoint', 'show'], /^URL +http/m)
    await run(['run-endpoint', 'set', `${receiverUrl}/runs`], /Its secret stays the same\.$/m)
    await run(['run-endpoint', 'test', schedule], /^HTTP 202 \(\d+ ms\)$/m)
    expect(await run(['run-endpoint', 'rotate', '--overlap', '0'], /whsec_/)).not.toBe(secret)
    await start()
    // The latest of several runs of one minute.
    const sent = await listed(['runs', 'list', '--limit', '1'], 'Nightly build')
    await run(['runs', 'redeliver', sent], /is in the queue\.$/m)
    await run(['run-endpoint', 'delete'], /^Deleted the run endpoint\.$/m)

    rmSync(join(folder, 'schedules', 'weekly.yaml'))
    const prune = ['schedules', 'apply', 'schedules', '--prune']
    await run([...prune, '--dry-run'], /^to delete \S{36}, Weekly report\nNothing was changed: this was a dry run\.$/m)
    await run([...prune, '--yes'], /^unchanged nightly\.yaml\ndeleted {3}\S{36}, Weekly report$/m)
    await run(['schedules', 'delete', schedule], /^Deleted \S{36}\.$/m)
  })

  it('of files', async () => {
    await run(['files', 'put', session, 'report.txt'], /^created {3}report\.txt, 10 bytes$/m)
    await run(['files', 'list', session], /^report\.txt +\d+ (s|min) ago$/m)
    await run(['files', 'get', session, 'report.txt'], /^A report\.$/m)
    await run(['files', 'delete', session, 'report.txt'], /^Deleted report\.txt\.$/m)
    await run(['sessions', 'delete', session, 'Icons'], /^Deleted \S{36}\.\nDeleted \S{36}\.$/m)
    await run(['pull-requests', 'delete', await listed(['pull-requests', 'list'], 'Apple Pay')], /^Deleted/)
    await run(['agents', 'delete', agent], /^Deleted/)
  })

  it('of skills', async () => {
    await run(['skills', 'push', 'skills'], /^created {3}notes, 1 file$/m)
    const skill = await listed(['skills', 'list'], 'notes', /^notes +1 /m)
    await run(['skills', 'pull', 'pulled', 'notes'], /^created {3}notes, 1 file$/m)
    await run(['skills', 'diff', 'skills/notes'], /^$/)
    await run(['skills', 'show', skill], /^made +\d+ (s|min) ago, /m)
    await run(['skills', 'versions', skill], /^1 +current +\d+ (s|min) ago /m)
    await run(['skills', 'publish', skill, '1'], /^Version 1 of notes is current\.$/m)
    await run(['skills', 'feed', 'create', 'Laptops'], /^Created/)
    await run(['skills', 'feed', 'create', 'CI'], /^Created/)
    await run(['skills', 'feed', 'delete', await listed(['skills', 'feed', 'list'], 'Laptops')], /^Deleted/)
    await run(['skills', 'feed', 'delete', 'ci'], /^Deleted/)
    await run(['skills', 'delete', skill], /^Deleted \S{36}\.$/m)
  })

  it('of API keys', async () => {
    await run(['keys', 'create', 'sandbox', '--scope', 'skills:read'], /^Created/)
    await run(['keys', 'rotate', await listed(['keys', 'list'], 'sandbox'), '--overlap', '0'], /^Created/)
    await run(['keys', 'revoke', await listed(['keys', 'list'], 'sandbox')], /^Revoked/)
    const { apiKey: own, organization } = JSON.parse(await run(['whoami', '--json'], /apiKey/))
    await run(['keys', 'create', 'Editor', '--scope', 'skills:read'], /^Created/)
    // As the consent of the console makes it.
    const sql = `UPDATE "apiKeys" SET "kind" = 'grant', "createdByKeyId" = ?, "expiresAt" = '2999-01-01T00:00:00.000Z' WHERE "name" = 'Editor' AND "organizationId" = ?`
    await service.write([{ sql, parameters: [own.id, organization.id] }])
    const app = await listed(['keys', 'list', '--apps'], 'Editor')
    await run(['keys', 'revoke', app, '--app'], /^Disconnected \S{36}\.$/m)
    await run(['keys', 'list', '--apps'], /^(?!.*Editor)/s)
  })

  it('of people who sign in', async () => {
    const issuer = 'https://login.example.com'
    const rule = ['--issuer', issuer, '--claim', 'groups', '--value', 'engineers', '--role', 'member']
    await run(['people', 'add-rule', ...rule, '--project', 'website'], /^Created \S{36}\.$/m)
    const id = await listed(['people', 'rules'], 'engineers', /groups +engineers +member +website$/m)
    await run(['people', 'try', '--issuer', issuer, '--claim', 'groups=engineers'], /^Admitted as member, /)
    await run(
      ['people', 'invite', 'mary@example.com', '--issuer', issuer, '--role', 'viewer'],
      /^Invited mary@example\.com; /,
    )
    const row = /mary@example\.com +\S+ +viewer +all +in \d+ days +-$/m
    const invitation = await listed(['people', 'invitations'], 'mary@example.com', row)
    await run(['people', 'uninvite', invitation], /^Deleted \S{36}\.$/m)
    const { organization } = JSON.parse(await run(['whoami', '--json'], /organization/))
    await run(['users', 'put', 'mary', '--name', 'Mary'], /^created/)
    const identity = { organizationId: organization.id, userId: 'mary', issuer, role: 'member', ruleIds: [id] } as const
    await service.write(signInOf(identity).queries)
    const person = await listed(['people', 'list'], 'Mary', /^\S+ +Mary +- .* member +rules +\d+ (s|min) ago +-$/m)
    await run(['people', 'role', person, 'admin'], /^Mary \(subject-mary of \S+\) has the role admin\.$/m)
    await run(['people', 'block', person], /^Blocked Mary/m)
    await run(['people', 'unblock', person], /^Unblocked Mary/m)
    await run(['people', 'remove', person], /^Removed the access of Mary/m)
    await run(['people', 'remove-rule', id], /^Deleted \S{36}\.$/m)
  })

  it('of events', async () => {
    await run(['events', '--limit', '1'], /^\d+ (s|min) ago +laptop \(ada\) deleted the sign-in rule /m)
    const endpoints = ['events', 'endpoints']
    await run([...endpoints, 'create', `${receiverUrl}/events`], /^Created/)
    const id = await listed([...endpoints, 'list'], 'standard')
    await run([...endpoints, 'update', id, '--note', 'For the cache'], /^Updated/)
    await run([...endpoints, 'test', id], /^HTTP 202/)
    await run([...endpoints, 'rotate', id, '--overlap', '0'], /whsec_/)
    await run([...endpoints, 'rewind', id, '--after', 'now'], /^Moved/)
    await run([...endpoints, 'delete', id], /^Deleted/)
  })

  it('was run', async () => {
    // `events` is a group that does something by itself.
    const commands = (await describedCommands()).filter(
      ({ command, hasCommands }) => !hasCommands || command.join(' ') === 'events',
    )
    const names = commands.map(({ command }) => command.join(' '))
    expect(names.length).toBeGreaterThan(60)
    const wasRun = (name: string) => commandsRun.some((args) => `${args.join(' ')} `.startsWith(`${name} `))
    expect(names.filter((name) => !wasRun(name))).toEqual([])
    expect([...lists.withIds].filter((name) => !lists.taken.has(name))).toEqual([])
    // Each command that takes an ID took one as a table printed it.
    const takesId = (help: string) => /\nArguments:\n((?!\n\n).)*\bID\b(?!;)/s.test(help)
    const tookId = (name: string) =>
      commandsRun.some(
        (args) =>
          `${args.join(' ')} `.startsWith(`${name} `) && args.some((arg) => printedIds.has(arg.replace(/^.*\//, ''))),
      )
    const taking = commands.filter(({ help }) => takesId(help)).map(({ command }) => command.join(' '))
    expect(taking.length).toBeGreaterThan(30)
    expect(taking.filter((name) => !tookId(name))).toEqual([])
    // Each is in the table of README.md; the commands of the other resources are those of projects.
    const readme = readFileSync(join(ROOT, 'cli', 'README.md'), 'utf8')
    const isLikeProjects = (name: string) => /^(agents|sessions|pull-requests|users) /.test(name)
    const isDescribed = (name: string) => isLikeProjects(name) || readme.includes(`\n| \`${name}\` `)
    expect(names.filter((name) => !isDescribed(name))).toEqual(['completion'])
  })
})
