/**
 * Runs the tests in workerd against a deployment with three databases (test/support/env.ts). The seed draws which of them
 * has the organizations of a file.
 */
import { spawnSync } from 'node:child_process'
import { describeScript, parsed } from '../../operate/command-line.ts'
import { ROOT } from '../../operate/wrangler.ts'

const { args } = parsed(
  describeScript(
    'verify:databases',
    'Runs the tests in workerd against a deployment with three databases. The variable SEED draws which of them has the organizations of a file.',
    ['', '--shard 1/5', 'test/limits.test.ts'],
  )
    .argument('[options...]', 'for Vitest')
    .allowUnknownOption(),
)

const { SEED = '20261122' } = process.env
console.log(`Three databases, SEED=${SEED}`)
const { status } = spawnSync('vitest', ['run', '--project', 'workerd', ...args], {
  cwd: ROOT,
  env: { ...process.env, DATABASES: '3', SEED },
  stdio: 'inherit',
})
process.exitCode = status ?? 1
