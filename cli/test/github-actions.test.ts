/** The workflow of docs/clients.md: its steps, as GitHub runs them, in a repository with skills and schedules. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { parse } from 'yaml'
import { Service } from '../../scripts/service.ts'
import { ROOT } from '../../test/support/commands.ts'
import { blocksOf, commandsIn, runGuideCommand } from '../../test/support/guide.ts'
import { run } from '../../test/support/packages.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { bundleCommand } from '../bundle.ts'
import { entry, writeFiles } from './support/skill-folders.ts'

interface Step {
  readonly uses?: string
  readonly run?: string
}

const GUIDE = readFileSync(join(ROOT, 'docs', 'clients.md'), 'utf8')
const [, SECTION = ''] = GUIDE.split('\n## Publish skills and schedules from a repository\n')
const [WORKFLOW = ''] = blocksOf(SECTION, 'yaml')
const { on: trigger, jobs } = parse(WORKFLOW)
const STEPS: readonly Step[] = jobs.publish.steps
const { name, version } = JSON.parse(readFileSync(join(ROOT, 'cli', 'package.json'), 'utf8'))
const SCHEDULE = { project: 'website', name: 'Nightly', cron: '30 2 * * *', timezone: 'Europe/Paris' }

const folder = mkdtempSync(join(tmpdir(), 'workspace-api-'))
const repository = join(folder, 'repository')
let running: SharedService
let service: Service
let variables: Record<string, string>

beforeAll(async () => {
  running = await sharedService()
  const { apiKey } = await running.addOrganization()
  service = new Service(running.url, apiKey)
  await service.send('PUT', '/v1/projects/website', { name: 'Website' })

  const bin = join(folder, 'bin')
  mkdirSync(bin)
  await bundleCommand(bin)
  writeFileSync(join(bin, 'workspace'), `#!/bin/sh\nexec '${process.execPath}' '${bin}/workspace.cjs' "$@"\n`)
  chmodSync(join(bin, 'workspace'), 0o755)
  variables = { PATH: `${bin}:${process.env.PATH}`, XDG_CONFIG_HOME: folder, WORKSPACE_URL: running.url }
  const [command] = blocksOf(SECTION, 'console').flatMap(commandsIn)
  if (command === undefined) throw new Error('The guide creates no API key.')
  const printed = await runGuideCommand(command, { ...variables, WORKSPACE_API_KEY: apiKey })
  // The workflow has the key of the guide, which can do no more than the guide says.
  variables.WORKSPACE_API_KEY = /wsk_\w+/.exec(printed)?.[0] ?? ''
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
})

/** Runs the steps on what the repository has, except those that set the machine up. @returns the lines they print. */
async function runWorkflow(): Promise<string[]> {
  const commands = STEPS.flatMap((step) => (step.run?.startsWith('workspace ') ? [step.run] : []))
  let printed = ''
  for (const command of commands) {
    const env = { ...process.env, ...variables, GITHUB_SHA: 'c0ffee', CI: 'true' }
    printed += await run('bash', ['-e', '-o', 'pipefail', '-c', command], repository, env)
  }
  return printed.trimEnd().split('\n')
}

const listNames = async (path: string) => {
  const { body } = await service.send<{ items: { name: string }[] }>('GET', path)
  return body.items.map((each) => each.name).sort()
}

it('runs what is pinned, for pushes to one branch', () => {
  expect(Object.keys(trigger)).toEqual(['push'])
  for (const { uses } of STEPS) if (uses !== undefined) expect(uses).toMatch(/^actions\/[\w-]+@[0-9a-f]{40}$/)
  const ci = readFileSync(join(ROOT, '.github', 'workflows', 'ci.yml'), 'utf8')
  for (const { uses } of STEPS) if (uses !== undefined) expect(ci).toContain(uses)
  const [major] = version.split('.')
  expect(STEPS.map((step) => step.run)).toContain(`npm install --global ${name}@${major}`)
})

it('publishes what a commit adds, changes and removes', async () => {
  writeFiles(repository, {
    'skills/review/SKILL.md': entry('review'),
    'skills/release-notes/SKILL.md': entry('release-notes'),
    // JSON is YAML.
    'schedules/nightly.yaml': JSON.stringify(SCHEDULE),
    'schedules/weekly.yaml': JSON.stringify({ ...SCHEDULE, name: 'Weekly', cron: '@weekly' }),
  })
  expect(await runWorkflow()).toEqual([
    'created   release-notes, 1 file',
    'created   review, 1 file',
    'created   nightly.yaml',
    'created   weekly.yaml',
  ])
  expect(await listNames('/v1/skills')).toEqual(['release-notes', 'review'])
  expect(await listNames('/v1/projects/website/schedules')).toEqual(['Nightly', 'Weekly'])

  writeFiles(repository, { 'skills/review/SKILL.md': entry('review', 'Another text') })
  rmSync(join(repository, 'schedules', 'weekly.yaml'))
  expect(await runWorkflow()).toEqual([
    'unchanged release-notes, 1 file',
    'updated   review, 1 file',
    'unchanged nightly.yaml',
    expect.stringMatching(/^deleted {3}.*Weekly/),
  ])
  expect(await listNames('/v1/projects/website/schedules')).toEqual(['Nightly'])
  const { body: skills } = await service.send<{ items: { id: string; name: string }[] }>(
    'GET',
    '/v1/skills?name=review',
  )
  const { body } = await service.send<{ items: { message: string }[] }>(
    'GET',
    `/v1/skills/${skills.items[0]?.id}/versions`,
  )
  expect(body.items[0]?.message).toBe('Commit c0ffee')
})

it('replaces what was changed elsewhere', async () => {
  const { body } = await service.send<{ items: { id: string }[] }>('GET', '/v1/skills?name=review')
  const path = `/v1/skills/${body.items[0]?.id}`
  await service.send('PATCH', path, { files: [{ filename: 'SKILL.md', content: entry('review', 'From the console') }] })
  expect(await runWorkflow()).toContain('updated   review, 1 file')
})

it('fails, and publishes the rest, if a skill cannot be published', async () => {
  writeFiles(repository, { 'skills/broken/SKILL.md': 'no front matter', 'skills/third/SKILL.md': entry('third') })
  await expect(runWorkflow()).rejects.toThrow('broken')
  expect(await listNames('/v1/skills')).toEqual(['release-notes', 'review', 'third'])
})
