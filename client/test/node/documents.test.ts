/** The code in the documents about the client: compiled, and run against `npm run dev`. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ROOT } from '../../../test/support/commands.ts'
import { type DevServer, freePort, readDemo, startDevServer, stopDevServer } from '../../../test/support/dev-server.ts'
import { newState } from '../../../test/support/local-state.ts'
import { run } from '../../../test/support/packages.ts'
import { Workspace } from '../../src/index.ts'

const DOCUMENTS = ['client/README.md', 'docs/clients.md', 'docs/events.md']
const SOURCES = join(ROOT, 'client', 'src', 'index.ts')
const LINES_OF_A_TASK = 3
const OPTIONS =
  '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 --lib es2024,dom,dom.iterable,dom.asynciterable --types node --allowImportingTsExtensions'

/** What the code of the documents has around it. `Enough` ends what never ends by itself. */
const GIVEN = `
import { spawn } from 'node:child_process'
import { readFile, writeFile } from 'node:fs/promises'
import { parseEnv } from 'node:util'
import { type components, leaseVariables, Workspace, WorkspaceError } from '${SOURCES}'

type Skill = components['schemas']['Skill']
const given = JSON.parse(process.env.GIVEN ?? '')
const { url, apiKey, agentId, sessionId, skillId, fileId }: Record<string, string> = given
const organizationId = 'acme'
const projectId = 'website'
const workspace: Workspace = new Workspace({ url: given.url, apiKey: given.apiKey })
const copy = { etag: '"none"', skill: {} as Skill }
const edit = async (files: Skill['files']) => files.map(({ filename, content }) => ({ filename, content }))
const showTheOtherEdit = () => undefined
const show = (...texts: unknown[]) => console.log(...texts)
const video = new Blob(['video'], { type: 'video/mp4' })
class Enough extends Error {}
const loadCursor = async () => undefined
const handle = async (event: { type: string }) => console.log(event.type)
const saveCursor = async (_: string | undefined) => { throw new Enough() }
const begin = async (...ids: string[]) => console.log(...ids)
const env = {
  WORKSPACE_API_KEY: given.apiKey as string,
  WORKSPACE: { fetch: (request: Request) => fetch(request) },
  ENVIRONMENTS: { read: async (_organizationId: string, _projectId: string) => ({}) },
}
`
const NAMES =
  'spawn readFile writeFile parseEnv leaseVariables Workspace WorkspaceError url apiKey agentId sessionId skillId fileId organizationId projectId workspace copy edit showTheOtherEdit show video Enough loadCursor handle saveCursor begin env'.split(
    ' ',
  )

interface Block {
  readonly name: string
  readonly code: string
}

/** The heading, and the code in TypeScript below it. */
function blocksOf(document: string): Block[] {
  let heading = ''
  const parts = readFileSync(join(ROOT, document), 'utf8').matchAll(/^## (.+)$|^( *)```ts\n([\s\S]*?)^ *```$/gm)
  return [...parts].flatMap(([, title, indent = '', code = ''], index) => {
    if (title !== undefined) heading = title
    const name = `${document}, ${heading} (${index})`
    return title === undefined ? [{ name, code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), '') }] : []
  })
}

/** A module, in which the block has its own names. */
function programOf({ code }: Block): string {
  const imports = code.match(/^import .+$/gm) ?? []
  const imported = imports.flatMap(
    (line) =>
      /\{(.+)\}/
        .exec(line)?.[1]
        ?.split(/, */)
        .map((name) => name.trim()) ?? [],
  )
  const body = code
    .replaceAll(/^import .+\n/gm, '')
    .replace('export default {', 'const handler = {')
    .replace("'https://api.example.com'", 'url')
  const names = NAMES.filter((name) => !imported.includes(name) && new RegExp(`\\b${name}\\b`).test(`${body} Enough`))
  return `
import { ${names.join(', ')} } from './given.ts'
${imports.join('\n').replaceAll("'@workspace-api/client'", `'${SOURCES}'`)}
try {
  ${body}
} catch (error) {
  if (!(error instanceof Enough)) throw error
}
`
}

const blocks = DOCUMENTS.flatMap(blocksOf)
const state = newState()
let folder: string
let service: DevServer
let given: Record<string, string>
let leaseKey: string

beforeAll(async () => {
  mkdirSync(join(ROOT, '.vitest'), { recursive: true })
  // Inside the project, so that the programs find what they import.
  folder = mkdtempSync(join(ROOT, '.vitest', 'documents-'))
  service = await startDevServer(state, await freePort())
  const demo = readDemo(state)
  const workspace = new Workspace({ url: demo.baseUrl, apiKey: demo.apiKey })
  await workspace.projects.put('website', { name: 'Website' })
  await workspace.projects.environmentVariables.put('website', 'DATABASE_URL', { value: 'postgres://' })
  const scopes = ['environment-variables:lease' as const]
  leaseKey = (await workspace.apiKeys.create({ name: 'CI', scopes, projectIds: ['website'] })).token
  const { id } = await workspace.sessions.files.put(demo.sessionId, new Blob(['%PDF']), { path: 'summary.pdf' })
  const { agentId, sessionId, skillId } = demo
  given = { url: demo.baseUrl, apiKey: demo.apiKey, agentId, sessionId, skillId, fileId: id }
  writeFileSync(join(folder, 'given.ts'), `${GIVEN}\nexport { ${NAMES.join(', ')} }\n`)
  for (const [name, text] of Object.entries({
    'summary.pdf': '%PDF',
    '.env': 'A=1\nB=two\n',
    'SKILL.md': '---\nname: from-a-file\ndescription: Reads files.\n---\n',
  }))
    writeFileSync(join(folder, name), text)
  for (const [index, block] of blocks.entries()) writeFileSync(join(folder, `${index}.ts`), programOf(block))
})
afterAll(async () => {
  await stopDevServer(service)
  for (const path of [folder, state]) rmSync(path, { recursive: true })
})

describe('the code in the documents', () => {
  it('compiles', async () => {
    const compiler = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc')
    const files = blocks.map((_, index) => `${index}.ts`)
    expect(files.length).toBeGreaterThan(20)
    await run(process.execPath, [compiler, ...OPTIONS.split(' '), ...files], folder)
  })

  it.each(blocks.map(({ name }, index) => [name, index] as const))('runs: %s', async (_, index) => {
    // Only a key that is restricted to projects may lease.
    const isLease = /lease/i.test(blocks[index]?.code ?? '')
    process.env.GIVEN = JSON.stringify(isLease ? { ...given, apiKey: leaseKey } : given)
    await run(process.execPath, [`${index}.ts`], folder)
  })

  it('has ten tasks, each in at most three lines', () => {
    const tasks = blocks.filter(({ name }) => name.startsWith('client/README.md, Ten tasks'))
    expect(tasks).toHaveLength(10)
    for (const { code } of tasks) expect(code.trim().split('\n').length).toBeLessThanOrEqual(LINES_OF_A_TASK)
  })
})
