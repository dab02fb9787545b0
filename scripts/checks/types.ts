/** Checks the types of all code, with the types of the client as the document has them now. */
import { spawnSync } from 'node:child_process'
import { ROOT } from '../../tools/wrangler.ts'

const TSC = 'node_modules/typescript/bin/tsc'

for (const argv of [['client/generate.ts'], [TSC], [TSC, '-p', 'console/web']]) {
  const { status } = spawnSync(process.execPath, argv, { cwd: ROOT, stdio: 'inherit' })
  if (status !== 0) process.exit(1)
}
