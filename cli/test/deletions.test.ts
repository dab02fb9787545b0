/** `workspace deletions`, with the service. */
import { beforeAll, beforeEach, expect, it } from 'vitest'
import { runWorkspace, typeInto, type WorkspaceLogin } from '../../test/support/commands.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'

const [FIRST, SECOND, OTHER] = [
  '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e901',
  '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e902',
  '0198c2a4-6b0f-7a11-8c44-d2f1a5b7e903',
] as const
let service: SharedService
let login: WorkspaceLogin

beforeAll(async () => {
  service = await sharedService()
})

const run = (...args: string[]) => runWorkspace(args, login)
const deletions = async () =>
  (await run('deletions', 'list', '--json')).stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line))

beforeEach(async () => {
  login = { url: service.url, apiKey: (await service.addOrganization()).apiKey }
  await run('projects', 'put', 'website', '--name', 'Website')
  for (const id of [FIRST, SECOND]) await run('sessions', 'put', id, '--name', 'Checkout', '--project', 'website')
  expect((await run('sessions', 'delete', FIRST, SECOND)).status).toBe(0)
})

it('restores what has the ID, and refuses a name that several had', async () => {
  expect(await run('deletions', 'restore', 'checkout')).toMatchObject({
    status: 1,
    stderr: expect.stringMatching(/^2 deletions have the name "checkout": /),
  })
  expect(await run('deletions', 'restore', FIRST)).toMatchObject({
    status: 0,
    printed: 'Restored the session Checkout.\n',
  })
  expect(await run('deletions', 'restore', 'Checkout', '--project', 'Website')).toMatchObject({ status: 0 })
  expect(await deletions()).toEqual([])
  const sessions = (await run('sessions', 'list')).stdout
  expect(sessions.match(/Checkout/g)).toHaveLength(2)
})

it('restores what belonged to a deleted project, with the project', async () => {
  await run('projects', 'delete', 'website')
  const [project] = await deletions()
  expect(project).toMatchObject({ resourceType: 'project', name: 'Website' })
  expect(await run('deletions', 'list', '--project', 'website', '--type', 'project')).toMatchObject({
    status: 0,
    stdout: expect.stringMatching(/project +Website +/),
  })
  expect((await run('deletions', 'restore', project.id, FIRST, '--project', 'website')).stdout).toBe(
    'Restored the project Website.\nRestored the session Checkout.\n',
  )
})

it('takes no other project for a deleted one', async () => {
  await run('projects', 'put', 'website-old', '--name', 'Former website')
  await run('sessions', 'put', OTHER, '--name', 'Draft', '--project', 'website-old')
  await run('sessions', 'delete', OTHER)
  await run('projects', 'delete', 'website')
  const refused = { status: 1, stdout: '' }
  expect(await run('projects', 'delete', 'website')).toMatchObject({
    ...refused,
    stderr: expect.stringMatching(/^The project was deleted/),
  })
  expect(await run('deletions', 'purge', 'Draft', '--project', 'website', '--yes')).toMatchObject(refused)
  expect(await run('deletions', 'purge', 'Draft', '--project', 'Website', '--yes')).toMatchObject({
    ...refused,
    stderr: 'There is no project with the ID or the name "Website". Similar: Former website (website-old).\n',
  })
  expect((await deletions()).map(({ resourceId }) => resourceId)).toEqual(['website', OTHER, SECOND, FIRST])
  await run('deletions', 'restore', 'website')
  expect(await run('deletions', 'restore', FIRST, '--project', 'website')).toMatchObject({ status: 0 })
})

it('purges nothing without an answer', async () => {
  expect(await run('deletions', 'purge', FIRST)).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/^Nothing will restore the session Checkout\.\n--yes is missing: /),
  })
  expect(await deletions()).toHaveLength(2)
})

it.runIf(process.platform === 'linux')('asks on a terminal before it purges', async () => {
  const question = 'Purge 1 deletion? (y/N) '
  const refused = await typeInto(['deletions', 'purge', FIRST], login, [[question, 'n']])
  expect([refused.status, refused.shown]).toEqual([1, expect.stringContaining('Nothing was purged.')])
  const confirmed = await typeInto(['deletions', 'purge', FIRST], login, [[question, 'yes']])
  expect([confirmed.status, confirmed.shown]).toEqual([0, expect.stringContaining('Purged the session Checkout.')])
  expect(await deletions()).toMatchObject([{ resourceId: SECOND }])
})
