/** Runs all tests, and all of those of which `npm test` runs a sample (docs/reliability.md). */
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

const { status } = spawnSync('npm', ['run', '--silent', 'verify:tests', '--', '--project', 'browser'], {
  cwd: ROOT,
  env: { ...process.env, LONG: '1' },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
