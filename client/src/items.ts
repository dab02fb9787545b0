/** The items of a list, from all of its pages. */
import type { MaybeOptionalInit } from 'openapi-fetch'
import type { paths } from './api.ts'
import type { WorkspaceClient } from './client.ts'
import { dataOf, type Result } from './errors.ts'

interface Page<Item> {
  readonly items: readonly Item[]
  readonly nextCursor: string | null
}

interface Listing<Item> {
  readonly get: { readonly responses: { 200: { content: { 'application/json': Page<Item> } } } }
}

/** The paths whose `GET` returns a list that has an end. That of events has none: `events` follows it. */
export type ListPath = {
  [Path in keyof paths]: paths[Path] extends Listing<unknown> ? (Path extends '/v1/events' ? never : Path) : never
}[keyof paths]

/** An item of the list at a path. */
export type ItemOf<Path extends ListPath> = paths[Path] extends Listing<infer Item> ? Item : never

/** Optional, if the operation requires no parameter. */
type Init<Path extends ListPath> =
  undefined extends MaybeOptionalInit<paths[Path], 'get'>
    ? [init?: MaybeOptionalInit<paths[Path], 'get'>]
    : [init: MaybeOptionalInit<paths[Path], 'get'>]

/**
 * Requests a page when its first item is needed, so that you can stop at any time.
 * @param init the parameters, as for `client.GET`. `limit` is the size of a page; a `cursor` is where to begin.
 * @throws WorkspaceApiError if the response is an error.
 */
export async function* items<Path extends ListPath>(
  client: WorkspaceClient,
  path: Path,
  ...[init]: Init<Path>
): AsyncGenerator<ItemOf<Path>, void, undefined> {
  const { params, ...rest }: { params?: { query?: object } } = init ?? {}
  let query = params?.query
  for (;;) {
    // The types of openapi-fetch accept an exact path only, not a type parameter.
    const get = client.GET as (path: Path, init: object) => Promise<Result<Page<ItemOf<Path>>>>
    const page = dataOf(await get(path, { ...rest, params: { ...params, query } }))
    yield* page.items
    if (page.nextCursor === null) return
    query = { ...query, cursor: page.nextCursor }
  }
}
