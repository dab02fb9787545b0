/** The checks that need no running service. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getCompileCacheDir } from 'node:module'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'

parsed(
  describeScript(
    'check',
    'Runs the checks that need no running service: types, lint, and whether generated files match what they are generated from. Prints warnings, and the output of the checks that fail.',
    [''],
  ),
)

/** `verify:<name>` in package.json, the slowest first. */
const CHECKS = [
  'types',
  'contracts',
  'openapi',
  'lint',
  'tenancy',
  'sql',
  'spelling',
  'migrations',
  'layers',
  'dependencies',
  'lock',
]

const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
/** The checks load the same packages. */
const env = { ...process.env, NODE_COMPILE_CACHE: getCompileCacheDir() }

const waiting = [...CHECKS]
const failed: string[] = []
await Promise.all(Array.from({ length: availableParallelism() }, runWaiting))
if (failed.length > 0) {
  console.error(`Failed checks: ${failed.join(', ')}. To run one: npm run verify:${failed[0]}`)
  process.exitCode = 1
}

async function runWaiting(): Promise<void> {
  for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
    const started = Date.now()
    const { passed, output } = await run(scripts[`verify:${name}`])
    const seconds = ((Date.now() - started) / 1000).toFixed(1)
    console.log(`${passed ? 'passed' : 'FAILED'}  ${name} (${seconds} s)`)
    if (passed) process.stdout.write(warningsIn(output))
    else process.stdout.write(`${output.trimEnd()}\n`)
    if (!passed) failed.push(name)
  }
}

/** Runs a command of package.json as npm does, which takes a third of a second longer. */
async function run(command: string): Promise<{ passed: boolean; output: string }> {
  const check = spawn(command, { cwd: ROOT, env, shell: true, stdio: ['ignore', 'pipe', 'pipe'] })
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
