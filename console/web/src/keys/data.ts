/** What the pages ask the API about API keys, sessions and connected apps, and what they tell it to do. */
import { useQuery } from '@tanstack/react-query'
import type { components } from '../../../../client/src/api.ts'
import { Workspace } from '../../../../client/src/index.ts'
import { isSignedOut, meQuery, useMe, workspace } from '../api.ts'
import type { Tone } from '../components/status.tsx'
import { queryClient } from '../connection.ts'
import { WorkspaceError } from '../errors.ts'
import { listQuery } from '../lists.ts'
import { confirmSignIn } from '../session-end.ts'
import { DAY_MS, MINUTE_MS } from '../time.ts'

export type ApiKey = components['schemas']['ApiKey']
export type Kind = ApiKey['kind']
export type NewApiKey = components['schemas']['NewApiKey']

const PAGE = 1000
/** How many keys, and how many sessions, the pages read. */
export const MAX_KEYS = 5000

export const keysQuery = (kind: Kind) =>
  listQuery(['api-keys', kind], async () => {
    const keys: ApiKey[] = []
    for await (const key of workspace.apiKeys.list({ kind, limit: PAGE })) if (keys.push(key) === MAX_KEYS) break
    return keys
  })

/** All keys, and all sessions and apps that have not ended. */
export function useKeys() {
  const queries = {
    key: useQuery(keysQuery('key')),
    session: useQuery(keysQuery('session')),
    grant: useQuery(keysQuery('grant')),
  }
  const refetch = () => void Promise.all(Object.values(queries).map((query) => query.refetch()))
  const [keys, sessions, grants] = [queries.key.data, queries.session.data, queries.grant.data]
  if (!keys || !sessions || !grants) {
    const [error = null] = Object.values(queries).flatMap((query) => query.error ?? [])
    return { error, refetch }
  }
  const now = Date.now()
  const hasNotEnded = ({ expiresAt }: ApiKey) => expiresAt === null || Date.parse(expiresAt) > now
  const byKind: Readonly<Record<Kind, readonly ApiKey[]>> = {
    key: keys,
    session: sessions.filter(hasNotEnded),
    grant: grants.filter(hasNotEnded),
  }
  return { byKind, all: Object.values(byKind).flat(), error: null, refetch }
}

/** What an app calls itself may be anything. */
export const nameOf = ({ name, app }: ApiKey) => app?.name ?? name

const SOON_MS = 7 * DAY_MS

export const STATES = {
  active: { tone: 'good', word: 'Active' },
  expiring: { tone: 'warning', word: 'Expires soon' },
  rotated: { tone: 'warning', word: 'Rotated' },
  expired: { tone: 'idle', word: 'Expired' },
} as const satisfies Record<string, { tone: Tone; word: string }>

export type State = keyof typeof STATES

export function stateOf({ kind, expiresAt, rotatedAt }: ApiKey, now: Date): State {
  const left = expiresAt === null ? Number.POSITIVE_INFINITY : Date.parse(expiresAt) - now.getTime()
  if (left <= 0) return 'expired'
  if (rotatedAt !== null) return 'rotated'
  return left < SOON_MS && kind === 'key' ? 'expiring' : 'active'
}

/** What was created with a key, by the ID of that key. */
export type Children = ReadonlyMap<string | null, readonly ApiKey[]>

export function childrenOf(all: readonly ApiKey[]): Children {
  return Map.groupBy(all, ({ createdByKeyId }) => createdByKeyId)
}

/** All that was created with a key, with what was, and so on. */
export function descendantsOf(id: string, children: Children): readonly ApiKey[] {
  return (children.get(id) ?? []).flatMap((child) => [child, ...descendantsOf(child.id, children)])
}

/** The API keys that were made with it. Those of people whom a sign-in rule of the key admits are made by these people. */
export function keysMadeWith({ id, identityId }: ApiKey, children: Children): readonly ApiKey[] {
  return (children.get(id) ?? []).flatMap((child) => {
    if (child.kind === 'session' && child.identityId !== identityId) return []
    const made = keysMadeWith(child, children)
    return child.kind === 'key' ? [child, ...made] : made
  })
}

/** What ends with a key: its sessions and apps and, if it is asked for, its descendants. */
export function endsWith(key: ApiKey, children: Children, withDescendants: boolean): readonly ApiKey[] {
  if (withDescendants) return descendantsOf(key.id, children)
  // A sign-in by a rule counts as created with the key of the rule, but does not end with it; nor does an app of a person.
  if (key.kind !== 'key') return []
  return (children.get(key.id) ?? []).filter(({ kind, identityId }) =>
    kind === 'session' ? identityId === key.identityId : kind === 'grant' && identityId === null,
  )
}

/** Tells whether the person here connected an app: the same identity or, without one, with the same API key. */
export function useIsOwnApp(tree: Children): (apiKey: ApiKey) => boolean {
  const own = useMe().apiKey
  return ({ kind, identityId, createdByKeyId }) => {
    if (kind !== 'grant' || identityId !== own.identityId) return false
    return identityId !== null || (tree.get(createdByKeyId) ?? []).some(({ id }) => id === own.id)
  }
}

/** True if a key that ends then outlives the session: the session cannot create or rotate it. */
export function useOutlives(): (expiresAt: string | null) => boolean {
  const { expiresAt: end } = useMe().apiKey
  return (expiresAt) => end !== null && (expiresAt === null || Date.parse(expiresAt) > Date.parse(end))
}

/** How many days a key lives at most that a person makes after a sign-in with an identity provider. */
const MAX_SIGN_IN_DAYS = 90

/** The latest end of such a key. The clock of this computer may be ahead of the service's. */
export const lastEndOfSignIn = () => Date.now() + MAX_SIGN_IN_DAYS * DAY_MS - 10 * MINUTE_MS

/** True if a key that ends then needs an API key of the person. @param isRefused the service has refused it. */
export function useNeedsKey(isRefused: boolean): (expiresAt: string | null) => boolean {
  const outlives = useOutlives()
  const isSignIn = useMe().apiKey.identityId !== null
  return (expiresAt) => {
    const isShort = expiresAt !== null && Date.parse(expiresAt) <= lastEndOfSignIn()
    return outlives(expiresAt) && !(isSignIn && isShort && !isRefused)
  }
}

/** True for an admin who has signed in with an identity provider: they see the keys of everybody. */
export function useIsAdmin(): boolean {
  const { user, apiKey } = useMe()
  return user !== null && apiKey.identityId !== null && apiKey.scopes.includes('api-keys:write')
}

export const isRefusal = (error: unknown) => error instanceof WorkspaceError && error.code === 'exceeds_own_key'

/** Does what a person may do only a short time after a sign-in: they sign in again if that was too long ago. */
export async function withFreshSignIn<Result>(act: () => Promise<Result>): Promise<Result> {
  try {
    return await act()
  } catch (error) {
    const isStale = error instanceof WorkspaceError && error.code === 'fresh_sign_in_required'
    if (!isStale || !(await confirmSignIn())) throw error
    return act()
  }
}

/**
 * The client that creates or rotates a key: that of the session or, for a key that outlives the session, one of the
 * API key that the person enters. It is used for this and not kept.
 */
export async function creator(apiKey: string | undefined): Promise<Workspace> {
  if (apiKey === undefined) return workspace
  const own = new Workspace({ url: `${location.origin}/api/entered`, apiKey: apiKey.trim() })
  const { organization } = await queryClient.ensureQueryData(meQuery)
  const entered = await own.me.retrieve().catch((error: unknown) => {
    // Not the session: the person stays signed in.
    throw isSignedOut(error) ? new Error(`The API key that you entered: ${(error as Error).message}`) : error
  })
  if (entered.organization.id === organization.id) return own
  throw new Error(`The API key that you entered belongs to another organization, ${entered.organization.name}.`)
}

/** Ends all sessions of the user, the own one included. */
export const signOutEverywhere = () => workspace.me.sessions.delete()

/** @returns how many others ended with it. */
export async function revoke(id: string, withDescendants: boolean): Promise<number> {
  return (await workspace.apiKeys.delete(id, { descendants: withDescendants })).descendants
}

/** Ends an own app. It needs no permission. */
export async function disconnect(id: string): Promise<0> {
  await workspace.me.apps.delete(id)
  return 0
}
