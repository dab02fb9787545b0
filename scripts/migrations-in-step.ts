/** Whether src/db/schema.ts is in step with the migrations. */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeScript, parsed, temporaryFolder } from './command-line.ts'
import { ROOT } from './wrangler.ts'

parsed(
  describeScript(
    'verify:migrations',
    'Fails if src/db/schema.ts has changes that no migration has, or if drizzle-kit rejects the migrations.',
    [''],
  ),
)

const copy = temporaryFolder(join(ROOT, 'migrations-'))
cpSync(join(ROOT, 'migrations'), copy, { recursive: true })
const before = readdirSync(copy).length
const output = drizzleKit(['generate', '--dialect', 'sqlite', '--schema', 'src/db/schema.ts', '--out', copy])
if (readdirSync(copy).length !== before) {
  throw new Error(
    `${output}\nsrc/db/schema.ts has changes without a migration. Run \`npm run db:generate -- --name <purpose>\`.`,
  )
}

function drizzleKit(args: readonly string[]): string {
  const command = join(ROOT, 'node_modules', 'drizzle-kit', 'bin.cjs')
  // drizzle-kit accepts only paths relative to the working folder.
  const relative = args.map((arg) => (arg === copy ? `./${copy.slice(ROOT.length + 1)}` : arg))
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...relative], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout
}
