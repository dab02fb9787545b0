/** Writes the compiled SQL of every statement to sql/. */
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { is, Placeholder } from 'drizzle-orm'
import { format } from 'sql-formatter'
import type { Statement } from '../../src/db/statement.ts'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { allStatements } from '../all-statements.ts'

const options = parsed(
  describeScript(
    'generate sql',
    'Writes the compiled SQL of every statement to sql/, one file for each folder of src/, so that a review shows what a change does to the queries.',
    ['', '--check'],
  ).option('--check', 'write nothing; fail if the files are not in step'),
).opts()

const FOLDER = join(ROOT, 'sql')
/** A string, a quoted name, or the place of a parameter. */
const TOKEN = /'(?:[^']|'')*'|"(?:[^"]|"")*"|\?/g

const files = new Map<string, string>()
for (const [path, named] of Map.groupBy(await allStatements(), (statement) => statement.path)) {
  const file = `${fileOf(path)}.sql`
  const sections = named.map(({ name, statement }) => `-- ${name}\n${formatted(statement)}\n`)
  files.set(file, [files.get(file) ?? '', `-- ${path}\n`, ...sections].filter(Boolean).join('\n'))
}

if (options.check) check()
else write()

/** `src/resources/work/runs/statements.ts` is shown in `runs.sql`, `src/health.ts` in `health.sql`. */
function fileOf(path: string): string {
  const folder = basename(dirname(path))
  return folder === 'src' ? basename(path, '.ts') : folder
}

function formatted({ sql, params }: Statement): string {
  const bound = [...params]
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
  console.error(`sql/ is not in step with the statements (${names.join(', ')}). Run \`npm run generate -- sql\`.`)
  process.exitCode = 1
}

function write(): void {
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  for (const [file, text] of files) writeFileSync(join(FOLDER, file), text)
}
