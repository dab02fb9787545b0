/** The commands of a test file, one after another in one process (command-runner.ts). */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import type { Run } from './command-runner.ts'

/** How a command ended, and what it printed. */
export interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
  /** Both, in the order in which they came. */
  readonly printed: string
}

const RUNNER = join(import.meta.dirname, 'command-runner.ts')
const OUTPUTS = ['stdout', 'stderr'] as const
/** With this the runner ends what a run printed, on each output. */
const END = /\0(\d+)\0$/

let runner: ChildProcess | undefined
let last: Promise<unknown> = Promise.resolve()

/** Runs a command when those before it have ended. */
export function runInTurn(run: Run): Promise<Ended> {
  const ended = last.then(() => {
    runner ??= startRunner()
    return runWith(runner, run)
  })
  last = ended
  return ended
}

export async function endRunner(): Promise<void> {
  if (runner === undefined) return
  const ended = once(runner, 'exit')
  runner.disconnect()
  await ended
}

function startRunner(): ChildProcess {
  const child = spawn(process.execPath, [RUNNER], { stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
  for (const name of OUTPUTS) child[name]?.setEncoding('utf8')
  child.on('exit', () => {
    runner = undefined
  })
  return child
}

function runWith(child: ChildProcess, run: Run): Promise<Ended> {
  const read = { stdout: '', stderr: '', printed: '' }
  return new Promise((resolve) => {
    const end = (status: number | null) => {
      child.off('close', end)
      for (const name of OUTPUTS) {
        child[name]?.removeAllListeners('data')
        read[name] = read[name].replace(END, '')
      }
      resolve({ status, ...read })
    }
    for (const name of OUTPUTS) {
      child[name]?.on('data', (chunk: string) => {
        read[name] += chunk
        read.printed += chunk.replace(END, '')
        const [code, other] = OUTPUTS.map((each) => END.exec(read[each])?.[1])
        if (code === undefined || other === undefined) return
        end(Number(code))
      })
    }
    // Some runs end the process (command-runner.ts).
    child.on('close', end)
    child.send(run)
  })
}
