/** The pages of the API contract: the example of each section, on the demo workspace of `npm run dev`. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Service } from '../../scripts/service.ts'
import { ROOT } from '../support/commands.ts'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../support/dev-server.ts'
import { blocksOf, commandsIn, runGuideCommand } from '../support/guide.ts'
import { newState } from '../support/local-state.ts'

const DOCUMENTED_URL = 'http://localhost:8787'
/** More than the demo and the examples before that of the quotas have. */
const PROJECT_LIMIT = 10

/** The last has the quotas, after which nothing can be created. */
const PAGES = ['contract-keys', 'contract-resources', 'contract-work', 'contract']
const sections = PAGES.flatMap((page) => {
  const [, ...own] = readFileSync(join(ROOT, 'docs', `${page}.md`), 'utf8').split(/^## /m)
  return own
})
const examples = sections.map((section) => ({
  title: section.split('\n')[0],
  commands: blocksOf(section, 'console').flatMap(commandsIn),
}))

const state = newState()
let server: DevServer
let variables: Record<string, string>

beforeAll(async () => {
  server = await startDevServer(state, await freePort(), '--var', `PROJECT_LIMIT:${PROJECT_LIMIT}`)
  const demo = readDemo(state)
  variables = {
    WORKSPACE_URL: demo.baseUrl,
    WORKSPACE_API_KEY: demo.apiKey,
    PROJECT_ID: demo.projectId,
    AGENT_ID: demo.agentId,
    SESSION_ID: demo.sessionId,
    PULL_REQUEST_ID: demo.pullRequestId,
    USER_ID: demo.userId,
  }
})
afterAll(async () => {
  await stopDevServer(server)
  rmSync(state, { recursive: true })
})

it('has an example in each section but the terms', () => {
  expect(examples.length).toBeGreaterThan(15)
  expect(examples.filter(({ commands }) => commands.length === 0).map(({ title }) => title)).toEqual(['Terms'])
})

it.each(examples)('answers as documented: $title', async ({ title, commands }) => {
  const { WORKSPACE_URL: url = '', WORKSPACE_API_KEY: apiKey = '' } = variables
  if (title === 'Quotas') await fillQuota(new Service(url, apiKey))
  for (const { command, output } of commands) {
    expect(output).not.toBe('')
    const printed = await runGuideCommand({ command, output: output.replaceAll(DOCUMENTED_URL, url) }, variables)
    if (command.includes('/v1/deletions?')) variables.DELETION_ID = JSON.parse(printed).items[0].id
  }
})

/** Creates projects until there are as many as the quota allows. */
async function fillQuota(service: Service): Promise<void> {
  const { body } = await service.send<{ items: unknown[] }>('GET', '/v1/projects')
  for (let count = body.items.length; count < PROJECT_LIMIT; count++)
    await service.send('PUT', `/v1/projects/filler-${count}`, { name: 'Filler' })
}
