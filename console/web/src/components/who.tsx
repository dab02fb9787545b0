/** Who did something, after what was done: " by Ada". */
import { useName } from '../names.ts'

/** Null: the service; undefined: not known. */
export type Actor = { readonly userId: string | null; readonly apiKeyName: string } | null | undefined

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
