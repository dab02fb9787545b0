/** Schedules and runs as tools see them: with IDs and claims that a model need not keep track of. */
import { v5 as nameBasedUuid } from 'uuid'
import * as z from 'zod/mini'
import { claimRunsContract, docs, projectScheduleContracts, renewRunContract } from '../../src/contracts.ts'
import type { Answer, ApiFailure } from './api.ts'
import type { Data } from './output.ts'
import type { Input, ToolContract, Wrong } from './tool.ts'

export const createProperties = {
  scheduleId: z.optional(projectScheduleContracts.put.params.shape.scheduleId).register(docs, {
    description: 'A new UUID; made from the other properties if it is left out.',
  }),
}

/** Without `scheduleId`, the same input has the same ID, so that a repeated call creates nothing. */
export async function withScheduleId(input: Input): Promise<Input> {
  return { scheduleId: nameBasedUuid(JSON.stringify(input, sorted), nameBasedUuid.URL), ...input }
}

/** The properties of an object in order of their names. */
function sorted(_: string, value: unknown): unknown {
  const isObject = Object(value) === value && !Array.isArray(value)
  return isObject ? Object.fromEntries(Object.entries(value as object).sort(([a], [b]) => (a < b ? -1 : 1))) : value
}

export function describeExisting({ code }: ApiFailure, { scheduleId }: Input): Wrong | undefined {
  const another = 'to create another one, pass a new UUID as scheduleId.'
  if (code === 'already_exists') {
    return `The schedule ${scheduleId} exists already. To change it, call update_schedule; ${another}`
  }
  return code === 'schedule_deleted' ? `The schedule ${scheduleId} was deleted; ${another}` : undefined
}

/** Long enough for most work, and short enough for a run whose agent has stopped. */
const LEASE_SECONDS = 3600

export const leaseProperties = {
  leaseSeconds: z._default(renewRunContract.body.shape.leaseSeconds, LEASE_SECONDS).register(docs, {
    description: 'How long the claim lasts, up to 86400. Give as much time as the work may take.',
  }),
}

/** Claims one run. */
export const claimOneRun: ToolContract = {
  ...claimRunsContract,
  body: z.omit(claimRunsContract.body, { limit: true }),
}

export async function claimedRun(response: Response): Promise<Data> {
  const { items }: Answer<typeof claimRunsContract> = await response.json()
  const [run] = items
  if (!run) return { run: null, note: 'No run is pending.' }
  return {
    run,
    note: `Do what the payload says, and call complete_run with the claimId before ${run.leaseExpiresAt}. If it takes longer, call renew_run first.`,
  }
}
