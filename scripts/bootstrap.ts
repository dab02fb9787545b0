/**
 * Makes an organization, a user and its first key: how an operator gets in.
 *
 *     npm run bootstrap -- --organization Acme --user ada [--scopes "pins:write skills:read"] [--remote] [--persist-to dir]
 *     npm run bootstrap -- --organization-id <id> --user ada     a further key, if the last one was lost
 *     npm run bootstrap -- --organization Acme --service         a key that acts for no user: it makes keys for anyone
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
  selectDeletedUser,
  selectOrganization,
} from '../src/provisioning.ts'
import { applyMigrations, execute, TARGET_OPTIONS, type Target, targetOf } from './wrangler.ts'

const USAGE =
  'Usage: npm run bootstrap -- (--organization <name> | --organization-id <id>) (--user <id> | --service) [--scopes <scopes>] [--remote] [--persist-to <dir>]'

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
  console.log(JSON.stringify(bootstrap()))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}

function bootstrap() {
  const target = targetOf(options)
  if (options.service && options.user !== undefined) throw new Error(USAGE)
  const userId = options.service ? undefined : parseUser(options.user)
  const scopes = parseScopes(options.scopes)
  const name = options.organization
  const givenId = options['organization-id']?.toLowerCase()
  if ((name === undefined) === (givenId === undefined) || name === '') throw new Error(USAGE)
  if (givenId !== undefined && !isUuid(givenId)) throw new Error('--organization-id: expected a UUID')

  if (!target.remote) applyMigrations(target)
  if (givenId !== undefined) requireOrganization(target, givenId, userId)

  const now = new Date().toISOString()
  const organizationId = givenId ?? newUuid()
  const key = mintApiKey({
    organizationId,
    name: 'bootstrap',
    scopes,
    createdAt: now,
    ...(userId !== undefined && { userId }),
  })
  execute(target, [
    ...(name === undefined
      ? []
      : [{ statement: insertOrganization, values: { id: organizationId, name, createdAt: now } }]),
    ...(userId === undefined
      ? []
      : [
          {
            statement: insertUserIfMissing,
            values: { organizationId, id: userId, name: userId, createdAt: now, updatedAt: now },
          },
        ]),
    { statement: insertApiKey, values: key.row },
  ])
  return { organizationId, userId: userId ?? null, apiKey: key.token }
}

/** @throws if there is no such organization, or the user was deleted: its id is never used again. */
function requireOrganization(target: Target, organizationId: string, userId: string | undefined): void {
  const [found, deleted] = execute(target, [
    { statement: selectOrganization, values: { id: organizationId } },
    { statement: selectDeletedUser, values: { organizationId, id: userId ?? null } },
  ])
  if (!found?.length) throw new Error(`--organization-id: there is no organization ${organizationId}`)
  if (deleted?.length) throw new Error('--user: this user was deleted, and its id is never used again')
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
