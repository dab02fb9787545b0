/** Hints that an event endpoint has something to deliver. The tick finds what a lost hint would have found. */
import type { EndpointMessage, Environment } from '../environment.ts'
import type { RecordedRow } from './events.ts'

interface WakeableEndpoint {
  readonly id: string
  /** JSON array of types, which may end in `.*`; null: all. */
  readonly types: readonly string[] | null
  readonly projectId: string | null
  readonly isSlow: 0 | 1
}

/** Of events with a known type: `skill.*` is every type of the resource. */
const matches = (pattern: string, type: string) =>
  pattern.endsWith('.*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern

/** The messages for the endpoints that want one of the recorded events, one for each. */
export function messagesFor(rows: readonly RecordedRow[]): EndpointMessage[] {
  const messages = new Map<string, EndpointMessage>()
  for (const { organizationId, type, projectId, endpoints } of rows) {
    for (const endpoint of JSON.parse(endpoints) as WakeableEndpoint[]) {
      const { id, types, isSlow } = endpoint
      if (types !== null && !types.some((pattern) => matches(pattern, type))) continue
      if (endpoint.projectId !== null && endpoint.projectId !== projectId) continue
      messages.set(`${organizationId} ${id}`, { endpoint: { organizationId, id }, isSlow: isSlow === 1 })
    }
  }
  return [...messages.values()]
}

type Queues = Pick<Environment, 'RUNS' | 'SLOW_RUNS'>

/** Has the endpoints deliver the recorded events. */
export async function wake({ RUNS, SLOW_RUNS }: Queues, rows: readonly RecordedRow[]): Promise<void> {
  for (const message of messagesFor(rows)) await (message.isSlow ? SLOW_RUNS : RUNS).send(message)
}
