/** The migrations of releases, which do not change any more: databases have applied them. */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { migrationNames, readMigration } from '../operate/migrations.ts'
import { ROOT } from '../tools/wrangler.ts'

/** The SHA-256 of each released migration. Before the first release, the file does not exist. */
const FILE = join(ROOT, 'migrations', 'released.json')

const digestOf = (name: string) => createHash('sha256').update(readMigration(name)).digest('hex')

export function recordMigrations(): void {
  const digests = Object.fromEntries(migrationNames().map((name) => [name, digestOf(name)]))
  writeFileSync(FILE, `${JSON.stringify(digests, null, 2)}\n`)
}

/** @returns a line for each released migration that was changed or removed. */
export function changedMigrations(): string[] {
  if (!existsSync(FILE)) return []
  const names = migrationNames()
  const released = Object.entries<string>(JSON.parse(readFileSync(FILE, 'utf8')))
  return released.flatMap(([name, digest]) => {
    if (!names.includes(name)) return [`migrations/${name} was released, and is missing.`]
    return digestOf(name) === digest ? [] : [`migrations/${name} was released, and has changed since.`]
  })
}

/** @returns a line for each migration that no release has recorded. */
export function unrecordedMigrations(): string[] {
  const released = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {}
  const names = migrationNames().filter((name) => !(name in released))
  return names.map((name) => `migrations/${name} is not recorded: \`npm run release -- prepare\` records it.`)
}
