/** The scripts of package.json, run as npm runs them but without npm, which would take half a second each time. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { SCRIPT_COMMANDS, type ScriptCommands } from '../../tools/commands.ts'
import { type Ended, runInTurn } from './command-turns.ts'

export type { Ended } from './command-turns.ts'

export const ROOT = join(import.meta.dirname, '..', '..')

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))

/**
 * The arguments of Node that run a script of package.json.
 * @param script its name, with that of its command: `operate status`.
 */
function argumentsOf(script: string): string[] {
  const [name = '', command = ''] = script.split(' ')
  const commands: ScriptCommands = { ...SCRIPT_COMMANDS }[name as 'operate'] ?? {}
  const [file, ...args] = commands[command]?.argv ?? /^node (\S+\.ts.*)$/.exec(scripts[name])?.[1]?.split(' ') ?? []
  if (file === undefined) throw new Error(`package.json has no script "${script}" that runs a file`)
  return [join(ROOT, file), ...args]
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

/** Runs a script to its end. @param variables of its environment. */
export async function runScript(
  script: string,
  args: readonly string[],
  variables: Readonly<Record<string, string>> = {},
  cwd: string = ROOT,
): Promise<Ended> {
  const [file = '', ...first] = argumentsOf(script)
  const env = { ...process.env, ...variables }
  // True only for the file that a process starts with.
  if (readFileSync(file, 'utf8').includes('import.meta.main')) return endOf(startScript(script, args, { cwd, env }))
  return runInTurn({ file, args: [...first, ...args], variables: env, cwd })
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

/** The command `workspace` as it is published, which the tests build before they start (build-for-tests.ts). */
export const COMMAND = join(ROOT, '.vitest', 'command', 'workspace.cjs')

/** Starts the command `workspace` in a process group of its own. */
export function startWorkspace(
  args: readonly string[],
  login: WorkspaceLogin,
  { env, ...options }: SpawnOptions = {},
): ChildProcess {
  return startNode([COMMAND, ...args], {
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
  // Node reads its own variables when it starts.
  const needsProcess = input !== undefined || Object.keys(variables).some((name) => name.startsWith('NODE_'))
  const all = { ...process.env, ...environmentOf(login), ...variables }
  if (!needsProcess) return runInTurn({ file: COMMAND, args, variables: all, cwd })
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
  const command = [process.execPath, COMMAND, ...args].map((each) => `'${each}'`).join(' ')
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
export async function callScript(script: string, ...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runScript(script, args)
  if (status !== 0) throw new Error(`npm run ${script} -- ${args.join(' ')}: ${status} ${stderr}`)
  return stdout
}
