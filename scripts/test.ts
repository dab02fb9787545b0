/** All checks and all tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeScript, parsed } from './command-line.ts'
import { ROOT } from './wrangler.ts'

const { long: isLong } = parsed(
  describeScript('test', 'Runs all checks and all tests. The last line that it prints counts the tests.', [
    '',
    '--long',
  ]).option('--long', 'more of each test that runs a sample otherwise, and the tests in Chromium'),
).opts()
const folder = mkdtempSync(join(tmpdir(), 'workspace-api-tests-'))
const report = join(folder, 'tests.json')

const failed: string[] = []
if (!succeeds(['run', '--silent', 'check'])) failed.push('checks')
const projects = isLong ? ['--project', 'browser'] : []
const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
if (!succeeds(['run', '--silent', 'verify:tests', '--', ...projects, ...reporters])) failed.push('tests')

interface FileResult {
  readonly status: string
  readonly assertionResults: readonly { readonly status: string }[]
}
// Without a report, Vitest could not start.
const tests = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
/** Files that failed outside of their tests, such as in a hook, count as one failure each. */
const brokenFiles = (tests?.testResults as FileResult[] | undefined)?.filter(
  ({ status, assertionResults }) =>
    status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
)
rmSync(folder, { recursive: true })
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`)
const failures = tests ? tests.numFailedTests + (brokenFiles?.length ?? 0) : 1
console.log(`${tests?.numPassedTests ?? 0} passed, ${failures} failed`)
if (failed.length > 0) process.exitCode = 1

function succeeds(command: readonly string[]): boolean {
  const { status } = spawnSync('npm', command, {
    cwd: ROOT,
    env: { ...process.env, ...(isLong && { LONG: '1' }) },
    stdio: 'inherit',
  })
  return status === 0
}
