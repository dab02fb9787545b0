/** The installer of skills that agents use (`skills` on npm), run against a feed on this machine. */
import { spawn } from 'node:child_process'
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './commands.ts'
import { newFolder } from './dev-server.ts'

const INSTALLER = join(ROOT, 'node_modules', 'skills', 'bin', 'cli.mjs')

export interface InstalledFile {
  readonly bytes: Buffer
  readonly isExecutable: boolean
}

export interface Installation {
  readonly status: number | null
  readonly printed: string
  /** The files of each installed skill, by its name. */
  readonly skills: Readonly<Record<string, Readonly<Record<string, InstalledFile>>>>
  /** The text of skills-lock.json; empty if it was not written. */
  readonly lock: string
}

/**
 * Installs skills of a feed for Claude Code, into a new folder and a new home.
 * @param names of the skills. Without names, all skills of the feed are installed.
 */
export async function installSkills(feedUrl: string, ...names: readonly string[]): Promise<Installation> {
  const folder = newFolder()
  const [home, project] = [join(folder, 'home'), join(folder, 'project')]
  for (const path of [home, project]) mkdirSync(path)
  const chosen = names.flatMap((name) => ['--skill', name])
  const args = ['add', feedUrl, ...chosen, '--agent', 'claude-code', '--copy', '-y']
  const child = spawn(process.execPath, [INSTALLER, ...args], {
    cwd: project,
    env: installerEnvironment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      printed += chunk
    })
  }
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  const skillsFolder = join(project, '.claude', 'skills')
  const folders = existsSync(skillsFolder) ? readdirSync(skillsFolder) : []
  const installed = folders.map((name) => [name, filesIn(join(skillsFolder, name))])
  const lockFile = join(project, 'skills-lock.json')
  const lock = existsSync(lockFile) ? readFileSync(lockFile, 'utf8') : ''
  rmSync(folder, { recursive: true })
  return { status, printed, skills: Object.fromEntries(installed), lock }
}

/** Nothing of this process's environment, which may name an agent. What is not on this machine is out of reach. */
export function installerEnvironment(home: string): NodeJS.ProcessEnv {
  const closed = 'http://127.0.0.1:9'
  return {
    PATH: process.env.PATH,
    HOME: home,
    // Otherwise it sends the URL of the feed, which is a secret, to its maker.
    DO_NOT_TRACK: '1',
    NODE_USE_ENV_PROXY: '1',
    HTTP_PROXY: closed,
    HTTPS_PROXY: closed,
    NO_PROXY: 'localhost,127.0.0.1',
  }
}

function filesIn(folder: string): Record<string, InstalledFile> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).flatMap((filename) => {
    const path = join(folder, filename)
    const status = lstatSync(path)
    if (!status.isFile()) return []
    return [[filename, { bytes: readFileSync(path), isExecutable: (status.mode & 0o100) !== 0 }] as const]
  })
  return Object.fromEntries(files)
}
