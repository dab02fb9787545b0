/** The identity providers of the settings (docs/sign-in.md). */

/** An OpenID Connect issuer, and what the console is to it. */
export interface Provider {
  /** Part of the callback address and of the secret's name. */
  readonly id: string
  /** What the button says. */
  readonly name: string
  readonly issuer: string
  readonly clientId: string
  readonly clientSecret: string
  /** The organization of everyone who signs in here; undefined: the person names it. */
  readonly organization: string | undefined
  readonly scope: string
}

export interface Providers {
  readonly providers: readonly Provider[]
  /** What is wrong with the settings. A provider with wrong settings is left out. */
  readonly problems: readonly string[]
}

const SETTING = 'SIGN_IN_PROVIDERS'
const FIELDS = ['id', 'name', 'type', 'issuer', 'client_id', 'organization', 'scope']
const DEFAULT_SCOPE = 'openid profile email'

class SettingError extends Error {}

/** @param settings the variables and secrets of the Worker. */
export function readProviders(settings: Readonly<Record<string, unknown>>): Providers {
  const providers = new Map<string, Provider>()
  const problems: string[] = []
  const attempt = (work: () => void) => {
    try {
      work()
    } catch (error) {
      if (!(error instanceof SettingError)) throw error
      problems.push(error.message)
    }
  }
  attempt(() => {
    for (const [index, given] of listOf(settings[SETTING]).entries()) {
      attempt(() => {
        const provider = toProvider(given, `${SETTING}[${index}]`, settings)
        if (providers.has(provider.id)) throw new SettingError(`${SETTING} has the id "${provider.id}" twice.`)
        providers.set(provider.id, provider)
      })
    }
  })
  return { providers: [...providers.values()], problems }
}

/** The name of the secret with the client secret of a provider. */
export function secretName(id: string): string {
  return `SIGN_IN_SECRET_${id.toUpperCase().replaceAll('-', '_')}`
}

/** A list of tables in wrangler.toml, or the same as JSON, as `wrangler dev --var` has it. */
function listOf(given: unknown): readonly unknown[] {
  if (given === undefined || given === '') return []
  const list = typeof given === 'string' ? parsed(given) : given
  if (!Array.isArray(list)) throw new SettingError(`${SETTING} is not a list; allowed: [[vars.${SETTING}]] tables.`)
  return list
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

function toProvider(given: unknown, place: string, settings: Readonly<Record<string, unknown>>): Provider {
  if (typeof given !== 'object' || given === null) throw new SettingError(`${place} is not a table.`)
  const fields: Readonly<Record<string, unknown>> = { ...given }
  const unknown = Object.keys(fields).find((field) => !FIELDS.includes(field))
  if (unknown) throw new SettingError(`${place}.${unknown} is not a setting; allowed: ${FIELDS.join(', ')}.`)
  const read = (field: string, pattern: RegExp, allowed: string, defaultValue?: string): string => {
    const value = fields[field] ?? defaultValue
    if (typeof value === 'string' && pattern.test(value)) return value
    throw new SettingError(`${place}.${field} is ${found(value)}; allowed: ${allowed}.`)
  }
  const id = read('id', /^[a-z][a-z0-9-]{0,31}$/, 'up to 32 of a to z, 0 to 9 and "-", the first one a letter')
  read('type', /^oidc$/, '"oidc"', 'oidc')
  const issuer = read('issuer', /^https?:\/\//, 'an https URL')
  if (!isIssuer(issuer)) {
    throw new SettingError(
      `${place}.issuer is ${found(issuer)}; allowed: an https URL without query and fragment, or http on localhost.`,
    )
  }
  const organization = fields.organization === undefined ? undefined : read('organization', ID, 'an organization ID')
  const scope = read('scope', /^[!-~]+( [!-~]+)*$/, 'scopes with a space between them', DEFAULT_SCOPE)
  if (!scope.split(' ').includes('openid')) {
    throw new SettingError(`${place}.scope is ${found(scope)}; allowed: scopes, one of them "openid".`)
  }
  const clientId = read('client_id', /^[ -~]{1,500}$/, 'the client ID that the provider gave the console')
  const name = read('name', /^[^\p{Cc}]{1,60}$/u, 'the text of the button, up to 60 characters')
  const clientSecret = settings[secretName(id)]
  if (typeof clientSecret !== 'string' || clientSecret === '') {
    throw new SettingError(
      `${secretName(id)} is missing. To set it: npm run wrangler -- secret put ${secretName(id)} --config console/wrangler.toml`,
    )
  }
  return { id, name, issuer, clientId, clientSecret, organization, scope }
}

const ID = /^[\w-]{1,64}$/

/** True for text that can be the ID of an organization. */
export const isOrganizationId = (text: string) => ID.test(text)

const found = (value: unknown) => (value === undefined ? 'missing' : JSON.stringify(value))

function isIssuer(issuer: string): boolean {
  if (!URL.canParse(issuer)) return false
  const { protocol, search, hash, username } = new URL(issuer)
  return search === '' && hash === '' && username === '' && (protocol === 'https:' || isLoopback(issuer))
}

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** True for an address on this machine, where HTTP is allowed. */
export function isLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && LOOPBACK.includes(hostname)
}
