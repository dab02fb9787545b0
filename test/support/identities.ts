/** People as their sign-in leaves them, for tests on Node that have the database beside the service. */
import { v7 as newUuid } from 'uuid'
import type { Query } from '../../operate/cloudflare.ts'

export interface NewIdentity {
  readonly organizationId: string
  readonly userId: string
  /** An API key that acts as the user, which becomes one that the person created after the sign-in. */
  readonly apiKeyId?: string
  readonly issuer: string
  readonly email?: string
  readonly role: 'viewer' | 'member' | 'admin'
  /** Null: the person has a role of their own. */
  readonly ruleIds: readonly string[] | null
}

/** What a first sign-in writes, for a user and a key that exist. */
export function signInOf({ organizationId, userId, apiKeyId, issuer, email, role, ruleIds }: NewIdentity) {
  const id = newUuid()
  const now = new Date().toISOString()
  const row = {
    organizationId,
    id,
    issuer,
    subject: `subject-${userId}`,
    userId,
    email: email ?? null,
    role,
    ruleIds: ruleIds && JSON.stringify(ruleIds),
    lastSignInAt: now,
    createdAt: now,
  }
  const columns = Object.keys(row)
  const queries: Query[] = [
    {
      sql: `INSERT INTO "identities" (${columns.map((name) => `"${name}"`).join()}) VALUES (${columns.map(() => '?').join()})`,
      parameters: Object.values(row),
    },
    {
      sql: 'UPDATE "apiKeys" SET "identityId" = ? WHERE "organizationId" = ? AND "id" = ?',
      parameters: [id, organizationId, apiKeyId ?? ''],
    },
  ]
  return { id, queries }
}
