/**
 * Creates an organization, a user and an API key directly in the database, where no API key exists to do it by HTTP.
 *
 *     npm run bootstrap -- --organization Acme --user ada [--scopes "pins:write skills:read"] [--remote
 * [--env staging]] [--persist-to dir]
 *     npm run bootstrap -- --organization-id <id> --user ada     another key for the user, if the last one was lost
 *     npm run bootstrap -- --organization Acme --service         a key that acts for no user and can create
 * keys for every user
 *
 * Prints `{ organizationId, userId, apiKey }`. The token is shown only this once: the database stores its SHA-256.
 */
import './private-files.ts'
import { parseArgs } from 'node:util'
import { SCOPES, type Scope } from '../src/access/scopes.ts'
import { isUuid } from '../src/http/fields.ts'
import { createKey, parseUserId } from './first-key.ts'
import { applyMigrations, TARGET_OPTIONS, targetOf } from './wrangler.ts'

const USAGE =
  'Usage: npm run bootstrap -- (--organization <name> | --organization-id <id>) (--user <id> | --service) [--scopes <scopes>] [--remote [--env <name>]] [--persist-to <dir>]'

const { values: options } = parseArgs({
  options: {
    organization: { type: 'string' },
    'organization-id': { type: 'string' },
    user: { type: 'string' },
    service: { type: 'boolean', default: false },
    scopes: { type: 'string' },
    ...TARGET_OPTIONS,
  },
})

try {
  console.log(JSON.stringify(await bootstrap()))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

async function bootstrap() {
  const target = targetOf(options)
  const userId = parseUserId(options.user)
  if (options.service ? options.user !== undefined : userId === undefined) throw new Error(USAGE)
  const scopes = parseScopes(options.scopes)
  const name = options.organization
  const id = options['organization-id']?.toLowerCase()
  if ((name === undefined) === (id === undefined) || name === '') throw new Error(USAGE)
  if (id !== undefined && !isUuid(id))
    throw new Error(`--organization-id is not a UUID; got "${options['organization-id']}".`)

  if (!target.remote) applyMigrations(target)
  return createKey(target, {
    organization: id === undefined ? { name: String(name) } : { id },
    userId,
    scopes,
  })
}

function parseScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return SCOPES
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope as Scope))
  if (unknown.length > 0)
    throw new Error(`--scopes has unknown scopes: ${unknown.join(', ')}; allowed: ${SCOPES.join(', ')}.`)
  return scopes as Scope[]
}
