/** The packages of a release: built, and packed from folders that have nothing else. */
import { cpSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, relative, resolve } from 'node:path'
import type { Unstable_RawConfig as WrittenConfiguration } from 'wrangler'
import { noticesOf } from '../../cli/notices.ts'
import { temporaryFolder } from '../../tools/command-line.ts'
import { ROOT, runWrangler, writtenConfigurationOf } from '../../tools/wrangler.ts'
import { dependenciesOf } from '../locked-packages.ts'
import { npm } from '../npm.ts'

export interface Manifest {
  readonly name: string
  readonly version: string
  readonly description: string
  readonly license: string
  readonly [field: string]: unknown
}

interface ReleasedPackage {
  /** Relative to the repository. */
  readonly folder: string
  /** The other files that it has, relative to its folder. */
  readonly files: readonly string[]
  /** A Worker, for which wrangler makes `dist/`. The others build themselves (`prepack`). */
  readonly isWorker: boolean
}

export const PACKAGES: readonly ReleasedPackage[] = [
  { folder: 'client', files: ['dist', 'README.md'], isWorker: false },
  { folder: 'cli', files: ['dist', 'README.md', 'THIRD-PARTY-NOTICES.txt'], isWorker: false },
  { folder: '.', files: ['migrations', 'public', 'README.md'], isWorker: true },
  { folder: 'mcp', files: ['README.md'], isWorker: true },
  { folder: 'console', files: [], isWorker: true },
]
/** The pages of the console, which are in `dist/` of its folder. */
const PAGES = 'pages'

/** In the address of the repository, until it is public. */
const NO_REPOSITORY = 'OWNER/REPOSITORY'
const ADDRESS = /^https:\/\/github\.com\/[\w.-]+\/[\w.-]+(?<!\.git)$/

/** What users of a package need. The other fields are for this repository. */
const FIELDS = ['type', 'sideEffects', 'bin', 'exports', 'engines', 'dependencies']

export function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(ROOT, folder, 'package.json'), 'utf8'))
}

/** The address of the repository, which npm's provenance requires in each package. @throws if nobody has set it. */
export function requireRepository(): string {
  const { repository } = readManifest('.')
  const address = String(repository)
  if (ADDRESS.test(address) && !address.includes(NO_REPOSITORY)) return address
  throw new Error(
    `"repository" in package.json is not the address of a repository; got ${JSON.stringify(repository)}; allowed: "https://github.com/<owner>/<name>". Set it to the public address of this one: the packages and the button in docs/deploy.md have it.`,
  )
}

/** The name that npm gives the file of a package. */
function tarballOf({ name, version }: Manifest): string {
  return `${name.replace('@', '').replace('/', '-')}-${version}.tgz`
}

/** Packs every package. @param repository its address. @returns the names of the files in the folder. */
export function packAll(output: string, repository: string): string[] {
  return PACKAGES.map((each) => {
    const staged = temporaryFolder(join(ROOT, '.wrangler.release-'))
    if (each.isWorker) stageWorker(each, staged)
    else npm(['run', '--silent', 'prepack', '--workspace', each.folder])
    for (const file of each.files) {
      // drizzle-kit's own files are not for users.
      const filter = (source: string) => !source.startsWith(join(ROOT, 'migrations', 'meta'))
      cpSync(join(ROOT, each.folder, file), join(staged, file), { recursive: true, filter })
    }
    cpSync(join(ROOT, 'LICENSE'), join(staged, 'LICENSE'))
    const manifest = releasedManifest(each, repository)
    writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`)
    requireClean(staged, manifest.name)
    npm(['pack', staged, '--silent', '--ignore-scripts', '--pack-destination', output])
    return tarballOf(manifest)
  })
}

function releasedManifest({ folder, isWorker }: ReleasedPackage, repository: string): Manifest {
  const manifest = readManifest(folder)
  const { name, version, description, license } = manifest
  const fields = isWorker ? [] : FIELDS.filter((field) => field in manifest)
  const own = Object.fromEntries(fields.map((field) => [field, manifest[field]]))
  const place = { type: 'git', url: `git+${repository}.git`, ...(folder !== '.' && { directory: folder }) }
  return { name, version, description, license, repository: place, ...own }
}

/** The built Worker, and a configuration for it that builds nothing. */
function stageWorker({ folder }: ReleasedPackage, staged: string): void {
  const deployment = { config: join(ROOT, folder, 'wrangler.toml') }
  const built = join(staged, 'dist')
  const written = writtenConfigurationOf(deployment)
  runWrangler(['deploy', '--dry-run', '--outdir', built], deployment)
  rmSync(join(built, 'README.md'))
  // wrangler leaves out the source maps of what it does not bundle.
  const source = written.no_bundle ? join(ROOT, folder, 'dist') : built
  if (source !== built) cpSync(source, built, { recursive: true })
  // The contracts that the other Workers bundle need packages of the root.
  const packages = dependenciesOf('', ...(folder === '.' ? [] : [folder]))
  writeFileSync(join(staged, 'THIRD-PARTY-NOTICES.txt'), noticesOf('dist/', packages))
  for (const map of globSync(join(built, '**/*.map'))) namePathsInRepository(map, source)
  if (folder === 'console') cpSync(join(ROOT, folder, 'dist'), join(staged, PAGES), { recursive: true })
  const configuration = builtConfiguration(written, folder === 'console' ? PAGES : undefined)
  writeFileSync(join(staged, 'wrangler.json'), `${JSON.stringify(configuration, null, 2)}\n`)
}

function builtConfiguration(written: WrittenConfiguration, pages: string | undefined): WrittenConfiguration {
  const { build: _, minify: __, ...configuration } = written
  const assets = configuration.assets && { assets: { ...configuration.assets, ...(pages && { directory: pages }) } }
  return {
    ...configuration,
    ...assets,
    main: configuration.no_bundle ? configuration.main : 'dist/index.js',
    no_bundle: true,
  }
}

/** @param written the folder that the source map was written to; it names the sources relative to that. */
function namePathsInRepository(map: string, written: string): void {
  const { sourceRoot: folder = written, ...content } = JSON.parse(readFileSync(map, 'utf8'))
  const sources = content.sources.map((source: string) =>
    relative(ROOT, resolve(folder, source)).replace(/^.*?\/(?=node_modules\/)/, ''),
  )
  writeFileSync(map, JSON.stringify({ ...content, sources }))
}

/** @throws if a file belongs to this machine or is not for users. */
function requireClean(staged: string, name: string): void {
  for (const entry of globSync('**', { cwd: staged, withFileTypes: true })) {
    if (!entry.isFile()) continue
    const file = join(entry.parentPath, entry.name)
    const path = relative(staged, file)
    if (/(^|\/)(node_modules|test)\/|\.test\.\w+$|(^|\/)\.[^/]*$|\.tgz$/.test(path)) {
      throw new Error(`${name} would contain ${path}, which is not for its users.`)
    }
    if (readFileSync(file).includes(ROOT)) throw new Error(`${name} would contain a path of this machine, in ${path}.`)
  }
}
