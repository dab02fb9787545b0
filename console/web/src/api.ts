/** The API, as the pages use it: the client of this repository, and who is signed in. */
import { queryOptions, useSuspenseQuery } from '@tanstack/react-query'
import type { components, operations } from '../../../client/src/api.ts'
import { Workspace } from '../../../client/src/index.ts'
import type { Scope } from '../../../src/contracts.ts'
import { queryClient } from './connection.ts'
import { WorkspaceError } from './errors.ts'
import { noteMe, noteSignIn, resume, sessionEnd, sessionFetch } from './session-end.ts'
import { MINUTE_MS } from './time.ts'

type Schemas = components['schemas']
export type Me = Schemas['Me']
export type Run = Schemas['Run']
export type ScheduleSummary = Schemas['ScheduleSummary']
export type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>

/** The Worker puts the token of the session into each request: no script can read it. */
export const workspace = new Workspace({ url: `${location.origin}/api`, apiKey: '', fetch: sessionFetch })

export const meQuery = queryOptions({
  queryKey: ['me'],
  queryFn: async () => {
    const me = await workspace.me.retrieve()
    noteMe(me)
    return me
  },
  staleTime: 5 * MINUTE_MS,
  // No event tells what the operator stops.
  refetchInterval: 5 * MINUTE_MS,
})

/** Who is signed in now; it does not wait for a sign-in. */
const askMe = () => new Workspace({ url: `${location.origin}/api`, apiKey: '' }).me.retrieve()

/** In the window that opened for a sign-in: tells the page that waits for it. */
export const tellSignIn = async () => noteSignIn(await askMe())

/** Continues what waits for a sign-in. @throws if nobody is signed in. */
export async function continueSignedIn(): Promise<void> {
  if (sessionEnd.get() === undefined) return
  const me = await askMe()
  queryClient.setQueryData(meQuery.queryKey, me)
  resume(me)
  await queryClient.invalidateQueries()
}

/** The caller. The layout has loaded it before it shows a page. */
export function useMe(): Me {
  return useSuspenseQuery(meQuery).data
}

/** What the session may do. A page does not offer the rest. */
export function useCan(): (scope: Scope) => boolean {
  const { scopes } = useMe().apiKey
  return (scope) => scopes.includes(scope)
}

export function isSignedOut(error: unknown): boolean {
  return error instanceof WorkspaceError && error.status === 401
}

/** Reads again what the pages show of these resources. */
export async function refresh(...resources: readonly string[]): Promise<void> {
  await Promise.all(resources.map((resource) => queryClient.invalidateQueries({ queryKey: [resource] })))
}
