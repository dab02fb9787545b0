import { type EventType, pathOfResource, resourceOf } from '../../access/event-types.ts'
import type { RowOf } from '../../db/statement.ts'
import { timeOf } from './sequence.ts'
import type { feed } from './statements.ts'

export type EventRow = RowOf<typeof feed.select>
export type Event = ReturnType<typeof toEvent>

/** An event as the API returns it. */
export function toEvent(row: EventRow) {
  const { id, resourceId, parentId, resourceName, projectId, apiKeyId, apiKeyName, userId, requestId } = row
  const type = row.type as EventType
  return {
    id,
    type,
    resource: {
      type: resourceOf(type),
      id: resourceId,
      path: pathOfResource(type, { id: resourceId, parentId, projectId }),
      name: resourceName,
    },
    projectId,
    actor: apiKeyId === null ? null : { apiKeyId, apiKeyName: apiKeyName ?? '', userId },
    requestId,
    createdAt: timeOf(row.sequence),
  }
}
