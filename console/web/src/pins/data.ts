/** What the pages ask the API about pins. */
import type { components } from '../../../../client/src/api.ts'
import { listQuery, workspace } from '../api.ts'

export type Pin = components['schemas']['Pin']

export const pinsQuery = listQuery(['pins'], () => workspace.pins.list().page())

/** The page of what is pinned. A pull request has none of its own. */
export function pathOf({ resourceType, resourceId }: Pin): string | undefined {
  if (resourceType === 'session') return `/sessions/${resourceId}`
  return resourceType === 'project' ? `/sessions?project=${resourceId}` : undefined
}
