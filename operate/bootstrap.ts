/**
 * Creates an organization, a user and an API key directly in the database, where no API key exists to do it by HTTP.
 */
import './private-files.ts'
import { SCOPES, type Scope } from '../src/access/scopes.ts'
import { isUuid } from '../src/http/fields.ts'
import { describeScript, getTarget, parsed, UsageError, withTarget } from '../tools/command-line.ts'
import { run } from './database.ts'
import { Databases } from './databases.ts'
import { createKey, parseUserId } from './first-key.ts'
import { migrate } from './migrations.ts'
import { selectOrganizationsByName } from './provisioning.ts'
import { hasCurrentSchema, requireStateFolder } from './state-folder.ts'

const options = parsed(
  withTarget(
    describeScript(
      'operate bootstrap',
      'Creates an organization, a user and an API key directly in the database. Prints {"organizationId", "userId", "apiKey"}, or "claimLink" instead of the key. The API key is shown only this once: the database stores its SHA-256.',
      [
        '--organization Acme --user ada --remote',
        '--organization-id 0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60 --service',
        '--organization Acme --user ada --scopes "pins:write skills:read"',
        '--organization-id 0199c2f4-6d3a-7b51-8c7e-2f1d5a9b3c60 --service --remote --claim --url https://api.example.com',
      ],
    )
      .option('--organization <name>', 'creates an organization of this name')
      .option('--organization-id <id>', 'an existing organization instead of a new one')
      .option('--user <id>', 'the user that the key acts for; created if missing')
      .option('--service', 'the key acts for no user and can create keys for every user')
      .option('--scopes <scopes>', 'the scopes of the key, separated by spaces; default: all')
      .option('--claim', 'prints a link instead of the API key, which shows it once, for one hour; needs --url')
      .option('--url <address>', 'with --claim: the address of the service')
      .option('--allow-same-name', 'creates the organization even if others have the same name'),
  ),
).opts()

console.log(JSON.stringify(await bootstrap()))

async function bootstrap() {
  const target = getTarget(options)
  const { organization: name, organizationId, user } = options
  if ((name === undefined) === (organizationId === undefined))
    throw new UsageError('Pass either --organization <name> or --organization-id <id>.')
  if ((user === undefined) !== (options.service === true)) throw new UsageError('Pass either --user <id> or --service.')
  const userId = parseUserId(user)
  if (user !== undefined && userId === undefined) throw new UsageError(`--user is not a user ID; got "${user}".`)
  const scopes = parseScopes(options.scopes)
  if ((options.claim === true) !== (options.url !== undefined))
    throw new UsageError('Pass both --claim and --url, or neither.')
  if (organizationId !== undefined && !isUuid(organizationId))
    throw new UsageError(`--organization-id is not a UUID; got "${organizationId}".`)

  requireStateFolder(target)
  const databases = await Databases.open(target)
  try {
    if (!target.remote && !hasCurrentSchema(target)) await databases.map(migrate)
    if (name !== undefined && !options.allowSameName) await refuseSameName(databases, name)
    return await createKey(databases, {
      organization: organizationId === undefined ? { name: String(name) } : { id: organizationId.toLowerCase() },
      userId,
      scopes,
      claimAt: options.url,
    })
  } finally {
    databases.close()
  }
}

async function refuseSameName(databases: Databases, name: string): Promise<void> {
  const answers = await databases.map((each) => run(each, [{ statement: selectOrganizationsByName, values: { name } }]))
  const found = answers.flat(2)
  if (found.length === 0) return
  const ids = found.map(({ id }) => id).join(', ')
  throw new Error(
    `An organization named "${name}" exists already: ${ids}. Pass --organization-id <id> for a key of it, or --allow-same-name to create another one.`,
  )
}

function parseScopes(text: string | undefined): readonly Scope[] {
  if (text === undefined) return SCOPES
  const scopes = text.split(/[\s,]+/).filter((scope) => scope !== '')
  const unknown = scopes.filter((scope) => !SCOPES.includes(scope as Scope))
  if (unknown.length > 0)
    throw new UsageError(`--scopes has unknown scopes: ${unknown.join(', ')}; allowed: ${SCOPES.join(', ')}.`)
  return scopes as Scope[]
}
