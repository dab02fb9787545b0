/** What the pages ask the API about the run endpoint and the event endpoints, and what they tell it to do. */
import { useQuery } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { type Run, refresh, useCan, useMe, workspace } from '../api.ts'
import type { Tone } from '../components/status.tsx'
import { WorkspaceError } from '../errors.ts'
import { listQuery } from '../lists.ts'

type Schemas = components['schemas']
export type EventEndpoint = Schemas['EventEndpoint']
export type NewEventEndpoint = Schemas['NewEventEndpoint']
export type EventEndpointUpdate = Schemas['EventEndpointUpdate']
export type Attempt = Schemas['DeliveryAttempt']

/** A delivery has no event of its own. */
const REFRESH_MS = 15_000

export function useEventEndpoints() {
  const isAllowed = useCan()('event-endpoints:read')
  const isRestricted = useMe().apiKey.projectIds !== null
  const query = listQuery(['event-endpoints'], () => workspace.eventEndpoints.list().page())
  return useQuery({ ...query, enabled: isAllowed && !isRestricted, refetchInterval: REFRESH_MS })
}

/** Null if there is none; undefined, too, if the session may not read it. */
export function useRunEndpoint() {
  const isAllowed = useCan()('run-endpoint:read')
  const isRestricted = useMe().apiKey.projectIds !== null
  return useQuery({
    ...listQuery(['run-endpoint'], () =>
      workspace.runEndpoint.retrieve().catch((error: unknown) => {
        if (error instanceof WorkspaceError && error.code === 'run_endpoint_not_found') return null
        throw error
      }),
    ),
    enabled: isAllowed && !isRestricted,
  })
}

export const refreshEndpoints = () => refresh('event-endpoints', 'run-endpoint')

const BY_REQUEST = 'A request disabled it.'

export function stateOf({ disabledAt, disabledReason, failingSince, behind }: EventEndpoint): {
  readonly tone: Tone
  readonly word: string
} {
  if (disabledAt !== null) {
    return disabledReason === BY_REQUEST
      ? { tone: 'idle', word: 'Disabled' }
      : { tone: 'warning', word: 'Disabled by failures' }
  }
  if (failingSince !== null) return { tone: 'bad', word: 'Failing' }
  return behind > 0 ? { tone: 'active', word: 'Sending' } : { tone: 'good', word: 'Enabled' }
}

/** One that a request disabled is as somebody wants it. */
export function needsAttention(endpoint: EventEndpoint): boolean {
  const { tone } = stateOf(endpoint)
  return tone === 'bad' || tone === 'warning'
}

const MAX_BEHIND = 1000

/** How many events wait, of those that the service looks at. */
export const waitingIn = ({ behind }: EventEndpoint) => (behind >= MAX_BEHIND ? `${MAX_BEHIND} or more` : `${behind}`)

/** The latest delivery of these runs to the run endpoint as it is now, if it failed. */
export function failedDelivery(runs: readonly Run[], { updatedAt }: { readonly updatedAt: string }) {
  const attempts = runs.flatMap(({ lastAttempts }) => lastAttempts).filter(({ startedAt }) => startedAt >= updatedAt)
  const [latest] = attempts.toSorted((one, other) => Date.parse(other.startedAt) - Date.parse(one.startedAt))
  return latest?.error == null ? undefined : latest
}

export function stateOfRunEndpoint(failed: Attempt | undefined): { readonly tone: Tone; readonly word: string } {
  if (failed === undefined) return { tone: 'good', word: 'Enabled' }
  return { tone: 'bad', word: failed.status === null ? 'Unreachable' : 'Failing' }
}

/** What became of an attempt, such as "204 in 82 ms". */
export function describeAttempt({ status, milliseconds, error }: Attempt): string {
  const response = status === null ? 'No response' : `${status}`
  return `${response} in ${milliseconds} ms${error === null ? '' : `: ${error}`}`
}
