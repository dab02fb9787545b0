/** Events, for what pages say of who did something. */
import type { components } from '../../../client/src/api.ts'
import { type Query, workspace } from './api.ts'

export type Event = components['schemas']['Event']

const PAGE = 1000
const MAX_PAGES = 10

/**
 * The latest of all events. A session that is restricted to projects
 * may not read them.
 * @param isEnough is asked after each page, with all events so far.
 */
export async function latestEvents(
  filters: Query<'listAuditEvents'>,
  isEnough: (events: readonly Event[]) => boolean = () => false,
): Promise<readonly Event[]> {
  const events: Event[] = []
  let cursor: string | undefined
  for (let pages = 0; pages < MAX_PAGES; pages++) {
    const page = await workspace.auditEvents.list({ ...filters, limit: PAGE, cursor }).page()
    events.push(...page.items)
    if (isEnough(events) || page.nextCursor === null) break
    cursor = page.nextCursor
  }
  return events
}
