/** Runs in full the tests of which `npm test` runs a sample (docs/reliability.md). Takes at least 15 minutes. */
import { spawnSync } from 'node:child_process'
import { ROOT } from './wrangler.ts'

const { status } = spawnSync('npm', ['run', '--silent', 'verify:tests', '--', 'test/long'], {
  cwd: ROOT,
  env: { ...process.env, VERIFY_LONG: '1' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
