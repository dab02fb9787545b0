/** Signs a person in, whom an identity provider vouches for. */
import { v7 as newUuid } from 'uuid'
import { ROLE_SCOPES, toClaims } from '../access/admission.ts'
import { mintToken } from '../access/api-key.ts'
import { eventValues } from '../access/events.ts'
import { selectWakeableByService, wake } from '../access/wake.ts'
import { databaseOf } from '../db/database.ts'
import { placesOf } from '../db/directory.ts'
import { StoreUnavailable } from '../db/failures.ts'
import { type RowOf, runBatch } from '../db/statement.ts'
import { DAY_MS, HOUR_MS } from '../durations.ts'
import { type Environment, readLimits } from '../environment.ts'
import {
  acceptInvitation,
  admit,
  endKeys,
  extendGrants,
  insertSession,
  insertUser,
  recordAcceptance,
  recordEndedKeys,
  recordIdentity,
  recordSession,
  recordUser,
  selectOutcome,
} from './statements.ts'
import type { Person, Refusal, SignInResult } from './types.ts'

const SESSION_MS = 12 * HOUR_MS
const MAX_NAME = 255

/** The display name: that of the claims, or else what is known of the person. */
function nameOf({ name, email, subject }: Person): string {
  const text = (name?.trim() || email || subject).toWellFormed().replaceAll('\0', '')
  return [...text].slice(0, MAX_NAME).join('')
}

/** @throws if the database does not answer, or the organization moves to another one. */
export async function signIn(
  environment: Environment,
  context: Pick<ExecutionContext, 'waitUntil'>,
  sentOrganizationId: string,
  person: Person,
): Promise<SignInResult> {
  const organizationId = sentOrganizationId.toLowerCase()
  const placeOf = await placesOf(environment, [organizationId])
  const number = placeOf(organizationId)?.database
  const database = number === undefined ? undefined : databaseOf(environment, number)
  if (number === undefined || !database) return { refusal: 'organization_unavailable' }

  const { issuer, subject, email, claims } = person
  const instant = new Date()
  const now = instant.toISOString()
  const expiresAt = new Date(instant.getTime() + SESSION_MS).toISOString()
  const { hash, tokenIn } = await mintToken()
  const { grantIdleDays, quotas } = readLimits(environment)
  const values = {
    organizationId,
    issuer,
    subject,
    email,
    claims: toClaims(issuer, claims),
    name: nameOf(person),
    newIdentityId: newUuid(),
    newUserId: newUuid(),
    keyId: newUuid(),
    hash,
    expiresAt,
    roleScopes: ROLE_SCOPES,
    now,
    'quota.users': quotas.users,
    grantIdleEnd: new Date(instant.getTime() + grantIdleDays * DAY_MS).toISOString(),
  }
  const steps = {
    recordAcceptance,
    acceptInvitation,
    admit,
    recordEndedKeys,
    endKeys,
    insertUser,
    insertSession,
    recordIdentity,
    recordUser,
    recordSession,
    extendGrants,
    outcome: selectOutcome,
    endpoints: selectWakeableByService,
  }
  const {
    outcome: [outcome],
    endpoints,
  } = await runBatch(database, steps, { ...values, ...eventValues(now, null) })
  if (outcome?.isSettled === 0) throw new StoreUnavailable('The organization moves to another database')
  context.waitUntil(wake(environment, number, endpoints))
  if (!outcome?.userId || !outcome.scopes) return { refusal: refusalOf(outcome) }
  const { userId, scopes, isFirst } = outcome
  return { token: tokenIn(number), expiresAt, userId, scopes: JSON.parse(scopes), isFirst: isFirst === 1 }
}

function refusalOf(outcome: RowOf<typeof selectOutcome> | undefined): Refusal {
  if (!outcome?.isActive) return 'organization_unavailable'
  if (outcome.isBlocked) return 'blocked'
  return (outcome.hasRule || outcome.isInvited) && !outcome.isKnown ? 'user_quota' : 'not_admitted'
}
