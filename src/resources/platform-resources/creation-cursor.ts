/** The cursor of a list in order of creation: the time and the ID of the last item. Clients do not read it. */
import { END } from '../../http/paging.ts'

const CURSOR = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/

export function isCreationCursor(cursor: string): boolean {
  return CURSOR.test(cursor)
}

export function toCreationCursor({ createdAt, id }: { readonly createdAt: string; readonly id: string }): string {
  return `${createdAt}_${id}`
}

/** The parameters of the list, which begins with the latest item. */
export function fromCreationCursor(cursor = '') {
  const [, createdBefore = END, id = END] = CURSOR.exec(cursor) ?? []
  return { createdBefore, cursor: id }
}
