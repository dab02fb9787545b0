/** The invitations of an organization, in SQL. A sign-in accepts them (src/sign-in/statements.ts). */
import { and, asc, eq, exists, gt, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { callerHasScopesOf, issuer } from '../../access/admission.ts'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { actsAs, callerIsUnrotated } from '../../access/manage-keys.ts'
import { precondition, preconditionUnless, requiring } from '../../access/preconditions.ts'
import { projectsExist, unrestrictedFor } from '../../access/project.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, insertRow } from '../../db/rows.ts'
import { apiKeys, invitations, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { ApiError } from '../../errors.ts'
import { invitation } from './contract.ts'

/** Open ones, of an organization. */
const MAX_INVITATIONS = 100

const id = text('id')
const invitationId = text('invitationId')
/** ASCII letters may be in upper case. */
const email = text('email')
const role = text('role')
const projectIds = textOrNull('projectIds')
const userId = textOrNull('userId')
const expiresAt = text('expiresAt')

const isUnrestricted = unrestrictedFor('Invitations')
const toChange = { isUnrestricted, callerIsUnrotated: callerIsUnrotated() }
const fields = columnsIn(invitations, invitation)

const isOwn = eq(invitations.organizationId, apiKeys.organizationId)
const isOpen = and(isOwn, isNull(invitations.acceptedAt), gt(invitations.expiresAt, now))
const open = (condition?: SQL) => query.select({ id: invitations.id }).from(invitations).where(and(isOpen, condition))

export const creatable = requiring([], {
  ...toChange,
  callerHasScopes: callerHasScopesOf(role, [role]),
  projectsExist: projectsExist(projectIds, [projectIds]),
  userExists: precondition(
    or(
      isNull(userId),
      exists(
        query
          .select({ id: users.id })
          .from(users)
          .where(and(eq(users.organizationId, apiKeys.organizationId), eq(users.id, userId))),
      ),
    ),
    () => new ApiError('user_not_found', 'userId names a user that the organization does not have.'),
    [userId],
  ),
  userIsAccessible: precondition(
    or(isNull(userId), actsAs(userId)),
    () =>
      new ApiError(
        'exceeds_own_key',
        'userId is not the user that your API key acts as. Leave it out, or use an API key that acts as no user.',
      ),
    [userId],
  ),
  isOnlyOne: precondition(
    sql`not exists ${open(and(eq(invitations.issuer, issuer), sql`${invitations.email} = lower(${email})`))}`,
    () =>
      new ApiError(
        'invitation_exists',
        'There is an open invitation for this e-mail address and issuer. Delete it first.',
      ),
    [issuer, email],
  ),
  isWithinLimit: precondition(
    sql`(select count(*) from ${open()}) < ${sql.raw(String(MAX_INVITATIONS))}`,
    () =>
      new ApiError(
        'invitation_limit',
        `The organization has reached the limit of open invitations: ${MAX_INVITATIONS}. Delete one first.`,
      ),
  ),
})

/** So that there are never many more than open ones can be. */
export const removeEnded = guarded(creatable, [], () =>
  query
    .delete(invitations)
    .where(
      and(
        eq(invitations.organizationId, creatable.organizationId),
        or(isNotNull(invitations.acceptedAt), lte(invitations.expiresAt, now)),
      ),
    ),
)

const recordedCreation = recordedAfter([id, email], { type: 'invitation.created', id, name: sql`lower(${email})` })

export const insertInvitation = guardedChange(creatable, [id, expiresAt], recordedCreation, () =>
  query
    .insert(invitations)
    .select(
      creatable.rows(
        insertRow(invitations, {
          organizationId: apiKeys.organizationId,
          id,
          issuer,
          email: sql`lower(${email})`,
          role,
          projectIds,
          userId,
          createdByKeyId: apiKeys.id,
          createdAt: now,
          expiresAt,
        }),
      ),
    )
    .returning(fields),
)

export const listable = requiring([], { isUnrestricted })

export const selectInvitations = guarded(listable, [], () =>
  listable.rows(fields).innerJoin(invitations, isOwn).orderBy(asc(invitations.id)),
)

const isNamed = eq(invitations.id, invitationId)

export const deletable = requiring([{ table: invitations, on: and(isOwn, isNamed), takes: [invitationId] }], {
  invitationExists: precondition(
    isNotNull(invitations.id),
    () => new ApiError('invitation_not_found', 'There is no invitation with this invitationId.'),
  ),
  ...toChange,
  acceptedBy: preconditionUnless(
    sql<string | null>`${invitations.identityId}`,
    (_, identityId) =>
      new ApiError(
        'invitation_accepted',
        `The invitation was accepted: the person has the identity ${identityId}. Block or delete that identity to end their access.`,
      ),
  ),
})

const recordedDeletion = recordedBefore(deletable, [], {
  type: 'invitation.deleted',
  id: invitations.id,
  name: invitations.email,
})

export const deleteInvitation = guardedChange(deletable, [], recordedDeletion, () =>
  query
    .delete(invitations)
    .where(and(eq(invitations.organizationId, deletable.organizationId), isNamed))
    .returning({ id: invitations.id }),
)
