/** Creates an organization, a user and an API key directly in the database. */
import { v7 as newUuid } from 'uuid'
import type { Scope } from '../src/access/scopes.ts'
import { externalId } from '../src/http/fields.ts'
import { type Call, run } from './database.ts'
import type { Databases } from './databases.ts'
import {
  CLAIM_LINK_NAME,
  insertApiKey,
  insertOrganization,
  insertPlace,
  insertUserIfMissing,
  mintApiKey,
  selectDeletedUser,
  selectOrganization,
} from './provisioning.ts'
import { reasonOfSuspension } from './suspension.ts'

export interface KeyRequest {
  /** The name of a new organization, or the ID of an existing one. */
  readonly organization: { readonly name: string } | { readonly id: string }
  /** If undefined, the key acts for no user and can create keys for every user. */
  readonly userId: string | undefined
  readonly scopes: readonly Scope[]
  /** The address of the service: a claim link is created instead of the key. */
  readonly claimAt?: string | undefined
}

/** Printed once: the database stores only the SHA-256 of the token. */
export interface CreatedKey {
  readonly organizationId: string
  readonly userId: string | null
  readonly apiKey?: string
  /** The address of a page that shows the API key once (src/resources/claim-links/). */
  readonly claimLink?: string
}

const CLAIM_LINK_MS = 60 * 60 * 1000

/** @throws if the organization does not exist, is suspended or moves, or the user was deleted. */
export async function createKey(
  databases: Databases,
  { organization, userId, scopes, claimAt }: KeyRequest,
): Promise<CreatedKey> {
  const isNew = 'name' in organization
  const number = isNew ? await databases.numberForNew() : await placeOf(databases, organization.id, userId)
  if (!isNew && (await reasonOfSuspension(databases.get(number), organization.id)) !== undefined) {
    throw new Error(
      'The organization is suspended. To create an API key, resume it: npm run operate -- organization resume',
    )
  }
  const instant = Date.now()
  const now = new Date(instant).toISOString()
  const organizationId = isNew ? newUuid() : organization.id
  const isLink = claimAt !== undefined
  const key = await mintApiKey(
    {
      organizationId,
      name: isLink ? CLAIM_LINK_NAME : 'bootstrap',
      scopes,
      createdAt: now,
      ...(userId !== undefined && { userId }),
      ...(isLink && { expiresAt: new Date(instant + CLAIM_LINK_MS).toISOString() }),
    },
    number,
    isLink ? 'wsc' : 'wsk',
  )
  const calls = [
    ...(isNew
      ? [{ statement: insertOrganization, values: { id: organizationId, name: organization.name, createdAt: now } }]
      : []),
    ...(userId === undefined
      ? []
      : [
          {
            statement: insertUserIfMissing,
            values: { organizationId, id: userId, name: userId, createdAt: now, updatedAt: now },
          },
        ]),
    { statement: insertApiKey, values: key.row },
  ]
  if (isNew) await insertNew(databases, number, organizationId, calls)
  else await run(databases.get(number), calls)
  const created = { organizationId, userId: userId ?? null }
  // A browser sends what follows the # to no server, so it is in no log.
  return isLink
    ? { ...created, claimLink: `${claimAt.replace(/\/+$/, '')}/claim#${key.token}` }
    : { ...created, apiKey: key.token }
}

/**
 * Inserts a new organization and its place. The place comes first: a place without an organization does no harm, but the
 * service does not find an organization without a place.
 */
export async function insertNew(
  databases: Databases,
  number: number,
  organizationId: string,
  calls: readonly Call[],
): Promise<void> {
  const place = { statement: insertPlace, values: { organizationId, database: number } }
  if (number === 0) {
    await run(databases.first, [place, ...calls])
    return
  }
  await run(databases.first, [place])
  await run(databases.get(number), calls)
}

/** @returns the number of the organization's database. */
async function placeOf(databases: Databases, organizationId: string, userId: string | undefined): Promise<number> {
  const answers = await databases.map((database) =>
    run(database, [
      { statement: selectOrganization, values: { id: organizationId } },
      { statement: selectDeletedUser, values: { organizationId, id: userId ?? null } },
    ]),
  )
  for (const [index, number] of databases.numbers.entries()) {
    const [found, deleted] = answers[index] ?? []
    if (!found?.length || !(await databases.isPlace(organizationId, number))) continue
    const { movingTo = null } = (await databases.places()).get(organizationId) ?? {}
    if (movingTo !== null) {
      throw new Error(`The organization is moving to database ${movingTo}. Complete the move first.`)
    }
    if (deleted?.length) throw new Error(`--user is the ID of a deleted user; got "${userId}". IDs are not reused.`)
    return number
  }
  throw new Error(`--organization-id is not the ID of an organization; got "${organizationId}".`)
}

/** @returns undefined if the text is not a user ID. */
export function parseUserId(text: string | undefined): string | undefined {
  return externalId({}).safeParse(text).data
}
