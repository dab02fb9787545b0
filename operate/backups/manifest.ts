/** A backup of several databases: a folder with a file for each, and a manifest that names them. */
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

const MANIFEST = 'manifest.json'

export interface BackupFile {
  /** The number of the database. */
  readonly number: number
  /** Relative to the folder. */
  readonly file: string
  readonly rows: number
  readonly bytes: number
  /** Of the file, in hexadecimal. */
  readonly sha256: string
}

interface Manifest {
  readonly createdAt: string
  readonly databases: readonly BackupFile[]
}

/** Written last: a folder without it is an incomplete backup. */
export function writeManifest(folder: string, createdAt: string, databases: readonly BackupFile[]): void {
  const manifest: Manifest = { createdAt, databases }
  writeFileSync(join(folder, MANIFEST), `${JSON.stringify(manifest, null, 2)}\n`)
}

/** With the path of each file, by the number of its database; undefined if the path is not a folder. @throws if the backup is incomplete. */
export function readManifest(path: string): { createdAt: string; files: Map<number, BackupFile> } | undefined {
  if (!existsSync(path) || !statSync(path).isDirectory()) return undefined
  const file = join(path, MANIFEST)
  if (!existsSync(file)) {
    throw new Error(
      `--input is an unfinished backup: the folder has no ${MANIFEST}; got "${path}"; allowed: a file or a folder that \`npm run operate -- backup\` completed. Nothing was changed.`,
    )
  }
  const { createdAt, databases } = JSON.parse(readFileSync(file, 'utf8')) as Manifest
  const files = new Map(databases.map((each) => [each.number, { ...each, file: join(path, each.file) }]))
  const missing = [...files.values()].find(({ file }) => !existsSync(file))
  if (missing !== undefined)
    throw new Error(`The backup is incomplete: ${missing.file} is missing. Nothing was changed.`)
  return { createdAt, files }
}
