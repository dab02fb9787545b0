import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { ROOT } from '../../tools/wrangler.ts'

/** In the same file system, and in no folder that is deployed. */
const PARTS = join(ROOT, '.wrangler')

/**
 * Makes a folder contain these files, and those to keep. A file that is unchanged is not written, because
 * `wrangler dev` would reload. Others are replaced at once, because another process may read or write them, too.
 * @param files contents by path in the folder.
 */
export function writeFolder(folder: string, files: ReadonlyMap<string, string>, keep: readonly string[] = []): void {
  for (const [path, content] of files) writeIfChanged(join(folder, path), content)
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name)
    const path = file.slice(folder.length + 1)
    if (entry.isFile() && !keep.includes(path) && !files.has(path)) rmSync(file, { force: true })
  }
}

function writeIfChanged(file: string, content: string): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === content) return
  for (const folder of [dirname(file), PARTS]) mkdirSync(folder, { recursive: true })
  const part = join(PARTS, `${basename(file)}.${process.pid}`)
  writeFileSync(part, content)
  renameSync(part, file)
}
