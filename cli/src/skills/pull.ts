/** Writes the skills of a service into a folder, and keeps what was changed there. */
import { existsSync, lstatSync, mkdirSync, readdirSync, renameSync, rmdirSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Workspace } from '../../../client/src/index.ts'
import { positiveInteger, startProgress, temporaryFolder, UsageError } from '../../../command-line/src/index.ts'
import { skillFilename, skillName } from '../../../src/contracts.ts'
import { describe, withJson } from '../command.ts'
import { failure } from '../local-files.ts'
import { countOf, dryRunNote, outcomeLine } from '../output.ts'
import { connect } from '../service.ts'
import {
  computeFingerprint,
  type Entry,
  entriesBelow,
  type Fingerprint,
  type Fingerprints,
  isIgnored,
  type PullRecord,
  RECORDS,
  readLocalFile,
  readRecord,
  recordsIn,
  writeRecord,
} from './folder.ts'
import { computeFingerprints, earlierFiles, hasTag, listSkills, readVersion, type VersionFile } from './versions.ts'

export const pull = withJson(
  describe(
    'pull',
    `Writes skills of the service into a folder, each into a folder with its name. What was changed there since the last pull stays; a skill in which the same file was changed on the service too is not pulled without --force. ${RECORDS} in the folder has what was pulled. The API key needs the scope skills:read.`,
    [
      'skills pull path/to/skills',
      'skills pull path/to/skills release-notes --version 1',
      'skills pull path/to/skills --dry-run',
    ],
  )
    .argument('<folder>', 'the folder of the skills; created if missing')
    .argument('[name...]', 'the skills; all if left out')
    .option('--version <number>', 'a version of one named skill instead of the current one', positiveInteger)
    .option('--dry-run', 'print what would be written, and change nothing')
    .option('--force', 'overwrite the changes in the folder'),
).action(pullAll)

type Options = ReturnType<typeof pull.opts>

/** A file to write or to remove. */
interface Change {
  readonly filename: string
  /** What is there now. */
  readonly entry: Entry | undefined
  readonly found: Fingerprint | undefined
  /** Undefined if the version does not have the file. */
  readonly wanted: Fingerprint | undefined
}

interface Comparison {
  readonly changes: readonly Change[]
  /** The files that were changed in the folder only. */
  readonly kept: readonly string[]
  /** The files that were changed in the folder and are different in the version. */
  readonly conflicts: readonly string[]
}

/** What is in the folder of a skill, by `keyOf`. */
type Local = ReadonlyMap<string, Entry>

async function pullAll(root: string, given: readonly string[], options: Options): Promise<void> {
  const names = [...new Set(given)]
  if (options.version !== undefined && names.length !== 1) {
    throw new UsageError('--version needs the name of one skill.')
  }
  const workspace = connect()
  const records = recordsIn(root)
  const ids = await listSkills(workspace)
  const wanted = names.length > 0 ? names : [...ids.keys()].sort()
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
  if (names.length === 0) {
    for (const name of removedSkills(ids, records, root)) {
      progress.log(outcomeLine(options, 'gone', name, ': not on the service; its folder stays'))
    }
  }
  progress.end(dryRunNote(options))
}

/** @returns the pulled skills that the service does not have. */
function removedSkills(ids: ReadonlyMap<string, string>, records: string, root: string): string[] {
  const files = existsSync(records) ? readdirSync(records).sort() : []
  return files
    .filter((file) => file.endsWith('.json'))
    .map((file) => file.slice(0, -'.json'.length))
    .filter((name) => !ids.has(name) && existsSync(join(root, name)))
}

/** @returns what to print. @throws if the skill cannot be written; nothing was changed then. */
async function pullSkill(
  workspace: Workspace,
  name: string,
  id: string,
  root: string,
  options: Options,
): Promise<string[]> {
  if (!skillName().safeParse(name).success) throw new Error('the service has a skill with a wrong name')
  const folder = join(root, name)
  const local = readLocal(folder)
  // A folder that was deleted is written again.
  const record = local && readRecord(folder)
  const linesOf = (outcome: string, files: Fingerprints, kept: readonly string[]) => [
    ...kept.map((filename) => outcomeLine(options, 'kept', `${name}/${filename}`, ': changed here')),
    outcomeLine(options, outcome, name, `, ${countOf(files.size, 'file')}`, { files: files.size }),
  ]
  const isPlain = options.version === undefined && !options.force && !record?.pending
  if (record?.etag != null && isPlain && (await hasTag(workspace, id, record.etag))) {
    return linesOf('unchanged', record.files, compare(local, record, record.files, options).kept)
  }

  const { etag, files } = await readVersion(workspace, id, options.version)
  for (const { filename } of files) checkFilename(filename)
  const pulled = { etag, files: computeFingerprints(files) }
  let comparison = compare(local, record, pulled.files, options)
  if (comparison.conflicts.length > 0 && local && !record) {
    // The folder was not pulled, but may have been pushed.
    comparison = compare(local, await earlierVersionIn(local, workspace, id), pulled.files, options)
  }
  const { changes, kept, conflicts } = comparison
  if (conflicts.length > 0) {
    throw new Error(
      `not pulled, because these files were changed here: ${conflicts.join(', ')}; --force overwrites them`,
    )
  }
  checkPaths(local, changes)
  const skipped = files
    .filter(({ filename }) => isIgnored(filename))
    .map(({ filename }) => outcomeLine(options, 'skipped', `${name}/${filename}`, ": never part of a skill's folder"))
  if (options.dryRun) {
    const outcome = local === undefined ? 'to create' : changes.length > 0 ? 'to update' : 'unchanged'
    return [...skipped, ...linesOf(outcome, pulled.files, kept)]
  }
  const outcome = await write(folder, local, changes, pulled, new Map(files.map((file) => [file.filename, file])))
  return [...skipped, ...linesOf(outcome, pulled.files, kept)]
}

/** The service checks filenames, too, but another server may answer. */
function checkFilename(filename: string): void {
  const result = skillFilename().safeParse(filename)
  if (!result.success || result.data !== filename) {
    throw new Error(`the service has a filename that no file of a skill can have: ${JSON.stringify(filename)}`)
  }
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
  record: Pick<PullRecord, 'files' | 'pending'> | undefined,
  version: Fingerprints,
  options: Options,
): Comparison {
  const changes: Change[] = []
  const kept: string[] = []
  const conflicts: string[] = []
  const known = [record?.files, record?.pending ?? record?.files].map(byKey)
  const wantedByKey = byKey(version)
  const filenames = [...known, wantedByKey].flatMap((files) => [...files])
  for (const [key, { filename }] of new Map(filenames)) {
    const entry = local?.get(key)
    const found = fingerprintAt(entry)
    const wanted = wantedByKey.get(key)?.fingerprint
    const isRenamed = entry !== undefined && wanted !== undefined && !isNamed(entry, filename)
    if (found === wanted && !isRenamed) continue
    const knownHere = known.map((files) => files.get(key)?.fingerprint)
    if (options.force || knownHere.includes(found) || found === wanted) {
      changes.push({ filename, entry, found, wanted })
    } else if (knownHere.every((each) => each === wanted)) kept.push(filename)
    else conflicts.push(filename)
  }
  return { changes, kept, conflicts }
}

function byKey(files: Fingerprints = new Map()) {
  return new Map(Array.from(files, ([filename, fingerprint]) => [keyOf(filename), { filename, fingerprint }]))
}

/** @returns the latest version whose files are all in the folder. */
async function earlierVersionIn(local: Local, workspace: Workspace, id: string) {
  for await (const files of earlierFiles(workspace, id)) {
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
  changes: readonly Change[],
  pulled: PullRecord,
  files: ReadonlyMap<string, VersionFile>,
): Promise<'created' | 'updated' | 'unchanged'> {
  const staged = join(stagingFolder(dirname(folder)), basename(folder))
  mkdirSync(staged)
  for (const { filename } of changes) {
    const file = files.get(filename)
    if (!file) continue
    mkdirSync(dirname(join(staged, filename)), { recursive: true })
    const bytes = Buffer.from(file.content, file.encoding)
    writeFileSync(join(staged, filename), bytes, { mode: file.executable ? 0o777 : 0o666 })
  }
  if (!local) renameSync(staged, folder)
  else if (changes.length > 0) {
    const before = new Map(pulled.files)
    for (const { filename, found } of changes) {
      if (found === undefined) before.delete(filename)
      else before.set(filename, found)
    }
    await writeRecord(folder, { etag: null, files: before, pending: pulled.files })
    for (const { filename, entry, wanted } of changes) {
      if (entry && (wanted === undefined || !isNamed(entry, filename))) remove(entry, folder)
    }
    for (const { filename, entry, wanted } of changes) {
      if (wanted === undefined) continue
      const path = entry && isNamed(entry, filename) ? entry.path : join(folder, filename)
      if (entry?.kind === 'folder' && existsSync(path)) rmdirSync(path)
      mkdirSync(dirname(path), { recursive: true })
      renameSync(join(staged, filename), path)
    }
  }
  await writeRecord(folder, pulled)
  return local === undefined ? 'created' : changes.length > 0 ? 'updated' : 'unchanged'
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
