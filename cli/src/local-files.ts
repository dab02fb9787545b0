/** Files of this machine. */
import { randomBytes } from 'node:crypto'
import { type Dirent, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { exitOnSignals } from '../../command-line/src/index.ts'

/** @throws a sentence. */
export function readFile(file: string): Buffer {
  try {
    return readFileSync(file)
  } catch (error) {
    throw failure(file, 'read', error)
  }
}

/** What is in a folder, by name. @throws a sentence. */
export function readFolder(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true }).sort((a, b) => (a.name < b.name ? -1 : 1))
  } catch (error) {
    throw failure(folder, 'read', error)
  }
}

/**
 * Writes a file as a whole: beside its place first, and then renamed. After a failure, or Ctrl-C, there is the old file
 * and nothing else. A symbolic link is replaced.
 * @throws a sentence if the file cannot be written; or the error of the content.
 */
export async function replaceFile(
  file: string,
  content: string | AsyncIterable<Uint8Array>,
  mode = 0o666,
): Promise<void> {
  const next = join(dirname(file), `.workspace-${randomBytes(8).toString('hex')}`)
  const remove = () => rmSync(next, { force: true })
  exitOnSignals()
  process.on('exit', remove)
  try {
    await writeFile(next, content, { flag: 'wx', mode })
    renameSync(next, file)
  } catch (error) {
    throw failure(file, 'written', error)
  } finally {
    remove()
    process.off('exit', remove)
  }
}

/** What the codes of errors mean. */
const REASONS: Readonly<Record<string, string>> = {
  ENOTDIR: 'it is not a folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it is not a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'no space is left on the device',
}

/** @returns a sentence for an error of the operating system; another error as it is. */
export function failure(file: string, done: 'read' | 'removed' | 'started' | 'written', error: unknown): Error {
  const { syscall, code = '' } = error as NodeJS.ErrnoException
  if (syscall === undefined) return error as Error
  const isMissing = code === 'ENOENT' || (code === 'ENOTDIR' && syscall !== 'scandir')
  const missing = done === 'written' ? 'its folder does not exist' : 'it does not exist'
  const reason = isMissing ? missing : (REASONS[code] ?? code)
  return new Error(`${file} cannot be ${done}: ${reason}.`, { cause: code })
}
