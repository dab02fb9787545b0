/** What the pages ask the API about people, agents and projects, and what they tell it to do. */
import { queryOptions, useQuery } from '@tanstack/react-query'
import { type components, Workspace } from '../../../../client/src/index.ts'
import { refresh, useCan, useMe, workspace } from '../api.ts'
import { type ApiKey, keysQuery, stateOf, useIsAdmin } from '../keys/data.ts'
import { growingQuery, listQuery } from '../lists.ts'
import { STALE } from '../live.ts'
import type { Kind } from './kinds.ts'

type Schemas = components['schemas']

/** A person has no description and cannot be archived. */
export type Resource = Schemas['User'] & Partial<Pick<Schemas['Project' | 'Agent'], 'description' | 'archivedAt'>>

/** What a form sets. An empty description is none. */
export interface Settings {
  readonly name: string
  readonly description: string
}

const settingsOf = ({ name, description }: Settings) => ({ name: name.trim(), description: description.trim() || null })

interface Words {
  /** The name of events and deletions. */
  readonly type: 'user' | 'agent' | 'project'
  readonly noun: string
  readonly plural: string
}

export const WORDS: Readonly<Record<Kind, Words>> = {
  users: { type: 'user', noun: 'person', plural: 'People' },
  agents: { type: 'agent', noun: 'agent', plural: 'Agents' },
  projects: { type: 'project', noun: 'project', plural: 'Projects' },
}

const PAGE = 50

/** In the order of their IDs. */
export const resourcesQuery = (kind: Kind, query: string | undefined) =>
  growingQuery<Resource>({
    queryKey: [kind, 'list', query],
    limit: PAGE,
    read: (limit, cursor) => workspace[kind].list({ query, limit, cursor }).page(),
  })

export const resourceQuery = (kind: Kind, id: string) =>
  queryOptions({
    queryKey: [kind, 'one', id],
    queryFn: (): Promise<Resource> => workspace[kind].retrieve(id),
  })

/** What the session may do to resources of a kind. Restricted to projects, it changes only these. */
export function useMay(kind: Kind) {
  const mayWrite = useCan()(`${kind}:write`)
  const isRestricted = useMe().apiKey.projectIds !== null
  return { create: mayWrite && !isRestricted, change: mayWrite && (!isRestricted || kind === 'projects') }
}

/** @throws if there is one of this ID already. */
export const create = (kind: Kind, id: string, settings: Settings): Promise<Resource> => {
  const { name, description } = settingsOf(settings)
  const options = { ifNoneMatch: '*' } as const
  return kind === 'users'
    ? workspace.users.put(id, { name }, options)
    : workspace[kind].put(id, { name, description }, options)
}

export const change = (kind: Kind, id: string, settings: Settings): Promise<Resource> => {
  const { name, description } = settingsOf(settings)
  return kind === 'users' ? workspace.users.put(id, { name }) : workspace[kind].update(id, { name, description })
}

export const setArchived = (kind: Exclude<Kind, 'users'>, id: string, archived: boolean): Promise<Resource> =>
  workspace[kind].update(id, { archived })

export const remove = (kind: Kind, id: string) => workspace[kind].delete(id)

/** Reads again what shows resources of this kind, and what a deletion takes with it. */
export const refreshKind = (kind: Kind) => refresh('deletions', 'api-keys', ...(STALE[WORDS[kind].type] ?? []))

const SCHEDULES = 100

type Page = Schemas['ProjectSchedulePage' | 'AgentSchedulePage']

/** The first schedules of an agent or a project. */
export const schedulesOfQuery = (kind: Exclude<Kind, 'users'>, id: string) =>
  listQuery(
    ['schedules', 'of', kind, id],
    (): Promise<Page> => workspace[kind].schedules.list(id, { limit: SCHEDULES }).page(),
  )

/** The console's Worker answers 204 if there is no picture. */
const pictures = new Workspace({ url: `${location.origin}/api/picture`, apiKey: '' })

const MINUTE_MS = 60_000

/** Null: there is none. */
export const pictureQuery = (userId: string) =>
  queryOptions({
    queryKey: ['pictures', userId],
    queryFn: async () => {
      const response = await pictures.users.profilePicture.retrieve(userId)
      return response.status === 204 ? null : response.blob()
    },
    // Events tell of new ones. A picture that is not shown does not stay in memory for long.
    staleTime: 5 * MINUTE_MS,
    gcTime: MINUTE_MS,
  })

export const putPicture = (userId: string, file: File) => workspace.users.profilePicture.put(userId, file)
export const deletePicture = (userId: string) => workspace.users.profilePicture.delete(userId)
export const refreshPictures = () => refresh('pictures')

/**
 * The keys of people that have not expired: undefined while they load, null if the session does not see them.
 * @returns undefined if the session sees no keys, or only those that are restricted to its projects.
 */
export function useKeysOf(): ((userId: string) => readonly ApiKey[] | null | undefined) | undefined {
  const can = useCan()
  const { user, apiKey } = useMe()
  const isAdmin = useIsAdmin()
  const isAllowed = can('api-keys:read') && apiKey.projectIds === null
  const { data } = useQuery({ ...keysQuery('key'), enabled: isAllowed })
  if (!isAllowed) return undefined
  const now = new Date()
  const keys = data && Map.groupBy(data, ({ userId }) => userId)
  return (userId) => {
    // A session that acts as a person sees the keys of this person only, unless an admin has signed in.
    if (user !== null && !isAdmin && user.id !== userId) return null
    return keys && (keys.get(userId) ?? []).filter((key) => stateOf(key, now) !== 'expired')
  }
}

/** The projects that one of the keys reaches; null: all. */
export function reachOf(keys: readonly ApiKey[]): readonly string[] | null {
  if (keys.some(({ projectIds }) => projectIds === null)) return null
  return Array.from(new Set(keys.flatMap(({ projectIds }) => projectIds ?? [])))
}
