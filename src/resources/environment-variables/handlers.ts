import { one, type RequestContext } from '../../access/request-context.ts'
import { secretFingerprints } from '../../crypto/digest.ts'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { seal } from '../../crypto/sealed-value.ts'
import { endpoint } from '../../http/endpoint.ts'
import { toPage, toPaging } from '../../http/paging.ts'
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

export const deleteEnvironmentVariable = endpoint(deleteEnvironmentVariableContract, async (c, context) => {
  const { deleted } = await context.run(deletable, { deleted: one(deleteVariable) }, c.req.valid('param'))
  return { body: { deleted: true, key: deleted.key } }
})

export const listEnvironmentVariables = endpoint(listEnvironmentVariablesContract, async (c, context) => {
  const query = c.req.valid('query')
  const values = { ...c.req.valid('param'), ...toPaging(query) }
  const { variables } = await context.run(readable, { variables: selectVariables }, values)
  return { body: toPage(variables, query, ({ key }) => key) }
})

export const putEnvironmentVariable = endpoint(putEnvironmentVariableContract, async (c, context) => {
  const { projectId, key } = c.req.valid('param')
  const { value } = c.req.valid('json')
  const { putSealed, values } = await sealVariables(context, projectId, [{ key, value }])
  const { check, stored } = await context.run(
    settable,
    { stored: one(putSealed) },
    { ...values, ...NO_IDEMPOTENCY_KEY },
  )
  return { body: stored, location: check.isNew ? context.path : undefined }
})

export const setEnvironmentVariables = endpoint(setEnvironmentVariablesContract, async (c, context) => {
  const { projectId } = c.req.valid('param')
  const { variables } = c.req.valid('json')
  const { 'Idempotency-Key': idempotencyKey } = c.req.valid('header')
  const { putSealed, values } = await sealVariables(context, projectId, variables)
  const { check, stored, repeated } = await context.attempt(
    settable,
    { recordRequest, stored: putSealed, repeated: selectRepeated },
    { ...values, ...(await fingerprintSecret(idempotencyKey, [values.sealedFor, projectId, variables], context)) },
  )
  const isRepeated = check.projectIsAccessible && check.isRepeated
  if (stored.length === 0 && !isRepeated) throw settable.refusal(check, context)
  const items = (isRepeated ? repeated : stored).toSorted((a, b) => (a.key < b.key ? -1 : 1))
  return { body: { items }, location: context.path }
})

export const leaseEnvironmentVariables = endpoint(leaseEnvironmentVariablesContract, async (c, context) => {
  const { projectId } = c.req.valid('param')
  const { publicKey, keys } = c.req.valid('json')
  const { sealLease, senderTo } = await import('./lease.ts')
  const sender = await senderTo(publicKey)
  if (!sender) throw await context.caller.inputError(LOW_ORDER)
  const { check, variables } = await context.run(
    leasable,
    { variables: selectLeased, recordLease },
    { projectId, keys: keys ? JSON.stringify(keys) : null },
  )
  const owner = { organizationId: check.callerOrganizationId, projectId }
  const ring = parseKeyRing(context.environment.ENCRYPTION_KEYS)
  return { body: await sealLease(sender, owner, variables, ring) }
})

const LOW_ORDER = describeProblem('publicKey', {
  wrong: 'is a low-order point, so anyone could open the lease',
  allowed: 'the public key of a new X25519 key pair',
})

interface Variable {
  readonly key: string
  readonly value: string
}

/** Seals the values for their organization, which must be known before the round trip. */
async function sealVariables(context: RequestContext, projectId: string, variables: readonly Variable[]) {
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
    putSealed: VARIABLES.fill(putVariables, sealed),
    values: {
      projectId,
      sealedFor: organizationId,
      keys: JSON.stringify(variables.map(({ key }) => key)),
      variableLimit: context.limits.variables,
      sealedLength: sealed.reduce((sum, { sealedValue }) => sum + sealedValue.length, 0),
      firstSeal: sealed[0]?.sealedValue.replace(/[^.]*$/, '') ?? null,
    },
  }
}

const NO_IDEMPOTENCY_KEY = { idempotencyKey: null, fingerprints: '[]' }

/** The values of the statements for an `Idempotency-Key` and its request. */
async function fingerprintSecret(key: string | undefined, request: readonly unknown[], context: RequestContext) {
  if (key === undefined) return NO_IDEMPOTENCY_KEY
  const text = JSON.stringify([key, ...request])
  const fingerprints = await secretFingerprints(text, parseKeyRing(context.environment.ENCRYPTION_KEYS))
  return { idempotencyKey: key, fingerprints: JSON.stringify(fingerprints) }
}
