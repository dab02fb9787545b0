/**
 * The service on this machine, on real data: secret, schema, `wrangler dev` with the flags given, a demo workspace, and
 * a tick each minute.
 *
 *     npm run dev [-- --port 9000 --persist-to some/dir …]
 */
import './private-files.ts'
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { beginDemo, curlLines, type Demo, demoFile, fillDemo, loadDemo, saveDemo, shellFile } from './demo.ts'
import { receiveRuns, tickEachMinute } from './local-runs.ts'
import { applyMigrations, ROOT, startDevelopmentServer, stateFolder } from './wrangler.ts'

const DEFAULT_PORT = '8787'
const HEALTH_CHECK_MS = 200

const args = process.argv.slice(2)
const { values: options } = parseArgs({
  args,
  strict: false,
  options: {
    port: { type: 'string', default: DEFAULT_PORT },
    'persist-to': { type: 'string' },
    var: { type: 'string', multiple: true, default: [] },
  },
})
const target = { remote: false, persistTo: options['persist-to'] as string | undefined }

const baseUrl = `http://localhost:${options.port}`

makeSecret(join(ROOT, '.dev.vars'))
applyMigrations(target)
const beginning = await beginDemo(target)

/** What is different on this machine, unless a flag says otherwise. */
const SETTINGS = { RATE_LIMIT: 'off', REQUEST_LOG: 'off', LOCAL_RUN_ENDPOINTS: 'on' }
const given = options.var as string[]
const settings = Object.entries(SETTINGS)
  .map(([name, value]) => `${name}:${value}`)
  .filter((setting) => !given.some((each) => each.startsWith(setting.replace(/:.*/, ':'))))
const receivesRuns = [...given, ...settings].includes('LOCAL_RUN_ENDPOINTS:on')
startDevelopmentServer([
  ...args,
  ...(args.some((arg) => /^--port\b/.test(arg)) ? [] : ['--port', DEFAULT_PORT]),
  ...(target.persistTo === undefined ? ['--persist-to', stateFolder(target)] : []),
  ...settings.flatMap((setting) => ['--var', setting]),
  // Its own address, also where wrangler.toml has a route.
  '--local-upstream',
  `localhost:${options.port}`,
])
await untilHealthy(baseUrl)
const demo = beginning ? await fillDemo(baseUrl, beginning) : loadDemo(target)
showDemo(demo && receivesRuns ? await receiveRuns(baseUrl, demo) : demo)
await tickEachMinute(baseUrl)

function showDemo(demo: Demo | undefined): void {
  if (!demo) {
    console.log(
      `\nThe database has data of its own: \`npm run bootstrap\` makes a key for it. For the demo, empty ${stateFolder(target)}.\n`,
    )
    return
  }
  saveDemo(target, { ...demo, baseUrl })
  console.log(
    `\nDemo key: ${demo.apiKey}\nIds and further keys: ${demoFile(target)}; for a shell: ${shellFile(target)}`,
  )
  console.log(`Reference, to try each operation: ${baseUrl}/docs\n`)
  console.log(`${curlLines({ ...demo, baseUrl }).join('\n\n')}\n`)
  console.log(
    `A schedule of "* * * * *" fires within a minute. ${
      receivesRuns
        ? 'Runs are received here, and printed.'
        : 'LOCAL_RUN_ENDPOINTS is not "on", so runs are not received here.'
    }\n`,
  )
}

/** Waits as long as it takes: if the server can't start, it ends this process. */
async function untilHealthy(url: string): Promise<void> {
  while (
    !(await fetch(`${url}/health`)
      .then(({ ok }) => ok)
      .catch(() => false))
  )
    await setTimeout(HEALTH_CHECK_MS)
}

/** A fresh random key, if this machine has none. */
function makeSecret(file: string): void {
  if (existsSync(file)) return
  writeFileSync(file, `ENCRYPTION_KEYS="dev-1:${randomBytes(32).toString('base64')}"\n`, { mode: 0o600 })
}
