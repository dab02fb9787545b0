/** `npm run dev`, for tests on Node: each on a state folder and a port of its own. */
import { type ChildProcess, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './commands.ts'

/** Its screen ends with three commands for curl, or without a demo workspace with a command that lists the organizations. */
const isReady = (printed: string) =>
  curlLinesOf(printed).length >= 3 || /^npm run operate -- organization list.*\n/m.test(printed)

/** It ends what doesn't start, so that nothing of it is left. */
const START_MS = 120_000

const hasConsole = (flags: readonly string[]) => flags.includes('--console-port')

export interface DevServer {
  readonly process: ChildProcess
  /** All that it has printed so far. */
  readonly printed: string
}

/** `npm run dev` on a state folder, with further flags, once it has shown its first commands. Without the console. */
export async function startDevServer(state: string, port: number, ...flags: readonly string[]): Promise<DevServer> {
  const args = [
    'run',
    'dev',
    '--',
    '--port',
    String(port),
    '--persist-to',
    state,
    ...(hasConsole(flags) ? [] : ['--no-console']),
    ...flags,
  ]
  const server = spawn('npm', args, {
    cwd: ROOT,
    detached: true,
    // After Ctrl-C, dash reports that it was interrupted; bash reports the exit code of the script.
    env: { ...process.env, npm_config_script_shell: 'bash' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const timer = setTimeout(() => endGroup(server), START_MS)
  let printed = ''
  return new Promise((resolve, reject) => {
    const read = (chunk: Buffer) => {
      printed += chunk
      if (!isReady(printed)) return
      clearTimeout(timer)
      resolve({
        process: server,
        get printed() {
          return printed
        },
      })
    }
    server.stdout.on('data', read)
    server.stderr.on('data', read)
    server.on('exit', () => {
      clearTimeout(timer)
      reject(new Error(printed))
    })
  })
}

/** The whole lines for curl in what was printed. */
export function curlLinesOf(printed: string): string[] {
  return printed
    .split('\n')
    .slice(0, -1)
    .filter((line) => line.startsWith('curl'))
}

/** @returns its exit code. */
export async function stopDevServer({ process: server }: DevServer): Promise<number | null> {
  server.removeAllListeners('exit')
  const ended = new Promise<number | null>((resolve) => server.on('close', resolve))
  endGroup(server)
  return ended
}

/** Ends it as Ctrl-C in a terminal does: the whole group gets the signal. */
function endGroup(server: ChildProcess): void {
  process.kill(-(server.pid as number), 'SIGINT')
}

/** Below the ports that the kernel gives to connections, of which other processes take some at any moment. */
const [FIRST_PORT, PORTS] = [20_000, 10_000]

export async function freePort(): Promise<number> {
  const port = FIRST_PORT + randomInt(PORTS)
  const server = createServer().listen(port, '127.0.0.1')
  const isFree = await new Promise<boolean>((resolve) => {
    server.on('listening', () => resolve(true)).on('error', () => resolve(false))
  })
  await new Promise((resolve) => server.close(resolve))
  return isFree ? port : freePort()
}

export const newFolder = () => mkdtempSync(join(tmpdir(), 'workspace-api-'))

export const readDemo = (state: string) => JSON.parse(readFileSync(join(state, 'demo.json'), 'utf8'))
