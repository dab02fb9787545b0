/** Builds the Worker as a deployment does, and fails if it is larger than promised. */
import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { ROOT, runWrangler } from './wrangler.ts'

const LIMIT_BYTES = 75 * 1024

const folder = join(ROOT, 'dist')
rmSync(folder, { recursive: true, force: true })
runWrangler(['deploy', '--dry-run', '--minify', '--outdir', folder])
const bytes = gzipSync(readFileSync(join(folder, 'index.js')), { level: 9 }).byteLength
console.log(`Bundle: ${bytes} bytes gzip of ${LIMIT_BYTES} allowed`)
if (bytes > LIMIT_BYTES) process.exitCode = 1
