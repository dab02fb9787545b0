/**
 * Copies the objects that the rows of a backup refer to into a folder, and back into a bucket. An object never changes,
 * so an object that is there with its size is not copied again, and several backups share a folder.
 */
import { createHash } from 'node:crypto'
import { createReadStream, lstatSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join, relative, resolve, sep } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { numberText, startProgress } from '../../tools/command-line.ts'
import type { CommandDatabase } from '../database.ts'
import { forEachAtOnce, OBJECTS_AT_ONCE, type ObjectStore } from '../objects.ts'

interface StoredObject {
  readonly key: string
  /** Null if the rows do not say it. */
  readonly sizeBytes: number | null
  /** Null if the rows do not say it. */
  readonly sha256: string | null
}

/** The folder that backups in the same folder share. */
export function objectFolder(backup: string): string {
  return join(dirname(resolve(backup)), 'objects')
}

/** @returns the keys of the objects that the bucket does not have. */
export async function saveObjects(store: ObjectStore, backup: DatabaseSync, folder: string): Promise<string[]> {
  const objects = objectsOf(backup)
  const missing: string[] = []
  let copied = 0
  mkdirSync(folder, { recursive: true })
  // A folder of this process alone: backups in the same folder share the objects.
  const partial = mkdtempSync(join(folder, '.partial-'))
  await withProgress('Objects', objects, async ({ key, sizeBytes }) => {
    const file = fileOf(folder, key)
    if (isStored(sizeOf(file), sizeBytes)) return
    mkdirSync(dirname(file), { recursive: true })
    const size = await store.download(key, file, join(partial, crypto.randomUUID()), sizeBytes)
    if (size === undefined) missing.push(key)
    else copied++
  })
  rmSync(partial, { recursive: true })
  console.log(
    `${folder}: ${numberText(objects.length)} objects, ${numberText(copied)} copied now, ${numberText(missing.length)} missing`,
  )
  return missing
}

/** @returns how many objects the rows refer to, and the keys of those that the folder lacks or has with another content. */
export async function damagedObjects(
  backup: DatabaseSync,
  folder: string,
): Promise<{ checked: number; damaged: string[] }> {
  const objects = objectsOf(backup)
  const damaged: string[] = []
  await withProgress('Objects', objects, async ({ key, sizeBytes, sha256 }) => {
    const file = fileOf(folder, key)
    if (isStored(sizeOf(file), sizeBytes) && (sha256 === null || (await sha256Of(file)) === sha256)) return
    damaged.push(key)
  })
  return { checked: objects.length, damaged }
}

/** In hexadecimal. */
export async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(file)) hash.update(chunk)
  return hash.digest('hex')
}

/** Uploads what the bucket does not have. @returns the keys of the objects that the folder does not have either. */
export async function putObjectsBack(store: ObjectStore, backup: DatabaseSync, folder: string): Promise<string[]> {
  const objects = objectsOf(backup)
  const stored = await store.sizes()
  const missing: string[] = []
  let uploaded = 0
  await withProgress('Objects', objects, async ({ key, sizeBytes }) => {
    const file = fileOf(folder, key)
    const size = sizeOf(file)
    const storedSize = stored.get(key)
    if (storedSize !== undefined && isStored(storedSize, sizeBytes ?? size ?? null)) return
    if (size === undefined || !isStored(size, sizeBytes)) {
      missing.push(key)
      return
    }
    await store.upload(file, key)
    uploaded++
  })
  console.log(
    `objects: ${numberText(objects.length)} in the backup, ${numberText(uploaded)} uploaded now, ${numberText(missing.length)} missing`,
  )
  return missing
}

/** @returns those of the keys that rows refer to by now: the others were deleted or replaced since they were read. */
export async function stillReferenced(database: CommandDatabase, keys: readonly string[]): Promise<string[]> {
  if (keys.length === 0) return []
  const [rows = []] = await database.batch([
    {
      sql: `SELECT value AS "key" FROM json_each(?) WHERE value IN (SELECT "objectKey" FROM "sessionFiles")
        OR value IN (SELECT "objectKey" FROM "profilePictures") OR value IN (SELECT "objectKey" FROM "skillVersions")`,
      parameters: [JSON.stringify(keys)],
    },
  ])
  return rows.map(({ key }) => String(key))
}

/** Without empty contents, which may have no object. */
function objectsOf(backup: DatabaseSync): StoredObject[] {
  const rows = backup
    .prepare(
      `SELECT "objectKey" AS "key", "sizeBytes", "sha256" FROM "sessionFiles" WHERE "sizeBytes" > 0
       UNION ALL SELECT "objectKey", NULL, NULL FROM "profilePictures" WHERE "objectKey" IS NOT NULL
       UNION ALL SELECT "objectKey", "archiveBytes", "digest" FROM "skillVersions"`,
    )
    .all()
  return rows.map(({ key, sizeBytes, sha256 }) => ({
    key: String(key),
    sizeBytes: sizeBytes === null ? null : Number(sizeBytes),
    sha256: sha256 === null ? null : String(sha256),
  }))
}

/** @throws if the file would be outside of the folder, or if a symbolic link below the folder leads to it. */
function fileOf(folder: string, key: string): string {
  const file = resolve(folder, key)
  if (!file.startsWith(folder + sep)) {
    throw new Error(`The backup names an object outside of its folder; got "${key}".`)
  }
  let path = folder
  for (const segment of relative(folder, file).split(sep)) {
    path = join(path, segment)
    if (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new Error(`${path} is a symbolic link; allowed: files and folders.`)
    }
  }
  return file
}

/** @returns undefined if there is no such file. */
function sizeOf(file: string): number | undefined {
  const found = lstatSync(file, { throwIfNoEntry: false })
  return found?.isFile() ? found.size : undefined
}

function isStored(size: number | undefined, expected: number | null): boolean {
  return size !== undefined && (expected === null || size === expected)
}

async function withProgress(
  title: string,
  objects: readonly StoredObject[],
  work: (object: StoredObject) => Promise<void>,
): Promise<void> {
  const progress = startProgress(title, objects.length)
  try {
    await forEachAtOnce(objects, OBJECTS_AT_ONCE, async (object) => {
      await work(object)
      progress.add()
    })
  } finally {
    progress.end()
  }
}
