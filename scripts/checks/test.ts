/** All checks and tests, or the slow tests. The last line of the output counts the tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeScript, parsed } from '../../operate/command-line.ts'
import { ROOT } from '../../operate/wrangler.ts'

const { slow: isSlow } = parsed(
  describeScript(
    'test',
    'Runs all checks and tests but the slow ones. The last line that it prints counts the tests.',
    ['', '--slow'],
  ).option('--slow', 'only the slow tests, such as those in Chromium, of deployments, and on other releases of Node'),
).opts()
const folder = mkdtempSync(join(tmpdir(), 'workspace-api-tests-'))
const report = join(folder, 'tests.json')

const failed: string[] = []
if (!isSlow && !succeeds(['run', '--silent', 'check'])) failed.push('checks')
const tests = isSlow ? ['--project', 'browser', '--tags-filter', 'slow'] : ['--tags-filter', '!slow']
const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
if (!succeeds(['run', '--silent', 'verify:tests', '--', ...tests, ...reporters])) failed.push('tests')

interface FileResult {
  readonly status: string
  readonly assertionResults: readonly { readonly status: string }[]
}
// Without a report, Vitest could not start.
const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
/** Files that failed outside of their tests, such as in a hook, count as one failure each. */
const brokenFiles = (results?.testResults as FileResult[] | undefined)?.filter(
  ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
)
rmSync(folder, { recursive: true })
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`)
const failures = results ? results.numFailedTests + (brokenFiles?.length ?? 0) : 1
console.log(`${results?.numPassedTests ?? 0} passed, ${failures} failed`)
if (failed.length > 0) process.exitCode = 1

function succeeds(command: readonly string[]): boolean {
  const { status } = spawnSync('npm', command, {
    cwd: ROOT,
    stdio: 'inherit',
  })
  return status === 0
}
