/** Publishes skill folders: each has a SKILL.md, whose YAML front matter has a name and a description. */
import { existsSync, lstatSync, statSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describeProblems } from '../src/http/problems.ts'
import { contentOf, type StoredContent } from '../src/resources/skills/content.ts'
import { createSkillContract, ENTRY_FILE } from '../src/resources/skills/contract.ts'
import { describedBy } from '../src/resources/skills/version.ts'
import { describeScript, parsed, startProgress, withService } from './command-line.ts'
import { PRECONDITION_FAILED, Service } from './service.ts'
import {
  areEqual,
  countOf,
  entriesBelow,
  isIgnored,
  readLocalFile,
  readRecord,
  sortedEntries,
  writeRecord,
} from './skill-folder.ts'
import { fingerprintsOf, hasTag, listSkills, readVersion } from './skill-versions.ts'

/** Where no skills are looked for, besides what is never part of a skill. */
const NO_SKILLS = 'node_modules'
const CHANGED_MEANWHILE =
  'someone else changed the skill in the meantime; nothing was overwritten, push again'

const command = parsed(
  withService(
    describeScript(
      'skills:push',
      'Publishes the skills in the folders, at any depth; a skill is a folder with a SKILL.md, which has its name. Skills that have not changed are skipped. A skill that skills:pull wrote is published only if nobody else has changed it since. The API key needs the scopes skills:read and skills:write.',
      [
        'path/to/skills',
        'path/to/skills --dry-run',
        'path/to/skill --message "List breaking changes first."',
      ],
    )
      .argument('<folder...>', 'a skill, or a folder with skills at any depth')
      .option('--message <text>', 'what changed, for the list of versions')
      .option('--dry-run', 'print what would be created and updated, and change nothing')
      .option('--allow-skips', 'publish a skill without its symbolic links and special files')
      .option('--force', 'publish a skill that someone else has changed since it was pulled'),
  ),
)
const options = command.opts()
const [folders] = command.processedArgs

interface SkillFile extends StoredContent {
  readonly filename: string
  readonly executable: boolean
  readonly sha256: string
}

interface Skill {
  readonly name: string
  readonly files: readonly SkillFile[]
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
      const { skill, skipped } = await readSkill(folder)
      for (const line of skipped) progress.log(`skipped   ${line}`)
      if (skipped.length > 0 && !options.allowSkips) {
        throw new Error(`${countOf(skipped)} would be left out; --allow-skips publishes the skill without`)
      }
      const duplicate = pushed.get(skill.name)
      if (duplicate !== undefined) throw new Error(`name: ${duplicate} has the same name`)
      pushed.set(skill.name, folder)
      const outcome = await push(service, skill, folder, ids.get(skill.name))
      progress.log(`${outcome.padEnd(9)} ${skill.name}, ${countOf(skill.files)}`)
    } catch (error) {
      progress.warn(`failed    ${folder}: ${(error as Error).message}`)
      process.exitCode = 1
    } finally {
      progress.add()
    }
  }
  progress.end(options.dryRun ? 'Nothing was changed: this was a dry run.' : undefined)
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
    const hasSkills = entry.isDirectory() && entry.name !== NO_SKILLS && !isIgnored(entry.name)
    return hasSkills ? skillsBelow(path) : []
  })
}

function hasEntryFile(folder: string): boolean {
  return existsSync(join(folder, ENTRY_FILE))
}

/** @returns the skill, and what it leaves out. @throws if the folder is not a skill that the service accepts. */
async function readSkill(folder: string): Promise<{ skill: Skill; skipped: string[] }> {
  const { files, skipped } = readFiles(folder)
  if (!files.some(({ filename }) => filename === ENTRY_FILE)) {
    const start = `${join(folder, ENTRY_FILE)}: `
    const reason = skipped.find((line) => line.startsWith(start))?.slice(start.length)
    throw new Error(reason ? `${ENTRY_FILE} is ${reason}` : `there is no ${ENTRY_FILE}`)
  }
  const schema = createSkillContract.body
  const data = bodyOf(files)
  const result = schema.safeParse(data)
  if (!result.success) {
    const problems = describeProblems(result.error.issues, { schema, data, isSecret: false })
    throw new Error(problems.replaceAll(/\bfiles\.(\d+)/g, (_, index) => files[index]?.filename ?? index))
  }
  const described = await describedBy(files)
  if ('line' in described) throw new Error(described.message)
  return { skill: { name: described.name, files }, skipped }
}

/** @returns the files, and a line for each that is left out. */
function readFiles(folder: string): { files: SkillFile[]; skipped: string[] } {
  const files: SkillFile[] = []
  const skipped: string[] = []
  for (const { filename, path, kind } of entriesBelow(folder)) {
    if (kind === 'symbolic link') skipped.push(`${path}: a symbolic link`)
    if (kind === 'special file') skipped.push(`${path}: not a file`)
    if (kind !== 'file') continue
    const { bytes, ...file } = readLocalFile(path)
    // As the service stores it.
    files.push({ filename: filename.normalize('NFC'), ...file, ...contentOf(bytes) })
  }
  return { files, skipped }
}

/** The body of a request. */
function bodyOf(files: readonly SkillFile[]) {
  const { message } = options
  return { files: files.map(({ sha256, ...file }) => file), ...(message !== undefined && { message }) }
}

/** @param id the published skill of this name, if there is one. */
async function push(
  service: Service,
  { name, files }: Skill,
  folder: string,
  id: string | undefined,
): Promise<string> {
  const body = bodyOf(files)
  const local = fingerprintsOf(files)
  // A folder that was copied or renamed to another skill's name was not pulled.
  const record = basename(resolve(folder)) === name ? readRecord(folder) : undefined
  const recordPushed = (etag: string | null) => {
    if (record) writeRecord(folder, { etag, files: local })
  }
  if (record?.pending) throw new Error('a pull of this skill was interrupted; pull it again')

  if (id === undefined) {
    if (options.dryRun) return 'to create'
    const { etag } = await service.send('POST', '/v1/skills', body)
    recordPushed(etag)
    return 'created'
  }
  const isAsPulled = record?.etag != null && (await hasTag(service, id, record.etag))
  const current = isAsPulled ? undefined : await readVersion(service, id)
  const { etag, files: published } = current
    ? { etag: current.etag, files: fingerprintsOf(current.files) }
    : (record as { etag: string; files: typeof local })
  if (areEqual(local, published)) {
    if (current && !options.dryRun) recordPushed(etag)
    return 'unchanged'
  }
  if (record && !isAsPulled && !options.force) {
    if (areEqual(local, record.files)) return 'outdated'
    throw new Error(
      'changed here, and on the service since it was pulled; skills:pull gets those changes, --force publishes without them',
    )
  }
  if (options.dryRun) return 'to update'
  if (etag === null) throw new Error(CHANGED_MEANWHILE)
  const headers = { 'If-Match': etag }
  const updated = await service.send('PATCH', `/v1/skills/${id}`, body, headers).catch((error: Error) => {
    throw error.cause === PRECONDITION_FAILED ? new Error(CHANGED_MEANWHILE) : error
  })
  recordPushed(updated.etag)
  return 'updated'
}
