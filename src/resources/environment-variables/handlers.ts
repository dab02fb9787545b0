import type { Call } from '../../access/call.ts'
import type { CallerFacts } from '../../access/guard.ts'
import { quotaExceeded } from '../../access/quotas.ts'
import { secretFingerprints } from '../../crypto/digest.ts'
import { parseKeyRing } from '../../crypto/key-ring.ts'
import { seal } from '../../crypto/sealed-value.ts'
import type { Quota } from '../../db/usage.ts'
import { ApiError, outOfReach } from '../../errors.ts'
import { endpoint } from '../../http/endpoint.ts'
import { pageOf, pagingOf } from '../../http/paging.ts'
import {
  deleteEnvironmentVariableContract,
  listEnvironmentVariablesContract,
  putEnvironmentVariableContract,
  setEnvironmentVariablesContract,
} from './contract.ts'
import {
  deleteVariable,
  explainSetting,
  explainVariable,
  putVariables,
  rememberRequest,
  selectRepeated,
  selectVariables,
  VARIABLES,
} from './statements.ts'

interface Facts extends CallerFacts {
  projectExists: 0 | 1
  inReach: 0 | 1
  isArchived: 0 | 1
}

const noProject = () => new ApiError(404, 'projectId: there is no project with this id')

const frozen = () =>
  new ApiError(409, 'The project is archived, and its variables with it: unarchive it first')

export const deleteEnvironmentVariable = endpoint(
  deleteEnvironmentVariableContract,
  async ({ params }, call) => {
    const [explanation, [deleted]] = await call.run(explainVariable, [deleteVariable], params)
    if (deleted) return { body: { deleted: true as const, key: deleted.key } }
    if (!explanation.projectExists) throw noProject()
    if (!explanation.variableExists)
      throw new ApiError(404, 'key: the project has no variable with this name')
    if (!explanation.inReach) throw outOfReach()
    throw frozen()
  },
)

export const listEnvironmentVariables = endpoint(
  listEnvironmentVariablesContract,
  async ({ params, query }, call) => {
    const values = { ...params, ...pagingOf(query), key: null }
    const [facts, variables] = await call.run(explainVariable, [selectVariables], values)
    if (!facts.projectExists) throw noProject()
    if (!facts.inReach) throw outOfReach()
    return { body: pageOf(variables, query, ({ key }) => key) }
  },
)

export const putEnvironmentVariable = endpoint(
  putEnvironmentVariableContract,
  async ({ params: { projectId, key }, body }, call) => {
    const { putting, values } = await sealing(call, projectId, [{ key, value: body.value }])
    const [facts, [stored]] = await call.run(explainSetting, [putting], values)
    if (!stored) throw refusalOf(facts, call)
    return { body: stored }
  },
)

export const setEnvironmentVariables = endpoint(
  setEnvironmentVariablesContract,
  async ({ params: { projectId }, headers, body: { variables }, path }, call) => {
    const { putting, values } = await sealing(call, projectId, variables)
    const steps = [rememberRequest, putting, selectRepeated] as const
    const [facts, , stored, repeated] = await call.run(explainSetting, steps, {
      ...values,
      ...secretIdempotencyOf(headers['Idempotency-Key'], [values.sealedFor, projectId, variables], call),
    })
    const isRepeated = facts.inReach && facts.isEqual
    if (stored.length === 0 && !isRepeated) throw refusalOf(facts, call)
    const items = (isRepeated ? repeated : stored).toSorted((a, b) => (a.key < b.key ? -1 : 1))
    return { body: { items }, headers: { Location: path } }
  },
)

function refusalOf(facts: Facts & { isRepeated: 0 | 1; exceededQuota: Quota | null }, call: Call): ApiError {
  if (!facts.projectExists) return noProject()
  if (!facts.inReach) return outOfReach()
  if (facts.isRepeated) {
    return new ApiError(
      409,
      'Idempotency-Key: it was used with another body; use a new key for new variables',
    )
  }
  if (facts.isArchived) return frozen()
  if (facts.exceededQuota) return quotaExceeded(facts.exceededQuota, call.limits)
  const { variables } = call.limits
  return new ApiError(
    409,
    `The project would have more than ${variables} variables, or over 12 MiB of values: delete some first`,
  )
}

interface Variable {
  readonly key: string
  readonly value: string
}

/** Seals the values for their organization, which has to be known before the trip. */
async function sealing(call: Call, projectId: string, variables: readonly Variable[]) {
  const organizationId = await call.organizationId()
  const ring = parseKeyRing(call.encryptionKeys)
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
      variableLimit: call.limits.variables,
      sealedLength: sealed.reduce((sum, { sealedValue }) => sum + sealedValue.length, 0),
      firstSeal: sealed[0]?.sealedValue.replace(/[^.]*$/, '') ?? null,
      ...secretIdempotencyOf(undefined, [], call),
    },
  }
}

/** What the statements are bound to of an `Idempotency-Key` and the request that it came with. */
function secretIdempotencyOf(key: string | undefined, request: readonly unknown[], call: Call) {
  if (key === undefined) return { idempotencyKey: null, fingerprints: '[]' }
  const text = JSON.stringify([key, ...request])
  const fingerprints = secretFingerprints(text, parseKeyRing(call.encryptionKeys))
  return { idempotencyKey: key, fingerprints: JSON.stringify(fingerprints) }
}
