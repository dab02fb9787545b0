/**
 * Makes an organization, a user and its first key: how an operator gets in.
 *
 *     npm run bootstrap -- --organization Acme --user ada [--scopes "pins:write skills:read"] [--remote] [--persist-to dir]
 *     npm run bootstrap -- --organization-id <id> --user ada     a further key, if the last one was lost
 *
 * Prints `{ organizationId, userId, apiKey }`. The token exists only there: the database gets its SHA-256.
 */
import { parseArgs } from 'node:util'
import { v7 as newUuid } from 'uuid'
import { SCOPES, type Scope } from '../src/access/scopes.ts'
import { externalId, isUuid } from '../src/http/fields.ts'
import {
  insertApiKey,
  insertOrganization,
  insertUserIfMissing,
  mintApiKey,
  selectOrganization,
} from '../src/provisioning.ts'
import { applyMigrations, execute, type Target } from './wrangler.ts'

const USAGE =
  'Usage: npm run bootstrap -- (--organization <name> | --organization-id <id>) --user <id> [--scopes <scopes>] [--remote] [--persist-to <dir>]'

const { values: options } = parseArgs({
  options: {
    organization: { type: 'string' },
    'organization-id': { type: 'string' },
    user: { type: 'string' },
    scopes: { type: 'string' },
    remote: { type: 'boolean', default: false },
    'persist-to': { type: 'string' },
  },
})

try {
  console.log(JSON.stringify(bootstrap()))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function bootstrap() {
  const target: Target = { remote: options.remote, persistTo: options['persist-to'] }
  const userId = parseUser(options.user)
  const scopes = parseScopes(options.scopes)
  const name = options.organization
  const givenId = options['organization-id']?.toLowerCase()
  if ((name === undefined) === (givenId === undefined) || name === '') throw new Error(USAGE)
  if (givenId !== undefined && !isUuid(givenId)) throw new Error('--organization-id: expected a UUID')

  if (!target.remote) applyMigrations(target)
  if (givenId !== undefined) requireOrganization(target, givenId)

  const now = new Date().toISOString()
  const organizationId = givenId ?? newUuid()
  const key = mintApiKey({ organizationId, name: 'bootstrap', scopes, userId, createdAt: now })
  execute(target, [
    ...(name === undefined
      ? []
      : [{ statement: insertOrganization, values: { id: organizationId, name, createdAt: now } }]),
    { statement: insertUserIfMissing, values: { organizationId, id: userId, name: userId, createdAt: now } },
    { statement: insertApiKey, values: key.row },
  ])
  return { organizationId, userId, apiKey: key.token }
}

function requireOrganization(target: Target, id: string): void {
  const [found] = execute(target, [{ statement: selectOrganization, values: { id } }])
  if (!found || found.length === 0) throw new Error(`--organization-id: there is no organization ${id}`)
}

function parseUser(text: string | undefined): string {
  const result = externalId({}).safeParse(text)
  if (!result.success) throw new Error(USAGE)
  return result.data
}

function parseScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return SCOPES
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope as Scope))
  if (unknown.length > 0)
    throw new Error(`--scopes: unknown ${unknown.join(', ')}; expected some of ${SCOPES.join(' ')}`)
  return scopes as Scope[]
}
