/** A copy of the project, and the stand-in for a Cloudflare account that it is deployed to, for tests on Node. */
import { execFile } from 'node:child_process'
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { CloudflareApi } from './cloudflare-api.ts'
import { ROOT, runScript } from './commands.ts'
import { newFolder } from './dev-server.ts'

export const TOML = readFileSync(join(ROOT, 'wrangler.toml'), 'utf8')

/** Nobody is logged in here, and nothing listens. */
export const NOWHERE = {
  CLOUDFLARE_API_BASE_URL: 'http://127.0.0.1:9',
  CLOUDFLARE_API_TOKEN: '',
  CLOUDFLARE_ACCOUNT_ID: '',
}

export async function run(script: string, args: readonly string[], variables: Record<string, string>) {
  const { status, printed } = await runScript(script, args, variables)
  return { code: status, printed }
}

/** A copy of wrangler.toml, with changes, where the rest of the project is too, except the console. */
export class Project {
  readonly folder = newFolder()
  readonly config = join(this.folder, 'wrangler.toml')

  constructor(toml = TOML) {
    writeFileSync(this.config, toml)
    for (const name of ['src', 'dist', 'mcp', 'migrations', 'public', 'operate', 'scripts', 'tools']) this.#link(name)
  }

  addConsole(): void {
    this.#link('console')
  }

  #link(name: string): void {
    symlinkSync(join(ROOT, name), join(this.folder, name), 'junction')
  }

  /** What the operator keeps of the secret. */
  keys(environment = 'production') {
    return JSON.parse(readFileSync(join(this.folder, `encryption-keys.${environment}.json`), 'utf8'))
  }
}

const ended: (() => void)[] = []

/** Removes what was made, after a test. */
export function endProjects(): void {
  for (const end of ended.splice(0)) end()
}

export function newProject(toml?: string): Project {
  const project = new Project(toml)
  ended.push(() => rmSync(project.folder, { recursive: true }))
  return project
}

/** An empty account. */
export async function newAccount() {
  const api = new CloudflareApi()
  const url = await api.listen()
  ended.push(() => api.close())
  const variables = {
    CLOUDFLARE_API_BASE_URL: url,
    CLOUDFLARE_API_TOKEN: 'token',
    CLOUDFLARE_ACCOUNT_ID: '',
  }
  const deploy = (project: Project, ...args: string[]) =>
    run('deploy', ['--config', project.config, '--url', url, ...args], variables)
  /** On a terminal, with util-linux. */
  const deployOnTerminal = async (project: Project, ...args: string[]) => {
    const all = [join(ROOT, 'operate', 'deploy.ts'), '--config', project.config, '--url', url, ...args]
    const command = [process.execPath, ...all].map((each) => `'${each}'`).join(' ')
    const env = { ...process.env, ...variables }
    const { stdout } = await promisify(execFile)('script', ['-qec', command, '/dev/null'], { cwd: ROOT, env })
    return stdout.replaceAll('\r\n', '\n')
  }
  const rowsOf = (table: string) => api.databases[0]?.sqlite.prepare(`SELECT * FROM "${table}"`).all() ?? []
  return { api, url, deploy, deployOnTerminal, rowsOf, variables }
}
