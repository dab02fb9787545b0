/** Bundles the command to dist/, with the licences of the packages in the bundle. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleCommand } from './bundle.ts'
import { noticesOf } from './notices.ts'

const packages = await bundleCommand(join(import.meta.dirname, 'dist'))
writeFileSync(join(import.meta.dirname, 'THIRD-PARTY-NOTICES.txt'), noticesOf('dist', packages))
