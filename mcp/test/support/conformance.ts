/** The conformance suite of the Model Context Protocol, against a server that needs no API key. */
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { newFolder } from '../../../test/support/dev-server.ts'

export const COMMAND = join(
  dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')),
  'dist',
  'index.js',
)

/** Scenarios of the Skills extension belong to no revision. */
const SKILLS = ['sep-2640-skills-directory', 'sep-2640-skills-enumeration', 'sep-2640-skills-manifest']

const OF_EVERY_REVISION = ['dns-rebinding-protection', 'resources-list', ...SKILLS, 'tools-list']

/** The scenarios that apply to this server, by revision of the protocol. */
export const SCENARIOS: Readonly<Record<string, readonly string[]>> = {
  '2025-11-25': [...OF_EVERY_REVISION, 'ping', 'server-initialize'],
  '2026-07-28': [
    ...OF_EVERY_REVISION,
    'caching',
    'http-header-validation',
    'sep-2164-resource-not-found',
    'server-sse-multiple-streams',
    'server-stateless',
  ],
}

/**
 * Scenarios that call tools, prompts or resources of the suite's own test server, or features that this server lacks.
 */
const NOT_APPLICABLE =
  /^(tools-call-|prompts-|completion-|logging-|elicitation-|input-required-result-|resources-(read|templates|subscribe|unsubscribe)|json-schema-2020-12$|http-custom-header-server-validation$)/

/** Checks of the other scenarios that need a tool or a prompt of that test server. */
const CHECKS_NOT_APPLICABLE = [
  'sep-2575-server-rejects-undeclared-capability',
  'sep-2575-missing-capability-http-400',
  'sep-2575-http-server-no-independent-requests-on-stream',
  'sep-2575-server-no-log-without-loglevel',
  'sep-2549-prompts-list-caching-hints',
]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

/** Runs the scenarios of a revision. @returns the applicable ones that passed, and the checks that failed. */
export async function conformanceOf(url: string, revision: string): Promise<{ passed: string[]; failed: string[] }> {
  const output = newFolder()
  await run('--url', url, '--suite', 'all', '--spec-version', revision, '-o', output)
  for (const scenario of SKILLS) await run('--url', url, '--scenario', scenario, '-o', output)
  const passed: string[] = []
  const failed: string[] = []
  for (const folder of readdirSync(output)) {
    const [, scenario = ''] = /^server-(.+)-\d{4}-\d\d-\d\dT/.exec(folder) ?? []
    const file = join(output, folder, 'checks.json')
    if (NOT_APPLICABLE.test(scenario) || !existsSync(file)) continue
    const checks: Check[] = JSON.parse(readFileSync(file, 'utf8'))
    const problems = checks.filter(({ id, status }) => status === 'FAILURE' && !CHECKS_NOT_APPLICABLE.includes(id))
    if (problems.length === 0 && checks.some(({ status }) => status === 'SUCCESS')) passed.push(scenario)
    failed.push(...problems.map(({ id, errorMessage }) => `${scenario} ${id}: ${errorMessage}`))
  }
  rmSync(output, { recursive: true })
  return { passed: passed.sort(), failed }
}

async function run(...args: readonly string[]): Promise<void> {
  const suite = spawn(process.execPath, [COMMAND, 'server', ...args], { stdio: 'ignore' })
  await new Promise((resolve) => suite.on('close', resolve))
}
