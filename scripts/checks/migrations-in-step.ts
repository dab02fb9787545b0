/**
 * Whether the released migrations are unchanged, and src/db/schema.ts is in step with all of them: drizzle-kit finds no change without a migration, and a
 * database that the migrations make differs from one that drizzle-kit makes from the schema only in what is listed
 * here.
 */
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describeScript, parsed, temporaryFolder } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { changedMigrations } from '../released-migrations.ts'

/**
 * Drizzle cannot declare WITHOUT ROWID. All tables are of this kind (docs/design.md, "Tables without rowid"), except:
 */
const ROWID_TABLES = [
  // Large values, for which SQLite advises against it.
  'skillContents',
  'skillVersions',
  'environmentVariables',
  // Each of three indexes would contain the primary key, which takes more bytes than the rowid.
  'sessionFiles',
  // Read in order of rowid (src/maintenance/reseal.ts).
  'eventEndpoints',
  'runEndpoints',
  // Their integer keys are the rowids.
  'databases',
  'lastTick',
  'tickReports',
]
/** Drizzle-kit quotes each part of an expression between two commas as the name of a column. */
const EXPRESSION_INDEXES = [
  'apiKeysByEnd',
  'environmentVariablesByKeyId',
  'eventEndpointsByUrlKeyId',
  'eventEndpointsByKeyId',
  'eventEndpointsByPreviousKeyId',
  'runEndpointsByKeyId',
  'runEndpointsByPreviousKeyId',
]

const COLUMN_SEPARATOR = /,(?![^(]*\))/

parsed(
  describeScript(
    'check migrations',
    'Fails if a released migration has changed, if src/db/schema.ts has changes that no migration has, if drizzle-kit rejects the migrations, or if they make another database than the schema.',
    [''],
  ),
)

const changed = changedMigrations()
if (changed.length > 0) throw new Error(`${changed.join('\n')}\nWrite another migration instead.`)

const SCHEMA = ['--dialect', 'sqlite', '--schema', 'src/db/schema.ts']
const copy = temporaryFolder(join(ROOT, 'migrations-'))
cpSync(join(ROOT, 'migrations'), copy, { recursive: true })
const files = readdirSync(copy)
// drizzle-kit accepts only paths relative to the working folder.
const output = drizzleKit('generate', ...SCHEMA, '--out', `./${copy.slice(ROOT.length + 1)}`)
if (readdirSync(copy).length !== files.length) {
  throw new Error(
    `${output}\nsrc/db/schema.ts has changes without a migration. Run \`npm run generate -- migration -- --name <purpose>\`.`,
  )
}

const migrations = files
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => readFileSync(join(copy, file), 'utf8'))
const migrated = definitionsIn(migrations)
const declared = definitionsIn([completed(drizzleKit('export', ...SCHEMA))])
// Drizzle has no triggers: those that a migration creates and none drops have to exist. A table that is rebuilt loses
// its own.
for (const [, verb, name] of migrations.join('\n').matchAll(/^(CREATE|DROP) TRIGGER (?:IF EXISTS )?`(\w+)`/gm)) {
  if (verb === 'CREATE') declared.set(`trigger ${name}`, [`CREATE TRIGGER ${name}`])
  else declared.delete(`trigger ${name}`)
}
const differences = [...new Set([...migrated.keys(), ...declared.keys()])].flatMap((name) => [
  ...difference(name, 'the migrations lack', declared, migrated),
  ...difference(name, 'src/db/schema.ts lacks', migrated, declared),
])
if (differences.length > 0) {
  throw new Error(
    `${differences.join('\n')}\nThe migrations do not make what src/db/schema.ts declares. CONTRIBUTING.md, "Change the schema", says how to complete a generated migration.`,
  )
}

function drizzleKit(...args: readonly string[]): string {
  const command = join(ROOT, 'node_modules', 'drizzle-kit', 'bin.cjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    cwd: ROOT,
    encoding: 'utf8',
  })
  if (status !== 0) throw new Error(stdout + stderr)
  return stdout
}

/** The SQL that drizzle-kit generates, with what it cannot express. */
function completed(generated: string): string {
  return generated
    .replaceAll(/^(CREATE TABLE `(\w+)` .*?^\));/gms, (statement, table, name) =>
      ROWID_TABLES.includes(name) ? statement : `${table} WITHOUT ROWID;`,
    )
    .replaceAll(/^CREATE (?:UNIQUE )?INDEX `(\w+)` .*$/gm, (statement, name) =>
      EXPRESSION_INDEXES.includes(name) ? statement.replaceAll('`', '') : statement,
    )
}

/**
 * What the statements make, without quotes: the parts of each table, the definition of each index, the name of each
 * trigger.
 */
function definitionsIn(statements: readonly string[]): Map<string, string[]> {
  const database = new DatabaseSync(':memory:')
  for (const sql of statements) database.exec(sql)
  const made = database.prepare('SELECT "type", "name", "sql" FROM sqlite_master WHERE "sql" IS NOT NULL').all()
  database.close()
  return new Map(
    made.map(({ type, name, sql }) => {
      const text = String(sql).replaceAll(/["`]/g, '').replaceAll(/\s+/g, ' ')
      // A migration adds columns at the end of the table, so their order may differ.
      const [, columns = '', options = ''] = /^CREATE TABLE \w+ \((.*)\)(.*)$/.exec(text) ?? []
      const parts = {
        table: [...columns.split(COLUMN_SEPARATOR), options].map((part) => part.trim()).filter(Boolean),
        index: [text],
        trigger: [`CREATE TRIGGER ${name}`],
      }
      return [`${type} ${name}`, parts[type as keyof typeof parts]]
    }),
  )
}

type Definitions = ReturnType<typeof definitionsIn>

/** A line if the definition has parts that the other does not have. */
function difference(name: string, who: string, definitions: Definitions, others: Definitions): string[] {
  const other = others.get(name) ?? []
  const lacking = definitions.get(name)?.filter((part) => !other.includes(part)) ?? []
  return lacking.length > 0 ? [`${name}: ${who} ${lacking.join(', ')}`] : []
}
