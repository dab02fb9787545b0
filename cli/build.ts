/** Bundles the command to dist/, with the licences of the packages in the bundle. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleCommand } from './bundle.ts'
import { noticesOf } from './notices.ts'

const { code, packages } = await bundleCommand()
mkdirSync(join(import.meta.dirname, 'dist'), { recursive: true })
writeFileSync(join(import.meta.dirname, 'dist', 'workspace.cjs'), code)
writeFileSync(join(import.meta.dirname, 'THIRD-PARTY-NOTICES.txt'), noticesOf('dist/workspace.cjs', packages))
