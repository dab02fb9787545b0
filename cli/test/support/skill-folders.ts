/** Folders of skills, for the tests of the commands that push and pull them. */
import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Content = string | Uint8Array

/** Writes files below a folder. Those whose filename ends in `.sh` are executable. @returns the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, Content>>): string {
  mkdirSync(folder, { recursive: true })
  for (const [filename, content] of Object.entries(files)) {
    const path = join(folder, filename)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, content)
    if (filename.endsWith('.sh')) chmodSync(path, 0o755)
  }
  return folder
}

/**
 * @returns the bytes of each file below a folder in hexadecimal, after "x" if it is executable; other entries as they
 *   are.
 */
export function readBytes(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { withFileTypes: true, recursive: true })
  return Object.fromEntries(
    entries
      .filter((entry) => !entry.isDirectory())
      .map((entry) => {
        const path = join(entry.parentPath, entry.name)
        const bytes = () => `${statSync(path).mode & 0o111 ? 'x' : ''}${readFileSync(path).toString('hex')}`
        return [path.slice(folder.length + 1), entry.isFile() ? bytes() : 'not a file'] as const
      })
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  )
}

/** A SKILL.md. */
export const entry = (name: string, description = 'Writes notes.') =>
  `---\nname: ${name}\ndescription: ${description}\n---\n\n# Notes\n`
