import type { Database } from './db/database.ts'
import type { Quota } from './db/usage.ts'
import type { RunMessage } from './queue.ts'

/** The bindings and settings of wrangler.toml, and the one secret. */
export interface Environment {
  readonly DB: D1Database
  readonly OBJECTS: R2Bucket
  /** Runs on their way to run endpoints. */
  readonly RUNS: Queue<RunMessage>
  /** Runs on their way to run endpoints that are slow to answer. */
  readonly SLOW_RUNS: Queue<RunMessage>
  /** The files in public/. */
  readonly ASSETS: Fetcher
  readonly KEY_RATE_LIMIT: RateLimit
  readonly ORGANIZATION_RATE_LIMIT: RateLimit
  readonly REFUSAL_RATE_LIMIT: RateLimit
  /** `id:base64 of 32 bytes`, separated by commas, newest first. */
  readonly ENCRYPTION_KEYS?: string
  /** "on" or "off". */
  readonly RATE_LIMIT?: string
  /** The origins, separated by commas, whose pages browsers let call the service; without it: none. */
  readonly CORS_ORIGINS?: string
  /** "on" lets reads be answered by the nearest replica of the database, which may not know the latest changes. */
  readonly READ_REPLICATION?: string
  /** "off" logs only what failed; else there is a line for each request and each tick. */
  readonly REQUEST_LOG?: string
  /** "on" allows run endpoints on this machine: `npm run dev` sets it, `npm run deploy` refuses it. */
  readonly LOCAL_RUN_ENDPOINTS?: string
  /** The most pins of a user. */
  readonly PIN_LIMIT?: string
  /** The most schedules of a project or agent. */
  readonly SCHEDULE_LIMIT?: string
  /** The most environment variables of a project. */
  readonly VARIABLE_LIMIT?: string
  /** The quotas of an organization, see `limitsOf`. */
  readonly PROJECT_LIMIT?: string
  readonly AGENT_LIMIT?: string
  readonly USER_LIMIT?: string
  readonly PULL_REQUEST_LIMIT?: string
  readonly API_KEY_LIMIT?: string
  readonly ORGANIZATION_SCHEDULE_LIMIT?: string
  readonly SESSION_LIMIT?: string
  readonly FILE_LIMIT?: string
  readonly BYTE_LIMIT?: string
  readonly SKILL_LIMIT?: string
  readonly SKILL_BYTE_LIMIT?: string
  readonly ORGANIZATION_VARIABLE_LIMIT?: string
  readonly ORGANIZATION_VARIABLE_BYTE_LIMIT?: string
}

/** What the tick works with: of the database, all but its sessions. */
export type TickEnvironment = Omit<Environment, 'DB'> & { readonly DB: Database }

export interface Limits {
  /** Of a user. */
  readonly pins: number
  /** Of a project or agent. */
  readonly schedules: number
  /** Of a project. */
  readonly variables: number
  /** Of an organization. */
  readonly quotas: Quotas
}

export type Quotas = Readonly<Record<Quota, number>>

export function isOn(setting: string | undefined): boolean {
  return setting === 'on'
}

/** @throws if a setting is no whole number: a typing error must not become "no limit". */
export function limitsOf(environment: Environment): Limits {
  return {
    pins: wholeNumber('PIN_LIMIT', environment.PIN_LIMIT ?? '50'),
    schedules: wholeNumber('SCHEDULE_LIMIT', environment.SCHEDULE_LIMIT ?? '100'),
    variables: wholeNumber('VARIABLE_LIMIT', environment.VARIABLE_LIMIT ?? '500'),
    quotas: {
      projects: wholeNumber('PROJECT_LIMIT', environment.PROJECT_LIMIT ?? '10000'),
      agents: wholeNumber('AGENT_LIMIT', environment.AGENT_LIMIT ?? '10000'),
      users: wholeNumber('USER_LIMIT', environment.USER_LIMIT ?? '5000'),
      pullRequests: wholeNumber('PULL_REQUEST_LIMIT', environment.PULL_REQUEST_LIMIT ?? '100000'),
      apiKeys: wholeNumber('API_KEY_LIMIT', environment.API_KEY_LIMIT ?? '2000'),
      schedules: wholeNumber(
        'ORGANIZATION_SCHEDULE_LIMIT',
        environment.ORGANIZATION_SCHEDULE_LIMIT ?? '1000',
      ),
      sessions: wholeNumber('SESSION_LIMIT', environment.SESSION_LIMIT ?? '100000'),
      files: wholeNumber('FILE_LIMIT', environment.FILE_LIMIT ?? '1000000'),
      bytes: wholeNumber('BYTE_LIMIT', environment.BYTE_LIMIT ?? '100000000000'),
      skills: wholeNumber('SKILL_LIMIT', environment.SKILL_LIMIT ?? '1000'),
      skillBytes: wholeNumber('SKILL_BYTE_LIMIT', environment.SKILL_BYTE_LIMIT ?? '500000000'),
      variables: wholeNumber(
        'ORGANIZATION_VARIABLE_LIMIT',
        environment.ORGANIZATION_VARIABLE_LIMIT ?? '50000',
      ),
      variableBytes: wholeNumber(
        'ORGANIZATION_VARIABLE_BYTE_LIMIT',
        environment.ORGANIZATION_VARIABLE_BYTE_LIMIT ?? '100000000',
      ),
    },
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new Error(`The setting ${name} is not a whole number`)
  return Number(text)
}
