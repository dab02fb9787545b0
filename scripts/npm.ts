/** Runs npm. Imports no package, because `release/publish.ts` runs where none is installed. */
import { spawnSync } from 'node:child_process'
import { resolve } from 'node:path'

const ROOT = resolve(import.meta.dirname, '..')

/** @returns what npm printed. @throws all of it, if it failed. */
export function npm(args: readonly string[], variables: Readonly<Record<string, string>> = {}): string {
  // `npm run --silent` passes its level on, and npm would not say what is wrong.
  const env = { ...process.env, npm_config_loglevel: 'error', ...variables }
  const { status, stdout, stderr } = spawnSync('npm', args, { cwd: ROOT, env, encoding: 'utf8' })
  if (status !== 0) throw new Error(`npm ${args[0]} failed:\n${stdout}${stderr}`)
  return stdout
}
