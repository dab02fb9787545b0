/** The steps of a release (CONTRIBUTING.md, "Release"). */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describeScript, parsed, UsageError } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { npm } from '../npm.ts'
import { changedMigrations, recordMigrations, unrecordedMigrations } from '../released-migrations.ts'
import { addRelease, findNotes } from './changelog.ts'
import { packAll, readManifest, requireRepository } from './packages.ts'

const CHANGELOG = join(ROOT, 'CHANGELOG.md')
const LOCK = join(ROOT, 'package-lock.json')
const DEPLOY_GUIDE = join(ROOT, 'docs/deploy.md')
const NOTES = 'notes.md'

/** The folders with a package.json: they all have the version of the release. */
const FOLDERS = ['.', ...(readManifest('.').workspaces as readonly string[])]

const script = describeScript(
  'release',
  'Makes a release: prepares its commit, and packs it. The workflow publishes it (CONTRIBUTING.md).',
  ['prepare 1.1.0', 'pack --tag v1.1.0 --output release'],
)
script
  .command('prepare')
  .description('set the version, date the changelog, and record the migrations; then review, commit and tag')
  .argument('<version>', 'such as 1.1.0')
  .action(prepare)
script
  .command('pack')
  .description('check that everything has the version of the tag, and write the packages and the notes')
  .requiredOption('--tag <tag>', 'the tag of the release, such as v1.1.0')
  .requiredOption('--output <folder>', 'a new or empty folder')
  .action(pack)
script.argument('[command]', 'one of the commands below').action((command) => {
  const allowed = 'allowed: prepare, pack.'
  throw new UsageError(
    command === undefined
      ? `Missing required argument 'command'; ${allowed}`
      : `Unknown command '${command}'; ${allowed}`,
  )
})
parsed(script)

function prepare(version: string): void {
  if (!/^\d+\.\d+\.\d+$/.test(version)) {
    throw new UsageError(
      `The version is not one of a release; got "${version}"; allowed: three numbers, such as 1.1.0.`,
    )
  }
  const repository = requireRepository()
  const date = new Date().toISOString().slice(0, 10)
  const changelog = addRelease(readFileSync(CHANGELOG, 'utf8'), version, date)
  const changed = changedMigrations()
  if (changed.length > 0) throw new Error(changed.join('\n'))
  for (const folder of FOLDERS) {
    const file = join(ROOT, folder, 'package.json')
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/^( {2}"version": )"[^"]*"/m, `$1"${version}"`))
  }
  const lock = JSON.parse(readFileSync(LOCK, 'utf8'))
  lock.version = version
  for (const folder of FOLDERS) lock.packages[folder === '.' ? '' : folder].version = version
  writeFileSync(LOCK, `${JSON.stringify(lock, null, 2)}\n`)
  writeFileSync(CHANGELOG, changelog)
  writeFileSync(
    DEPLOY_GUIDE,
    readFileSync(DEPLOY_GUIDE, 'utf8').replace(/(?<=deploy\.workers\.cloudflare\.com\/\?url=)[^)]+/, repository),
  )
  recordMigrations()
  // The document has the version.
  npm(['run', '--silent', 'generate', '--', 'openapi'])
  console.log(`Prepared ${version}. Review it with \`git diff\`, commit it, and tag the commit: git tag v${version}`)
}

function pack({ tag, output }: { tag: string; output: string }): void {
  const version = requireVersion(tag)
  const notes = findNotes(readFileSync(CHANGELOG, 'utf8'), version)
  if (!notes) throw new Error(`CHANGELOG.md has no section for ${version}. Run: npm run release -- prepare ${version}`)
  const migrations = [...changedMigrations(), ...unrecordedMigrations()]
  if (migrations.length > 0) throw new Error(migrations.join('\n'))
  const folder = resolve(output)
  mkdirSync(folder, { recursive: true })
  if (readdirSync(folder).length > 0) throw new UsageError(`--output is not empty; got "${output}".`)
  for (const file of packAll(folder, requireRepository())) console.log(file)
  writeFileSync(join(folder, NOTES), `${notes}\n`)
  console.log(NOTES)
}

/** @throws if a package has another version than the tag. */
function requireVersion(tag: string): string {
  for (const folder of FOLDERS) {
    const { name, version } = readManifest(folder)
    if (tag !== `v${version}`) throw new Error(`The tag ${tag} does not fit ${name}, which has the version ${version}.`)
  }
  return tag.slice(1)
}
