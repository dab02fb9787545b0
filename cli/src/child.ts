/** The commands that `env run` and `runs work` start. */
import type { ChildProcess } from 'node:child_process'

/** How a command ended. */
export interface Ended {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/** @throws if the command could not be started. */
export function ended(child: ChildProcess, command: string): Promise<Ended> {
  return new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => resolve({ code, signal }))
    child.on('error', (error: NodeJS.ErrnoException) => {
      reject(new Error(`${command} cannot be started: ${error.code}.`, { cause: error.code }))
    })
  })
}
