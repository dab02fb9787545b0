/** Restores a backup into a scratch folder and checks what came back (docs/restore.md). Changes nothing else. */
import './private-files.ts'
import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { send } from '../src/alerts/alerts.ts'
import { type KeyRing, parseKeyRing } from '../src/crypto/key-ring.ts'
import { open } from '../src/crypto/sealed-value.ts'
import type { RowOf } from '../src/db/statement.ts'
import { COUNT_USAGE, USAGE_COUNTS } from '../src/db/usage.ts'
import { HOUR_MS } from '../src/durations.ts'
import type { Environment } from '../src/environment.ts'
import { describeScript, numberText, parsed, positiveNumber, temporaryFolder } from '../tools/command-line.ts'
import { countRows, loadBackup } from './backups/backup-file.ts'
import { readManifest } from './backups/manifest.ts'
import { damagedObjects, objectFolder, sha256Of } from './backups/objects.ts'
import { type CommandDatabase, localDatabase, run } from './database.ts'
import { SEALED_BY_KEY } from './sealed-by-key.ts'

const MAX_NAMED = 10

const options = parsed(
  describeScript(
    'operate restore-test',
    'Restores a backup into a scratch folder, checks its counts, the contents of files and that its secrets open, and deletes the folder. With OPERATOR_ALERT_URL, that is told what is wrong.',
    ['--input backup.sqlite', '--input backups/monday.sqlite --with-objects'],
  )
    .requiredOption('--input <path>', 'a file or a folder that `npm run operate -- backup` wrote')
    .option('--with-objects', 'check the contents in the folder "objects" beside the input, too')
    .option('--max-age <hours>', 'fail if the backup is older', positiveNumber),
).opts()

const problems = await testRestore()
if (problems.length > 0) {
  const text = `The backup ${options.input} cannot be relied on: ${problems.join(' ')}`
  console.error(text)
  process.exitCode = 1
  const { OPERATOR_ALERT_URL } = process.env
  if (OPERATOR_ALERT_URL) await send({ OPERATOR_ALERT_URL } as Environment, text)
} else {
  console.log('The backup can be restored.')
}

/** @returns a sentence for each thing that is wrong. */
async function testRestore(): Promise<string[]> {
  const { input } = options
  if (!existsSync(input)) return ['It does not exist.']
  const folder = temporaryFolder(`${input.replace(/\/+$/, '')}.`)
  try {
    const ring = process.env.ENCRYPTION_KEYS ? parseKeyRing(process.env.ENCRYPTION_KEYS) : undefined
    const backup = readManifest(input)
    const files = backup ? [...backup.files.values()] : [{ file: input, number: 0, sha256: undefined }]
    const ageHours = (Date.now() - (backup ? Date.parse(backup.createdAt) : statSync(input).mtimeMs)) / HOUR_MS
    const found =
      options.maxAge !== undefined && ageHours > options.maxAge ? [`It is ${ageHours.toFixed(1)} hours old.`] : []
    for (const { file, number, sha256 } of files) {
      if (sha256 !== undefined && (await sha256Of(file)) !== sha256)
        found.push(`${file} was changed since it was written.`)
      found.push(...(await testFile(file, join(folder, `${number}.sqlite`), ring)))
    }
    if (!ring) console.log('Secrets were not opened: ENCRYPTION_KEYS is not set.')
    if (!options.withObjects) console.log('Contents of files were not checked: pass --with-objects.')
    if (!backup) console.log('A file without a manifest: rows that somebody changed are not noticed.')
    return found
  } catch (error) {
    return [(error as Error).message]
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

async function testFile(input: string, copy: string, ring: KeyRing | undefined): Promise<string[]> {
  const database = await loadBackup(input, copy)
  try {
    console.log(`${input}: ${numberText(countRows(database))} rows, ${numberText(statSync(copy).size)} bytes`)
    return [
      ...wrongCounts(database),
      ...(ring ? await closedSecrets(copy, ring) : []),
      ...(options.withObjects ? await wrongObjects(database) : []),
    ]
  } finally {
    database.close()
  }
}

/** The triggers keep the same counts, unless rows are missing. */
function wrongCounts(database: DatabaseSync): string[] {
  const columns = Object.keys(USAGE_COUNTS).map((name) => `"${name}"`)
  const wrong = database
    .prepare(
      `SELECT "organizationId" FROM (${COUNT_USAGE}) AS "counted"
        WHERE NOT EXISTS (SELECT 1 FROM "organizationUsage" AS "kept" WHERE (${['"organizationId"', ...columns].map((name) => `"kept".${name}`).join(', ')})
          IS (${['"organizationId"', ...columns].map((name) => `"counted".${name}`).join(', ')}))`,
    )
    .all()
  return wrong.map(({ organizationId }) => `The organization ${organizationId} has other rows than it counted.`)
}

/** Opens every secret. */
async function closedSecrets(file: string, ring: KeyRing): Promise<string[]> {
  const database = localDatabase(file)
  const closed = new Map<string, number>()
  let opened = 0
  try {
    for (const sealed of SEALED_BY_KEY) {
      const [used = []] = await run(database, [{ statement: sealed.counts, values: {} }])
      for (const { keyId } of used) {
        for await (const isOpen of areOpen(database, sealed, String(keyId), ring)) {
          if (isOpen) opened++
          else closed.set(String(keyId), (closed.get(String(keyId)) ?? 0) + 1)
        }
      }
    }
  } finally {
    database.close()
  }
  console.log(`${numberText(opened)} secrets open`)
  return [...closed].map(
    ([keyId, count]) =>
      `Secrets that do not open: ${numberText(count)} of the key ${keyId}, ${ring.keys.has(keyId) ? 'which are damaged' : 'which ENCRYPTION_KEYS lacks'}.`,
  )
}

/** For each value of a column that the key encrypted, whether it opens. */
async function* areOpen(
  database: CommandDatabase,
  { select, contextOf }: (typeof SEALED_BY_KEY)[number],
  keyId: string,
  ring: KeyRing,
): AsyncGenerator<boolean> {
  const now = new Date().toISOString()
  for (let after = 0; ; ) {
    const [rows = []] = await run(database, [{ statement: select, values: { keyId, after, now } }])
    for (const row of rows as RowOf<typeof select>[]) {
      yield await open(row.sealed, contextOf(row), ring).then(
        () => true,
        () => false,
      )
    }
    if (rows.length === 0) return
    after = Number(rows.at(-1)?.rowid)
  }
}

async function wrongObjects(database: DatabaseSync): Promise<string[]> {
  const folder = objectFolder(options.input)
  const { checked, damaged } = await damagedObjects(database, folder)
  console.log(`${folder}: ${numberText(checked)} objects`)
  if (damaged.length === 0) return []
  const named = damaged.slice(0, MAX_NAMED).join(', ')
  return [
    `Objects that are missing or have another content: ${numberText(damaged.length)}, ${named}${damaged.length > MAX_NAMED ? ', …' : ''}.`,
  ]
}
