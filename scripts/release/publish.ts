/**
 * `node scripts/release/publish.ts <folder> [--registry <address>] [--provenance]`: publishes the packages that
 * `npm run release -- pack` wrote into a folder, except those that are published already. NPM_TOKEN is an optional token.
 *
 * The job that may publish installs nothing, so that no package of another author runs there. So this script imports none.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { npm } from '../npm.ts'

try {
  publish()
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}

/** @throws if a package is published with other contents, or npm fails. */
function publish(): void {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { registry: { type: 'string' }, provenance: { type: 'boolean' } },
  })
  const [given] = positionals
  if (given === undefined) throw new Error('The folder with the packages is missing.')
  const folder = resolve(given)
  const files = readdirSync(folder).filter((name) => name.endsWith('.tgz'))
  if (files.length === 0) throw new Error(`The folder has no packages; got "${folder}".`)
  const registry = values.registry ?? npm(['config', 'get', 'registry']).trim()
  const { NPM_TOKEN: token } = process.env
  const key = `npm_config_${new URL('./', registry).href.replace(/^https?:/, '')}:_authToken`
  const variables = { npm_config_registry: registry, ...(token && { [key]: token }) }
  const flags = ['--access', 'public', '--ignore-scripts', ...(values.provenance ? ['--provenance'] : [])]
  for (const name of files.sort()) {
    const file = join(folder, name)
    const id = idOf(file)
    const integrity = `sha512-${createHash('sha512').update(readFileSync(file)).digest('base64')}`
    const published = publishedIntegrity(id, variables)
    if (published === undefined) {
      npm(['publish', file, ...flags], variables)
      console.log(`published  ${id}`)
    } else if (published === integrity) console.log(`unchanged  ${id}`)
    else throw new Error(`${id} is published with other contents. Release another version.`)
  }
}

/** The name and version of a packed package. */
function idOf(file: string): string {
  const { name, version } = JSON.parse(
    execFileSync('tar', ['-xzOf', file, 'package/package.json'], { encoding: 'utf8' }),
  )
  return `${name}@${version}`
}

function publishedIntegrity(id: string, variables: Readonly<Record<string, string>>): string | undefined {
  try {
    return npm(['view', id, 'dist.integrity'], variables).trim() || undefined
  } catch (error) {
    if ((error as Error).message.includes('E404')) return undefined
    throw error
  }
}
