/** The commands that `env run` and `runs work` start. */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { accessSync, constants, statSync } from 'node:fs'
import { basename, delimiter, join } from 'node:path'
import type { Readable } from 'node:stream'
import { setTimeout } from 'node:timers/promises'
import { stripVTControlCharacters } from 'node:util'
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

const ON_WINDOWS = { folders: ['.'], extensions: ['', '.com', '.exe'] }
const ELSEWHERE = { folders: [], extensions: [''] }

/**
 * Looks for a command where the system does, without starting it.
 * @throws a sentence if there is no such command, or if it is no file that this user may execute.
 */
export function requireCommand(command: string): void {
  const { folders, extensions } = process.platform === 'win32' ? ON_WINDOWS : ELSEWHERE
  const path = (process.env.PATH ?? '/usr/bin:/bin').split(delimiter)
  const isName = basename(command) === command
  const files = (isName ? [...folders, ...path] : ['.']).flatMap((folder) =>
    extensions.map((extension) => (isName ? join(folder, command + extension) : command + extension)),
  )
  let code = 'ENOENT'
  for (const file of files) {
    try {
      accessSync(file, constants.X_OK)
      if (statSync(file).isFile()) return
      code = 'EACCES'
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EACCES') code = 'EACCES'
    }
  }
  throw failure(command, 'started', { syscall: 'spawn', code })
}

/** More than the longest message in any encoding, with what a terminal would not show. */
const TAIL_BYTES = 16 * 1024
/** How long the end of the output may take after the command has ended. What it started may keep it open. */
const DRAIN_MS = 1000

/** Passes the standard error of a command on, as it comes, and keeps the end of it. */
export function passOnErrors(errors: Readable & { unref?(): unknown }) {
  let tail = Buffer.alloc(0)
  errors.on('data', (chunk: Buffer) => {
    process.stderr.write(chunk)
    tail = Buffer.concat([tail, chunk]).subarray(-TAIL_BYTES)
  })
  const closed = new Promise((resolve) => errors.on('close', resolve))
  return {
    /** After the command has ended: its last lines. */
    async lastLines(): Promise<string> {
      const timer = new AbortController()
      await Promise.race([closed, setTimeout(DRAIN_MS, undefined, { signal: timer.signal })])
      timer.abort()
      // It does not keep this process from ending.
      errors.unref?.()
      return lastLinesOf(tail.toString())
    },
  }
}

/** The longest message of an outcome, in code points. */
const MAX_MESSAGE_LENGTH = 1000

/** The last lines of what a command printed, as many as a message has room for, without control characters. */
export function lastLinesOf(output: string): string {
  const lines = stripVTControlCharacters(output)
    .split(/[\r\n]+/)
    .map((line) =>
      line
        .replaceAll('\t', ' ')
        .replaceAll(/\p{Cc}/gu, '')
        .trimEnd(),
    )
    .filter((line) => line !== '')
  const codePoints = Array.from(lines.join('\n'))
  if (codePoints.length <= MAX_MESSAGE_LENGTH) return codePoints.join('')
  const end = codePoints.slice(-MAX_MESSAGE_LENGTH)
  // The rest of a line is left out, unless it is all there is.
  const isCut = codePoints.at(-MAX_MESSAGE_LENGTH - 1) !== '\n'
  return end.slice(isCut ? end.indexOf('\n') + 1 : 0).join('')
}
