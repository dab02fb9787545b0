/** Publishes skill folders: each has a SKILL.md, whose YAML front matter has a name and a description. */
import { existsSync, lstatSync, statSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { type Workspace, WorkspaceError } from '../../../client/src/index.ts'
import { countOf, startProgress } from '../../../command-line/src/index.ts'
import {
  createSkillContract,
  describedBy,
  describeProblems,
  ENTRY_FILE,
  MAX_DESCRIPTION,
  type StoredContent,
  toContent,
} from '../../../src/contracts.ts'
import { describe, withJson } from '../command.ts'
import { failure, readFolder } from '../local-files.ts'
import { dryRunNote, outcomeLine } from '../output.ts'
import { connect, PRECONDITION_FAILED } from '../service.ts'
import { findConflict } from './conflicts.ts'
import { truncateDescription } from './description.ts'
import {
  areEqual,
  computeSha256,
  entriesBelow,
  isIgnored,
  readLocalFile,
  readRecord,
  type SkillRecord,
  writeRecord,
} from './folder.ts'
import { computeFingerprints, describeVersion, hasTag, listSkills, readVersion } from './versions.ts'

/** Where no skills are looked for, besides what is never part of a skill. */
const NO_SKILLS = 'node_modules'

export const push = withJson(
  describe(
    'push',
    'Publishes the skills in the folders, at any depth; a skill is a folder with a SKILL.md, which has its name. Skills that have not changed are skipped. A skill that exists is changed only if nobody else has changed it since it was last pulled into the folder or pushed from it, and a skill with conflict markers is not published. The API key needs the scopes skills:read and skills:write.',
    [
      'skills push path/to/skills',
      'skills push path/to/skills --dry-run',
      'skills push path/to/skill --message "List breaking changes first."',
    ],
  )
    .argument('<folder...>', 'a skill, or a folder with skills at any depth')
    .option('--message <text>', 'what changed, for the list of versions')
    .option('--dry-run', 'print what would be created and updated, and change nothing')
    .option('--allow-skips', 'publish a skill without its symbolic links and special files')
    .option(
      '--truncate-description',
      `publish the first ${MAX_DESCRIPTION} characters of a longer description; SKILL.md in the folder stays`,
    )
    .option(
      '--force',
      'publish a skill also if someone else has changed it, or if it was never pulled into the folder',
    ),
).action(pushAll)

type Options = ReturnType<typeof push.opts>

interface SkillFile extends StoredContent {
  readonly filename: string
  readonly executable: boolean
  readonly sha256: string
}

interface Skipped {
  readonly path: string
  readonly reason: string
}

interface Pushed {
  readonly outcome: string
  /** What to record of the skill. Undefined if the record of the folder stays. */
  readonly record?: SkillRecord
}

interface Skill {
  readonly name: string
  readonly files: readonly SkillFile[]
}

async function pushAll(folders: readonly string[], options: Options): Promise<void> {
  const workspace = connect()
  const ids = await listSkills(workspace)
  const pushed = new Map<string, string>()
  const found = [...new Set(folders.flatMap((folder) => skillFolders(folder)))]
  const progress = startProgress('Publishing skills', found.length)
  for (const folder of found) {
    try {
      if (!folders.includes(folder) && lstatSync(folder).isSymbolicLink()) {
        if (!options.allowSkips) throw new Error('a symbolic link; --allow-skips leaves it out')
        progress.log(outcomeLine(options, 'skipped', folder, ': a symbolic link'))
        continue
      }
      const { skill, skipped } = await readSkill(folder, options)
      for (const { path, reason } of skipped) progress.log(outcomeLine(options, 'skipped', path, `: ${reason}`))
      if (skipped.length > 0 && !options.allowSkips) {
        throw new Error(
          `${countOf(skipped.length, 'file')} would be left out; --allow-skips publishes the skill without`,
        )
      }
      const duplicate = pushed.get(skill.name)
      if (duplicate !== undefined) throw new Error(`name: ${duplicate} has the same name`)
      pushed.set(skill.name, folder)
      const { outcome, record } = await pushSkill(workspace, skill, folder, ids.get(skill.name), options)
      await recordPushed(folder, record, (reason) => progress.warn(`warning   ${skill.name}: ${reason}`))
      const files = skill.files.length
      progress.log(outcomeLine(options, outcome, skill.name, `, ${countOf(files, 'file')}`, { files }))
    } catch (error) {
      progress.warn(`failed    ${folder}: ${(error as Error).message}`)
      process.exitCode = 1
    } finally {
      progress.add()
    }
  }
  progress.end(dryRunNote(options))
}

/** @returns the folder itself, if it is a skill or has none; otherwise the skills below it. */
function skillFolders(folder: string): string[] {
  if (hasEntryFile(folder) || !isFolder(folder)) return [folder]
  const skills = skillsBelow(folder)
  return skills.length > 0 ? skills : [folder]
}

function isFolder(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}

/** Includes symbolic links to skills, which are reported. */
function skillsBelow(folder: string): string[] {
  return readFolder(folder).flatMap((entry) => {
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
async function readSkill(folder: string, options: Options): Promise<{ skill: Skill; skipped: Skipped[] }> {
  if (!isFolder(folder)) throw new Error('there is no such folder')
  const { files: found, skipped } = readFiles(folder)
  const files = options.truncateDescription ? found.map(withTruncatedDescription) : found
  if (!files.some(({ filename }) => filename === ENTRY_FILE)) {
    const reason = skipped.find(({ path }) => path === join(folder, ENTRY_FILE))?.reason
    throw new Error(reason ? `${ENTRY_FILE} is ${reason}` : `there is no ${ENTRY_FILE}`)
  }
  const schema = createSkillContract.body
  const data = bodyOf(files, options)
  const result = schema.safeParse(data)
  if (!result.success) {
    const problems = describeProblems(result.error.issues, { schema, data, isSecret: false })
    throw new Error(problems.replaceAll(/\bfiles\.(\d+)/g, (_, index) => files[index]?.filename ?? index))
  }
  const described = await describedBy(files)
  if ('line' in described) throw new Error(withHint(described.message, files))
  return { skill: { name: described.name, files }, skipped }
}

/** @returns the files, and those that are left out. */
function readFiles(folder: string): { files: SkillFile[]; skipped: Skipped[] } {
  const files: SkillFile[] = []
  const skipped: Skipped[] = []
  for (const { filename, path, kind } of entriesBelow(folder)) {
    if (kind === 'symbolic link') skipped.push({ path, reason: 'a symbolic link' })
    if (kind === 'special file') skipped.push({ path, reason: 'not a file' })
    if (kind !== 'file') continue
    const { bytes, ...file } = readLocalFile(path)
    const left = findConflict(filename, bytes)
    if (left !== undefined) throw new Error(left)
    // The form in which the service stores it.
    files.push({ filename: filename.normalize('NFC'), ...file, ...toContent(bytes) })
  }
  return { files, skipped }
}

function withTruncatedDescription(file: SkillFile): SkillFile {
  const content = truncatedContent(file)
  return content === undefined ? file : { ...file, content, sha256: computeSha256(Buffer.from(content)) }
}

function truncatedContent({ filename, content, encoding }: SkillFile): string | undefined {
  return filename === ENTRY_FILE && encoding === 'utf-8' ? truncateDescription(content) : undefined
}

function withHint(message: string, files: readonly SkillFile[]): string {
  const isTooLong = files.some((file) => truncatedContent(file) !== undefined)
  return isTooLong ? `${message} --truncate-description publishes its first ${MAX_DESCRIPTION} characters.` : message
}

/** The body of a request. */
function bodyOf(files: readonly SkillFile[], { message }: Options) {
  return { files: files.map(({ sha256, ...file }) => file), ...(message !== undefined && { message }) }
}

/** @param id the published skill of this name, if there is one. */
async function pushSkill(
  workspace: Workspace,
  { name, files }: Skill,
  folder: string,
  id: string | undefined,
  options: Options,
): Promise<Pushed> {
  const body = bodyOf(files, options)
  const local = computeFingerprints(files)
  const found = readRecord(folder)
  if (found?.pending) throw new Error('a pull of this skill was interrupted; pull it again')
  if (id === undefined) {
    if (options.dryRun) return { outcome: 'to create' }
    const { data, response } = await workspace.skills.create(body).withResponse()
    return { outcome: 'created', record: { skillId: data.id, etag: response.headers.get('ETag'), files: local } }
  }

  // The folder may have had another skill, or that of another service.
  const record = found?.skillId === id ? found : undefined
  const isAsRecorded = record?.etag != null && (await hasTag(workspace, id, record.etag))
  const current = isAsRecorded ? undefined : await readVersion(workspace, id)
  const { etag, files: published } = current
    ? { etag: current.etag, files: computeFingerprints(current.files) }
    : (record as { etag: string; files: typeof local })
  if (areEqual(local, published)) {
    const isNew = current && !options.dryRun
    return { outcome: 'unchanged', ...(isNew && { record: { skillId: id, etag, files: local } }) }
  }
  const describeRefusal = () => describeCurrent(workspace, id, name, folder, record !== undefined)
  if (!isAsRecorded && !options.force) {
    if (record && areEqual(local, record.files)) return { outcome: 'outdated' }
    throw new Error(await describeRefusal())
  }
  if (options.dryRun) return { outcome: 'to update' }
  const describeRace = () =>
    options.force
      ? 'someone else changed the skill in the meantime; nothing was overwritten, push again'
      : describeRefusal()
  if (etag === null) throw new Error(await describeRace())
  const update = workspace.skills.update(id, body, { ifMatch: etag }).withResponse()
  const { response } = await update.catch(async (error: Error) => {
    const isChanged = error instanceof WorkspaceError && error.status === PRECONDITION_FAILED
    throw isChanged ? new Error(await describeRace()) : error
  })
  return { outcome: 'updated', record: { skillId: id, etag: response.headers.get('ETag'), files: local } }
}

/** Without a record, the next push needs a pull or --force. */
async function recordPushed(folder: string, record: SkillRecord | undefined, warn: (reason: string) => void) {
  try {
    if (record) await writeRecord(folder, record)
  } catch (error) {
    const { path = folder } = error as NodeJS.ErrnoException
    warn(
      `the push was not recorded, so the next one needs a pull or --force: ${failure(path, 'written', error).message}`,
    )
  }
}

/** Why the skill was not published: who made the version that is current, when, and what to type next. */
async function describeCurrent(
  workspace: Workspace,
  id: string,
  name: string,
  folder: string,
  isKnown: boolean,
): Promise<string> {
  const version = await readVersion(workspace, id)
  const path = resolve(folder)
  const parent = relative('', dirname(path)) || '.'
  const argument = /^[\w./-]+$/.test(parent) ? parent : JSON.stringify(parent)
  const difference = isKnown
    ? 'changed here, and on the service'
    : 'the service has this skill with other files, and it was never pulled here'
  // A pull writes into the folder that has the skill's name.
  const rename = basename(path) === name ? '' : `rename the folder to ${name}, and run `
  return (
    `${difference}: ${await describeVersion(workspace, version)}, made at ${version.createdAt}, is current. ` +
    `To merge it: ${rename}workspace skills pull ${argument} ${name}; --force publishes without it`
  )
}
