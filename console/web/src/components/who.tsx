/** Who did something, after what was done: " by Ada". */
import type { Event } from '../events.ts'
import { useName } from '../names.ts'

/** Null: the service; undefined: not known. */
export type Actor = Pick<NonNullable<Event['actor']>, 'userId' | 'apiKeyName'> | null | undefined

export function Who({ actor }: { readonly actor: Actor }) {
  const person = useName('users', actor?.userId)
  if (actor === undefined) return null
  return (
    <>
      {' by '}
      <bdi>{actor === null ? 'the service' : (person ?? actor.apiKeyName)}</bdi>
    </>
  )
}
