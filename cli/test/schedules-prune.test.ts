/** `workspace schedules apply --prune`, with the service. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { runWorkspace, typeInto, type WorkspaceLogin } from '../../test/support/commands.ts'
import { newFolder } from '../../test/support/dev-server.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { writeFiles } from './support/skill-folders.ts'

const folder = newFolder()
let service: SharedService
let login: WorkspaceLogin

beforeAll(async () => {
  service = await sharedService()
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
})

const run = (...args: string[]) => runWorkspace(args, login, {}, folder)
const apply = (...options: string[]) => run('schedules', 'apply', 'files', '--prune', ...options)
const yaml = (name: string, project = 'website') =>
  `project: ${project}\nname: ${name}\ncron: '@daily'\ntimezone: UTC\n`

async function names(): Promise<string[]> {
  const { stdout } = await run('schedules', 'list', '--json')
  const lines = stdout.split('\n').slice(0, -1)
  return lines.map((line) => JSON.parse(line).name).sort()
}

beforeEach(async () => {
  login = { url: service.url, apiKey: (await service.addOrganization()).apiKey }
  rmSync(join(folder, 'files'), { recursive: true, force: true })
  for (const project of ['website', 'mobile']) await run('projects', 'put', project, '--name', project)
  writeFiles(folder, {
    'files/build.yaml': yaml('Build'),
    'files/old.yaml': yaml('Old'),
    'files/other.yaml': yaml('Other', 'mobile'),
  })
  expect((await run('schedules', 'apply', 'files')).status).toBe(0)
  // `mobile` is named by no file any more, so its schedule is not of these files.
  for (const file of ['old', 'other']) rmSync(join(folder, 'files', `${file}.yaml`))
})

it('deletes what no file describes, of the projects that files name', async () => {
  const dryRun = await apply('--dry-run')
  expect([dryRun.status, dryRun.stdout]).toEqual([
    0,
    expect.stringMatching(
      /^unchanged build\.yaml\nto delete \S{36}, Old\nNothing was changed: this was a dry run\.\n$/,
    ),
  ])
  expect(await names()).toEqual(['Build', 'Old', 'Other'])
  expect((await apply('--yes')).stdout).toMatch(/^unchanged build\.yaml\ndeleted {3}\S{36}, Old\n$/)
  expect(await names()).toEqual(['Build', 'Other'])
  expect((await apply('--yes')).stdout).toBe('unchanged build.yaml\n')
  const json = (await apply('--yes', '--json')).stdout
  expect(JSON.parse(json)).toMatchObject({ outcome: 'unchanged', name: 'build.yaml' })
})

it('shows the times of a schedule without a name', async () => {
  writeFiles(folder, { 'files/nameless.yaml': "project: website\ncron: '5 * * * *'\ntimezone: UTC\n" })
  await run('schedules', 'apply', 'files')
  rmSync(join(folder, 'files', 'nameless.yaml'))
  expect((await apply('--dry-run')).stdout).toMatch(/^to delete \S{36}, 5 \* \* \* \*$/m)
})

it('deletes nothing without an answer', async () => {
  expect(await apply()).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(
      /^No file describes \S{36}, Old\.\n--yes is missing: standard input is not a terminal/,
    ),
  })
  expect(await names()).toEqual(['Build', 'Old', 'Other'])
})

it.runIf(process.platform === 'linux')('asks on a terminal', async () => {
  const args = ['schedules', 'apply', 'files', '--prune']
  const question = 'Delete 1 schedule? (y/N) '
  const refused = await typeInto(args, login, [[question, '']], { cwd: folder })
  expect([refused.status, refused.shown]).toEqual([1, expect.stringContaining('Nothing was deleted.')])
  expect(await names()).toEqual(['Build', 'Old', 'Other'])
  const confirmed = await typeInto(args, login, [[question, 'y']], { cwd: folder })
  expect([confirmed.status, confirmed.shown]).toEqual([
    0,
    expect.stringMatching(/No file describes .*, Old\.[\s\S]*deleted/),
  ])
  expect(await names()).toEqual(['Build', 'Other'])
})

it('deletes nothing if a file was not applied', async () => {
  writeFiles(folder, { 'files/broken.yaml': yaml('Broken', 'nobodys') })
  expect(await apply('--yes')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(
      /^failed {4}broken\.yaml: .*\nNothing was deleted, because a file could not be applied\.\n$/,
    ),
  })
  expect(await names()).toEqual(['Build', 'Old', 'Other'])
})
