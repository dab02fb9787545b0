/** What a person who has signed in with an identity provider may do with API keys (docs/contract-keys.md, Keys of people who sign in). */
import { and, eq, gt, isNotNull, ne, notExists, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { now } from '../db/parameters.ts'
import { apiKeys, identities } from '../db/schema.ts'
import { query } from '../db/statement.ts'
import { includesProjects } from './manage-keys.ts'

const FRESH_MINUTES = 10
const MAX_KEY_DAYS = 90
const LEASE = sql`'environment-variables:lease'`

const after = (modifier: string) => sql`strftime('%Y-%m-%dT%H:%M:%fZ', ${now}, ${sql.raw(`'${modifier}'`)})`

const maker = alias(apiKeys, 'maker')
const signedIn = alias(identities, 'signedIn')

/**
 * The identity of a caller that is a session of a sign-in. A session that the person made with an API key of theirs has
 * none: it must make nothing that outlives that key.
 */
export const identityOfSignIn = {
  table: signedIn,
  on: and(
    eq(signedIn.organizationId, apiKeys.organizationId),
    eq(signedIn.id, apiKeys.identityId),
    sql`${apiKeys.kind} = 'session'`,
    notExists(
      query
        .select({ id: maker.id })
        .from(maker)
        .where(
          and(
            eq(maker.organizationId, apiKeys.organizationId),
            eq(maker.id, apiKeys.createdByKeyId),
            eq(maker.identityId, apiKeys.identityId),
            // No session creates a session: it created or changed the rule that admits the person.
            ne(maker.kind, 'session'),
          ),
        ),
    ),
  ),
  takes: {},
}

// The conditions need `identityOfSignIn`.
export const isSignIn: SQL = isNotNull(signedIn.id)
export const isAdmin: SQL = sql`coalesce(${signedIn.role} = 'admin', false)`

/** The sign-in was a short time ago. */
export const isFresh: SQL = gt(apiKeys.createdAt, after(`-${FRESH_MINUTES} minutes`))

/** A key of this time may outlive the session. */
export const isWithinDays = (expiresAt: SQLWrapper): SQL =>
  sql`coalesce(${expiresAt} <= ${after(`+${MAX_KEY_DAYS} days`)}, false)`

/** An admin sees and revokes the keys of everybody, within their own projects. */
export const isAdminOf = ({ projectIds }: Record<'projectIds', SQLWrapper>): SQL =>
  sql`(${isAdmin} and ${includesProjects(projectIds)})`

const hasOnlyLeaseBeside = (list: SQLWrapper, of: SQLWrapper) =>
  sql`not exists (select 1 from json_each(${list}) where value <> ${LEASE} and value not in (select value from json_each(${of})))`

/** Nobody has the scope to lease by a role. An admin gives it, for projects that are named. */
export const isLeaseOfAdmin = (scopes: SQLWrapper, projectIds: SQLWrapper): SQL =>
  sql`(${isAdmin} and ${projectIds} is not null and ${hasOnlyLeaseBeside(scopes, apiKeys.scopes)})`

/** A key that an admin made so does not end at their next sign-in, as one with more than their role would. */
export const mayKeepLease = (
  key: Record<'kind' | 'scopes' | 'projectIds', SQLWrapper>,
  role: SQLWrapper,
  scopes: SQL,
) =>
  sql`(${role} = 'admin' and ${key.kind} = 'key' and ${key.projectIds} is not null and ${hasOnlyLeaseBeside(key.scopes, scopes)})`
