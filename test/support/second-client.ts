/** A client that a second, independent generator makes of the OpenAPI document. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ROOT } from './commands.ts'

/** Calls the seven operations on the demo workspace, and prints what they return. */
const CALLS = `
import { readFileSync } from 'node:fs'
import { ok } from '@oazapfts/runtime'
import * as api from './api.ts'

const demo = JSON.parse(readFileSync(process.argv[2] ?? '', 'utf8'))
api.defaults.baseUrl = demo.baseUrl
api.defaults.headers = { Authorization: 'Bearer ' + demo.apiKey }
const [{ resourceType: type, resourceId: id }, moved] = demo.pins
const placement = { target: { type, id }, position: 'before' as const }
const { updated } = await ok(api.updatePin(moved.resourceType, moved.resourceId, { placement }))
const { timezone } = await ok(api.createProjectSchedule(demo.projectId, { cron: '@yearly', timezone: 'UTC' }))
const schedule = await ok(api.createAgentSchedule(demo.agentId, { cron: '@yearly' }, { idempotencyKey: 'second' }))
const files = await ok(api.listSessionFiles(demo.sessionId, { limit: '3' }))
const skill = await ok(api.retrieveSkill(demo.skillId))
const picture = await ok(api.deleteProfilePicture(demo.userId))
await ok(api.putEnvironmentVariable(demo.projectId, 'SECOND', { value: 'client' }))
const variable = await ok(api.deleteEnvironmentVariable(demo.projectId, 'SECOND'))
const paths: string[] = files.items.map((file) => file.path)
const names: string[] = skill.files.map((file) => file.filename)
console.log(JSON.stringify([updated, timezone, schedule.agentId, paths.length, names, picture.deleted, variable]))
`

const OPTIONS =
  '--ignoreConfig --noEmit --strict --skipLibCheck --module nodenext --target es2024 --lib es2024,dom,dom.iterable --types node --allowImportingTsExtensions'

/** Generates the client, compiles it with its calls, and runs them. @throws what the compiler or a call reports. */
export function callWithSecondClient(demoFile: string): unknown {
  const run = (command: string, ...args: readonly string[]) =>
    execFileSync(process.execPath, [join(ROOT, 'node_modules', command), ...args], {
      cwd: ROOT,
      encoding: 'utf8',
    })
  // Inside the project, so that the client finds its runtime.
  mkdirSync(join(ROOT, '.vitest'), { recursive: true })
  const folder = mkdtempSync(join(ROOT, '.vitest', 'second-client-'))
  try {
    const calls = join(folder, 'calls.ts')
    writeFileSync(calls, CALLS)
    run('oazapfts/dist/cli.js', join('public', 'openapi.json'), join(folder, 'api.ts'))
    run('typescript/bin/tsc', ...OPTIONS.split(' '), calls)
    return JSON.parse(execFileSync(process.execPath, [calls, demoFile], { encoding: 'utf8' }))
  } finally {
    rmSync(folder, { recursive: true })
  }
}
