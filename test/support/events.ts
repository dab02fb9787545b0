/** The events of an organization, as the API lists them. */
import type { Event as ApiEvent } from '../../src/resources/events/event.ts'
import { request } from './api.ts'
import type { Workspace } from './workspace.ts'

export type { ApiEvent }

/** All events, in order. @param query filters, and where to begin. */
export async function eventsOf(workspace: Workspace, query: Record<string, string> = {}): Promise<ApiEvent[]> {
  const key = await workspace.addKey({ userId: null, scopes: ['audit-events:read'] })
  return (await walkEvents(key, query)).items
}

/** Requests pages until there are no more. @returns all items, the size of each page and the last cursor. */
export async function walkEvents(key: string, query: Record<string, string> = {}) {
  const items: ApiEvent[] = []
  const sizes: number[] = []
  let { after } = query
  for (;;) {
    const parameters = new URLSearchParams({ limit: '1000', ...query, ...(after !== undefined && { after }) })
    const { status, body } = await request('GET', `/v1/events?${parameters}`, { key })
    if (status !== 200) throw new Error(`${status} ${JSON.stringify(body)}`)
    items.push(...body.items)
    sizes.push(body.items.length)
    after = body.nextCursor as string
    if (!body.hasMore) return { items, sizes, nextCursor: after }
  }
}

/** What an event says, in a line. */
export const summaryOf = ({ type, resource }: ApiEvent) => `${type} ${resource.path}`

/** What happened in the organization, a line for each event, in order. */
export async function summariesOf(workspace: Workspace, query: Record<string, string> = {}): Promise<string[]> {
  return (await eventsOf(workspace, query)).map(summaryOf)
}
