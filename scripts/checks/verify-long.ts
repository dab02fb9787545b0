/**
 * Runs all tests, and all of those of which `npm test` runs a sample (docs/reliability.md); then those in workerd once more
 * with three databases.
 */
import { spawnSync } from 'node:child_process'
import { describeScript, parsed } from '../../operate/command-line.ts'
import { ROOT } from '../../operate/wrangler.ts'

parsed(
  describeScript(
    'verify:long',
    'Runs all tests, and all of those of which `npm test` runs a sample (docs/reliability.md). Takes up to an hour.',
    [''],
  ),
)

for (const command of [['verify:tests', '--', '--project', 'browser'], ['verify:databases']]) {
  const { status } = spawnSync('npm', ['run', '--silent', ...command], {
    cwd: ROOT,
    env: { ...process.env, LONG: '1' },
    stdio: 'inherit',
  })
  if (status !== 0) process.exitCode = 1
}
