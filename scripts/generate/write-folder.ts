import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Files } from './bundle.ts'

/**
 * Makes a folder contain these files, and those to keep. A file that is unchanged is not written, because
 * `wrangler dev` would reload. Each is replaced at once, because another process may read it.
 * @param files by path in the folder.
 */
export function writeFolder(folder: string, files: Files, keep: readonly string[] = []): void {
  for (const [path, content] of files) writeIfChanged(join(folder, path), content)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const path = file.slice(folder.length + 1)
    if (entry.isFile() && !keep.includes(path) && !files.has(path)) rmSync(file, { force: true })
  }
}

function writeIfChanged(file: string, content: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return
  mkdirSync(dirname(file), { recursive: true })
  const part = `${file}.${process.pid}`
  writeFileSync(part, content)
  renameSync(part, file)
}
