/** The bindings and settings of wrangler.toml, the secrets, and the messages of the queues. */

/** A run, with its number of attempts when it was put into the queue, by which repeated messages are recognized. */
export interface RunReference {
  readonly organizationId: string
  readonly id: string
  readonly attempts: number
}

/** The number of the database that has what the message names. */
interface OfDatabase {
  readonly database: number
}

/**
 * Runs of one organization: references, because the runs table has the rest and decides whether a run is still sent.
 */
export interface RunMessage extends OfDatabase {
  readonly runs: readonly RunReference[]
  /** True on the queue of slow run endpoints. */
  readonly isSlow?: boolean
}

/** An event endpoint that may have events to deliver: a hint, because its row decides. */
export interface EndpointMessage extends OfDatabase {
  readonly endpoint: { readonly organizationId: string; readonly id: string }
}

export type DeliveryMessage = RunMessage | EndpointMessage

/** The tick of a database other than 0, and the minute that it is for. */
export interface TickMessage extends OfDatabase {
  readonly tickAt: string
}

export type Message = DeliveryMessage | TickMessage

/** The entrypoint `Tokens` of the console Worker. */
export interface TokenService {
  /** @returns the API key of the grant; null if the token is not valid for the resource, a URL. */
  apiKeyOf(resource: string, token: string): Promise<string | null>
}

export interface Environment extends LimitSettings {
  /** And the databases, which only `databaseOf` reads (db/database.ts). */
  readonly OBJECTS: R2Bucket
  /** Queue of what is sent to run endpoints and event endpoints. */
  readonly DELIVERIES: Queue<DeliveryMessage>
  /** Queue of what is sent to run endpoints that respond slowly. */
  readonly SLOW_DELIVERIES: Queue<DeliveryMessage>
  /** Queue of the ticks of further databases. */
  readonly TICKS: Queue<TickMessage>
  /** The files in public/. */
  readonly ASSETS: Fetcher
  /** The MCP Worker; missing until the first deployment has uploaded it. */
  readonly MCP?: Fetcher
  /** The address of the console, to which `/console` redirects; missing if there is none. */
  readonly CONSOLE_URL?: string
  /** The access tokens of connected apps, which the console Worker issues; missing if there is no console. */
  readonly AUTH?: TokenService
  readonly KEY_RATE_LIMIT: RateLimit
  readonly ORGANIZATION_RATE_LIMIT: RateLimit
  readonly REFUSAL_RATE_LIMIT: RateLimit
  /** A secret: `id:base64 of 32 bytes`, separated by commas, newest first. */
  readonly ENCRYPTION_KEYS?: string
  /** A secret, because anybody who knows it may write to the operator: the URL that gets the alerts. Without it, there are no alerts. */
  readonly OPERATOR_ALERT_URL?: string
  /** "on" or "off". */
  readonly RATE_LIMIT?: string
  /** The origins, separated by commas, that CORS allows; none without it. */
  readonly CORS_ORIGINS?: string
  /** "on" serves reads from the nearest replica of the database, which may lack the latest changes. */
  readonly READ_REPLICATION?: string
  /** "off" logs only failures; else each request and each tick is logged. */
  readonly REQUEST_LOG?: string
  /** "on" allows run endpoints and event endpoints on this machine: `npm run dev` sets it, `npm run deploy` refuses it. */
  readonly LOCAL_RECEIVERS?: string
}

/** The setting of each limit, and its value without one. */
const LIMITS = {
  /** The pins of a user. */
  pins: ['PIN_LIMIT', 50],
  /** The schedules of a project or an agent. */
  schedules: ['SCHEDULE_LIMIT', 100],
  /** The environment variables of a project. */
  variables: ['VARIABLE_LIMIT', 500],
  /** The versions of a skill. */
  skillVersions: ['SKILL_VERSION_LIMIT', 100],
  /** The bytes of an organization's events. */
  eventBytes: ['EVENT_BYTE_LIMIT', 1_000_000_000],
  /** How many days a deletion can be undone. */
  undoDays: ['UNDO_DAYS', 7],
  /** How many days a connected app lives after the last sign-in of its person. */
  grantIdleDays: ['GRANT_IDLE_DAYS', 30],
} as const

/** The setting of each quota of an organization, and its value without one. */
const QUOTAS = {
  projects: ['PROJECT_LIMIT', 10_000],
  agents: ['AGENT_LIMIT', 10_000],
  users: ['USER_LIMIT', 5_000],
  pullRequests: ['PULL_REQUEST_LIMIT', 100_000],
  apiKeys: ['API_KEY_LIMIT', 2_000],
  schedules: ['ORGANIZATION_SCHEDULE_LIMIT', 1_000],
  sessions: ['SESSION_LIMIT', 100_000],
  files: ['FILE_LIMIT', 1_000_000],
  bytes: ['BYTE_LIMIT', 100_000_000_000],
  skills: ['SKILL_LIMIT', 1_000],
  skillBytes: ['SKILL_BYTE_LIMIT', 500_000_000],
  variables: ['ORGANIZATION_VARIABLE_LIMIT', 50_000],
  variableBytes: ['ORGANIZATION_VARIABLE_BYTE_LIMIT', 100_000_000],
} as const

type Limit = keyof typeof LIMITS
export type Quota = keyof typeof QUOTAS
type LimitSetting = (typeof LIMITS)[Limit][0] | (typeof QUOTAS)[Quota][0]
type LimitSettings = { readonly [Setting in LimitSetting]?: string }

export type Quotas = Readonly<Record<Quota, number>>
export type Limits = Readonly<Record<Limit, number>> & { readonly quotas: Quotas }

export function isOn(setting: string | undefined): boolean {
  return setting === 'on'
}

/** @throws if a setting is not a whole number: a typing error must not become "no limit". */
export function readLimits(environment: LimitSettings): Limits {
  return { ...valuesOf(LIMITS, environment), quotas: valuesOf(QUOTAS, environment) }
}

function valuesOf<Name extends string>(
  settings: Readonly<Record<Name, readonly [LimitSetting, number]>>,
  environment: LimitSettings,
) {
  const entries = Object.entries<readonly [LimitSetting, number]>(settings)
  return Object.fromEntries(
    entries.map(([name, [setting, defaultValue]]) => [name, wholeNumber(setting, environment[setting], defaultValue)]),
  ) as Record<Name, number>
}

function wholeNumber(setting: string, text: string | undefined, defaultValue: number): number {
  if (text === undefined) return defaultValue
  if (!/^\d{1,15}$/.test(text)) {
    throw new Error(`${setting} is not a whole number; got ${JSON.stringify(text)}; allowed: 0 to 999999999999999.`)
  }
  return Number(text)
}
