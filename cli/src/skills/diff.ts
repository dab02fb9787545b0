/** `workspace skills diff`. */
import { lstatSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { printable } from '../../../client/src/printable.ts'
import { positiveInteger } from '../../../command-line/src/index.ts'
import { describe, withJson } from '../command.ts'
import { print, printText } from '../output.ts'
import { connect } from '../service.ts'
import { computeFingerprint, entriesBelow, type Fingerprint, isExecutable, readLocalFile } from './folder.ts'
import { diffTexts, isText } from './lines.ts'
import { findSkill, readVersion } from './versions.ts'

export const diff = withJson(
  describe(
    'diff',
    'Shows how a skill in a folder differs from the current version on the service, as a unified diff; or from another version, or how two versions differ. The API key needs the scope skills:read.',
    [
      'skills diff path/to/skills/release-notes',
      'skills diff path/to/skills/release-notes --from 2',
      'skills diff release-notes --from 1 --to 3',
    ],
  )
    .argument('<skill>', 'the folder of the skill, which has its name; with --to, the name is enough')
    .option('--from <version>', 'the version before; default: the current one', positiveInteger)
    .option('--to <version>', 'the version after; default: the folder', positiveInteger),
).action(async (skill, { from, to, json }) => {
  const workspace = connect()
  const folder = resolve(skill)
  const id = await findSkill(workspace, basename(folder))
  const sideOf = async (version?: number): Promise<Side> => {
    const { version: number, files } = await readVersion(workspace, id, version)
    const read = files.map(({ filename, content, encoding, ...file }): [string, File] => [
      filename,
      { bytes: Buffer.from(content, encoding), fingerprint: computeFingerprint(file) },
    ])
    return { label: printable(`version ${number}`), files: new Map(read) }
  }
  const before = await sideOf(from)
  const after = to === undefined ? readSide(folder, skill) : await sideOf(to)
  for (const difference of compare(before, after)) {
    if (json) print({ json }, difference, '')
    else printText(difference.diff)
  }
})

interface File {
  readonly fingerprint: Fingerprint
  readonly bytes: Buffer
}

interface Side {
  readonly label: string
  readonly files: ReadonlyMap<string, File>
}

interface Difference {
  readonly filename: string
  readonly change: 'added' | 'changed' | 'removed'
  readonly diff: string
}

function readSide(folder: string, skill: string): Side {
  if (!lstatSync(folder, { throwIfNoEntry: false })?.isDirectory()) {
    throw new Error(`There is no folder ${skill}. To compare two versions, pass --to.`)
  }
  const files = entriesBelow(folder).filter(({ kind }) => kind === 'file')
  const read = files.map(({ filename, path }): [string, File] => {
    const { bytes, ...file } = readLocalFile(path)
    return [filename.normalize('NFC'), { bytes, fingerprint: computeFingerprint(file) }]
  })
  return { label: 'yours', files: new Map(read) }
}

function compare(before: Side, after: Side): Difference[] {
  const filenames = [...new Set([...before.files.keys(), ...after.files.keys()])].sort()
  return filenames.flatMap((filename): Difference[] => {
    const [from, to] = [before.files.get(filename), after.files.get(filename)]
    if (from?.fingerprint === to?.fingerprint) return []
    const change = from === undefined ? 'added' : to === undefined ? 'removed' : 'changed'
    const name = printable(filename)
    const diff = diffModes(name, from, to) + diffContents(name, from, to, [before.label, after.label])
    return [{ filename, change, diff }]
  })
}

function diffModes(filename: string, from: File | undefined, to: File | undefined): string {
  const [before, after] = [from, to].map((file) => file && isExecutable(file.fingerprint))
  if (before === after || after === undefined) return ''
  return before || after ? `${filename} is ${after ? 'now' : 'no longer'} executable\n` : ''
}

function diffContents(
  filename: string,
  from: File | undefined,
  to: File | undefined,
  labels: [string, string],
): string {
  if (from && to && from.bytes.equals(to.bytes)) return ''
  if ([from, to].some((file) => file && !isText(file.bytes))) return `${filename} differs, and is not text\n`
  const [before, after] = [from, to].map((file, index) => (file ? `${filename} (${labels[index]})` : '/dev/null'))
  return `--- ${before}\n+++ ${after}\n${diffTexts(String(from?.bytes ?? ''), String(to?.bytes ?? ''))}`
}
