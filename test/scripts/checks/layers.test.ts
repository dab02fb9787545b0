import { describe, expect, it } from 'vitest'
import { forbiddenImports } from '../../../scripts/checks/layers.ts'

/** What is wrong if the file imports the other one. */
const problems = (file: string, imported: string) => {
  const up = '../'.repeat(file.split('/').length - 1)
  return forbiddenImports(file, `import { name } from '${up || './'}${imported}'\n`)
}

const FOREIGN = [
  'cli/src/x.ts',
  'client/src/x.ts',
  'mcp/src/x.ts',
  'operate/x.ts',
  'scripts/x.ts',
  'test/x.ts',
  'bench/x.ts',
]
const ENTRIES = ['index', 'app', 'scheduled', 'health', 'operations'].map((name) => `src/${name}.ts`)
const inFolders = (...names: string[]) => names.map((name) => `src/${name}/x.ts`)
const UPPER = [...ENTRIES, ...inFolders('maintenance', 'openapi')]
const RESOURCES = inFolders('resources/pins', 'resources/skills')

/** What a file may not import. */
const FORBIDDEN: Readonly<Record<string, readonly string[]>> = {
  'src/environment.ts': [...UPPER, ...RESOURCES, ...inFolders('db', 'crypto', 'cron', 'objects', 'access', 'http')],
  'src/errors.ts': [...UPPER, ...RESOURCES, ...inFolders('db', 'crypto', 'cron', 'objects', 'access', 'http')],
  'src/durations.ts': [...UPPER, ...RESOURCES, ...inFolders('db', 'crypto', 'cron', 'objects', 'access', 'http')],
  'src/db/x.ts': [...UPPER, ...RESOURCES, ...inFolders('crypto', 'cron', 'objects', 'access', 'http')],
  'src/crypto/x.ts': [...UPPER, ...RESOURCES, ...inFolders('db', 'cron', 'objects', 'access', 'http')],
  'src/cron/x.ts': [...UPPER, ...RESOURCES, ...inFolders('db', 'crypto', 'objects', 'access', 'http')],
  'src/objects/x.ts': [...UPPER, ...RESOURCES, ...inFolders('access', 'http', 'cron')],
  'src/access/x.ts': [...UPPER, ...RESOURCES, ...inFolders('objects', 'http', 'cron')],
  'src/http/x.ts': [...UPPER, ...RESOURCES, ...inFolders('objects', 'cron')],
  'src/resources/pins/x.ts': [...UPPER, ...inFolders('resources/skills')],
  'src/openapi/x.ts': [...ENTRIES, ...inFolders('maintenance')],
  'src/maintenance/x.ts': [...ENTRIES, ...inFolders('http', 'access', 'openapi')],
  'src/app.ts': ['src/index.ts', 'src/scheduled.ts'],
  'src/operations.ts': ['src/index.ts', 'src/app.ts', 'src/scheduled.ts', 'src/health.ts'],
}

describe('verify:layers', () => {
  it.each(Object.entries(FORBIDDEN))('refuses what %s may not import', (file, imported) => {
    for (const other of [...imported, ...FOREIGN]) {
      expect(problems(file, other)).toEqual([expect.stringContaining(`${file} imports ${other}; allowed in `)])
    }
  })

  it.each([
    ['mcp/src/x.ts', 'src/resources/pins/statements.ts'],
    ['mcp/src/x.ts', 'src/db/schema.ts'],
    ['mcp/src/x.ts', 'src/http/fields.ts'],
    ['cli/src/x.ts', 'src/http/fields.ts'],
    ['cli/src/x.ts', 'operate/x.ts'],
    ['command-line/src/x.ts', 'src/contracts.ts'],
    ['scripts/x.ts', 'cli/src/x.ts'],
    ['src/http/x.ts', 'src/contracts.ts'],
    ['mcp/src/x.ts', 'scripts/x.ts'],
    ['client/src/x.ts', 'src/errors.ts'],
    ['operate/x.ts', 'cli/src/x.ts'],
    ['operate/x.ts', 'scripts/dev/x.ts'],
    ['scripts/dev/x.ts', 'scripts/checks/x.ts'],
    ['scripts/checks/x.ts', 'test/x.ts'],
    ['cli/src/x.ts', 'mcp/src/x.ts'],
  ])('refuses %s importing %s', (file, other) => {
    expect(problems(file, other)).toHaveLength(1)
  })

  it.each([
    ['src/resources/pins/handlers.ts', 'src/resources/pins/statements.ts'],
    ['src/resources/pins/handlers.ts', 'src/http/endpoint.ts'],
    ['src/db/rows.ts', 'src/environment.ts'],
    ['src/index.ts', 'src/app.ts'],
    ['src/health.ts', 'migrations/0000_schema.sql?raw'],
    ['mcp/src/tools.ts', 'src/contracts.ts'],
    ['cli/src/x.ts', 'src/contracts.ts'],
    ['cli/src/x.ts', 'command-line/src/index.ts'],
    ['client/test/node/x.ts', 'test/support/x.ts'],
    ['test/pins.test.ts', 'src/index.ts'],
    ['vitest.config.ts', 'test/support/receiver-service.ts'],
  ])('allows %s importing %s', (file, other) => {
    expect(problems(file, other)).toEqual([])
  })

  it.each([
    "import type { Name } from '../http/x.ts'",
    "import {\n  name,\n} from '../http/x.ts'",
    "export * from '../http/x.ts'",
    "import '../http/x.ts'",
    "await import('../http/x.ts')",
    "type Name = import('../http/x.ts').Name",
  ])('reads %s', (code) => {
    expect(forbiddenImports('src/db/x.ts', code)).toEqual([
      'src/db/x.ts imports src/http/x.ts; allowed in src/db: src/environment.ts src/errors.ts src/durations.ts src/brakes.ts.',
    ])
  })

  it('refuses a folder that no layer names', () => {
    expect(forbiddenImports('src/new/x.ts', '')).toEqual(['src/new/x.ts is in no layer.'])
  })
})
