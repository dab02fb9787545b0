/** Writes docs/dependencies.md. */
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bundleCommand } from '../../cli/bundle.ts'
import { describeScript, parsed } from '../../tools/command-line.ts'
import { ROOT } from '../../tools/wrangler.ts'
import { dependenciesOf, MODULES, LOCKED_PACKAGES as packages } from '../locked-packages.ts'

const options = parsed(
  describeScript(
    'generate dependencies',
    'Writes docs/dependencies.md: the packages of the Workers, the client and the command, packages with install scripts, and licences.',
    ['', '--check'],
  ).option('--check', 'write nothing; fail if the file is not in step'),
).opts()

const FILE = join(ROOT, 'docs', 'dependencies.md')

const installed = Object.entries(packages).filter(([path, { link }]) => path.includes(MODULES) && !link)
const nameOf = (path: string) => path.slice(path.lastIndexOf(MODULES) + MODULES.length)

const withScripts = installed.filter(([, { hasInstallScript }]) => hasInstallScript)
const unverified = installed.filter(([, { integrity }]) => !integrity).map(([path]) => nameOf(path))
const licences = new Map<string, number>()
for (const [, { license, optional }] of installed) {
  const licence = license ?? (optional ? 'as its main package (a build for one system)' : 'not stated')
  licences.set(licence, (licences.get(licence) ?? 0) + 1)
}

const row = (...cells: readonly (string | number | undefined)[]) => `| ${cells.join(' | ')} |`
const tableOf = (paths: readonly string[]) =>
  [
    row('package', 'version', 'licence'),
    row('---', '---', '---'),
    ...paths.map((path) => row(nameOf(path), packages[path]?.version, packages[path]?.license)),
  ].join('\n')

const text = `# Dependencies

Generated from package-lock.json and the code by \`npm run generate -- dependencies\`. Versions are exact, and the lock file has a checksum of each package${
  unverified.length > 0
    ? `,
except these builds for other systems (CONTRIBUTING.md, "Dependencies"): ${unverified.join(', ')}`
    : ''
}.

## The Workers

The \`dependencies\` of package.json and of mcp/package.json, and the packages that they depend on. Only the MCP Worker
contains the packages of @modelcontextprotocol. zod-openapi generates the OpenAPI document at build time, and argparse
belongs to the command of js-yaml; both are in no bundle.

${tableOf(dependenciesOf('', 'mcp'))}

## The client

The packages that an installation of the client brings.

${tableOf(dependenciesOf('client'))}

## The command

The packages whose code is in the bundle of the command \`workspace\`. Its installation brings no other package.

${tableOf(await bundleCommand())}

## Install scripts

These packages have an install script. \`allowScripts\` in package.json denies them all: what such a script downloads has no
checksum in the lock file. The packages work without.

${row('package', 'version')}
${row('---', '---')}
${withScripts.map(([path, { version }]) => row(nameOf(path), version)).join('\n')}

## Licences

All ${installed.length} packages of the lock file, including development dependencies and optional builds for other systems.

${row('licence', 'packages')}
${row('---', '---')}
${[...licences]
  .sort(([a], [b]) => (a < b ? -1 : 1))
  .map(([licence, count]) => row(licence, count))
  .join('\n')}
`

if (!options.check) writeFileSync(FILE, text)
else if (readFileSync(FILE, 'utf8') !== text) {
  console.error(
    'docs/dependencies.md is not in step with package-lock.json and the bundle of the command. Run `npm run generate -- dependencies`.',
  )
  process.exitCode = 1
}
