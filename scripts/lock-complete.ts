/**
 * Fails if package-lock.json would not install on every system, or is not in step with package.json. Warns of packages
 * without `integrity`, whose contents npm cannot verify; `--strict` fails on them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'

interface LockedPackage {
  version?: string
  resolved?: string
  integrity?: string
  link?: boolean
  dependencies?: Record<string, string>
  devDependencies?: Record<string, string>
  optionalDependencies?: Record<string, string>
}

const { values: options } = parseArgs({ options: { strict: { type: 'boolean', default: false } } })
const read = (file: string) => JSON.parse(readFileSync(file, 'utf8'))
const packages: Record<string, LockedPackage> = read('package-lock.json').packages
const problems: string[] = []

for (const folder of ['', 'client', 'bench']) {
  const manifest: LockedPackage = read(join(folder, 'package.json'))
  for (const kind of ['dependencies', 'devDependencies'] as const) {
    if (JSON.stringify(packages[folder]?.[kind]) !== JSON.stringify(manifest[kind])) {
      problems.push(`${join(folder, 'package.json')}: its ${kind} are not those of the lock`)
    }
    for (const [name, version] of Object.entries(manifest[kind] ?? {})) {
      if (!/^\d+\.\d+\.\d+(-\w+)?$/.test(version))
        problems.push(`${name}: ${version} is not an exact version`)
    }
  }
}

for (const [path, { resolved, link, optionalDependencies }] of Object.entries(packages)) {
  if (resolved && !link) problems.push(`${path}: it names the registry that it came from`)
  for (const [name, version] of Object.entries(optionalDependencies ?? {})) {
    // Exact pins are the builds for other systems: `npm ci` there needs an entry for each.
    const isBuild = /^\d/.test(version)
    if (isBuild && !placesOf(path, name).some((place) => packages[place]?.version === version)) {
      problems.push(`${name}@${version}: the lock has no entry for this build, which ${path} wants`)
    }
  }
}

const unverified = Object.entries(packages).filter(
  ([path, { link, integrity }]) => path.includes('node_modules/') && !link && !integrity,
)
if (unverified.length > 0) {
  const names = unverified.map(([path]) =>
    path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length),
  )
  const message = `package-lock.json: ${names.length} packages without integrity (CONTRIBUTING.md, "Dependencies"): ${names.join(', ')}`
  if (options.strict) problems.push(message)
  else console.warn(`Warning: ${message}`)
}

for (const problem of problems) console.error(problem)
if (problems.length > 0) process.exitCode = 1

/** Where Node looks for a package that the one at `path` needs: in each folder upwards. */
function placesOf(path: string, name: string): string[] {
  const segments = path.split('/node_modules/')
  const folders = segments.map((_, index) => segments.slice(0, index + 1).join('/node_modules/'))
  return [...folders.map((folder) => `${folder}/node_modules/${name}`), `node_modules/${name}`]
}
