/** The checks that need no running service. */
import { spawn } from 'node:child_process'
import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { describeScript, parsed, UsageError } from '../../tools/command-line.ts'
import { listOf, runNamed, SCRIPT_COMMANDS } from '../../tools/commands.ts'
import { ROOT } from '../../tools/wrangler.ts'

const CHECKS = SCRIPT_COMMANDS.check
type Name = keyof typeof CHECKS

/** The checks load the same packages. */
const env = { ...process.env, NODE_COMPILE_CACHE: getCompileCacheDir() }
const waiting = Object.keys(CHECKS) as Name[]
const failed: Name[] = []

if (!(await runNamed(CHECKS))) await runAll()

async function runAll(): Promise<void> {
  const [unknown] = parsed(
    describeScript(
      'check',
      `Runs the checks that need no running service, or one of them. Prints warnings, and the output of the checks that fail.\n\n${listOf(CHECKS)}`,
      ['', 'types'],
    ).argument('[check]', 'one of the checks'),
  ).args
  if (unknown !== undefined)
    throw new UsageError(`Unknown check '${unknown}'; allowed: ${Object.keys(CHECKS).join(', ')}.`)
  await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
  if (failed.length === 0) return
  console.error(`Failed checks: ${failed.join(', ')}. To run one: npm run check -- ${failed[0]}`)
  process.exitCode = 1
}

async function runWaiting(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const started = Date.now()
    const { passed, output } = await run(CHECKS[name].argv)
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${passed ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`)
    if (passed) process.stdout.write(warningsIn(output))
    else process.stdout.write(`${output.trimEnd()}\n`)
    if (!passed) failed.push(name)
  }
}

async function run(argv: readonly string[]): Promise<{ passed: boolean; output: string }> {
  const check = spawn(process.execPath, argv, { cwd: ROOT, env, stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [check.stdout, check.stderr]) {
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk
    })
  }
  const code = await new Promise((resolve) => check.on('close', resolve))
  return { passed: code === 0, output }
}

function warningsIn(output: string): string {
  const lines = output.split('\n').filter((line) => line.startsWith('Warning'))
  return lines.map((line) => `${line}\n`).join('')
}
