/**
 * The usage of an organization, counted from its rows. The triggers of migrations/0000_initial.sql keep the same
 * counts.
 */
import type { Quota } from '../environment.ts'

/** A quota whose usage is stored. API keys are counted when one is created (access/quotas.ts). */
export type StoredQuota = Exclude<Quota, 'apiKeys'>

const select = (value: string, table: string) =>
  `SELECT ${value} FROM "${table}" WHERE "organizationId" = "organizations"."id"`
const count = (table: string) => select('count(*)', table)
/** Also those that were deleted and can be restored. */
const countRestorable = (table: string, type: string) =>
  `(${count(table)}) + (${count('deletions')} AND "resourceType" = '${type}' AND "row" IS NOT NULL)`
const sum = (bytes: string, table: string) => select(`coalesce(sum(${bytes}), 0)`, table)

/** The value of each column of `organizationUsage`, for a row of `organizations`. */
export const USAGE_COUNTS: Readonly<Record<StoredQuota, string>> = {
  sessions: countRestorable('sessions', 'session'),
  files: count('sessionFiles'),
  bytes: sum('"sizeBytes"', 'sessionFiles'),
  projects: countRestorable('projects', 'project'),
  agents: countRestorable('agents', 'agent'),
  users: countRestorable('users', 'user'),
  pullRequests: countRestorable('pullRequests', 'pull_request'),
  schedules: countRestorable('schedules', 'schedule'),
  skills: countRestorable('skills', 'skill'),
  skillBytes: sum('octet_length("content")', 'skillContents'),
  variables: count('environmentVariables'),
  variableBytes: sum('octet_length("sealedValue")', 'environmentVariables'),
}

const quotas = Object.keys(USAGE_COUNTS) as StoredQuota[]

/** Counts the usage of every organization, in the columns of `organizationUsage`. */
export const COUNT_USAGE = `SELECT "id" AS "organizationId", ${quotas
  .map((quota) => `(${USAGE_COUNTS[quota]}) AS "${quota}"`)
  .join(', ')} FROM "organizations"`

/** Writes the usage of rows that were inserted without the triggers: after a restore. */
export const RECOUNT_USAGE = `REPLACE INTO "organizationUsage" ("organizationId", ${quotas
  .map((quota) => `"${quota}"`)
  .join(', ')}) ${COUNT_USAGE}`

/** An organization with more events than `EVENT_BYTE_LIMIT`. */
export interface EventExcess {
  readonly organizationId: string
  readonly bytes: number
  readonly byteLimit: number
  /** The key that wrote the most of the latest events; undefined if no key did. */
  readonly apiKeyId: string | undefined
}
