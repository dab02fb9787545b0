/** The scripts of package.json, run as npm runs them but without npm, which would take half a second each time. */
import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { bundleCommand } from '../../cli/bundle.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/** How a command ended, and what it printed. */
export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Both, in the order in which they came. */
  readonly printed: string
}

/** The arguments of Node that run a script of package.json. */
function argumentsOf(script: string): string[] {
  const [, file] = /^node (\S+)$/.exec(scripts[script]) ?? []
  if (file === undefined) throw new Error(`package.json has no script "${script}" that runs a file`)
  return [join(ROOT, file)]
}

/** Starts a script in a process group of its own. */
export function startScript(script: string, args: readonly string[], options: SpawnOptions = {}): ChildProcess {
  return startNode([...argumentsOf(script), ...args], options)
}

function startNode(args: readonly string[], options: SpawnOptions): ChildProcess {
  return spawn(process.execPath, args, {
    cwd: ROOT,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    ...options,
  })
}

/** Runs a script to its end, without holding up this process. @param variables of its environment. */
export async function runScript(
  script: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
): Promise<Ended> {
  return endOf(startScript(script, args, { cwd, env: { ...process.env, ...variables } }))
}

/** The service and the API key that the command `workspace` uses. */
export interface WorkspaceLogin {
  readonly url: string
  readonly apiKey: string
}

/** The variables of its environment. Nobody has logged in. */
const environmentOf = ({ url, apiKey }: WorkspaceLogin) => ({
  WORKSPACE_URL: url,
  WORKSPACE_API_KEY: apiKey,
  XDG_CONFIG_HOME: '/nonexistent',
})

/** The command as it is published: from its sources it takes three times as long to start. */
const bundled = join(mkdtempSync(join(tmpdir(), 'workspace-api-command-')), 'workspace.cjs')
await bundleCommand(dirname(bundled))
process.once('exit', () => rmSync(dirname(bundled), { recursive: true, force: true }))

/** Starts the command `workspace` in a process group of its own. */
export function startWorkspace(
  args: readonly string[],
  login: WorkspaceLogin,
  { env, ...options }: SpawnOptions = {},
): ChildProcess {
  return startNode([bundled, ...args], {
    ...options,
    env: { ...process.env, ...environmentOf(login), ...env },
  })
}

/** Runs the command `workspace` to its end. @param variables of its environment. @param input on standard input. */
export function runWorkspace(
  args: readonly string[],
  login: WorkspaceLogin,
  variables: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
  input?: string | Buffer,
): Promise<Ended> {
  const child = startWorkspace(args, login, { cwd, env: variables, ...(input !== undefined && { stdio: 'pipe' }) })
  child.stdin?.end(input)
  return endOf(child)
}

/**
 * Runs the command `workspace` on a terminal, with util-linux.
 * @param answers what is typed after each question.
 * @returns what the terminal shows.
 */
export async function typeInto(
  args: readonly string[],
  login: WorkspaceLogin,
  answers: readonly (readonly [question: string, answer: string])[],
  { env, ...options }: SpawnOptions = {},
): Promise<{ status: number | null; shown: string }> {
  const command = [process.execPath, bundled, ...args].map((each) => `'${each}'`).join(' ')
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    ...options,
    env: { ...process.env, ...environmentOf(login), ...env },
    stdio: 'pipe',
  })
  let shown = ''
  let answered = 0
  child.stdout.on('data', (chunk) => {
    shown += chunk
    const [question, answer] = answers[answered] ?? []
    if (question === undefined || !shown.includes(question)) return
    answered++
    child.stdin.write(`${answer}\r`)
  })
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, shown }
}

async function endOf(child: ChildProcess): Promise<Ended> {
  const ended = { stdout: '', stderr: '', printed: '' }
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      ended[name] += chunk
      ended.printed += chunk
    })
  }
  const status = await new Promise<number | null>((resolve) => child.on('close', resolve))
  return { status, ...ended }
}

/** Runs a script to its end. @returns what it printed. @throws if it failed, with what it said. */
export function callScript(script: string, ...args: string[]): string {
  return execFileSync(process.execPath, [...argumentsOf(script), ...args], {
    cwd: ROOT,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
}
