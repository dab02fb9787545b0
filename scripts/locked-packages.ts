/** The packages of package-lock.json. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from '../tools/wrangler.ts'

interface LockedPackage {
  readonly version?: string
  readonly license?: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly optional?: boolean
  readonly dependencies?: Readonly<Record<string, string>>
}

export const MODULES = 'node_modules/'

/** By their folders, relative to the repository. */
export const LOCKED_PACKAGES: Readonly<Record<string, LockedPackage>> = JSON.parse(
  readFileSync(join(ROOT, 'package-lock.json'), 'utf8'),
).packages

/** The packages and their transitive dependencies. */
function closure(names: readonly string[], known = new Set<string>()): Set<string> {
  for (const name of names) {
    if (known.has(name)) continue
    known.add(name)
    closure(Object.keys(LOCKED_PACKAGES[MODULES + name]?.dependencies ?? {}), known)
  }
  return known
}

/** The folders of the dependencies of workspaces, and of the packages that these depend on. */
export function dependenciesOf(...workspaces: readonly string[]): string[] {
  return [...closure(workspaces.flatMap((folder) => Object.keys(LOCKED_PACKAGES[folder]?.dependencies ?? {})))]
    .sort()
    .map((name) => MODULES + name)
}
