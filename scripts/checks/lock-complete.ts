/** Whether package-lock.json is complete and in step with package.json. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { npm } from '../npm.ts'

const LOCK = 'package-lock.json'
const MODULES = 'node_modules/'

interface LockedPackage {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const options = parsed(
  describeScript(
    'check lock',
    'Fails if package-lock.json lacks a build for an operating system, or is not in step with package.json. Warns of packages without integrity, whose contents npm cannot verify.',
    ['', '--strict', '--complete'],
  )
    .option('--strict', 'fail if packages lack integrity')
    .option('--complete', 'ask the registry of npm for the integrity that packages lack, and write it'),
).opts()
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const lock = read(LOCK)
const packages: Record<string, LockedPackage> = lock.packages
const problems: string[] = []

for (const folder of ['', ...read('package.json').workspaces]) {
  const manifest: LockedPackage = read(join(folder, 'package.json'))
  for (const kind of ['dependencies', 'devDependencies', 'optionalDependencies'] as const) {
    if (JSON.stringify(packages[folder]?.[kind]) !== JSON.stringify(manifest[kind])) {
      problems.push(`${join(folder, 'package.json')}: its ${kind} differ from those in package-lock.json.`)
    }
    for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version))
        problems.push(`${name}: the version is not exact; got "${version}".`)
    }
  }
}

for (const [path, { resolved, link, optionalDependencies }] of Object.entries(packages)) {
  if (resolved && !link) problems.push(`${path}: "resolved" names a registry; allowed: no "resolved".`)
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    // Optional dependencies with exact versions are builds for one system. `npm ci` needs an entry for each system.
    const isBuild = /^\d/.test(version)
    if (isBuild && !lookupPaths(path, name).some((candidate) => packages[candidate]?.version === version)) {
      problems.push(`${name}@${version}: package-lock.json has no entry for this build of ${path}.`)
    }
  }
}

const unverified = Object.entries(packages).filter(
  ([path, { link, integrity }]) => path.includes(MODULES) && !link && !integrity,
)
if (options.complete) complete()
else if (unverified.length > 0) {
  const message = `${LOCK}: ${unverified.length} packages without integrity: ${unverified.map(([path]) => nameIn(path)).join(', ')}. Where npm reaches the public registry, run: npm run check -- lock --complete`
  if (options.strict) problems.push(message)
  else console.warn(`Warning: ${message}`)
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

/** The paths where Node looks for a dependency of the package at `path`: in each parent folder. */
function lookupPaths(path: string, name: string): string[] {
  const segments = path.split('/node_modules/')
  const folders = segments.map((_, index) => segments.slice(0, index + 1).join('/node_modules/'))
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`]
}

/** Adds the integrity that the registry has. `npm install` does not: it considers the entries complete. */
function complete(): void {
  let added = 0
  for (const [path, { version = '', ...rest }] of unverified) {
    const integrity = integrityOf(`${nameIn(path)}@${version}`)
    if (!integrity) continue
    packages[path] = { version, integrity, ...rest }
    added++
  }
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
  console.log(`${LOCK}: added the integrity of ${added} packages.`)
}

/** @returns undefined, and notes a problem, if the registry does not have it. */
function integrityOf(id: string): string | undefined {
  try {
    const integrity = npm(['view', id, 'dist.integrity']).trim()
    if (integrity) return integrity
  } catch (error) {
    if (!(error as Error).message.includes('E404')) throw error
  }
  problems.push(`${id}: the registry has no integrity of this package.`)
  return undefined
}

function nameIn(path: string): string {
  return path.slice(path.lastIndexOf(MODULES) + MODULES.length)
}
