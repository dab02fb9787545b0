/**
 * Publishes skill folders. A skill folder has a SKILL.md, whose YAML front matter has a name and a
 * description, and further files.
 *
 *     npm run skills:push -- <folder …> [--url http://localhost:8787] [--key wsk_…]
 *
 * For a folder without a SKILL.md, its subfolders with one are published. Skills that have not changed are
 * skipped. The API key is that of --key, of WORKSPACE_API_KEY or of the demo workspace, in this order; it
 * needs the scopes skills:read and skills:write.
 */
import { isUtf8 } from 'node:buffer'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual, parseArgs } from 'node:util'
import { parse as parseYaml } from 'yaml'
import { describeProblems } from '../src/http/problems.ts'
import { createSkillContract } from '../src/resources/skills/contract.ts'
import { Service } from './service.ts'

const USAGE = 'Usage: npm run skills:push -- <folder …> [--url <address>] [--key <API key>]'
const ENTRY_FILE = 'SKILL.md'
const IGNORED = ['.git', '.DS_Store']

interface SkillFile {
  readonly filename: string
  readonly content: string
}

interface Skill {
  readonly name: string
  readonly description: string
  readonly files: readonly SkillFile[]
}

/** A page of `GET /v1/skills`. */
interface SkillPage {
  readonly items: readonly { readonly id: string; readonly name: string }[]
  readonly nextCursor: string | null
}

try {
  await pushAll()
} catch (error) {
  report(error)
}

async function pushAll(): Promise<void> {
  const { values: options, positionals: folders } = parseArgs({
    allowPositionals: true,
    options: { url: { type: 'string' }, key: { type: 'string' } },
  })
  if (folders.length === 0) throw new Error(USAGE)
  const service = Service.fromOptions(options)
  const ids = await listSkills(service)
  const pushed = new Map<string, string>()
  for (const folder of folders.flatMap(skillFolders)) {
    try {
      const skill = readSkill(folder)
      const duplicate = pushed.get(skill.name)
      if (duplicate !== undefined) throw new Error(`name: ${duplicate} has the same name`)
      pushed.set(skill.name, folder)
      const outcome = await push(service, skill, ids.get(skill.name))
      console.log(`${outcome.padEnd(9)} ${skill.name}, ${countOf(skill.files)}`)
    } catch (error) {
      report(error, folder)
    }
  }
}

/** @returns the ids of the published skills by name. */
async function listSkills(service: Service): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  let cursor: string | null = ''
  while (cursor !== null) {
    const path: string = `/v1/skills?limit=1000${cursor && `&cursor=${cursor}`}`
    const { body } = await service.send<SkillPage>('GET', path)
    for (const { id, name } of body.items) ids.set(name, id)
    cursor = body.nextCursor
  }
  return ids
}

/** @returns the folder itself, or the skills of a collection. */
function skillFolders(folder: string): string[] {
  if (hasEntryFile(folder) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [folder]
  const skills = readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (!hasEntryFile(path)) return []
    return entry.isSymbolicLink() ? skip(path, 'a symbolic link') : [path]
  })
  return skills.length > 0 ? skills.sort() : [folder]
}

function hasEntryFile(folder: string): boolean {
  return existsSync(join(folder, ENTRY_FILE))
}

/** @throws if the folder is not a skill that the service accepts. */
function readSkill(folder: string): Skill {
  const files = readFiles(folder)
  const entry = files.find(({ filename }) => filename === ENTRY_FILE)
  if (!entry) throw new Error(`there is no ${ENTRY_FILE}`)
  const skill = { ...readFrontMatter(entry.content), files }
  const result = createSkillContract.body.safeParse(skill)
  if (result.success) return result.data
  const problems = describeProblems(result.error.issues, {
    schema: createSkillContract.body,
    data: skill,
    isSecret: false,
  })
  throw new Error(problems.replaceAll(/\bfiles\.(\d+)/g, (_, index) => files[index]?.filename ?? index))
}

/** Reads the text files, and prints which files are skipped. */
function readFiles(folder: string, prefix = ''): SkillFile[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !IGNORED.includes(name))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    const filename = prefix + entry.name
    if (entry.isDirectory()) return readFiles(path, `${filename}/`)
    if (entry.isSymbolicLink()) return skip(path, 'a symbolic link')
    if (!entry.isFile()) return skip(path, 'not a file')
    const bytes = readFileSync(path)
    return isText(bytes) ? { filename, content: bytes.toString('utf8') } : skip(path, 'not text in UTF-8')
  })
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
}

function skip(path: string, reason: string): [] {
  console.log(`skipped   ${path}: ${reason}`)
  return []
}

/** The YAML between the first two lines of three hyphens. */
function readFrontMatter(text: string): { name: unknown; description: unknown } {
  const [, yaml] = /^\ufeff?(---\s*?\n.*?\n)---\s*?(?:\n|$)/s.exec(text) ?? []
  if (yaml === undefined) throw new Error(`${ENTRY_FILE} has no front matter`)
  const { name, description } = parseYaml(yaml, { logLevel: 'error' }) ?? {}
  return { name, description: typeof description === 'string' ? description.trim() : description }
}

/** @param id the published skill of this name, if there is one. */
async function push(service: Service, skill: Skill, id: string | undefined): Promise<string> {
  if (id === undefined) {
    await service.send('POST', '/v1/skills', skill)
    return 'created'
  }
  const { body: current } = await service.send<Skill>('GET', `/v1/skills/${id}`)
  const change = {
    ...(skill.description !== current.description && { description: skill.description }),
    ...(!isDeepStrictEqual(contentsOf(skill), contentsOf(current)) && { files: skill.files }),
  }
  if (Object.keys(change).length === 0) return 'unchanged'
  await service.send('PATCH', `/v1/skills/${id}`, change)
  return 'updated'
}

function contentsOf({ files }: Skill): Map<string, string> {
  return new Map(files.map(({ filename, content }) => [filename, content]))
}

function countOf({ length }: readonly SkillFile[]): string {
  return `${length} ${length === 1 ? 'file' : 'files'}`
}

function report(error: unknown, folder?: string): void {
  // After the first line, an error of the YAML parser repeats the input.
  const message = error instanceof Error ? error.message.replace(/:?\n.*/s, '') : String(error)
  console.error(folder === undefined ? message : `failed    ${folder}: ${message}`)
  process.exitCode = 1
}
