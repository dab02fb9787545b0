/** Runs every check and test. The last line counts the tests. */
import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ROOT } from './wrangler.ts'

const CHECKS = ['types', 'lint', 'contracts', 'openapi', 'migrations', 'lock', 'dependencies', 'deploy']

const report = mkdtempSync(join(tmpdir(), 'workspace-api-tests-'))
const failed = CHECKS.filter((check) => !succeeds(`verify:${check}`))
const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${join(report, 'tests.json')}`]
if (!succeeds('verify:tests', ...reporters)) failed.push('tests')

const tests = JSON.parse(readFileSync(join(report, 'tests.json'), 'utf8'))
rmSync(report, { recursive: true })
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`)
console.log(`${tests.numPassedTests} passed, ${tests.numFailedTests} failed`)
if (failed.length > 0) process.exitCode = 1

function succeeds(script: string, ...args: string[]): boolean {
  console.log(`\n${script}`)
  const { status } = spawnSync('npm', ['run', '--silent', script, '--', ...args], {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}
