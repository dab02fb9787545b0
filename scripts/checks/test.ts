/** All checks and tests, the slow tests, or the long form of all tests. The last line of the output counts the tests. */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { type Cost, costsOf, costTable, LIMITS, processorSeconds, SLOW_LIMITS } from './processor-time.ts'
import { unseenFailures } from './unseen-failures.ts'

const { slow: isSlow, long: isLong } = parsed(
  describeScript(
    'test',
    'Runs all checks and tests but the slow ones. The last line that it prints counts the tests.',
    ['', '--slow', '--long'],
  )
    .option('--slow', 'only the slow tests, such as those in Chromium, of deployments, and on other releases of Node')
    .option(
      '--long',
      'all tests, whole where the others run a sample, with random values of another seed; up to an hour',
    ),
).opts()
const folder = mkdtempSync(join(tmpdir(), 'workspace-api-tests-'))

const failed: string[] = []
const counts = { passed: 0, failed: 0 }
const costs: Cost[] = []
if (!isSlow && !isLong) {
  if (spawnSync('npm', ['run', '--silent', 'check'], { cwd: ROOT, stdio: 'inherit' }).status !== 0)
    failed.push('checks')
  costs.push({ file: 'checks', seconds: processorSeconds() ?? 0 })
}
interface FileResult {
  readonly name: string
  readonly startTime: number
  readonly endTime: number
  readonly status: string
  readonly assertionResults: readonly { readonly status: string }[]
}

/** The seed draws random values, samples, and which of several databases has the organizations of a file. */
const seed = process.env.SEED ?? String(isLong ? Math.floor(Date.now() / 1000) : 20_261_122)
const environment = { SEED: seed, LONG: isLong ? '1' : '' }
const ALL = ['--project', 'workerd', '--project', 'node']
const THREE_DATABASES = { ...environment, DATABASES: '3' }
if (isLong || isSlow) console.log(`SEED=${seed}`)
if (isLong) {
  run('tests', environment, ...ALL, '--project', 'browser')
  run('tests with three databases', THREE_DATABASES, '--project', 'workerd')
} else if (isSlow) {
  run('tests', environment, ...ALL, ...filesWithSlowTests(), '--project', 'browser', '--tags-filter', 'slow')
  // A fifth of the tests in workerd once more; `npm run test:long` runs all of them.
  const shard = `${1 + (new Date().getDate() % 5)}/5`
  run('tests with three databases', THREE_DATABASES, '--project', 'workerd', '--shard', shard)
} else {
  const seen = join(folder, 'seen-failures')
  run('tests', { ...environment, SEEN_FAILURES: seen }, ...ALL, '--tags-filter', '!slow')
  const unseen = await unseenFailures(existsSync(seen) ? readFileSync(seen, 'utf8') : '')
  if (unseen.length > 0) {
    console.log(`No test has seen these failures, which contracts list:\n${unseen.join('\n')}`)
    failed.push('failures that no test has seen')
  }
}

rmSync(folder, { recursive: true })
if (processorSeconds() !== undefined && !isLong) {
  const { lines, exceeded } = costTable(costs, isSlow ? SLOW_LIMITS : LIMITS)
  console.log(lines.join('\n'))
  failed.push(...exceeded.map((part) => `processor time of ${part}`))
}
if (failed.length > 0) console.log(`Failed: ${failed.join(', ')}`)
console.log(`${counts.passed} passed, ${counts.failed} failed`)
if (failed.length > 0) process.exitCode = 1

/** Vitest would import all files to find the tags of their tests, which takes a minute. */
function filesWithSlowTests(): string[] {
  return globSync('{,*/}test/**/*.test.ts', { cwd: ROOT }).filter((file) =>
    /@module-tag slow|'slow'/.test(readFileSync(join(ROOT, file), 'utf8')),
  )
}

function run(name: string, variables: Readonly<Record<string, string>>, ...options: readonly string[]): void {
  const report = join(folder, `${name}.json`)
  const times = join(folder, `${name}.times`)
  const before = processorSeconds() ?? 0
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile=${report}`]
  const vitest = spawnSync('vitest', ['run', ...options, ...reporters], {
    cwd: ROOT,
    env: { ...process.env, ...variables, PROCESSOR_TIMES: times },
    stdio: 'inherit',
  })
  if (vitest.status !== 0) failed.push(name)
  // Without a report, Vitest could not start.
  const results = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : undefined
  /** Files that failed outside of their tests, such as in a hook, count as one failure each. */
  const brokenFiles = (results?.testResults as FileResult[] | undefined)?.filter(
    ({ status, assertionResults }) => status === 'failed' && !assertionResults.some((test) => test.status === 'failed'),
  )
  const onNode: Cost[] = existsSync(times)
    ? readFileSync(times, 'utf8')
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line))
    : []
  const durations = ((results?.testResults ?? []) as FileResult[]).map(({ name: path, startTime, endTime }) => ({
    file: relative(ROOT, path),
    seconds: (endTime - startTime) / 1000,
  }))
  costs.push(...costsOf((processorSeconds() ?? 0) - before, onNode, durations))
  counts.passed += results?.numPassedTests ?? 0
  counts.failed += results ? results.numFailedTests + (brokenFiles?.length ?? 0) : 1
}
