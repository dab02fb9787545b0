/** Runs whole what `npm test` runs a sample of (docs/reliability.md). It takes a quarter of an hour or more. */
import { spawnSync } from 'node:child_process'
import { ROOT } from './wrangler.ts'

const { status } = spawnSync('npm', ['run', '--silent', 'verify:tests', '--', 'test/long'], {
  cwd: ROOT,
  env: { ...process.env, VERIFY_LONG: '1' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
