/** Creates the databases of a state folder and the configuration with which `npm run dev` serves them. */
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import {
  addDatabases,
  getConfigFile,
  ROOT,
  stateFolder,
  type Target,
  writtenConfigurationOf,
} from '../tools/wrangler.ts'
import { copyBrakes } from './brakes.ts'
import { localDatabase, localDatabaseFile } from './database.ts'
import { listDatabases } from './databases.ts'
import { migrate } from './migrations.ts'

/** Where wrangler reads secrets, in the folder of the configuration. */
const SECRETS = '.dev.vars'

/** How many databases a state folder has. */
export async function countLocalDatabases(target: Target): Promise<number> {
  const first = localDatabase(localDatabaseFile(target))
  try {
    return (await listDatabases(first)).length
  } finally {
    first.close()
  }
}

/**
 * Creates the databases that a state folder lacks, and applies the migrations to all.
 * @param count how many it has to have at least.
 * @returns how many it has.
 */
export async function prepareLocalDatabases(target: Target, count: number): Promise<number> {
  await migrateFile(localDatabaseFile(target))
  const first = localDatabase(localDatabaseFile(target))
  try {
    const listed = (await listDatabases(first)).length
    const all = Math.max(listed, count)
    for (let number = 1; number < all; number++) {
      await migrateFile(localDatabaseFile(target, number))
      if (number < listed) continue
      const added = localDatabase(localDatabaseFile(target, number))
      await copyBrakes(first, added).finally(() => added.close())
      await first.batch([
        { sql: `INSERT INTO "databases" ("number", "state") VALUES (?, 'open')`, parameters: [number] },
      ])
    }
    return all
  } finally {
    first.close()
  }
}

async function migrateFile(file: string): Promise<void> {
  const isNew = !existsSync(file)
  mkdirSync(dirname(file), { recursive: true })
  const database = localDatabase(file)
  try {
    if (isNew) await database.batch([{ sql: 'PRAGMA journal_mode = WAL' }])
    await migrate(database)
  } finally {
    database.close()
  }
}

/**
 * Writes the configuration of the API Worker with further databases into the state folder, and the secrets beside it.
 * wrangler bundles the Worker, and builds it again after a change.
 * @returns the file.
 */
export function writeLocalConfiguration(target: Target, databases: number): string {
  const folder = stateFolder(target)
  const file = join(folder, 'wrangler.json')
  const fromFolder = (path: string) => relative(folder, join(ROOT, path))
  const written = writtenConfigurationOf(target)
  const further = Array.from({ length: databases - 1 }, (_, index) => index + 1)
  const named = further.map((number) => ({ number, name: `${number}` }))
  for (const environment of [undefined, ...Object.keys(written.env ?? {})]) addDatabases(written, environment, named)
  const { no_bundle: _, rules: __, assets, build, ...rest } = written
  writeFileSync(
    file,
    JSON.stringify({
      ...rest,
      // Bundled by wrangler, which keeps the names of functions for stack traces.
      main: fromFolder('src/index.ts'),
      ...(assets?.directory && { assets: { ...assets, directory: fromFolder(assets.directory) } }),
      // wrangler runs the command in its own folder, which is that of the project.
      ...(build && { build: { ...build, watch_dir: fromFolder('src') } }),
    }),
  )
  const secrets = join(dirname(getConfigFile(target)), SECRETS)
  if (existsSync(secrets)) copyFileSync(secrets, join(folder, SECRETS))
  return file
}
