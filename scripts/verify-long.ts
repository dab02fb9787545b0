/** Runs the tests of `test/long` in full (docs/reliability.md). */
import { spawnSync } from 'node:child_process'
import { describeScript, parsed } from './command-line.ts'
import { ROOT } from './wrangler.ts'

parsed(
  describeScript(
    'verify:long',
    'Runs the tests of test/long in full (docs/reliability.md), of which `npm test` runs a sample. Takes about 40 minutes.',
    [''],
  ),
)

const { status } = spawnSync('npm', ['run', '--silent', 'verify:tests', '--', 'test/long'], {
  cwd: ROOT,
  env: { ...process.env, LONG: 'whole' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
