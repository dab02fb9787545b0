import type { RunMessage } from './delivery/message.ts'

/** The bindings and settings of wrangler.toml, and the one secret. */
export interface Environment {
  readonly DB: D1Database
  readonly OBJECTS: R2Bucket
  /** Runs on their way to run endpoints. */
  readonly RUNS: Queue<RunMessage>
  /** The files in public/. */
  readonly ASSETS: Fetcher
  readonly KEY_RATE_LIMIT: RateLimit
  readonly REFUSAL_RATE_LIMIT: RateLimit
  /** `id:base64 of 32 bytes`, separated by commas, newest first. */
  readonly ENCRYPTION_KEYS?: string
  /** "on" or "off". */
  readonly RATE_LIMIT?: string
  /** "on" allows run endpoints on this machine, if the service itself is called on it: only `npm run dev` sets it. */
  readonly LOCAL_RUN_ENDPOINTS?: string
  /** The most pins of a user. */
  readonly PIN_LIMIT?: string
  /** The most schedules of a project or agent. */
  readonly SCHEDULE_LIMIT?: string
  /** The most environment variables of a project. */
  readonly VARIABLE_LIMIT?: string
}

export interface Limits {
  readonly pins: number
  readonly schedules: number
  readonly variables: number
}

export function allowsLocalRunEndpoints(environment: Environment): boolean {
  return environment.LOCAL_RUN_ENDPOINTS === 'on'
}

/** @throws if a setting is no whole number: a typing error must not become "no limit". */
export function limitsOf(environment: Environment): Limits {
  return {
    pins: wholeNumber('PIN_LIMIT', environment.PIN_LIMIT ?? '50'),
    schedules: wholeNumber('SCHEDULE_LIMIT', environment.SCHEDULE_LIMIT ?? '100'),
    variables: wholeNumber('VARIABLE_LIMIT', environment.VARIABLE_LIMIT ?? '500'),
  }
}

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`The setting ${name} is not a whole number`)
  return Number(text)
}
