/** Creates an organization, a user and an API key directly in the database. */
import { v7 as newUuid } from 'uuid'
import type { Scope } from '../src/access/scopes.ts'
import { externalId } from '../src/http/fields.ts'
import { execute } from './database.ts'
import {
  insertApiKey,
  insertOrganization,
  insertUserIfMissing,
  mintApiKey,
  selectDeletedUser,
  selectOrganization,
} from './provisioning.ts'
import type { Target } from './wrangler.ts'

export interface KeyRequest {
  /** The name of a new organization, or the ID of an existing one. */
  readonly organization: { readonly name: string } | { readonly id: string }
  /** If undefined, the key acts for no user and can create keys for every user. */
  readonly userId: string | undefined
  readonly scopes: readonly Scope[]
}

/** Printed once: the database stores only the SHA-256 of the token. */
export interface CreatedKey {
  readonly organizationId: string
  readonly userId: string | null
  readonly apiKey: string
}

/** @throws if the organization does not exist, or the user was deleted. */
export async function createKey(target: Target, { organization, userId, scopes }: KeyRequest): Promise<CreatedKey> {
  if ('id' in organization) await requireOrganization(target, organization.id, userId)
  const now = new Date().toISOString()
  const organizationId = 'id' in organization ? organization.id : newUuid()
  const key = mintApiKey({
    organizationId,
    name: 'bootstrap',
    scopes,
    createdAt: now,
    ...(userId !== undefined && { userId }),
  })
  await execute(target, [
    ...('id' in organization
      ? []
      : [
          {
            statement: insertOrganization,
            values: { id: organizationId, name: organization.name, createdAt: now },
          },
        ]),
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

async function requireOrganization(target: Target, organizationId: string, userId: string | undefined): Promise<void> {
  const [found, deleted] = await execute(target, [
    { statement: selectOrganization, values: { id: organizationId } },
    { statement: selectDeletedUser, values: { organizationId, id: userId ?? null } },
  ])
  if (!found?.length) throw new Error(`--organization-id is not the ID of an organization; got "${organizationId}".`)
  if (deleted?.length) throw new Error(`--user is the ID of a deleted user; got "${userId}". IDs are not reused.`)
}

/** @returns undefined if the text is not a user ID. */
export function parseUserId(text: string | undefined): string | undefined {
  return externalId({}).safeParse(text).data
}
