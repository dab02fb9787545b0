/** Writes the skills of a service into a folder, and keeps what was changed there. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Workspace } from '../../../client/src/index.ts'
import {
  countOf,
  positiveInteger,
  startProgress,
  temporaryFolder,
  UsageError,
} from '../../../command-line/src/index.ts'
import { skillName } from '../../../src/contracts.ts'
import { describe, withJson } from '../command.ts'
import { failure } from '../local-files.ts'
import { dryRunNote, outcomeLine } from '../output.ts'
import { connect } from '../service.ts'
import { type Change, type Conflict, type MergedChange, type Note, resolveConflict } from './conflicts.ts'
import {
  computeFingerprint,
  type Entry,
  entriesBelow,
  type Fingerprint,
  type Fingerprints,
  isIgnored,
  RECORDS,
  readLocalFile,
  readRecord,
  recordsIn,
  type SkillRecord,
  sha256Of,
  writeRecord,
} from './folder.ts'
import {
  computeFingerprints,
  describeVersion,
  earlierFiles,
  hasTag,
  listSkills,
  readVersion,
  type SkillVersion,
  type VersionFile,
} from './versions.ts'

export const pull = withJson(
  describe(
    'pull',
    `Writes skills of the service into a folder, each into a folder with its name. What was changed there since the last pull or push stays, and changes of the same file on the service are merged into it; where both changed the same lines, both stay between conflict markers. ${RECORDS} in the folder records what was pulled and pushed. The API key needs the scope skills:read.`,
    [
      'skills pull path/to/skills',
      'skills pull path/to/skills --all',
      'skills pull path/to/skills release-notes --version 1',
      'skills pull path/to/skills --dry-run',
    ],
  )
    .argument('<folder>', 'the folder of the skills; created if missing')
    .argument('[name...]', 'the skills; if left out, those that the folder has')
    .option('--all', 'all skills of the service')
    .option('--version <number>', 'a version of one named skill instead of the current one', positiveInteger)
    .option('--dry-run', 'print what would be written, and change nothing')
    .option('--force', 'overwrite the changes in the folder'),
).action(pullAll)

type Options = ReturnType<typeof pull.opts>

interface Comparison {
  readonly changes: readonly Change[]
  /** The files that were changed in the folder only. */
  readonly kept: readonly string[]
  /** The files that were changed in the folder and are different in the version. */
  readonly conflicts: readonly Conflict[]
}

/** What is in the folder of a skill, by `keyOf`. */
type Local = ReadonlyMap<string, Entry>

async function pullAll(root: string, given: readonly string[], options: Options): Promise<void> {
  const names = [...new Set(given)]
  if (options.version !== undefined && names.length !== 1) {
    throw new UsageError('--version needs the name of one skill.')
  }
  if (options.all && names.length > 0) throw new UsageError('--all cannot be used with names of skills.')
  const workspace = connect()
  const records = recordsIn(root)
  const ids = await listSkills(workspace)
  const gone = names.length > 0 ? [] : removedSkills(ids, records, root)
  const wanted = names.length > 0 ? names : [...ids.keys()].filter((name) => options.all || isHere(root, name)).sort()
  if (wanted.length + gone.length === 0 && ids.size > 0) {
    throw new Error(`${root} has no skill of the service. Name the skills to pull, or pass --all for all ${ids.size}.`)
  }
  const progress = startProgress('Pulling skills', wanted.length)
  for (const name of wanted) {
    try {
      const id = ids.get(name)
      if (id === undefined) throw new Error('there is no skill with this name')
      for (const line of await pullSkill(workspace, name, id, root, options)) progress.log(line)
    } catch (error) {
      const { path = root } = error as NodeJS.ErrnoException
      progress.warn(`failed    ${name}: ${failure(path, 'written', error).message}`)
      process.exitCode = 1
    } finally {
      progress.add()
    }
  }
  for (const name of gone) {
    progress.log(outcomeLine(options, 'gone', name, ': not on the service; its folder stays'))
  }
  progress.end(dryRunNote(options))
}

function isHere(root: string, name: string): boolean {
  return lstatSync(join(root, name), { throwIfNoEntry: false }) !== undefined
}

/** @returns the folders whose skill the service no longer has. */
function removedSkills(ids: ReadonlyMap<string, string>, records: string, root: string): string[] {
  const files = existsSync(records) ? readdirSync(records).sort() : []
  // A folder from which a skill was pushed may have another name than the skill.
  const onService = new Set<string | undefined>(ids.values())
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter((name) => !ids.has(name) && existsSync(join(root, name)))
    .filter((name) => !onService.has(readRecord(join(root, name))?.skillId))
}

/** @returns what to print. @throws if the skill cannot be written; nothing was changed then. */
async function pullSkill(
  workspace: Workspace,
  name: string,
  id: string,
  root: string,
  options: Options,
): Promise<string[]> {
  const { folder, local, record } = openFolder(name, id, root, options)
  if (record && (await isCurrent(workspace, id, record, options))) {
    const { kept } = compare(local, record, record.files, options)
    return linesOf(name, { outcome: 'unchanged', files: record.files.size, kept }, options)
  }
  const version = await readVersion(workspace, id, options.version)
  const pulled = { skillId: id, etag: version.etag, files: computeFingerprints(version.files) }
  const { changes, kept, notes } = await planOf(workspace, version, pulled, local, record, options)
  if (notes.some(({ outcome }) => outcome === 'conflict')) process.exitCode = 1
  checkPaths(local, changes)
  const skipped = version.files.map(({ filename }) => filename).filter(isIgnored)
  if (!options.dryRun) await write(folder, local, changes, pulled, version.files)
  const outcome = outcomeOf(local, changes, options)
  return linesOf(name, { outcome, files: pulled.files.size, kept, notes, skipped }, options)
}

/** Reads what is in the folder of a skill. @throws if it is another skill's. */
function openFolder(name: string, id: string, root: string, { force }: Options) {
  if (!skillName().safeParse(name).success) throw new Error('the service has a skill with a wrong name')
  const folder = join(root, name)
  const local = readLocal(folder)
  // A folder that was deleted is written again.
  const record = local && readRecord(folder)
  // A push records the skill of a folder with any name.
  if (record && record.skillId !== id && !force) {
    throw new Error('the folder has another skill; move it away, or pull with --force')
  }
  return { folder, local, record }
}

/** True if the last pull or push left the folder at the current version, so that nothing has to be read. */
async function isCurrent(workspace: Workspace, id: string, record: SkillRecord, { version, force }: Options) {
  if (version !== undefined || force || record.pending || record.etag == null) return false
  return await hasTag(workspace, id, record.etag)
}

/** What a pull changes in the folder. It reads earlier versions only where the folder and the version differ. */
async function planOf(
  workspace: Workspace,
  version: SkillVersion,
  { skillId, files }: SkillRecord,
  local: Local | undefined,
  record: SkillRecord | undefined,
  options: Options,
) {
  let comparison = compare(local, record, files, options)
  if (comparison.conflicts.length > 0 && local && !record) {
    // A folder without a record, such as a fresh checkout, may have the files of an earlier version.
    comparison = compare(local, await earlierVersionIn(local, workspace, skillId), files, options)
  }
  const { kept, conflicts } = comparison
  const resolutions = await resolve(workspace, skillId, version, conflicts, local)
  const changes = [...comparison.changes, ...resolutions.flatMap((resolution) => resolution.changes)]
  return { changes, kept, notes: resolutions.map(({ note }) => note) }
}

function outcomeOf(local: Local | undefined, changes: readonly Change[], { dryRun }: Options): string {
  if (local === undefined) return dryRun ? 'to create' : 'created'
  if (changes.length === 0) return 'unchanged'
  return dryRun ? 'to update' : 'updated'
}

interface Result {
  readonly outcome: string
  /** How many files the version has. */
  readonly files: number
  readonly kept: readonly string[]
  readonly notes?: readonly Note[]
  readonly skipped?: readonly string[]
}

function linesOf(name: string, { outcome, files, kept, notes = [], skipped = [] }: Result, options: Options): string[] {
  const line = (outcome: string, filename: string, detail: string) =>
    outcomeLine(options, outcome, `${name}/${filename}`, `: ${detail}`)
  return [
    ...skipped.map((filename) => line('skipped', filename, "never part of a skill's folder")),
    ...kept.map((filename) => line('kept', filename, 'changed here')),
    ...notes.map(({ outcome, filename, detail }) => line(outcome, filename, detail)),
    outcomeLine(options, outcome, name, `, ${countOf(files, 'file')}`, { files }),
  ]
}

/** Merges the files that were changed in the folder and in the version, or marks their conflicts. */
async function resolve(
  workspace: Workspace,
  id: string,
  version: SkillVersion,
  conflicts: readonly Conflict[],
  local: Local = new Map(),
) {
  if (conflicts.length === 0) return []
  const theirs = {
    version: version.version,
    label: await describeVersion(workspace, version),
    files: new Map(version.files.map((file) => [file.filename, file])),
  }
  const bases = await readBases(workspace, id, conflicts)
  return conflicts.map((conflict) =>
    resolveConflict(conflict, bases.get(conflict.base), theirs, (filename) => local.get(keyOf(filename))),
  )
}

/** @returns the contents that both sides have changed, by fingerprint: those that a version still has. */
async function readBases(workspace: Workspace, id: string, conflicts: readonly Conflict[]) {
  const bases = new Map<Fingerprint | undefined, Buffer>()
  // Where one side is as it was, the content of the other is taken.
  const wanted = new Set<Fingerprint>()
  for (const { base, found, wanted: theirs } of conflicts) {
    if (base && found && theirs && ![found, theirs].map(sha256Of).includes(sha256Of(base))) wanted.add(base)
  }
  if (wanted.size === 0) return bases
  for await (const files of earlierFiles(workspace, id)) {
    for (const file of files) {
      const fingerprint = computeFingerprint(file)
      if (wanted.delete(fingerprint)) bases.set(fingerprint, Buffer.from(file.content, file.encoding))
    }
    if (wanted.size === 0) return bases
  }
  return bases
}

/** macOS may have decomposed the letters of a filename. */
function isNamed(entry: Entry, filename: string): boolean {
  return entry.filename.normalize('NFC') === filename
}

/** Equal for filenames that some file systems do not tell apart, as no two files of a skill are. */
function keyOf(filename: string): string {
  return filename.normalize('NFC').toLowerCase().toUpperCase()
}

/** @returns undefined without such a folder. @throws if it is something else. */
function readLocal(folder: string): Local | undefined {
  const status = lstatSync(folder, { throwIfNoEntry: false })
  if (!status) return undefined
  if (!status.isDirectory()) throw new Error(`${folder} is not a folder; move it away`)
  const local = new Map<string, Entry>()
  for (const entry of entriesBelow(folder)) {
    const key = keyOf(entry.filename)
    const other = local.get(key)
    if (other) throw new Error(`${other.path} and ${entry.path} differ only by case; remove one`)
    local.set(key, entry)
  }
  return local
}

/** Differs from that of every file if there is something else than a file. */
function fingerprintAt(entry: Entry | undefined): Fingerprint | undefined {
  if (entry === undefined || entry.kind === 'folder') return undefined
  return entry.kind === 'file' ? computeFingerprint(readLocalFile(entry.path)) : entry.kind
}

/**
 * Compares the folder with the version, and with what the last pull wrote: each file is as that pull found it or as it
 * wrote it, unless it was changed since.
 */
function compare(
  local: Local | undefined,
  record: Pick<SkillRecord, 'files' | 'pending' | 'merged'> | undefined,
  version: Fingerprints,
  options: Options,
): Comparison {
  const changes: Change[] = []
  const kept: string[] = []
  const conflicts: Conflict[] = []
  const known = [record?.files, record?.pending ?? record?.files].map(byKey)
  const merged = byKey(record?.merged)
  const wantedByKey = byKey(version)
  const filenames = [...known, wantedByKey].flatMap((files) => [...files])
  for (const [key, { filename }] of new Map(filenames)) {
    const entry = local?.get(key)
    const found = fingerprintAt(entry)
    const wanted = wantedByKey.get(key)?.fingerprint
    const isRenamed = entry !== undefined && wanted !== undefined && !isNamed(entry, filename)
    if (found === wanted && !isRenamed) continue
    // An interrupted pull has merged the file with its version.
    const isMerged = found !== undefined && found === merged.get(key)?.fingerprint
    const knownHere = (isMerged ? known.slice(1) : known).map((files) => files.get(key)?.fingerprint)
    if (options.force || knownHere.includes(found) || found === wanted) {
      changes.push({ filename, entry, found, wanted })
    } else if (knownHere.every((each) => each === wanted)) kept.push(filename)
    else conflicts.push({ filename, entry, found, wanted, base: knownHere[0] })
  }
  return { changes, kept, conflicts }
}

function byKey(files: Fingerprints = new Map()) {
  return new Map(Array.from(files, ([filename, fingerprint]) => [keyOf(filename), { filename, fingerprint }]))
}

/** @returns the latest version whose files are all in the folder. */
async function earlierVersionIn(local: Local, workspace: Workspace, id: string) {
  for await (const each of earlierFiles(workspace, id)) {
    const files = computeFingerprints(each)
    const isHere = [...files].every(([filename, each]) => fingerprintAt(local.get(keyOf(filename))) === each)
    if (isHere) return { files }
  }
  return undefined
}

/** @throws if what stays in the folder is in the way of a file. */
function checkPaths(local: Local = new Map(), changes: readonly Change[]): void {
  const keys = (some: readonly Change[]) => some.map(({ filename }) => keyOf(filename))
  const removed = new Set(keys(changes.filter(({ wanted }) => wanted === undefined)))
  const written = keys(changes.filter(({ wanted }) => wanted !== undefined))
  for (const [key, { path, kind }] of local) {
    if (kind === 'folder' || removed.has(key)) continue
    const blocked = written.find((each) => each.startsWith(`${key}/`) || key.startsWith(`${each}/`))
    if (blocked !== undefined) throw new Error(`${path} is in the way of a file; move it away`)
  }
}

/**
 * Writes the changes. Files are written elsewhere and moved, so that each is there as a whole or not at all; a new
 * folder is moved as a whole. The record tells an interrupted pull from changes in the folder.
 */
async function write(
  folder: string,
  local: Local | undefined,
  changes: readonly (Change | MergedChange)[],
  pulled: SkillRecord,
  files: readonly VersionFile[],
): Promise<void> {
  const staged = join(stagingFolder(dirname(folder)), basename(folder))
  stage(staged, changes, files)
  if (!local) renameSync(staged, folder)
  else if (changes.length > 0) {
    await writeRecord(folder, pendingRecord(pulled, changes))
    move(staged, folder, changes)
  }
  await writeRecord(folder, pulled)
}

/** Writes the files that are new or changed to a folder beside the skill's. */
function stage(staged: string, changes: readonly (Change | MergedChange)[], files: readonly VersionFile[]): void {
  const byName = new Map(files.map((file) => [file.filename, file]))
  mkdirSync(staged)
  for (const change of changes) {
    const { filename } = change
    const content = 'content' in change ? change.content : toContent(byName.get(filename))
    if (!content) continue
    mkdirSync(dirname(join(staged, filename)), { recursive: true })
    writeFileSync(join(staged, filename), content.bytes, { mode: content.executable ? 0o777 : 0o666 })
  }
}

/** What the folder may have while the files are moved: each file as it was, or as it will be. */
function pendingRecord(pulled: SkillRecord, changes: readonly (Change | MergedChange)[]): SkillRecord {
  const before = new Map(pulled.files)
  const merged = new Map<string, Fingerprint>()
  for (const change of changes) {
    const { filename, found, wanted } = change
    // What was changed here has to be found to be changed again.
    const was = 'content' in change ? change.base : found
    if (was === undefined) before.delete(filename)
    else before.set(filename, was)
    if ('content' in change && wanted !== undefined && wanted !== found) merged.set(filename, wanted)
  }
  return { ...pulled, etag: null, files: before, pending: pulled.files, merged }
}

/** Removes what goes from the folder, then moves the staged files into it. */
function move(staged: string, folder: string, changes: readonly (Change | MergedChange)[]): void {
  // A merged file replaces that of the folder, which no version has.
  const staysAt = (change: Change) => 'content' in change || (change.entry && isNamed(change.entry, change.filename))
  for (const change of changes) {
    if (change.entry && (change.wanted === undefined || !staysAt(change))) remove(change.entry, folder)
  }
  for (const change of changes) {
    const { filename, entry, wanted } = change
    if (wanted === undefined) continue
    const path = entry && staysAt(change) ? entry.path : join(folder, filename)
    if (entry?.kind === 'folder' && existsSync(path)) rmdirSync(path)
    mkdirSync(dirname(path), { recursive: true })
    renameSync(join(staged, filename), path)
  }
}

function toContent(file: VersionFile | undefined) {
  return file && { bytes: Buffer.from(file.content, file.encoding), executable: file.executable }
}

/** Removes a file, and the folders that are empty without it. */
function remove({ path, kind }: Entry, folder: string): void {
  if (kind === 'folder') return
  rmSync(path)
  for (let above = dirname(path); above !== folder && readdirSync(above).length === 0; above = dirname(above)) {
    rmdirSync(above)
  }
}

let staging: string | undefined

/** On the file system of the folder, so that files can be moved. Deleted at the end. */
function stagingFolder(root: string): string {
  if (staging === undefined) {
    const records = recordsIn(root)
    mkdirSync(records, { recursive: true })
    staging = temporaryFolder(join(records, 'staging-'))
  }
  return staging
}
