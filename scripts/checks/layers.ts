/** Checks which folder imports which, by the list below. */
import { globSync, readFileSync } from 'node:fs'
import { dirname, join, matchesGlob } from 'node:path/posix'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'

const BASE = 'src/environment.ts src/errors.ts src/durations.ts src/brakes.ts'
const DOOR = 'src/contracts.ts'

/**
 * The layers, from the top down: folders or files, and what they may import besides themselves, npm packages and data.
 * Only what is further down in the list counts, so no two folders import each other.
 */
const LAYERS = {
  '*.config.ts': 'scripts/** test/** tools',
  'console/test': '**',
  'client/test cli/test mcp/test command-line/test': '**',
  test: '**',
  bench: 'operate/** scripts/** src/** tools test/support/inputs.ts test/browser/chromium.ts',
  'test/support/inputs.ts': 'src/http',
  'test/browser/chromium.ts': '',
  'scripts/checks scripts/dev scripts/generate scripts/release':
    'client/** command-line/src cli/bundle.ts cli/notices.ts operate/** scripts/*.ts src/** tools',
  scripts: 'client/src command-line/src operate/** src/** tools',
  operate: 'command-line/src src/** tools',
  tools: 'command-line/src src/db',
  cli: `client/src command-line/src cli/** ${DOOR}`,
  'console/web': `client/src console/src ${DOOR}`,
  'console/src console/build.ts':
    'client/src src/access/address.ts src/access/bundles.ts src/environment.ts src/http/read-up-to.ts src/sign-in/claims.ts src/sign-in/types.ts src/webhooks/receiver-url.ts',
  'mcp/src': DOOR,
  'command-line/src': 'client/src',
  'client/src client/generate.ts': '',
  'src/contracts.ts': 'src/**',
  'src/index.ts': 'src/**',
  'src/deliveries.ts': 'src/**',
  'src/app.ts src/scheduled.ts': 'src/**',
  'src/health.ts src/operations.ts': 'src/**',
  'src/alerts': `src/webhooks src/db ${BASE}`,
  'src/maintenance': `src/resources/* src/db src/crypto ${BASE}`,
  'src/openapi': 'src/**',
  'src/sign-in': `src/resources/* src/http src/access src/db src/crypto ${BASE}`,
  'src/resources/*': 'src/**',
  'src/webhooks': `src/http src/access src/db src/crypto ${BASE}`,
  'src/http': `src/access src/db src/crypto ${BASE}`,
  'src/access src/objects': `src/db src/crypto ${BASE}`,
  'src/db src/crypto src/cron': BASE,
  'src/environment.ts src/errors.ts': '',
  'src/durations.ts src/queues.ts src/brakes.ts': '',
}

/** The longest first, because `scripts/checks` counts before `scripts`. */
const FOLDERS = Object.entries(LAYERS)
  .flatMap(([folders, allowed], level) => folders.split(' ').map((pattern) => ({ pattern, allowed, level })))
  .sort((one, other) => other.pattern.length - one.pattern.length)

function folderOf(file: string) {
  for (const entry of FOLDERS) {
    const name = file.split('/').slice(0, entry.pattern.split('/').length).join('/')
    if (matchesGlob(name, entry.pattern)) return { ...entry, name }
  }
  return undefined
}

/** Biome formats every import like this. */
const IMPORT = /\b(?:from |import |import\()'(\.[^'?]+)/g

/** @param file its path from the root of the repository. @returns what is wrong with its imports. */
export function forbiddenImports(file: string, code: string): string[] {
  const from = folderOf(file)
  if (!from) return [`${file} is in no layer.`]
  return Array.from(code.matchAll(IMPORT), ([, path = '']) => join(dirname(file), path))
    .filter((imported) => !mayImport(from, imported))
    .map((imported) => `${file} imports ${imported}; allowed in ${from.name}: ${from.allowed || 'no other folder'}.`)
}

function mayImport(from: NonNullable<ReturnType<typeof folderOf>>, imported: string): boolean {
  const to = folderOf(imported)
  if (!to || to.name === from.name) return true
  const isAllowed = from.allowed.split(' ').some((name) => matchesGlob(to.name, name) || matchesGlob(imported, name))
  return isAllowed && to.level > from.level
}

if (import.meta.main) {
  parsed(
    describeScript('check layers', 'Checks which folder imports which: the list is in scripts/checks/layers.ts.', ['']),
  )
  const files = globSync('**/*.{ts,tsx,js}', {
    cwd: ROOT,
    exclude: ['**/node_modules', '**/dist', '**/.*', 'public'],
  })
  const problems = files.flatMap((file) => forbiddenImports(file, readFileSync(join(ROOT, file), 'utf8')))
  for (const problem of problems) console.error(problem)
  if (problems.length > 0) {
    console.error('The list is in scripts/checks/layers.ts; docs/design.md, "Layout", explains it.')
    process.exitCode = 1
  }
}
