/** The invitations of an organization, in SQL. A sign-in accepts them (src/sign-in/statements.ts). */
import { and, asc, eq, exists, gt, isNotNull, isNull, lte, or, type SQL, sql } from 'drizzle-orm'
import { callerHasScopesOf, issuer } from '../../access/admission.ts'
import { guardedChange, recordedAfter, recordedBefore } from '../../access/events.ts'
import { namedUserNotFound, userExceedsOwnKey } from '../../access/failures.ts'
import { actsAs, callerIsUnrotated } from '../../access/manage-keys.ts'
import { precondition, preconditionUnless, requiring } from '../../access/preconditions.ts'
import { keyIsUnrestricted, projectsExist } from '../../access/project.ts'
import { now, text, textOrNull } from '../../db/parameters.ts'
import { columnsIn, insertRow } from '../../db/rows.ts'
import { apiKeys, invitations, users } from '../../db/schema.ts'
import { guarded, query } from '../../db/statement.ts'
import { filled } from '../../errors.ts'
import { invitation } from './contract.ts'
import { invitationAccepted, invitationExists, invitationLimit, invitationNotFound } from './failures.ts'

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

const isUnrestricted = keyIsUnrestricted
const toChange = { isUnrestricted, callerIsUnrotated: callerIsUnrotated() }
const fields = columnsIn(invitations, invitation)

const isOwn = eq(invitations.organizationId, apiKeys.organizationId)
const isOpen = and(isOwn, isNull(invitations.acceptedAt), gt(invitations.expiresAt, now))
const open = (condition?: SQL) => query.select({ id: invitations.id }).from(invitations).where(and(isOpen, condition))

export const creatable = requiring([], {
  ...toChange,
  callerHasScopes: callerHasScopesOf(role, { role }),
  projectsExist: projectsExist(projectIds, { projectIds }),
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
    namedUserNotFound,
    { userId },
  ),
  userIsAccessible: precondition(or(isNull(userId), actsAs(userId)), userExceedsOwnKey, { userId }),
  isOnlyOne: precondition(
    sql`not exists ${open(and(eq(invitations.issuer, issuer), sql`${invitations.email} = lower(${email})`))}`,
    invitationExists,
    { issuer, email },
  ),
  isWithinLimit: precondition(
    sql`(select count(*) from ${open()}) < ${sql.raw(String(MAX_INVITATIONS))}`,
    filled(invitationLimit, { limit: MAX_INVITATIONS }),
  ),
})

/** So that there are never many more than open ones can be. */
export const removeEnded = guarded(creatable, {}, () =>
  query
    .delete(invitations)
    .where(
      and(
        eq(invitations.organizationId, creatable.organizationId),
        or(isNotNull(invitations.acceptedAt), lte(invitations.expiresAt, now)),
      ),
    ),
)

const recordedCreation = recordedAfter({ id, email }, { type: 'invitation.created', id, name: sql`lower(${email})` })

export const insertInvitation = guardedChange(creatable, { id, expiresAt }, recordedCreation, () =>
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

export const selectInvitations = guarded(listable, {}, () =>
  listable.rows(fields).innerJoin(invitations, isOwn).orderBy(asc(invitations.id)),
)

const isNamed = eq(invitations.id, invitationId)

export const deletable = requiring([{ table: invitations, on: and(isOwn, isNamed), takes: { invitationId } }], {
  invitationExists: precondition(isNotNull(invitations.id), invitationNotFound),
  ...toChange,
  acceptedBy: preconditionUnless(sql<string | null>`${invitations.identityId}`, (_, identityId) =>
    filled(invitationAccepted, { identityId }),
  ),
})

const recordedDeletion = recordedBefore(
  deletable,
  {},
  {
    type: 'invitation.deleted',
    id: invitations.id,
    name: invitations.email,
  },
)

export const deleteInvitation = guardedChange(deletable, {}, recordedDeletion, () =>
  query
    .delete(invitations)
    .where(and(eq(invitations.organizationId, deletable.organizationId), isNamed))
    .returning({ id: invitations.id }),
)
