/** Publishes skill folders: each has a SKILL.md, whose YAML front matter has a name and a description. */
import { isUtf8 } from 'node:buffer'
import { type Dirent, existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { parse as parseYaml } from 'yaml'
import { describeProblems } from '../src/http/problems.ts'
import { createSkillContract } from '../src/resources/skills/contract.ts'
import { describeScript, parsed, startProgress, withService } from './command-line.ts'
import { Service } from './service.ts'

const ENTRY_FILE = 'SKILL.md'
const IGNORED = ['.git', '.DS_Store']
/** Folders where no skills are looked for. */
const NO_SKILLS = ['.git', 'node_modules']

const command = parsed(
  withService(
    describeScript(
      'skills:push',
      'Publishes the skills in the folders, at any depth; a skill is a folder with a SKILL.md. Skills that have not changed are skipped. The API key needs the scopes skills:read and skills:write.',
      ['path/to/skills', 'path/to/skills --dry-run', 'path/to/skill --allow-skips'],
    )
      .argument('<folder...>', 'a skill, or a folder with skills at any depth')
      .option('--dry-run', 'print what would be created and updated, and change nothing')
      .option('--allow-skips', 'publish a skill without its symbolic links and files that are not text'),
  ),
)
const options = command.opts()
const [folders] = command.processedArgs

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

await pushAll()

async function pushAll(): Promise<void> {
  const service = Service.fromOptions(options)
  const ids = await listSkills(service)
  const pushed = new Map<string, string>()
  const found = [...new Set(folders.flatMap((folder) => skillFolders(folder)))]
  const progress = startProgress('Publishing skills', found.length)
  for (const folder of found) {
    try {
      if (!folders.includes(folder) && lstatSync(folder).isSymbolicLink()) {
        if (!options.allowSkips) throw new Error('a symbolic link; --allow-skips leaves it out')
        progress.log(`skipped   ${folder}: a symbolic link`)
        continue
      }
      const { skill, skipped } = readSkill(folder)
      for (const line of skipped) progress.log(`skipped   ${line}`)
      if (skipped.length > 0 && !options.allowSkips) {
        throw new Error(`${countOf(skipped)} would be left out; --allow-skips publishes the skill without`)
      }
      const duplicate = pushed.get(skill.name)
      if (duplicate !== undefined) throw new Error(`name: ${duplicate} has the same name`)
      pushed.set(skill.name, folder)
      const outcome = await push(service, skill, ids.get(skill.name))
      progress.log(`${outcome.padEnd(9)} ${skill.name}, ${countOf(skill.files)}`)
    } catch (error) {
      // After the first line, an error of the YAML parser repeats the input.
      progress.warn(`failed    ${folder}: ${(error as Error).message.replace(/:?\n.*/s, '')}`)
      process.exitCode = 1
    } finally {
      progress.add()
    }
  }
  progress.end(options.dryRun ? 'Nothing was changed: this was a dry run.' : undefined)
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

/** @returns the folder itself, if it is a skill or has none; otherwise the skills below it. */
function skillFolders(folder: string): string[] {
  if (hasEntryFile(folder) || !statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return [folder]
  const skills = skillsBelow(folder)
  return skills.length > 0 ? skills : [folder]
}

/** Includes symbolic links to skills, which are reported. */
function skillsBelow(folder: string): string[] {
  return sortedEntries(folder).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (hasEntryFile(path)) return [path]
    return entry.isDirectory() && !NO_SKILLS.includes(entry.name) ? skillsBelow(path) : []
  })
}

function sortedEntries(folder: string): Dirent[] {
  return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
}

function hasEntryFile(folder: string): boolean {
  return existsSync(join(folder, ENTRY_FILE))
}

/** @returns the skill, and what it leaves out. @throws if the folder is not a skill that the service accepts. */
function readSkill(folder: string): { skill: Skill; skipped: string[] } {
  const skipped: string[] = []
  const files = readFiles(folder, skipped)
  const entry = files.find(({ filename }) => filename === ENTRY_FILE)
  if (!entry) {
    const start = `${join(folder, ENTRY_FILE)}: `
    const reason = skipped.find((line) => line.startsWith(start))?.slice(start.length)
    throw new Error(reason ? `${ENTRY_FILE} is ${reason}` : `there is no ${ENTRY_FILE}`)
  }
  const skill = { ...readFrontMatter(entry.content), files }
  const result = createSkillContract.body.safeParse(skill)
  if (result.success) return { skill: result.data, skipped }
  const problems = describeProblems(result.error.issues, {
    schema: createSkillContract.body,
    data: skill,
    isSecret: false,
  })
  throw new Error(problems.replaceAll(/\bfiles\.(\d+)/g, (_, index) => files[index]?.filename ?? index))
}

/** Reads the text files. @param skipped gets a line for each file that is left out. */
function readFiles(folder: string, skipped: string[], prefix = ''): SkillFile[] {
  const entries = sortedEntries(folder).filter(({ name }) => !IGNORED.includes(name))
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name)
    const filename = prefix + entry.name
    const skip = (reason: string) => {
      skipped.push(`${path}: ${reason}`)
      return []
    }
    if (entry.isDirectory()) return readFiles(path, skipped, `${filename}/`)
    if (entry.isSymbolicLink()) return skip('a symbolic link')
    if (!entry.isFile()) return skip('not a file')
    const bytes = readFileSync(path)
    return isText(bytes) ? [{ filename, content: bytes.toString('utf8') }] : skip('not text in UTF-8')
  })
}

function isText(bytes: Buffer): boolean {
  return isUtf8(bytes) && !bytes.includes(0)
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
    if (options.dryRun) return 'to create'
    await service.send('POST', '/v1/skills', skill)
    return 'created'
  }
  const { body: current } = await service.send<Skill>('GET', `/v1/skills/${id}`)
  const change = {
    ...(skill.description !== current.description && { description: skill.description }),
    ...(!isDeepStrictEqual(contentsOf(skill), contentsOf(current)) && { files: skill.files }),
  }
  if (Object.keys(change).length === 0) return 'unchanged'
  if (options.dryRun) return 'to update'
  await service.send('PATCH', `/v1/skills/${id}`, change)
  return 'updated'
}

function contentsOf({ files }: Skill): Map<string, string> {
  return new Map(files.map(({ filename, content }) => [filename, content]))
}

function countOf({ length }: readonly unknown[]): string {
  return `${length} ${length === 1 ? 'file' : 'files'}`
}
