/** Writes the compiled SQL of every statement to sql/. */
import './node-stand-in.ts'
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { is, Placeholder } from 'drizzle-orm'
import { format } from 'sql-formatter'
import { type Statement, statements } from '../src/db/statement.ts'
import { describeScript, parsed } from './command-line.ts'
import { namedStatements } from './named-statements.ts'
import { ROOT } from './wrangler.ts'

const options = parsed(
  describeScript(
    'sql',
    'Writes the compiled SQL of every statement to sql/, one file for each folder of src/, so that a review shows what a change does to the queries.',
    ['', '--check'],
  ).option('--check', 'write nothing; fail if the files are not in step'),
).opts()

const FOLDER = join(ROOT, 'sql')
/** A string, a quoted name, or the place of a parameter. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g

const files = new Map<string, string>()
const shown = new Set<Statement>()
for (const path of globSync('src/**/*.ts', { cwd: ROOT, exclude: ['src/db/statement.ts'] }).sort()) {
  const named = namedStatements(await import(join(ROOT, path))).filter(
    ([, statement]) => !shown.has(statement),
  )
  for (const [, statement] of named) shown.add(statement)
  if (named.length === 0) continue
  const file = `${fileOf(path)}.sql`
  const sections = named.map(([name, statement]) => `-- ${name}\n${formatted(statement)}\n`)
  files.set(file, [files.get(file) ?? '', `-- ${path}\n`, ...sections].filter(Boolean).join('\n'))
}

const hidden = statements.filter((statement) => !shown.has(statement))
for (const { sql } of hidden) console.error(`This statement is not exported, so sql/ can't show it: ${sql}`)
if (hidden.length > 0) process.exit(1)

if (options.check) check()
else write()

/** `src/resources/pins/statements.ts` is shown in `pins.sql`, `src/delivery/check-runs.ts` in `delivery.sql`. */
function fileOf(path: string): string {
  const folders = dirname(path).split('/').slice(1)
  return (folders[0] === 'resources' ? folders[1] : folders[0]) ?? basename(path, '.ts')
}

function formatted({ sql, parameters }: Statement): string {
  const bound = [...parameters]
  const named = sql.replace(TOKEN, (token) => (token === '?' ? parameter(bound.shift()) : token))
  return `${format(named, { language: 'sqlite', expressionWidth: 100, paramTypes: { custom: [{ regex: ':[\\w.]+' }] } })};`
}

function parameter(value: unknown): string {
  if (is(value, Placeholder)) return `:${value.name}`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

function check(): void {
  const present = readdirSync(FOLDER)
  const differing = [...files].filter(
    ([file, text]) => !present.includes(file) || readFileSync(join(FOLDER, file), 'utf8') !== text,
  )
  const names = [...differing.map(([file]) => file), ...present.filter((file) => !files.has(file))]
  if (names.length === 0) return
  console.error(`sql/ is not in step with the statements (${names.join(', ')}). Run \`npm run sql\`.`)
  process.exitCode = 1
}

function write(): void {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  for (const [file, text] of files) writeFileSync(join(FOLDER, file), text)
}
