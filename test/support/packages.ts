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
export async function install(folder: string, ...specifications: readonly string[]): Promise<string> {
  mkdirSync(folder)
  const manifest = { private: true, type: 'module', allowScripts: { node: true } }
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest))
  await run('npm', ['install', '--prefix', folder, '--prefer-offline', ...specifications], folder)
  return folder
}

/** @returns what it printed. @throws all that it printed, if it failed. */
export async function run(command: string, args: readonly string[], cwd: string): Promise<string> {
  const child = spawn(command, args, { cwd, stdio: ['ignore', 'pipe', 'pipe'] })
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
