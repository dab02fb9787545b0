/** The commands that `env run` and `runs work` start. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { failure } from './local-files.ts'

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** @throws, or rejects `ended`, if the command cannot be started. The cause of the error is the code of the failure. */
export function start(
  command: string,
  args: readonly string[],
  options: SpawnOptions,
): { readonly child: ChildProcess; readonly ended: Promise<Ended> } {
  try {
    const child = spawn(command, args, options)
    const ended = new Promise<Ended>((resolve, reject) => {
      child.on('exit', (code, signal) => resolve({ code, signal }))
      child.on('error', (error) => reject(failure(command, 'started', error)))
    })
    return { child, ended }
  } catch (error) {
    throw failure(command, 'started', error)
  }
}
