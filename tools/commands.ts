/** The scripts of package.json that have commands of their own, such as `npm run operate -- backup`. */
import { spawn } from 'node:child_process'
import { ROOT } from './wrangler.ts'

/** By their names: what each does, and the file that Node runs, with its first arguments. */
export type ScriptCommands = Readonly<
  Record<string, { readonly summary: string; readonly argv: readonly [string, ...string[]] }>
>

/** For operators (docs/operate.md). */
const operate = {
  bootstrap: { summary: 'create an organization and its first API key', argv: ['operate/bootstrap.ts'] },
  status: { summary: 'show what is inside and what is wrong', argv: ['operate/status.ts'] },
  organization: {
    summary: 'list, show, export, move, suspend and delete organizations',
    argv: ['operate/organization.ts'],
  },
  brake: { summary: 'stop firing, deliveries, claims or feeds, and let them go on', argv: ['operate/brake.ts'] },
  database: { summary: 'list the databases of a deployment, and add one', argv: ['operate/database-command.ts'] },
  backup: { summary: 'copy the databases and the files', argv: ['operate/backup.ts'] },
  restore: { summary: 'replace a database by a backup or by an earlier state', argv: ['operate/restore.ts'] },
  'restore-test': { summary: 'try whether a backup can be restored', argv: ['operate/restore-test.ts'] },
  reseal: { summary: 'show the progress of a rotation of the encryption key', argv: ['operate/reseal.ts'] },
} as const satisfies ScriptCommands

/** Files that are made from others, and committed. */
const generate = {
  openapi: {
    summary: 'public/openapi.json and client/src/api.ts, from the contracts',
    argv: ['scripts/generate/openapi.ts'],
  },
  sql: { summary: 'sql/, from the statements', argv: ['scripts/generate/sql.ts'] },
  migration: {
    summary: 'a migration, from the changes of src/db/schema.ts',
    argv: ['node_modules/drizzle-kit/bin.cjs', 'generate'],
  },
  counters: { summary: 'bench/counters.json, by counting', argv: ['bench/counters.ts'] },
  dependencies: { summary: 'docs/dependencies.md, from the packages', argv: ['scripts/generate/dependencies.ts'] },
  screenshots: { summary: 'the screenshots of docs/, in Chromium', argv: ['test/browser/screenshot.ts'] },
} as const satisfies ScriptCommands

/** The slowest first. */
const check = {
  types: { summary: 'the types of all code', argv: ['scripts/checks/types.ts'] },
  contracts: {
    summary: 'public/openapi.json matches the contracts',
    argv: ['scripts/generate/openapi.ts', '--check'],
  },
  openapi: { summary: "Redocly's rules for the document", argv: ['scripts/checks/openapi-lint.ts'] },
  lint: { summary: 'lint and format', argv: ['node_modules/@biomejs/biome/bin/biome', 'check', '--error-on-warnings'] },
  tenancy: { summary: 'every table is bound to one organization', argv: ['scripts/checks/tenancy.ts'] },
  sql: { summary: 'sql/ matches the statements', argv: ['scripts/generate/sql.ts', '--check'] },
  spelling: { summary: 'the spelling of the documentation', argv: ['scripts/checks/spelling.ts'] },
  migrations: { summary: 'the migrations make the schema', argv: ['scripts/checks/migrations-in-step.ts'] },
  layers: { summary: 'which folder imports which', argv: ['scripts/checks/layers.ts'] },
  dependencies: {
    summary: 'docs/dependencies.md matches the packages',
    argv: ['scripts/generate/dependencies.ts', '--check'],
  },
  lock: { summary: 'package-lock.json has the builds of all systems', argv: ['scripts/checks/lock-complete.ts'] },
} as const satisfies ScriptCommands

const bench = {
  console: { summary: 'pages of the console in Chromium, with a large organization', argv: ['bench/console.ts'] },
  'start-up': { summary: 'a cold start, and the first requests after it', argv: ['bench/start-up.ts'] },
  soak: { summary: 'mixed traffic while the stores fail now and then', argv: ['bench/soak.ts'] },
} as const satisfies ScriptCommands

export const SCRIPT_COMMANDS = { operate, generate, check, bench }

/** Runs the command that the command line names. @returns false if it names none. */
export async function runNamed(commands: ScriptCommands): Promise<boolean> {
  const [name = '', ...args] = process.argv.slice(2)
  const command = Object.hasOwn(commands, name) ? commands[name] : undefined
  if (!command) return false
  const child = spawn(process.execPath, [...command.argv, ...args], { cwd: ROOT, stdio: 'inherit' })
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
  process.exitCode = await new Promise<number>((resolve) => child.on('exit', (code) => resolve(code ?? 1)))
  return true
}

/** The commands, for the help of their script. */
export function listOf(commands: ScriptCommands): string {
  const width = Math.max(...Object.keys(commands).map(({ length }) => length))
  const lines = Object.entries(commands).map(([name, { summary }]) => `\n  ${name.padEnd(width)}  ${summary}`)
  return `Commands:${lines.join('')}`
}
