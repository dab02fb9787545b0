/** The identity providers of the settings (docs/sign-in.md). */

interface AnyProvider {
  /** Part of the callback address and of the secret's name. */
  readonly id: string
  /** What the button says. */
  readonly name: string
  /** Whose identities and rules they are. */
  readonly issuer: string
  /** The organization of everyone who signs in here; undefined: the person names it. */
  readonly organization: string | undefined
}

/** One that sends people back with a code. */
export interface CodeProvider extends AnyProvider {
  readonly type: 'oidc' | 'github'
  readonly clientId: string
  readonly clientSecret: string
  readonly scope: string
}

/** Cloudflare Access, in front of the console. Its issuer is the team domain. */
export interface AccessProvider extends AnyProvider {
  readonly type: 'access'
  /** The AUD tag of the application. */
  readonly audience: string
}

export type Provider = CodeProvider | AccessProvider

export interface Providers {
  readonly providers: readonly Provider[]
  /** What is wrong with the settings. A provider with wrong settings is left out. */
  readonly problems: readonly string[]
}

const SETTING = 'SIGN_IN_PROVIDERS'
const FIELDS = ['id', 'name', 'type', 'organization']
const FIELDS_OF_TYPE = {
  oidc: ['issuer', 'client_id', 'scope'],
  github: ['issuer', 'client_id'],
  access: ['team_domain', 'audience'],
} as const satisfies Readonly<Record<Provider['type'], readonly string[]>>
const DEFAULT_SCOPE = 'openid profile email'

/** Other issuers of its type are servers of GitHub Enterprise. */
export const GITHUB = 'https://github.com'
const GITHUB_SCOPE = 'read:user user:email read:org'

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
  const read = (field: string, pattern: RegExp, allowed: string, defaultValue?: string): string => {
    const value = fields[field] ?? defaultValue
    if (typeof value === 'string' && pattern.test(value)) return value
    throw new SettingError(`${place}.${field} is ${found(value)}; allowed: ${allowed}.`)
  }
  const type = read('type', /^(?:oidc|github|access)$/, '"oidc", "github" or "access"', 'oidc') as Provider['type']
  const allowed: readonly string[] = [...FIELDS, ...FIELDS_OF_TYPE[type]]
  const unknown = Object.keys(fields).find((field) => !allowed.includes(field))
  if (unknown) {
    throw new SettingError(
      `${place}.${unknown} is not a setting of the type "${type}"; allowed: ${allowed.join(', ')}.`,
    )
  }
  const readAddress = (field: string, isAllowed: (url: string) => boolean, what: string, defaultValue?: string) => {
    const url = read(field, /^https?:\/\//, 'an https URL', defaultValue)
    if (isAllowed(url)) return url
    throw new SettingError(`${place}.${field} is ${found(url)}; allowed: an https URL ${what}, or http on localhost.`)
  }
  const provider = {
    id: read('id', /^[a-z][a-z0-9-]{0,31}$/, 'up to 32 of a to z, 0 to 9 and "-", the first one a letter'),
    name: read('name', /^[^\p{Cc}]{1,60}$/u, 'the text of the button, up to 60 characters'),
    organization: fields.organization === undefined ? undefined : read('organization', ID, 'an organization ID'),
  }
  if (type === 'access') {
    return {
      ...provider,
      type,
      issuer: readAddress('team_domain', isOrigin, 'without path, such as https://example.cloudflareaccess.com'),
      audience: read('audience', /^[!-~]{1,200}$/, 'the AUD tag of the application'),
    }
  }
  const isOpenId = type === 'oidc'
  const issuer = readAddress('issuer', isIssuer, 'without query and fragment', isOpenId ? undefined : GITHUB)
  const scope = isOpenId
    ? read('scope', /^[!-~]+( [!-~]+)*$/, 'scopes with a space between them', DEFAULT_SCOPE)
    : GITHUB_SCOPE
  if (isOpenId && !scope.split(' ').includes('openid')) {
    throw new SettingError(`${place}.scope is ${found(scope)}; allowed: scopes, one of them "openid".`)
  }
  const clientId = read('client_id', /^[ -~]{1,500}$/, 'the client ID that the provider gave the console')
  const secret = secretName(provider.id)
  const clientSecret = settings[secret]
  if (typeof clientSecret !== 'string' || clientSecret === '') {
    throw new SettingError(
      `${secret} is missing. To set it: npm run wrangler -- secret put ${secret} --config console/wrangler.toml`,
    )
  }
  return { ...provider, type, issuer, clientId, clientSecret, scope }
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

/** True without a path, and without the slash of an empty one. */
const isOrigin = (url: string) => isIssuer(url) && new URL(url).origin === url

const LOOPBACK = ['localhost', '127.0.0.1', '[::1]']

/** True for an address on this machine, where HTTP is allowed. */
export function isLoopback(url: string): boolean {
  const { protocol, hostname } = new URL(url)
  return protocol === 'http:' && LOOPBACK.includes(hostname)
}
