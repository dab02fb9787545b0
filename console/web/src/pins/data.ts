/** The pins of the person: what the pages ask the API about them, and how they are changed. */
import { useMutation, useMutationState, useQuery } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { workspace } from '../api.ts'
import { queryClient } from '../connection.ts'
import { listQuery } from '../lists.ts'
import { showError } from '../messages.ts'

export type Pin = components['schemas']['PinWithResource']

export const pinsQuery = listQuery(['pins'], () => workspace.pins.list({ expand: 'resource' }).page())

/** The page of what is pinned. A pull request has none of its own. */
export function pathOf({ resourceType, resourceId }: Pick<Pin, 'resourceType' | 'resourceId'>): string | undefined {
  if (resourceType === 'session') return `/sessions/${resourceId}`
  return resourceType === 'project' ? `/sessions?project=${resourceId}` : undefined
}

export const keyOf = ({ resourceType, resourceId }: Pick<Pin, 'resourceType' | 'resourceId'>) =>
  `${resourceType}/${resourceId}`

export interface Placement {
  readonly target: Pin
  readonly position: 'before' | 'after'
}

export interface PinChange {
  readonly pin: Pin
  /** Where it goes; null: it is unpinned. */
  readonly to: Placement | 'end' | null
}

/** The pins after a change. A change that was made already changes nothing. */
export function changed(pins: readonly Pin[], { pin, to }: PinChange): Pin[] {
  const others = pins.filter((other) => keyOf(other) !== keyOf(pin))
  if (to === null) return others
  if (to === 'end') return [...others, pin]
  const target = others.findIndex((other) => keyOf(other) === keyOf(to.target))
  return target === -1 ? [...pins] : others.toSpliced(to.position === 'before' ? target : target + 1, 0, pin)
}

const CHANGES = ['pins', 'change']

/** The pins as they will be when the service has made the changes. A refused change is undone. */
export function usePins() {
  const { data, error, refetch } = useQuery(pinsQuery)
  const pending = useMutationState({
    filters: { mutationKey: CHANGES, status: 'pending' },
    select: ({ state }) => state.variables as PinChange,
  })
  return { pins: data && pending.reduce(changed, data.items), error, refetch }
}

/** Changes the pins, one change after the other. */
export function useChangePins() {
  return useMutation({
    mutationKey: CHANGES,
    scope: { id: 'pins' },
    mutationFn: send,
    onSuccess: async (_result, change) => {
      // A list that was requested before the change would undo it.
      await queryClient.cancelQueries({ queryKey: pinsQuery.queryKey })
      queryClient.setQueryData(pinsQuery.queryKey, (page) => page && { ...page, items: changed(page.items, change) })
    },
    onError: showError,
    onSettled: () => void queryClient.invalidateQueries({ queryKey: pinsQuery.queryKey }),
  })
}

function send({ pin: { resourceType, resourceId }, to }: PinChange): Promise<unknown> {
  if (to === null) return workspace.pins.delete(resourceType, resourceId)
  if (to === 'end') return workspace.pins.put(resourceType, resourceId)
  const target = { type: to.target.resourceType, id: to.target.resourceId }
  return workspace.pins.update(resourceType, resourceId, { placement: { target, position: to.position } })
}
