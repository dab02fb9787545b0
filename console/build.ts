/** Builds the pages into `dist/`, unless they were built from the same sources before. */
import { createHash } from 'node:crypto'
import { existsSync, globSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'vite'

const FOLDER = import.meta.dirname
const OUTPUT = join(FOLDER, 'dist')
/** The digest of the sources of `dist/`. */
const DIGEST = join(FOLDER, 'dist-sources')

/** What the pages are made from. The lock has the versions of the libraries. */
const SOURCES = ['console/web/**', 'console/src/**', 'client/src/**', 'src/**', 'console/build.ts', 'package-lock.json']

// Tests set another value, with which Vite takes React's version for development.
process.env.NODE_ENV = 'production'
await buildPages()

async function buildPages(): Promise<void> {
  const digest = digestOf(SOURCES)
  if (existsSync(OUTPUT) && existsSync(DIGEST) && readFileSync(DIGEST, 'utf8') === digest) return
  // A process that serves the files finds all of them at any time.
  const folder = mkdtempSync(join(FOLDER, 'dist-'))
  try {
    await build({ configFile: join(FOLDER, 'web', 'vite.config.ts'), logLevel: 'warn', build: { outDir: folder } })
    rmSync(OUTPUT, { recursive: true, force: true })
    renameSync(folder, OUTPUT)
    writeFileSync(DIGEST, digest)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function digestOf(patterns: readonly string[]): string {
  const root = join(FOLDER, '..')
  const hash = createHash('sha256')
  for (const entry of globSync([...patterns], { cwd: root, withFileTypes: true })
    .filter((each) => each.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .sort()) {
    hash.update(entry).update('\0').update(readFileSync(entry)).update('\0')
  }
  return hash.digest('hex')
}
