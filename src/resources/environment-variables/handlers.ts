import type { RequestContext } from '../../access/request-context.ts'
import { secretFingerprints } from '../../crypto/digest.ts'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { seal } from '../../crypto/sealed-value.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import { describeProblem } from '../../http/problems.ts'
import {
  deleteEnvironmentVariableContract,
  leaseEnvironmentVariablesContract,
  listEnvironmentVariablesContract,
  putEnvironmentVariableContract,
  setEnvironmentVariablesContract,
} from './contract.ts'
import {
  deletable,
  deleteVariable,
  leasable,
  putVariables,
  readable,
  recordLease,
  recordRequest,
  selectLeased,
  selectRepeated,
  selectVariables,
  settable,
  VARIABLES,
} from './statements.ts'

export const deleteEnvironmentVariable = endpoint(
  deleteEnvironmentVariableContract,
  async ({ params }, context) => {
    const { key } = await context.runForRow(deletable, [deleteVariable], params)
    return { body: { deleted: true as const, key } }
  },
)

export const listEnvironmentVariables = endpoint(
  listEnvironmentVariablesContract,
  async ({ params, query }, context) => {
    const values = { ...params, ...pagingOf(query) }
    const [facts, variables] = await context.run(readable, [selectVariables], values)
    readable.requireMet(facts, context)
    return { body: pageOf(variables, query, ({ key }) => key) }
  },
)

export const putEnvironmentVariable = endpoint(
  putEnvironmentVariableContract,
  async ({ params: { projectId, key }, body, path }, context) => {
    const { putting, values } = await sealing(context, projectId, [{ key, value: body.value }])
    const [facts, [stored]] = await context.run(settable, [putting], values)
    if (!stored) throw settable.refusal(facts, context)
    return { body: stored, location: facts.isNew ? path : undefined }
  },
)

export const setEnvironmentVariables = endpoint(
  setEnvironmentVariablesContract,
  async ({ params: { projectId }, headers, body: { variables }, path }, context) => {
    const { putting, values } = await sealing(context, projectId, variables)
    const steps = [recordRequest, putting, selectRepeated] as const
    const [facts, , stored, repeated] = await context.run(settable, steps, {
      ...values,
      ...secretIdempotencyOf(headers['Idempotency-Key'], [values.sealedFor, projectId, variables], context),
    })
    const isRepeated = facts.projectIsInReach && facts.isRepeated
    if (stored.length === 0 && !isRepeated) throw settable.refusal(facts, context)
    const items = (isRepeated ? repeated : stored).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    return { body: { items }, location: path }
  },
)

export const leaseEnvironmentVariables = endpoint(
  leaseEnvironmentVariablesContract,
  async ({ params: { projectId }, body: { publicKey, keys } }, context) => {
    const { sealLease, senderTo } = await import('./lease.ts')
    const sender = await senderTo(publicKey)
    if (!sender) throw await context.caller.inputError(LOW_ORDER)
    const [facts, variables] = await context.run(leasable, [selectLeased, recordLease], {
      ...context.auditValues,
      projectId,
      keys: keys ? JSON.stringify(keys) : null,
    })
    leasable.requireMet(facts, context)
    const owner = { organizationId: facts.callerOrganizationId, projectId }
    const ring = parseKeyRing(context.environment.ENCRYPTION_KEYS)
    return { body: await sealLease(sender, owner, variables, ring) }
  },
)

const LOW_ORDER = describeProblem('publicKey', {
  wrong: 'is a low-order point, so anyone could open the lease',
  allowed: 'the public key of a new X25519 key pair',
})

interface Variable {
  readonly key: string
  readonly value: string
}

/** Seals the values for their organization, which must be known before the trip. */
async function sealing(context: RequestContext, projectId: string, variables: readonly Variable[]) {
  const organizationId = await context.caller.expectedOrganizationId()
  const ring = parseKeyRing(context.environment.ENCRYPTION_KEYS)
  const purpose = 'environment-variable'
  const sealed = await Promise.all(
    variables.map(async ({ key, value }) => ({
      key,
      sealedValue: await seal(value, { purpose, organizationId, projectId, name: key }, ring),
    })),
  )
  return {
    /** Stores all of the variables or none. */
    putting: VARIABLES.fill(putVariables, sealed),
    values: {
      projectId,
      sealedFor: organizationId,
      keys: JSON.stringify(variables.map(({ key }) => key)),
      variableLimit: context.limits.variables,
      sealedLength: sealed.reduce((sum, { sealedValue }) => sum + sealedValue.length, 0),
      firstSeal: sealed[0]?.sealedValue.replace(/[^.]*$/, '') ?? null,
      ...secretIdempotencyOf(undefined, [], context),
    },
  }
}

/** The values of the statements for an `Idempotency-Key` and its request. */
function secretIdempotencyOf(key: string | undefined, request: readonly unknown[], context: RequestContext) {
  if (key === undefined) return { idempotencyKey: null, fingerprints: '[]' }
  const text = JSON.stringify([key, ...request])
  const fingerprints = secretFingerprints(text, parseKeyRing(context.environment.ENCRYPTION_KEYS))
  return { idempotencyKey: key, fingerprints: JSON.stringify(fingerprints) }
}
