/** docs/people.md: its commands, as its reader runs them. */
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { ROOT } from '../../test/support/commands.ts'
import { blocksOf, commandsIn, type GuideCommand, runGuideCommand } from '../../test/support/guide.ts'
import { type SharedService, sharedService } from '../../test/support/service.ts'
import { bundleCommand } from '../bundle.ts'

const GUIDE = readFileSync(join(ROOT, 'docs', 'people.md'), 'utf8')
const DOCUMENTED_URL = 'https://api.example.com'

const folder = mkdtempSync(join(tmpdir(), 'workspace-api-'))
let running: SharedService
let variables: Record<string, string>
let service: Service

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
  variables = {
    PATH: `${bin}:${process.env.PATH}`,
    XDG_CONFIG_HOME: folder,
    WORKSPACE_URL: running.url,
    WORKSPACE_API_KEY: apiKey,
  }
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
})

/** Runs a command of the guide, with the address of this service. @returns what it prints. */
function run({ command, output }: GuideCommand, more: Readonly<Record<string, string>> = {}): Promise<string> {
  const here = (text: string) => text.replaceAll(DOCUMENTED_URL, running.url)
  return runGuideCommand({ command: here(command), output: here(output) }, { ...variables, ...more }, folder)
}

const runWhoami = async () =>
  JSON.parse(
    await runGuideCommand(
      { command: 'workspace whoami --json', output: '…' },
      { ...variables, WORKSPACE_API_KEY: '', WORKSPACE_URL: '' },
    ),
  )

const isValid = async (apiKey: string) =>
  (await fetch(`${running.url}/v1/me`, { headers: { Authorization: `Bearer ${apiKey}` } })).ok

it('adds a person and a service, revokes and rotates keys, and removes the person', async () => {
  const commands = blocksOf(GUIDE, 'console').flatMap(commandsIn)
  const next = (start: string): GuideCommand => {
    const command = commands.shift()
    expect(command?.command).toMatch(new RegExp(`^${start}`))
    return command as GuideCommand
  }
  const tokenIn = (printed: string) => /wsk_\w+/.exec(printed)?.[0] ?? ''

  next('export WORKSPACE_URL=')
  await run(next('workspace whoami'))
  await run(next('workspace users put'))
  const graceKey = tokenIn(await run(next('workspace keys create')))
  writeFileSync(join(folder, 'key.txt'), graceKey)
  await run(next('workspace login'), { WORKSPACE_API_KEY: '', WORKSPACE_URL: '' })
  expect(await runWhoami()).toMatchObject({ user: { id: 'grace' }, apiKey: { name: "Grace's laptop" } })

  const serviceKey = tokenIn(await run(next('workspace keys create')))
  await run(next('workspace people add-rule'))
  await run(next('workspace people try'))
  expect(await run(next('workspace people rules'))).toContain('engineers')
  expect(await run(next('workspace people invite'))).toContain('/sign-in/')
  const successor = tokenIn(await run(next('workspace keys rotate')))
  expect([await isValid(serviceKey), await isValid(successor)]).toEqual([true, true])
  expect(await run(next('workspace keys list'))).toContain("Grace's laptop")
  await run(next('workspace keys revoke'))
  expect(await isValid(graceKey)).toBe(false)

  const { body: another } = await service.send<{ token: string }>('POST', '/v1/api-keys', {
    name: 'Another laptop',
    scopes: ['skills:read'],
    userId: 'grace',
  })
  expect(await isValid(another.token)).toBe(true)
  await run(next('workspace users delete'))
  expect([await isValid(another.token), await isValid(successor)]).toEqual([false, true])
  expect(commands).toEqual([])
})

it.each(rowsOf('Which scopes'))('grants scopes that exist: %s', async (_purpose, scopes) => {
  const created = await service.send('POST', '/v1/api-keys', { name: 'Purpose', scopes })
  expect(created.status).toBe(201)
})

/** The rows of the table below a heading: the purpose, and its scopes. */
function rowsOf(heading: string): [purpose: string, scopes: string[]][] {
  const [, section = ''] = GUIDE.split(`\n## ${heading}\n`)
  const rows = section.split('\n## ')[0]?.matchAll(/^\| ([^|]+?) +\| ([^|]*`[^|]*)\|$/gm) ?? []
  return Array.from(rows, ([, purpose = '', scopes = '']) => [purpose, scopes.match(/[a-z-]+:[a-z]+/g) ?? []])
}
