/** The packages of this repository, packed and installed into empty folders with nothing but npm. */
import { spawn } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './commands.ts'

/** Builds and packs the package in a folder of the repository. @returns the tarball. */
export async function pack(packageFolder: string, destination: string): Promise<string> {
  await run('npm', ['pack', '--silent', '--pack-destination', destination], join(ROOT, packageFolder))
  const [tarball = ''] = readdirSync(destination).filter((file) => file.endsWith('.tgz'))
  return join(destination, tarball)
}

/** Installs into a new folder. @param specifications tarballs, or names with versions. @returns the folder. */
export function install(folder: string, ...specifications: readonly string[]): Promise<string> {
  return installWith({ allowScripts: { node: true } }, folder, ...specifications)
}

/** Installs into a new folder. @param settings further fields of its package.json. @returns the folder. */
export async function installWith(
  settings: object,
  folder: string,
  ...specifications: readonly string[]
): Promise<string> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ private: true, type: 'module', ...settings }))
  await run('npm', ['install', '--prefix', folder, '--prefer-offline', ...specifications], folder)
  return folder
}

/** @returns what it printed. @throws all that it printed, if it failed. */
export async function run(
  command: string,
  args: readonly string[],
  cwd: string,
  env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let [stdout, printed] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
    stdout += chunk
    printed += chunk
  })
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    printed += chunk
  })
  const status = await new Promise((resolve) => child.on('close', resolve))
  if (status !== 0) throw new Error(`${command} ${args.join(' ')}: exit code ${status}\n${printed}`)
  return stdout
}
