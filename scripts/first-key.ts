/** An organization, a user and its first key, written into the database itself: how an operator gets in. */
import { v7 as newUuid } from 'uuid'
import {
  insertApiKey,
  insertOrganization,
  insertUserIfMissing,
  mintApiKey,
  selectDeletedUser,
  selectOrganization,
} from '../src/access/provisioning.ts'
import type { Scope } from '../src/access/scopes.ts'
import { externalId } from '../src/http/fields.ts'
import { execute } from './database.ts'
import type { Target } from './wrangler.ts'

export interface WantedKey {
  /** A new one of this name, or one that is there. */
  readonly organization: { readonly name: string } | { readonly id: string }
  /** Left out: the key acts for no user, and makes keys for anyone. */
  readonly userId: string | undefined
  readonly scopes: readonly Scope[]
}

/** As it is printed. The token exists only there: the database gets its SHA-256. */
export interface MadeKey {
  readonly organizationId: string
  readonly userId: string | null
  readonly apiKey: string
}

/** @throws if the organization is to be there and is not, or the user was deleted. */
export async function makeKey(target: Target, { organization, userId, scopes }: WantedKey): Promise<MadeKey> {
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

async function requireOrganization(
  target: Target,
  organizationId: string,
  userId: string | undefined,
): Promise<void> {
  const [found, deleted] = await execute(target, [
    { statement: selectOrganization, values: { id: organizationId } },
    { statement: selectDeletedUser, values: { organizationId, id: userId ?? null } },
  ])
  if (!found?.length) throw new Error(`--organization-id: there is no organization ${organizationId}`)
  if (deleted?.length) throw new Error('--user: this user was deleted, and its id is never used again')
}

/** @returns undefined if it is not an id. */
export function parseUserId(text: string | undefined): string | undefined {
  return externalId({}).safeParse(text).data
}
