/**
 * The service on this machine, on real data: secret, schema, demo workspace, then `wrangler dev` with the flags given.
 *
 *     npm run dev [-- --port 9000 --persist-to some/dir …]
 */
import { randomBytes } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { curlLines, openDemo } from './demo.ts'
import { applyMigrations, ROOT, startDevelopmentServer, stateFolder } from './wrangler.ts'

const DEFAULT_PORT = '8787'

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
const folder = stateFolder(target)

makeSecret(join(ROOT, '.dev.vars'))
applyMigrations(target)
const demo = await openDemo(folder, `http://localhost:${options.port}`)

if (demo) {
  console.log(`\nDemo key: ${demo.apiKey}\nIds and further keys: ${join(folder, 'demo.json')}\n`)
  console.log(`${curlLines(demo).join('\n\n')}\n`)
} else {
  console.log(`\nThe database has data of its own. \`npm run bootstrap\` makes a key for it.\n`)
}

const settings = options.var as string[]
const rateLimit = settings.some((setting) => setting.startsWith('RATE_LIMIT:'))
  ? []
  : ['--var', 'RATE_LIMIT:off']
startDevelopmentServer([
  ...args,
  ...(args.some((arg) => /^--port\b/.test(arg)) ? [] : ['--port', DEFAULT_PORT]),
  ...(target.persistTo === undefined ? ['--persist-to', folder] : []),
  ...rateLimit,
])

/** A fresh random key, if this machine has none. */
function makeSecret(file: string): void {
  if (existsSync(file)) return
  writeFileSync(file, `ENCRYPTION_KEYS="dev-1:${randomBytes(32).toString('base64')}"\n`, { mode: 0o600 })
}
