/**
 * Runs the tests of `test/long` in full (docs/reliability.md), of which `npm test` runs a sample. It takes
 * about half an hour.
 */
import { spawnSync } from 'node:child_process'
import { ROOT } from './wrangler.ts'

const { status } = spawnSync('npm', ['run', '--silent', 'verify:tests', '--', 'test/long'], {
  cwd: ROOT,
  env: { ...process.env, LONG: 'whole' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
